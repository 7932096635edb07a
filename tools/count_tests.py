#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the tests of a ctest run whose entries are whole programs: passed, failed and skipped, by entry and in all.

Usage: count_tests.py BUILD     reads BUILD/Testing/Temporary/LastTest.log, or what a run that was cut has left of it; the exit
code then is 1.
"""
import re
import sys
from collections import Counter
from pathlib import Path

COUNTS = re.compile(r"^\S+: (\d+) passed, (\d+) failed, (\d+) skipped$", re.M)  # tests/support/test_main.cpp
ENTRY = re.compile(r"^\d+/(\d+) Testing: (.*)\n", re.M)


def main():
    text, was_cut = log_of(Path(sys.argv[1]) / "Testing" / "Temporary")
    totals, uncounted = Counter(passed=0, failed=0, skipped=0), 0
    entries = ENTRY.split(text)[1:]  # number of all, name, what it printed; again
    for name, printed in zip(entries[1::3], entries[2::3]):
        counts = COUNTS.findall(printed)
        if not counts:  # a program that crashed, or was stopped at its time-out
            uncounted += 1
            print(f"{name}: ended without a count")
            continue
        ended = dict(zip(totals, map(int, counts[-1])))
        totals.update(ended)
        print(f"{name}: {as_text(ended)}")
    print(as_text(totals) + (f", {uncounted} {'entry' if uncounted == 1 else 'entries'} ended without a count" if uncounted else ""))
    if was_cut:
        of_all = f" of {entries[0]}" if entries else ""
        print(f"The run was cut: {len(entries) // 3}{of_all} entries are here. The others did not end.")
    return int(was_cut)


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
