#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks src/, cli/ and tests/ against rooms.toml: which room includes which, and within a room which floor, a folder of it, includes
which; and, but for tests, what only some files may say. Prints each violation with its place and the rule it breaks; exit code 1 if
there is any, or if the allowed arrows form a cycle.

Usage: check_rooms.py [repository root]
"""
import re
import sys
import tomllib
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh"}


def find_cycle(rooms):
    """The rooms, or floors of a room, along a cycle of the allowed arrows, the first repeated at the end; empty if there is none."""
    done, path = set(), []

    def visit(room):
        if room in path:
            return path[path.index(room) :] + [room]
        if room not in done:
            path.append(room)
            for other in rooms.get(room, []):
                if cycle := visit(other):
                    return cycle
            path.pop()
            done.add(room)
        return []

    for room in rooms:
        if cycle := visit(room):
            return cycle
    return []


def sources(root):
    """(file, room, is a test) of every C++ file of a room."""
    for top in ("src", "cli", "tests"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            parts = path.relative_to(root).parts
            yield path, ("cli" if top == "cli" else parts[1]), top == "tests"


def check_words(root, rules):
    """What the code of src/ and cli/, comments aside, says in files that are not those of the rule."""
    problems = []
    for path, _, is_test in sources(root):
        place = str(path.relative_to(root))
        if is_test:
            continue
        code = [line.split("//")[0] for line in path.read_text().splitlines()]
        for rule in rules:
            if place.startswith(tuple(rule["in"])):
                continue
            for number, line in enumerate(code, 1):
                if found := re.search(rule["words"], line):
                    problems.append(f"{place}:{number}: {found.group()} (rule: {rule['what']}, in {' and '.join(rule['in'])} only)")
    return problems


def check_arrows(rooms, where, noun):
    """What is wrong with the allowed arrows themselves."""
    problems = []
    if cycle := find_cycle(rooms):
        problems.append(f"rooms.toml: {where}cycle {' -> '.join(cycle)} (rule: the arrows between {noun}s form no cycle)")
    for room, others in rooms.items():
        for other in set(others) - set(rooms):
            problems.append(f"rooms.toml: {where}{room} -> {other}, but there is no {noun} '{other}'")
    return problems


def floor_of(path, room):
    """Of a file of src/, by its path from there; '' if it lies in no folder of the room."""
    parts = Path(path).parts
    return parts[1] if parts[0] == room and len(parts) > 2 else ""


def check_floors(root, room, floors):
    """Includes between the floors of a room."""
    problems = check_arrows(floors, f"floors of {room}: ", "floor")
    for floor in floors:
        if not (root / "src" / room / floor).is_dir():
            problems.append(f"rooms.toml: floors of {room}: there is no folder src/{room}/{floor}")
    for path, place, is_test in sources(root):
        if place != room or is_test:
            continue
        floor = floor_of(path.relative_to(root / "src"), room)
        if floor not in floors:
            problems.append(f"{path.relative_to(root)}: floor '{floor}' is not in rooms.toml (rule: every folder of {room} is a floor)")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            quoted = found.group(1) if (found := INCLUDE.match(line)) else None
            if not quoted or quoted.split("/")[0] != room or (target := floor_of(quoted, room)) in {floor, *floors[floor]}:
                continue
            rule = f"{floor} may include {', '.join(sorted(floors[floor])) or 'no other floor'}"
            problems.append(f'{path.relative_to(root)}:{number}: {room}/{floor} -> {room}/{target} by "{quoted}" (rule: {rule})')
    return problems


def check(root):
    rules = tomllib.loads((root / "rooms.toml").read_text())
    rooms, libraries = rules["rooms"], rules.get("libraries", {})
    problems = check_words(root, rules.get("only", [])) + check_arrows(rooms, "", "room")
    for room, floors in rules.get("floors", {}).items():
        problems += check_floors(root, room, floors)

    for path, room, is_test in sources(root):
        place = path.relative_to(root)
        if room not in rooms and not is_test:
            problems.append(f"{place}: room '{room}' is not in rooms.toml (rule: every folder of src is a room)")
            continue
        allowed = {room, "base", *rooms.get(room, [])}
        if is_test:
            allowed |= set(rules["tests"]["also"]) if room in rooms else set(rooms)  # tests/support and the like serve every room
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not (found := INCLUDE.match(line)):
                continue
            quoted, angled = found.groups()
            where = f"{place}:{number}"
            library = next((prefix for prefix in libraries if (angled or quoted).startswith(prefix)), None)
            if library and room not in libraries[library]:
                problems.append(f"{where}: {room} -> {angled or quoted} (rule: only {', '.join(libraries[library])} may use {library})")
            if angled or library:
                continue
            target = quoted.split("/")[0]
            if (root / "src" / quoted).is_file():
                if target not in allowed:
                    rule = f"{'tests of ' if is_test else ''}{room} may include {', '.join(sorted(allowed - {room})) or 'nothing'}"
                    problems.append(f'{where}: {room} -> {target} by "{quoted}" (rule: {rule})')
            elif is_test and ((root / "tests" / quoted).is_file() or (path.parent / quoted).is_file()):
                pass
            elif room == "cli" and (root / "cli" / quoted).is_file():
                pass
            elif (is_test or room == "cli") and target == "bench" and (root / quoted).is_file():
                pass
            else:
                problems.append(f'{where}: "{quoted}" is no file (rule: include paths start at src/, as "room/file.hpp")')
    return problems


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    problems = check(root)
    print("\n".join(problems) if problems else "rooms: every include follows rooms.toml, and so do the words that only some files may say")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
