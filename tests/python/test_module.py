# SPDX-License-Identifier: Apache-2.0
"""The Python module: the bits of the program, callbacks, threads, interruptions, and that no wrong use ends the process."""
import concurrent.futures
import contextlib
import gc
import logging
import os
import pickle
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import MDAnalysis
import numpy as np
import pandas
import parhelion as ph
import pytest

from runs import DATA, RUN, folder_with, missing, run as run_program
from simulation import ARGON, argon

CYCLES = int(os.environ.get("PARHELION_TEST_CYCLES", 300))
FILES = {"gro": DATA / "conf.gro", "top": DATA / "topol.top"}
ONE = {"threads": 1, "reproducible": True}


@pytest.fixture()
def etoh(tmp_path, monkeypatch):
    """3000 atoms of ethanol and water: md.mdp of runs.RUN in the current folder."""
    monkeypatch.chdir(folder_with(RUN, tmp_path))
    return ph.load(**FILES)


def small_argon(folder):
    """256 atoms in a fluid, whose steps take a millisecond."""
    folder.mkdir(exist_ok=True)
    box = argon(folder)
    mdp = {"integrator": "md", "ld-seed": 1, "nsteps": 100, **ARGON}
    (folder / "argon.mdp").write_text("".join(f"{key} = {value}\n" for key, value in mdp.items()))
    return folder / "argon.mdp", box.structure, box.topology


@pytest.fixture()
def few(tmp_path):
    return ph.load(*small_argon(tmp_path))


def same(a, b):
    """Two states, bit for bit."""
    return (a.step == b.step and a.positions.tobytes() == b.positions.tobytes() and a.velocities.tobytes() == b.velocities.tobytes()
            and a.box.tobytes() == b.box.tobytes() and a.energies == b.energies)


# --- the program's bits

def test_a_run_leaves_the_files_of_the_program(etoh, tmp_path):
    program = folder_with(RUN, tmp_path / "program")
    run_program(program, "-q", "--threads", 1, "--device", "cpu", "--steps", 100)
    result = ph.run(**FILES, steps=100, **ONE)
    assert (result.reached, result.stopped, result.was_complete) == (100, False, False)
    for ending in (".xtc", ".trr", ".edr", ".gro"):
        assert (tmp_path / f"md{ending}").read_bytes() == (program / f"md{ending}").read_bytes(), ending
    assert ph.run(**FILES, steps=100, **ONE).was_complete
    assert result.report["steps"] == 100 and 250 < result.energies["Temperature"]["mean"] < 350
    assert result.universe().trajectory.n_frames == result.mdtraj().n_frames == 11


def test_a_simulation_has_the_bits_of_the_program(etoh, tmp_path):
    run_program(tmp_path, "-q", "--threads", 1, "--device", "cpu", "--steps", 100)
    with ph.Simulation(etoh, **ONE) as ours, ph.Simulation(etoh, **ONE) as program:
        ours.every(7, lambda state: None, forces=True)
        ours.run(41)
        ours.run(59)
        program.restore("md.cpt")
        a, b = ours.state, program.state
    assert a.step == b.step == 100
    assert a.positions.tobytes() == b.positions.tobytes() and a.velocities.tobytes() == b.velocities.tobytes()


def test_two_in_two_threads_have_the_bits_of_one_alone(etoh):
    def simulate(ranks):
        with ph.Simulation(etoh, ranks=ranks, **ONE) as simulation:
            simulation.run(60)
            return simulation.state

    alone = simulate(1)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for state in pool.map(simulate, [1, 2, 1]):
            assert same(state, alone)


def test_checkpoints_are_those_of_the_program(etoh, tmp_path):
    with ph.Simulation(etoh, **ONE) as whole:
        whole.run(100)
        with ph.Simulation(etoh, **ONE) as part:
            part.run(40)
            part.save("md.cpt")
        result = ph.run(**FILES, steps=100, **ONE)  # goes on from it
        assert result.report["steps"] < 100
        with ph.Simulation(etoh, **ONE) as end:
            end.restore(tmp_path / "md.cpt")
            assert end.step == 100 and end.state.positions.tobytes() == whole.state.positions.tobytes()
            with pytest.raises(ph.InputError) as error:
                end.restore("nowhere.cpt")
            assert error.value.id == "E110"
            with pytest.raises(ValueError, match=r"\.cpt"):
                end.save("md.txt")


# --- input

def test_a_system_tells_what_was_read(etoh):
    assert len(etoh) == 3000 and etoh.positions.shape == (3000, 3) and etoh.box.shape == (3, 3)
    assert etoh.parameters["tcoupl"] == "V-rescale" or "rescale" in etoh.parameters["tcoupl"].lower()
    reference = MDAnalysis.Universe(str(DATA / "conf.gro"))
    np.testing.assert_allclose(etoh.positions, reference.atoms.positions / 10, atol=1e-6)
    table = pandas.DataFrame(etoh.atoms)
    assert len(table) == 3000 and list(table["name"]) == list(reference.atoms.names)
    assert list(table["residue"]) == [atom.resname[:4] for atom in reference.atoms] or table["residue"].nunique() == 2
    assert table["residue_index"].nunique() == table["molecule_index"].nunique() == 800
    assert abs(etoh.charges.sum()) < 1e-6
    assert etoh.masses[etoh.atoms["molecule"] == "SOL"].sum() == pytest.approx(700 * 18.0154, rel=1e-4)
    assert len(etoh.constraints.atoms) == 700 * 3 + 100 * 6 and etoh.constraints.parameters.shape == (2700, 1)
    assert len(etoh.bonds) == 700 * 2 + 100 * 8
    assert etoh.terms["angle"].atoms.shape[1] == 3 and etoh.terms["angle"].atoms.max() < 3000


def test_other_packages_get_a_system_and_a_state(etoh):
    with ph.Simulation(etoh, **ONE) as simulation:
        simulation.run(5)
        state = simulation.state
    for universe, here in ((etoh.universe(), etoh), (etoh.universe(state), state)):
        np.testing.assert_allclose(universe.atoms.positions, 10 * here.positions, atol=1e-5)
        assert universe.select_atoms("resname SOL").n_residues == 700 and len(universe.atoms[0].fragment) == 9
    for trajectory, here in ((etoh.mdtraj(), etoh), (etoh.mdtraj(state), state)):
        np.testing.assert_allclose(trajectory.xyz[0], here.positions, atol=1e-6)
        assert trajectory.topology.n_residues == 800 and trajectory.topology.n_bonds == len(etoh.bonds)
        assert {atom.element.symbol for atom in trajectory.topology.atoms} == {"C", "H", "O"}


def test_a_run_input_file_is_the_input_that_grompp_read(etoh, tmp_path):
    if shutil.which("gmx_d") is None:
        missing("gmx_d")
    subprocess.run(["gmx_d", "-quiet", "grompp", "-c", DATA / "conf.gro", "-p", DATA / "topol.top", "-f", "md.mdp", "-o", "topol.tpr", "-maxwarn", "9"],
                   check=True, capture_output=True)
    system = ph.load("topol.tpr")
    assert system.positions.tobytes() == etoh.positions.tobytes() and system.velocities.tobytes() == etoh.velocities.tobytes()
    assert system.parameters["tau-t"] == etoh.parameters["tau-t"] and list(system.atoms["name"]) == list(etoh.atoms["name"])
    subprocess.run([os.environ["PARHELION_PROGRAM"], "energy", "-s", "topol.tpr", "--reproducible", "--device", "cpu"], check=True, capture_output=True)
    with ph.Simulation(system, **ONE) as simulation:
        assert simulation.energies_and_forces().forces.tobytes() == np.load("md.forces.npy").tobytes()
    result = ph.run(tmp_path / "topol.tpr", steps=10, rst7=True, **ONE)
    assert result.reached == 10 and (tmp_path / "md.rst7").stat().st_size > 3000 * 6 * 8 and "topol.tpr" in (tmp_path / "md.log").read_text()
    for beside in ({"gro": DATA / "conf.gro"}, {"top": DATA / "topol.top"}, {"include": ["."]}, {"reference": "conf.gro"}, {"index": "index.ndx"}):
        with pytest.raises(TypeError, match=next(iter(beside))):
            ph.load("topol.tpr", **beside)


def test_errors_and_warnings_have_ids(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(folder_with(RUN + "tau_tt = 1\n", tmp_path))
    with pytest.raises(ph.InputError) as error:
        ph.load(**FILES)
    assert (error.value.id, error.value.line) == ("E104", len(RUN.splitlines()) + 1) and "md.mdp" in error.value.file
    assert pickle.loads(pickle.dumps(error.value)).id == "E104"
    folder_with(RUN.replace("v-rescale", "berendsen"), tmp_path)
    for read in (lambda: ph.load(**FILES), lambda: ph.run(**FILES, steps=0)):
        with pytest.warns(ph.InputWarning, match="W117") as found, pytest.raises(ph.InputError, match="E001"):
            read()
        assert found[0].message.id == "W117"
    caplog.set_level(logging.INFO, "parhelion")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(ph.load(**FILES, allow=["W117"])) == 3000
    assert "W117" in caplog.text and "(allowed)" in caplog.text
    with pytest.raises(ph.InputError, match="E110"):
        ph.load("nowhere.mdp", **FILES)


def test_a_changed_system_is_the_start_of_the_next_simulation(few):
    moved = few.positions + [0.1, 0, 0]
    with pytest.raises(ValueError, match="read-only"):
        few.positions[0] = 0
    few.positions = moved
    few.velocities = np.zeros_like(moved)
    few.box = [2.5, 2.5, 2.5]
    with ph.Simulation(few, threads=1) as simulation:
        assert np.allclose(simulation.state.box, np.diag([2.5] * 3))
    for wrong in (moved[:-1], moved[:, :2], moved * np.nan, moved * 1e9, "words", None):
        with pytest.raises((ValueError, TypeError)):
            few.positions = wrong
    for wrong in ([0, 2, 2], [[2, 0, 0], [1.9, 2, 0], [0, 0, 2]], np.eye(2), [np.inf] * 3):
        with pytest.raises(ValueError):
            few.box = wrong
    few.box = [1, 1, 1]
    with pytest.raises(ph.InputError, match="E152"):
        ph.Simulation(few, threads=1)


# --- single points

def test_energies_and_forces_are_those_of_the_program(etoh, tmp_path):
    subprocess.run([os.environ["PARHELION_PROGRAM"], "energy", "-c", DATA / "conf.gro", "-p", DATA / "topol.top", "--reproducible", "--device",
                    "cpu"], check=True, capture_output=True)
    with ph.Simulation(etoh, **ONE) as simulation:
        here, there = simulation.energies_and_forces(), simulation.energies_and_forces(etoh.positions)
    assert np.load("md.forces.npy").tobytes() == here.forces.tobytes() == there.forces.tobytes()
    assert here.energies["Potential"] == there.energies["Potential"]


def test_forces_are_the_slope_of_the_energy(few):
    with ph.Simulation(few, threads=1, precision="double") as simulation:
        x = few.positions + np.random.default_rng(1).normal(scale=0.01, size=few.positions.shape)
        forces, h = simulation.energies_and_forces(x).forces, 1e-5
        for atom, axis in ((0, 0), (100, 1), (255, 2)):
            ends = []
            for sign in (1, -1):
                y = x.copy()
                y[atom, axis] += sign * h
                ends.append(simulation.energies_and_forces(y).energies["Potential"])
            assert -(ends[0] - ends[1]) / (2 * h) == pytest.approx(forces[atom, axis], rel=1e-5, abs=1e-4)


def test_wrong_arguments_are_errors(few):
    with ph.Simulation(few, threads=1) as simulation:
        for wrong in (few.positions[1:], few.positions[:, :1], np.zeros(3), few.positions * np.nan, "x", object(), [[1, 2], [3]]):
            with pytest.raises((ValueError, TypeError)):
                simulation.energies_and_forces(wrong)
        crowded = few.positions.copy()
        crowded[-1] = crowded[0]  # of another molecule: a pair that interacts
        with pytest.raises(ph.InputError, match="E155"):
            simulation.energies_and_forces(crowded)
        with pytest.raises(ph.InputError, match="E152"):
            simulation.energies_and_forces(few.positions, [1, 1, 1])
        for call in (lambda: simulation.run(-1), lambda: simulation.every(0, print), lambda: simulation.run("x"),
                     lambda: simulation.run(1.5)):
            with pytest.raises((ValueError, TypeError)):
                call()
        assert simulation.run(2).steps == 2  # as good as before
    for options in ({"device": "abacus"}, {"threads": -1}, {"threads": "two"}, {"grid": (2, 2)}, {"grid": (0, 1, 1)}, {"halo": "x"},
                    {"pme": "dedicated"}, {"pme": "bricks:2"}, {"precision": "half"}, {"comm_timeout": 0}, {"colour": "red"},
                    {"grid": (2, 1, 1), "ranks": 3}):
        with pytest.raises((ValueError, TypeError)):
            ph.Simulation(few, **options)
    for options in ({"steps": 1, "ns": 1}, {"prefix": ""}, {"hours": -1}, {"colour": "red"}):
        with pytest.raises((ValueError, TypeError)):
            ph.run(**options)
    if not ph.built_with_cuda():
        with pytest.raises(ph.InputError, match="E002.*built without CUDA"):
            ph.Simulation(few, device="gpu")


# --- callbacks

def test_callbacks_come_at_their_steps_once_each(few):
    heard = {4: [], 6: []}
    with ph.Simulation(few, threads=1) as simulation:
        simulation.every(4, lambda state: heard[4].append((state.step, state.forces is None)))

        @simulation.every(6, forces=True)
        def six(state):
            heard[6].append((state.step, state.forces.shape))

        simulation.run(12)
        simulation.run(7)
        state = simulation.state
    assert [step for step, _ in heard[4]] == [0, 4, 8, 12, 16]
    assert heard[6] == [(step, (256, 3)) for step in (0, 6, 12, 18)]
    assert state.step == 19 and state.time == pytest.approx(19 * 0.004)
    gc.collect()
    assert np.isfinite(state.positions).all()  # of an object that outlives its simulation


@pytest.mark.parametrize("integrator", ["steep", "cg", "l-bfgs"])
def test_a_minimisation_calls_at_about_every_nth_point(integrator, tmp_path):
    """Steps are evaluations, and steps at which the energy rises are not told."""
    mdp, gro, top = small_argon(tmp_path)
    mdp.write_text(mdp.read_text().replace("integrator = md", f"integrator = {integrator}\nemtol = 1e-3"))
    heard = {1: [], 4: [], 6: []}
    with ph.Simulation(ph.load(mdp, gro, top), threads=1) as simulation:
        simulation.every(1, lambda state: heard[1].append(state.step))
        simulation.every(4, lambda state: heard[4].append(state.step))
        simulation.every(6, lambda state: heard[6].append((state.step, state.forces.shape)), forces=True)
        simulation.run(24)
        simulation.run(24)
    assert heard[1] == sorted(set(heard[1])) and len(heard[1]) > 8
    steps = {4: heard[4], 6: [step for step, _ in heard[6]]}
    for every, called in steps.items():  # at the first point of each interval that has one
        assert called == [min(step for step in heard[1] if step // every == n) for n in sorted({step // every for step in heard[1]})]


def test_what_a_callback_raises_ends_the_run_and_the_simulation_goes_on(etoh):
    class Mine(Exception):
        pass

    calls = []

    def fail(state):
        calls.append(state.step)
        if state.step == 20:
            raise Mine("at 20")

    for ranks in (1, 2):
        calls.clear()
        with ph.Simulation(etoh, ranks=ranks, **ONE) as simulation:
            simulation.every(10, fail)
            with pytest.raises(Mine, match="at 20"):
                simulation.run(100000)
            assert calls == [0, 10, 20] and 20 <= simulation.step < 100000
            assert simulation.run(1).steps == 1
    for hear in ("on_frame", "on_energies", "on_progress"):
        def raise_mine(*_):
            raise Mine(hear)

        with pytest.raises(Mine, match=hear):
            ph.run(**FILES, steps=100000, prefix=hear, **{hear: raise_mine}, **ONE)
        assert os.path.exists(f"{hear}.cpt")


def test_a_run_tells_frames_energies_and_progress(etoh):
    frames, energies, progress = [], [], []
    ph.run(**FILES, steps=40, on_frame=lambda state: frames.append((state.step, state.positions.shape)),
           on_energies=lambda state: energies.append((state.step, state.energies["Potential"], state.positions)),
           on_progress=lambda done, total: progress.append((done, total)), **ONE)
    assert frames[:2] == [(0, (3000, 3)), (10, (3000, 3))] and energies[0][2] is None
    assert {0, 5, 10, 40} <= {step for step, _, _ in energies} and all(potential < 0 for _, potential, _ in energies)
    assert progress[-1] == (40, 40)


def test_reporters_write_tables_and_trajectories(few, tmp_path):
    with ph.Simulation(few, threads=1) as simulation, ph.Table(tmp_path / "t.csv") as table:
        with ph.Trajectory(tmp_path / "t.xtc") as xtc, ph.Trajectory(tmp_path / "t.trr") as trr:
            for reporter in (table, xtc, trr):
                simulation.every(10, reporter)
            simulation.run(30)
        state = simulation.state
        with pytest.raises(RuntimeError, match="closed"):
            xtc(state)
    lines = pandas.read_csv(tmp_path / "t.csv")
    assert list(lines["Step"]) == [0, 10, 20, 30] and lines["Potential (kJ/mol)"].iloc[-1] == pytest.approx(state.energies["Potential"])
    for name, error in (("t.xtc", 1e-2), ("t.trr", 1e-5)):
        frames = MDAnalysis.Universe(str(tmp_path / "argon.gro"), str(tmp_path / name)).trajectory
        assert frames.n_frames == 4
        np.testing.assert_allclose(frames[3].positions, 10 * state.positions, atol=error)
    with pytest.raises(ValueError, match="xtc"):
        ph.Trajectory("t.pdb")
    with ph.Simulation(few, threads=1) as simulation, ph.Table(tmp_path / "t.csv", terms=["No such term"]) as table:
        simulation.every(1, table)
        with pytest.raises(KeyError):
            simulation.run(1)


# --- stopping, waiting, other threads

def test_a_run_goes_on_beside_python_and_stops(few):
    with ph.Simulation(few, threads=1) as simulation:
        task = simulation.start(10**12)
        with pytest.raises(concurrent.futures.TimeoutError):
            task.result(timeout=0.2)
        for call in (lambda: simulation.run(1), lambda: simulation.state, simulation.energies_and_forces, lambda: simulation.step):
            with pytest.raises(RuntimeError, match="at work"):
                call()
        begin, turns = time.monotonic(), 0
        while time.monotonic() - begin < 0.1:  # the GIL is free
            turns += 1
        assert turns > 100
        simulation.stop()
        summary = task.result(timeout=60)
        assert summary.stopped and simulation.step == summary.steps > 0
        threading.Timer(0.1, simulation.stop).start()
        assert simulation.run(10**12).stopped
        simulation.start(10**12)
    with pytest.raises(RuntimeError, match="closed"):
        simulation.run(1)


def test_a_callback_can_stop_the_run_and_cannot_ask_the_simulation(few):
    refused = []
    with ph.Simulation(few, threads=1) as simulation:
        def look(state):
            with pytest.raises(RuntimeError, match="at work"):
                simulation.energies_and_forces()
            refused.append(state.step)
            simulation.stop()

        simulation.every(5, look)
        assert simulation.run(10**9).stopped and refused[0] == 0


def script(text, *, code=0, **environment):
    """A process of its own; its output."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, **environment})
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("start", ["simulation.run(10**12)", "ph.run(*files, prefix='long', steps=10**12, threads=1)"])
def test_an_interrupt_from_the_keyboard_ends_a_run(few, tmp_path, start):
    begun = "long.status.json" if "long" in start else "argon.mdp"  # a file that is there once the run has begun
    output = script(f"""
        import os, signal, threading, time
        import parhelion as ph
        files = {[str(tmp_path / name) for name in ("argon.mdp", "argon.gro", "argon.top")]}
        os.chdir({str(tmp_path)!r})
        simulation = ph.Simulation(ph.load(*files), threads=1)
        def interrupt():
            while not os.path.exists({begun!r}):
                time.sleep(0.01)
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        try:
            {start}
        except KeyboardInterrupt:
            print("interrupted", simulation.run(3).steps)
        """)
    assert output == "interrupted 3\n"
    assert "long" not in start or (tmp_path / "long.cpt").exists()


def test_a_process_may_end_while_its_simulations_run(few, tmp_path):
    files = [str(tmp_path / name) for name in ("argon.mdp", "argon.gro", "argon.top")]
    assert script(f"""
        import parhelion as ph
        simulation = ph.Simulation(ph.load(*{files}), threads=2)
        task = simulation.start(10**12)
        print("over")
        """) == "over\n"


def test_a_forked_process_cannot_use_a_simulation_and_may_make_its_own(few, tmp_path):
    files = [str(tmp_path / name) for name in ("argon.mdp", "argon.gro", "argon.top")]
    assert script(f"""
        import os
        import parhelion as ph
        system = ph.load(*{files})
        simulation = ph.Simulation(system, threads=2)
        simulation.run(5)
        child = os.fork()
        if child == 0:
            try:
                simulation.run(5)
            except RuntimeError as error:
                simulation.close()
                with ph.Simulation(system, threads=2) as own:
                    own.run(5)
                os._exit(7 if "forked" in str(error) else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), simulation.run(5).steps)
        """) == "7 5\n"


def test_a_blow_up_is_an_error_and_ends_the_simulation(few):
    positions = few.positions.copy()
    positions[1] = positions[0] + [0.03, 0, 0]
    few.positions = positions
    simulation = ph.Simulation(few, threads=1)
    with pytest.raises(ph.PhysicsError) as error:
        simulation.run(1000)
    assert error.value.step >= 0 and simulation.last_good().positions.shape == (256, 3)
    for call in (lambda: simulation.run(1), lambda: simulation.state):
        with pytest.raises(RuntimeError, match="make another"):
            call()
    simulation.close()


# --- memory

def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_simulations_leave_nothing_behind(few):
    def cycle():
        simulation = ph.Simulation(few, threads=2)
        simulation.every(1, lambda state: state.positions.sum())
        simulation.add_force(lambda x, box, time: (0, 0 * x))
        simulation.run(2)
        simulation.energies_and_forces(few.positions)
        return simulation.state.positions

    for _ in range(30):
        cycle()
    gc.collect()
    before, threads, files = resident(), threading.active_count(), len(os.listdir("/proc/self/fd"))
    for _ in range(CYCLES):
        cycle()
    gc.collect()
    assert threading.active_count() == threads and len(os.listdir("/proc/self/fd")) == files
    # A cycle that lost an array of its atoms would lose 6 kB, hence 2 MB of 300.
    assert resident() - before < 1_500_000 * max(1, CYCLES / 1000)


def test_runs_leave_nothing_behind(few, tmp_path):
    files = small_argon(tmp_path)
    for repeat in range(30):
        ph.run(*files, prefix=tmp_path / "md", steps=2, threads=1, fresh=True)
        if repeat == 10:
            before = resident()
        for path in tmp_path.glob("*md.*"):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
    assert resident() - before < 1_000_000


def test_signals_are_left_alone(few):
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP)}
    with ph.Simulation(few, threads=1) as simulation:
        simulation.run(2)
    assert {number: signal.getsignal(number) for number in before} == before
