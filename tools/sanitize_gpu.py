#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every kernel variant under every tool of compute-sanitizer, by the GPU tests on small systems; on one GPU, which ranks share.

    tools/sanitize_gpu.py build-cuda [LOG_FOLDER]

A job is a tool and a part of a program's tests. When it has ended LOG_FOLDER/results.jsonl has a line more, so that file is the
progress as well; what jobs print is beside it. Which variants there are is read from the program (cuobjdump); which of them these
tests launch, from a library that listens to the driver (log_kernels.cpp), in jobs of the tool "launches". Lines at the end sum up
by tool and count variants that no test launches; their names are in LOG_FOLDER/not_launched. The exit code is 0 if all tests were
run, none failed, there is no report and every variant is launched.

Left out are tests of size, repetition and deadlines alone, and those of kernels that wait for another kernel which must run beside
them (of `bench comm` and `doctor`): tools may run one kernel at a time. Time: 12 minutes at most, unless --wall says otherwise; what
has not ended then is ended, and counts as failed.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

TOOLS = ["racecheck", "memcheck", "initcheck", "synccheck", "launches"]  # the slowest first
PARTS = {"test_engine_gpu": 8, "test_forces_gpu": 4, "test_halo_gpu": 2, "test_domain_gpu": 3, "test_dynamics_gpu": 2, "test_comm_gpu": 2}
LEFT_OUT = [
    "*GpuNonbondedSizes*", "*is_the_same_every_time*", "SeriesOnGpu*", "RanksOnGpus*", "GpuRepartition45k*", "*gives_every_atom*",
    "*awkward*", "*however_long*", "*follows_the_reference*", "*blow_up*", "*shrinks_below*", "*hundred_thousand*", "*lost*",
    "*is_missing*", "*show_by_their*", "*give_back*", "*GpuHaloStress*", "*GpuHaloFaults*", "GpuFaults*",
]
SIDE_BY_SIDE = {"messages_kernel", "stores_kernel", "sums_kernel", "self_test_kernel"}  # of `bench comm` and `doctor`
CUDA = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))


def build_listener(logs):
    library = logs / "log_kernels.so"
    cupti = CUDA / "extras/CUPTI"
    subprocess.run(["g++", "-std=c++20", "-O1", "-fPIC", "-shared", "-I", CUDA / "include", "-I", cupti / "include",
                    Path(__file__).with_name("log_kernels.cpp"), "-o", library, "-L", CUDA / "lib64", "-L", cupti / "lib64", "-lcupti"],
                   check=True)
    return library.resolve()


def run_job(options, job, listener, deadline):
    tool, program, part, parts = job
    log = options.logs / f"{tool}.{program}.{part}.log"
    libraries = [os.environ.get("LD_LIBRARY_PATH", ""), f"{CUDA}/lib64", f"{CUDA}/extras/CUPTI/lib64"]
    environment = os.environ | {"GTEST_TOTAL_SHARDS": str(parts), "GTEST_SHARD_INDEX": str(part),
                                "LD_LIBRARY_PATH": ":".join(filter(None, libraries))}
    command = ["timeout", "-k", "5", f"{max(1, deadline - time.monotonic()):.0f}"]
    if tool == "launches":
        environment |= {"CUDA_INJECTION64_PATH": str(listener), "PARHELION_KERNEL_LOG": f"{log}.kernels"}
    else:
        command += ["compute-sanitizer", "--tool", tool, "--print-limit", "20"]
    begin = time.monotonic()
    with open(log, "w") as out:
        code = subprocess.run(command + [options.build / program, "--gtest_filter=-" + ":".join(LEFT_OUT)], stdout=out, stderr=out,
                              env=environment).returncode
    text = log.read_text(errors="replace")
    reports = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)", text)
    return {
        "tool": tool, "program": program, "part": f"{part + 1}/{parts}", "tests": len(re.findall(r"^\[       OK", text, re.M)),
        "failed": len(re.findall(r"^\[  FAILED  \].* ms\)$", text, re.M)),
        "skipped": len(re.findall(r"^\[  SKIPPED \].* ms\)$", text, re.M)),
        "reports": 0 if tool == "launches" else int(reports[-1]) if reports else None, "exit": code, "s": round(time.monotonic() - begin),
    }


def variants_not_launched(options):
    symbols = subprocess.run(["cuobjdump", "-symbols", options.build / "parhelion"], capture_output=True, text=True, check=True).stdout
    kernels = [line.split()[-1] for line in symbols.splitlines() if "STO_ENTRY" in line]
    launched = [path.read_text() for path in options.logs.glob("launches.*.kernels")]
    demangled = [set(subprocess.run(["c++filt"], input=names, capture_output=True, text=True, check=True).stdout.splitlines())
                 for names in ("\n".join(kernels), "".join(launched))]
    missing = sorted(demangled[0] - demangled[1])
    (options.logs / "not_launched").write_text("".join(f"{name}\n" for name in missing))
    side_by_side = [name for name in missing if any(f"::{kernel}(" in name for kernel in SIDE_BY_SIDE)]
    return {"variants": len(demangled[0]), "launched": len(demangled[0] & demangled[1]), "side_by_side": len(side_by_side),
            "not_launched": len(missing) - len(side_by_side)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("build", type=Path)
    arguments.add_argument("logs", type=Path, nargs="?", default=Path("sanitizer"))
    arguments.add_argument("--tools", nargs="+", default=TOOLS, choices=TOOLS)
    arguments.add_argument("--programs", nargs="+", help="names of test programs (default: all)")
    arguments.add_argument("--jobs", type=int, default=12, help="processes at once")
    arguments.add_argument("--wall", type=float, default=720, help="seconds")
    options = arguments.parse_args()
    begin = time.monotonic()
    options.logs.mkdir(parents=True, exist_ok=True)
    for old in options.logs.iterdir():
        old.unlink()
    listener = build_listener(options.logs)
    programs = options.programs or sorted(path.name for path in options.build.glob("test_*_gpu"))
    programs.sort(key=lambda name: -PARTS.get(name, 1))
    jobs = [(tool, program, part, PARTS.get(program, 1)) for tool in options.tools for program in programs
            for part in range(PARTS.get(program, 1))]
    totals = collections.defaultdict(collections.Counter)
    with open(options.logs / "results.jsonl", "w") as results, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def tell(line):
            print(json.dumps(line), file=results, flush=True)
            print(json.dumps(line), flush=True)

        tell({"jobs": len(jobs), "at_once": options.jobs})
        for job in concurrent.futures.as_completed([pool.submit(run_job, options, job, listener, begin + options.wall) for job in jobs]):
            line = job.result()
            tell(line)
            bad = line["reports"] is None or line["exit"] != 0
            totals[line["tool"]].update({"tests": line["tests"], "reports": line["reports"] or 0, "jobs": 1, "jobs_failed": int(bad)})
        clean = all(total["reports"] == total["jobs_failed"] == 0 for total in totals.values())
        for tool, total in totals.items():
            tell({"tool": tool, **total})
        if "launches" in options.tools:
            variants = variants_not_launched(options)
            tell(variants)
            clean = clean and variants["variants"] > 0 and variants["not_launched"] == 0
        tell({"clean": clean, "s": round(time.monotonic() - begin)})
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
