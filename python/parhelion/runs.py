# SPDX-License-Identifier: Apache-2.0
"""A whole run with its files, as the program `parhelion run` makes it."""
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

from . import _core
from ._input import LOG, InputOptions, Path, files_of, tell
from ._placement import PlacementOptions, placement_of
from ._task import Task

if TYPE_CHECKING:
    import MDAnalysis
    import mdtraj

__all__ = ["RunResult", "run", "start_run"]


@dataclass(frozen=True)
class RunResult:
    """How a run has ended, and where its files are."""

    prefix: str  # what the names of all files begin with
    reached: int  # step
    stopped: bool  # early: the same call goes on
    was_complete: bool  # before: nothing was done
    minimised: bool
    averages: str  # of what people look at first, with their errors: lines
    trajectory: str  # the file that has all atoms of PREFIX.gro; empty: none
    report: dict[str, Any] = field(repr=False)  # what PREFIX.report.json says; empty if the run was complete before

    @property
    def energies(self) -> dict[str, dict[str, float]]:
        """Mean and standard deviation over the whole run, by GROMACS' names."""
        energies: dict[str, dict[str, float]] = self.report.get("energies", {})
        return energies

    def universe(self) -> "MDAnalysis.Universe":
        """The run for MDAnalysis, which must be installed."""
        import MDAnalysis

        return MDAnalysis.Universe(self.prefix + ".gro", *([self.trajectory] if self.trajectory else []))

    def mdtraj(self) -> "mdtraj.Trajectory":
        """The run for mdtraj, which must be installed: all frames of the trajectory, or the last configuration if there is none."""
        import mdtraj

        return mdtraj.load(self.trajectory or self.prefix + ".gro", **({"top": self.prefix + ".gro"} if self.trajectory else {}))


class _Observer:
    """What the engine tells while it goes on, from threads of its own. The first exception stops the run, and is kept."""

    def __init__(self, stop: _core.Stop, allowed: list[str], on_progress: Callable[[int, int], Any] | None,
                 on_frame: Callable[[_core.State], Any] | None, on_energies: Callable[[_core.State], Any] | None) -> None:
        self.errors: list[BaseException] = []
        self._has_failed = False
        self._stop = stop
        self._allowed = allowed
        self._on_progress, self._on_frame, self._on_energies = on_progress, on_frame, on_energies

    def warning(self, line: str) -> None:
        found = re.fullmatch(r"warning: (([EWN]\d{3}) .*?)( \(allowed\))?", line, re.DOTALL)
        if found and found[2].startswith("W"):
            self._attempt(tell, found[1], found[2], found[2] in self._allowed, 1)
        else:
            LOG.warning("%s", line)

    def message(self, line: str) -> None:
        LOG.info("%s", line)

    def begins(self, text: str, done: int, total: int) -> None:
        LOG.info("%s", text)

    def progress(self, done: int, total: int) -> None:
        self._attempt(self._on_progress, done, total)

    def frame(self, state: _core.State) -> None:
        self._attempt(self._on_frame, state)

    def energies(self, state: _core.State) -> None:
        self._attempt(self._on_energies, state)

    def _attempt(self, call: Callable[..., Any] | None, *arguments: object) -> None:
        if call is None or self._has_failed:
            return
        try:
            call(*arguments)
        except BaseException as error:
            self._has_failed = True
            self.errors.append(error)
            self._stop.set()


class Options(InputOptions, PlacementOptions, total=False):
    """What run() takes beside the main files: of the input, of the placement, and of the run."""

    prefix: Path  # what the names of all output files begin with; default: md
    steps: int  # from the beginning of the run, also where it is continued; negative: no end; default: nsteps
    ns: float  # likewise
    hours: float  # wall time after which the run stops; the same call goes on
    checkpoint_s: float  # time between checkpoints; default: 900
    trace: Path  # a timeline of the latest steps
    fresh: bool  # start afresh, even if there is a checkpoint
    rst7: bool  # leave the last configuration as a restart file of AMBER, too
    h5md: bool  # write the trajectory as H5MD, too
    on_progress: Callable[[int, int], Any]  # called many times a second: steps done, steps in all (negative: no end)
    on_frame: Callable[[_core.State], Any]  # called with each frame that is written
    on_energies: Callable[[_core.State], Any]  # called with all energies that are computed; such a state has no atoms


def start_run(mdp: Path = "md.mdp", gro: Path | None = None, top: Path | None = None, **options: Unpack[Options]) -> Task[RunResult]:
    """run() without waiting: returns a Future of the result, which has stop()."""
    if unknown := set(options) - set(Options.__annotations__):
        raise TypeError(f"there is no option {', '.join(sorted(unknown))}")
    placement = placement_of({key: options[key] for key in PlacementOptions.__annotations__ if key in options})  # type: ignore
    files = files_of(mdp, gro, top, options)
    stop = _core.Stop()
    observer = _Observer(stop, list(options.get("allow", ())), options.get("on_progress"), options.get("on_frame"),
                         options.get("on_energies"))
    prefix = os.fspath(options.get("prefix", "md"))

    def work() -> RunResult:
        try:
            about = _core.run(files, placement, prefix=prefix, steps=options.get("steps"), ns=options.get("ns"), hours=options.get("hours"),
                              checkpoint_s=options.get("checkpoint_s", 900.0), trace=os.fspath(options.get("trace", "")),
                              fresh=options.get("fresh", False), rst7=options.get("rst7", False), h5md=options.get("h5md", False),
                              observer=observer, stop=stop)
        finally:
            if observer.errors:
                raise observer.errors.pop()  # no cycle of error, frame and observer
        about["report"] = json.loads(about["report"] or "{}")
        return RunResult(prefix=prefix, **about)

    return Task(work, stop)


def run(mdp: Path = "md.mdp", gro: Path | None = None, top: Path | None = None, **options: Unpack[Options]) -> RunResult:
    """Reads, checks, simulates and writes, as `parhelion run -f -c -p` does: the same files, the same bits. The same call continues a
    run that was stopped or killed, which it finds by its prefix; one that is complete does nothing.

    mdp, gro, top: the input, or a .tpr alone, as load() takes them. Further options: see Options, InputOptions and PlacementOptions.

    KeyboardInterrupt stops the run with a checkpoint, and is raised; so is what a callback raises. Raises InputError, PhysicsError
    (PREFIX.last-good.gro is there) and SystemError. Warnings are InputWarnings; other lines go to the logger "parhelion".

    >>> result = run("md.mdp", "conf.gro", "topol.top", prefix="short", steps=100, threads=1)
    >>> result.reached, result.trajectory  # the .mdp asks for no trajectory
    (100, '')
    >>> result.universe().trajectory.n_frames  # so it is the last frame
    1
    """
    return start_run(mdp, gro, top, **options).wait()
