// SPDX-License-Identifier: MIT
/*
 * The event log.  Every string printed here is a constant of ours without
 * anything to escape, except a mark's, which arrives as JSON already.
 */
#include "log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>

#include "agate_card.h"
#include "names.h"

#define X64	"0x%" PRIx64

__attribute__((format(printf, 4, 5)))
static void log_line(struct log *log, uint64_t time, const char *event, const char *format, ...)
{
	va_list args;
	int n;

	if (!log->file || log->bytes > log->limit)
		return;
	n = fprintf(log->file, "{\"time\": %" PRIu64 ", \"event\": \"%s\"", time, event);
	if (n > 0)
		log->bytes += n;
	va_start(args, format);
	n = vfprintf(log->file, format, args);
	va_end(args);
	if (n > 0)
		log->bytes += n;
	if (fputs("}\n", log->file) >= 0)
		log->bytes += 2;
	if (log->bytes > log->limit)
		fprintf(log->file, "{\"time\": %" PRIu64 ", \"event\": \"truncated\"}\n", time);
}

static void log_register(struct log *log, const struct agate_sim_event *e, const char *event)
{
	char name[NAME_SIZE];

	log_line(log, e->time, event, ", \"register\": \"%s\", \"value\": \"" X64 "\"",
		 name_register((uint32_t)e->a, name), e->b);
}

static void log_fault(struct log *log, const struct agate_sim_event *e)
{
	uint32_t status = (uint32_t)e->c;

	log_line(log, e->time, "fault",
		 ", \"as\": %" PRIu64 ", \"va\": \"" X64 "\", \"exception\": \"%s\", "
		 "\"access\": \"%s\", \"slot\": %u",
		 e->a, e->b, name_exception(AS_FAULTSTATUS_EXCEPTION(status)),
		 name_access(AS_FAULTSTATUS_ACCESS(status)), AS_FAULTSTATUS_SOURCE_ID(status));
}

/* How a chain or a job ended: an exception's name, or another reason. */
static const char *log_end(const struct agate_sim_event *e)
{
	return e->text ? e->text : name_exception((unsigned int)e->c);
}

static void log_chain(struct log *log, const struct agate_sim_event *e)
{
	if (e->kind == AGATE_EV_CHAIN_START)
		log_line(log, e->time, "chain_start",
			 ", \"slot\": %" PRIu64 ", \"head\": \"" X64 "\", \"as\": %u, "
			 "\"config\": \"" X64 "\"",
			 e->a, e->b, (unsigned int)JS_CONFIG_AS(e->c), e->c);
	else
		log_line(log, e->time, "chain_end",
			 ", \"slot\": %" PRIu64 ", \"tail\": \"" X64 "\", \"exception\": \"%s\"",
			 e->a, e->b, log_end(e));
}

static void log_job(struct log *log, const struct agate_sim_event *e)
{
	if (e->kind == AGATE_EV_JOB_START)
		log_line(log, e->time, "job_start",
			 ", \"slot\": %" PRIu64 ", \"job\": \"" X64 "\", \"type\": \"%s\"",
			 e->a, e->b, name_job_type((unsigned int)e->c));
	else
		log_line(log, e->time, "job_end",
			 ", \"slot\": %" PRIu64 ", \"job\": \"" X64 "\", \"exception\": \"%s\"",
			 e->a, e->b, log_end(e));
}

static void log_command(struct log *log, const struct agate_sim_event *e, const char *event)
{
	log_line(log, e->time, event, ", \"command\": \"%s\"",
		 name_gpu_command((unsigned int)e->a));
}

static void log_as_done(struct log *log, const struct agate_sim_event *e)
{
	const char *command = name_as_command((unsigned int)e->b);

	if (e->text)
		log_line(log, e->time, "as_done",
			 ", \"as\": %" PRIu64 ", \"command\": \"%s\", \"format\": \"%s\", "
			 "\"table\": \"" X64 "\"", e->a, command, e->text, e->c);
	else
		log_line(log, e->time, "as_done", ", \"as\": %" PRIu64 ", \"command\": \"%s\"",
			 e->a, command);
}

/* The tables from the root on; "maps" and "access", or "exception". */
static void log_walk(struct log *log, const struct agate_sim_event *e)
{
	static const char *const access[] = { "-", "r", "w", "rw", "x", "rx", "wx", "rwx" };
	const struct agate_sim_walk *walk = e->walk;
	char tables[AGATE_PT_LEVELS * 20 + 1] = "", ended[80];
	unsigned int i, n = 0;

	for (i = 0; i <= walk->level; i++)
		n += snprintf(tables + n, sizeof(tables) - n, "%s" X64, i ? " " : "",
			      walk->table[i]);
	if (walk->exception == AGATE_EXC_NOT_STARTED)
		snprintf(ended, sizeof(ended), "\"maps\": \"" X64 "\", \"access\": \"%s\"",
			 walk->pa, access[walk->access & 7]);
	else
		snprintf(ended, sizeof(ended), "\"exception\": \"%s\"",
			 name_exception(walk->exception));
	log_line(log, e->time, "walk",
		 ", \"as\": %" PRIu64 ", \"va\": \"" X64 "\", \"entry\": \"" X64 "\", "
		 "\"level\": %u, %s, \"tables\": \"%s\"",
		 e->a, e->b, e->c, walk->level, ended, tables);
}

static void log_mover(struct log *log, const struct agate_sim_event *e)
{
	const struct agate_mover_cmd *cmd = e->mover;
	const bool ends = e->kind == AGATE_EV_MOVER_END;
	char ended[48] = "";

	if (ends)
		snprintf(ended, sizeof(ended), ", \"ended\": \"%s\"", e->text ? e->text :
			 e->c ? name_mover_reason((unsigned int)e->c) : "done");
	log_line(log, e->time, ends ? "mover_end" : "mover_begin",
		 ", \"head\": %" PRIu64 ", \"op\": \"%s\", \"src\": \"" X64 "\", "
		 "\"dst\": \"" X64 "\", \"len\": %" PRIu64 ", \"seqno\": %u%s",
		 e->a, name_mover_op(cmd->op), (uint64_t)cmd->src, (uint64_t)cmd->dst,
		 (uint64_t)cmd->length, cmd->seqno, ended);
}

/* With the register whose access broke the rule, if it was one. */
static void log_hint(struct log *log, const struct agate_sim_event *e)
{
	char name[NAME_SIZE];

	if (e->b)
		log_line(log, e->time, "hint",
			 ", \"section\": %u, \"text\": \"%s\", \"register\": \"%s\"",
			 (unsigned int)e->a / 100, e->text, name_register((uint32_t)e->b - 1, name));
	else
		log_line(log, e->time, "hint", ", \"section\": %u, \"text\": \"%s\"",
			 (unsigned int)e->a / 100, e->text);
}

/* The lowest level that has events of this kind. */
static enum log_level log_level_of(enum agate_sim_event_kind kind)
{
	switch (kind) {
	case AGATE_EV_REG_READ:
	case AGATE_EV_REG_WRITE:
	case AGATE_EV_TRAFFIC:
		return LOG_ALL;
	case AGATE_EV_WALK:
	case AGATE_EV_GGTT_COMMIT:
		return LOG_WALKS;
	default:
		return LOG_EVENTS;
	}
}

bool log_counts(enum agate_sim_event_kind kind)
{
	return log_level_of(kind) == LOG_EVENTS;
}

void log_event(struct log *log, const struct agate_sim_event *e)
{
	if (!log->file || log->level < log_level_of(e->kind))
		return;
	switch (e->kind) {
	case AGATE_EV_REG_WRITE:
		log_register(log, e, "register_write");
		break;
	case AGATE_EV_REG_READ:
		log_register(log, e, "register_read");
		break;
	case AGATE_EV_IRQ:
		log_line(log, e->time, "irq", ", \"vector\": \"%s\", \"status\": \"" X64 "\"",
			 name_vector((unsigned int)e->a), e->b);
		break;
	case AGATE_EV_POWER:
		log_line(log, e->time, "power",
			 ", \"domain\": \"%s\", \"ready\": \"" X64 "\", \"change\": \"%s\"",
			 name_power_domain((unsigned int)e->a), e->b, e->text);
		break;
	case AGATE_EV_RESET:
		log_command(log, e, "reset");
		break;
	case AGATE_EV_FLUSH:
		log_command(log, e, "flush");
		break;
	case AGATE_EV_FLUSH_DONE:
		log_command(log, e, "flush_done");
		break;
	case AGATE_EV_AS:
		log_line(log, e->time, "as_command",
			 ", \"as\": %" PRIu64 ", \"command\": \"%s\", \"lockaddr\": \"" X64 "\"",
			 e->a, name_as_command((unsigned int)e->b), e->c);
		break;
	case AGATE_EV_AS_DONE:
		log_as_done(log, e);
		break;
	case AGATE_EV_WALK:
		log_walk(log, e);
		break;
	case AGATE_EV_TRAFFIC:
		log_line(log, e->time, "traffic",
			 ", \"slot\": %" PRIu64 ", \"read\": %" PRIu64 ", \"written\": %" PRIu64,
			 e->a, e->b, e->c);
		break;
	case AGATE_EV_FAULT:
		log_fault(log, e);
		break;
	case AGATE_EV_FAULT_AGAIN:
	case AGATE_EV_FAULT_RESUMED:
		log_line(log, e->time,
			 e->kind == AGATE_EV_FAULT_AGAIN ? "fault_again" : "fault_resumed",
			 ", \"as\": %" PRIu64 ", \"va\": \"" X64 "\"", e->a, e->b);
		break;
	case AGATE_EV_CHAIN_START:
	case AGATE_EV_CHAIN_END:
		log_chain(log, e);
		break;
	case AGATE_EV_CHAIN_CYCLIC:
		log_line(log, e->time, "chain_cyclic",
			 ", \"slot\": %" PRIu64 ", \"job\": \"" X64 "\"", e->a, e->b);
		break;
	case AGATE_EV_JOB_START:
	case AGATE_EV_JOB_END:
		log_job(log, e);
		break;
	case AGATE_EV_UNLISTED:
		log_line(log, e->time, "unlisted",
			 ", \"slot\": %" PRIu64 ", \"job\": \"" X64 "\", \"va\": \"" X64 "\", "
			 "\"access\": \"%s\"", e->a, e->c, e->b, e->text);
		break;
	case AGATE_EV_CLOCK:
		log_line(log, e->time, "clock",
			 ", \"mhz\": %" PRIu64 ", \"millivolts\": %" PRIu64 ", "
			 "\"power_in\": %" PRIu64, e->a, e->b, e->c);
		break;
	case AGATE_EV_INJECTED:
		log_line(log, e->time, "injected", ", \"what\": \"%s\"",
			 name_injection((unsigned int)e->a));
		break;
	case AGATE_EV_CARD_POWER:
		log_line(log, e->time, "card_power",
			 ", \"on\": %" PRIu64 ", \"losses\": %" PRIu64 ", \"change\": \"%s\"",
			 e->a, e->b, e->text);
		break;
	case AGATE_EV_GGTT_COMMIT:
		log_line(log, e->time, "ggtt_commit",
			 ", \"first\": %" PRIu64 ", \"count\": %" PRIu64 ", \"entry\": \"" X64 "\"",
			 e->a, e->b, e->c);
		break;
	case AGATE_EV_GGTT_INVALIDATE:
		log_line(log, e->time, "ggtt_invalidate", "%s", "");
		break;
	case AGATE_EV_FW:
		log_line(log, e->time, "fw",
			 ", \"state\": \"%s\", \"reason\": \"%s\", \"version\": %u",
			 name_fw_state(FW_STATUS_STATE((uint32_t)e->a)),
			 name_fw_reason(FW_STATUS_REASON((uint32_t)e->a)),
			 FW_STATUS_VERSION((uint32_t)e->a));
		break;
	case AGATE_EV_MOVER_BEGIN:
	case AGATE_EV_MOVER_END:
		log_mover(log, e);
		break;
	case AGATE_EV_MOVER_FAULT:
		log_line(log, e->time, "mover_fault",
			 ", \"head\": %" PRIu64 ", \"address\": \"" X64 "\", \"reason\": \"%s\"",
			 e->a, e->b, name_mover_reason((unsigned int)e->c));
		break;
	case AGATE_EV_FLIP:
		log_line(log, e->time, "flip",
			 ", \"base\": \"" X64 "\", \"width\": %u, \"height\": %u, "
			 "\"format\": \"" X64 "\"", e->a, (unsigned int)e->b & 0xffff,
			 (unsigned int)e->b >> 16, e->c);
		break;
	case AGATE_EV_FLIP_DONE:
		log_line(log, e->time, "flip_done",
			 ", \"frames\": %" PRIu64 ", \"base\": \"" X64 "\", \"reason\": \"%s\"",
			 e->a, e->b, name_mover_reason((unsigned int)e->c));
		break;
	case AGATE_EV_HINT:
		log_hint(log, e);
		break;
	}
}

void log_mark(struct log *log, uint64_t time, const char *json_text)
{
	log_line(log, time, "mark", ", \"text\": %s", json_text);
}

const char *log_open(struct log *log, const char *path, uint64_t limit)
{
	log->limit = limit;
	log->file = fopen(path, "we");
	if (!log->file)
		return "the log cannot be opened";
	/* A buffer of our own, because stdio would ask the host for the best size. */
	if (setvbuf(log->file, log->buffer, _IOFBF, sizeof(log->buffer)))
		return "the log has no buffer";
	return NULL;
}

void log_flush(struct log *log)
{
	if (log->file)
		fflush(log->file);
}

bool log_close(struct log *log)
{
	bool good;

	if (!log->file)
		return true;
	/* The last flush may succeed after an earlier one lost data, so check both. */
	good = !ferror(log->file);
	good = !fclose(log->file) && good;
	log->file = NULL;
	return good;
}
