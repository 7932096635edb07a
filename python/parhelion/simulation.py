# SPDX-License-Identifier: Apache-2.0
"""A simulation that is advanced, looked at and asked from Python."""
import math
import os
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar, Unpack

import numpy.typing as npt

from . import _core
from ._forces import Force, answer_of, indices
from ._input import LOG
from ._placement import PlacementOptions, placement_of
from ._task import Task
from .system import Floats, System, matrix, vectors

__all__ = ["RunSummary", "Simulation"]

Callback = Callable[[_core.State], Any]
C = TypeVar("C", bound=Callback)
F = TypeVar("F", bound=Force)
T = TypeVar("T")


@dataclass(frozen=True)
class RunSummary:
    """How a call of Simulation.run() has ended."""

    steps: int  # taken
    stopped: bool  # early
    wall_s: float
    us_per_step: float  # of the steady part, which leaves out the first tenth
    ns_per_day: float  # likewise
    drift: float  # of the conserved energy, kT per ns per atom; not a number if there are too few energies
    converged: bool  # of a minimisation
    largest_force: float  # likewise, kJ/mol/nm


class _Reporter(NamedTuple):
    every: int
    call: Callback
    forces: bool


class Simulation:
    """A system that is simulated, on CPUs or GPUs, without files. A context manager: its end gives back memory and threads.

    system: what load() returned; it is copied. Options say how exactly and where (PlacementOptions): device, gpus, ranks, threads,
    grid, halo, pme, dlb, precision, reproducible, comm_timeout. Raises InputError for what the engine cannot do, SystemError.

    The .mdp says everything of the physics. Its output intervals serve run() of this module; here callbacks and reporters take their
    place. Steps and bits are those of the program: with reproducible=True always, else with as many threads and one call of run().

    A simulation does one thing at a time: a call while it runs is a RuntimeError, as is any call after an error has ended it, after
    close(), and in a process that was forked. Several simulations run side by side, in threads, too.

    >>> with Simulation(load(), threads=1, reproducible=True) as simulation:
    ...     summary = simulation.run(20)
    ...     print(simulation.step, simulation.state.positions.shape)
    20 (3000, 3)
    """

    def __init__(self, system: System, **options: Unpack[PlacementOptions]) -> None:
        self._core: _core.Session | None = _core.Session(system._core, placement_of(options))
        self._size = len(system)
        self._minimises = system.parameters["integrator"] in ("steep", "cg", "l-bfgs")
        self._forces: list[Force] = []
        self._failed: list[BaseException] = []  # what a force or a reporter has raised
        self._reporters: list[_Reporter] = []
        self._told = -1  # the last step that reporters have been told
        self._task: Task[RunSummary] | None = None  # the latest run
        self._state: _core.State | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stops a run that is under way, and gives back memory and threads. States and arrays stay."""
        if self._task is not None:
            self._task.finish()
        self._core = self._task = self._state = None

    @property
    def step(self) -> int:
        """The step that has been reached."""
        return self._open().step

    @property
    def plan(self) -> dict[str, Any]:
        """What the engine has chosen: device, gpus, ranks, threads, grid, list_interval, seed and more."""
        return self._open().plan

    def every(self, steps: int, call: C | None = None, *, forces: bool = False) -> Any:
        """Calls call(state) from now on at each step of a run that is a multiple of `steps`, once for each step; forces: state.forces is
        there. Without `call` it is a decorator. Returns `call`.

        It is called from a thread of the engine, which waits. An exception ends the run, a second and a step later at most, and is
        raised by run(); the simulation is whole and may go on.

        In a minimisation it is called at points that the minimiser goes on from: at the first one, and then at about every n-th.

        >>> with Simulation(load(), threads=1) as simulation:
        ...     @simulation.every(10)
        ...     def look(state):
        ...         print(state.step, sorted(state.energies)[0])
        ...     summary = simulation.run(20)
        0 Angle
        10 Angle
        20 Angle
        """
        if steps < 1:
            raise ValueError("steps is 1 or more")
        if call is None:
            return lambda decorated: self.every(steps, decorated, forces=forces)
        self._reporters.append(_Reporter(steps, call, forces))
        return call

    def add_force(self, function: F, atoms: npt.ArrayLike | None = None) -> F:
        """From now on also function(positions, box, time) acts, in every step: a bias, a restraint, a learned potential. It returns
        (energy, forces) or (energy, forces, virial). Returns `function`, so that it can be a decorator.

        positions: shape (M, 3), in nm, of `atoms` in their order (default: all), an array of its own. As in State.positions molecules are
        whole, with their first atom in the box; minimum_image() makes distances between molecules. box: shape (3, 3), nm. time: ps.
        energy: kJ/mol, part of the potential; the sum of all functions is energies["External"]. forces: shape (M, 3), kJ/mol/nm.
        virial: -1/2 sum of r (x) f, shape (3, 3), kJ/mol, part of the pressure; without one the pressure knows nothing of the force.

        atoms: indices from 0. Raises InputError E636 on GPUs. A thread of the engine calls the function, and waits; for a step where a run
        ends or begins, or that is evaluated, more than once. What it raises ends the run before the step, and is raised by run(); so are
        ValueError and TypeError for an answer that is none. The simulation is then as it was, and may go on. Checkpoints know nothing of
        functions.

        >>> with Simulation(load(), threads=1) as simulation:
        ...     @simulation.add_force
        ...     def towards_the_middle(positions, box, time):
        ...         away = positions - box.diagonal() / 2
        ...         return 0.5 * (away**2).sum(), -away
        ...     summary = simulation.run(10)
        ...     print(simulation.state.energies["External"] > 0)
        True
        """
        core, number, me = self._open(), len(self._forces), weakref.ref(self)  # the engine holds neither the simulation nor the function

        def ask(positions: Floats, box: Floats, time: float) -> tuple[float, Floats, Floats] | None:
            simulation = me()
            if simulation is None:
                return None
            try:
                return answer_of(simulation._forces[number](positions, box, time), len(positions))
            except BaseException as error:
                simulation._failed.append(error)
                return None

        core.add_force(indices(atoms, self._size), ask)
        self._forces.append(function)
        self._state = None
        return function

    def run(self, steps: int | None = None) -> RunSummary:
        """Takes so many steps, or as many as nsteps says, and waits for them; other threads run meanwhile.

        KeyboardInterrupt ends it at a step, and is raised. Raises PhysicsError for a blow-up, SystemError, and what a callback raised.
        """
        return self.start(steps).wait()

    def start(self, steps: int | None = None) -> Task[RunSummary]:
        """The same without waiting: returns a Future of the summary, which has stop().

        >>> simulation = Simulation(load(), threads=1)
        >>> task = simulation.start(20)
        >>> task.result().steps
        20
        """
        core = self._open()
        if steps is not None and steps < 0:
            raise ValueError("steps is not negative")
        _ = core.step  # raises if this is no time to
        stop = _core.Stop()
        self._state = None
        self._task = Task(lambda: self._run(core, steps, stop), stop)
        return self._task

    def stop(self) -> None:
        """Ends a run that is under way within a second and a step; from any thread, or from a callback."""
        if self._task is not None:
            self._task.stop()

    @property
    def state(self) -> _core.State:
        """The present configuration with its energies; without forces."""
        if self._state is None:
            core = self._open()
            self._state = self._ask(core.look)
        return self._state

    def energies_and_forces(self, positions: npt.ArrayLike | None = None, box: npt.ArrayLike | None = None) -> _core.State:
        """One evaluation, which changes nothing: of the present configuration, or of given positions, shape (N, 3), in nm, in a box,
        shape (3, 3) or (3,), in nm (default: that of the system).

        Given positions are taken as they are: constraints act only on motion. Kinetic energy and pressure are then those of the
        system's velocities. Raises ValueError for wrong shapes and what is not finite, PhysicsError where a force is not finite,
        InputError E152 for a box that is too small, E155 for atoms in one place.

        >>> system = load()
        >>> with Simulation(system, threads=1) as simulation:
        ...     point = simulation.energies_and_forces(system.positions)
        ...     print(point.forces.shape, point.energies["Potential"] < 0)
        (3000, 3) True
        """
        core = self._open()
        if positions is None:
            if box is not None:
                raise ValueError("a box comes with positions")
            return self._ask(core.evaluate)
        given, edges = vectors(positions, "positions"), None if box is None else matrix(box)
        return self._ask(lambda: core.evaluate_at(given, edges))

    def last_good(self) -> _core.State:
        """After a PhysicsError: the configuration at the last rebuild of the pair list before it. Energies are not a number."""
        return self._open().last_good()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint, which restore() and `parhelion run` go on from, and `-t` starts from. Its name ends in .cpt; one that is
        there is kept as .prev.cpt. Raises SystemError."""
        self._open().save(_prefix(path))

    def restore(self, path: str | os.PathLike[str]) -> None:
        """Goes to the state of a checkpoint, of a simulation or of `parhelion run`, of the same input and precision. Goes on with the
        same bits if sums are reproducible, or with as many threads. Raises InputError E110, E190, E191."""
        core = self._open()
        if remark := self._ask(lambda: core.restore(_prefix(path))):
            LOG.warning("%s", remark)
        self._told = core.step
        self._state = None

    def _open(self) -> _core.Session:
        if self._core is None:
            raise RuntimeError("this simulation is closed")
        return self._core

    def _ask(self, work: Callable[[], T]) -> T:
        """What the engine answers, or what a function that it has called has raised."""
        self._failed.clear()
        try:
            result = work()
        except Exception:
            if not self._failed:
                raise
        if self._failed:
            raise self._failed.pop()  # no cycle of error, frame and list
        return result

    def _run(self, core: _core.Session, steps: int | None, stop: _core.Stop) -> RunSummary:
        def told(state: _core.State) -> None:
            if self._failed or state.step <= self._told:
                return
            before, self._told = self._told, state.step
            try:
                for reporter in self._reporters:
                    # The steps of a minimisation that are told may be no multiples: not every step is a point that it goes on from.
                    passes = self._minimises and state.step // reporter.every > before // reporter.every
                    if passes or state.step % reporter.every == 0:
                        reporter.call(state)
            except BaseException as error:
                self._failed.append(error)
                stop.set()

        every = math.gcd(*(reporter.every for reporter in self._reporters))
        forces = math.gcd(*(reporter.every for reporter in self._reporters if reporter.forces))
        if forces and self._minimises:
            forces = every  # any of the points that are told may be due
        return RunSummary(**self._ask(lambda: core.run(steps, every, forces, told, LOG.info, stop)))


def _prefix(path: str | os.PathLike[str]) -> str:
    name = os.fspath(path)
    if not name.endswith(".cpt") or name.endswith((os.sep + ".cpt", ".prev.cpt")) or name == ".cpt":
        raise ValueError(f"the name of a checkpoint ends in .cpt, and not in .prev.cpt: {name}")
    return name[:-4]
