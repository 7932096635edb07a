# SPDX-License-Identifier: Apache-2.0
"""What was read of the input files: who the atoms are, how they interact, where they are."""
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from . import _core
from ._input import LOG, InputOptions, Path, files_of, tell

if TYPE_CHECKING:
    import MDAnalysis
    import mdtraj

__all__ = ["System", "Terms", "load"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Terms(NamedTuple):
    """Interactions of one kind. atoms: shape (terms, atoms of a term), counted from 0. parameters: shape (terms, parameters of a term),
    in nm, degrees and kJ/mol, in the order of src/model/interactions.hpp."""

    atoms: Integers
    parameters: Floats


class System:
    """A system with the parameters of its simulation, as load() has read and checked them. len() is its number of atoms, N.

    It stays as it is while simulations are made of it, and may be changed for the next one: positions, velocities and box can be set.
    """

    def __init__(self, core: _core.Input) -> None:
        """Use load()."""
        self._core = core

    def __len__(self) -> int:
        return self._core.atoms

    def __repr__(self) -> str:
        return f"System({len(self)} atoms, {self.title!r})"

    @property
    def title(self) -> str:
        """The title of the structure file."""
        return self._core.title

    @property
    def parameters(self) -> dict[str, str]:
        """Every .mdp option that is honoured, with the value in use."""
        return dict(self._core.parameters)

    @property
    def positions(self) -> Floats:
        """Positions, shape (N, 3), in nm: a view that shows the present ones and cannot be written through. Set it as a whole.

        Raises ValueError for another shape, or for what is not finite."""
        return self._core.positions

    @positions.setter
    def positions(self, values: npt.ArrayLike) -> None:
        self._core.set_positions(vectors(values, "positions"))

    @property
    def velocities(self) -> Floats | None:
        """Velocities, shape (N, 3), in nm/ps, half a step before the positions; None if the input has none. As positions."""
        return self._core.velocities

    @velocities.setter
    def velocities(self, values: npt.ArrayLike) -> None:
        self._core.set_velocities(vectors(values, "velocities"))

    @property
    def box(self) -> Floats:
        """The box, shape (3, 3), in nm: rows are its edge vectors, the first along x, the second in the xy plane.

        May be set, to three lengths of edges as well. Raises ValueError if it is no box, InputError E580 if an edge leans too far."""
        return self._core.box

    @box.setter
    def box(self, values: npt.ArrayLike) -> None:
        self._core.set_box(matrix(values))

    @functools.cached_property
    def atoms(self) -> dict[str, npt.NDArray[Any]]:
        """A table of the atoms, a column of length N each: name, type, residue, residue_number (of the topology), residue_index
        (from 0, none twice), molecule (its type), molecule_index (from 0), mass (u), charge (e). pandas.DataFrame(system.atoms) and
        polars.DataFrame(system.atoms) take it as it is."""
        types = self._core.molecule_types()
        columns: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in (*types[0]["atoms"], "molecule", "molecule_index")}
        residues = molecules = 0
        for type, copies in self._core.blocks():
            atoms = types[type]["atoms"]
            size, of_molecule = len(atoms["name"]), int(np.max(atoms["residue_index"])) + 1
            copy = np.repeat(np.arange(copies), size)
            for name, values in atoms.items():
                columns[name].append(np.tile(np.asarray(values), copies))
            columns["residue_index"][-1] = columns["residue_index"][-1] + residues + of_molecule * copy
            columns["molecule"].append(np.full(size * copies, types[type]["name"]))
            columns["molecule_index"].append(molecules + copy)
            residues += of_molecule * copies
            molecules += copies
        return {name: np.concatenate(parts) for name, parts in columns.items()}

    @property
    def masses(self) -> Floats:
        """Masses in u, shape (N,)."""
        return self.atoms["mass"]

    @property
    def charges(self) -> Floats:
        """Charges in e, shape (N,)."""
        return self.atoms["charge"]

    @functools.cached_property
    def terms(self) -> dict[str, Terms]:
        """Bonded terms and restraints by kind, as "bond", "angle", "1-4 pair"; not CMAP corrections."""
        return self._expand(lambda type: type["terms"])

    @functools.cached_property
    def constraints(self) -> Terms:
        """Pairs of atoms whose distance is kept, those of rigid water too, and the distances in nm as the only parameter."""
        none = Terms(np.empty((0, 2), np.int64), np.empty((0, 1)))
        return self._expand(lambda type: {"": type["constraints"]}).get("", none)

    @property
    def bonds(self) -> Integers:
        """Pairs of atoms that are tied by a chemical bond, constrained or not, shape (bonds, 2); of rigid water those of the oxygen."""
        pairs = [self.terms[kind].atoms for kind in ("bond", "G96 bond") if kind in self.terms]
        light = self.masses[self.constraints.atoms] < 3.5  # two hydrogens, also of triple mass, are held apart, not bonded
        pairs.append(self.constraints.atoms[~light.all(axis=1)])
        return np.concatenate(pairs)

    def universe(self, state: "_core.State | None" = None) -> "MDAnalysis.Universe":
        """These atoms for MDAnalysis, at the positions of a state or of the input. MDAnalysis must be installed."""
        from .handover import to_mdanalysis

        return to_mdanalysis(self, state)

    def mdtraj(self, state: "_core.State | None" = None) -> "mdtraj.Trajectory":
        """The same for mdtraj: a trajectory of one frame. mdtraj must be installed."""
        from .handover import to_mdtraj

        return to_mdtraj(self, state)

    def _expand(self, of: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Terms]:
        """What molecule types have, for all their copies."""
        types = self._core.molecule_types()
        found: dict[str, list[Terms]] = {}
        first = 0
        for type, copies in self._core.blocks():
            size = len(types[type]["atoms"]["name"])
            starts = first + size * np.arange(copies)
            for kind, (atoms, parameters) in of(types[type]).items():
                if len(atoms):
                    everywhere = (starts[:, None, None] + atoms[None]).reshape(-1, atoms.shape[1])
                    found.setdefault(kind, []).append(Terms(everywhere, np.tile(parameters, (copies, 1))))
            first += size * copies
        return {kind: Terms(*map(np.concatenate, zip(*parts, strict=True))) for kind, parts in found.items()}


def load(mdp: Path = "md.mdp", gro: Path | None = None, top: Path | None = None, **options: Unpack[InputOptions]) -> System:
    """Reads and checks an input as `parhelion run -f -c -p` does, or a run input file (.tpr of gmx grompp) as `parhelion run -s` does.

    mdp, gro, top: run parameters, start configuration (default: conf.gro), topology (default: topol.top); or as mdp alone a .tpr.
    Further options: reference, index, include, start, start_time, allow (InputOptions says what they are); with a .tpr only the last
    three.

    Each warning is told as an InputWarning, or logged if it is among `allow`; notes are logged at level INFO. Raises InputError for
    what is wrong, with its stable id, file and line; E001 if there is a warning that is not allowed.

    >>> system = load("md.mdp", "conf.gro", "topol.top")
    >>> len(system), system.positions.shape
    (3000, (3000, 3))
    >>> round(float(system.masses.sum()))
    17218
    """
    allowed = options.get("allow", ())
    remarks: list[tuple[str, str, str]] = []
    try:
        return System(_core.load(files_of(mdp, gro, top, options), lambda *remark: remarks.append(remark)))
    finally:
        for kind, id, text in remarks:
            if kind == "note":
                LOG.info("note: %s", text)
            else:
                tell(text, id, id in allowed, stacklevel=2)


def vectors(values: npt.ArrayLike, name: str) -> Floats:
    """As the engine takes them: a contiguous array of doubles, shape (N, 3). Raises ValueError, TypeError."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{name} have the shape (N, 3), not {array.shape}")
    return array


def matrix(values: npt.ArrayLike) -> Floats:
    """Edge vectors, also of three lengths. Raises ValueError, TypeError."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape == (3,):
        array = np.diag(array)
    if array.shape != (3, 3):
        raise ValueError(f"a box has the shape (3, 3) or (3,), not {array.shape}")
    return np.ascontiguousarray(array)
