#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what `partitioned_bench --json partitioned.jsonl` measured, each as SVG and PNG:

    PREFIX-kernel, PREFIX-message, PREFIX-all-reduce, PREFIX-training   goodput (bytes / time) over bytes, a line for each way
    PREFIX-pready                                                       time over threads, a line for each level
    PREFIX-jacobi-2x2 and so on                                         GFLOP/s over the multiplier of the size

    bench/partitioned/plot.py partitioned.jsonl PREFIX [GPUS]

GPUS, as "2 x NVIDIA H200", are those of the first line if not said; other lines are left out. Of several lines for one way
and size (runs, numbers of partitions) the fastest counts. Bars are standard deviations. Needs matplotlib.
"""
import json
import sys
from collections import defaultdict

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def read(path, gpus=None):
    """{what: {method: {bytes: line}}}"""
    of = defaultdict(lambda: defaultdict(dict))
    for line in map(json.loads, filter(str.strip, open(path))):
        gpus = gpus or line["gpus"]
        if line["case"] == "partitioned" and line["gpus"] == gpus:
            sizes = of[line["what"]][line["method"]]
            if line["bytes"] not in sizes or line["us"] < sizes[line["bytes"]]["us"]:
                sizes[line["bytes"]] = line
    return of


def draw(methods, value, error, axes):
    for i, (method, sizes) in enumerate(methods.items()):
        at = sorted(sizes)
        lines = [sizes[size] for size in at]
        axes.errorbar(at, [value(line) for line in lines], yerr=[error(line) for line in lines], label=method, marker=".",
                      color=plt.cm.tab20(i), linewidth=1)
    axes.set_xscale("log", base=2), axes.set_yscale("log")
    axes.grid(True, alpha=0.3), axes.legend(fontsize=7)


def goodput(methods, title):
    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    rate = lambda line: line["bytes"] / line["us"] * 1e-3
    draw(methods, rate, lambda line: rate(line) * line["deviation"] / line["us"], axes)
    axes.set(title=title, xlabel="bytes", ylabel="GB/s")
    return figure


def jacobi(methods, title):
    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    by_multiplier = {way: {line["multiplier"]: line for line in sizes.values()} for way, sizes in methods.items()}
    draw(by_multiplier, lambda line: line["gflops"], lambda line: line["gflops"] * line["deviation"] / line["us"], axes)
    axes.set(title=title, xlabel="multiplier", ylabel="GFLOP/s")
    return figure


def pready(of):
    figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
    for axes, what in zip(panels, ("pready", "pready with its copy")):
        methods = {level: {size // 8: line for size, line in sizes.items()} for level, sizes in of[what].items()}
        draw(methods, lambda line: line["us"], lambda line: line["deviation"], axes)
        axes.set(title=what, xlabel="threads", ylabel="us")
    return figure


def main(source, prefix, gpus=None):
    of = read(source, gpus)
    figures = {what: goodput(of[what], what) for what in ("kernel", "message", "all-reduce", "training") if what in of}
    figures |= {what.lower().replace(" ", "-"): jacobi(of[what], what) for what in of if what.startswith("Jacobi")}
    if "pready" in of:
        figures["pready"] = pready(of)
    for name, figure in figures.items():
        for kind in ("svg", "png"):
            figure.savefig(f"{prefix}-{name}.{kind}", dpi=150)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
