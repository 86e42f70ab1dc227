/* SPDX-License-Identifier: MIT */
/* Lines of an event log for agate-map's tests, and the map or picture that they give. */
#ifndef AGATE_TEST_MAP_LOG_H
#define AGATE_TEST_MAP_LOG_H

#include "map.h"

#define UPDATE(time, as, table)							\
	"{\"time\": " #time ", \"event\": \"as_done\", \"as\": " #as ", \"command\": \"UPDATE\", " \
	"\"format\": \"lpae\", \"table\": \"" table "\"}\n"
#define LOCK(time, as, lockaddr)						\
	"{\"time\": " #time ", \"event\": \"as_command\", \"as\": " #as ", \"command\": \"LOCK\", " \
	"\"lockaddr\": \"" lockaddr "\"}\n"
#define FLUSHED(time, as)							\
	"{\"time\": " #time ", \"event\": \"as_done\", \"as\": " #as ", \"command\": \"FLUSH_PT\"}\n"
#define WALK(time, as, va, level, pa, access, tables)				\
	"{\"time\": " #time ", \"event\": \"walk\", \"as\": " #as ", \"va\": \"" va "\", " \
	"\"entry\": \"0x1\", \"level\": " #level ", \"maps\": \"" pa "\", \"access\": \"" access "\", " \
	"\"tables\": \"" tables "\"}\n"
#define FAULT(time, as, va)							\
	"{\"time\": " #time ", \"event\": \"fault\", \"as\": " #as ", \"va\": \"" va "\", " \
	"\"exception\": \"TRANSLATION_FAULT_3\", \"access\": \"WRITE\", \"slot\": 1}\n"
#define RESUMED(time, as, va)							\
	"{\"time\": " #time ", \"event\": \"fault_resumed\", \"as\": " #as ", \"va\": \"" va "\"}\n"
#define END(time)	"{\"time\": " #time ", \"event\": \"mark\", \"text\": \"end\"}\n"
#define TABLES	"0x1000 0x2000 0x3000 0x4000"

/* Load and finish @map from a log; the caller calls map_free(). */
void read_log(struct map *map, const char *text);
/* The text that @show writes for a log; the caller frees it. */
char *shown(const char *log, void (*show)(const struct map *, FILE *));

#endif /* AGATE_TEST_MAP_LOG_H */
