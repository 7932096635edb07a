# SPDX-License-Identifier: Apache-2.0
"""`parhelion gmx-args` tells what a command line of GROMACS is here; its table is docs/user/gromacs-flags.md and has all options of the
installed gmx."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import manual
from runs import missing

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("PARHELION_PROGRAM", "")
if not PROGRAM:
    pytest.skip("$PARHELION_PROGRAM is not set", allow_module_level=True)


def told(*words, code=0):
    done = subprocess.run([PROGRAM, "gmx-args", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def lines(text):
    """{what was said there: (what it is here, note)}"""
    return {there: (here, note) for there, here, note in re.findall(r"^  (\S.*?)  +(\S.*?)  +(\S.*)$", text, re.M)}


@pytest.mark.parametrize("words,run", [
    (["mdrun -deffnm md -ntmpi 4"], "-s md.tpr -o md --ranks 4"),
    (["mdrun", "-deffnm", "md", "-ntomp", "8", "-v"], "-s md.tpr -o md --threads 8"),
    (["gmx grompp -f npt.mdp -c nvt.gro -r nvt.gro -p topol.top -t nvt.cpt -n index.ndx -o npt.tpr -maxwarn 2", "gmx mdrun -s npt.tpr -deffnm npt"],
     "-f npt.mdp -c nvt.gro -p topol.top -r nvt.gro -t nvt.cpt -n index.ndx -o npt"),
    (["mdrun -nb gpu -pme gpu -bonded gpu -update gpu -gpu_id 0123 -npme 1 -ntmpi 4 -tunepme no"], "-s topol.tpr --device gpu --gpus 4 --pme dedicated:1 --ranks 4"),
    (["mdrun -cpi md.cpt -noappend -cpt 5 -maxh 23.5 -nsteps -1 -notunepme -reprod"], "-s topol.tpr --checkpoint 5min --hours 23.5 --steps -1 --reproducible"),
    (["mdrun -dd 2 2 1 -gpu_id 0,2 -nt 0 -nsteps -2 -maxh -1 -npme -1"], "-s topol.tpr --grid 2x2x1 --gpus 2"),
    (["gmx_mpi mdrun -s run/npt.tpr -deffnm out"], "-s run/npt.tpr -o out"),
    (["gmx grompp -c name.gro -time 10 -t run.trr"], "-f grompp.mdp -c name.gro -p topol.top --time 10 -t run.trr"),
])
def test_a_command_line_is_told_in_words_that_the_program_takes(words, run, tmp_path):
    first = told(*words).split("\n")[0]
    assert first == f"parhelion run {run}"
    (command,) = manual.commands(first)
    assert manual.complaint(PROGRAM, command, tmp_path) == ""


def test_what_has_no_equal_is_told():
    said = lines(told("mpirun -np 4 gmx_mpi mdrun -multidir a b -replex 100 -table t.xvg -dlb yes -frobnicate -nb auto stray -dd 2 2"))
    assert said["-multidir a b"][0] == said["-replex 100"][0] == said["-table t.xvg"][0] == "not here"
    assert said["-dlb yes"] == ("--dlb on", "By default cells stay equal.")
    assert said["-frobnicate"][0] == "?" and said["-dd 2 2"] == ("?", "It wants 3 values.")
    assert said["stray"] == ("?", "No option takes this.")
    assert "launcher" in said["mpirun -np 4 gmx_mpi"][1]


def test_what_is_no_command_is_refused():
    assert "E010" in told("pdb2gmx -f x.pdb", code=2)
    assert "E010" in told(code=2)


def test_the_page_is_up_to_date():
    page = (ROOT / "docs/user/gromacs-flags.md").read_text()
    assert told("--table") == page, "parhelion gmx-args --table > docs/user/gromacs-flags.md"


@pytest.mark.parametrize("command", ["mdrun", "grompp"])
def test_the_table_has_every_option_of_gmx(command):
    if shutil.which("gmx") is None:
        missing("gmx")
    text = subprocess.run(["gmx", "-quiet", "help", command], capture_output=True, text=True, check=True).stdout
    there = {flag.replace("[no]", "") for flag in re.findall(r"^ (-\S+) +[\[<(]", text.partition("\nOPTIONS\n")[2], re.M)}
    assert len(there) > 15
    here = re.findall(r"^\| `(-\S+)`", told("--table").partition(f"## {command}\n")[2].partition("\n## ")[0], re.M)
    assert there == set(here) and len(here) == len(there)
