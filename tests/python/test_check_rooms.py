# SPDX-License-Identifier: Apache-2.0
"""The include checker finds what it is there to find, and this repository follows its own rules."""
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
RULES = """
[rooms]
base = []
model = []
io = ["model"]
cli = ["io"]
[tests]
also = ["io"]
[libraries]
"hwy/" = ["io"]
"""


def run(root):
    return subprocess.run([sys.executable, REPOSITORY / "tools" / "check_rooms.py", root], capture_output=True, text=True)


def repository(tmp_path, file, text, rules=RULES):
    (tmp_path / "rooms.toml").write_text(rules)
    for path, content in {
        "src/base/vec3.hpp": "#pragma once\n",
        "src/model/system.hpp": '#include "base/vec3.hpp"\n',
        "src/io/gro.hpp": '#include "model/system.hpp"\n',
        "tests/cases/water.hpp": "",
        file: text,
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    return tmp_path


def test_this_repository_follows_its_rules():
    result = run(REPOSITORY)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    "file, text",
    [
        ("src/io/top.cpp", '#include "io/gro.hpp"\n#include "model/system.hpp"\n#include "base/vec3.hpp"\n#include <hwy/highway.h>\n'),
        ("tests/model/system_test.cpp", '#include "model/system.hpp"\n#include "io/gro.hpp"\n#include "cases/water.hpp"\n#include <vector>\n'),
        ("cli/run.cpp", '#include "io/gro.hpp"\n'),
    ],
)
def test_allowed_includes_pass(tmp_path, file, text):
    result = run(repository(tmp_path, file, text))
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    "file, text, message",
    [
        ("src/model/a.cpp", '\n#include "io/gro.hpp"\n', "src/model/a.cpp:2: model -> io"),
        ("cli/run.cpp", '#include "model/system.hpp"\n', "cli/run.cpp:1: cli -> model"),  # an arrow through io is not enough
        ("src/model/a.cpp", "#  include <hwy/highway.h>\n", "src/model/a.cpp:1: model -> hwy/highway.h"),
        ("src/model/a.cpp", '#include "hwy/highway.h"\n', "model -> hwy/highway.h"),
        ("src/io/a.cpp", '#include "gro.hpp"\n', "include paths start at src/"),
        ("src/attic/a.cpp", "", "room 'attic' is not in rooms.toml"),
    ],
)
def test_forbidden_includes_are_named_with_their_place(tmp_path, file, text, message):
    result = run(repository(tmp_path, file, text))
    assert result.returncode == 1
    assert message in result.stdout


def test_a_cycle_among_the_allowed_arrows_is_refused(tmp_path):
    result = run(repository(tmp_path, "src/io/a.cpp", "", RULES.replace("model = []", 'model = ["cli"]')))
    assert result.returncode == 1
    assert "model -> cli -> io -> model" in result.stdout


FLOORS = """
[floors.io]
text = []
formats = ["text"]
"""


def repository_with_floors(tmp_path, file, text, floors=FLOORS):
    for path in ("src/io/text/lines.hpp", "src/io/formats/gro.hpp"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("#pragma once\n")
    root = repository(tmp_path, file, text, RULES + floors)
    (root / "src/io/gro.hpp").unlink()
    return root


@pytest.mark.parametrize(
    "file, text",
    [
        ("src/io/formats/xtc.cpp", '#include "io/text/lines.hpp"\n#include "io/formats/gro.hpp"\n#include "model/system.hpp"\n'),
        ("cli/run.cpp", '#include "io/text/lines.hpp"\n'),  # floors are the room's own business
        ("tests/io/a_test.cpp", '#include "io/formats/gro.hpp"\n'),
    ],
)
def test_allowed_includes_between_floors_pass(tmp_path, file, text):
    result = run(repository_with_floors(tmp_path, file, text))
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    "file, text, message",
    [
        ("src/io/text/a.cpp", '\n#include "io/formats/gro.hpp"\n', "src/io/text/a.cpp:2: io/text -> io/formats"),
        ("src/io/text/gpu/a.cu", '#include "io/formats/gro.hpp"\n', "src/io/text/gpu/a.cu:1: io/text -> io/formats"),
        ("src/io/a.cpp", "", "src/io/a.cpp: floor '' is not in rooms.toml"),
        ("src/io/attic/a.cpp", "", "src/io/attic/a.cpp: floor 'attic' is not in rooms.toml"),
    ],
)
def test_forbidden_includes_between_floors_are_named(tmp_path, file, text, message):
    result = run(repository_with_floors(tmp_path, file, text))
    assert result.returncode == 1
    assert message in result.stdout


@pytest.mark.parametrize(
    "row, message",
    [
        ('text = ["formats"]', "floors of io: cycle text -> formats -> text"),
        ('text = ["words"]', "floors of io: text -> words, but there is no floor 'words'"),
        ("text = []\nattic = []", "there is no folder src/io/attic"),
    ],
)
def test_wrong_rows_of_floors_are_refused(tmp_path, row, message):
    result = run(repository_with_floors(tmp_path, "src/io/text/a.cpp", "", FLOORS.replace("text = []", row, 1)))
    assert result.returncode == 1
    assert message in result.stdout


ONLY = """
[[only]]
what = "machine code has a named function"
words = '\\basm\\b'
in = ["src/model/instructions"]
"""


@pytest.mark.parametrize(
    "file, text, passes",
    [
        ("src/io/a.cpp", '\nasm("nop");\n', False),
        ("src/model/instructions.cuh", 'asm("nop");\n', True),
        ("src/io/a.cpp", "int asmara; // asm\n", True),
        ("tests/io/a_test.cpp", 'asm("nop");\n', True),
    ],
)
def test_words_stand_in_their_files_only(tmp_path, file, text, passes):
    result = run(repository(tmp_path, file, text, RULES + ONLY))
    assert (result.returncode == 0) == passes, result.stdout
    if not passes:
        assert "src/io/a.cpp:2: asm (rule: machine code has a named function, in src/model/instructions only)" in result.stdout
