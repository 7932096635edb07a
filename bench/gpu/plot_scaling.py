#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what `parhelion bench scaling --json scaling.jsonl` measured: ns/day and ms/step over GPUs, a line per size (and method).

    bench/gpu/plot_scaling.py scaling.jsonl scaling.svg

Of several lines for one size, method and number of GPUs the last counts. Needs matplotlib.
"""
import json
import sys
from collections import defaultdict

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def series(path):
    """{(atoms, method): {gpus: line}}; runs on one GPU belong to every method."""
    lines = [json.loads(text) for text in open(path) if text.strip()]
    lines = [line for line in lines if line["case"] == "scaling"]
    of = defaultdict(dict)
    for line in lines:
        methods = {other["method"] for other in lines if other["method"] != "none"} or {"none"}
        for method in methods if line["method"] == "none" else [line["method"]]:
            of[line["atoms"], method][line["gpus"]] = line
    return of


def main(source, target):
    figure, (rate, time) = plt.subplots(1, 2, figsize=(11, 4.5))
    for (atoms, method), by_gpus in sorted(series(source).items()):
        gpus = sorted(by_gpus)
        label = f"{atoms // 1000}k {method}"
        rate.plot(gpus, [by_gpus[g]["ns_per_day"] for g in gpus], "o-", label=label)
        time.plot(gpus, [by_gpus[g]["us_per_step"] / 1000 for g in gpus], "o-", label=label)
    for axes, title in ((rate, "ns/day"), (time, "ms/step")):
        axes.set_xscale("log", base=2), axes.set_yscale("log", base=2)
        axes.set_xlabel("GPUs"), axes.set_ylabel(title), axes.grid(True, which="both", alpha=0.3)
    rate.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(target)


if __name__ == "__main__":
    main(*sys.argv[1:3])
