# SPDX-License-Identifier: Apache-2.0
"""Of the Python module: every example of a docstring and every block of docs/user/python.md runs; mypy and ruff find nothing."""
import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import matplotlib
import parhelion
import pytest

matplotlib.use("Agg")
ROOT = Path(__file__).resolve().parents[2]
MANUAL = ROOT / "docs" / "user" / "python.md"
MODULES = ["parhelion"] + [f"parhelion.{module.name}" for module in pkgutil.iter_modules(parhelion.__path__) if module.name != "__main__"]


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", MANUAL.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture()
def folder(tmp_path, monkeypatch):
    """With what the manual's reader has: the files of `parhelion generate`, by the manual's own command."""
    monkeypatch.chdir(tmp_path)
    (command,) = blocks("sh")
    program = Path(os.environ["PARHELION_PROGRAM"])
    subprocess.run(["sh", "-ec", command], check=True, env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"})
    return tmp_path


def test_blocks_of_the_manual_run(folder):
    names = {"__name__": "manual"}
    found = blocks("python")
    assert len(found) > 10
    for block in found:
        exec(compile(block, str(MANUAL), "exec"), names)


def test_examples_of_docstrings_run(folder):
    tried = 0
    for name in MODULES:
        failed, count = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS,
                                        extraglobs={"Simulation": parhelion.Simulation, "load": parhelion.load, "run": parhelion.run})
        assert failed == 0, name
        tried += count
    assert tried > 20


def test_what_is_public_is_documented():
    for name in parhelion.__all__:
        thing = getattr(parhelion, name)
        assert name == "__version__" or thing.__doc__, name
        if isinstance(thing, type) and thing.__module__.startswith("parhelion"):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert value.__doc__ or member in ("close",), f"{name}.{member}"


@pytest.mark.parametrize("command", [["mypy", "--strict", "--config-file", ROOT / "pyproject.toml", "--cache-dir", os.devnull],
                                     ["ruff", "check", "--no-cache", "--config", ROOT / "pyproject.toml"]], ids=["mypy", "ruff"])
def test_checkers_find_nothing(command):
    package = Path(parhelion.__path__[0])
    result = subprocess.run([sys.executable, "-m", *map(str, command), str(package)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
