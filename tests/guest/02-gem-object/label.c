// SPDX-License-Identifier: MIT
/* Lab 02, step 4: labels. */
#include "clients.h"
#include "gem.h"

#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define OLD		"the old label"
#define REFUSALS	64u	/* more than the pieces that a driver keeps for later */
/* A size that no other test uses: a BO is known by its size while it has no name. */
#define UNNAMED_PAGES	131

static void same_label(const char *label, const char *text)
{
	char expected[LABEL_ROOM + 16];

	snprintf(expected, sizeof(expected), "label \"%s\"", text);
	if (strcmp(label, text))
		broken(expected, "label \"%s\"", label);
}

static void label_is(const struct bo *bo, const char *text)
{
	same_label(listed(bo).label, text);
}

static void label_works(const struct bo *bo, const char *text, uint32_t len)
{
	char what[64];

	snprintf(what, sizeof(what), "SET_LABEL of %u bytes", len);
	check_errno(set_label(bo->fd, bo->handle, text, len), 0, what);
}

/* A BO that is called OLD. */
static struct bo make_labelled(int fd)
{
	struct bo bo;

	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, PAGE, 0);
	rule("a label is what debugfs calls the BO");
	label_works(&bo, OLD, strlen(OLD));
	label_is(&bo, OLD);
	return bo;
}

/* The BO is still mapped when its name goes. */
static void label_outlives_the_name(int fd)
{
	struct bo bo;

	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, UNNAMED_PAGES * PAGE, 0);
	guest_map(&bo);
	label_works(&bo, OLD, strlen(OLD));
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	rule("gem_close() ends a name only: a BO that is still mapped keeps its label");
	if (strcmp(look_for(bo.size).bo.label, OLD))
		broken("label \"" OLD "\"", "label \"%s\"", look_for(bo.size).bo.label);
	munmap(bo.cpu, bo.size);
}

/* BOs that get a label each, before one look at them all: debugfs takes its time. */
#define SHEET	64
struct sheet {
	struct bo bos[SHEET];
	unsigned int refs;		/* of each */
	char texts[SHEET][AGATE_LABEL_MAX + 1];
	unsigned int labelled;
};

static void sheet_open(struct sheet *sheet)
{
	int fd = guest_open();

	for (unsigned int i = 0; i < SHEET; i++)
		sheet->bos[i] = make_bo(fd, PAGE, 0);
	sheet->refs = listed(&sheet->bos[0]).refs;
	sheet->labelled = 0;
}

static const struct listed *find_among(const struct listed *bos, unsigned int n,
				       const struct bo *bo)
{
	for (unsigned int i = 0; i < n && i < SHEET; i++) {
		if (bos[i].va == bo->va)
			return &bos[i];
	}
	return NULL;
}

static void sheet_look(struct sheet *sheet)
{
	struct listed found[SHEET];
	unsigned int n = list_bos(sheet->bos[0].fd, found, SHEET);

	for (unsigned int i = 0; i < sheet->labelled; i++) {
		const struct listed *bo = find_among(found, n, &sheet->bos[i]);

		if (!bo) {
			broken("the BO in debugfs' list", "no BO at GPU address %#llx of this file",
			       (unsigned long long)sheet->bos[i].va);
			return;
		}
		same_label(bo->label, sheet->texts[i]);
	}
	sheet->labelled = 0;
}

static void sheet_references(struct sheet *sheet)
{
	struct listed found[SHEET];
	unsigned int n = list_bos(sheet->bos[0].fd, found, SHEET);

	rule("SET_LABEL puts the reference that it took");
	for (unsigned int i = 0; i < n && i < SHEET; i++)
		check_equal(found[i].refs, sheet->refs, "references after some labels");
}

/* Labels the next BO with the @len bytes at @bytes, which spell @text. */
static void sheet_label(struct sheet *sheet, const char *text, const char *bytes, uint32_t len)
{
	label_works(&sheet->bos[sheet->labelled], bytes, len);
	strcpy(sheet->texts[sheet->labelled++], text);
	if (sheet->labelled == SHEET)
		sheet_look(sheet);
}

/* Every byte that is text: alone, at both ends, and in the middle. */
static void every_text_byte(struct sheet *sheet)
{
	char text[8] = "";

	rule("all bytes but control characters are text, wherever they stand, also above 0x7f");
	for (unsigned int c = 0x20; c < 0x100; c++) {
		if (c == 0x7f)
			continue;
		text[0] = (char)c;
		text[1] = '\0';
		sheet_label(sheet, text, text, 1);
		memcpy(text + 1, "a.b.", 4);
		text[2] = text[4] = (char)c;
		sheet_label(sheet, text, text, 5);
	}
	sheet_look(sheet);
}

/* Every length, of a text that ends where the client's memory does. */
static void every_length(struct sheet *sheet)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	char text[AGATE_LABEL_MAX + 1];

	memset(pages, 'e', PAGE);
	munmap(pages + PAGE, PAGE);
	rule("a label is as long as the call says: no byte behind it is read");
	for (uint32_t len = 1; len <= AGATE_LABEL_MAX; len++) {
		memset(text, 'e', len);
		text[len] = '\0';
		sheet_label(sheet, text, pages + PAGE - len, len);
	}
	sheet_look(sheet);
	munmap(pages, PAGE);
}

/* Pointers to no memory of the client's, the last one being the kernel's. */
#define BAD_POINTERS	8

static unsigned int bad_pointers(uint64_t pointer[BAD_POINTERS])
{
	const uint64_t kernel = inject_kernel_text();
	const uint64_t bad[BAD_POINTERS] = {
		0, 1, 8, PAGE - 1, 1ull << 63, UINT64_MAX - AGATE_LABEL_MAX, UINT64_MAX, kernel,
	};

	memcpy(pointer, bad, sizeof(bad));
	return BAD_POINTERS;
}

static void removed_by_any_pointer(const struct bo *bo)
{
	uint64_t pointer[BAD_POINTERS];
	unsigned int n = bad_pointers(pointer);
	char what[96];

	for (unsigned int i = 0; i < n; i++) {
		rule("length 0 removes the label, whatever the pointer, and if there is one or not");
		for (int again = 0; again < 2; again++) {
			snprintf(what, sizeof(what), "SET_LABEL of 0 bytes, pointer %#llx",
				 (unsigned long long)pointer[i]);
			check_errno(set_label(bo->fd, bo->handle, (void *)(uintptr_t)pointer[i], 0), 0,
				    what);
			label_is(bo, "");
		}
		label_works(bo, OLD, strlen(OLD));
	}
	label_works(bo, "", 0);
	label_is(bo, "");
}

void test_label(void **state)
{
	char longest[AGATE_LABEL_MAX + 1] = "", text[AGATE_LABEL_MAX + 1] = "";
	uint32_t len = (uint32_t)param("LEN");
	int fd = gem_open(), fresh = guest_open();
	struct bo bo, other;
	struct sheet sheet;
	unsigned int refs;

	(void)state;
	bo = make_labelled(fd);
	other = make_bo(fd, PAGE, 0);
	/* This one has had no label yet, and so no reference that SET_LABEL took. */
	refs = listed(&other).refs;
	rule("a BO has no label until it gets one");
	label_is(&other, "");

	rule("a label is as long as the call says: no terminating zero is read");
	memset(longest, 'x', AGATE_LABEL_MAX);
	label_works(&bo, longest, AGATE_LABEL_MAX);
	label_is(&bo, longest);
	label_works(&bo, "half of it", 4);
	label_is(&bo, "half");
	memset(text, 'm', len);
	label_works(&bo, longest, AGATE_LABEL_MAX);
	label_works(&bo, text, len);
	see("label_length", (int64_t)strlen(listed(&bo).label));

	rule("any text may be a label: bytes above 0x7f are no control characters");
	label_works(&bo, "Gr\xc3\xbc\xc3\x9f" "e \xe2\x98\x85", 11);
	label_is(&bo, "Gr\xc3\xbc\xc3\x9f" "e \xe2\x98\x85");

	sheet_open(&sheet);
	every_text_byte(&sheet);
	every_length(&sheet);
	sheet_references(&sheet);
	close(sheet.bos[0].fd);

	rule("a label may be set again, the same or another");
	for (int i = 0; i < 3; i++) {
		label_works(&bo, "the same", 8);
		label_is(&bo, "the same");
	}

	removed_by_any_pointer(&bo);

	rule("each BO has a label of its own");
	label_works(&other, "other", 5);
	label_is(&bo, "");
	label_is(&other, "other");
	rule("SET_LABEL puts the reference that it took");
	check_equal(listed(&bo).refs, refs, "references after all these labels");
	label_every_kind(fd);
	label_outlives_the_name(fd);
	check_label_of_a_guess(fresh);
	check_memory();
	close(fresh);
	close(fd);
}

static void old_stays(const struct bo *bo)
{
	struct listed found = listed(bo);

	if (!strcmp(found.label, OLD))
		return;
	rule("a SET_LABEL that fails changes nothing: the label stays as it was");
	broken("label \"" OLD "\"", "label \"%s\"", found.label);
}

static void label_refused(const struct bo *bo, const char *text, uint32_t len, int err,
			  const char *why)
{
	char what[96];

	snprintf(what, sizeof(what), "SET_LABEL of %u bytes (%s)", len, why);
	check_errno(set_label(bo->fd, bo->handle, text, len), err, what);
	old_stays(bo);
}

/* Every byte that is no text: first, last, and somewhere in the label. */
static void control_characters_refused(const struct bo *bo)
{
	const uint32_t place = (uint32_t)param("PLACE");
	const struct {
		uint32_t place, len;
	} places[] = {
		{ 0, 1 }, { 0, 4 }, { 1, 4 }, { 3, 4 }, { 0, AGATE_LABEL_MAX },
		{ place, AGATE_LABEL_MAX }, { AGATE_LABEL_MAX - 1, AGATE_LABEL_MAX },
	};
	char text[AGATE_LABEL_MAX], what[80];

	for (int c = 0; c < 0x80; c = c == 0x1f ? 0x7f : c + 1) {
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			memset(text, 'a', sizeof(text));
			text[places[i].place] = (char)c;
			snprintf(what, sizeof(what), "SET_LABEL of %u bytes (byte %u is %#x)",
				 places[i].len, places[i].place, (unsigned int)c);
			check_errno(set_label(bo->fd, bo->handle, text, places[i].len), EINVAL, what);
		}
		old_stays(bo);
	}
}

/* Each pointer that leads to nothing of the client's, with lengths of all kinds. */
static void no_text_there(const struct bo *bo)
{
	static const uint32_t lengths[] = { 1, 5, 13, AGATE_LABEL_MAX };
	uint64_t pointer[BAD_POINTERS];
	unsigned int n = bad_pointers(pointer);
	char why[48];

	for (unsigned int i = 0; i < n; i++) {
		bool last = i == n - 1;

		rule(last ? "a pointer into the kernel gives EFAULT: a client must not read the kernel's memory" :
		     "a pointer that cannot be read gives EFAULT");
		snprintf(why, sizeof(why), "pointer %#llx, %s", (unsigned long long)pointer[i],
			 last ? "the kernel's memory" : "no memory there");
		for (size_t j = 0; j < sizeof(lengths) / sizeof(lengths[0]); j++)
			label_refused(bo, (char *)(uintptr_t)pointer[i], lengths[j], EFAULT, why);
	}
}

/* A driver may keep a few pieces for later, but not one for each call. */
static void refusals_keep_no_memory(const struct bo *bo)
{
	static const char text[] = "a text that ends with a control character\n";
	int topic = memory_watch();
	uint32_t kept;

	for (unsigned int i = 0; i < REFUSALS; i++) {
		set_label(bo->fd, bo->handle, text, sizeof(text) - 1);
		set_label(bo->fd, bo->handle, (void *)8, sizeof(text) - 1);
		set_label(bo->fd, NO_HANDLE, text, sizeof(text) - 2);
	}
	kept = memory_kept(topic, REFUSALS - 1);
	close(topic);
	rule("a SET_LABEL that fails frees what it had allocated");
	if (kept >= REFUSALS)
		broken("no memory that stays", "%u pieces are left after %u calls of each kind", kept,
		       REFUSALS);
}

void test_label_refused(void **state)
{
	char text[2 * PAGE];
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	int fd = gem_open(), other = guest_open();
	unsigned int refs;
	struct bo bo;

	(void)state;
	bo = make_labelled(fd);
	refs = listed(&bo).refs;
	memset(text, 'y', sizeof(text));
	rule("a label over AGATE_LABEL_MAX bytes is refused");
	label_refused(&bo, text, AGATE_LABEL_MAX + 1, EINVAL, "one too long");
	label_refused(&bo, text, PAGE, EINVAL, "too long");
	label_refused(&bo, text, UINT32_MAX, EINVAL, "too long");

	rule("a control character in a label is refused: it would break debugfs' lines");
	control_characters_refused(&bo);

	rule("a pointer that cannot be read gives EFAULT");
	memset(pages, 'z', 2 * PAGE);
	munmap(pages + PAGE, PAGE);
	label_refused(&bo, pages + PAGE - 5, 10, EFAULT, "its end is not there");
	no_text_there(&bo);

	rule("a handle that the file does not have gives ENOENT");
	check_errno(set_label(fd, NO_HANDLE, "x", 1), ENOENT, "SET_LABEL of no handle");
	check_errno(set_label(fd, 0, "x", 1), ENOENT, "SET_LABEL of handle 0");
	check_errno(set_label(fd, NO_HANDLE, NULL, 0), ENOENT, "SET_LABEL of 0 bytes, no handle");
	check_errno(set_label(other, bo.handle, "x", 1), ENOENT,
		    "SET_LABEL of a handle of another file");

	rule("a call that fails keeps no reference to the BO");
	check_equal(listed(&bo).refs, refs, "references after calls that failed");
	refusals_keep_no_memory(&bo);
	munmap(pages, PAGE);
	close(other);
	close(fd);
}

/* ---- User memory that changes, or does not come ------------------------ */

struct call {
	struct aside aside;
	const struct bo *bo;
	char *text;
	uint32_t len;
	int err;
};

/* A call that waits for the second page of its text. */
struct stalled {
	struct call call;
	char *pages;
	int uffd;
};

static void run_call(void *arg)
{
	struct call *call = arg;

	call->err = set_label(call->bo->fd, call->bo->handle, call->text, call->len);
}

static void serve(int uffd, void *page, const void *content)
{
	struct uffdio_copy copy = {
		.dst = (uintptr_t)page, .src = (uintptr_t)content, .len = PAGE,
	};

	if (ioctl(uffd, UFFDIO_COPY, &copy))
		fail_msg("UFFDIO_COPY: %s", strerror(errno));
}

/* Begin SET_LABEL of @len bytes of which @begin is there; returns when the rest is missed. */
static void set_label_stalled(struct stalled *text, const struct bo *bo, const char *begin,
			      uint32_t len)
{
	struct pollfd pollfd = { .events = POLLIN };
	size_t there = strlen(begin);

	text->pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	if (text->pages == MAP_FAILED)
		fail_msg("mmap: %s", strerror(errno));
	text->call = (struct call){ .bo = bo, .text = text->pages + PAGE - there, .len = len };
	memcpy(text->call.text, begin, there);
	text->uffd = clients_stall(text->pages + PAGE, PAGE);
	aside_start(&text->call.aside, run_call, &text->call);
	pollfd.fd = text->uffd;
	while (!poll(&pollfd, 1, 1)) {
		if (!atomic_load(&text->call.aside.done))
			continue;
		rule("SET_LABEL reads the text that it is given");
		broken("a read of all its bytes", "errno %d without it", text->call.err);
	}
}

/* Give the call the page that it waits for, and let it come to its end. */
static void resume(struct stalled *text, const void *content)
{
	serve(text->uffd, text->pages + PAGE, content);
	aside_join(&text->call.aside);
	close(text->uffd);
	munmap(text->pages, 2 * PAGE);
}

/*
 * The text begins at the end of a page and goes on in one that is not there yet: when
 * the driver stops at the second, it has read the first byte, which is overwritten
 * then.  A driver that reads the text again gets bytes that nobody has checked.
 */
void test_label_fetched_once(void **state)
{
	static const char content[PAGE] = "of it";
	int fd = gem_open();
	struct listed found;
	struct stalled text;
	struct bo bo;

	(void)state;
	bo = make_labelled(fd);
	set_label_stalled(&text, &bo, "a text, and the rest ", 26);
	text.call.text[0] = '\n';
	resume(&text, content);

	rule("user memory is read once: what was checked is what is used");
	check_errno(text.call.err, 0, "SET_LABEL of a text that changes after it was read");
	found = listed(&bo);
	check_true(!strcmp(found.label, "a text, and the rest of it"),
		   "the label that was there when it was checked", "text that was put there later");
	close(fd);
}

/* Other calls, made while one waits for its caller's memory. */
struct others {
	struct aside aside;
	const struct bo *bo;
	struct listed found;
	int label_err;
	int create_err;
};

static void run_others(void *arg)
{
	struct others *others = arg;
	struct bo more;

	find_listed(others->bo->fd, others->bo->va, &others->found);
	others->label_err = set_label(others->bo->fd, others->bo->handle, "new", 3);
	others->create_err = gem_create(others->bo->fd, PAGE, 0, &more);
}

void test_label_stalled(void **state)
{
	static const char content[PAGE] = "is late";
	struct others others = { 0 };
	int fd = gem_open();
	struct stalled text;
	bool free_to_go;
	struct bo bo;

	(void)state;
	bo = make_labelled(fd);
	others.bo = &bo;
	set_label_stalled(&text, &bo, "half of this text ", 25);
	aside_start(&others.aside, run_others, &others);
	free_to_go = aside_ends(&others.aside, STUCK_MS);
	resume(&text, content);
	aside_join(&others.aside);

	rule("no lock is held while user memory is read: a client that stalls stops only itself");
	check_true(free_to_go, "other calls and debugfs go on", "they wait for the stalled call");
	rule("a label changes when all of the text was fetched and checked, and not before");
	if (strcmp(others.found.label, OLD))
		broken("label \"" OLD "\" until the call is through", "label \"%s\"",
		       others.found.label);
	check_errno(others.label_err, 0, "SET_LABEL of another thread");
	check_errno(others.create_err, 0, "CREATE_BO of another thread");
	rule("a stalled call goes on with the text that it has fetched, whatever others fetch meanwhile");
	check_errno(text.call.err, 0, "SET_LABEL");
	label_is(&bo, "half of this text is late");
	close(fd);
}
