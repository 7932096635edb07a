# SPDX-License-Identifier: Apache-2.0
"""`parhelion` and `python -m parhelion`: the program takes this process over, so that signals and launchers reach it alone."""
import os
import sys
from pathlib import Path


def main() -> None:
    os.execv(Path(__file__).parent / "bin" / "parhelion", ["parhelion", *sys.argv[1:]])


if __name__ == "__main__":
    main()
