#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables and the figure of the study of one-sided communication, from what onesided_bench and steps.py have printed.

    bench/onesided/tables.py bench/results/onesided.jsonl [--plot bench/results/onesided]

Numbers are medians of the repetitions, us a step; of whole steps, which differ more, the least and the most as well. The
figure has ranks on the x axis, as the report's figures have nodes.
"""
import argparse
import json
from collections import defaultdict
from statistics import median

TIMES = ["communication_us", "step_us", "processor_us"]


def read(path):
    """By case, then by what tells its runs apart: times by ranks, sorted, and how many runs each is of."""
    runs = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    with open(path) as file:
        for line in map(json.loads, file):
            way = line["variant"] if line["case"] == "onesided" else line["transport"]
            group = (line["transport"], line["work_us"]) if line["case"] == "onesided" else (line["atoms"],)
            runs[(line["case"], *group)][way][line["ranks"]].append(line)
    return {key: {way: {ranks: {name: sorted(r[name] for r in repeated) for name in TIMES} | {"runs": len(repeated)} for ranks, repeated in by_ranks.items()}
                  for way, by_ranks in ways.items()} for key, ways in runs.items()}


def spread(times):
    return f"{median(times):.0f}" + (f" ({times[0]:.0f}-{times[-1]:.0f})" if len(times) > 1 else "")


def print_table(title, ways, names, text=lambda times: f"{median(times):.0f}"):
    ranks = sorted({r for by_ranks in ways.values() for r in by_ranks})
    print(f"\n{title}\n\n| | " + " | ".join(f"{r} ranks" for r in ranks) + " |\n|---|" + "---|" * len(ranks))
    for way, by_ranks in ways.items():
        cells = (" / ".join(text(by_ranks[r][name]) for name in names) if r in by_ranks else "" for r in ranks)
        print(f"| {way} | " + " | ".join(cells) + " |")


def of_transports(runs, variant="staged-host"):
    """The exchange by itself, by what carries it."""
    return {transport: ways[variant] for (case, transport, *work), ways in runs.items() if case == "onesided" and work == [0] and variant in ways}


def plot(runs, prefix):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    steps = max((key for key in runs if key[0] == "steps"), default=None)
    panels = [("exchange by itself, by what carries it", of_transports(runs), "communication_us", "us a step"),
              ("the same ranks as threads, 1 ms of work +- 10 %", runs.get(("onesided", "threads", 1000), {}), "communication_us", None)]
    if steps:
        panels += [(f"whole steps, {steps[1]} atoms: communication", runs[steps], "communication_us", None),
                   (f"whole steps, {steps[1]} atoms: total", runs[steps], "step_us", None)]
    figure, axes = pyplot.subplots(1, len(panels), figsize=(4.2 * len(panels), 4))
    for axis, (title, ways, name, label) in zip(axes, panels):
        for way, by_ranks in ways.items():
            ranks = sorted(by_ranks)
            times = [by_ranks[r][name] for r in ranks]
            middle = [median(t) for t in times]
            ends = [[m - t[0] for m, t in zip(middle, times)], [t[-1] - m for m, t in zip(middle, times)]] if title.startswith("whole") else None
            axis.errorbar(ranks, middle, ends, marker="o", markersize=4, capsize=2, elinewidth=0.7, label=way)
        axis.set(title=title, xlabel="ranks", ylabel=label or "", xscale="log")
        axis.set_xticks([2, 4, 8, 16], ["2", "4", "8", "16"])
        axis.minorticks_off()
        if name == "step_us":
            axis.set_yscale("log")
        else:
            axis.set_ylim(bottom=0)
        axis.title.set_fontsize(9)
        axis.legend(fontsize=7)
    figure.tight_layout()
    for suffix in ["svg", "png"]:
        figure.savefig(f"{prefix}.{suffix}", dpi=110, metadata={"Date": None} if suffix == "svg" else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines")
    parser.add_argument("--plot", help="PREFIX.svg and PREFIX.png")
    options = parser.parse_args()
    runs = read(options.lines)
    print_table("Exchange by itself, by transport (staged-host): communication", of_transports(runs), TIMES[:1])
    for (case, *group), ways in runs.items():
        if case == "onesided" and group[0] == "threads":
            print_table(f"Threads, {group[1]:g} us of work: communication / step / processor", ways, TIMES)
        if case == "steps":
            print_table(f"Whole steps, {group[0]} atoms: communication / step / processor", ways, TIMES, spread)
    if options.plot:
        plot(runs, options.plot)


if __name__ == "__main__":
    main()
