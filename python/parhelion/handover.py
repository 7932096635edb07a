# SPDX-License-Identifier: Apache-2.0
"""Systems and states as objects of other packages, which are imported when they are asked for."""
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._core import State
    from .system import System


def to_mdanalysis(system: "System", state: "State | None") -> Any:
    """A Universe of one frame, in memory, with names, types, residues, masses, charges and bonds. Its lengths are in Angstrom."""
    import MDAnalysis
    from MDAnalysis.lib.mdamath import triclinic_box

    atoms = system.atoms
    _, first = np.unique(atoms["residue_index"], return_index=True)
    universe = MDAnalysis.Universe.empty(len(system), n_residues=len(first), atom_resindex=atoms["residue_index"],
                                         residue_segindex=np.zeros(len(first), int), trajectory=True)
    for name, values in (("names", atoms["name"]), ("types", atoms["type"]), ("masses", atoms["mass"]), ("charges", atoms["charge"]),
                         ("resnames", atoms["residue"][first]), ("resids", atoms["residue_number"][first])):
        universe.add_TopologyAttr(name, values)
    universe.add_TopologyAttr("bonds", system.bonds)
    here = system if state is None else state
    universe.atoms.positions = 10 * here.positions
    universe.dimensions = triclinic_box(*(10 * here.box))
    return universe


def to_mdtraj(system: "System", state: "State | None") -> Any:
    """A Trajectory of one frame, with bonds. Elements are those whose mass is nearest, where hydrogens may be heavier."""
    import mdtraj

    atoms = system.atoms
    topology = mdtraj.Topology()
    chain = topology.add_chain()
    last = -1
    for name, residue, number, index, mass in zip(atoms["name"], atoms["residue"], atoms["residue_number"], atoms["residue_index"],
                                                  atoms["mass"], strict=True):
        if index != last:
            of_atom, last = topology.add_residue(str(residue), chain, int(number)), index
        topology.add_atom(str(name), _element(str(name), float(mass)), of_atom)
    made = list(topology.atoms)
    for a, b in system.bonds:
        topology.add_bond(made[a], made[b])
    here = system if state is None else state
    trajectory = mdtraj.Trajectory(here.positions[None].astype(np.float32), topology, time=0 if state is None else state.time)
    trajectory.unitcell_vectors = here.box[None].astype(np.float32)
    return trajectory


def _element(name: str, mass: float) -> Any:
    """By mass; a name that begins with H is hydrogen, whatever it weighs."""
    from mdtraj.core import element

    if mass == 0:
        return element.virtual
    if name[:1] in "Hh" and mass < 4.5:
        return element.hydrogen
    known = [each for number, each in element.Element._elements_by_atomic_number.items() if number > 0]
    return min(known, key=lambda each: abs(each.mass - mass))
