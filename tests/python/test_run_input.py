# SPDX-License-Identifier: Apache-2.0
"""A run input file of grompp does what the text files do that it was made of, and what is not supported is refused by its name.

gmx and gmx_d are Debian's. The package MDAnalysisTests has files of many versions of GROMACS; without it their test is skipped. The program
is $PARHELION_PROGRAM.
"""
import json
import os
import shutil
import struct
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

from runs import missing

import stage_folders

ROOT = Path(__file__).resolve().parents[2]
ETHANOL = ROOT / "tests" / "data" / "refdata" / "etoh"
SITES = ROOT / "tests" / "data" / "sites"


def program():
    if "PARHELION_PROGRAM" not in os.environ:
        pytest.skip("$PARHELION_PROGRAM is not set")
    return os.environ["PARHELION_PROGRAM"]


def grompp(folder, *words, gmx="gmx_d", out="p.tpr"):
    if shutil.which(gmx) is None:
        missing(gmx)
    result = subprocess.run([gmx, "-quiet", "grompp", *map(str, words), "-o", out, "-po", "out.mdp", "-maxwarn", "99"], cwd=folder, capture_output=True, text=True,
                            env={**os.environ, "GMX_MAXBACKUP": "-1"})
    assert result.returncode == 0, result.stderr[-2000:]
    return folder / out


def parhelion(folder, *words, code=0):
    result = subprocess.run([program(), *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=300)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


def point(folder, prefix, *words):
    """Energies by term, and forces, of one configuration in double precision."""
    parhelion(folder, "energy", "--device", "cpu", "--precision", "double", *words, "-o", prefix)
    return json.loads((folder / f"{prefix}.energy.json").read_text())["energies"], np.load(folder / f"{prefix}.forces.npy")


def write_sites(folder):
    for name in ("conf.gro", "topol.top"):
        shutil.copy(SITES / name, folder)
    shutil.copy(SITES / "pme.mdp", folder / "point.mdp")


def index_of(**groups):
    """Index groups by their first and last atoms."""
    lines = {name: [str(atom) for atom in range(first, last + 1)] for name, (first, last) in groups.items()}
    return "".join(f"[ {name} ]\n" + "".join(" ".join(atoms[i:i + 15]) + "\n" for i in range(0, len(atoms), 15)) for name, atoms in lines.items())


INDEX = index_of(System=(1, 3000), ETH=(1, 900), SOL=(901, 3000), A=(1, 1), B=(2, 2), C=(10, 18))


def write_ethanol(folder):
    for name in ("conf.gro", "topol.top"):
        shutil.copy(ETHANOL / name, folder)
    (folder / "index.ndx").write_text(INDEX)
    (folder / "point.mdp").write_text("""integrator = md
nsteps = 0
nstlist = 1
verlet-buffer-tolerance = -1
coulombtype = PME
rcoulomb = 0.8
rvdw = 0.8
rlist = 0.85
DispCorr = EnerPres
constraints = h-bonds
comm-mode = none
continuation = yes
""")


def write(kind, folder):
    """The files of one system; returns the words that name them."""
    folder.mkdir(exist_ok=True)
    words = ["-f", "point.mdp", "-c", "conf.gro", "-p", "topol.top"]
    if kind in ("sites", "ethanol"):
        {"sites": write_sites, "ethanol": write_ethanol}[kind](folder)
        return words
    stage_folders.write(kind, folder)
    stage_folders.single_point(kind, folder)
    return [*words, "-r", "reference.gro", "-n", "index.ndx"]


# Relative to the largest energy, and to the largest force. In double precision only the order of sums differs. In single precision the file has
# seven digits of every parameter that grompp computed, as those of Lennard-Jones; those that it copied are exact again. Positions of more than
# seven digits lose the last ones: 2e-7 nm, times the force constants of bonds, and over a time step where the start is constrained (the kinetic
# energy of the sites, whose input has 16 digits).
TOLERANCE = {"gmx_d": (2e-12, 2e-12), "gmx": (2e-6, 5e-5)}
LOST = {("sites", "gmx"): (2e-5, 5e-5)}


@pytest.mark.parametrize("gmx", TOLERANCE)
@pytest.mark.parametrize("kind", ["ethanol", "sites", *stage_folders.KINDS])
def test_energies_and_forces_are_those_of_the_text_files(kind, gmx, tmp_path):
    words = write(kind, tmp_path)
    grompp(tmp_path, *words, gmx=gmx)
    of_energies, of_forces = LOST.get((kind, gmx), TOLERANCE[gmx])
    allowed = ["--allow", "W170"] if kind == "sites" else []
    (theirs, f), (ours, g) = point(tmp_path, "text", *words, *allowed), point(tmp_path, "tpr", "-s", "p.tpr", *allowed)
    assert set(ours) == set(theirs)
    largest = max(abs(value) for value in theirs.values())
    wrong = {term: (value, ours[term]) for term, value in theirs.items() if abs(value - ours[term]) > of_energies * largest}
    assert wrong == {}
    assert np.abs(f - g).max() <= of_forces * np.abs(f).max()


DYNAMICS = """integrator = md
dt = 0.001
nsteps = 20
nstlist = 10
coulombtype = PME
rcoulomb = 0.8
rvdw = 0.8
constraints = h-bonds
tcoupl = v-rescale
tc-grps = ETH SOL
tau-t = 0.5 0.5
ref-t = 300 310
nsttcouple = 5
pcoupl = C-rescale
nstpcouple = 5
tau-p = 2
compressibility = 4.5e-5
ref-p = 1
ensemble = 1
nstcalcenergy = 1
nstenergy = 1
nstxout = 20
nstvout = 20
comm-grps = System
compressed-x-grps = ETH
nstxout-compressed = 10
ld-seed = 7
fourier-nx = 32
fourier-ny = 32
fourier-nz = 32
""".replace("ensemble = 1\n", "").replace("ref-t = 300 310", "ref-t = 300 300")


def test_a_run_is_that_of_the_text_files(tmp_path):
    write_ethanol(tmp_path)
    (tmp_path / "md.mdp").write_text(DYNAMICS)
    words = ["-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top"]
    grompp(tmp_path, *words)
    for prefix, files in (("text", words), ("tpr", ["-s", "p.tpr"])):
        parhelion(tmp_path, "run", "--device", "cpu", "--precision", "double", "--reproducible", "-q", *files, "-o", prefix)
    assert (tmp_path / "tpr.xtc").read_bytes() == (tmp_path / "text.xtc").read_bytes()
    # Reproducible sums do not see the order of terms. Lennard-Jones parameters differ in their last bits, which grow for twenty steps.
    theirs, ours = (np.frombuffer((tmp_path / f"{name}.trr").read_bytes()[-8 * 2 * 9000:], ">f8") for name in ("text", "tpr"))
    assert 1 < np.abs(theirs).max() < 100  # the positions and velocities of the last frame
    assert np.abs(ours - theirs).max() <= 1e-11


def test_a_run_goes_on_from_its_checkpoint(tmp_path):
    write_ethanol(tmp_path)
    (tmp_path / "md.mdp").write_text(DYNAMICS)
    grompp(tmp_path, "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", gmx="gmx")
    words = ["run", "--device", "cpu", "-q", "-s", "p.tpr", "-o", "md"]
    parhelion(tmp_path, *words)
    assert "continuing at step" in parhelion(tmp_path, *(word for word in words if word != "-q"), "--steps", 40)


def test_intervals_that_grompp_chose_stop_no_run(tmp_path):
    write_ethanol(tmp_path)
    (tmp_path / "md.mdp").write_text(DYNAMICS.replace("C-rescale", "Parrinello-Rahman").replace("nstpcouple = 5\n", ""))
    grompp(tmp_path, "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", gmx="gmx")
    parhelion(tmp_path, "run", "--device", "cpu", "-q", "-s", "p.tpr", "-o", "md")
    log = (tmp_path / "md.log").read_text()
    assert "nstpcouple               = 10" in log and "N199" in log


REFUSED = {  # lines of an .mdp, and what the message says
    "pull": ("pull = yes\npull-ngroups = 2\npull-ncoords = 1\npull-group1-name = A\npull-group2-name = B\npull-coord1-geometry = distance\npull-coord1-groups = 1 2\n"
             "pull-coord1-k = 100\n", "E140", "pull = yes asks for pulling"),
    "free energy": ("free-energy = yes\ncouple-moltype = ETH\ncouple-lambda0 = vdw-q\ncouple-lambda1 = none\ninit-lambda = 0\n", "E140", "free-energy = yes asks for"),
    "walls": ("nwall = 2\npbc = xy\nwall-atomtype = opls_135 opls_135\nwall-density = 100 100\ncoulombtype = reaction-field\n", "E140", "walls"),
    "cosine": ("cos-acceleration = 0.1\n", "E140", "cosine acceleration"),
    "deform": ("deform = 0.01 0 0 0 0 0\n", "E140", "box deformation"),
    "Brownian dynamics": ("integrator = bd\nbd-fric = 1000\ntc-grps = System\ntau-t = 1\nref-t = 300\n", "E140", "integrator = bd"),
    "Andersen": ("integrator = md-vv\ntcoupl = andersen\nnstcomm = 1\ntc-grps = System\ntau-t = 1\nref-t = 300\nconstraints = none\n", "E140", "tcoupl = Andersen"),
    "imd": ("IMD-group = ETH\n", "E140", "interactive molecular dynamics"),
    "swap": ("swapcoords = Z\nswap-frequency = 1\nsplit-group0 = A\nsplit-group1 = B\nsolvent-group = SOL\niontypes = 1\niontype0-name = C\niontype0-in-A = -1\niontype0-in-B = -1\n", "E140",
             "swapping of ions"),
    "rotation": ("rotation = yes\nrot-ngroups = 1\nrot-group0 = ETH\nrot-type0 = iso\nrot-vec0 = 0 0 1\nrot-rate0 = 1\nrot-k0 = 100\n", "E140", "enforced rotation"),
    "awh": ("pull = yes\npull-ngroups = 2\npull-ncoords = 1\npull-group1-name = A\npull-group2-name = B\npull-coord1-type = external-potential\npull-coord1-potential-provider = awh\n"
            "pull-coord1-groups = 1 2\nawh = yes\nawh-nbias = 1\nawh1-ndim = 1\nawh1-dim1-coord-index = 1\nawh1-dim1-start = 0\n"
            "awh1-dim1-end = 1\nawh1-dim1-force-constant = 1000\nawh1-dim1-diffusion = 1e-4\nawh1-error-init = 5\ntcoupl = v-rescale\ntc-grps = System\ntau-t = 1\nref-t = 300\n", "E140",
            "the accelerated weight histogram method"),
    "simulated tempering": ("free-energy = expanded\nsimulated-tempering = yes\nsim-temp-low = 300\nsim-temp-high = 320\ntemperature-lambdas = 0 1\ninit-lambda-state = 0\nnstexpanded = 10\n"
                            "lmc-stats = no\nlmc-move = metropolis\nintegrator = md-vv\ntcoupl = v-rescale\ntc-grps = System\ntau-t = 1\nref-t = 300\nconstraints = none\nnstcalcenergy = 10\nnstdhdl = 10\n",
                            "E140", "simulated tempering"),
}
BASE = "integrator = md\nnsteps = 0\ncoulombtype = PME\nrcoulomb = 0.8\nrvdw = 0.8\nconstraints = h-bonds\n"


@pytest.mark.parametrize("feature", REFUSED)
def test_what_is_not_supported_is_refused_by_name(feature, tmp_path):
    lines, code, says = REFUSED[feature]
    write_ethanol(tmp_path)
    given = {line.split("=")[0].strip() for line in lines.splitlines()}
    base = "".join(line + "\n" for line in BASE.splitlines() if line.split("=")[0].strip() not in given)
    (tmp_path / "r.mdp").write_text(base + lines)
    grompp(tmp_path, "-f", "r.mdp", "-c", "conf.gro", "-p", "topol.top", "-n", "index.ndx", gmx="gmx")
    text = parhelion(tmp_path, "check", "-s", "p.tpr", code=4)
    assert code in text and says in text and "p.tpr" in text, text


TERMS = {  # a line of a topology, and the name of the function
    "[ angles ]\n1 2 3 9 0.5 100": "linear angle",
    "[ polarization ]\n1 2 1 0.001": "polarisation",
}
MOLECULE = """[ defaults ]
1 1 no 1 1
[ atomtypes ]
C 12 0 A 1e-3 1e-6
[ moleculetype ]
MOL 3
[ atoms ]
1 C 1 MOL C1 1 0.1
2 C 1 MOL C2 1 0.1
3 C 1 MOL C3 1 -0.1
4 C 1 MOL C4 1 -0.1
"""
END = "\n[ system ]\nterms\n[ molecules ]\nMOL 1\n"
PLACES = "terms\n4\n" + "".join(f"    1MOL     C{i}{i:5d}{x:8.3f}{y:8.3f}{z:8.3f}\n" for i, (x, y, z) in enumerate([(1, 1, 1), (1.1, 1, 1), (1.1, 1.1, 1), (1.1, 1.1, 1.1)], 1)) + "3 3 3\n"


@pytest.mark.parametrize("line", TERMS)
def test_terms_that_are_not_supported_are_refused_by_name(line, tmp_path):
    (tmp_path / "topol.top").write_text(MOLECULE + line + END)
    (tmp_path / "conf.gro").write_text(PLACES)
    (tmp_path / "md.mdp").write_text("integrator = md\nnsteps = 0\nrcoulomb = 1\nrvdw = 1\ncoulombtype = reaction-field\n")
    grompp(tmp_path, "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", gmx="gmx")
    text = parhelion(tmp_path, "check", "-s", "p.tpr", code=4)
    assert "E130" in text and TERMS[line] in text, text


@pytest.mark.parametrize("kind, source", [*((kind, "tpr") for kind in ["ethanol", "sites", *stage_folders.KINDS]), ("sites", "text"), ("membrane", "text")])
def test_text_files_that_convert_writes_are_the_same_input(kind, source, tmp_path):
    words = write(kind, tmp_path)
    if source == "tpr":
        grompp(tmp_path, *words, gmx="gmx")
        words = ["-s", "p.tpr"]
    allowed = ["--allow", "W170"] if kind == "sites" else []
    said = parhelion(tmp_path, "convert", *words, "-d", "out", *allowed)
    assert "exists already" in parhelion(tmp_path, "convert", *words, "-d", "out", code=4)
    written = said.split("written to out: ")[1].split()
    (theirs, f), (ours, g) = point(tmp_path, "read", *words, *allowed), point(tmp_path / "out", "written", *written, *allowed)
    largest = max(abs(value) for value in theirs.values())
    assert {term: (value, ours[term]) for term, value in theirs.items() if abs(value - ours[term]) > 1e-9 * largest} == {}
    assert np.abs(f - g).max() <= 1e-9 * np.abs(f).max()  # positions have twelve decimals
    grompp(tmp_path / "out", *written, gmx="gmx")  # GROMACS reads them, too


def files_of_other_versions():
    try:
        import MDAnalysisTests
    except ImportError:
        return []
    return sorted((Path(MDAnalysisTests.__file__).parent / "data").rglob("*.tpr"))


def version_of(path):
    header = path.read_bytes()[:200]
    length = struct.unpack(">I", header[4:8])[0]
    return struct.unpack(">i", header[12 + (length + 3) // 4 * 4:16 + (length + 3) // 4 * 4])[0]


def test_files_of_all_versions_are_read_to_the_last_byte_or_refused_by_version(tmp_path):
    files = files_of_other_versions()
    if not files:
        warnings.warn("NOT TESTED: MDAnalysisTests is missing")
        pytest.skip("MDAnalysisTests is missing")
    seen = set()
    for path in files:
        result = subprocess.run([program(), "check", "-s", path], capture_output=True, text=True, timeout=300, cwd=tmp_path)
        text, version = result.stdout + result.stderr, version_of(path)
        assert result.returncode in (0, 4), (path, text)
        if version < 112:
            assert "E119" in text and f"file version {version}" in text, (path, text)
        elif "beta2" in path.name:  # its body is longer than its header says
            assert "E118" in text, (path, text)
        else:
            assert "E118" not in text and "E119" not in text, (path, text)
            seen.add(version)
    assert {112, 116, 119, 122, 127, 129, 133, 134, 137, 138} <= seen
