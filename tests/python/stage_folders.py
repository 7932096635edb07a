# SPDX-License-Identifier: Apache-2.0
"""Small folders of input of the kinds that people have: topology, start, reference, index and an .mdp file for each stage.

Each has some hundred atoms and what is particular of its kind: the sections of the topology, the groups, the couplings, the shape of the
box. The numbers are nobody's force field. Everything is made by formulas and Python's random numbers, so that it is the same everywhere.
`write(kind, folder)` writes one for tools/run_stages.py; `single_point(kind, folder)` the options of one force evaluation with its restraints.
"""
import itertools
import math
import random


# --- positions

def add(a, b, factor=1.0):
    return [x + factor * y for x, y in zip(a, b)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def unit(a):
    return [x / math.sqrt(dot(a, a)) for x in a]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def random_axes(rng):
    """Two orthogonal directions."""
    first = unit([rng.gauss(0, 1) for _ in range(3)])
    return first, unit(cross(first, [rng.gauss(0, 1) for _ in range(3)]))


def nearest(box, a, b):
    """Distance of the nearest images; right where it is less than half of the least height."""
    d = add(a, b, -1)
    for edge in (2, 1, 0):
        d = add(d, box[edge], -round(d[edge] / box[edge][edge]))
    return math.sqrt(dot(d, d))


class Box:
    """Molecules in the order of the topology."""

    def __init__(self, edges):
        self.edges = edges if isinstance(edges[0], list) else [[edges[0], 0, 0], [0, edges[1], 0], [0, 0, edges[2]]]
        self.atoms, self.molecules, self.groups, self.rng = [], [], {}, random.Random(1)

    def put(self, molecule, places, names, group, residues=None):
        residues = residues or [molecule] * len(places)
        for i, (place, name) in enumerate(zip(places, names)):
            last = self.atoms[-1] if self.atoms else (0, "", "", None)
            number = last[0] + (i == 0 or residues[i] != residues[i - 1])
            self.atoms.append((number, residues[i], name, place))
        self.groups.setdefault(group, []).extend(range(len(self.atoms) - len(places) + 1, len(self.atoms) + 1))
        if self.molecules and self.molecules[-1][0] == molecule:
            self.molecules[-1][1] += 1
        else:
            self.molecules.append([molecule, 1])

    def sites(self, cells, between=(0, 1)):
        """Of a lattice, those that are 0.27 nm and more from what is there; between: fractions of the third edge."""
        solute = [place for *_, place in self.atoms]
        for k, j, i in itertools.product(*(range(n) for n in reversed(cells))):
            fractions = [(i + 0.5) / cells[0], (j + 0.5) / cells[1], between[0] + (k + 0.5) / cells[2] * (between[1] - between[0])]
            place = [sum(fractions[e] * self.edges[e][d] for e in range(3)) for d in range(3)]
            if all(nearest(self.edges, place, other) > 0.27 for other in solute):
                yield place

    def gro(self, noise=0.0):
        rng = random.Random(2)
        lines = ["made by tests/python/stage_folders.py", str(len(self.atoms))]
        for i, (number, residue, name, place) in enumerate(self.atoms, 1):
            moved = [x + noise * rng.gauss(0, 1) for x in place] if noise else place
            lines.append(f"{number:5d}{residue:<5}{name:>5}{i:5d}" + "".join(f"{x:20.14f}" for x in moved))
        e = self.edges
        nine = [e[0][0], e[1][1], e[2][2], e[0][1], e[0][2], e[1][0], e[1][2], e[2][0], e[2][1]]
        return "\n".join([*lines, " ".join(f"{x:.14f}" for x in (nine if any(nine[3:]) else nine[:3])), ""])

    def index(self):
        return "".join(f"[ {name} ]\n" + "".join(f"{atom}\n" for atom in atoms) for name, atoms in {"System": range(1, len(self.atoms) + 1), **self.groups}.items())


def rigid_water(rng, oxygen, length, across, site=None):
    """Oxygen, two hydrogens `length` from it and `across` from each other; site: the weight of either hydrogen for a fourth place."""
    along, side = random_axes(rng)
    half, height = across / 2, math.sqrt(length**2 - across**2 / 4)
    places = [oxygen, add(add(oxygen, along, height), side, half), add(add(oxygen, along, height), side, -half)]
    return places + ([add(oxygen, along, 2 * site * height)] if site else [])


# --- topologies

def bonded(bonds):
    """Angles, dihedrals about each bond, and 1-4 pairs that follow from the bonds."""
    near = {}
    for i, j in bonds:
        near.setdefault(i, []).append(j)
        near.setdefault(j, []).append(i)
    angles = [(i, j, k) for j in sorted(near) for i, k in itertools.combinations(sorted(near[j]), 2)]
    dihedrals = [(i, j, k, m) for j, k in bonds for i in sorted(near[j]) if i != k for m in sorted(near[k]) if m not in (i, j)]
    close = {tuple(sorted(pair)) for pair in bonds} | {tuple(sorted((a[0], a[2]))) for a in angles}
    pairs = sorted({tuple(sorted((d[0], d[3]))) for d in dihedrals} - close)
    return angles, dihedrals, pairs


def section(name, terms, rest):
    return f"[ {name} ]\n" + "".join(" ".join(map(str, term)) + f" {line}\n" for term in terms for line in (rest if isinstance(rest, list) else [rest]))


def water_molecule(model):
    """[ moleculetype ] SOL"""
    q, length, across, site = WATERS[model]
    atoms = "".join(f"{i} {kind} 1 SOL {name} 1 {charge}\n" for i, (name, kind, charge) in enumerate(
        [("OW", "OW", 0 if site else -2 * q), ("HW1", "HW", q), ("HW2", "HW", q)] + ([("MW", "MW", -2 * q)] if site else []), 1))
    held = f"[ settles ]\n1 1 {length} {across}\n"
    if model == "bonds":
        held = f"[ bonds ]\n1 2 1 {length} 462750.4\n1 3 1 {length} 462750.4\n2 3 1 {across} 462750.4\n"
    sites = f"[ virtual_sites3 ]\n4 1 2 3 1 {site} {site}\n" if site else ""
    n = 4 if site else 3
    exclusions = "[ exclusions ]\n" + "".join(" ".join(map(str, [i, *(j for j in range(1, n + 1) if j != i)])) + "\n" for i in range(1, n + 1))
    return f"[ moleculetype ]\nSOL 2\n[ atoms ]\n{atoms}{held}{sites}{exclusions}"


# Charge of a hydrogen, its distance from the oxygen, that of the hydrogens, weight of a fourth place.
WATERS = {"rigid": (0.41, 0.1, 0.1633, None), "bonds": (0.41, 0.0957, 0.1514, None), "TIP4P": (0.52, 0.0957, 0.1514, 0.128), "OPC": (0.68, 0.0872, 0.1371, 0.147)}
TYPES = """[ atomtypes ]
C  12.011  0 A 0.34 0.36
CX 12.011  0 A 0.33 0.40
H  1.008   0 A 0.24 0.06
OW 15.9994 0 A 0.316 0.65
HW 1.008   0 A 0 0
MW 0       0 D 0 0
NA 22.99   1 A 0.30 0.4
CL 35.45  -1 A 0.42 0.4
"""
IONS = "".join(f"[ moleculetype ]\n{name} 1\n[ atoms ]\n1 {name} 1 {name} {name} 1 {charge}\n" for name, charge in (("NA", 1), ("CL", -1)))


def chain_molecule(name, residues, angle="1 {} 400", dihedral=None, more=""):
    """A zigzag of carbons, each with a hydrogen, three to a residue. Restraints of the carbons under #ifdef POSRES."""
    n = 3 * len(residues)
    atoms = "".join(f"{2 * i + 1} {'C' if i % 3 else 'CX'} {i // 3 + 1} {residues[i // 3]} C{i % 3 + 1} {i + 1} -0.1\n"
                    f"{2 * i + 2} H {i // 3 + 1} {residues[i // 3]} H{i % 3 + 1} {i + 1} 0.1\n" for i in range(n))
    spine, hydrogens = [(2 * i + 1, 2 * i + 3) for i in range(n - 1)], [(2 * i + 1, 2 * i + 2) for i in range(n)]
    angles, dihedrals, pairs = bonded(spine + hydrogens)
    impropers = [(2 * i + 1, 2 * i - 1, 2 * i + 3, 2 * i + 2) for i in range(1, n - 1)]
    return (f"[ moleculetype ]\n{name} 3\n[ atoms ]\n{atoms}" + section("bonds", spine, "1 0.153 250000") + section("bonds", hydrogens, "1 0.109 290000") +
            section("pairs", pairs, "1") + section("angles", angles, angle.format(112)) +
            section("dihedrals", dihedrals, dihedral or ["9 0 0.7 3", "9 180 0.3 2"]) + section("dihedrals", impropers, "4 180 4.6 2") + more +
            "#ifdef POSRES\n" + section("position_restraints", [(2 * i + 1,) for i in range(n)], "1 1000 1000 1000") + "#endif\n")


def put_chain(box, name, residues, start, group):
    places = []
    for i in range(3 * len(residues)):
        carbon = add(start, [0.127 * i, 0.0425 * (-1) ** i, 0.01 * math.sin(i)])
        places += [carbon, add(carbon, unit([0.1, 0.5 * (-1) ** i, 0.9 * (-1) ** (i // 2)]), 0.109)]
    names = [f"{kind}{i % 3 + 1}" for i in range(3 * len(residues)) for kind in "CH"]
    box.put(name, places, names, group, [residues[i // 6] for i in range(6 * len(residues))])


def solvate(box, model, cells, group, ions=0, between=(0, 1)):
    q, length, across, site = WATERS[model]
    sites = list(box.sites(cells, between))
    names = ["OW", "HW1", "HW2"] + (["MW"] if site else [])
    for place in sites[2 * ions:]:
        box.put("SOL", rigid_water(box.rng, place, length, across, site), names, group)
    for name, places in (("NA", sites[:ions]), ("CL", sites[ions:2 * ions])):
        for place in places:
            box.put(name, [place], [name], group)


def topology(defaults, molecules, box, types=TYPES):
    listed = "".join(f"{name} {count}\n" for name, count in box.molecules)
    return f"[ defaults ]\n{defaults}\n{types}{molecules}[ system ]\nsmall\n[ molecules ]\n{listed}"


# --- stages

PME = {"cutoff-scheme": "Verlet", "nstlist": 10, "coulombtype": "PME", "rcoulomb": 0.7, "rvdw": 0.7, "fourierspacing": 0.12}
MD = {"integrator": "md", "dt": 0.002, "nsteps": 1000, "constraints": "h-bonds", "nstenergy": 10, "nstcalcenergy": 10, **PME}
DRAWN = {"gen-vel": "yes", "gen-temp": 300, "gen-seed": 1, "continuation": "no"}
GOES_ON = {"gen-vel": "no", "continuation": "yes"}
STEEP = {"integrator": "steep", "emtol": 500, "emstep": 0.01, "nsteps": 200, **PME}


def heat(groups, tau=0.5, temperature=300):
    n = len(groups.split())
    return {"tcoupl": "v-rescale", "tc-grps": groups, "tau-t": " ".join([str(tau)] * n), "ref-t": " ".join([str(temperature)] * n)}


def press(kind, pcoupltype="isotropic", compressibility="4.5e-5", tau=2):
    n = {"isotropic": 1, "semiisotropic": 2}[pcoupltype]
    return {"pcoupl": kind, "pcoupltype": pcoupltype, "tau-p": tau, "ref-p": " ".join(["1"] * n), "compressibility": compressibility}


def tutorial(groups, barostat="C-rescale", **more):
    """Minimisation, heating and equilibration with restraints, production: (name, options, index, reference)."""
    held = {"define": "-DPOSRES"}
    md = {**MD, **more}
    return [("em", STEEP, "-", "-"), ("nvt", {**md, **heat(groups), **DRAWN, **held}, "-", "prev"),
            ("npt", {**md, **heat(groups), **press("C-rescale"), **GOES_ON, **held, "refcoord-scaling": "com"}, "-", "prev"),
            ("md", {**md, **heat(groups), **press(barostat), **GOES_ON}, "-", "-")]


def protein_in_water(edges, model, cells, defaults, stages, residues=("ALA", "GLY", "ALA", "GLY"), **molecule):
    box = Box(edges)
    residues = list(residues)
    put_chain(box, "PEP", residues, [0.35, 1.0, 0.9], "Protein")
    solvate(box, model, cells, "Water", ions=2)
    return topology(defaults, chain_molecule("PEP", residues, **molecule) + water_molecule(model) + IONS, box), box, stages


def dodecahedron():
    d = 2.7
    edges = [[d, 0, 0], [0, d, 0], [d / 2, d / 2, d / math.sqrt(2)]]
    return protein_in_water(edges, "rigid", (8, 8, 6), "1 2 yes 0.5 0.8333", tutorial("Protein Non-Protein", "Parrinello-Rahman", **{"DispCorr": "EnerPres"}))


def tip4p():
    return protein_in_water([2.3, 2.2, 2.2], "TIP4P", (7, 7, 7), "1 3 yes 0.5 0.5", tutorial("Protein Water_and_ions"), dihedral="3 2.5 -3.2 1.1 0.4 0 0")


def opc():
    n = 8
    values = " ".join(f"{2 * math.sin(2 * math.pi * i / n) * math.cos(2 * math.pi * (j + 0.5) / n):.4f}" for i in range(n) for j in range(n))
    top, box, stages = protein_in_water([2.3, 2.2, 2.2], "OPC", (7, 7, 7), "1 2 yes 0.5 0.8333", tutorial("Protein Water_and_ions"), more=section("cmap", [(3, 5, 7, 9, 11)], "1"))
    kinds = "[ cmaptypes ]\nC C CX C C 1 8 8 " + values + "\n"
    return top.replace("[ moleculetype ]", kinds + "[ moleculetype ]", 1), box, stages


def dna():
    box, residues = Box([2.3, 2.4, 2.4]), ["DA", "DT", "DA", "DT"]
    put_chain(box, "DNA_A", residues, [0.35, 1.0, 0.9], "DNA")
    put_chain(box, "DNA_B", residues[::-1], [0.35, 1.5, 1.1], "DNA")
    solvate(box, "rigid", (7, 7, 7), "Water", ions=4)
    molecules = chain_molecule("DNA_A", residues) + chain_molecule("DNA_B", residues[::-1])
    return topology("1 2 yes 0.5 0.8333", molecules + water_molecule("rigid") + IONS, box), box, tutorial("DNA Water_and_ions")


def peptide_4fs():
    return protein_in_water([2.3, 2.2, 2.2], "rigid", (7, 7, 7), "1 2 yes 0.5 0.8333", tutorial("Protein Water_and_ions", **{"dt": 0.004, "mass-repartition-factor": 3}))


def waters_of_bonds():
    stages = [("em", STEEP, "-", "-"), ("nvt", {**MD, **heat("System"), **DRAWN}, "-", "-"), ("md", {**MD, **heat("System"), **GOES_ON}, "-", "-")]
    return protein_in_water([2.3, 2.2, 2.2], "bonds", (7, 7, 7), "1 2 yes 0.5 0.8333", stages)


def periodic():
    cells, cell, lattice = (9, 5), (0.142 * math.sqrt(3), 0.426), [(0, 0), (0, 1 / 3), (0.5, 0.5), (0.5, 5 / 6)]
    box = Box([cells[0] * cell[0], cells[1] * cell[1], 2.2])
    places = [[(i + x) * cell[0], (j + y) * cell[1], 0.5] for i in range(cells[0]) for j in range(cells[1]) for x, y in lattice]
    places = [add(place, [box.rng.gauss(0, 0.003) for _ in range(3)]) for place in places]
    box.put("GRA", places, [f"C{i % 4 + 1}" for i in range(len(places))], "Carbon")
    bonds = [(i + 1, j + 1) for i, j in itertools.combinations(range(len(places)), 2) if nearest(box.edges, places[i], places[j]) < 0.16]
    angles, dihedrals, pairs = bonded(bonds)
    atoms = "".join(f"{i + 1} C 1 GRA C{i % 4 + 1} {i + 1} 0\n" for i in range(len(places)))
    sheet = f"[ moleculetype ]\nGRA 3\n[ atoms ]\n{atoms}" + section("bonds", bonds, "1 0.142 390000") + section("pairs", pairs, "1") + section("angles", angles, "1 120 500")
    solvate(box, "rigid", (7, 7, 5), "Water", between=(0.38, 1.0))
    options = {**MD, **heat("Carbon Water"), "periodic-molecules": "yes"}
    along_z = press("C-rescale", "semiisotropic", "0 4.5e-5")
    stages = [("em", {**STEEP, "periodic-molecules": "yes"}, "index.ndx", "-"), ("nvt", {**options, **DRAWN}, "index.ndx", "-"),
              ("npt", {**options, **along_z, **GOES_ON}, "index.ndx", "-"), ("md", {**options, **along_z, **GOES_ON}, "index.ndx", "-")]
    return topology("1 2 yes 0.5 0.8333", sheet + section("dihedrals", dihedrals, "1 180 15 2") + water_molecule("rigid"), box), box, stages


LIPID_TYPES = TYPES.replace("HW 1.008   0 A 0 0", "HW 1.008   0 A 0.04 0.19") + """P  30.97 0 A 0.38 0.4
[ pairtypes ]
C C 1 0.33 0.05
[ nonbond_params ]
P NA 1 0.36 0.33
"""


def membrane():
    """Lipids of a head and a tail with hydrogens and a double bond, as CHARMM-GUI lays a bilayer out."""
    box, kinds = Box([2.4, 2.4, 4.0]), ["P", "C", "C", "CX", "C", "C", "C", "C"]
    for sign, i, j in itertools.product((1, -1), range(3), range(3)):
        spine = [[0.4 + 0.8 * i + 0.04 * (-1) ** k, 0.4 + 0.8 * j + 0.02 * math.sin(2 * k + i), 2.0 + sign * (1.15 - 0.13 * k)] for k in range(8)]
        box.put("LIP", spine + [add(spine[k], [0, 0.109, 0]) for k in (4, 5)], ["P"] + [f"C{k}" for k in range(1, 8)] + ["H4", "H5"], "MEMB")
    solvate(box, "rigid", (7, 7, 4), "SOLV", ions=2, between=(0.83, 1.17))
    bonds = [(k, k + 1) for k in range(1, 8)] + [(5, 9), (6, 10)]
    angles, dihedrals, pairs = bonded(bonds)
    charges = [-0.5, 0.5, 0, 0, -0.1, -0.1, 0, 0, 0.1, 0.1]
    atoms = "".join(f"{k + 1} {(kinds + ['H', 'H'])[k]} 1 LIP {name} {k + 1} {charges[k]}\n" for k, name in enumerate(["P"] + [f"C{k}" for k in range(1, 8)] + ["H4", "H5"]))
    lipid = (f"[ moleculetype ]\nLIP 3\n[ atoms ]\n{atoms}" + section("bonds", bonds[:7], "1 0.153 200000") + section("bonds", bonds[7:], "1 0.109 290000") +
             section("pairs", pairs, "1") + section("angles", angles, "5 113 450 0.26 6000") + section("dihedrals", dihedrals, ["9 0 0.8 3", "9 180 0.2 1"]) +
             section("dihedrals", [(3, 2, 4, 1)], "2 35 300") + "#ifdef POSRES\n[ position_restraints ]\n1 1 0 0 POSRES_FC_LIPID\n#endif\n" +
             "#ifdef DIHRES\n[ dihedral_restraints ]\n2 3 4 5 1 -160 2.5 DIHRES_FC\n4 5 6 7 1 160 0 DIHRES_FC\n#endif\n")
    common = {**MD, **heat("MEMB SOLV", 1.0, 303.15), "vdwtype": "Cut-off", "vdw-modifier": "Force-switch", "rvdw-switch": 0.7, "rvdw": 0.9, "rcoulomb": 0.9, "rlist": 0.9,
              "nstcomm": 100, "comm-mode": "linear", "comm-grps": "MEMB SOLV"}
    steep = {key: common[key] for key in ("vdwtype", "vdw-modifier", "rvdw-switch", "rvdw", "rcoulomb", "rlist")}
    held = [(1000, 1000), (1000, 400), (400, 200), (200, 200), (40, 100), (0, 0)]
    defines = [{"define": f"-DPOSRES -DPOSRES_FC_LIPID={lipid_fc}.0 -DDIHRES -DDIHRES_FC={dihedral_fc}.0", "refcoord-scaling": "com"} for lipid_fc, dihedral_fc in held]
    stages = [("step6.0", {**STEEP, **steep, **defines[0]}, "index.ndx", "conf.gro")]
    for i, define in enumerate(defines, 1):
        pressure = press("C-rescale", "semiisotropic", "4.5e-5 4.5e-5", 5) if i > 2 else {}
        stages.append((f"step6.{i}", {**common, **define, **(DRAWN if i == 1 else GOES_ON), **pressure, "dt": 0.001 if i < 4 else 0.002}, "index.ndx", "conf.gro"))
    stages.append(("step7", {**common, **GOES_ON, **press("C-rescale", "semiisotropic", "4.5e-5 4.5e-5", 5)}, "index.ndx", "-"))
    return topology("1 2 yes 1 1", lipid + water_molecule("rigid") + IONS, box, LIPID_TYPES), box, stages


MARTINI_TYPES = """[ atomtypes ]
B 72 0 A 0.47 3.5
Q 72 0 A 0.47 4.0
V 0  0 V 0.41 2.0
W 72 0 A 0.47 4.6
"""


def diamond(centre):
    """Four beads: a triangle and another one on its second side, folded by 0.2 rad; their distances are those of DIAMOND."""
    a, b = (math.sqrt(length**2 - 0.15**2) for length in (0.42, 0.43))
    return [add(centre, place) for place in ([0, -a, 0], [-0.15, 0, 0], [0.15, 0, 0], [0, b * math.cos(0.2), b * math.sin(0.2)])]


DIAMOND = [(1, 2, 1, 0.42), (1, 3, 1, 0.42), (2, 3, 1, 0.3), (2, 4, 1, 0.43), (3, 4, 1, 0.43)]  # as lines of [ constraints ]: two triangles of constraints that share a side


def martini():
    """Beads: a chain of bonds 6 and restricted bending, sterols of a diamond with sites of each kind of [ virtual_sitesn ], lipids of four beads, single beads of solvent."""
    box = Box([3.7, 3.7, 4.8])
    box.put("PRO", [[0.6 + 0.33 * i, 1.7 + 0.1 * (-1) ** i, 2.1] for i in range(6)], [f"B{i + 1}" for i in range(6)], "Protein")
    for i, j in itertools.product(range(3), range(2)):
        frame = diamond([0.7 + 1.2 * i, 0.7 + 2.2 * j, 2.1])
        sites = [[sum(weight * place[d] for weight, place in zip(weights, frame)) for d in range(3)] for weights in ((1 / 3, 1 / 3, 1 / 3, 0), (0, 0.3, 0.4, 0.3), (0, 0.2, 0.3, 0.5))]
        box.put("STE", [*frame, *sites, add(frame[3], [0, 0, 0.37])], ["R1", "R2", "R3", "R4", "V1", "V2", "V3", "T"], "Membrane")
    for i, j, sign in itertools.product(range(3), range(2), (1, -1)):
        box.put("LIP", [[0.4 + 1.2 * i + 0.1 * (-1) ** k, 0.2 + 1.6 * j, 2.1 + sign * (1.6 - 0.38 * k)] for k in range(4)], ["Q1", "Q2", "B1", "B2"], "Membrane")
    for place in [place for place in box.sites((8, 8, 10)) if all(nearest(box.edges, place, other) > 0.36 for *_, other in box.atoms)]:
        box.put("W", [place], ["W"], "Solvent")
    step = math.hypot(0.33, 0.2)
    protein = ("[ moleculetype ]\nPRO 1\n[ atoms ]\n" + "".join(f"{i} B 1 PRO B{i} {i} {0.5 * (-1) ** i}\n" for i in range(1, 7)) + section("bonds", [(i, i + 1) for i in (1, 3, 4)], "1 0.35 4000") +
               section("bonds", [(5, 6)], "6 0.35 4000") + section("constraints", [(2, 3)], f"1 {step!r}") + section("angles", [(i, i + 1, i + 2) for i in range(1, 5)], "10 130 25") +
               section("dihedrals", [(1, 2, 3, 4), (3, 4, 5, 6)], "1 -120 20 1") + "#ifdef POSRES\n" + section("position_restraints", [(i,) for i in range(1, 7)], "1 1000 1000 1000") + "#endif\n")
    sterol = ("[ moleculetype ]\nSTE 1\n[ atoms ]\n" + "".join(f"{i} B 1 STE R{i} {i} 0 {mass}\n" for i, mass in enumerate((90, 60, 80, 60), 1)) + "".join(f"{i} V 1 STE V{i - 4} {i} 0\n" for i in (5, 6, 7)) +
              "8 B 1 STE T 8 0\n[ bonds ]\n4 8 1 0.37 5000\n" + section("constraints", DIAMOND, "") + section("angles", [(2, 4, 8), (3, 4, 8)], "2 150 50") +
              "[ dihedrals ]\n1 2 3 4 2 180 150\n[ virtual_sitesn ]\n5 1 1 2 3\n6 2 2 3 4\n7 3 2 0.2 3 0.3 4 0.5\n[ exclusions ]\n" +
              "".join(" ".join(map(str, range(i, 8))) + "\n" for i in range(1, 7)) + "8 5 6 7\n")
    lipid = ("[ moleculetype ]\nLIP 1\n[ atoms ]\n1 Q 1 LIP Q1 1 1\n2 Q 1 LIP Q2 2 -1\n3 B 1 LIP B1 3 0\n4 B 1 LIP B2 4 0\n" + section("bonds", [(1, 2), (2, 3), (3, 4)], "1 0.4 5000") +
             section("angles", [(1, 2, 3), (2, 3, 4)], "2 180 25"))
    solvent = "[ moleculetype ]\nW 1\n[ atoms ]\n1 W 1 W W 1 0\n"
    plain = {"cutoff-scheme": "Verlet", "nstlist": 20, "coulombtype": "reaction-field", "rcoulomb": 1.1, "epsilon-r": 15, "epsilon-rf": 0, "vdw-type": "cutoff", "vdw-modifier": "Potential-shift-verlet",
             "rvdw": 1.1, "lincs-order": 8, "lincs-iter": 2}
    md = {"integrator": "md", "nsteps": 1000, "nstenergy": 10, "nstcalcenergy": 10, "comm-mode": "Linear", "comm-grps": "System", **plain, **heat("Protein Membrane Solvent", 1.0, 310)}
    wide = press("C-rescale", "semiisotropic", "3e-4 3e-4", 12)
    stages = [("em", {"integrator": "steep", "emtol": 100, "emstep": 0.01, "nsteps": 200, **plain}, "index.ndx", "-"),
              ("eq1", {**md, **DRAWN, "dt": 0.005, "define": "-DPOSRES"}, "index.ndx", "prev"), ("eq2", {**md, **wide, **GOES_ON, "dt": 0.01}, "index.ndx", "-"),
              ("md", {**md, **wide, **GOES_ON, "dt": 0.02}, "index.ndx", "-")]
    return topology("1 2 no 1 1", protein + sterol + lipid + solvent, box, MARTINI_TYPES), box, stages


def polymer_melt():
    """Chains of beads that FENE bonds hold together, and that the repulsive part of Lennard-Jones keeps apart, also neighbours of a chain.

    0.85 beads per sigma^3 (Kremer and Grest, doi 10.1063/1.458541).
    """
    n, sigma, epsilon = 7, 0.47, 2.5
    apart = sigma * (1 / 0.85) ** (1 / 3)
    box = Box([n * apart] * 3)
    for k in range(n):  # a chain goes to and fro in a layer
        path = [(i if j % 2 == 0 else n - 1 - i, j) for j in range(n) for i in range(n)]
        places = [[(x + 0.5) * apart + 0.01 * box.rng.gauss(0, 1) for x in (i, j, k)] for i, j in path]
        box.put("POL", places, [f"B{b % 10}" for b in range(n * n)], "Polymer")
    beads = "".join(f"{b} B 1 POL B{(b - 1) % 10} {b} 0\n" for b in range(1, n * n + 1))
    chain = f"[ moleculetype ]\nPOL 0\n[ atoms ]\n{beads}" + section("bonds", [(b, b + 1) for b in range(1, n * n)], f"7 {1.5 * sigma!r} {30 * epsilon / sigma**2!r}")
    cutoff = sigma * 2 ** (1 / 6)
    plain = {"cutoff-scheme": "Verlet", "nstlist": 20, "coulombtype": "reaction-field", "rcoulomb": cutoff, "rvdw": cutoff, "vdw-modifier": "Potential-shift"}
    md = {"integrator": "md", "dt": 0.01, "nsteps": 1000, "nstenergy": 10, "nstcalcenergy": 10, **plain, **heat("System", 1.0)}
    stages = [("em", {"integrator": "steep", "emtol": 500, "emstep": 0.01, "nsteps": 200, **plain}, "-", "-"), ("nvt", {**md, **DRAWN, "dt": 0.005}, "-", "-"), ("md", {**md, **GOES_ON}, "-", "-")]
    return topology("1 2 no 1 1", chain, box, f"[ atomtypes ]\nB 72 0 A {sigma} {epsilon}\n"), box, stages


IONIC_TYPES = """[ atomtypes ]
N 14.007  0 A 0.325 0.70
C 12.011  0 A 0.35  0.30
E 14.027  0 A 0.38  0.45
H 1.008   0 A 0.24  0.10
B 10.81   0 A 0.36  0.40
F 18.998  0 A 0.31  0.25
"""


def ionic_liquid():
    """Cations of a ring with a methyl and an ethyl, whose dihedrals are Fourier series, and tetrahedral anions; by turns on a cubic lattice."""
    box, apart, corners = Box([2.72] * 3), 0.68, ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))
    places = {parity: [[(x + 0.5) * apart for x in spot] for spot in itertools.product(range(4), repeat=3) if sum(spot) % 2 == parity] for parity in (0, 1)}
    for centre in places[0]:
        first, second = random_axes(box.rng)
        out = [add([x * math.cos(0.4 * math.pi * i) for x in first], second, math.sin(0.4 * math.pi * i)) for i in range(5)]
        ring = [add(centre, direction, 0.115) for direction in out]
        ethyl = add(ring[0], out[0], 0.147)
        tip = add(add(ethyl, out[0], 0.045), cross(first, second), 0.145)
        box.put("CAT", [*ring, *(add(ring[i], out[i], 0.108) for i in (1, 3, 4)), add(ring[2], out[2], 0.147), ethyl, tip], ["N1", "C2", "N3", "C4", "C5", "H2", "H4", "H5", "CM", "CE", "CT"], "Cations")
    for centre in places[1]:
        first, second = random_axes(box.rng)
        axes = (first, second, cross(first, second))
        ends = [[sum(corner[a] * axes[a][d] for a in range(3)) for d in range(3)] for corner in corners]
        box.put("ANI", [centre, *(add(centre, unit(end), 0.139) for end in ends)], ["B", "F1", "F2", "F3", "F4"], "Anions")
    names, charges = "N C N C C H H H E E E".split(), (0.15, 0, 0.15, -0.1, -0.1, 0.2, 0.2, 0.2, 0.25, 0.05, 0)
    ring, hydrogens, rest = [(i, i % 5 + 1) for i in range(1, 6)], [(2, 6), (4, 7), (5, 8)], [(3, 9), (1, 10), (10, 11)]
    angles, dihedrals, pairs = bonded(ring + hydrogens + rest)
    inner, outer = ([term for term in angles if (max(term) < 6) == is_inner] for is_inner in (True, False))
    stiff, soft = ([term for term in dihedrals if (10 not in term[1:3]) == is_stiff] for is_stiff in (True, False))
    planar = [(2, 1, 3, 6), (4, 3, 5, 7), (5, 4, 1, 8), (3, 2, 4, 9), (1, 5, 2, 10)]
    cation = ("[ moleculetype ]\nCAT 3\n[ atoms ]\n" + "".join(f"{i} {kind} 1 CAT {box.atoms[i - 1][2]} {i} {q}\n" for i, (kind, q) in enumerate(zip(names, charges), 1)) +
              section("bonds", ring, "1 0.135 380000") + section("bonds", hydrogens, "1 0.108 300000") + section("bonds", rest, "1 0.147 270000") + section("pairs", pairs, "1") +
              section("angles", inner, "1 108 580") + section("angles", [term for term in outer if term != (1, 10, 11)], "1 126 350") + "[ angles ]\n1 10 11 1 112 480\n" +
              section("dihedrals", stiff, "5 0 30 0 0") + section("dihedrals", soft, "5 -6.2 1.3 0.9 -0.7") + section("dihedrals", planar, "2 0 90"))
    anion = ("[ moleculetype ]\nANI 3\n[ atoms ]\n1 B 1 ANI B 1 0.96\n" + "".join(f"{i} F 1 ANI F{i - 1} {i} -0.49\n" for i in range(2, 6)) + section("bonds", [(1, i) for i in range(2, 6)], "1 0.139 240000") +
             section("angles", [(i, 1, j) for i, j in itertools.combinations(range(2, 6), 2)], "1 109.47 600"))
    stages = [("em", STEEP, "-", "-"), ("nvt", {**MD, **heat("Cations Anions"), **DRAWN}, "index.ndx", "-"),
              ("npt", {**MD, **heat("Cations Anions"), **press("C-rescale"), **GOES_ON}, "index.ndx", "-"), ("md", {**MD, **heat("System"), **press("C-rescale"), **GOES_ON}, "index.ndx", "-")]
    return topology("1 3 yes 0.5 0.5", cation + anion, box, IONIC_TYPES), box, stages


KINDS = {"membrane": membrane, "dodecahedron": dodecahedron, "TIP4P": tip4p, "OPC": opc, "DNA": dna, "periodic": periodic, "peptide 4 fs": peptide_4fs, "Martini": martini,
         "waters of bonds": waters_of_bonds, "polymer melt": polymer_melt, "ionic liquid": ionic_liquid}


def mdp(options):
    return "".join(f"{key} = {value}\n" for key, value in options.items())


def write(kind, folder):
    top, box, stages = KINDS[kind]()
    folder.mkdir(parents=True, exist_ok=True)
    files = {"topol.top": top, "conf.gro": box.gro(), "reference.gro": box.gro(0.01), "index.ndx": box.index()}
    files |= {f"{name}.mdp": mdp(options) for name, options, *_ in stages}
    files["stages.txt"] = "".join(f"{name} {name}.mdp {'prev' if i else 'conf.gro'} topol.top {index} {reference}\n" for i, (name, _, index, reference) in enumerate(stages))
    for name, text in files.items():
        (folder / name).write_text(text)


COUPLING = ("tcoupl", "tc-grps", "tau-t", "ref-t", "pcoupl", "pcoupltype", "tau-p", "ref-p", "compressibility", "gen-vel", "gen-temp", "gen-seed", "comm-grps", "nstcomm", "mass-repartition-factor")


def single_point(kind, folder):
    """folder/point.mdp: the first stage of dynamics without coupling and without a step, to be used with -r reference.gro."""
    options = next(options for name, options, *_ in KINDS[kind]()[2] if options["integrator"] == "md")
    kept = {key: value for key, value in options.items() if key not in COUPLING}
    exact = {"nsteps": 0, "nstlist": 1, "verlet-buffer-tolerance": -1, "rlist": round(options["rvdw"] + 0.05, 3), "continuation": "yes", "comm-mode": "none", "nstcalcenergy": 1, "nstenergy": 1}
    (folder / "point.mdp").write_text(mdp({**kept, **exact}))
