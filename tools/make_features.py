#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints docs/user/features.md, the table of what the program can do where, of docs/user/features.toml.

    tools/make_features.py > docs/user/features.md
"""
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE, PAGE = ROOT / "docs" / "user" / "features.toml", ROOT / "docs" / "user" / "features.md"
COLUMNS = {"CPU": "CPU", "GPU": "GPU", "ranks": "ranks", "GPUs": "several GPUs", "bits": "same bits", "restart": "restart"}

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0. Made from features.toml by tools/make_features.py; do not edit. -->
# What runs where

A "yes" leads to the file of a test that shows it; its title is the name of the test. *Same bits*: with `--reproducible` a run has the same
bits for any number of threads and ranks. *Restart*: a run that was stopped and continued has the bits of one that was not. *Several
GPUs* are ranks on GPUs. Options and their values: [mdp.md](mdp.md). Inputs of nine kinds run through all their stages in
[test_stages.py](../../tests/python/test_stages.py).

"""
GROMACS = """
## What takes GROMACS' step off its GPU

Conditions under which GROMACS 2025 moves the update (integration, coupling, constraints) of a run on GPUs to the CPU, from its
`src/gromacs/taskassignment/decidegpuusage.cpp`; that of triangles is newer. Here a step is on the GPU as a whole or not at all: of {conditions}
conditions {on_gpu} are features that run on GPUs, {refused} are refused by name, and {nothing} do not arise.

| condition | here |
|---|---|
"""


def read(source=SOURCE):
    """The features by name, with all their columns, and the conditions of GROMACS."""
    content = tomllib.loads(source.read_text())
    features = {}
    for feature in content["feature"]:
        features[feature["name"]] = {**features.get(feature.get("like"), {}), **feature}
    return features, content["gromacs"]


def cell(text):
    if text.startswith("- "):
        return f"no: {text[2:]}"
    file, test = text.split(": ")
    return f'[yes](../../tests/{file} "{test}")'


def answer(condition, features):
    if "here" in condition:
        text = f"on the GPU: {cell(features[condition['here']]['GPU'])}"
    elif "refused" in condition:
        text = f"refused: [{condition['refused']}](messages.md)"
    else:
        text = condition["nothing"]
    return text + (f"; {condition['but']}" if "but" in condition else "")


def page(features, conditions):
    text = HEAD + "| feature | " + " | ".join(COLUMNS.values()) + " |\n|---|" + "---|" * len(COLUMNS) + "\n"
    for name, feature in features.items():
        text += f"| {name} | " + " | ".join(cell(feature[column]) for column in COLUMNS) + " |\n"
    counts = {name: sum(key in condition for condition in conditions) for name, key in (("on_gpu", "here"), ("refused", "refused"), ("nothing", "nothing"))}
    text += GROMACS.format(conditions=len(conditions), **counts)
    return text + "".join(f"| {condition['condition']} | {answer(condition, features)} |\n" for condition in conditions)


if __name__ == "__main__":
    print(page(*read()), end="")
