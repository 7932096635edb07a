#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints tests/README.md: for each unit of src/ the tests that include its header, themselves or by a header of tests/, the one that
has its name first. Of a unit that no test includes: the nearest units that use it and have tests.

    tools/make_test_map.py > tests/README.md
"""
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CODE = {".hpp", ".cpp", ".cu", ".cuh", ".h", ".c"}
MOST = 4  # tests of a unit
COMPILED_ALONE = "device/gpu/hip/"  # units that no test runs: their hardware is missing
HEAD = """<!-- SPDX-License-Identifier: Apache-2.0. Made by tools/make_test_map.py; do not edit. -->
# Which test is whose

`tests/` mirrors `src/`: the tests of a room are in the folder of its name, and are one program, `test_ROOM` (on GPUs `test_ROOM_gpu`).
Whole runs are in `run/` and, where words, signals or exit codes matter, in [python/](python/README.md); kernels on a CPU are in
[standin/](standin/README.md); `support/` has what several rooms' tests share. How to write one: [CONTRIBUTING.md](../CONTRIBUTING.md).

The table has the tests that include a unit's header, first the one that is named after it, and at most four. "By way of" names the
nearest units that use one which no test includes.
"""


def unit_of(path):
    """The name that header and source of a unit share, as room/name."""
    return re.sub(r"(-inl)?\.\w+$", "", path)


def includes(path):
    return [unit_of(name) for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(errors="replace"), re.M)]


def survey(root=ROOT):
    """{unit: its tests}, {unit: units that include it}. A source without a header of its own is a part of the first unit of its room
    that it includes: that one uses it."""
    tests, users = defaultdict(list), defaultdict(set)
    units = sorted({unit_of(str(path.relative_to(root / "src"))) for path in (root / "src").rglob("*") if path.suffix in CODE})
    with_header = {unit_of(str(path.relative_to(root / "src"))) for path in (root / "src").rglob("*") if path.suffix in {".hpp", ".cuh", ".h"}}
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in CODE:
            unit = unit_of(str(path.relative_to(root / "src")))
            for used in includes(path):
                users[used].add(unit)
            if unit not in with_header:
                users[unit].update([used for used in includes(path) if used.split("/")[0] == unit.split("/")[0]][:1])
    files = {path.relative_to(root / "tests"): includes(path) for path in sorted((root / "tests").rglob("*")) if path.suffix in CODE}
    of_helper = {unit_of(str(path)): used for path, used in files.items() if path.suffix in {".hpp", ".cuh"}}
    for path, used in files.items():
        if not re.search(r"_test$|^stop_and_continue$", path.stem):
            continue
        reached = dict.fromkeys(used)
        for name in reached_by(used, of_helper):
            reached.update(dict.fromkeys(of_helper[name]))
        for unit in reached:
            tests[unit].append(path)
    return {unit: tests.get(unit, []) for unit in units}, users


def reached_by(names, used_by):
    """Those of `names` that are keys, and keys that these lead to."""
    reached, open_ones = set(), list(names)
    while open_ones:
        name = open_ones.pop()
        if name in used_by and name not in reached:
            reached.add(name)
            open_ones += used_by[name]
    return reached


def ways_to(unit, tests, users):
    """The nearest units that use this one, directly or not, and have tests."""
    seen, at = {unit}, {unit}
    while at:
        at = {user for one in at for user in users[one]} - seen
        if found := sorted(user for user in at if tests.get(user)):
            return found[:2]
        seen |= at
    return []


def nearness(unit, test):
    """Sorts a unit's tests: that of its name, those of its room, then others."""
    stem, room = Path(unit).name.removesuffix("_gpu"), unit.split("/")[0]
    return not re.fullmatch(rf"{stem}(_gpu)?_test", test.stem), stem not in test.stem, test.parts[0] != room, str(test)


def row(unit, tests, users):
    if unit.startswith(COMPILED_ALONE):
        return f"| `{unit}` | none: compiled, not run on hardware |\n"
    found = sorted(tests[unit], key=lambda test: nearness(unit, test))[:MOST]
    if found:
        return f"| `{unit}` | {', '.join(f'`{test}`' for test in found)} |\n"
    ways = ways_to(unit, tests, users)
    return f"| `{unit}` | {'by way of ' + ', '.join(f'`{way}`' for way in ways) if ways else 'whole runs'} |\n"


def page(root=ROOT):
    tests, users = survey(root)
    text, room = HEAD, None
    for unit in tests:
        if (of := unit.split("/")[0]) != room:
            room = of
            text += f"\n## {room}\n\n| unit | tests |\n|---|---|\n"
        text += row(unit, tests, users)
    return text


if __name__ == "__main__":
    print(page(), end="")
