#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are grid, mesh and number of GPUs chosen well for boxes that are no cubes? Copies of a box side by side, whole runs, a JSON line for each,
then a table in Markdown: us/step of every way, and by how much the program's own choice is slower than the fastest.

    bench/gpu/scaling/shapes.py build-cuda/parhelion --copies 1x1x4 4x1x1 2x2x1 > shapes.jsonl            # of the series' 45 000 atoms
    bench/gpu/scaling/shapes.py build-cuda/parhelion --tile FOLDER --copies 3x3x5 --gpus 2 4              # of conf.gro, topol.top, md.mdp

`auto` is the program's own choice among all GPUs there are; `N` is `--gpus N`; the others give grid and mesh by hand.
"""
import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median


def copies_of(tile, copies, folder):
    """The tile side by side in x, y, z: coordinates and [ molecules ] repeated."""
    folder.mkdir()
    title, count, *rows = (tile / "conf.gro").read_text().splitlines()
    atoms, edges = rows[: int(count)], [float(edge) for edge in rows[int(count)].split()[:3]]
    with open(folder / "conf.gro", "w") as gro:
        print(f"{title}\n{len(atoms) * copies[0] * copies[1] * copies[2]}", file=gro)
        for place in ((x, y, z) for x in range(copies[0]) for y in range(copies[1]) for z in range(copies[2])):
            for row in atoms:
                position = [float(row[20 + 8 * d : 28 + 8 * d]) + place[d] * edges[d] for d in range(3)]
                print(row[:20] + "".join(f"{x:8.3f}" for x in position) + row[44:], file=gro)
        print(" ".join(f"{n * edge:.5f}" for n, edge in zip(copies, edges)), file=gro)
    head, molecules = re.split(r"\[ *molecules *\]\n", (tile / "topol.top").read_text())
    (folder / "topol.top").write_text(f"{head}[ molecules ]\n" + (molecules.rstrip("\n") + "\n") * (copies[0] * copies[1] * copies[2]))
    shutil.copy(tile / "md.mdp", folder)
    return len(atoms) * copies[0] * copies[1] * copies[2]


def ways_of(gpus):
    ways = {"auto": [], **{str(n): ["--gpus", str(n)] for n in gpus}}
    for n in gpus:
        if n > 1:
            ways |= {f"{n}x1x1 shared": ["--gpus", str(n), "--grid", f"{n}x1x1", "--pme", "shared"]}
            ways |= {f"{grid} {mesh}": ["--gpus", str(n), "--grid", grid, "--pme", mesh] for grid in (f"1x{n}x1", f"1x1x{n}") for mesh in ("bricks", "gathered")}
    return ways


def measure(program, folder, way, steps):
    words = [program, "run", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", "-o", "md", "-q", "--json", "--new", "--steps", str(steps), *way]
    result = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=200)
    if result.returncode != 0:
        return {"error": result.stderr.strip().splitlines()[0]}
    report = json.loads(result.stdout[result.stdout.index("{") :])
    return {key: report[key] for key in ("us_per_step", "ns_per_day", "device", "gpus", "grid")} | {"pme": report.get("pme"), "version": report["version"]["program"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--tile", type=Path, help="folder with conf.gro, topol.top, md.mdp in place of the series")
    parser.add_argument("--atoms", type=int, default=45000, help="of the series, a copy")
    parser.add_argument("--copies", nargs="+", default=["1x1x4", "4x1x1", "2x2x1"])
    parser.add_argument("--gpus", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--atom-steps", type=float, default=6e8, help="of a run: atoms times steps")
    parser.add_argument("--repetitions", type=int, default=1)
    options = parser.parse_args()
    program, table = str(Path(options.program).resolve()), []
    with tempfile.TemporaryDirectory() as scratch:
        tile = options.tile or Path(scratch) / "tile"
        if not options.tile:
            words = ["generate", "ethanol-water", "--electrostatics", "pme", "--atoms", str(options.atoms), "-d", str(tile)]
            subprocess.run([program, *words], check=True, capture_output=True)
        for text in options.copies:
            folder = Path(scratch) / text
            atoms, times = copies_of(tile, [int(n) for n in text.split("x")], folder), {}
            for _ in range(options.repetitions):
                for name, way in ways_of(options.gpus).items():
                    measured = measure(program, folder, way, int(options.atom_steps / atoms))
                    print(json.dumps({"case": "shapes", "tile": str(options.tile or options.atoms), "copies": text, "atoms": atoms, "way": name} | measured), flush=True)
                    if "us_per_step" in measured:
                        times.setdefault(name, []).append(measured["us_per_step"])
            table.append((text, atoms, {name: median(us) for name, us in times.items()}))
    for text, atoms, times in table:
        print(f"\n{text} ({atoms} atoms), us/step; `auto` {100 * (times['auto'] / min(times.values()) - 1):+.1f} % beside the fastest\n", file=sys.stderr)
        print("| " + " | ".join(times) + " |\n|" + "---|" * len(times) + "\n| " + " | ".join(f"{us:.1f}" for us in times.values()) + " |", file=sys.stderr)


if __name__ == "__main__":
    main()
