#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cost of a force from Python beside the function itself: python_force.py [--steps N] [--repetitions N] [--atoms N]. PYTHONPATH has the
module (build/python). A harmonic bias acts on all atoms, on a hundred and on two; runs with and without alternate, and what the function
took is taken away. Times are of the processor, of one thread, so that a busy machine disturbs them little."""
import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import parhelion


class Harmonic:
    def __init__(self, reference: np.ndarray) -> None:
        self.reference, self.seconds, self.calls = reference, 0.0, 0

    def __call__(self, positions: np.ndarray, box: np.ndarray, time_ps: float) -> tuple[float, np.ndarray]:
        begin = time.thread_time()
        away = positions - self.reference
        answer = 0.5 * float(np.vdot(away, away)), -away
        self.seconds += time.thread_time() - begin
        self.calls += 1
        return answer


def us_per_step(system: parhelion.System, steps: int, force: Harmonic | None, atoms: np.ndarray | None) -> float:
    with parhelion.Simulation(system, threads=1, device="cpu") as simulation:
        if force is not None:
            simulation.add_force(force, atoms)
        simulation.run(20)
        begin = time.process_time()
        simulation.run(steps)
        return 1e6 * (time.process_time() - begin) / steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--atoms", default="3000")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([parhelion.program(), "generate", "ethanol-water", "--atoms", given.atoms, "-d", folder], check=True,
                       capture_output=True)
        system = parhelion.load(*(Path(folder) / name for name in ("md.mdp", "conf.gro", "topol.top")))
        for atoms in (None, np.arange(0, len(system), len(system) // 100), np.array([0, len(system) - 3])):
            beside, own, plain = [], [], []
            for _ in range(given.repetitions):
                force = Harmonic(system.positions if atoms is None else system.positions[atoms])
                without = us_per_step(system, given.steps, None, None)
                with_it = us_per_step(system, given.steps, force, atoms)
                plain.append(without)
                own.append(1e6 * force.seconds / force.calls)
                beside.append(with_it - without - own[-1])
            count = len(system) if atoms is None else len(atoms)
            print(f"{count:8} atoms: {statistics.median(plain):9.1f} us/step without, the function {statistics.median(own):7.1f} us, "
                  f"beside it {statistics.median(beside):+8.1f} us")


if __name__ == "__main__":
    main()
