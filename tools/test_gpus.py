#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The GPU tests of a build folder on all GPUs there are, many programs at once; then their count (count_tests.py).

    tools/test_gpus.py build-cuda [OPTIONS OF CTEST]        e.g. -R engine, --rerun-failed

Each entry of ctest says how many GPUs it takes (tests/skips.cmake), and ctest gives them to it. Of one GPU tests are short enough to
share it: four programs have it at a time. Tests of several spin on all of them, and of two programs one would wait for the other's turns
on each: they have them for themselves. Entries for more GPUs than there are are left out; the tests in them are counted as skipped by
those of one GPU. Without this tool, `ctest -L cuda -j 1` gives every entry all GPUs.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from visible_gpus import visible_gpus

SLOTS = 4  # of a GPU; an entry of one GPU takes one, an entry of several all of each (tests/skips.cmake)
NUMBERS = [2, 4, 8]  # of GPUs that entries take


def slots(gpus):
    """What ctest may give away: https://cmake.org/cmake/help/v3.25/manual/ctest.1.html#resource-specification-file"""
    return {"version": {"major": 1, "minor": 0}, "local": [{"gpus": [{"id": str(g), "slots": SLOTS} for g in range(gpus)]}]}


def ctest(build, gpus, options, folder):
    command = ["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error", "-L", "^cuda$", "-j", str(SLOTS * max(1, gpus))]
    if gpus > 0:
        file = Path(folder) / "gpus.json"
        file.write_text(json.dumps(slots(gpus)))
        command += ["--resource-spec-file", str(file)]
        too_many = [f"on_{number}_gpus" for number in NUMBERS if number > gpus]
        if too_many:
            command += ["-LE", "|".join(too_many)]
    return subprocess.run([*command, *options], env=os.environ | {"PARHELION_TEST_GPUS_HERE": str(gpus)}).returncode


def main():
    build, *options = sys.argv[1:]
    count = [sys.executable, Path(__file__).with_name("count_tests.py"), build]
    try:
        with tempfile.TemporaryDirectory() as folder:
            return ctest(build, len(visible_gpus()), options, folder)
    finally:  # of a run that was cut, too
        subprocess.run(count)


if __name__ == "__main__":
    sys.exit(main())
