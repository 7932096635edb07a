# SPDX-License-Identifier: Apache-2.0
"""The table of features, docs/user/features.md, is that of features.toml, and every test that it names is where it says."""
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import make_features  # noqa: E402

FEATURES, CONDITIONS = make_features.read()
MESSAGES = (ROOT / "docs" / "user" / "messages.md").read_text()


def has_test(reference):
    """Whether tests/FILE has the TEST of "FILE: TEST"."""
    file, test = reference.split(": ")
    path = ROOT / "tests" / file
    if not path.is_file():
        return False
    suite, _, name = test.rpartition(".")
    pattern = rf"^(TYPED_)?TEST(_P|_F)?\({suite}, *{name}\)" if suite else rf"^def {name}\("
    return re.search(pattern, path.read_text(), re.M) is not None


def test_the_page_is_up_to_date():
    assert make_features.PAGE.read_text() == make_features.page(FEATURES, CONDITIONS), "tools/make_features.py > docs/user/features.md"


@pytest.mark.parametrize("name", FEATURES)
def test_every_cell_names_a_test_or_a_reason(name):
    cells = {column: FEATURES[name].get(column, "") for column in make_features.COLUMNS}
    wrong = {column: text for column, text in cells.items() if not re.match(r"- \w", text) and not has_test(text if ": " in text else ": ")}
    assert wrong == {}


def test_every_condition_has_one_answer():
    for condition in CONDITIONS:
        assert len({"here", "refused", "nothing"} & condition.keys()) == 1, condition
        assert condition.get("refused", "E140") in MESSAGES, condition
        if "here" in condition:
            # What stands in the manual: no feature of these moves a step off the GPU.
            assert has_test(FEATURES[condition["here"]]["GPU"]), condition


def test_a_test_that_is_not_there_is_noticed():
    assert has_test("python/test_features.py: test_the_page_is_up_to_date")
    assert not has_test("python/test_features.py: test_the_page")
    assert has_test("engine/groups_test.cpp: FrozenAtoms.stay_where_they_are") and not has_test("engine/groups_test.cpp: FrozenAtoms.stay")
    assert not has_test("engine/group_test.cpp: FrozenAtoms.stay_where_they_are")
