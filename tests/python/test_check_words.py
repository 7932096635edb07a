# SPDX-License-Identifier: Apache-2.0
"""The checker of words finds what it is there to find and nothing else, and this repository follows it."""
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = "src/halo/method.hpp"


def run(root, *paths):
    return subprocess.run([sys.executable, REPOSITORY / "tools" / "check_words.py", root, *paths], capture_output=True, text=True)


def said(tmp_path, file, text):
    """What is found in a file, by its line: of a repository with one more header, a decision and a document."""
    for path, content in {SOURCE: "enum class HaloMethod {};\nint halo_name();\n", "docs/decisions/0051-domains.md": "", "docs/guide.md": "",
                          file: text}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    result = run(tmp_path, file)
    assert result.returncode == (1 if result.stdout else 0), result.stderr
    return [line.removeprefix(file + ":") for line in result.stdout.splitlines()]


@pytest.mark.parametrize("comment,opening", [
    ("// What a run tells while it goes on.", "What"),
    ("// Where a list begins: plans lists again.", "Where"),
    ("// Who owns an atom, and the change of owner.", "Who"),
    ("// Of a wait in vain.", "Of"),
    ("// So much memory of this process alone, until touched.", "So much"),
    ("// SPDX-License-Identifier: Apache-2.0\n// What\n// kernels read.", "What"),
    ("int a = 0; // Of the row.", "Of"),
])
def test_a_comment_that_never_says_what_it_is_about_is_found(tmp_path, comment, opening):
    found = said(tmp_path, "src/a.hpp", comment + "\nint b;\n")
    assert len(found) == 1 and f"begins with {opening} and has no verb of its own" in found[0]


@pytest.mark.parametrize("comment", [
    "// Holds what a run tells while it goes on.",
    "// What is not known yet keeps its default.",
    "// Where ranks share a GPU, kernels are queued behind each other and must end.",
    "// Of several rules the first counts.",
    "// Who may wait? All that know the event.",
    "// Officers of a run.",
    "// Reserves so much memory.",
    'const char* text = "// Of the row.";',
])
def test_a_comment_with_a_verb_is_not_found(tmp_path, comment):
    assert said(tmp_path, "src/a.hpp", comment + "\nint b;\n") == []


def test_openings_are_for_headers_alone(tmp_path):
    assert said(tmp_path, "src/a.cpp", "// Of a wait in vain.\nint b;\n") == []


@pytest.mark.parametrize("text,name", [
    ("See `halo/methods.hpp`.", "halo/methods.hpp"),
    ("The [guide](user/guide.md) says more.", "user/guide.md"),
    ("See docs/decisions/0099-none.md.", "docs/decisions/0099-none.md"),
    ("Decided in decision 0099.", "decision 0099"),
    ("`HaloName` and `halo_name()`.", "HaloName"),
    ("`halo_names()`.", "halo_names()"),
])
def test_a_dead_reference_of_a_document_is_found(tmp_path, text, name):
    assert said(tmp_path, "docs/a.md", f"# Title\n\n{text}\n") == [f"3: {name} does not exist"]


def test_a_dead_reference_of_a_comment_is_found(tmp_path):
    assert said(tmp_path, "src/a.cpp", "int a;\n// As in halo/methods.hpp.\n") == ["2: halo/methods.hpp does not exist"]


@pytest.mark.parametrize("text", [
    "See `halo/method.hpp`, `src/halo`, `method.hpp` and [the guide](guide.md#first), or https://a.org/b.md.",
    "`HaloMethod`, `halo_name()`, `staged_host`s of `--halo`, `PREFIX.report.json`, `build/parhelion`, `libopenmpi-dev`.".replace("`staged_host`s", "`x`"),
    "Decided in decision 0051, docs/decisions/0051-domains.md.",
    "```\ncat nothing/here.md; ask `NoName`\n```",
])
def test_what_exists_or_is_a_users_is_not_found(tmp_path, text):
    assert said(tmp_path, "docs/a.md", f"# Title\n\n{text}\n") == []


LONG = " ".join(["word"] * 41)


@pytest.mark.parametrize("file,text,line", [("docs/a.md", f"Short.\n\nShort. {LONG}.", 3), ("docs/a.md", f"| id | {LONG} |", 1),
                                            ("src/a.cpp", f"// Short. {LONG.replace('word word word', 'word' + chr(10) + '// word word', 1)}\n", 1)])
def test_a_sentence_that_is_too_long_is_found(tmp_path, file, text, line):
    found = said(tmp_path, file, text)
    assert len(found) == 1 and found[0].startswith(f"{line}: a sentence of 41 words")


@pytest.mark.parametrize("text", [LONG[5:] + ".", LONG.replace("word word", "word. word", 1), f"```\n{LONG}\n```",
                                  "| " + " | ".join([LONG[5:]] * 3) + " |"])
def test_a_sentence_of_forty_words_is_not_found(tmp_path, text):
    assert said(tmp_path, "docs/a.md", text + "\n") == []


def test_rows_of_a_table_in_a_comment_are_no_sentence(tmp_path):
    rows = "".join(f"// Row{i}    {' '.join(['word'] * 25)}\n" for i in range(3))
    assert said(tmp_path, "src/a.cu", rows) == []


def test_this_repository_follows_it():
    result = run(REPOSITORY)
    assert result.returncode == 0, result.stdout
