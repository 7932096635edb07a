# SPDX-License-Identifier: Apache-2.0
"""What the functions of Simulation.add_force() are given and give back."""
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .system import Floats, matrix

__all__ = ["Force", "answer_of", "indices", "minimum_image"]

# Called with positions (M, 3), box (3, 3) and time; returns energy, forces (M, 3) and, perhaps, the virial (3, 3).
Force = Callable[[Floats, Floats, float], tuple[float, npt.ArrayLike] | tuple[float, npt.ArrayLike, npt.ArrayLike]]
LARGEST = 1e9  # kJ/mol/nm and kJ/mol; reproducible sums hold twice as much


def minimum_image(vectors: npt.ArrayLike, box: npt.ArrayLike) -> Floats:
    """Differences of positions, shape (..., 3), taken to their nearest images in a box, shape (3, 3) or (3,), all in nm.

    In a box that is not rectangular this is exact up to half its least height.

    >>> minimum_image([2.9, 0.1, -1.6], [3, 3, 3])
    array([-0.1,  0.1,  1.4])
    """
    edges = matrix(box)
    images = np.array(vectors, dtype=np.float64)
    for axis in (2, 1, 0):
        images -= np.round(images[..., axis, None] / edges[axis, axis]) * edges[axis]
    return images


def indices(atoms: npt.ArrayLike | None, size: int) -> npt.NDArray[np.int64]:
    """Raises ValueError, TypeError, IndexError."""
    if atoms is None:
        return np.arange(size, dtype=np.int64)
    given = np.asarray(atoms)
    if given.ndim != 1 or len(given) == 0:
        raise ValueError(f"atoms are indices, shape (M,), at least one, not {given.shape}")
    if given.dtype.kind not in "iu":
        raise TypeError(f"atoms are indices from 0, not {given.dtype}")
    return np.ascontiguousarray(given, dtype=np.int64)


def answer_of(answer: Any, atoms: int) -> tuple[float, Floats, Floats]:
    """As the engine takes it. Raises ValueError, TypeError."""
    if not isinstance(answer, tuple) or len(answer) not in (2, 3):
        raise TypeError(f"a force returns (energy, forces) or (energy, forces, virial), not {type(answer).__name__}")
    energy = float(answer[0])
    if not abs(energy) <= LARGEST:
        raise ValueError(f"the energy of a force is {energy}")
    forces = _numbers(answer[1], (atoms, 3), "forces")
    virial = _numbers(answer[2], (3, 3), "the virial") if len(answer) == 3 else np.zeros((3, 3))
    return energy, forces, virial


def _numbers(values: Any, shape: tuple[int, int], name: str) -> Floats:
    array = np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} are real numbers, not {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{name} of a force have the shape {shape}, not {array.shape}")
    largest = np.abs(array).max()
    if not largest <= LARGEST:
        raise ValueError(f"{name} of a force are finite and below {LARGEST:g}, not {largest}")
    return np.ascontiguousarray(array, dtype=np.float64)
