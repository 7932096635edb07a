#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tests notice when the communication protocol is broken? Weakens or removes each signal, wait, acquire, release and credit of the
given sources in turn, builds a test program under the thread sanitizer, runs it with a time-out, and reports which mutants it killed.

Usage: mutate_protocol.py [--list] [--only REGEX] [--preset tsan] [--work DIR] [--jobs N] [--filter=F] TARGET SOURCE...
  mutate_protocol.py test_comm src/comm         mutate_protocol.py test_halo src/halo

Works on a copy of the tracked files in the work folder and leaves the checkout alone. The unmutated program must pass first. Results
are appended to DIR/TARGET.tsv, one line a mutant; mutants that are there already are not tried again. Exit code 1 if less than 95 % of
all mutants were killed. Cost: a build of the program and a test run each, about a minute on a core.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

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


OPERATORS = [
    # Orders, where they are asked for and where they are defined.
    Operator("acquire -> relaxed", r"Atomics::load_acquire_system\b", "Atomics::load_relaxed_system"),
    Operator("release -> relaxed", r"Atomics::store_release_system\b", "Atomics::store_relaxed_system"),
    Operator("acquire -> relaxed", r"memory_order_acquire\b", "memory_order_relaxed"),
    Operator("release -> relaxed", r"memory_order_release\b", "memory_order_relaxed"),
    Operator("acq_rel -> acquire", r"memory_order_acq_rel\b", "memory_order_acquire"),
    Operator("acq_rel -> release", r"memory_order_acq_rel\b", "memory_order_release"),
    Operator("acq_rel -> relaxed", r"memory_order_acq_rel\b", "memory_order_relaxed"),
    # Signals and credits.
    Operator("no signal", EFFECT.format("publish|put_signal"), r"\g<gap>;"),
    Operator("no store", EFFECT.format("store_release_system|store_relaxed_system|store"), r"\g<gap>;"),
    Operator("no acknowledgement", EFFECT.format("ack|acknowledge"), r"\g<gap>;"),
    Operator("no credits", r"Credits::Yes\b(?=[,}])", "Credits::No"),
    Operator("one slot", r"(?<=[{ ])2(?=, (?:\.credits = )?Credits::No)", "1"),
    Operator("credit one epoch early", r"(?<=return epoch_ - static_cast<Word>\(route_\.depth\));", " - 1;"),
    Operator("credit of the next epoch", r"(?<=\.epoch, unread_)(?=\))|(?<=index\(unread_\), unread_)(?=\})", " + 1"),
    # Waits.
    Operator("no wait", r"return wait_until<Atomics>\([^;]*\);", "return Verdict::Reached;"),
    Operator("no wait", r"(?<![\w.>])(?P<end>\w[\w.()>-]*?(?:\(\w[\w -]*\))?\.?[\w.]*?)(?P<dot>\.|->)wait\(\)", ""),
    Operator("ready without looking", r"(?<=\|\| )!channel->is_ready\(\)", "false"),
    Operator("arrived without looking", r"(?<=\|\| )!channel->has_arrived\(\)", "false"),
    Operator("always ready", r"(?<=bool is_ready\(\) const\n)\s*\{[^}]*\}", "{ return true; }"),
    Operator("always arrived", r"(?<=has_arrived\(\) const) \{[^}]*\}", " { return true; }"),
    Operator("no wait", r"if \(!add_from\(needs\[m\]\)\) \{ return; \}", ""),
    Operator("abort not watched", r"if \(failed_\.load[^\n]*", ""),
    Operator("failure ignored", r"if \(verdict != Verdict::Reached\) \{[^}]*\}", ""),
    Operator("any epoch will do", r"(?<=Word expected\) )\{[^}]*\}", "{ return seen == seen + 0 * expected; }"),
    Operator("equal, not reached", r"(?<=Word expected\) )\{[^}]*\}", "{ return seen == expected; }"),
    Operator("next epoch, not this", r"\(seen - expected\) >= 0", "(seen - expected) > 0"),
    Operator("epochs of 32 bits", r"static_cast<std::int64_t>\(seen - expected\)", "static_cast<std::int32_t>(seen) - static_cast<std::int32_t>(expected)"),
    Operator("no deadline", r"now - start_ns_ > watch_\.deadline_ns", "false"),
    Operator("abort not watched", r"if \([^\n]*own_abort->epoch[^\n]*return Verdict::Aborted; \}", ""),
    Operator("everybody is first to fail", r"(?<=is_first = )Atomics::exchange[^;]*", "(watch.ranks > 0)"),
    Operator("last arriver is any", r"fetch_add_acq_rel_device\(&arrivals_, 1\) \+ 1 == goal", "fetch_add_acq_rel_device(&arrivals_, 1) + 1 <= goal"),
    Operator("nobody is last", r"(?<=&arrivals_, 1\)) \+ 1 == goal", " == goal"),
    Operator("thread 0 does not wait for the others", r"team\.is_last\(m\)", "(team.is_last(m), thread == 0)"),
    # Ranks that are away.
    Operator("absences not watched", r"(?<=if \()was_anyone_away\(\)", "false && was_anyone_away()"),
    Operator("short absences not seen", r"absences_ != last \|\| (?=is_anyone_away)", ""),
    Operator("long absences not seen", r" \|\| is_anyone_away\(absences_\)", ""),
    Operator("absences never forgotten", r"absences_ != last(?= \|\|)", "absences_ != 0 * last"),
    Operator("not away, or not back", EFFECT.format("fetch_add_relaxed_system"), r"\g<gap>;"),
    # Order of steps.
    Operator("size after signal", r"(\w*Atomics::store_relaxed_system\(&signal->bytes[^;]*;)(\s*)(\w*Atomics::store_release_system\(&signal->epoch[^;]*;)", r"\3\2\1"),
    Operator("signal before payload", r"(    if \(put\.data != nullptr && [^\n]*\n)((?:    [^\n]*\n)*)(?=\})", r"\2\1"),
    Operator("slot given back before it is read", r"(        parcel\.insert\([^;]*;)(.*?)(\n        channel->ack\(\);)", r"\3\1\2"),
    Operator("sent before it is packed", r"(        if \(n > 0\) \{ std::memcpy[^\n]*\n)(        channel->publish\([^;]*;\n)", r"\2\1"),
]


@dataclass(frozen=True)
class Mutant:
    name: str  # operator, file and line: stays the same while the line does
    file: str
    text: str  # of the file


def blank_comments(text):
    """Comments and strings as spaces, so that positions stay."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def mutants_of(file, operators):
    text = (ROOT / file).read_text()
    code = blank_comments(text)
    for operator in operators:
        if not re.search(operator.files, file):
            continue
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


def write_if_changed(path, text):
    if not path.exists() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


class Bench:
    """A copy of the sources and a build of it."""

    def __init__(self, work, preset, target, jobs, filter_):
        self.filter = filter_
        self.source, self.build, self.target, self.jobs = work / "source", work / preset, target, jobs
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in tracked.decode().split("\0"):
            if name and (ROOT / name).is_file():
                write_if_changed(self.source / name, (ROOT / name).read_bytes())
        configure = ["cmake", "--preset", preset, "-B", str(self.build), "-DCMAKE_UNITY_BUILD=ON", "-DPARHELION_BENCH=OFF"]
        subprocess.run(configure, cwd=self.source, check=True, stdout=subprocess.DEVNULL)

    def build_and_run(self, timeout):
        """How the program ended: '' if well, else what killed it."""
        built = subprocess.run(
            ["cmake", "--build", str(self.build), "--target", self.target, "-j", str(self.jobs)], capture_output=True, text=True
        )
        if built.returncode != 0:
            return "does not compile: " + next((l for l in built.stdout.splitlines() if "error" in l), "")
        # Failures soon and at once; a deadlock is known after a few seconds instead of a minute.
        environment = dict(os.environ, TSAN_OPTIONS="halt_on_error=1", PARHELION_TEST_DEADLINE="5", PARHELION_TEST_EXCHANGES="20000")
        program = next(p for p in self.build.rglob(self.target) if p.is_file() and os.access(p, os.X_OK))
        process = subprocess.Popen(
            [program, "--gtest_fail_fast", f"--gtest_filter={self.filter}"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return f"time-out in {self.last_test(output)}"
        if process.returncode == 0:
            return ""
        if "WARNING: ThreadSanitizer: data race" in output:
            return f"race in {self.last_test(output)}"
        return f"failure of {self.last_test(output)}" if "FAILED" in output else f"crash in {self.last_test(output)}"

    @staticmethod
    def last_test(output):
        failed = re.search(r"^\[  FAILED  \] ([\w/.]+)", output, re.M)
        started = re.findall(r"^\[ RUN      \] (\S+)", output, re.M)
        return failed[1] if failed else started[-1] if started else "start"

    def try_mutant(self, mutant, timeout):
        path = self.source / mutant.file
        original = path.read_text()
        path.write_text(mutant.text)
        try:
            return self.build_and_run(timeout)
        finally:
            path.write_text(original)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--list", action="store_true", help="name the mutants and stop")
    parser.add_argument("--only", default="", help="regular expression on their names")
    parser.add_argument("--preset", default="tsan")
    parser.add_argument("--work", type=Path, default=ROOT / "build-mutants")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--filter", default="*", help="of the tests, as GoogleTest's")
    parser.add_argument("target")
    parser.add_argument("source", nargs="+", help="files and folders")
    arguments = parser.parse_args()

    files = []
    for source in arguments.source:
        path = ROOT / source
        files += sorted([*path.rglob("*.hpp"), *path.rglob("*.cpp")]) if path.is_dir() else [path]
    files = [f for f in files if not f.name.startswith("gpu_")]  # what the thread sanitizer's build does not compile
    mutants = [m for f in files for m in mutants_of(str(f.relative_to(ROOT)), OPERATORS) if re.search(arguments.only, m.name)]
    if arguments.list:
        for mutant in mutants:
            print(mutant.name)
        return 0

    bench = Bench(arguments.work.resolve(), arguments.preset, arguments.target, arguments.jobs, arguments.filter)
    start = time.monotonic()
    if why := bench.build_and_run(timeout=900):
        sys.exit(f"The unmutated {arguments.target} does not pass: {why}")
    timeout = 30 + 2 * (time.monotonic() - start)
    results = arguments.work / f"{arguments.target}.tsv"
    known = dict(line.split("\t") for line in results.read_text().splitlines()) if results.exists() else {}
    for mutant in mutants:
        if mutant.name not in known:
            known[mutant.name] = bench.try_mutant(mutant, timeout) or "survived"
            with results.open("a") as table:
                table.write(f"{mutant.name}\t{known[mutant.name]}\n")
        print(f"{mutant.name}: {known[mutant.name]}", flush=True)
    survivors = [m.name for m in mutants if known[m.name] == "survived"]
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} mutants killed. Survivors:", *survivors, sep="\n  ")
    return 0 if len(survivors) <= 0.05 * len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main())
