// SPDX-License-Identifier: MIT
/*
 * Labs side by side (grade_labs.h).  Each worker takes the first lab that nobody has taken, and
 * the calling thread reports: a reader sees the labs in their order, each verdict of the first
 * unfinished one as it comes.  Two labs with a guest each take less processor time than one lab
 * with two guests, because each guest has to warm up.
 */
#include "grade_labs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hint.h"
#include "live.h"
#include "report.h"
#include "steps.h"
#include "text.h"

#define WORKERS		2

struct graded {
	struct timing timing[FLAVOURS][LANES];
	char error[RUN_ERROR];
	uint64_t begun;
	unsigned int done, all;		/* verdicts; the result's lock, as the next one */
	bool running;			/* before that no result of the lab means anything */
	enum run_end end;
	bool ended;
};

static struct {
	const struct grade *grade;
	struct graded *labs;
	pthread_mutex_t lock;		/* of the ends of labs, and of the next three */
	pthread_cond_t ended;
	size_t next;			/* lab to take */
	bool stop;
	/* The report and whose it is; the result's lock. */
	struct report report;
	const struct result_lab *reported;
} grading = { .lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER };

void grade_error(const char *what)
{
	char text[RUN_ERROR];

	text_clean(text, sizeof(text), what, strlen(what));
	fprintf(stderr, "agate-grade: %s\n", text);
}

/* The caller holds the result's lock. */
static void follow(const struct result_lab *lab, const struct graded *graded)
{
	live_hide();
	report_tests(&grading.report, lab);
	live_show();
	live_count(lab->lab->name, graded->done, graded->all);
}

static void show_progress(const struct result_lab *lab, unsigned int done, unsigned int all)
{
	struct graded *graded = &grading.labs[lab - grading.grade->result->labs];

	graded->running = true;
	graded->done = done;
	graded->all = all;
	if (lab == grading.reported)
		follow(lab, graded);
}

static bool take_lab(size_t *index)
{
	bool taken;

	pthread_mutex_lock(&grading.lock);
	taken = !grading.stop && grading.next < grading.grade->result->lab_count;
	if (taken)
		*index = grading.next++;
	pthread_mutex_unlock(&grading.lock);
	return taken;
}

static void *work(void *arg)
{
	const struct grade *grade = grading.grade;
	size_t i;

	(void)arg;
	while (take_lab(&i)) {
		struct graded *graded = &grading.labs[i];
		enum run_end end;

		graded->begun = timing_now();
		end = run_lab(grade->config, grade->result, i, graded->timing, graded->error);
		pthread_mutex_lock(&grading.lock);
		graded->end = end;
		graded->ended = true;
		if (end > RUN_UNJUDGED)
			grading.stop = true;
		pthread_cond_signal(&grading.ended);
		pthread_mutex_unlock(&grading.lock);
	}
	return NULL;
}

/*
 * Stores the facts for `make hint`: how each test failed, and which first hints the
 * report showed.  A test that passed has no failure any more.
 */
static void remember_hints(const char *dir, const struct result_lab *lab)
{
	const struct lab *l = lab->lab;
	struct standing standing;
	size_t i;

	for (i = 0; dir && i < l->test_count; i++) {
		const struct lab_test *test = &l->tests[i];
		const struct verdict *v;

		result_standing(lab, i, &standing);
		if (standing.status == VERDICT_PASS)
			hint_passed(dir, l, test);
		if (standing.status <= VERDICT_PASS || test->hidden)
			continue;
		v = &standing.outcome->verdict;
		if (v->before)
			hint_before(dir, l, test);
		else if (!v->flooded)
			hint_failed(dir, l, test, hint_fitting(test, v),
				    grading.report.told[i] == TOLD_WHOLE &&
				    !steps_first_left(grading.report.steps, test->step));
	}
}

/* From here on the report is about this lab. */
static void begin_report(size_t i, const struct report *report)
{
	struct result *result = grading.grade->result;

	pthread_mutex_lock(&result->lock);
	grading.report = *report;
	grading.reported = &result->labs[i];
	if (grading.labs[i].running)
		follow(grading.reported, &grading.labs[i]);
	pthread_mutex_unlock(&result->lock);
}

static void print_timings(const struct graded *graded)
{
	char title[32];
	int f, lane;

	for (f = 0; f < FLAVOURS; f++) {
		for (lane = 0; lane < LANES; lane++) {
			snprintf(title, sizeof(title), "%s%s", flavour_names[f],
				 lane ? ", second guest" : "");
			if (graded->timing[f][lane].count)
				timing_print(&graded->timing[f][lane], title, graded->begun, stderr);
		}
	}
}

/* Nobody changes the results of a lab that has ended. */
static void end_report(size_t i)
{
	const struct grade *grade = grading.grade;
	const struct graded *graded = &grading.labs[i];
	const struct result_lab *lab = &grade->result->labs[i];

	pthread_mutex_lock(&grade->result->lock);
	grading.reported = NULL;
	pthread_mutex_unlock(&grade->result->lock);
	live_hide();
	if (graded->end == RUN_HOST)
		grade_error(graded->error);
	report_lab(&grading.report, lab);
	fflush(stdout);
	if (graded->end == RUN_UNJUDGED)
		grade_error(graded->error);
	if (grade->options->timings)
		print_timings(graded);
	live_show();
	remember_hints(grade->hints, lab);
}

static void await_lab(const struct graded *graded)
{
	pthread_mutex_lock(&grading.lock);
	while (!graded->ended)
		pthread_cond_wait(&grading.ended, &grading.lock);
	pthread_mutex_unlock(&grading.lock);
}

static enum run_end report_one(size_t i)
{
	const struct grade *grade = grading.grade;
	const struct lab *lab = grade->result->labs[i].lab;
	char from[RUN_PATH], out[RUN_PATH], number[LAB_NAME];
	struct steps steps;
	struct report report = { .out = stdout, .colour = report_colour(stdout), .dir = out,
				 .results = grade->config->out, .number = number, .steps = &steps,
				 .step = grade->options->step, .glob = grade->options->test };

	/* A path that does not fit has ended the lab, too, and has its error there. */
	if (run_path(from, "%s/%s", grade->config->from, lab->name))
		steps_find(lab, from, &steps);
	else
		memset(&steps, 0, sizeof(steps));
	if (!run_path(out, "%s/%s", grade->config->out, lab->name))
		out[0] = '\0';
	snprintf(number, sizeof(number), "%.*s",
		 (int)(strspn(lab->name, "0123456789") ?: strlen(lab->name)), lab->name);
	begin_report(i, &report);
	await_lab(&grading.labs[i]);
	end_report(i);
	return grading.labs[i].end;
}

enum run_end grade_labs(const struct grade *grade)
{
	pthread_t workers[WORKERS];
	unsigned int started = 0;
	enum run_end worst = RUN_DONE;
	size_t i;

	grading.grade = grade;
	grading.next = 0;
	grading.stop = false;
	grading.labs = calloc(grade->result->lab_count, sizeof(*grading.labs));
	if (!grading.labs) {
		grade_error("out of memory");
		return RUN_HOST;
	}
	grade->config->progress = show_progress;
	grade->config->task = live_task;
	while (started < WORKERS && started < (grade->together ?: 1) &&
	       !pthread_create(&workers[started], NULL, work, NULL))
		started++;
	if (!started)
		grade_error("no thread could be started");
	live_begin();
	for (i = 0; started && i < grade->result->lab_count && worst <= RUN_UNJUDGED; i++) {
		enum run_end end = report_one(i);

		worst = end > worst ? end : worst;
	}
	live_end();
	for (i = 0; i < started; i++)
		pthread_join(workers[i], NULL);
	free(grading.labs);
	return started ? worst : RUN_HOST;
}
