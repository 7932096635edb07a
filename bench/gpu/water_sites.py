#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how much longer a step takes with four-site water than with three-site water, for the same number of molecules.

    parhelion convert -f md.mdp -c conf.gro -p topol.top -d four     # a folder whose water is TIP4P, with its .mdp of production
    bench/gpu/water_sites.py four build-cuda/parhelion [OLD/parhelion ...] [--steps 60000] [--rounds 3]

The three-site box is the same folder without the fourth site of the molecule type SOL: its charge goes to the oxygen. The first
line of each program's result is a step in microseconds, the median of the rounds. Programs and boxes alternate within a round.
Both boxes run at a constant volume and with one temperature group, so that they differ in water alone. Needs Python alone.
"""
import argparse
import json
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

SITE = "MW"


def without_sites(topology):
    """The text of a .top of `parhelion convert`, with the fourth site of SOL taken away."""
    begin = topology.index("\nSOL 0\n")
    end = topology.index("[ moleculetype ]", begin)
    water = topology[begin:end]
    site = re.search(rf"^4 \S+ \S+ SOL {SITE} \S+ (\S+) \S+\n", water, re.M)
    water = water.replace(site.group(0), "")
    water = re.sub(r"^(1 \S+ \S+ SOL OW \S+) 0 ", rf"\1 {site.group(1)} ", water, flags=re.M)
    water = re.sub(r"\[ virtual_sites3 \]\n.*?\n\n", "", water, flags=re.S)
    water = re.sub(r"\[ exclusions \]\n.*?\n\n", "[ exclusions ]\n1 2 3\n2 3\n\n", water, flags=re.S)
    return topology[:begin] + water + topology[end:]


def write_folder(folder, source, has_sites):
    folder.mkdir()
    options = (source / "md.mdp").read_text()
    for key, value in {"tc-grps": "System", "tau-t": "0.5", "ref-t": "300", "pcoupl": "no"}.items():
        options = re.sub(rf"^{key} .*$", f"{key} = {value}", options, flags=re.M)
    (folder / "md.mdp").write_text(options)
    topology, lines = (source / "topol.top").read_text(), (source / "conf.gro").read_text().splitlines()
    if not has_sites:
        topology = without_sites(topology)
        atoms = [line for line in lines[2:-1] if line[10:15].strip() != SITE]
        lines = [lines[0], str(len(atoms)), *atoms, lines[-1]]
    (folder / "topol.top").write_text(topology)
    (folder / "conf.gro").write_text("\n".join(lines) + "\n")
    return int(lines[1])


def microseconds(program, folder, steps, options):
    command = [program, "run", "-q", "--new", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", "-o", "md", "--steps", steps, *options]
    subprocess.run([str(word) for word in command], cwd=folder, check=True)
    dt = float(re.search(r"^dt\s*=\s*(\S+)", (folder / "md.mdp").read_text(), re.M).group(1))
    return dt * 1e-3 * 86400e6 / json.loads((folder / "md.report.json").read_text())["ns_per_day"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of parhelion convert: md.mdp, conf.gro, topol.top")
    parser.add_argument("programs", type=Path, nargs="+")
    parser.add_argument("--steps", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--options", default="--gpus 1", help="of parhelion run")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        boxes = {4: Path(name) / "four", 3: Path(name) / "three"}
        atoms = {sites: write_folder(folder, chosen.folder, sites == 4) for sites, folder in boxes.items()}
        taken = {}
        for _ in range(chosen.rounds):
            for program in chosen.programs:
                for sites, folder in boxes.items():
                    time = microseconds(program.resolve(), folder, chosen.steps, chosen.options.split())
                    taken.setdefault((program, sites), []).append(time)
    for program in chosen.programs:
        four, three = (statistics.median(taken[program, sites]) for sites in (4, 3))
        print(f"{program}: {four:.1f} us ({atoms[4]} atoms), {three:.1f} us ({atoms[3]} atoms): {100 * (four / three - 1):+.1f} %")
        for sites in (4, 3):
            print(f"  {sites} sites: " + " ".join(f"{time:.1f}" for time in taken[program, sites]))


if __name__ == "__main__":
    main()
