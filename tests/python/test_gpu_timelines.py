# SPDX-License-Identifier: Apache-2.0
"""`parhelion analyse` of timelines that GPUs have left, or the stand-in for the CUDA runtime: $PARHELION_GPUS says how many there are."""
import json
from itertools import pairwise

import pytest

from gpu_processes import GPUS
from runs import SHORT, folder_with, run
from test_analyse import analyse, page_of

STEPS = 9  # two pair lists, as a step takes seconds on the stand-in


@pytest.fixture(scope="module", params=[1, 2])
def traced(request, tmp_path_factory):
    if request.param > GPUS:
        pytest.skip(f"needs {request.param} GPUs")
    folder = folder_with(SHORT, tmp_path_factory.mktemp(f"gpus{request.param}"))
    run(folder, "-q", "--device", "gpu", "--grid", f"{request.param}x1x1", "--steps", STEPS, "--trace", "trace.json", seconds=400)
    return request.param, folder


def expected_lengths(folder):
    """Of each step, in the order of time, how long it was until the next; a step that was done again counts again."""
    begins, latest, times = {}, {}, {}
    for event in json.loads((folder / "trace.json").read_text())["traceEvents"]:
        if event["ph"] != "X" or event["tid"] >= 20:  # only tracks of phases are in the order of launches
            continue
        gpu, step = event["pid"], event["args"]["step"]
        if latest.get(gpu) != step:
            latest[gpu] = step
            times[gpu, step] = times.get((gpu, step), 0) + 1
        key = step, times[gpu, step]
        begins[key] = min(event["ts"], begins.get(key, event["ts"]))
    steps = sorted((begin, step) for (step, _), begin in begins.items())
    return [(step, after - begin) for (begin, step), (after, next_step) in pairwise(steps) if next_step == step + 1]


def test_steps_of_gpus_are_found_and_their_path_is_all_of_their_time(traced):
    gpus, folder = traced
    numbers = json.loads(analyse(folder, "trace.json", "--json"))["traces"][0]
    assert numbers["kind"] == "GPUs" and len(numbers["processes"]) == gpus
    lengths = [(one["step"], one["us"]) for one in numbers["lengths"]]
    assert len(lengths) > 4 and [step for step, _ in lengths] == [step for step, _ in expected_lengths(folder)]
    assert [us for _, us in lengths] == pytest.approx([us for _, us in expected_lengths(folder)], abs=0.01)
    mean = numbers["steps"]["all"]["mean_us"]
    assert numbers["path_gaps_us"] + sum(one["path_us"] for one in numbers["names"]) == pytest.approx(mean, abs=0.01)
    assert {"nonbonded", "constrain", "bonded"} <= {one["phase"] for one in numbers["names"]}
    assert max(one["path_steps"] for one in numbers["names"] if one["phase"] == "constrain") > 0.5
    for process in numbers["processes"]:
        work = process["work_us"]
        assert 0 < work["local"] and (work["nonlocal"] > 0) == (gpus > 1) and 0 <= work["non-overlap"] <= max(work["nonlocal"], 1e-9)


def test_multiprocessors_and_kernels_beside_each_other_are_told(traced):
    gpus, folder = traced
    numbers = json.loads(analyse(folder, "trace.json", "--json", "--html", "page.html").partition("written:")[0])["traces"][0]
    assert len(numbers["occupancy"]) == gpus
    for occupancy in numbers["occupancy"]:
        assert 0 < occupancy["mean"] <= 1.000001 and occupancy["multiprocessors"] > 1
        assert all(0 <= kernel["mean"] <= occupancy["mean"] + 1e-6 for kernel in occupancy["kernels"].values())
        assert all(0 <= share <= 1.000001 for share in occupancy["typical_step"])
    assert all(beside["us"] > 0 for beside in numbers["beside"])
    captions = page_of(folder / "page.html").text("figcaption")
    assert "A typical step" in captions and all(f"GPU {gpu}" in captions for gpu in range(gpus))
