#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A long run that must not leak: simulates a box of the series on the GPU with everything a run writes, and watches the process.

    tools/soak_gpu.py build-cuda/parhelion --minutes 30 --out soak.jsonl

Every few seconds a JSON line goes to --out: seconds since the start, output so far, resident memory and GPU memory of the process
(MiB), open files, threads. After the first minute none of them but the output may grow, or the exit code is 1. The pid of the
simulation is in OUT.pid, so that it can be held (kill -STOP) and let go (kill -CONT) while something else is timed; held time counts
towards the minutes, and its samples say "held". SIGTERM ends the soak before its time. The folder of the run is removed in the end.
Takes three minutes at least. The GPU's part needs nvidia-smi and is null without it.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from series_box import prepare

SETTINGS = {
    "gen-vel": "yes", "gen-temp": 300, "nsteps": -1, "nstenergy": 1000, "nstlog": 10000, "nstxout-compressed": 5000, "nstvout": 200000,
    "nstfout": 200000,
}
GROWTH = {"rss_mib": 2.0, "gpu_mib": 0.0, "files": 0, "threads": 0}  # allowed after the first minute
WARM_UP = 60  # s


def gpu_memory(pid):
    """MiB of this process, as the driver counts them; None where it does not tell."""
    query = ["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"]
    try:
        rows = subprocess.run(query, capture_output=True, text=True, timeout=20).stdout.splitlines()
        return next((float(row.split(",")[1]) for row in rows if row.split(",")[0].strip() == str(pid)), None)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def sample(pid, folder, start):
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    size = sum(path.stat().st_size for path in folder.iterdir())
    return {
        "s": round(time.monotonic() - start, 1), "held": status["State"].split()[0] == "T", "output_mib": round(size / 2**20, 1),
        "rss_mib": int(status["VmRSS"].split()[0]) / 1024, "gpu_mib": gpu_memory(pid), "files": len(os.listdir(f"/proc/{pid}/fd")),
        "threads": int(status["Threads"]),
    }


def growth(samples):
    """By how much each quantity exceeds, in the last third, its largest value of the minute after the warm-up."""
    end = samples[-1]["s"]
    early = [s for s in samples if WARM_UP <= s["s"] < 2 * WARM_UP]
    late = [s for s in samples if s["s"] >= max(2 * WARM_UP, 2 * end / 3)]
    grown = {}
    for name in GROWTH:
        values = [[s[name] for s in part if s[name] is not None] for part in (early, late)]
        grown[name] = max(values[1]) - max(values[0]) if all(values) else None
    return grown


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program", type=Path)
    arguments.add_argument("--minutes", type=float, default=30)
    arguments.add_argument("--atoms", type=int, default=45000)
    arguments.add_argument("--every", type=float, default=5, help="seconds between samples")
    arguments.add_argument("--out", type=Path, default=Path("soak.jsonl"))
    arguments.add_argument("--device", default="gpu", choices=["gpu", "cpu"])
    options = arguments.parse_args()
    program = options.program.resolve()
    folder = Path(tempfile.mkdtemp(prefix="parhelion-soak-"))
    prepare(program, options.atoms, SETTINGS, folder)
    command = [program, "run", "-q", "-o", "md", "--device", options.device, "--checkpoint", "15s"]
    samples, start = [], time.monotonic()
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    with open(options.out, "w") as out, open(folder / "stdout", "w") as log:
        run = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        Path(f"{options.out}.pid").write_text(f"{run.pid}\n")
        while run.poll() is None and not ended.is_set() and time.monotonic() - start < 60 * options.minutes:
            try:
                samples.append(sample(run.pid, folder, start))
            except (KeyError, OSError):
                continue  # it has just ended, or a file has just got its final name
            print(json.dumps(samples[-1]), file=out, flush=True)
            ended.wait(options.every)
        ended_by_itself = run.poll() is not None
        for wish in (signal.SIGCONT, signal.SIGTERM):
            run.send_signal(wish)
        code = run.wait(timeout=120)
        said = (folder / "stdout").read_text().strip()
        report = folder / "md.report.json"
        steps = json.loads(report.read_text())["steps"] if report.exists() else None
        grown = growth(samples) if samples else {}
        known = {name: g for name, g in grown.items() if g is not None or name != "gpu_mib"}
        kept = not ended_by_itself and code == 3 and all(g is not None and g <= GROWTH[name] for name, g in known.items())
        summary = {"minutes": round((time.monotonic() - start) / 60, 1), "steps": steps, "exit": code, "growth": grown, "constant": kept}
        print(json.dumps(summary), file=out, flush=True)
    print(json.dumps(summary), said, sep="\n")
    shutil.rmtree(folder)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
