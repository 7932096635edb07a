# SPDX-License-Identifier: Apache-2.0
"""What our program and GROMACS' grompp make of the same input: accept it, warn (grompp stops without -maxwarn, ours without --allow) or
refuse it.

Cases are one-line variations of tests/data/io/acceptance (mdp.txt, top.txt, gro.txt) and all molecule files that GROMACS ships. Cases
in which the two differ are in differences.tsv, with the reason. By hand: `acceptance.py --write` compares all cases and rewrites that
table, keeping its reasons; new rows have an empty one, which the test refuses. `acceptance.py --share` prints how many of the cases that
GROMACS takes run here: many of them are slips on purpose, so this is no share of users' files."""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "data" / "io" / "acceptance"
TABLE = FOLDER / "differences.tsv"
LIBRARY = Path("/usr/share/gromacs/top")
STEEP = "integrator = steep\nnsteps = 10\ncoulombtype = Reaction-Field\nrcoulomb = 0.9\nrvdw = 0.9\nepsilon-rf = 78.5\n"


# --- cases: the name of one, and the files it is made of


def cases_of(name):
    lines = (FOLDER / name).read_text().splitlines()
    return [line for line in lines if line.strip() and not line.startswith("# ")]


def vary_mdp(base, variation):
    """KEY = VALUE replaces the base's line of that key or is added; &KEY = VALUE is added in any case; -KEY removes."""
    lines = base.splitlines()
    for change in variation.split(" && "):
        key = re.match(r"[-&]?([^=]*)", change)[1].strip()
        same = [i for i, line in enumerate(lines) if line.split("=")[0].strip().lower().replace("_", "-") == key.lower().replace("_", "-")]
        if change.startswith("-") and "=" not in change:
            del lines[same[0]]
        elif same and not change.startswith("&"):
            lines[same[0]] = change
        else:
            lines.append(change.removeprefix("&"))
    return "\n".join(lines) + "\n"


def vary_top(base, variation):
    old, new = re.match(r"(.*?) =>\s?(.*)", variation).groups()
    lines = base.splitlines()
    at = lines.index(old)
    lines[at : at + 1] = [line.strip() for line in new.split(" // ")] if new else []
    return "\n".join(lines) + "\n"


def vary_gro(base, variation):
    number, change = variation.split(":", 1)
    lines, at = base.splitlines(), int(number) - 1
    if change:
        old, new = change.split("/")[1:3]
        assert lines[at].count(old) >= 1, variation
        lines[at : at + 1] = [lines[at].replace(old, new, 1)]
    else:
        del lines[at]
    return "\n".join(lines) + "\n"


BASE = {"md.mdp": "base.mdp", "topol.top": "topol.top", "conf.gro": "conf.gro"}
VARIED = {"mdp": ("md.mdp", vary_mdp), "top": ("topol.top", vary_top), "gro": ("conf.gro", vary_gro)}


def variations():
    """All one-line variations, {name: {file: text}}."""
    base = {file: (FOLDER / name).read_text() for file, name in BASE.items()}
    return {f"{kind}: {change}": base | {file: vary(base[file], change)}
            for kind, (file, vary) in VARIED.items() for change in cases_of(f"{kind}.txt")}


def active_lines(path, macros):
    """Lines of a topology file and of what it includes, as its #ifdefs and the macros tell. Macros are added to."""
    taken = []
    for line in path.read_text(errors="replace").splitlines():
        words = line.split(";")[0].split()
        word = words[0] if words else ""
        if word in ("#ifdef", "#ifndef"):
            taken.append((words[1] in macros) == (word == "#ifdef"))
        elif word == "#else":
            taken[-1] = not taken[-1]
        elif word == "#endif":
            taken.pop()
        elif all(taken):
            if word == "#define":
                macros.add(words[1])
            if word == "#include" and (path.parent / words[1].strip('"')).exists():
                yield from active_lines(path.parent / words[1].strip('"'), macros)
            elif words:
                yield " ".join(words)


def molecules_in(path, force_field, define):
    """{molecule type: [(residue, atom), ...]}"""
    macros = {define}
    if force_field is not None:
        list(active_lines(force_field, macros))
    section, molecules = "", {}
    for line in active_lines(path, macros):
        if line.startswith("["):
            section = line.strip("[] ")
        elif section == "moleculetype":
            molecules[line.split()[0]] = atoms = []
        elif section == "atoms":
            atoms.append(tuple(line.split()[3:5]))
    return {name: atoms for name, atoms in molecules.items() if atoms}


def grid_gro(atoms):
    """Atoms 0.3 nm apart, so that nothing but the files is judged."""
    side = max(7, round(len(atoms) ** (1 / 3) + 0.5))
    lines = ["grid", str(len(atoms))]
    for i, (residue, name) in enumerate(atoms):
        x = [0.3 * (i // side**d % side) for d in range(3)]
        lines.append(f"{1:5d}{residue[:5]:<5s}{name[:5]:>5s}{(i + 1) % 100000:5d}" + "".join(f"{c:8.3f}" for c in x))
    return "\n".join(lines + ["".join(f"{0.3 * side:10.5f}" for _ in range(3))]) + "\n"


def molecule_file(path, define=""):
    force_field = path.parent / "forcefield.itp" if path.parent.suffix == ".ff" else None
    molecules = molecules_in(path, force_field, define)
    top = f'#include "{force_field.relative_to(LIBRARY)}"\n' if force_field else ""
    top += f'#include "{path.relative_to(LIBRARY)}"\n[ system ]\n{path.name}\n[ molecules ]\n'
    top += "".join(f"{name} 1\n" for name in molecules)
    mdp = STEEP + (f"define = -D{define}\n" if define else "")
    return {"md.mdp": mdp, "topol.top": top, "conf.gro": grid_gro([atom for atoms in molecules.values() for atom in atoms])}


def molecule_files():
    """All files of GROMACS' library that define molecules, and those that have a flexible form with it."""
    cases = {}
    for path in sorted(LIBRARY.rglob("*.itp")):
        text = path.read_text(errors="replace")
        if not re.search(r"^\s*\[\s*moleculetype", text, re.M):
            continue
        name = f"itp: {path.relative_to(LIBRARY)}"
        cases[name] = molecule_file(path)
        if re.search(r"#ifn?def FLEXIBLE", text):
            cases[f"{name} -DFLEXIBLE"] = molecule_file(path, "FLEXIBLE")
    return cases


# --- verdicts


def run(command, folder):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GMX")} | {"GMX_MAXBACKUP": "-1"}
    try:
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", timeout=120)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "", "does not end")


def ours(folder):
    done = run([os.environ["PARHELION_PROGRAM"], "check", "--device", "cpu", "--threads", "1", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top"], folder)
    if done.returncode in (0, 5):  # 5: the input is what it should be, but a simulation of it would blow up
        return "accepts", done.stderr
    if done.returncode == 4:
        return "warns" if "E001" in done.stderr else "refuses", done.stderr
    return f"exit {done.returncode}", done.stderr


def theirs(folder):
    command = ["gmx", "grompp", "-f", "md.mdp", "-c", "conf.gro", "-r", "conf.gro", "-p", "topol.top", "-o", "a.tpr", "-po", "a.mdp"]
    done = run(command, folder)
    if done.returncode == 0:
        return "accepts", ""
    if done.returncode < 0:
        return "crashes", done.stderr
    again = run(command + ["-maxwarn", "1000"], folder)
    return "warns" if again.returncode == 0 else "refuses", again.stderr if again.returncode else done.stderr


def judge(files):
    """The verdicts of both, and what they said."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text)
        return ours(folder), theirs(folder)


def all_verdicts(cases):
    """{name: (our verdict, theirs)}"""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = dict(zip(cases, pool.map(judge, cases.values())))
    return {name: (we[0], they[0]) for name, (we, they) in verdicts.items()}


def compare(cases):
    """{name: (our verdict, theirs)} of those that differ."""
    return {name: verdicts for name, verdicts in all_verdicts(cases).items() if verdicts[0] != verdicts[1]}


def shares(verdicts):
    """Of each kind of case: (kind, those that GROMACS takes, those of them that run here). A warning can be allowed, so it counts as taken."""
    taken = ("accepts", "warns")
    for kind in dict.fromkeys(name.split(":")[0] for name in verdicts):
        of_kind = [both for name, both in verdicts.items() if name.split(":")[0] == kind]
        yield kind, sum(they in taken for _, they in of_kind), sum(we in taken and they in taken for we, they in of_kind)


# --- the table


def read_table():
    """{name: (our verdict, theirs, reason)}"""
    rows = [line.split("\t") for line in TABLE.read_text().splitlines()[1:]]
    table = {row[0]: tuple(row[1:]) for row in rows}
    assert len(table) == len(rows), "a case is in the table twice"
    return table


def write_table(differences, table):
    rows = ["case\twe\tGROMACS\twhy"]
    for name, verdicts in differences.items():
        known = table.get(name, ("", "", ""))
        rows.append("\t".join((name, *verdicts, known[2] if known[:2] == verdicts else "")))
    TABLE.write_text("\n".join(rows) + "\n")


def main():
    cases = variations() | molecule_files()
    if sys.argv[1:] == ["--write"]:
        write_table(compare(cases), read_table() if TABLE.exists() else {})
        return
    if sys.argv[1:] == ["--share"]:
        for kind, theirs_taken, both in shares(all_verdicts(cases)):
            print(f"{kind}: GROMACS takes {theirs_taken}, of which {both} run here, {100 * both / theirs_taken:.1f} %")
        return
    for pattern in sys.argv[1:]:  # what both say of the cases that have the pattern in their names
        for name, files in cases.items():
            if pattern in name:
                for who, (verdict, words) in zip(("we", "GROMACS"), judge(files)):
                    print(f"{name}\n{who}: {verdict}\n{words}")


if __name__ == "__main__":
    main()
