#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the program give the right answer to small inputs that once went wrong? A line for each, exit code 1 if one is wrong.

    tools/check_cases.py build/parhelion CASES                         # folders of inputs; half a minute for most, minutes with --long
    tools/check_cases.py build/parhelion CASES --library PREFIX        # also the C interface, of an installed communication library
    tools/check_cases.py build/parhelion CASES --only physics/0 --keep /tmp/cases

Right answers are closed forms, GROMACS' values or a refusal with its number; beside each check stands which. Needs Python with numpy and
pyedr (build/test-venv has them).
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

CASES = []


def case(folder, long=False, library=False):
    def add(check):
        CASES.append((folder, check, long, library))
        return check

    return add


class Case:
    """A folder's copy, in which commands run."""

    def __init__(self, program, source, scratch, prefix):
        self.program, self.source, self.folder, self.prefix = program, source, scratch / source.relative_to(source.parents[1]), prefix
        shutil.copytree(source, self.folder)

    def __call__(self, *words, cwd=None, seconds=600, **settings):
        """The program's exit code and all it says; `settings` replace lines of md.mdp."""
        folder = self.folder / cwd if cwd else self.folder
        if settings:
            given = {key.replace("_", "-"): value for key, value in settings.items()}
            kept = [line for line in (folder / "md.mdp").read_text().splitlines() if line.split("=")[0].strip().replace("_", "-") not in given]
            (folder / "md.mdp").write_text("\n".join(kept + [f"{key} = {value}" for key, value in given.items()]) + "\n")
        result = subprocess.run([self.program, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=seconds)
        return result.returncode, result.stdout + result.stderr

    def run(self, *words, prefix="p", **more):
        files = ["-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top"] if "-f" not in words else []
        return self("run", *files, "-o", prefix, "--threads", 1, "--device", "cpu", "--new", *words, **more)

    def energy(self, *words, **more):
        code, said = self("energy", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", "-o", "p", *words, **more)
        expect(code == 0, said)
        return json.loads((self.folder / "p.energy.json").read_text())

    def drift(self, cwd=".", of=""):
        """kT/ns/atom; of = "_error": its standard error."""
        report = json.loads((self.folder / cwd / "p.report.json").read_text())
        return report[f"conserved_drift{of}_kT_per_ns_per_atom"]

    def energies(self, cwd="."):
        import pyedr

        return pyedr.edr_to_dict(str(self.folder / cwd / "p.edr"))


def expect(truth, said=""):
    if not truth:
        raise AssertionError(str(said).strip()[-600:] or "not so")


def refused(result, *ids):
    code, said = result
    expect(code == 4 and all(name in said for name in ids), f"exit code {code}: {said}")
    return ids[0]


def within(value, right, error):
    expect(abs(value - right) <= error, f"{value:.6g} instead of {right:.6g} +- {error:.2g}")
    return f"{value:.6g} (right: {right:.6g} +- {error:.2g})"


def variance(series, blocks=10):
    """Of what follows the first eighth, with the standard error of its blocks' mean square deviations."""
    import numpy as np

    x = np.asarray(series)[len(series) // 8 :]
    squares = (x - x.mean()) ** 2
    of_blocks = [block.mean() for block in np.array_split(squares, blocks)]
    return squares.mean(), np.std(of_blocks, ddof=1) / blocks**0.5


# --- physics


@case("physics/01-lincs-not-converged")
def constraints_that_cannot_be_satisfied_end_the_run(c):  # gmx_d: LINCS warnings from step 44 on, then NaN
    code, said = c.run("--precision", "double")
    expect(code == 5 and "E501" in said, f"exit code {code}: {said}")
    return "E501"


@case("physics/02-crescale-first-group-off")
def noise_of_c_rescale_needs_an_ensembles_temperature(c):
    said = refused(c.run("--precision", "double"), "ensemble-temperature")
    code, more = c.run("--precision", "double", ensemble_temperature=300)
    expect(code == 0, more)
    return f"{said}; runs with it"


@case("physics/05-nve-cold-start-buffer")
def a_cold_start_does_not_drift(c):
    code, said = c.run()
    expect(code == 0, said)
    return within(c.drift(), 0, 0.003)


@case("physics/06-dependent-constraints-co2")
def three_constraints_of_one_line_are_refused(c):
    return refused(c.run("--precision", "double"), "E158")


@case("physics/07-dihedral9-identical-lines")
def identical_lines_are_told(c):
    refused(c("energy", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", "-o", "p"), "W160")
    return within(c.energy("--precision", "double", "--allow", "W160")["energies"]["Proper Dih."], 81.4387, 1e-3)


@case("physics/08-droplet-buffer")
def a_drop_does_not_drift(c):
    code, said = c.run()
    expect(code == 0, said)
    return within(c.drift(), 0, 0.01)


def copy_of_argon(c, name, edge, atoms=216, interacting=True):
    """A folder with the argon of 09-pr-default-nstpcouple, or some of it, in a cube of `edge` nm."""
    source, folder = c.source.parent / "09-pr-default-nstpcouple", c.folder / name
    folder.mkdir()
    shutil.copy(source / "md.mdp", folder)
    topology = (source / "topol.top").read_text().replace("AR 108\nAS 108", f"AR {atoms // 2}\nAS {atoms // 2}")
    (folder / "topol.top").write_text(topology if interacting else topology.replace("0.3405 0.996", "0.3405 0"))
    lines = (source / "conf.gro").read_text().splitlines()
    half = [lines[2 + first:2 + first + atoms // 2] for first in (0, 108)]
    (folder / "conf.gro").write_text("\n".join([lines[0], str(atoms), *half[0], *half[1], f"{edge} {edge} {edge}", ""]))


@case("physics/08-droplet-buffer", long=True)
def a_drop_of_argon_does_not_drift(c):  # 4d842a6: -0.284 in a cube of 20 nm
    copy_of_argon(c, "argon", 20)
    code, said = c.run(cwd="argon", tcoupl="no", pcoupl="no", nsteps=10000)
    expect(code == 0, said)
    return within(c.drift("argon"), 0, 3 * c.drift("argon", "_error"))  # 20 ps of 216 atoms tell no more than 0.007


@case("physics/09-pr-default-nstpcouple", long=True)
def volume_of_an_ideal_gas(c):  # (N + 1) (kT / P)^2
    copy_of_argon(c, "ideal-gas", 3.459, atoms=100, interacting=False)
    code, said = c.run(cwd="ideal-gas", nsteps=1500000, ref_t=300, ref_p=100, compressibility=0.01)
    expect(code == 0, said)
    value, error = variance(c.energies("ideal-gas")["Volume"])
    return within(value, 17.33, 3 * error)


@case("physics/09-pr-default-nstpcouple", long=True)
def volume_of_argon_by_parrinello_rahman(c):  # nstpcouple = 1: 0.04573 +- 0.00106
    code, said = c.run()
    expect(code == 0, said)
    value, error = variance(c.energies()["Volume"])
    return within(value, 0.04573, 3 * (error**2 + 0.00106**2) ** 0.5)


@case("physics/10-gro-box-1000nm")
def a_large_box_can_be_read_again(c):
    code, said = c.run()
    expect(code == 0, said)
    code, said = c("energy", "-f", "md.mdp", "-c", "p.gro", "-p", "topol.top", "-o", "q")
    expect(code == 0, said)
    return (c.folder / "p.gro").read_text().splitlines()[-1].strip()


@case("physics/11-net-charge-pressure")
def a_net_charge_has_its_background(c):  # -2.837297479 f q^2 / (2 L), E / (3 V)
    found = c.energy("--precision", "double")
    return within(found["energies"]["Potential"], -78.84024, 2e-4) + ", " + within(found["pressure"], -27.93, 0.005)


@case("physics/12-bond-of-length-zero")
def a_bond_of_length_zero_has_its_energy(c):
    return within(c.energy("--precision", "double", "--allow", "W121")["energies"]["Bond"], 6.833462, 1e-5)


@case("physics/15-constraint-virial")
def constraints_have_their_virial(c):  # exact multipliers of atoms at rest
    virial = c.energy("--precision", "double", "--allow", "W126")["virial"]
    return ", ".join(within(virial[d][d], right, 1) for d, right in enumerate((-33.8, 232.0, 130.6)))


@case("physics/17-nose-hoover-default-nsttcouple", long=True)
def kinetic_energy_by_nose_hoover(c):  # canonical: dof / 2 (kT)^2
    code, said = c.run()
    expect(code == 0, said)
    value, error = variance(c.energies()["Kinetic En."])
    return within(value, 222.9, 3 * error)


# --- accuracy


@case("accuracy/01-ewald-rtol")
def forces_do_not_depend_on_ewald_rtol(c):
    import numpy as np

    forces, told = {}, []
    text = (c.folder / "sp.mdp").read_text()
    for tolerance in ("1e-8", "1e-10", "1e-12", "1e-15", "1e-20", "1e-100"):
        (c.folder / "md.mdp").write_text(re.sub(r"(?m)^ewald-rtol.*", f"ewald-rtol = {tolerance}", text))
        for precision in ("double", "mixed"):
            code, said = c("energy", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", "-o", "t", "--precision", precision, "--threads", 1)
            if code == 4:
                told.append(f"{tolerance} {precision}: {re.search('[EW][0-9]{3}', said)[0]}")
                continue
            expect(code == 0, said)
            forces[tolerance, precision] = np.load(c.folder / "t.forces.npy")
    for precision, error in (("double", 1e-6), ("mixed", 1e-4)):
        of_precision = {t: f for (t, p), f in forces.items() if p == precision}
        reference = forces["1e-8", "double"]
        for tolerance, found in of_precision.items():
            worst = np.abs(found - reference).max() / np.abs(reference).max()
            expect(worst < error, f"ewald-rtol {tolerance}, {precision}: {worst:.1e} beside 1e-8")
    return f"{len(forces)} alike; refused: {', '.join(told) or 'none'}"


@case("accuracy/02-many-charges")
def many_kinds_of_atoms_are_planned_quickly(c):
    subprocess.run([sys.executable, "make.py"], cwd=c.folder, check=True, capture_output=True)
    code, said = c("check", *files_of(c.folder), seconds=10)
    expect(code == 0, said)
    return "within 10 s"


def files_of(folder):
    """-f -c -p of the only such files in a folder."""
    return [word for flag, suffix in (("-f", ".mdp"), ("-c", ".gro"), ("-p", ".top")) for word in (flag, next(folder.glob(f"*{suffix}")).name)]


@case("accuracy/03-all-bonds-ranks")
def ranks_say_why_a_molecule_does_not_fit(c):
    code, said = c("run", *files_of(c.folder), "-o", "p", "--ranks", 8, "--device", "cpu", "--steps", 5)
    expect(code == 0 or ("E630" in said and "constrain" in said), said)
    return "E630 names the constraints" if code else "runs"


# --- inputs


@case("inputs/01-vdwtype-switch-advice")
def switch_is_not_called_force_switch(c):
    code, said = c("check", *files_of(c.folder))
    expect(code == 0 or "potential-switch" in said.lower(), said)
    return "taken" if code == 0 else "told of potential-switch"


@case("inputs/02-trailing-hash-in-topology")
def a_hash_behind_numbers_is_a_remark(c):
    code, said = c("check", *files_of(c.folder))
    expect(code == 0, said)
    return "taken"


@case("inputs/05-disre-simple-without-restraints")
def restraints_without_any_are_taken(c):
    code, said = c("check", *files_of(c.folder))
    expect(code == 0, said)
    return "taken"


@case("inputs/06-steep-dt-0")
def a_minimisation_needs_no_time_step(c):
    code, said = c("check", *files_of(c.folder))
    expect(code == 0, said)
    return "taken"


@case("inputs/12-energygrps-quiet")
def missing_terms_of_energy_groups_are_told(c):
    code, said = c("check", *files_of(c.folder))
    expect("energygrps" in said and "ETH-SOL" in said, said)
    return "told"


@case("inputs/13-short-run-absurd-drift")
def a_short_run_is_not_called_absurd(c):
    code, said = c.run("--steps", 50)
    expect("drifts" not in said, said)
    return "nothing said"


for name, words in {"04-charmmgui-dihres": "dihedral.restraints", "07-periodic-molecules": "periodic-molecules", "08-restricted-bending": "angle",
                    "09-elastic-bond6": "bond", "11-martini-vsites": "virtual.sites"}.items():

    @case(f"inputs/{name}")
    def what_is_not_there_yet_is_named(c, words=words):
        code, said = c("check", *files_of(c.folder))
        expect(code == 0 or (code == 4 and re.search(words, said)), said)
        return "taken" if code == 0 else "refused by name"


# --- network


@case("network/08-fourierspacing-overflow")
def a_mesh_that_cannot_be_is_refused(c):
    code, said = c("run", "-q", "--new", "-o", "fs", "--threads", 1, "--device", "cpu", *files_of(c.folder))
    expect(code == 4, said)
    return re.search(r"E\d+", said)[0]


@case("network/09-prime-mesh-slow")
def a_prime_mesh_is_told(c):
    for key in ("fourier-nx", "fourier-ny", "fourier-nz"):
        c("--version", **{key: 101})
    code, said = c("check", *files_of(c.folder))
    expect(code == 0 and "101" in said and re.search(r"\b10[2-9]|1[12]\d\b", said), said)
    return "told"


@case("network/06-second-run-removes-secret")
def a_second_start_leaves_the_secret(c):
    said = script(c)
    expect("rank 1 of A: rc 0" in said, said)
    return "both ranks end well"


@case("network/10-listens-on-all-interfaces")
def an_unknown_host_is_no_reason_to_listen_everywhere(c):
    said = script(c)
    expect("0.0.0.0:27111" not in said and "*:27111" not in said, said)
    return "refused"


@case("network/02-relay-without-secret")
def a_relay_without_the_secret_changes_nothing(c):
    said = script(c, "run.sh", ["unshare", "-m"])
    refuses = "rank 0 rc 6" in said and "rank 1 rc 6" in said
    expect(refuses or "att.gro same" in said, said)
    return "refused" if refuses else "same trajectory"


@case("network/01-stopped-rank-hangs-mpi-put")
def a_stopped_rank_ends_the_run(c):
    found = subprocess.run([sys.executable, "stop.py", "m", "mpi-put", "1"], cwd=c.folder, env=environment(c), capture_output=True, text=True, timeout=120)
    expect("hang" not in found.stdout.lower(), found.stdout + found.stderr)
    return found.stdout.strip().splitlines()[-1] if found.stdout.strip() else "ended"


def environment(c, **more):
    cases = c.source.parents[1]
    return dict(os.environ, PROG=c.program, PH=c.program, CASES=str(cases), **more)


def script(c, name="repeat.sh", before=()):
    shutil.copytree(c.source.parent / "w4", c.folder.parent / "w4", dirs_exist_ok=True)
    result = subprocess.run([*before, "bash", name], cwd=c.folder, env=environment(c), capture_output=True, text=True, timeout=180)
    return result.stdout + result.stderr


# --- the C interface of the communication library


def built(c, source):
    """Compiles a program against the installed library."""
    libraries = next(c.prefix.rglob("libparhelion_comm_c.so")).parent
    target = c.folder / Path(source).stem
    words = ["gcc", "-O1", "-w", "-I", next(c.prefix.rglob("parhelion_comm.h")).parent, source, "-o", target, f"-L{libraries}", "-lparhelion_comm_c", f"-Wl,-rpath,{libraries}", "-lpthread", "-lm"]
    subprocess.run(list(map(str, words)), cwd=c.folder, check=True)
    return target


def said_by(c, source, *words, seconds=120):
    result = subprocess.run([str(built(c, source)), *map(str, words)], cwd=c.folder, capture_output=True, text=True, timeout=seconds)
    return result.returncode, result.stdout + result.stderr


@case("library/01-release-foreign", library=True)
def memory_of_others_is_not_released(c):
    code, said = said_by(c, "rel.c")
    expect(code >= 0 and "release of malloc'd memory -> 0" not in said and not re.search(r"-> 0: \S+ outside the arena", said), said)
    expect("-> 25: " in said, said)  # all of the arena was given
    code, said = said_by(c, "md2.c")
    expect(code >= 0 and not re.search(r"release of malloc'd memory: 0", said), said)
    return "an error, nothing changed"


@case("library/02-pready-range-marks", library=True)
def an_illegal_range_marks_nothing(c):
    code, said = said_by(c, "a.c")
    expect(code == 0 and "afterwards" not in said, said)
    return "every partition can be marked afterwards"


@case("library/04-freed-collectives-leak", library=True, long=True)
def freed_collectives_give_everything_back(c):
    for kind, floats in ((0, 1 << 20), (0, 64), (1, 1 << 16)):
        code, said = said_by(c, "leak.c", kind, floats)
        # On a slow machine the other rank is the first whose 25 s are over; slots were there for 16384.
        late = re.search(r"number (\d+) -> 21 .*returned 1", said)
        expect("fine" in said or late and int(late[1]) > 20000, said)
    return "fine"


@case("library/05-run-succeeds-after-failed-wait", library=True)
def a_failed_wait_is_the_error_of_the_run(c):
    code, said = said_by(c, "thr2.c")
    expect("success" not in said and re.search(r"ph_run: [1-9]", said), said)
    return said.strip().splitlines()[-1]


@case("library/06-unmatched-requests", library=True)
def requests_without_a_partner_cost_nothing(c):
    us = [float(re.search(r"best ([\d.]+) us", said_by(c, "a.c", n)[1])[1]) for n in (10, 4000)]
    expect(us[1] < 3 * us[0] + 1, us)
    return f"{us[0]:.2f} us beside ten, {us[1]:.2f} beside 4000"


@case("library/08-exit-zero", library=True)
def a_rank_that_exits_waits_for_the_others(c):
    code, said = said_by(c, "a.c")
    expect("rank 1 has done its part" in said, f"exit code {code}: {said}")
    return "rank 1 has done its part"


@case("library/09-null-and-release", library=True)
def null_is_an_error(c):
    for source in ("a.c", "nb.c"):
        code, said = said_by(c, source)
        expect(code >= 0, f"{source} ended by signal {-code}: {said}")
    return "no crash"


@case("library/r12-c-mismatched-reduction", library=True)
def different_operations_are_an_error_on_all(c):
    code, said = said_by(c, "t.c", "mismatch_red", 0, 5)
    expect(said.count("ph_wait(r) -> 6: ") == 2 and "rank 0 for all-reduce by max" in said and "rank 1 for all-reduce by sum" in said, said)
    return "refused"


@case("library/r04-c-freed-and-null", library=True)
def freed_handles_are_errors(c):
    for name in "uaf_request double_free null_rank null_ranks null_barrier null_alloc_comm null_alloc_out null_release_comm null_parrived null_test release_bad release_active".split():
        code, said = said_by(c, "t.c", name, 0, 3)
        expect(code >= 0, f"{name} ended by signal {-code}: {said}")
    return "no crash"


@case("library/r03-c-sizes-and-release", library=True)
def sizes_that_overflow_are_errors(c):
    for name in ("alloc", "recv0", "recvwrap", "foreign2", "undersize"):
        code, said = said_by(c, "o.c", name)
        expect(code >= 0 and "is the first" not in said, f"{name}, exit code {code}: {said}")
    return "no crash"


@case("library/r05-c-collective-free-leaks", library=True, long=True)
def cycles_of_collectives_do_not_grow(c):
    for name in ("cycles", "cycles_used", "cycles_p2p"):
        code, said = said_by(c, "t.c", name, 0, 20)
        expect(code == 0, f"{name}, exit code {code}: {said}")
    return "no end"


@case("library/03-find-package-c-only", library=True)
def a_project_in_c_alone_links(c):
    shutil.copy(Path(__file__).resolve().parents[1] / "src" / "comm" / "example" / "sum.c", c.folder.parent)
    for words in (["cmake", "-S", ".", "-B", "b", f"-DCMAKE_PREFIX_PATH={c.prefix}"], ["cmake", "--build", "b"]):
        result = subprocess.run(words, cwd=c.folder, capture_output=True, text=True)
        expect(result.returncode == 0, result.stdout + result.stderr)
    return "links"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--library", type=Path, metavar="PREFIX", help="where the communication library is installed")
    parser.add_argument("--long", action="store_true", help="also cases that take minutes")
    parser.add_argument("--only", default="", metavar="PATTERN", help="cases whose folder has this")
    parser.add_argument("--keep", type=Path, help="a folder for what runs write, kept")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        for number, (folder, check, long, library) in enumerate(CASES):
            if options.only not in folder or (long and not options.long) or (library and not options.library):
                continue
            try:
                where = (options.keep or Path(scratch)) / str(number)
                result = check(Case(str(options.program.resolve()), (options.cases / folder).resolve(), where, options.library and options.library.resolve()))
                print(f"right  {folder}: {check.__name__.replace('_', ' ')}: {result}", flush=True)
            except Exception as error:
                wrong += 1
                text = str(error) if isinstance(error, AssertionError) else traceback.format_exc()
                print(f"WRONG  {folder}: {check.__name__.replace('_', ' ')}:\n       " + text.replace("\n", "\n       "), flush=True)
    print(f"{wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
