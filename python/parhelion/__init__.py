# SPDX-License-Identifier: Apache-2.0
"""Parhelion: molecular dynamics from GROMACS inputs.

    import parhelion as ph

    system = ph.load("md.mdp", "conf.gro", "topol.top")
    with ph.Simulation(system) as simulation:
        simulation.every(100, ph.Table("energies.csv"))
        simulation.run(1000)
        print(simulation.state.energies["Potential"])

    ph.run("md.mdp", "conf.gro", "topol.top", prefix="md")      # a whole run with its files, as the program makes it

Units are GROMACS': nm, ps, kJ/mol, u, e, K, bar. The manual is docs/user/python.md. The program comes with this package: `parhelion
run ...` in a terminal, or `python -m parhelion run ...`; program() says where it is.
"""
import re as _re
from pathlib import Path as _Path

from ._core import State, built_with_cuda, devices, unit, version_text
from ._forces import minimum_image
from ._input import InputOptions
from ._placement import PlacementOptions
from ._task import Task
from .errors import Error, InputError, InputWarning, InternalError, PhysicsError, SystemError
from .reporters import Table, Trajectory
from .runs import Options as RunOptions
from .runs import RunResult, run, start_run
from .simulation import RunSummary, Simulation
from .system import System, Terms, load

__all__ = ["Error", "InputError", "InputOptions", "InputWarning", "InternalError", "PhysicsError", "PlacementOptions", "RunOptions",
           "RunResult", "RunSummary", "Simulation", "State", "System", "SystemError", "Table", "Task", "Terms", "Trajectory", "__version__",
           "built_with_cuda", "devices", "load", "minimum_image", "program", "run", "start_run", "unit", "version_text"]
__version__ = _re.split(r"[ (]", version_text())[1]


def program() -> _Path:
    """The path of the program `parhelion`."""
    return _Path(__file__).parent / "bin" / "parhelion"
