#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the tests of a ctest run whose entries are whole programs: passed, failed and skipped, by entry and in all. Names the longest.

Usage: count_tests.py BUILD     reads BUILD/Testing/Temporary/LastTest.log, or what a run that was cut has left of it; the exit
code then is 1.
"""
import re
import sys
from collections import Counter
from pathlib import Path

COUNTS = re.compile(r"^\S+: (\d+ passed, \d+ failed, \d+ skipped)$|"  # tests/support/test_main.cpp
                    r"^((?:\d+ (?:passed|failed|skipped|errors?|warnings?|deselected)(?:, )?)+) in [\d.]+s", re.M)  # pytest
ENTRY = re.compile(r"^\d+/\d+ Testing: (.*)\n", re.M)
LONG = re.compile(r"^long test: ([\d.]+) s (\S+)$", re.M)  # tests/support/test_main.cpp
SECONDS = re.compile(r"^Test time = +([\d.]+) sec$", re.M)


def main():
    text, was_cut = log_of(Path(sys.argv[1]) / "Testing" / "Temporary")
    totals, uncounted = Counter(passed=0, failed=0, skipped=0), 0
    entries = ENTRY.split(text)[1:]  # name, what it printed; again
    for name, printed in zip(entries[0::2], entries[1::2]):
        seconds = f"{float(SECONDS.findall(printed)[-1]):6.1f} s  " if SECONDS.search(printed) else "     cut  "
        counts = list(COUNTS.finditer(printed))
        if counts:
            ended = numbers_in(counts[-1][0])
            totals.update(ended)
            print(f"{seconds}{name}: {as_text(ended)}")
        elif re.search("^Test Passed.$", printed, re.M):
            print(f"{seconds}{name}: ended well; it does not count")
        else:  # a program that crashed, or was stopped at its time-out
            uncounted += 1
            print(f"{seconds}{name}: ended without a count")
    longest = sorted(((float(seconds), test) for seconds, test in LONG.findall(text)), reverse=True)[:20]
    if longest:
        print("The longest tests:")
    for seconds, test in longest:
        print(f"{seconds:6.1f} s  {test}")
    print(as_text(totals) + (f", {uncounted} {'entry' if uncounted == 1 else 'entries'} ended without a count" if uncounted else ""))
    if was_cut:
        print(f"The run was cut: {len(entries) // 2} entries are here, others did not end.")
    return int(was_cut)


def numbers_in(counts):
    """pytest's errors are failures, too."""
    found = Counter(passed=0, failed=0, skipped=0)
    for number, outcome in re.findall(r"(\d+) (passed|failed|skipped|error)", counts):
        found["failed" if outcome == "error" else outcome] += int(number)
    return found


def log_of(folder):
    """The log of the latest run, and if it was cut: ctest gives the log its name when all has ended."""
    whole, begun = folder / "LastTest.log", folder / "LastTest.log.tmp"
    was_cut = begun.exists() and (not whole.exists() or begun.stat().st_mtime >= whole.stat().st_mtime)
    log = begun if was_cut else whole
    return (log.read_text(errors="replace") if log.exists() else ""), was_cut


def as_text(counts):
    return ", ".join(f"{number} {outcome}" for outcome, number in counts.items())


if __name__ == "__main__":
    sys.exit(main())
