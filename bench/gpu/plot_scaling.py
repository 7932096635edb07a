#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what `parhelion bench scaling --json scaling.jsonl` measured, each as SVG and PNG:

    PREFIX-rate   ns/day and ms/step over GPUs: a colour per size, a line style per method, dotted what is ideal
    PREFIX-work   local work, nonlocal work and what of it is exposed, and the step, without repartitions (src/trace/step_work.hpp
                  says what these are): a panel per size, a group of bars per number of GPUs and method. Bars are means over
                  GPUs, the line on top reaches to the largest

    bench/gpu/plot_scaling.py scaling.jsonl PREFIX

Of several lines for one size, method and number of GPUs the last counts. Needs matplotlib.
"""
import json
import sys
from collections import defaultdict

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

STYLES = {"staged-host": ("--", "o"), "staged-dma": ("-.", "s"), "staged-fused": ((0, (5, 1, 1, 1, 1, 1)), "^"), "direct": ("-", "D"),
          "none": ("-", "D")}
LADDER = list(STYLES)[:-1]
WORK = {"local": "tab:blue", "nonlocal": "tab:orange", "non-overlap": "tab:red", "step": "0.6"}


def read(path):
    """{atoms: {method: {gpus: line}}}; a run on one GPU belongs to every method."""
    lines = [line for line in map(json.loads, filter(str.strip, open(path))) if line["case"] == "scaling"]
    if len({line.get("electrostatics", "rf") for line in lines}) > 1:
        sys.exit(f"{path} has both runs with reaction field and runs with PME: draw them apart")
    of = defaultdict(lambda: defaultdict(dict))
    for line in lines:
        own = {other["method"] for other in lines if other["atoms"] == line["atoms"] and other["method"] != "none"} or {"none"}
        for method in own if line["method"] == "none" else {line["method"]}:
            of[line["atoms"]][method][line["gpus"]] = line
    return {atoms: {method: of[atoms][method] for method in STYLES if method in of[atoms]} for atoms in sorted(of)}


def size_text(atoms):
    return f"{atoms / 1000:g}k"


def plain_ticks(axis):
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}" if value < 1 else f"{value:.0f}"))
    axis.set_minor_locator(NullLocator())


def draw_rate(sizes):
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    shown = [("ns/day", lambda line: line["ns_per_day"], 1), ("ms/step", lambda line: line["us_per_step"] / 1000, -1)]
    colours = {atoms: plt.cm.viridis(0.9 * i / max(1, len(sizes) - 1)) for i, atoms in enumerate(sizes)}
    all_gpus = sorted({g for by_method in sizes.values() for by_gpus in by_method.values() for g in by_gpus})
    for axes, (title, value, power) in zip(panels, shown):
        for atoms, by_method in sizes.items():
            for method, by_gpus in by_method.items():
                gpus, (style, marker) = sorted(by_gpus), STYLES[method]
                axes.plot(gpus, [value(by_gpus[g]) for g in gpus], color=colours[atoms], linestyle=style, marker=marker, markersize=4)
            first = min(by_gpus)
            axes.plot(all_gpus, [value(by_gpus[first]) * (g / first) ** power for g in all_gpus], color=colours[atoms],
                      linestyle=":", linewidth=0.8, alpha=0.5)
        axes.set(xlabel="GPUs", ylabel=title)
        axes.set_xscale("log", base=2), axes.set_yscale("log", base=2)
        axes.set_xticks(all_gpus)
        plain_ticks(axes.xaxis), plain_ticks(axes.yaxis)
        axes.grid(True, alpha=0.3)
    handles = [Line2D([], [], color=colour, label=f"{size_text(atoms)} atoms") for atoms, colour in colours.items()]
    handles += [Line2D([], [], color="k", linestyle=STYLES[method][0], marker=STYLES[method][1], label=method)
                for method in LADDER if any(method in by_method for by_method in sizes.values())]
    panels[1].legend(handles=handles, bbox_to_anchor=(1.02, 0.5), loc="center left", fontsize=8)
    return figure


def bars_of(by_method):
    """[(label, {part: one value a GPU})] of what has been looked at, by number of GPUs, then method."""
    of = {(gpus, rung, method): line for rung, (method, by_gpus) in enumerate(by_method.items()) for gpus, line in by_gpus.items()
          if "work_us" in line and (gpus > 1 or rung == 0)}
    text = lambda gpus, method: str(gpus) if gpus == 1 else f"{gpus}\n{method}"
    return [(text(gpus, method), line["work_us"]) for (gpus, _, method), line in sorted(of.items(), key=lambda item: item[0][:2])]


def draw_work(sizes):
    """None if no line says what its steps consist of."""
    bars = {atoms: bars_of(by_method) for atoms, by_method in sizes.items()}
    bars = {atoms: groups for atoms, groups in bars.items() if groups}
    if not bars:
        return None
    columns = min(3, len(bars))
    rows = -(-len(bars) // columns)
    width = 1.2 + 0.75 * max(len(groups) for groups in bars.values())
    figure, panels = plt.subplots(rows, columns, figsize=(max(3.5, width) * columns, 3.4 * rows), layout="constrained", squeeze=False)
    for axes in panels.flat[len(bars):]:
        axes.set_visible(False)
    for axes, (atoms, groups) in zip(panels.flat, bars.items()):
        for i, (part, colour) in enumerate(WORK.items()):
            at = [group + 0.2 * (i - 1.5) for group in range(len(groups))]
            mean = [sum(work[part]) / len(work[part]) for _, work in groups]
            above = [max(work[part]) - m for (_, work), m in zip(groups, mean)]
            axes.bar(at, mean, 0.2, color=colour, label=part, yerr=[[0] * len(mean), above], error_kw={"linewidth": 0.8})
        axes.set_xticks(range(len(groups)), [label for label, _ in groups], fontsize=7)
        axes.set(title=f"{size_text(atoms)} atoms", xlabel="GPUs, method", ylabel="us")
        axes.grid(True, axis="y", alpha=0.3)
    panels.flat[0].legend(fontsize=7)
    return figure


def main(source, prefix):
    sizes = read(source)
    for name, figure in (("rate", draw_rate(sizes)), ("work", draw_work(sizes))):
        for kind in ("svg", "png") if figure else ():
            figure.savefig(f"{prefix}-{name}.{kind}", dpi=150)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
