# SPDX-License-Identifier: Apache-2.0
"""How exactly, and where, a simulation is computed."""
from typing import Literal, TypedDict

from . import _core


class PlacementOptions(TypedDict, total=False):
    """What Simulation() and run() take, as the options of the program do. All may be left out."""

    device: Literal["auto", "cpu", "gpu"]  # auto: a GPU if there is one that can do what is asked
    gpus: int  # at most; 0: as many as make the run faster
    ranks: int  # parts that the box is divided into; 0: one, or one for each GPU
    threads: int  # of each rank; 0: the cores, shared out
    grid: tuple[int, int, int]  # how the box is divided; default: the grid whose halo costs least
    halo: Literal["staged-host", "staged-dma", "staged-fused", "direct"]
    pme: str  # how ranks share PME's mesh: auto, shared, bricks, gathered or dedicated:k
    dlb: Literal["auto", "on", "off"]  # whether borders of cells move by measured times
    precision: Literal["mixed", "double"]
    reproducible: bool  # the same bits for any number of threads and ranks
    comm_timeout: float  # s: longest wait for another rank


def placement_of(options: PlacementOptions) -> _core.Placement:
    """Raises TypeError for an option that there is not, ValueError for what no option can be."""
    if unknown := set(options) - set(PlacementOptions.__annotations__):
        raise TypeError(f"there is no option {', '.join(sorted(unknown))}")
    return _core.Placement(device=options.get("device", "auto"), gpus=options.get("gpus", 0), ranks=options.get("ranks", 0),
                           threads=options.get("threads", 0), grid=options.get("grid", (0, 0, 0)), halo=options.get("halo", ""),
                           pme=options.get("pme", "auto"), dlb=options.get("dlb", "off"), precision=options.get("precision", "mixed"),
                           reproducible=options.get("reproducible", False), comm_timeout=options.get("comm_timeout", 60.0))
