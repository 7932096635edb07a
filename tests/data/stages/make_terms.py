#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes terms.json: energies of the folders of tests/python/stage_folders.py by GROMACS' double-precision program, to compare ours with.

    make_terms.py > terms.json        # needs gmx_d; made with 2022.5

One force evaluation each, of the start with the restraints of the first stage of dynamics. kJ/mol, by GROMACS' names.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parents[1] / "python"), str(HERE.parents[2] / "tools")]
import stage_folders  # noqa: E402
from energy_file import read_energies  # noqa: E402

FILES = ["-f", "point.mdp", "-c", "conf.gro", "-r", "reference.gro", "-p", "topol.top", "-n", "index.ndx"]
ENVIRONMENT = {**os.environ, "GMX_MAXBACKUP": "-1", "GMX_NBNXN_EWALD_ANALYTICAL": "1"}


def terms_of(kind, folder):
    stage_folders.write(kind, folder)
    stage_folders.single_point(kind, folder)
    for words in [("grompp", *FILES, "-o", "p.tpr", "-maxwarn", "9"), ("mdrun", "-s", "p.tpr", "-deffnm", "p", "-nt", "1")]:
        subprocess.run(["gmx_d", *words], cwd=folder, check=True, capture_output=True, env=ENVIRONMENT)
    names, samples = read_energies(folder / "p.edr")
    terms = dict(zip(names, samples[0].means))
    return {name: terms[name] for name in names[:names.index("Potential") + 1]}


with tempfile.TemporaryDirectory() as scratch:
    print(json.dumps({kind: terms_of(kind, Path(scratch) / kind) for kind in stage_folders.KINDS}, indent=1))
