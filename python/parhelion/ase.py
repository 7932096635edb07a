# SPDX-License-Identifier: Apache-2.0
"""Energies, forces and stress of a system for ASE, the Atomic Simulation Environment, which must be installed."""
from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

import numpy as np
from ase import Atoms
from ase.calculators.calculator import Calculator as AseCalculator
from ase.calculators.calculator import all_changes
from ase.units import bar, kJ, mol, nm

from ._core import State
from ._placement import PlacementOptions
from .simulation import Simulation
from .system import System

__all__ = ["Calculator", "atoms_of"]


def atoms_of(system: System) -> Atoms:
    """The atoms of a system for ASE, with a calculator. Elements follow from masses; a name that begins with H is hydrogen's, also of
    three times its mass.

    >>> from parhelion import load
    >>> atoms = atoms_of(load())
    >>> len(atoms), atoms.get_forces().shape
    (3000, (3000, 3))
    """
    from ase.data import atomic_masses

    masses = system.masses
    numbers = np.argmin(np.abs(atomic_masses[None, 1:] - masses[:, None]), axis=1) + 1
    numbers[np.char.startswith(np.char.upper(system.atoms["name"].astype(str)), "H") & (masses < 4.5)] = 1
    numbers[masses == 0] = 0
    atoms = Atoms(numbers=numbers, masses=masses, positions=system.positions * nm, cell=system.box * nm, pbc=True)
    atoms.calc = Calculator(system)
    return atoms


class Calculator(AseCalculator):  # type: ignore[misc] # of a class that tells no types
    """system: what load() returned; its atoms are those of ASE, in this order. Options: PlacementOptions.

    Energies are in eV, forces in eV/Angstrom, stress in eV/Angstrom^3 (Voigt's order). Forces are those before constraints act: rigid
    water is flexible to ASE, so use topologies without constraints, or ASE's own. A box whose first edge is not along x, or that is
    not periodic in all directions, is refused with a ValueError.
    """

    implemented_properties: ClassVar[list[str]] = ["energy", "free_energy", "forces", "stress"]

    def __init__(self, system: System, **options: Unpack[PlacementOptions]) -> None:
        super().__init__()
        self._simulation = Simulation(system, **options)
        self._size = len(system)

    def calculate(self, atoms: Atoms, properties: Sequence[str] = ("energy",), system_changes: Sequence[str] = all_changes) -> None:
        super().calculate(atoms, properties, system_changes)
        if not np.all(atoms.pbc):
            raise ValueError("the box is periodic in all directions")
        box = np.asarray(atoms.cell) / nm
        if len(atoms) != self._size or np.abs(np.triu(box, 1)).max() > 1e-9 * np.abs(box).max():
            raise ValueError("the atoms are those of the system, and the box has its first edge along x, its second in the xy plane")
        point = self._simulation.energies_and_forces(atoms.positions / nm, np.tril(box))
        energies: dict[str, Any] = point.energies
        self.results["energy"] = self.results["free_energy"] = energies["Potential"] * kJ / mol
        self.results["forces"] = np.asarray(point.forces) * (kJ / mol / nm)
        self.results["stress"] = self._stress(point, atoms.get_volume())

    @staticmethod
    def _stress(point: State, volume: float) -> Any:
        # The virial is -1/2 sum r (x) f: half the derivative of the energy by strain. The dispersion correction is a pressure.
        full = 2 * point.virial * (kJ / mol) / volume - np.eye(3) * point.energies.get("Pres. DC", 0) * bar
        return np.array([full[0, 0], full[1, 1], full[2, 2], (full[1, 2] + full[2, 1]) / 2, (full[0, 2] + full[2, 0]) / 2,
                         (full[0, 1] + full[1, 0]) / 2])
