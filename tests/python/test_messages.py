# SPDX-License-Identifier: Apache-2.0
"""The table of errors and warnings, docs/user/messages.md, has every id that the sources make, once, and no other."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE = (ROOT / "docs" / "user" / "messages.md").read_text()


def ids_made():
    made = set()
    for folder in ("src", "cli"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".cpp", ".hpp", ".cu", ".cuh"}:
                code = re.sub(r"//.*", "", path.read_text())
                made |= set(re.findall(r'(?<=")[EW]\d{3}(?=["\s])', code))  # an id, or a message that begins with one
    return made


def problems(table):
    listed = re.findall(r"^\| ([EW]\d{3}) \|", table, re.M)
    wrong = [f"{id} is not listed" for id in ids_made() - set(listed)]
    wrong += [f"{id} is nowhere in the sources" for id in set(listed) - ids_made()]
    wrong += [f"{id} is listed twice" for id in sorted(set(listed)) if listed.count(id) > 1]
    return wrong


def row(id):
    return next(line for line in TABLE.splitlines() if line.startswith(f"| {id} |"))


def test_the_table_has_every_id_once_and_no_other():
    assert problems(TABLE) == []


def test_ids_are_found_where_they_are_made():
    assert {"E001", "E110", "E502", "E601", "E602", "W124"} <= ids_made() and len(ids_made()) > 80
    assert not ids_made() & {"E999", "W012"}  # of comments


@pytest.mark.parametrize("id", ["E001", "E502", "E602", "W124"])
def test_a_row_that_is_missing_is_noticed(id):
    assert problems(TABLE.replace(row(id) + "\n", "")) == [f"{id} is not listed"]


def test_a_row_too_many_is_noticed():
    assert problems(TABLE + "| E999 | nothing | nothing |\n") == ["E999 is nowhere in the sources"]
    assert problems(TABLE + row("E110") + "\n") == ["E110 is listed twice"]


def test_every_row_has_three_columns_with_text():
    for line in TABLE.splitlines():
        if re.match(r"\| [EW]\d{3} \|", line):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            assert len(cells) == 3 and all(cells), line
