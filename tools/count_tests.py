#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the tests of a ctest run whose entries are whole programs: passed, failed and skipped, by entry and in all.

Usage: count_tests.py BUILD     reads BUILD/Testing/Temporary/LastTest.log
"""
import re
import sys
from collections import Counter
from pathlib import Path

COUNTS = re.compile(r"^\S+: (\d+) passed, (\d+) failed, (\d+) skipped$", re.M)  # tests/support/test_main.cpp


def main():
    text = (Path(sys.argv[1]) / "Testing" / "Temporary" / "LastTest.log").read_text(errors="replace")
    totals, uncounted = Counter(passed=0, failed=0, skipped=0), 0
    for entry in re.split(r"^\d+/\d+ Testing: ", text, flags=re.M)[1:]:
        name, counts = entry.splitlines()[0], COUNTS.findall(entry)
        if not counts:  # a program that crashed, or was stopped at its time-out
            uncounted += 1
            print(f"{name}: ended without a count")
            continue
        ended = dict(zip(totals, map(int, counts[-1])))
        totals.update(ended)
        print(f"{name}: {as_text(ended)}")
    print(as_text(totals) + (f", {uncounted} {'entry' if uncounted == 1 else 'entries'} ended without a count" if uncounted else ""))


def as_text(counts):
    return ", ".join(f"{number} {outcome}" for outcome, number in counts.items())


if __name__ == "__main__":
    main()
