#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of speeds in README.md and docs/user/performance.md and its figure, docs/speed.svg, of what
bench/results/beside.jsonl holds: rates of Parhelion and of a peer on the same machine in the same session. A line of that file is one
run, as `parhelion bench standard --json` writes it; of several for one case, size, number of GPUs and program the last counts, and those
of CPUs do not. That of CPUs, likewise, of bench/results/step.jsonl.

    tools/make_speed.py            writes all
    tools/make_speed.py --check    exit code 1 if one of them is not what it would write
"""
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS, README, FIGURE = ROOT / "bench/results/beside.jsonl", ROOT / "README.md", ROOT / "docs/speed.svg"
CPU_RESULTS, PAGE = ROOT / "bench/results/step.jsonl", ROOT / "docs/user/performance.md"
MARKS = "<!-- speed: written by tools/make_speed.py -->", "<!-- end of speed -->"
CPU_MARKS = "<!-- cpu: written by tools/make_speed.py -->", "<!-- end of cpu -->"
OURS, PEER = "Parhelion", "GROMACS"
NAMES = {"jac": "JAC", "pme": "PME", "rf": "reaction field"}
DRAWN = [("pme", 45000), ("pme", 180000), ("pme", 720000)]  # panels of the figure
COLOURS = {OURS: "#d9730d", PEER: "#7a8793"}


def read(path=RESULTS):
    """{(case, atoms): {gpus: {program: ns/day}}}, in the order of sizes, JAC and PME first."""
    rates = {}
    for line in map(json.loads, path.read_text().splitlines()):
        if not line["gpus"]:
            continue
        case = "jac" if line.get("test", "").startswith("jac") else line["electrostatics"]
        of_size = rates.setdefault((case, line["atoms"]), {})
        of_size.setdefault(line["gpus"], {})[line["program"]] = line["ns_per_day"]
    return dict(sorted(rates.items()))


def rounded(number):
    return f"{number:,.0f}".replace(",", " ")


def table(rates):
    """One row for each size: ours, the peer's, how many times as fast."""
    gpus = sorted({count for of_size in rates.values() for count in of_size})
    head = [f"{count} GPU{'s' * (count > 1)}: {OURS}, {PEER}" for count in gpus]
    rows = [["atoms", *head], ["---"] * (1 + len(gpus))]
    for (case, atoms), of_size in rates.items():
        cells = [f"{rounded(atoms)}, {NAMES[case]}"]
        for count in gpus:
            of = of_size.get(count, {})
            both = OURS in of and PEER in of
            cells.append(f"**{rounded(of[OURS])}**, {rounded(of[PEER])} ({of[OURS] / of[PEER]:.1f} x)" if both else "")
        rows.append(cells)
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def cpu_table(path=CPU_RESULTS):
    """One row for each electrostatics, of the records of one size: ours, the peer's, how many times as fast."""
    rates = {}
    for line in map(json.loads, path.read_text().splitlines()):
        rates.setdefault(line["case"], {})[line["program"]] = line["ns_per_day"]
    rows = [f"| | {OURS} | {PEER} of Debian |", "|---|---|---|"]
    rows += [f"| {NAMES[case]} | **{of['parhelion']:.1f}** | {of['gmx']:.1f} ({of['parhelion'] / of['gmx']:.1f} x) |" for case, of in sorted(rates.items())]
    return "\n".join([*rows, ""])


def bars(of_size, left, width, height, base):
    """The bars of one size: a pair for each number of GPUs, ours in front."""
    largest = max(rate for of in of_size.values() for rate in of.values())
    step = width / len(of_size)
    for i, (count, of) in enumerate(sorted(of_size.items())):
        for k, program in enumerate((OURS, PEER)):
            if program not in of:
                continue
            bar, x = of[program] / largest * height, left + i * step + 6 + k * (step / 2 - 8)
            yield (f'<rect x="{x:.1f}" y="{base - bar:.1f}" width="{step / 2 - 9:.1f}" height="{bar:.1f}" fill="{COLOURS[program]}"/>')
            yield f'<text x="{x + step / 4 - 4.5:.1f}" y="{base - bar - 4:.1f}" class="n">{rounded(of[program])}</text>'
        yield f'<text x="{left + (i + 0.5) * step - 3:.1f}" y="{base + 15}" class="m">{count} GPU{"s" * (count > 1)}</text>'


def figure(rates):
    drawn = [key for key in DRAWN if key in rates]
    panel, height, base = 250, 120, 180
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{panel * len(drawn)}" height="{base + 30}" font-family="sans-serif">',
             "<style>text { font-size: 11px; fill: #555 } .n { text-anchor: middle; font-size: 10px } .m { text-anchor: middle } "
             ".t { font-size: 13px; font-weight: bold }</style>"]
    for i, key in enumerate(drawn):
        left = 10 + i * panel
        lines.append(f'<text x="{left + 6}" y="40" class="t">{rounded(key[1])} atoms, {NAMES[key[0]]}</text>')
        lines += bars(rates[key], left, panel - 20, height, base)
    for k, program in enumerate((OURS, PEER)):
        lines.append(f'<rect x="{16 + 110 * k}" y="8" width="10" height="10" fill="{COLOURS[program]}"/>')
        lines.append(f'<text x="{31 + 110 * k}" y="17">{program}</text>')
    lines.append(f'<text x="{16 + 220}" y="17">ns/day on H200, steps of 2 fs</text>')
    return "\n".join([*lines, "</svg>", ""])


def between(marks, text, wanted):
    begin, end = map(re.escape, marks)
    return re.sub(f"{begin}.*?{end}", lambda _: f"{marks[0]}\n{wanted}{marks[1]}", text, flags=re.S)


def with_table(readme, rates):
    return between(MARKS, readme, table(rates))


def with_tables(page, rates):
    return between(CPU_MARKS, with_table(page, rates), cpu_table())


def main(check):
    rates = read()
    wanted = {README: with_table(README.read_text(), rates), PAGE: with_tables(PAGE.read_text(), rates), FIGURE: figure(rates)}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if check:
            print(f"{path.relative_to(ROOT)} is not what tools/make_speed.py writes")
        else:
            path.write_text(wanted[path])
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
