# SPDX-License-Identifier: Apache-2.0
"""Small systems as AMBER's files, and the same systems as GROMACS' files.

The numbers are nobody's force field. What a prmtop says with nine digits, the .top says with all digits that those have, so that both describe
one system to rounding. `Files(...).write(folder)` writes amber.prmtop, amber.rst7, gromacs.top and gromacs.gro. As a program it writes
tests/data/io/amber.
"""
import itertools
import math
import random
from dataclasses import dataclass, field
from pathlib import Path

from stage_folders import bonded, rigid_water

CALORIE, ANGSTROM = 4.184, 0.1  # kJ, nm
CHARGE = 18.2223
# Lennard-Jones types: half the distance of the minimum (Angstrom), depth (kcal/mol).
LJ = {"C": (1.908, 0.086), "N": (1.824, 0.17), "H": (0.6, 0.0157), "O": (1.6612, 0.21), "OW": (1.7683, 0.152), "HW": (0.0, 0.0), "Na+": (1.37, 0.087), "Cl-": (2.5, 0.036),
      "EP": (0.0, 0.0)}
# A pair that does not follow from the two types.
OWN = {("Cl-", "Na+"): (4.1, 0.05)}
# Atom types: Lennard-Jones type and mass.
TYPES = {"N": ("N", 14.01), "XC": ("C", 12.01), "X2": ("C", 12.01), "C": ("C", 12.01), "O": ("O", 16.0), "H": ("H", 1.008), "H1": ("H", 1.008), "OW": ("OW", 16.0),
         "HW": ("HW", 1.008), "EP": ("EP", 0.0), "Na+": ("Na+", 22.99), "Cl-": ("Cl-", 35.45)}


def digits(value):
    """As a prmtop writes it."""
    return f"{value:16.8E}"


def real(value):
    """What a prmtop's digits say."""
    return float(digits(value))


@dataclass
class Molecule:
    residues: list  # (name, number of atoms)
    atoms: list  # (name, type, charge)
    places: list  # nm
    bonds: list  # (i, j, (k, r0)); atoms from 0; kcal/mol/Angstrom^2 and Angstrom, as all that follow
    angles: list = field(default_factory=list)  # (i, j, k, (k, degrees))
    dihedrals: list = field(default_factory=list)  # (i, j, k, l, (k, periodicity, degrees, scee, scnb), improper)
    maps: list = field(default_factory=list)  # (i, j, k, l, m, number)
    ends: list = field(default_factory=list)  # of CHARMM: (i, k, (k, r0)) of an angle i, j, k
    impropers: list = field(default_factory=list)  # of CHARMM: (i, j, k, l, (k, degrees)), harmonic
    site: tuple = ()  # distance of the extra point from the first atom: the fourth is one

    def excluded(self):
        """Partners of higher number, by atom."""
        near = {frozenset(term[:2]) for term in self.bonds} | {frozenset((term[0], term[2])) for term in self.angles}
        near |= {frozenset((term[0], term[3])) for term in self.dihedrals if not term[5]}
        if len(self.residues) == 1 and len(self.atoms) <= 4:
            near |= {frozenset(pair) for pair in itertools.combinations(range(len(self.atoms)), 2)}
        return [sorted(max(pair) for pair in near if min(pair) == i) for i in range(len(self.atoms))]

    def pairs(self):
        """Each pair of ends once, with the first of its dihedrals."""
        first = {}
        close = {frozenset(term[:2]) for term in self.bonds} | {frozenset((term[0], term[2])) for term in self.angles}
        for term in self.dihedrals:
            ends = frozenset((term[0], term[3]))
            if not term[5] and ends not in close:
                first.setdefault(ends, term)
        return list(first.values())


def water(rng, oxygen, site=None):
    """Three or four sites, rigid by bonds as tleap writes them; charge and distance as of TIP3P and TIP4P-Ew."""
    charge = 0.417 if site is None else 0.52422
    oh, hh = 0.9572, 1.5136
    height = math.sqrt(oh**2 - hh**2 / 4)
    places = rigid_water(rng, oxygen, oh * ANGSTROM, hh * ANGSTROM, site and site / height / 2)
    atoms = [("O", "OW", 0.0 if site else -2 * charge), ("H1", "HW", charge), ("H2", "HW", charge)] + ([("EPW", "EP", -2 * charge)] if site else [])
    bonds = [(0, 1, (553.0, oh)), (0, 2, (553.0, oh)), (1, 2, (553.0, hh))] + ([(0, 3, (553.0, site))] if site else [])
    return Molecule([("WAT", len(atoms))], atoms, places, bonds, site=(site,) if site else ())


def ion(name, place):
    return Molecule([(name, 1)], [(name, name, 1.0 if name == "Na+" else -1.0)], [place], [])


def chain(rng, residues, start, scaling=((1.2, 2.0),), maps=0, charmm=False):
    """A backbone of N(H), CA(HA), C(O); every residue's dihedrals are scaled by one of `scaling`."""
    atoms, places, bonds, spine = [], [], [], []
    for r in range(len(residues)):
        kind = "XC" if r % 2 else "X2"
        for name, atom_type, charge, side in (("N", "N", -0.4157, ("H", "H", 0.2719)), ("CA", kind, 0.0337, ("HA", "H1", 0.0823)), ("C", "C", 0.5973, ("O", "O", -0.5679 - 0.0016 * r))):
            up = 1 if len(spine) % 2 else -1
            place = [start[0] + 0.125 * len(spine), start[1] + 0.04 * up, start[2]]
            place = [x + 0.012 * rng.uniform(-1, 1) for x in place]
            if spine:
                bonds.append((spine[-1], len(atoms), (469.0 - 3 * (len(spine) % 3), 1.404)))
            spine.append(len(atoms))
            atoms.append((name, atom_type, charge))
            places.append(place)
            side_place = [place[0], place[1] + 0.1 * up, place[2] + 0.05 * rng.uniform(-1, 1)]
            bonds.append((spine[-1], len(atoms), (434.0, 1.01) if side[1] != "O" else (570.0, 1.229)))
            atoms.append(side)
            places.append(side_place)
    angles, torsions, _ = bonded([term[:2] for term in bonds])
    angles = [(*atoms_of, (50.0 + 5 * (atoms_of[1] % 4), 117.0 + atoms_of[1] % 5)) for atoms_of in angles]
    dihedrals = []
    for i, j, k, m in torsions:
        scee, scnb = scaling[j // 6 % len(scaling)]
        for n in range(1, 2 + (j + k) % 3):  # several terms of one dihedral
            dihedrals.append((i, j, k, m, (0.4 * n if (i + j) % 5 else 0.0, n, 180.0 * (n % 2), scee, scnb), False))
    planar = [(spine[spine.index(a) - 1], b, a, a + 1) for a, b in zip(spine, spine[1:]) if atoms[a][0] == "C"]
    impropers = [(*four, (120.0, 175.0)) for four in planar] if charmm else []
    dihedrals += [] if charmm else [(*four, (10.5, 2, 180.0, 1.2, 2.0), True) for four in planar]
    ends = [(i, k, (30.0 + j % 3, 2.3)) for i, j, k, _ in angles if (i + j) % 3] if charmm else []
    cmaps = []
    for r in range(1, len(residues) - 1) if maps else []:
        at = 3 * r
        cmaps.append((*spine[at - 1:at + 4], r % maps))
    return Molecule([(name, 6) for name in residues], atoms, places, bonds, angles, dihedrals, cmaps, ends, impropers)


def map_values(number, side=24):
    """Of a correction map, kcal/mol, the first angle slowest."""
    step = 2 * math.pi / side
    return [[float(f"{(0.6 + 0.2 * number) * math.sin(i * step + number) * math.cos(2 * j * step) + 0.3 * math.cos((i + j) * step):9.5f}") for j in range(side)] for i in range(side)]


class Files:
    def __init__(self, molecules, lengths, angles=(90.0, 90.0, 90.0), maps=0, charmm=False):
        """lengths: nm; angles: degrees; charmm: CHARMM's force field in AMBER's form (chamber)."""
        self.molecules, self.lengths, self.angles, self.maps, self.charmm = molecules, lengths, angles, maps, charmm
        self.charge = math.sqrt(332.0716) if charmm else CHARGE
        rng = random.Random(5)
        # AMBER's digits: 1e-7 Angstrom.
        self.places = [[round(10 * x, 7) / 10 for x in place] for molecule in molecules for place in molecule.places]
        self.speeds = [[round(rng.gauss(0, 0.3), 7) for _ in range(3)] for _ in self.places]  # AMBER's unit
        self.lj_types = sorted({TYPES[atom[1]][0] for molecule in molecules for atom in molecule.atoms}, key=list(LJ).index)

    # --- AMBER

    def coefficients(self, a, b, of_14=False):
        """A and B, as the file has them; of_14: CHARMM's own ones of 1-4 pairs."""
        a, b = sorted((a, b))
        distance, depth = OWN.get((a, b)) or (LJ[a][0] + LJ[b][0], math.sqrt(LJ[a][1] * LJ[b][1]))
        if of_14:
            distance, depth = 0.95 * distance, 0.4 * depth
        return real(depth * distance**12), real(2 * depth * distance**6)

    def prmtop(self, changes=()):
        """changes: (section, function of the list of its values) applied before writing."""
        number = {"bonds": {}, "angles": {}, "dihedrals": {}}
        lists = {f"{kind}_{part}": [] for kind in number for part in ("INC_HYDROGEN", "WITHOUT_HYDROGEN")}
        names, charges, masses, types, kinds, counts, excluded, residues, starts, maps = [], [], [], [], [], [], [], [], [], []
        for molecule in self.molecules:
            first = len(names)
            light = [name.startswith("H") for name, *_ in molecule.atoms]
            pairs = {id(term) for term in molecule.pairs()}
            for kind, arity in (("bonds", 2), ("angles", 3), ("dihedrals", 4)):
                for term in getattr(molecule, kind):
                    at = [3 * (first + i) for i in term[:arity]]
                    if kind == "dihedrals" and 0 in at[2:]:
                        at.reverse()
                    if kind == "dihedrals" and id(term) not in pairs:
                        at[2] = -at[2]
                    if kind == "dihedrals" and term[5]:
                        at[3] = -at[3]
                    which = number[kind].setdefault(term[arity], len(number[kind]) + 1)
                    lists[f"{kind}_{'INC' if any(light[i] for i in term[:arity]) else 'WITHOUT'}_HYDROGEN"] += [*at, which]
            for atoms in molecule.excluded():
                counts.append(max(1, len(atoms)))
                excluded += [first + i + 1 for i in atoms] or [0]
            maps += [x for term in molecule.maps for x in (*(first + i + 1 for i in term[:5]), term[5] + 1)]
            at = first
            for residue, size in molecule.residues:
                residues.append(residue)
                starts.append(at + 1)
                at += size
            for name, kind, charge in molecule.atoms:
                names.append(name)
                kinds.append(kind)
                charges.append(charge * self.charge)
                masses.append(TYPES[kind][1])
                types.append(self.lj_types.index(TYPES[kind][0]) + 1)
        n = len(self.lj_types)
        index = [[max(i, j) * (max(i, j) + 1) // 2 + min(i, j) + 1 for j in range(n)] for i in range(n)]
        lj = [self.coefficients(self.lj_types[i], self.lj_types[j]) for i in range(n) for j in range(i + 1)]
        bonds, angles, dihedrals = (list(number[kind]) for kind in ("bonds", "angles", "dihedrals"))
        of = {key: len(values) // (3 + ("bonds", "angles", "dihedrals").index(key.split("_")[0])) for key, values in lists.items()}
        box = 1 if self.angles == (90.0, 90.0, 90.0) else 2 if len(set(self.angles)) == 1 else 3
        pointers = [len(names), n, of["bonds_INC_HYDROGEN"], of["bonds_WITHOUT_HYDROGEN"], of["angles_INC_HYDROGEN"], of["angles_WITHOUT_HYDROGEN"], of["dihedrals_INC_HYDROGEN"],
                    of["dihedrals_WITHOUT_HYDROGEN"], 0, 0, len(excluded), len(residues), of["bonds_WITHOUT_HYDROGEN"], of["angles_WITHOUT_HYDROGEN"],
                    of["dihedrals_WITHOUT_HYDROGEN"], len(bonds), len(angles), len(dihedrals), len(set(kinds)), 0, 0, 0, 0, 0, 0, 0, 0, box, max(molecule.residues[0][1] for molecule in self.molecules),
                    0, kinds.count("EP")]
        radians = math.pi / 180
        sections = {
            "TITLE": ("20a4", ["made", "by", "test"]), "POINTERS": ("10I8", pointers), "ATOM_NAME": ("20a4", names), "CHARGE": ("5E16.8", charges),
            "ATOMIC_NUMBER": ("10I8", [0] * len(names)), "MASS": ("5E16.8", masses), "ATOM_TYPE_INDEX": ("10I8", types), "NUMBER_EXCLUDED_ATOMS": ("10I8", counts),
            "NONBONDED_PARM_INDEX": ("10I8", sum(index, [])), "RESIDUE_LABEL": ("20a4", residues), "RESIDUE_POINTER": ("10I8", starts),
            "BOND_FORCE_CONSTANT": ("5E16.8", [p[0] for p in bonds]), "BOND_EQUIL_VALUE": ("5E16.8", [p[1] for p in bonds]),
            "ANGLE_FORCE_CONSTANT": ("5E16.8", [p[0] for p in angles]), "ANGLE_EQUIL_VALUE": ("5E16.8", [p[1] * radians for p in angles]),
            "DIHEDRAL_FORCE_CONSTANT": ("5E16.8", [p[0] for p in dihedrals]), "DIHEDRAL_PERIODICITY": ("5E16.8", [p[1] for p in dihedrals]),
            "DIHEDRAL_PHASE": ("5E16.8", [p[2] * radians for p in dihedrals]), "SCEE_SCALE_FACTOR": ("5E16.8", [p[3] for p in dihedrals]),
            "SCNB_SCALE_FACTOR": ("5E16.8", [p[4] for p in dihedrals]), "SOLTY": ("5E16.8", [0.0] * len(set(kinds))),
            "LENNARD_JONES_ACOEF": ("5E16.8", [p[0] for p in lj]), "LENNARD_JONES_BCOEF": ("5E16.8", [p[1] for p in lj]),
            **{key.upper(): ("10I8", values) for key, values in lists.items()},
            "EXCLUDED_ATOMS_LIST": ("10I8", excluded), "HBOND_ACOEF": ("5E16.8", []), "HBOND_BCOEF": ("5E16.8", []), "HBCUT": ("5E16.8", []),
            "AMBER_ATOM_TYPE": ("20a4", kinds), "TREE_CHAIN_CLASSIFICATION": ("20a4", ["BLA"] * len(names)), "JOIN_ARRAY": ("10I8", [0] * len(names)), "IROTAT": ("10I8", [0] * len(names)),
            "SOLVENT_POINTERS": ("3I8", [1, 1, 2]), "ATOMS_PER_MOLECULE": ("10I8", [len(molecule.atoms) for molecule in self.molecules]),
            "BOX_DIMENSIONS": ("5E16.8", [self.angles[1], *(10 * x for x in self.lengths)]), "RADIUS_SET": ("1a80", ["none"]), "RADII": ("5E16.8", [1.5] * len(names)),
            "SCREEN": ("5E16.8", [0.8] * len(names)), "IPOL": ("1I8", [0]),
        }
        if self.maps:
            sections |= {"CMAP_COUNT": ("2I8", [len(maps) // 6, self.maps]), "CMAP_RESOLUTION": ("20I4", [24] * self.maps), "CMAP_INDEX": ("6I8", maps)}
            sections |= {f"CMAP_PARAMETER_{m + 1:02}": ("8(F9.5)", sum(map_values(m), [])) for m in range(self.maps)}
        if self.charmm:
            own = [self.coefficients(self.lj_types[i], self.lj_types[j], True) for i in range(n) for j in range(i + 1)]
            sections = {"CTITLE": sections.pop("TITLE"), "FORCE_FIELD_TYPE": ("i2,a78", [(1, "CHARMM")]), **sections}
            sections = {(f"CHARMM_{name}" if name.startswith("CMAP") else name): values for name, values in sections.items()}
            plain = {name: [(first, term) for first, molecule in zip(self.firsts(), self.molecules) for term in getattr(molecule, name)] for name in ("ends", "impropers")}
            types = {name: sorted({term[-1] for _, term in terms}) for name, terms in plain.items()}
            indices = {name: [x for first, term in terms for x in (*(first + i + 1 for i in term[:-1]), types[name].index(term[-1]) + 1)] for name, terms in plain.items()}
            sections |= {
                "LENNARD_JONES_14_ACOEF": ("3E24.16", [p[0] for p in own]), "LENNARD_JONES_14_BCOEF": ("3E24.16", [p[1] for p in own]),
                "CHARMM_UREY_BRADLEY_COUNT": ("2I8", [len(plain["ends"]), len(types["ends"])]), "CHARMM_UREY_BRADLEY": ("10I8", indices["ends"]),
                "CHARMM_UREY_BRADLEY_FORCE_CONSTANT": ("5E16.8", [p[0] for p in types["ends"]]), "CHARMM_UREY_BRADLEY_EQUIL_VALUE": ("5E16.8", [p[1] for p in types["ends"]]),
                "CHARMM_NUM_IMPROPERS": ("10I8", [len(plain["impropers"])]), "CHARMM_IMPROPERS": ("10I8", indices["impropers"]), "CHARMM_NUM_IMPR_TYPES": ("1I8", [len(types["impropers"])]),
                "CHARMM_IMPROPER_FORCE_CONSTANT": ("5E16.8", [p[0] for p in types["impropers"]]), "CHARMM_IMPROPER_PHASE": ("5E16.8", [p[1] * radians for p in types["impropers"]]),
            }
        for name, change in changes:
            sections[name] = (sections.get(name, ("10I8", []))[0], change(sections.get(name, ("", []))[1]))
        return "%VERSION  VERSION_STAMP = V0001.000  DATE = 01/01/26  00:00:00\n" + "".join(self.section(name, *rest) for name, rest in sections.items() if rest[1] is not None)

    def firsts(self):
        return itertools.accumulate([0, *(len(molecule.atoms) for molecule in self.molecules[:-1])])

    @staticmethod
    def section(name, shape, values):
        if shape == "i2,a78":
            return f"%FLAG {name}\n%FORMAT({shape})\n" + "".join(f"{number:2d}{text:<78}\n" for number, text in values)
        count = int("".join(itertools.takewhile(str.isdigit, shape)))
        kind = shape.lstrip("0123456789(")[0]
        width = int(shape.lstrip("0123456789(")[1:].split(".")[0].rstrip(")"))
        write = {"a": lambda x: f"{x:<{width}}", "I": lambda x: f"{x:{width}d}", "E": (lambda x: f"{x:24.16E}") if width == 24 else digits, "F": lambda x: f"{x:9.5f}"}[kind]
        lines = ["".join(map(write, values[i:i + count])) for i in range(0, len(values), count)]
        return f"%FLAG {name}\n%FORMAT({shape})\n" + "\n".join(lines or [""]) + "\n"

    def rst7(self, velocities=True, box=True):
        def block(numbers):
            return "".join("".join(f"{x:12.7f}" for x in numbers[i:i + 6]) + "\n" for i in range(0, len(numbers), 6))

        text = f"made by tests/python/amber_files.py\n{len(self.places):6d}  0.1000000E+02\n" + block([10 * x for place in self.places for x in place])
        text += block([x for speed in self.speeds for x in speed]) if velocities else ""
        return text + (block([*(10 * x for x in self.lengths), *self.angles]) if box else "")

    # --- GROMACS

    def edges(self):
        a, b, c = self.lengths
        alpha, beta, gamma = (0.0 if angle == 90 else math.cos(math.radians(angle)) for angle in self.angles)
        sine = math.sqrt(1 - gamma**2)
        y = (alpha - beta * gamma) / sine
        return [[a, 0, 0], [b * gamma, b * sine, 0], [c * beta, c * y, c * math.sqrt(1 - beta**2 - y**2)]]

    def gro(self):
        lines, number = ["made by tests/python/amber_files.py", str(len(self.places))], 0
        at = 0
        for molecule in self.molecules:
            names = iter(molecule.atoms)
            for residue, size in molecule.residues:
                number += 1
                for _ in range(size):
                    numbers = "".join(f"{x:20.14f}" for x in self.places[at]) + "".join(f"{2.0455 * x:20.14f}" for x in self.speeds[at])
                    at += 1
                    lines.append(f"{number:5d}{residue:<5}{next(names)[0]:>5}{at:5d}{numbers}")
        e = self.edges()
        nine = [e[0][0], e[1][1], e[2][2], e[0][1], e[0][2], e[1][0], e[1][2], e[2][0], e[2][1]]
        return "\n".join([*lines, " ".join(f"{x:.14f}" for x in (nine if any(nine[3:]) else nine[:3])), ""])

    def lennard_jones(self, a, b, divisor=1.0, of_14=False):
        twelve, six = self.coefficients(TYPES[a][0], TYPES[b][0], of_14)
        return six * CALORIE * 1e-6 / divisor, twelve * CALORIE * 1e-12 / divisor

    def top(self):
        used = sorted({atom[1] for molecule in self.molecules for atom in molecule.atoms}, key=list(TYPES).index)
        divisors = {term[4][3] for molecule in self.molecules for term in molecule.pairs()} or {1.2}
        common = min(divisors)
        text = f"[ defaults ]\n1 1 no 1 {1 / real(common)!r}\n[ atomtypes ]\n"
        for kind in used:
            six, twelve = self.lennard_jones(kind, kind)
            text += f"{kind} {kind} 0 {TYPES[kind][1]} 0 {'V' if kind == 'EP' else 'A'} {six!r} {twelve!r}\n"
        text += "[ nonbond_params ]\n"
        for a, b in itertools.combinations(used, 2):
            six, twelve = self.lennard_jones(a, b)
            text += f"{a} {b} 1 {six!r} {twelve!r}\n"
        if self.maps:
            text += "[ cmaptypes ]\n"
            for m in range(self.maps):
                values = [value * CALORIE for row in map_values(m) for value in row]
                text += f"C N {('X2', 'XC')[m]} C N 1 24 24 \\\n" + " \\\n".join(" ".join(map(repr, values[i:i + 8])) for i in range(0, 576, 8)) + "\n"
        order = []
        for m, molecule in enumerate(self.molecules):
            like = next((k for k in range(m) if self.same(self.molecules[k], molecule)), m)
            if like == m:
                text += self.molecule_type(f"M{m}", molecule, common)
            if order and order[-1][0] == like:
                order[-1][1] += 1
            else:
                order.append([like, 1])
        return text + "[ system ]\ntest\n[ molecules ]\n" + "".join(f"M{m} {count}\n" for m, count in order)

    @staticmethod
    def same(a, b):
        return (a.residues, a.atoms, a.bonds, a.dihedrals) == (b.residues, b.atoms, b.bonds, b.dihedrals)

    def molecule_type(self, name, molecule, common):
        radians = math.pi / 180
        text = f"[ moleculetype ]\n{name} 0\n[ atoms ]\n"
        residues = [(r, residue) for r, (residue, size) in enumerate(molecule.residues, 1) for _ in range(size)]
        for i, ((atom, kind, charge), (r, residue)) in enumerate(zip(molecule.atoms, residues), 1):
            text += f"{i} {kind} {r} {residue} {atom} {i} {real(charge * self.charge) / self.charge!r} {TYPES[kind][1]}\n"
        text += "[ bonds ]\n"
        for i, j, (k, length) in molecule.bonds:
            if not (molecule.site and 3 in (i, j)):
                text += f"{i + 1} {j + 1} 1 {real(length) * ANGSTROM!r} {2 * real(k) * CALORIE / ANGSTROM**2!r}\n"
        text += "[ angles ]\n"
        ends = {frozenset(term[:2]): term[2] for term in molecule.ends}
        for i, j, k, (strength, angle) in molecule.angles:
            text += f"{i + 1} {j + 1} {k + 1} {5 if frozenset((i, k)) in ends else 1} {real(angle * radians) / radians!r} {2 * real(strength) * CALORIE!r}"
            if frozenset((i, k)) in ends:
                strength, length = ends[frozenset((i, k))]
                text += f" {real(length) * ANGSTROM!r} {2 * real(strength) * CALORIE / ANGSTROM**2!r}"
            text += "\n"
        text += "[ dihedrals ]\n"
        for i, j, k, m, (strength, times, phase, *_), improper in molecule.dihedrals:
            text += f"{i + 1} {j + 1} {k + 1} {m + 1} {4 if improper else 9} {real(phase * radians) / radians!r} {real(strength) * CALORIE!r} {times}\n"
        for i, j, k, m, (strength, phase) in molecule.impropers:
            text += f"{i + 1} {j + 1} {k + 1} {m + 1} 2 {real(phase * radians) / radians!r} {2 * real(strength) * CALORIE!r}\n"
        text += "[ pairs ]\n"
        for i, _, _, j, (*_, scee, scnb), _ in molecule.pairs():
            six, twelve = self.lennard_jones(molecule.atoms[i][1], molecule.atoms[j][1], real(scnb), self.charmm)
            if scee == common:
                text += f"{i + 1} {j + 1} 1 {six!r} {twelve!r}\n"
            else:
                charges = [repr(real(molecule.atoms[a][2] * self.charge) / self.charge) for a in (i, j)]
                text += f"{i + 1} {j + 1} 2 {1 / real(scee)!r} {charges[0]} {charges[1]} {six!r} {twelve!r}\n"
        if molecule.maps:
            text += "[ cmap ]\n" + "".join(" ".join(str(i + 1) for i in term[:5]) + " 1\n" for term in molecule.maps)
        if molecule.site:
            height = math.sqrt(real(molecule.bonds[0][2][1])**2 - real(molecule.bonds[2][2][1])**2 / 4)
            weight = real(molecule.site[0]) / height / 2
            text += f"[ virtual_sites3 ]\n4 1 2 3 1 {weight!r} {weight!r}\n"
        text += "[ exclusions ]\n"
        for i, atoms in enumerate(molecule.excluded(), 1):
            text += " ".join(map(str, [i, *(j + 1 for j in atoms)])) + "\n" if atoms else ""
        return text

    def write(self, folder):
        (folder / "amber.prmtop").write_text(self.prmtop())
        (folder / "amber.rst7").write_text(self.rst7())
        (folder / "gromacs.top").write_text(self.top())
        (folder / "gromacs.gro").write_text(self.gro())


def solution(edge=4.9, waters=60, site=None, scaling=((1.2, 2.0),), maps=0, angles=(90.0, 90.0, 90.0), charmm=False):
    """Two peptides of one kind, one of another, ions and waters, within 2 nm of each other in a box of `edge` nm."""
    rng = random.Random(3)
    peptide = ["ALA", "GLY", "SER", "ALA"]
    molecules = [chain(random.Random(1), peptide, [1.7, y, 2.0], scaling, maps, charmm) for y in (1.8, 2.4)]
    molecules.append(chain(random.Random(2), peptide[:3], [1.7, 3.0, 2.1], scaling, maps, charmm))
    molecules += [ion("Na+", [1.8, 2.1, 1.55]), ion("Na+", [2.6, 2.1, 1.55]), ion("Cl-", [2.2, 2.1, 1.5])]
    solute = [place for molecule in molecules for place in molecule.places]
    spots = ([1.4 + 0.31 * i, 1.4 + 0.31 * j, 1.3 + 0.31 * k] for k in range(6) for j in range(6) for i in range(6))
    free = [spot for spot in spots if all(math.dist(spot, place) > 0.27 for place in solute)]
    molecules += [water(rng, spot, site) for spot in free[:waters]]
    return Files(molecules, (edge, edge, edge), angles, maps, charmm)


def small():
    """The files of tests/data/io/amber: every section that is read, some 40 atoms."""
    files = solution(waters=4, site=0.125, maps=1)
    files.molecules = [chain(random.Random(1), ["ALA", "GLY", "SER"], [1.7, 1.8, 2.0], maps=1)] + files.molecules[3:]
    return Files(files.molecules, files.lengths, maps=1)


if __name__ == "__main__":
    folder = Path(__file__).resolve().parents[1] / "data" / "io" / "amber"
    (folder / "system.prmtop").write_text(small().prmtop())
    (folder / "conf.rst7").write_text(small().rst7())
