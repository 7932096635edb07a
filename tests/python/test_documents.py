# SPDX-License-Identifier: Apache-2.0
"""Documents that are made by a tool are up to date, and those for a first hour stay short."""
import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tools/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_map_of_tests_is_up_to_date():
    assert (ROOT / "tests/README.md").read_text() == tool("make_test_map").page(), "tools/make_test_map.py > tests/README.md"


def test_the_map_leads_from_a_unit_to_its_tests(tmp_path):
    for path, text in {
        "src/io/gro.hpp": "",
        "src/io/gro.cpp": '#include "io/gro.hpp"\n#include "io/words.hpp"\n',
        "src/io/gro_velocities.cpp": '#include "io/gro.hpp"\n',
        "src/io/words.hpp": "",
        "src/io/alone.hpp": "",
        "tests/support/boxes.hpp": '#include "io/gro.hpp"\n',
        "tests/run/run_test.cpp": '#include "support/boxes.hpp"\n',
        "tests/io/gro_test.cpp": '#include "io/gro.hpp"\n',
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    rows = dict(re.findall(r"^\| `(.*?)` \| (.*) \|$", tool("make_test_map").page(tmp_path), re.M))
    assert rows == {"io/gro": "`io/gro_test.cpp`, `run/run_test.cpp`", "io/gro_velocities": "by way of `io/gro`",
                    "io/words": "by way of `io/gro`", "io/alone": "whole runs"}


def test_the_glossary_has_about_sixty_words_each_once():
    text = (ROOT / "GLOSSARY.md").read_text()
    rows = re.findall(r"^\| (?!our word|---)(.+?) \| .+? \|.*\|$", text, re.M)
    words = [word for row in rows for word in re.split(r"[,;] ", row)]
    assert 50 <= len(rows) <= 66
    assert sorted({word for word in words if words.count(word) > 1}) == []
    assert not re.search(r"^\|.*\|\n\n\|(?! our)", text, re.M), "a table is broken"


def test_changes_of_a_version_are_one_list():
    versions = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)[1:]
    assert versions and all("### " not in version for version in versions if "unreleased" in version)
