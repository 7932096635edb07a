# SPDX-License-Identifier: Apache-2.0
"""What is often wanted of a simulation at intervals: simulation.every(100, Table("energies.csv"))."""
import csv
import os
from collections.abc import Sequence
from typing import Self, TextIO

from . import _core

__all__ = ["Table", "Trajectory"]


class Table:
    """Writes a line of comma-separated values for each state: step, time in ps, and terms of State.energies.

    file: a path, whose file is written anew, or a text stream. terms: names of State.energies. A context manager: its end closes a
    file that this opened. KeyError for a term that there is not.

    >>> import sys
    >>> from parhelion import Simulation, load
    >>> with Simulation(load(), threads=1) as simulation:
    ...     _ = simulation.every(10, Table(sys.stdout, terms=[]))
    ...     summary = simulation.run(10)
    Step,Time (ps)
    0,0
    10,0.02
    """

    def __init__(self, file: str | os.PathLike[str] | TextIO,
                 terms: Sequence[str] = ("Potential", "Kinetic En.", "Total Energy", "Temperature", "Pressure")) -> None:
        self._terms = list(terms)
        self._owns = isinstance(file, str | os.PathLike)
        self._file: TextIO = open(file, "w", newline="") if isinstance(file, str | os.PathLike) else file
        self._lines = csv.writer(self._file, lineterminator="\n")
        self._has_head = False

    def __call__(self, state: _core.State) -> None:
        if not self._has_head:
            self._lines.writerow(["Step", "Time (ps)", *(f"{term} ({_core.unit(term)})" for term in self._terms)])
            self._has_head = True
        energies = state.energies
        self._lines.writerow([state.step, f"{state.time:.10g}", *(f"{energies[term]:.10g}" for term in self._terms)])
        self._file.flush()

    def close(self) -> None:
        if self._owns:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Trajectory:
    """Writes the positions of each state to an .xtc, or positions, velocities and forces, where there are any, to a .trr.

    path: a file that is there already is kept under another name, as the program does. precision: of an .xtc, 1/nm. A context
    manager: its end closes the file. Raises ValueError for another ending, SystemError.

    >>> from parhelion import Simulation, load
    >>> with Simulation(load(), threads=1) as simulation, Trajectory("every_tenth.xtc") as trajectory:
    ...     _ = simulation.every(10, trajectory)
    ...     summary = simulation.run(20)
    >>> import MDAnalysis
    >>> MDAnalysis.Universe("conf.gro", "every_tenth.xtc").trajectory.n_frames
    3
    """

    def __init__(self, path: str | os.PathLike[str], precision: float = 1000) -> None:
        self._writer = _core.TrajectoryWriter(os.fspath(path), precision)

    def __call__(self, state: _core.State) -> None:
        self._writer.write(state)

    def close(self) -> None:
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
