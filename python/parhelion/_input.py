# SPDX-License-Identifier: Apache-2.0
"""The files that an input is read from, and what is said while it is read."""
import logging
import os
import warnings
from collections.abc import Sequence
from typing import TypedDict

from . import _core
from .errors import InputWarning

LOG = logging.getLogger("parhelion")
Path = str | os.PathLike[str]


class InputOptions(TypedDict, total=False):
    """What load() and run() take beside the three main files. Paths are str or os.PathLike."""

    reference: Path  # .gro: reference of position restraints; default: the start
    index: Path  # .ndx: index groups
    include: Sequence[Path]  # folders to search for #include files
    start: Path  # .cpt or .trr: start with the positions, velocities and box of another run
    start_time: float  # ps: of `start` the first frame at or after this time; default: the last
    allow: Sequence[str]  # ids of warnings that are accepted, as "W121"


def files_of(mdp: Path, gro: Path | None, top: Path | None, options: InputOptions) -> _core.Files:
    """gro, top: None for their defaults, or beside a run input file, which has all that they would give."""
    is_run_input = os.fspath(mdp).endswith(".tpr")
    of_text = {"gro": gro, "top": top} | {name: value for name, value in options.items() if name in ("reference", "index", "include")}
    if given := [name for name, value in of_text.items() if value and is_run_input]:
        raise TypeError(f"{os.fspath(mdp)} has all that {', '.join(given)} would give")
    three = ("", "", "") if is_run_input else (os.fspath(mdp), os.fspath(gro or "conf.gro"), os.fspath(top or "topol.top"))
    return _core.Files(*three, reference=os.fspath(options.get("reference", "")),
                       index=os.fspath(options.get("index", "")), include=[os.fspath(folder) for folder in options.get("include", ())],
                       start=os.fspath(options.get("start", "")), start_time=options.get("start_time"),
                       run_input=os.fspath(mdp) if is_run_input else "", allow=list(options.get("allow", ())))


def tell(text: str, id: str, is_allowed: bool, stacklevel: int) -> None:
    """A warning about the input: one that is accepted goes to the log."""
    if is_allowed:
        LOG.warning("%s (allowed)", text)
    else:
        warnings.warn(InputWarning(text, id), stacklevel=stacklevel + 1)
