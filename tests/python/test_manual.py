# SPDX-License-Identifier: Apache-2.0
"""Every block of code of the manual runs as its reader would run it, or says why not (manual.py), and every command that is not run is
one that the program would take."""
import os
import re
import shutil

import pytest

import manual
from runs import missing

BLOCKS = {page: manual.blocks(page) for page in manual.PAGES}
PROGRAM = os.environ.get("PARHELION_PROGRAM", "")
if not PROGRAM:
    pytest.skip("$PARHELION_PROGRAM is not set", allow_module_level=True)


def runs(block):
    return block.language in manual.RUN and not {"not run", "run by"} & block.marks.keys() and block.page.name not in manual.ELSEWHERE


@pytest.mark.parametrize("page", [page for page in manual.PAGES if any(map(runs, BLOCKS[page]))], ids=lambda page: page.stem)
def test_blocks_of_a_page_run(page, tmp_path):
    if any("gmx" in block.text for block in BLOCKS[page] if runs(block)) and shutil.which("gmx") is None:
        missing("gmx")
    reader = manual.Reader(tmp_path)
    for block in filter(runs, BLOCKS[page]):
        done = reader.run(block)
        assert done is None or done.returncode == 0, f"{block}\n{done.stdout}"


@pytest.mark.parametrize("page", manual.PAGES, ids=lambda page: page.stem)
def test_every_block_runs_or_says_why_not(page):
    for block in BLOCKS[page]:
        assert block.language in manual.RUN | manual.TEXT or {"not run", "run by"} & block.marks.keys(), block
        assert block.marks.keys() <= manual.MARKS, block
        assert block.language != "ini" or block.title, f"{block} has no name of a file"
        by = block.marks.get("run by") or manual.ELSEWHERE.get(page.name, "")
        assert not by or (manual.ROOT / by).is_file(), block
    outside = re.sub(r"^( *)```.*?^\1```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"\n\n {4,}[^\s|*-]", outside), "a block of code without ```, which no test runs"


@pytest.mark.parametrize("page", manual.PAGES, ids=lambda page: page.stem)
def test_commands_are_those_of_the_program(page, tmp_path):
    for block in BLOCKS[page]:
        for words in manual.commands(block.text) if block.language == "sh" else []:
            assert manual.complaint(PROGRAM, words, tmp_path if not runs(block) else None) == "", f"{block}: parhelion {' '.join(words)}"
    for words in manual.inline_commands(page):
        assert manual.complaint(PROGRAM, words, None) == "", f"{page.name}: parhelion {' '.join(words)}"


@pytest.mark.parametrize("command,wrong", [
    ("parhelion run -f md.mdp --gpu 4", "run has no --gpu"), ("srun parhelion run --transprot mpi", "run has no --transprot"), ("parhelion runn -f md.mdp", "runn is no command"),
    ("parhelion bench scaling --atom 3000", "bench scaling has no --atom"), ("A=1 build/parhelion run --checkpoint 5", "--checkpoint"),
    ("cd x && exec parhelion run --halo fast", "--halo"), ("parhelion run --ns 1 --steps 5 | tail", "--ns"),
    ("parhelion jobscript --gpus 4 -- --gpu 4", "run has no --gpu")])
def test_a_wrong_command_is_noticed(command, wrong, tmp_path):
    (words,) = manual.commands(command)
    assert wrong in manual.complaint(PROGRAM, words, tmp_path)


def test_commands_are_found():
    assert list(manual.commands("parhelion run -f a \\\n  -c b & # parhelion check\nfor i in 1 2; do\n    CUDA_VISIBLE_DEVICES=$i parhelion energy > x\ndone\n")) == [
        ["run", "-f", "a", "-c", "b"], ["energy"]]
    assert list(manual.commands("cp parhelion elsewhere\ntools/soak_gpu.py build/parhelion --minutes 3")) == []


def test_what_fails_is_told(tmp_path):
    page = tmp_path / "page.md"
    page.write_text('<!-- first: echo 1 > one -->\n```sh\nwhat=$(cat one)\nmkdir in && cd in\n```\n\n```ini title="two.mdp"\ntwo\n```\n\n```sh\ncat ../one two.mdp && echo $what && false\n```\n'
                    "\n<!-- not run: for a reason -->\n```sh\nfalse\n```\n")
    first, file, fails, not_run = manual.blocks(page)
    assert [runs(block) for block in manual.blocks(page)] == [True, True, True, False] and not_run.marks == {"not run": "for a reason"}
    reader = manual.Reader(tmp_path)
    assert reader.run(first).returncode == 0 and reader.run(file) is None
    done = reader.run(fails)
    assert done.returncode == 1 and done.stdout == "1\ntwo\n1\n"
