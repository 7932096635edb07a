# SPDX-License-Identifier: Apache-2.0
"""A .h5md has what the .trr of the same run has, in h5py and in MDAnalysis; it is continued, and can be read after a kill."""
import importlib
import os
import random
import resource
import shutil
import signal
import subprocess
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from runs import RUN, SHORT, command, folder_with, missing, run, stop_early


def reader(module):
    try:
        return importlib.import_module(module)
    except ImportError:
        missing(module)


def changed(mdp, **values):
    values = {name.replace("_", "-"): value for name, value in values.items()}
    kept = [line for line in mdp.splitlines() if line.split(" =")[0] not in values]
    return "\n".join([*kept, *(f"{name} = {value}" for name, value in values.items())]) + "\n"


ALL = changed(SHORT, nstxout=10, nstvout=10, nstfout=10)
needs_plugin = pytest.mark.skipif("PARHELION_PROGRAM" in os.environ and not Path(os.environ["PARHELION_PROGRAM"]).with_name(
    "libparhelion_h5md.so").exists(), reason="libparhelion_h5md.so was not built")


def elements(path):
    """Steps, times and values of each time-dependent element, boxes among them."""
    with reader("h5py").File(path, "r") as file:
        group = file["particles/trajectory"]
        names = [name for name in ("position", "velocity", "force", "box/edges") if name in group]
        return {name: tuple(group[f"{name}/{part}"][:] for part in ("step", "time", "value")) for name in names}


def trr_frames(path):
    formats = reader("MDAnalysis.lib.formats.libmdaxdr")
    with formats.TRRFile(str(path)) as file:
        return list(file)


def expect_as_trr(folder):
    """Arrays are bitwise those of the .trr, which stores the same floats."""
    got = elements(folder / "md.h5md")
    frames = trr_frames(folder / "md.trr")
    boxes = []
    for name, has, array in (("position", "hasx", "x"), ("velocity", "hasv", "v"), ("force", "hasf", "f")):
        of_array = [frame for frame in frames if getattr(frame, has)]
        assert (name in got) == bool(of_array)
        if not of_array:
            continue
        steps, times, values = got[name]
        assert list(steps) == [frame.step for frame in of_array]
        np.testing.assert_array_equal(times.astype(np.float32), np.array([frame.time for frame in of_array], np.float32))
        np.testing.assert_array_equal(values, [getattr(frame, array) for frame in of_array])
        boxes = boxes or [frame.box for frame in of_array]
    edges = got["box/edges"][2]
    np.testing.assert_array_equal(edges if edges.ndim == 3 else [np.diag(edge) for edge in edges], boxes)
    return got


@needs_plugin
def test_it_has_the_frames_of_the_trr(tmp_path):
    folder = folder_with(ALL, tmp_path)
    assert "md.h5md each 0.02 ps" in run(folder, "--h5md")
    got = expect_as_trr(folder)
    assert len(got["position"][0]) == 7 and got["force"][2].dtype == np.float32
