// SPDX-License-Identifier: MIT
/*
 * The rules behind the compiler's and the linker's messages.
 */
#include <string.h>

#include "explain_priv.h"

struct meaning {
	const char *part;	/* of the message */
	const char *rule;
};

#define RULE_UNKNOWN \
	"every name is declared before it is used: this one is misspelt, or its header is not " \
	"included"

static const struct meaning compiler[] = {
	{ "implicit declaration of function", RULE_UNKNOWN },
	{ "undeclared", RULE_UNKNOWN },
	{ "unknown type name", RULE_UNKNOWN },
	{ "has no member named", "the structure has no member of this name" },
	{ "too few arguments", "a function gets the arguments that its declaration lists: some are "
	  "missing" },
	{ "too many arguments", "a function gets the arguments that its declaration lists: these are "
	  "too many" },
	{ "incompatible pointer type", "a pointer points to what its type says: this one is of "
	  "another type" },
	{ "makes pointer from integer", "a number is not a pointer" },
	{ "makes integer from pointer", "a pointer is not a number" },
	{ "incompatible type", "a passed or assigned value has the expected type" },
	{ "discards 'const'", "const data stays const" },
	{ "expected declaration or statement at end", "each { has its }: one is missing further up" },
	{ "expected identifier or '('", "code stands inside functions: a } may be too many further "
	  "up" },
	{ "before", "something is missing before this place: look at the end of the line above, "
	  "too" },
	{ "control reaches end of non-void", "a function that returns a value does so on every way "
	  "out" },
	{ "'return' with no value", "a function that returns a value does so on every way out" },
	{ "'return' with a value", "a function that returns void returns no value" },
	{ "unused variable", "a declared variable is used: remove it, or the step is not "
	  "finished" },
	{ "defined but not used", "a defined function is used: remove it, or the step is not "
	  "finished" },
	{ "set but not used", "a computed value is used" },
	{ "unused", "everything that is declared is used" },
	{ "uninitialized", "a variable has a value before it is read, on every way there" },
	{ "conflicting types", "a function is defined as its header declares it" },
	{ "redefinition of", "a name is defined once" },
	{ "incomplete type", "a structure is known before its members are used: the header that "
	  "defines it is not included" },
	{ "undefined type", "a structure is known before its members are used: the header that "
	  "defines it is not included" },
	{ "No such file or directory", "a header that is included is there" },
	{ "ISO C90 forbids mixed", "variables are declared at the beginning of a block" },
	{ "no previous prototype", "a function that others call is declared in a header; one that "
	  "they do not is static" },
	{ "no previous declaration", "a function that others call is declared in a header; one that "
	  "they do not is static" },
	{ "format '%", "the format string fits its arguments" },
	{ "static assertion failed", "a structure has the size and layout that others rely on" },
	{ "this statement may fall through", "a case ends with break, or says fallthrough" },
	{ "misleading", "the code does what its indentation says" },
	{ ", which is not among lab", "a file includes the kernel's headers, the driver's, and its "
	  "own" },
	{ ": not there", "the lab's file is there" },
	{ NULL, "the file compiles without a warning" },
};

static const struct meaning symbols[] = {
	{ "make it static", "a file exports what its lab's contract lists, and nothing else" },
	{ "and so does", "a name is defined once" },
	{ "does not define", "a file defines all that its lab's contract lists" },
	{ "does not allow", "a lab's file uses what the lab allows: this function does what the lab "
	  "is about, or does not belong into this part of the driver" },
	{ "which neither", "a called function exists: the name is misspelt, or the function is "
	  "missing" },
	{ NULL, "a file exports and uses what its lab allows" },
};

static const char *meaning_of(const struct meaning *list, const char *said)
{
	while (list->part && !strstr(said, list->part))
		list++;
	return list->rule;
}

const char *explain_compiler_rule(const char *said)
{
	return meaning_of(compiler, said);
}

const char *explain_symbol_rule(const char *said)
{
	return meaning_of(symbols, said);
}
