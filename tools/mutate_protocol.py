#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tests notice when the communication protocol is broken? Weakens or removes each signal, wait, acquire, release and credit of the
given sources in turn, builds a test program under the thread sanitizer, runs it with a time-out, and reports which mutants it killed.

Usage: mutate_protocol.py [--list] [--only REGEX] [--preset tsan] [--work DIR] [--jobs N] [--filter=F] TARGET SOURCE...
  mutate_protocol.py test_comm src/comm         mutate_protocol.py test_halo src/halo
  mutate_protocol.py test_mesh_exchange src/mesh_exchange

Works on a copy of the tracked files in the work folder and leaves the checkout alone. The unmutated program must pass first. Results
are appended to DIR/TARGET.tsv, one line a mutant; mutants that are there already are not tried again. Exit code 1 unless all mutants
were killed, but for EXCEPTIONS. Cost: a build of the program and a test run each, about a minute on a core.
"""
import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from mutants import EFFECT, ROOT, Operator, Outcome, Result, first_error, mutants_of, report, run_tests

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
    Operator("no store", EFFECT.replace("(?P<call>", "(?P<call>(?!failed_)").format("store_release_system|store_relaxed_system|store"), r"\g<gap>;"),
    Operator("failure not told to the other threads", r"failed_\.store\([^;]*;", ";"),
    Operator("no acknowledgement", EFFECT.format("ack|acknowledge|prepare"), r"\g<gap>;"),
    Operator("no credits", r"Credits::Yes\b(?=[,}])", "Credits::No"),
    Operator("one slot", r"(?<=[{ ])2(?=, (?:\.credits = )?Credits::No)", "1"),
    Operator("one slot", r"(?<=StayThere \? )2(?= : 1)", "1"),
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
    Operator("failure of another thread not watched", r"if \(failed_\.load[^\n]*", ""),
    Operator("failure ignored", r"if \(verdict != Verdict::Reached\) \{[^}]*\}", ""),
    Operator("any epoch will do", r"(?<=Word expected\) )\{[^}]*\}", "{ return seen == seen + 0 * expected; }"),
    Operator("equal, not reached", r"(?<=Word expected\) )\{[^}]*\}", "{ return seen == expected; }"),
    Operator("next epoch, not this", r"\(seen - expected\) >= 0", "(seen - expected) > 0"),
    Operator("epochs of 32 bits", r"static_cast<std::int64_t>\(seen - expected\)", "static_cast<std::int32_t>(seen) - static_cast<std::int32_t>(expected)"),
    Operator("no deadline", r"now - start_ns_ > watch_\.deadline_ns", "false"),
    Operator("abort not watched", r"if \([^\n]*own_abort->epoch[^\n]*return Verdict::Aborted; \}", ""),
    Operator("everybody is first to fail", r"(?<=is_first = )Atomics::exchange[^;]*", "(watch.listeners > 0)"),
    Operator("second failure goes on at once", r"while \(patience\.next\(\) == Verdict::Reached\) \{\}", ""),
    Operator("last arriver is any", r"add\(1\) == goal", "add(1) <= goal"),
    Operator("nobody is last", r"add\(1\) == goal", "add(1) - 1 == goal"),
    Operator("thread 0 does not wait for the others", r"shared\.is_last\(m\)", "(shared.is_last(m), thread == 0)"),
    # Partitioned messages.
    Operator("always prepared", r"(?<=is_prepared\(Word nth\) const)\s*\{[^}]*\}", "{ return nth == nth; }"),
    Operator("always arrived", r"(?<=has_signal\(int signal, Word nth\) const)\s*\{[^}]*\}", "{ return signal + 0 * nth == signal; }"),
    Operator("first of a group signals", r"arrived == all\)", "arrived + 0 * all == goal(signal, nth - 1) + n)"),
    Operator("one signal less is needed", r"(?<=signal_of\(last\)) \+ 1", ""),
    Operator("ends with the first signal", r"(?<=published_\.load\(std::memory_order_acquire\)) == nth\(\)", " > nth() - 1"),
    Operator("nobody sends what was marked too early", r"    help\(\);\n", ""),
    Operator("freed partner not noticed", r"return break_off\(Misuse::PeerFreed[^\n]*;", "return;"),
    Operator("slots begin anew", r"(?<=later\()there\.first_epoch, signals_\.shown \+ 1", "there.first_epoch, there.first_epoch"),
    # Ranks in other processes.
    Operator("acknowledged before the other end is known", r"(?<=PARHELION_EXPECTS\(core_\.owes_acknowledgement\(\)\);\n)    if \(!is_connected_\) \{ wait_connected\(\); \}", ""),
    Operator("loss ends no wait", r"(?<=sentence\) \{) lose\(sentence\);(?= \},)", " static_cast<void>(sentence);"),
    Operator("others not told of an end", r"(?<=if \()process\.is_running(?=\) \{ send\()", "false"),
    Operator("end without a word is no failure", r"if \(process\.has_reported \|\| has_exited\) \{ return; \}", "return;"),
    Operator("stop not noticed", r"process\.stopped_since = now;", ";"),
    Operator("stopped for ever after a while", r"(?<=else if \(WIFCONTINUED\(status\)\)) \{[^}]*\}", " {}"),
    Operator("who does not end is not killed", r"if \(failure_ && now - failed_since_[^\n]*", ""),
    Operator("memory of each its own", r"(?<=Pages\(bytes, descriptor, )MAP_SHARED", "MAP_PRIVATE"),
    Operator("processes outlive their launcher", r"::prctl\(PR_SET_PDEATHSIG, SIGKILL\);", ""),
    # Ranks out of reach.
    Operator("waits move nothing", r"watch_\.messages->progress\(\);", ";"),
    Operator("others are not told", r"bootstrap_->tell\([^;]*;", ";"),
    Operator("strangers are let in", r"(?<=const bool knows =)(\s+not_understood == nullptr) && ", r"\1 || "),
    Operator("silence not noticed", r"now - member\.heard_at > silence\.count\(\)", "now + silence.count() < 0"),
    Operator("signal before payload", r"(?<=if \()missing_ > 0 \|\| (?=\(header_\.has_payload)", ""),
    # Ranks that are away.
    Operator("pauses not watched", r"(?<=if \()was_anyone_paused\(\)", "false && was_anyone_paused()"),
    Operator("short pauses not seen", r"pauses_ != last \|\| (?=is_anyone_paused)", ""),
    Operator("long pauses not seen", r" \|\| is_anyone_paused\(pauses_\)", ""),
    Operator("pauses never forgotten", r"pauses_ != last(?= \|\|)", "pauses_ != 0 * last"),
    Operator("not away, or not back", EFFECT.format("fetch_add_relaxed_system"), r"\g<gap>;"),
    # Order of steps.
    Operator("size after signal", r"(\w*Atomics::store_relaxed_system\(&signal->bytes[^;]*;)(\s*)(\w*Atomics::store_release_system\(&signal->epoch[^;]*;)", r"\3\2\1"),
    Operator("signal before payload", r"(    copy_payload\(memory, put\);\n)((?:    [^\n]*\n)+)(?=\})", r"\2\1"),
    Operator("slot given back before it is read", r"(        message\.insert\([^;]*;)(.*?)(\n        channel->ack\(\);)", r"\3\1\2"),
    Operator("sent before it is packed", r"(        if \(n > 0\) \{ std::memcpy[^\n]*\n)(        channel->publish\([^;]*;\n)", r"\2\1"),
]

# Mutants that may end otherwise than killed by a test, and why.
EXCEPTIONS = {
    "no wait: src/comm/world/exchange.cpp": (Outcome.SURVIVED, "the loop has seen, with acquire, that the message is there"),
    "no acknowledgement: src/comm/world/rank_group.cpp": (Outcome.SURVIVED, "a channel without credits counts, and sends nothing"),
    "no acknowledgement: src/mesh_exchange/peer_messages.cpp": (Outcome.SURVIVED, "as above"),
    "no deadline: src/comm/core/signal.hpp": (Outcome.TIMED_OUT, "it takes the bound away"),
    "failure not told to the other threads: src/halo/shared_messages.hpp": (Outcome.TIMED_OUT, "it takes away what ends the wait of a rank's other threads"),
    "failure of another thread not watched: src/halo/shared_messages.hpp": (Outcome.TIMED_OUT, "as above"),
}


def copy_tracked(folder):
    """The tracked files of the checkout, as they are in the working tree; those that have not changed keep their time."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, tracked.decode().split("\0")):
        path = folder / name
        if (ROOT / name).is_file() and (not path.exists() or path.read_bytes() != (ROOT / name).read_bytes()):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((ROOT / name).read_bytes())


class Bench:
    """A copy of the sources and a build of it."""

    def __init__(self, work, preset, target, jobs, filter_):
        self.filter = filter_
        self.source, self.build, self.target, self.jobs = work / "source", work / preset, target, jobs
        copy_tracked(self.source)
        configure = ["cmake", "--preset", preset, "-B", str(self.build), "-DPARHELION_BENCH=OFF"]
        subprocess.run(configure, cwd=self.source, check=True, stdout=subprocess.DEVNULL)

    def build_and_run(self, seconds):
        built = subprocess.run(
            ["cmake", "--build", str(self.build), "--target", self.target, "-j", str(self.jobs)], capture_output=True, text=True
        )
        if built.returncode != 0:
            return first_error(built.stdout)
        program = next(p for p in self.build.rglob(self.target) if p.is_file() and os.access(p, os.X_OK))
        # Failures soon and at once; a deadlock is known after a few seconds instead of a minute.
        environment = {"TSAN_OPTIONS": "halt_on_error=1", "PARHELION_TEST_DEADLINE": "5", "PARHELION_TEST_EXCHANGES": "20000"}
        return run_tests([program, "--gtest_fail_fast", f"--gtest_filter={self.filter}"], environment, seconds)

    def try_mutant(self, mutant, seconds):
        path = self.source / mutant.file
        original = path.read_text()
        path.write_text(mutant.text)
        try:
            return self.build_and_run(seconds)
        finally:
            path.write_text(original)


def find_mutants(sources):
    """sources: files and folders. Without what the thread sanitizer's build does not compile."""
    files = []
    for source in sources:
        path = ROOT / source
        files += sorted([*path.rglob("*.hpp"), *path.rglob("*.cpp")]) if path.is_dir() else [path]
    return [m for f in files if not f.name.startswith("gpu_") for m in mutants_of(str(f.relative_to(ROOT)), OPERATORS)]


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

    mutants = [m for m in find_mutants(arguments.source) if re.search(arguments.only, m.name)]
    if arguments.list:
        for mutant in mutants:
            print(mutant.name)
        return 0

    bench = Bench(arguments.work.resolve(), arguments.preset, arguments.target, arguments.jobs, arguments.filter)
    start = time.monotonic()
    unmutated = bench.build_and_run(900)
    if unmutated.outcome != Outcome.SURVIVED:
        sys.exit(f"The unmutated {arguments.target} does not pass: {unmutated.outcome.value} {unmutated.how}")
    seconds = 30 + 2 * (time.monotonic() - start)
    table = arguments.work / f"{arguments.target}.tsv"
    known = {}
    for line in table.read_text().splitlines() if table.exists() else []:
        name, _, result = line.partition("\t")
        known[name] = Result.parse(result)
    for mutant in mutants:
        if mutant.name not in known:
            known[mutant.name] = bench.try_mutant(mutant, seconds)
            with table.open("a") as lines:
                lines.write(f"{mutant.name}\t{known[mutant.name]}\n")
        print(f"{mutant.name}: {known[mutant.name]}", flush=True)
    return report({m.name: known[m.name] for m in mutants}, EXCEPTIONS)


if __name__ == "__main__":
    sys.exit(main())
