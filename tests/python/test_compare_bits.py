# SPDX-License-Identifier: Apache-2.0
"""tools/compare_bits.py: a program has its own bits, and one that differs in a single bit is told from it."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "compare_bits.py"
PROGRAM = os.environ["PARHELION_PROGRAM"]
# Runs the program, then changes a bit of one of its outputs, counted from the end.
FLIPS = """#!{python}
import subprocess, sys
code = subprocess.call([{program!r}, *sys.argv[1:]])
with open({file!r}, "r+b") as f:
    f.seek(-{from_end}, 2)
    byte = f.read(1)[0]
    f.seek(-{from_end}, 2)
    f.write(bytes([byte ^ 1]))
sys.exit(code)
"""


def compare(new, only="cpu, 1 rank, nve$"):
    done = subprocess.run([sys.executable, TOOL, PROGRAM, new, "--gpus", "0", "--system", "spce", "--only", only], capture_output=True, text=True)
    return done.returncode, done.stdout


def test_a_program_has_its_own_bits():
    code, said = compare(PROGRAM)
    assert code == 0 and "1 runs, 0 of which differ or fail" in said, said


@pytest.mark.parametrize("file, from_end, named", [("md.cpt", 1, "cpt: v byte"), ("md.trr", 7, "trr: byte"), ("md.xtc", 9, "xtc: byte"),
                                                   ("md.edr", 3, "edr: byte"), ("md.gro", 2, "gro: byte")])
def test_one_bit_is_told(tmp_path, file, from_end, named):
    program = tmp_path / "program"
    program.write_text(FLIPS.format(python=sys.executable, program=PROGRAM, file=file, from_end=from_end))
    program.chmod(0o755)
    code, said = compare(program)
    assert code == 1 and named in said and said.count("byte") == 1, said


def test_a_run_that_fails_is_told():
    code, said = compare("/bin/false")
    assert code == 1 and "new failed: exit code 1" in said, said


def test_no_run_is_no_success():
    assert compare(PROGRAM, only="nowhere")[0] == 1
