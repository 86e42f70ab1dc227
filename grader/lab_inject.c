// SPDX-License-Identifier: MIT
/*
 * A test's injections: requests to the simulator's control socket, with numbers in the
 * ranges that it accepts (book/hardware.md, section 8.4).
 */
#include <stdio.h>
#include <string.h>

#include "lab_json.h"

/* A number in a request, and its bounds. */
struct field {
	const char *name;
	int64_t lowest;
	int64_t highest;
};

struct request {
	const char *cmd;
	bool all;		/* every field is required */
	struct field fields[12];
};

#define LATENCY(name)	{ name, -1, UINT32_MAX - 1 }
#define REGISTER(name)	{ name, 0, UINT32_MAX }

static const struct request requests[] = {
	{ "latency", false,
	  { LATENCY("power"), LATENCY("reset"), LATENCY("hard_reset"), LATENCY("as"),
	    LATENCY("stop"), { "once", 0, 1 } } },
	{ "identity", false,
	  { REGISTER("gpu_id"), REGISTER("l2_features"), REGISTER("core_features"),
	    REGISTER("tiler_features"), REGISTER("mem_features"), REGISTER("mmu_features"),
	    REGISTER("thread_features"), REGISTER("thread_max_threads"),
	    REGISTER("thread_max_workgroup_size"), REGISTER("thread_max_barrier_size") } },
	{ "fault", true, { REGISTER("status"), { "address", 0, (1ll << 40) - 1 } } },
};

static const struct request *request_named(const char *cmd)
{
	size_t i;

	for (i = 0; cmd && i < sizeof(requests) / sizeof(requests[0]); i++)
		if (!strcmp(requests[i].cmd, cmd))
			return &requests[i];
	return NULL;
}

static const struct field *field_named(const struct request *request, const char *name)
{
	const struct field *field;

	for (field = request->fields; field->name; field++)
		if (!strcmp(field->name, name))
			return field;
	return NULL;
}

/* A number within the field's bounds, or a parameter whose range lies within them. */
static void check_value(const struct reader *r, const struct request *request, const char *key,
			const json_t *value, const struct lab_test *test)
{
	const struct field *field = field_named(request, key);
	const char *param = json_string_value(value);
	int64_t lowest = json_integer_value(value), highest = lowest;
	int i;

	if (!field) {
		reader_fail(r, "inject", "%s: there is no \"%.60s\"", request->cmd, key);
		return;
	}
	if (param) {
		i = *param == '$' ? lab_param_index(test, param + 1) : -1;
		if (i < 0) {
			reader_fail(r, "inject", "there is no parameter for \"%.60s\"", param);
			return;
		}
		lowest = test->params[i].lowest;
		highest = test->params[i].highest;
	} else if (!json_is_integer(value)) {
		reader_fail(r, "inject", "%s: %s is neither a number nor \"$PARAM\"",
			    request->cmd, key);
		return;
	}
	if (lowest < field->lowest || highest > field->highest)
		reader_fail(r, "inject", "%s: %s may be out of the simulator's bounds",
			    request->cmd, key);
}

static void read_request(const struct reader *r, const char *cmd, json_t *fields,
			 struct lab_test *test)
{
	const struct request *request = request_named(cmd);
	const char *key;
	json_t *value;
	size_t i;

	if (!request || !json_object_size(fields)) {
		reader_fail(r, "inject", "\"%.60s\" is no request, or is not an object of numbers",
			    cmd);
		return;
	}
	json_object_foreach(fields, key, value)
		check_value(r, request, key, value, test);
	for (i = 0; request->all && request->fields[i].name; i++)
		if (!json_object_get(fields, request->fields[i].name))
			reader_fail(r, "inject", "%s wants %s", cmd,
				    request->fields[i].name);
	test->injections[test->injection_count++] =
		(struct lab_injection){ .cmd = request->cmd, .fields = fields };
}

void lab_read_injections(const struct reader *r, const json_t *json, struct lab_test *test)
{
	const json_t *array = reader_array(r, json, "inject", 0, LAB_INJECTIONS);
	size_t i;

	for (i = 0; i < json_array_size(array) && reader_ok(r); i++) {
		json_t *object = json_array_get(array, i), *fields;
		const char *cmd;

		if (json_object_size(object) != 1)
			reader_fail(r, "inject", "is not a list of {REQUEST: {NAME: NUMBER}}");
		json_object_foreach(object, cmd, fields) {
			if (!strcmp(cmd, "kill") && json_is_true(fields))
				test->kill = true;
			else
				read_request(r, cmd, fields, test);
		}
	}
}
