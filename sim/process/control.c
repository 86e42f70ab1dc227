// SPDX-License-Identifier: MIT
/*
 * The control socket's requests (control.h).
 */
#include "control.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "inject_spec.h"
#include "names.h"

/* JSON objects are hashes, whose seed comes from a file. */
void control_prepare(void)
{
	json_object_seed(0);
}

static json_t *control_error(const char *text)
{
	return json_pack("{s:b, s:s}", "ok", 0, "error", text);
}

static json_t *control_counters(const struct control *control)
{
	json_t *counters = json_object();
	json_t *busy = json_array();
	unsigned int i;

	for (i = 0; i < AGATE_CNT_COUNT; i++)
		json_object_set_new(counters, name_counter(i),
				    json_integer((json_int_t)agate_sim_counter(control->sim, i)));
	for (i = 0; i < AGATE_MAX_SLOTS; i++)
		json_array_append_new(busy,
				      json_integer((json_int_t)agate_sim_slot_busy(control->sim,
										   i)));
	return json_pack("{s:b, s:I, s:o, s:o}", "ok", 1,
			 "time", (json_int_t)agate_sim_time(control->sim),
			 "counters", counters, "busy", busy);
}

static json_t *control_mark(const struct control *control, const json_t *request)
{
	const json_t *text = json_object_get(request, "text");
	char *dump;

	if (!json_is_string(text))
		return control_error("mark wants a text");
	dump = json_dumps(text, JSON_ENCODE_ANY);
	if (!dump)
		return control_error("out of memory");
	log_mark(control->log, agate_sim_time(control->sim), dump);
	log_flush(control->log);
	trace_mark(control->trace, agate_sim_time(control->sim), dump);
	trace_flush(control->trace);
	free(dump);
	return json_pack("{s:b}", "ok", 1);
}

/* A number of bus cycles, or -1: stuck. */
static bool control_cycles(const json_t *value, uint32_t *cycles)
{
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value) || n < -1 || n >= UINT32_MAX)
		return false;
	*cycles = n < 0 ? AGATE_SIM_LATENCY_STUCK : (uint32_t)n;
	return true;
}

/* All of them or, when one makes no sense, none. */
static json_t *control_latency(const struct control *control, const json_t *request)
{
	static const char *const names[AGATE_SIM_LATENCIES] = {
		[AGATE_SIM_LATENCY_POWER] = "power",
		[AGATE_SIM_LATENCY_RESET] = "reset",
		[AGATE_SIM_LATENCY_HARD_RESET] = "hard_reset",
		[AGATE_SIM_LATENCY_AS] = "as",
		[AGATE_SIM_LATENCY_STOP] = "stop",
		[AGATE_SIM_LATENCY_FW] = "fw",
		[AGATE_SIM_LATENCY_FLIP] = "flip",
	};
	const json_t *once = json_object_get(request, "once");
	uint32_t cycles[AGATE_SIM_LATENCIES];
	unsigned int i;

	if (once && (!json_is_integer(once) || json_integer_value(once) >> 1))
		return control_error("once is 0 or 1");

	for (i = 0; i < AGATE_SIM_LATENCIES; i++) {
		const json_t *value = json_object_get(request, names[i]);

		if (value && !control_cycles(value, &cycles[i]))
			return control_error("a latency is a number of bus cycles, or -1");
	}
	for (i = 0; i < AGATE_SIM_LATENCIES; i++) {
		if (!json_object_get(request, names[i]))
			continue;
		if (json_integer_value(once))
			agate_sim_set_latency_once(control->sim, i, cycles[i]);
		else
			agate_sim_set_latency(control->sim, i, cycles[i]);
	}
	return json_pack("{s:b}", "ok", 1);
}

static bool control_u32(const json_t *value, uint32_t *number)
{
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value) || n < 0 || n > UINT32_MAX)
		return false;
	*number = (uint32_t)n;
	return true;
}

/* At most so many cycles that TIMESTAMP_LO, which some drivers read alone, tells them all. */
static json_t *control_idle(const struct control *control, const json_t *request)
{
	uint32_t cycles;

	if (!control_u32(json_object_get(request, "cycles"), &cycles))
		return control_error("idle wants cycles, a number of 32 bits");
	if (!agate_sim_idle(control->sim, cycles))
		return control_error("the GPU has work to do");
	return json_pack("{s:b, s:I}", "ok", 1,
			 "time", (json_int_t)agate_sim_time(control->sim));
}

static json_t *control_identity(const struct control *control, const json_t *request)
{
	static const char *const names[AGATE_SIM_IDENTITIES] = {
		[AGATE_SIM_GPU_ID] = "gpu_id",
		[AGATE_SIM_L2_FEATURES] = "l2_features",
		[AGATE_SIM_CORE_FEATURES] = "core_features",
		[AGATE_SIM_TILER_FEATURES] = "tiler_features",
		[AGATE_SIM_MEM_FEATURES] = "mem_features",
		[AGATE_SIM_MMU_FEATURES] = "mmu_features",
		[AGATE_SIM_THREAD_FEATURES] = "thread_features",
		[AGATE_SIM_THREAD_MAX_THREADS] = "thread_max_threads",
		[AGATE_SIM_THREAD_MAX_WORKGROUP_SIZE] = "thread_max_workgroup_size",
		[AGATE_SIM_THREAD_MAX_BARRIER_SIZE] = "thread_max_barrier_size",
	};
	uint32_t said[AGATE_SIM_IDENTITIES];
	unsigned int i;

	for (i = 0; i < AGATE_SIM_IDENTITIES; i++) {
		const json_t *value = json_object_get(request, names[i]);

		if (value && !control_u32(value, &said[i]))
			return control_error("a register is a number of 32 bits");
	}
	for (i = 0; i < AGATE_SIM_IDENTITIES; i++)
		if (json_object_get(request, names[i]))
			agate_sim_set_identity(control->sim, i, said[i]);
	return json_pack("{s:b}", "ok", 1);
}

static json_t *control_fault(const struct control *control, const json_t *request)
{
	const json_t *address = json_object_get(request, "address");
	uint32_t status;

	if (!control_u32(json_object_get(request, "status"), &status))
		return control_error("fault wants a status of 32 bits");
	if (!json_is_integer(address) || json_integer_value(address) < 0)
		return control_error("fault wants an address");
	agate_sim_set_fault(control->sim, status, (uint64_t)json_integer_value(address));
	return json_pack("{s:b}", "ok", 1);
}

static json_t *control_inject(struct control *control, const json_t *request)
{
	const char *spec = json_string_value(json_object_get(request, "spec"));
	struct injections injections;
	const char *why;

	if (!spec)
		return control_error("inject wants a spec");
	why = inject_parse(spec, &injections);
	if (!why && !inject_set(control->sim, &injections))
		why = "too many injections are pending";
	if (why)
		return control_error(why);
	if (injections.die || injections.none)
		control->die = injections.die;
	return json_pack("{s:b}", "ok", 1);
}

/* A number of 64 bits that JSON can carry. */
static bool control_u63(const json_t *value, uint64_t *number)
{
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value) || n < 0)
		return false;
	*number = (uint64_t)n;
	return true;
}

/* Of physical memory, or of entries of the GGTT as [first, count]. */
static json_t *control_crc(const struct control *control, const json_t *request)
{
	const json_t *ggtt = json_object_get(request, "ggtt");
	uint32_t first, count, crc;
	uint64_t pa, len;

	if (ggtt) {
		if (json_array_size(ggtt) != 2 || !control_u32(json_array_get(ggtt, 0), &first) ||
		    !control_u32(json_array_get(ggtt, 1), &count))
			return control_error("crc wants ggtt as [first, count]");
		if (agate_sim_crc_ggtt(control->sim, first, count, &crc))
			return control_error("the GGTT does not have these entries");
	} else {
		if (!control_u63(json_object_get(request, "pa"), &pa) ||
		    !control_u63(json_object_get(request, "len"), &len))
			return control_error("crc wants pa and len, or ggtt");
		if (agate_sim_crc_phys(control->sim, pa, len, &crc))
			return control_error("not all of that is memory");
	}
	return json_pack("{s:b, s:I}", "ok", 1, "crc", (json_int_t)crc);
}

static json_t *control_answer(struct control *control, const json_t *request, bool *quit)
{
	const char *cmd = json_string_value(json_object_get(request, "cmd"));

	if (!cmd)
		return control_error("no cmd");
	if (!strcmp(cmd, "counters"))
		return control_counters(control);
	if (!strcmp(cmd, "mark"))
		return control_mark(control, request);
	if (!strcmp(cmd, "latency"))
		return control_latency(control, request);
	if (!strcmp(cmd, "inject"))
		return control_inject(control, request);
	if (!strcmp(cmd, "identity"))
		return control_identity(control, request);
	if (!strcmp(cmd, "idle"))
		return control_idle(control, request);
	if (!strcmp(cmd, "fault"))
		return control_fault(control, request);
	if (!strcmp(cmd, "crc"))
		return control_crc(control, request);
	if (!strcmp(cmd, "power-cut") || !strcmp(cmd, "power-back")) {
		agate_sim_power_cut(control->sim, !strcmp(cmd, "power-cut"));
		return json_pack("{s:b}", "ok", 1);
	}
	if (!strcmp(cmd, "restore")) {
		agate_sim_restore(control->sim);
		return json_pack("{s:b}", "ok", 1);
	}
	*quit = !strcmp(cmd, "quit");
	if (*quit || !strcmp(cmd, "ping"))
		return json_pack("{s:b, s:I}", "ok", 1,
				 "time", (json_int_t)agate_sim_time(control->sim));
	return control_error("unknown cmd");
}

static void control_send(const struct control *control, const json_t *answer)
{
	char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
	size_t len;

	if (!text)
		return;
	len = strlen(text);
	text[len++] = '\n';	/* in place of the terminator */
	send(control->fd, text, len, MSG_NOSIGNAL);
	free(text);
}

/* One request; returns false when the process has to end. */
static bool control_request(struct control *control, const char *line, size_t len)
{
	json_t *request = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	bool quit = false;
	json_t *answer;

	answer = request ? control_answer(control, request, &quit) : control_error("not JSON");
	/*
	 * The request's id, so that a client that gave up on a request recognises its
	 * late answer.
	 */
	if (json_object_get(request, "id"))
		json_object_set(answer, "id", json_object_get(request, "id"));
	control_send(control, answer);
	json_decref(answer);
	json_decref(request);
	return !quit;
}

/* Carry out every complete line in the buffer. */
static bool control_lines(struct control *control)
{
	char *end;

	while ((end = memchr(control->line, '\n', control->used))) {
		size_t len = end - control->line;

		if (!control_request(control, control->line, len))
			return false;
		control->used -= len + 1;
		memmove(control->line, end + 1, control->used);
	}
	return true;
}

static bool control_is_stream(int fd)
{
	int type = 0;
	socklen_t len = sizeof(type);

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_STREAM;
}

bool control_run(struct control *control)
{
	/* One byte is kept for the newline that a packet may lack. */
	ssize_t n = recv(control->fd, control->line + control->used,
			 sizeof(control->line) - control->used - 1, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	control->used += n;
	if (!control_is_stream(control->fd) && control->line[control->used - 1] != '\n')
		control->line[control->used++] = '\n';
	if (!control_lines(control))
		return false;
	if (control->used == sizeof(control->line) - 1) {
		/* The launcher never sends a line that long. */
		control_request(control, "", 0);
		control->used = 0;
	}
	return true;
}
