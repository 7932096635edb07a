# SPDX-License-Identifier: Apache-2.0
"""What mutate_protocol.py and mutate_gpu_protocol.py share: how sources are broken, and what became of the mutants.

A mutant ends in one of these ways. Killed: a test failed, or the program crashed. Survived: all tests passed. It does not compile: it says
nothing about the tests, and its operator has to be mended. Timed out: the program had to be killed. Every wait of the protocol is bounded,
so that a mutant which loses a signal is killed by a test, at the test's own deadline; one that hangs has broken the bound itself. Only a
mutant in EXCEPTIONS may end otherwise than killed. A run is void, and says nothing of the mutant, if what is not mutated fails the same
test beside it: the machine was too slow.
"""
import os
import re
import signal
import subprocess
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALL_SKIPPED = 77  # exit code of a test program (tests/support/test_main.cpp)

# A statement that calls one of these and uses no result.
EFFECT = r"(?<=[;{{}}])(?P<gap>\s*)(?:else \{{\s*)?(?P<call>[\w.>\[\]()*-]*(?:\w+::)?(?:->|\.|\b)(?:{})\s*\((?:[^;{{}}]|\{{[^{{}};]*\}})*\);)"

# What a receiver does without its wait: inserted behind the last #include of a file that needs it.
TAKE = """
namespace parhelion {
template <class Channel>
Message take_without_waiting(Channel&& channel)
{
    auto& core = const_cast<HostReceiver&>(channel.core());
    const Message message{core.slot(), core.bytes()};
    core.take();
    return message;
}
}
"""


@dataclass(frozen=True)
class Operator:
    """One way to break a line: every match of `pattern` in a file makes one mutant."""

    name: str
    pattern: str
    replacement: str
    files: str = ""  # regex on the path; all files if empty
    in_strings: bool = False  # the pattern is of text in strings, as that of inline assembly


@dataclass(frozen=True)
class Mutant:
    name: str  # operator, file and line: stays the same while the line does
    file: str
    text: str  # of the file

    @property
    def place(self):
        """The name without the line."""
        return self.name.rpartition(":")[0]


class Outcome(Enum):
    KILLED = "killed"
    SURVIVED = "survived"
    NOT_COMPILED = "does not compile"
    TIMED_OUT = "timed out"
    VOID = "void"


@dataclass(frozen=True)
class Result:
    outcome: Outcome
    how: str = ""
    test: str = field(default="", compare=False)  # that failed, or was running

    def __str__(self):
        return f"{self.outcome.value}\t{self.how}"

    @staticmethod
    def parse(text):
        outcome, _, how = text.partition("\t")
        return Result(Outcome(outcome), how)


# --- making mutants


def blank_comments(text):
    """Comments and strings as spaces, so that positions stay."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def mutants_of(file, operators):
    text = (ROOT / file).read_text()
    for operator in operators:
        if not re.search(operator.files, file):
            continue
        code = text if operator.in_strings else blank_comments(text)
        for match in re.finditer(operator.pattern, code, re.S):
            end, replacement = "", match.expand(operator.replacement)
            if "dot" in match.groupdict():  # the wait of a channel: needs a helper
                object_ = f"*{match['end']}" if match["dot"] == "->" else match["end"]
                replacement = f"take_without_waiting({object_})"
                end = TAKE
            mutated = text[: match.start()] + replacement + text[match.end() :]
            if end:
                last = [m.end() for m in re.finditer(r"^#include[^\n]*\n", mutated, re.M)][-1]
                mutated = mutated[:last] + end + mutated[last:]
            at = match.start("call") if "call" in match.groupdict() else match.start()
            line = text.count("\n", 0, at + len(match[0]) - len(match[0].lstrip()) if at == match.start() else at) + 1
            yield Mutant(f"{operator.name}: {file}:{line}", file, mutated)


# --- judging them


def first_error(output):
    return Result(Outcome.NOT_COMPILED, next((line.strip() for line in output.splitlines() if "error" in line), ""))


def run_tests(command, environment, seconds):
    """Runs a test program for so long at most: what its end says of the mutant in it."""
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return Result(Outcome.TIMED_OUT, f"in {last_test(output)}", last_test(output))
    return judge(process.returncode, output)


def judge(code, output):
    """code: of a program that has ended by itself. Whether all tests were skipped is for the caller to know: see Skipped."""
    if code == ALL_SKIPPED:
        raise Skipped
    if code == 0:
        return Result(Outcome.SURVIVED)
    if "WARNING: ThreadSanitizer: data race" in output:
        return Result(Outcome.KILLED, f"race in {last_test(output)}", last_test(output))
    wrong = re.search(r"(\d+ wrong positions, \d+ wrong forces, \d+ forces left behind)", output)
    waited = re.search(r"timed out after .* waiting [^,]*", output)
    details = "".join(f"; {m[0]}" for m in (wrong, waited) if m)
    if "[  FAILED  ]" in output:
        return Result(Outcome.KILLED, f"failure of {last_test(output)}{details}", last_test(output))
    return Result(Outcome.KILLED, f"crash in {last_test(output)}{details}", last_test(output))


class Skipped(Exception):
    """A program has skipped all its tests, which says nothing about the mutant in it."""


def last_test(output):
    failed = re.search(r"^\[  FAILED  \] ([\w/.]+)", output, re.M)
    started = re.findall(r"^\[ RUN      \] (\S+)", output, re.M)
    return failed[1] if failed else started[-1] if started else "start"


# --- telling of them


def report(results, exceptions):
    """results: {mutant's name: Result}; exceptions: {place: (Outcome, reason)}. Prints how many ended how, and what should not have; the
    exit code: 0 if there is no such mutant."""

    def is_expected(name, result):
        allowed = exceptions.get(name.rpartition(":")[0], (None, ""))[0]
        return result.outcome in (Outcome.KILLED, allowed)

    print(f"{len(results)} mutants:", ", ".join(f"{sum(r.outcome == o for r in results.values())} {o.value}" for o in Outcome))
    wrong = {name: result for name, result in results.items() if not is_expected(name, result)}
    for name, result in results.items():
        if result.outcome != Outcome.KILLED and name not in wrong:
            print(f"  as expected: {name}: {result.outcome.value}, {exceptions[name.rpartition(':')[0]][1]}")
    for name, result in wrong.items():
        print(f"  not as it should be: {name}: {result.outcome.value} {result.how}")
    return 1 if wrong else 0
