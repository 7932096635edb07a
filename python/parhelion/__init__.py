# SPDX-License-Identifier: Apache-2.0
"""Parhelion: molecular dynamics from GROMACS inputs.

The program comes with this package: `parhelion run ...` in a terminal, or `python -m parhelion run ...`. `program()` says where it
is, for scripts that start it.
"""
from importlib.metadata import version
from pathlib import Path

__all__ = ["program", "__version__"]
__version__ = version("parhelion")


def program() -> Path:
    """The path of the program `parhelion`."""
    return Path(__file__).parent / "bin" / "parhelion"
