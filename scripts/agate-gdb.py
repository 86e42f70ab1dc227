# SPDX-License-Identifier: MIT
"""What gdb has to know of Agate's guest; see gdb.sh, which starts it.

The driver's symbols are loaded each time the driver is, before its init function
runs, from where the kernel put its sections: so breakpoints hold over any number of
reloads, and can be set in probe.
"""

import json
import os

import gdb

SOCKET = os.environ["AGATE_GDB_SOCKET"]
COMMANDS = os.environ["AGATE_GDB_COMMANDS"]
MODULE = os.environ["AGATE_KO"]
LAB = os.environ.get("AGATE_LAB_JSON")

GUEST_MODULE = "/run/agate/agate.ko"
GUEST_TEST = "/run/agate/test"
# Only the guest's shell writes there, to tell us that a test is over.
OVER_FILE = "/proc/sysrq-trigger"
OVER_FUNCTION = "write_sysrq_trigger"


def say(text):
    """A line of ours, told from gdb's and from the guest's."""
    gdb.write("[agate] " + text + "\n")
    gdb.flush()


def in_guest(command):
    """Have the guest's shell run this, once the guest goes on."""
    with open(COMMANDS, "w") as commands:
        commands.write(command + "\n")


def lab():
    if not LAB:
        raise gdb.GdbError("no lab, so no tests: start with LAB=NN")
    with open(LAB) as f:
        return json.load(f)


def loads_by_itself():
    return LAB is not None and lab().get("module") == "by-test"


class Loaded(gdb.Breakpoint):
    """The kernel is about to run a module's init function."""

    def __init__(self):
        super().__init__("do_init_module", internal=True)
        self.silent = True
        self.text = None
        self.shown = False

    def stop(self):
        # Do not use a cast: gdb would first search the whole kernel for the type.
        module = gdb.newest_frame().read_var("mod")
        if module["name"].string() != "agate":
            return False
        self.add_symbols(module)
        first = not self.shown
        self.shown = True
        if first:
            say("the driver is in the guest, and its init function is about to run;")
            say("set breakpoints, then: continue")
        return first

    def add_symbols(self, module):
        if self.text is not None:
            gdb.execute("remove-symbol-file -a %#x" % self.text, to_string=True)
        attributes = module["sect_attrs"]
        sections = {}
        for i in range(int(attributes["nsections"])):
            attribute = attributes["attrs"][i]
            name = attribute["battr"]["attr"]["name"].string()
            sections[name] = int(attribute["address"])
        self.text = sections.pop(".text")
        others = " ".join("-s %s %#x" % s for s in sorted(sections.items()) if s[0][0] == ".")
        gdb.execute("add-symbol-file %s %#x %s" % (MODULE, self.text, others), to_string=True)


class Stopper(gdb.Breakpoint):
    """Stops where the guest has something to say."""

    def __init__(self, function, text):
        super().__init__(function, internal=True)
        self.silent = True
        self.text = text

    def stop(self):
        say(self.text)
        return True


class Begin(gdb.Command):
    """Join the guest, and have it load the driver.  Done once, at the start."""

    def __init__(self):
        super().__init__("agate-begin", gdb.COMMAND_RUNNING)

    def invoke(self, _arg, _from_tty):
        gdb.execute("set pagination off")
        gdb.execute("set breakpoint pending on")
        # The place where the guest idled when gdb connected does not matter.
        gdb.execute("set suppress-cli-notifications on")
        gdb.execute("target remote " + SOCKET, to_string=True)
        gdb.execute("set suppress-cli-notifications off")
        Loaded()
        Stopper(OVER_FUNCTION, "the test is over")
        Stopper("panic", "the guest's kernel gives up: bt shows where")
        test = os.environ.get("AGATE_TEST")
        if not test or not loads_by_itself():
            in_guest("insmod %s" % GUEST_MODULE)
        if test:
            in_guest(command_of(test, {}, unload=False))
        gdb.execute("continue")


def command_of(name, given, unload):
    """The guest's command for a test, its parameters the lowest that a grader takes."""
    for test in lab()["tests"]:
        if test["name"] == name:
            break
    else:
        raise gdb.GdbError("no test %s; there are: %s" %
                           (name, " ".join(t["name"] for t in lab()["tests"])))
    if test.get("inject"):
        say("the grader has the GPU misbehave for this test; here it behaves")
    numbers = {key: limits[0] for key, limits in test.get("params", {}).items()}
    numbers.update(given)
    words = [GUEST_TEST, "--alone", name] + ["%s=%s" % n for n in sorted(numbers.items())]
    before = "rmmod agate 2>/dev/null; " if unload else ""
    # The test's output leaves the guest little by little, and not while the guest stands
    # still.
    return "%s%s; sleep 0.1; echo x >%s" % (before, " ".join(words), OVER_FILE)


class Test(gdb.Command):
    """agate-test NAME [PARAM=NUMBER]...: run a graded test of the lab in the guest.

The guest goes on, and stops at a breakpoint, or when the test is over."""

    def __init__(self):
        super().__init__("agate-test", gdb.COMMAND_RUNNING)

    def invoke(self, arg, _from_tty):
        words = gdb.string_to_argv(arg)
        if not words:
            raise gdb.GdbError("usage: agate-test NAME [PARAM=NUMBER]...")
        given = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        in_guest(command_of(words[0], given, unload=loads_by_itself()))
        gdb.execute("continue")

    def complete(self, _text, word):
        return [t["name"] for t in lab()["tests"] if t["name"].startswith(word)] if LAB else []


Begin()
Test()
