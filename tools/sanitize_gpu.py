#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every kernel variant under every tool of compute-sanitizer, by the GPU tests on small systems; on all GPUs of the machine.

    tools/sanitize_gpu.py build-cuda [LOG_FOLDER]

A job is a tool and a part of a program's tests on one GPU, or on two for the tests of kernels that need them. A part of everything
comes first, and then the longest. When a job has ended LOG_FOLDER/results.jsonl has a line more, so that file is the progress as well;
what jobs print is beside it. Which variants there are is read from the program (cuobjdump); which of them the jobs of the tool
"launches" launch, from a library that listens to the driver (log_kernels.cpp). They run what all tools run; memcheck runs more. The
first line says how many tests each tool shall watch. Lines at the end sum up by tool and count the variants that no test launches; their names are in
LOG_FOLDER/not_launched. The exit code is 0 if all tests were run, none failed, there is no report and every variant is launched.

A job that has not ended in time (--limit) counts as failed: its program is killed, whereupon the tool still says what it has found
so far. That holds for the tests that were passed before ("tests") and says nothing about the one that was running ("cut").

Left out are tests of size, repetition and deadlines alone, and under all tools but memcheck, which is fast, tests that launch nothing
that others do not. Tools may run one kernel of a GPU at a time. So `doctor` and `bench comm`, whose kernels wait for others beside
them, are watched on two GPUs alone; ranks that share a GPU share a queue, in which every signal comes before its wait.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import queue
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from visible_gpus import visible_gpus

TOOLS = ["launches", "racecheck", "initcheck", "memcheck", "synccheck"]  # in this order: what counts variants, then the slowest
# The programs with most work first; in so many parts. Not more than it takes to keep a machine busy: drivers let processes take turns
# to begin with a GPU, a second or two each, which was more than all tests together with 16 parts of the first two.
PARTS = {"test_engine_gpu": 6, "test_interactions_gpu": 4, "test_dynamics_gpu": 2, "test_pairs_gpu": 2, "test_comm_gpu": 2}
# Commands of the program whose kernels no test launches: they wait for kernels that run beside them, on two GPUs at least.
COMMANDS = {"doctor": ["doctor"], "bench_comm": ["bench", "comm", "--gpus", "2", "--repetitions", "1"]}
# On two GPUs, if there are, in so many parts.
ON_TWO_GPUS = {
    "test_engine_gpu": ("*FewAtomsOnRanks*staged_fused*:*FewAtomsOnRanks*direct*", 4), "test_halo_gpu": ("GpuHaloIn*", 1),
    "test_comm_gpu": ("*two_gpus*:*two_on_each_of_two*", 2),
}
LEFT_OUT = [
    "*GpuNonbondedSizes*", "*is_the_same_every_time*", "SeriesOnGpu*", "RanksOnGpus*", "GpuRepartition45k*", "*gives_every_atom*",
    "*awkward*", "*however_long*", "*follows_the_reference*", "*follow_the_reference*", "*blow_up*", "*shrinks_below*",
    "*very_many*", "*lost*", "*is_missing*", "*show_by_their*", "*give_back*", "*a_stall_within*", "*is_stuck*", "*GpuHaloStress*",
    "*GpuHaloFaults*", "*GpuFaults*", "*CommTimings*", "*GpuLinks.are_as_fast*", "*RefdataRanksOnGpu*etoh", "*RefdataRanksOnGpu*villin",
    "*whatever_*", "*at_every_size*", "*end_all_waits*", "*have_no_turn*", "*has_room_for_a_block*",
]
FOR_MEMCHECK_ALONE = [
    "*a_run_that_is_timed*", "*goes_on_from_a_saved_state*", "*stays_near_the_reference*", "*all_bonds*", "*a_trace_changes_no_bit*", "*a_traced_run*",
    "*a_checkpoint_is*", "*a_stopped_run*", "*is_the_one_of_the_cpu*", "*planned_for_less_density*", "*in_every_policy/nve",
    "*in_every_policy/v_rescale", "*in_every_policy/berendsen", "*in_every_policy/c_rescale", "*in_every_policy/nose_hoover",
    "*in_every_policy/stochastic_dynamics", "*FewAtomsOnRanks*staged_host*", "*twice_the_cutoff*", "*kick_constrain_and_drift_as_one*",
    "*in_boxes_of_any_shape*",
]
SEVERAL_GPUS = {"forward_x_kernel", "return_f_kernel", "send_receive_kernel", "messages_kernel", "flags_kernel", "stores_kernel",
                "make_payload_kernel", "check_payload_kernel", "stamp_kernel", "sums_kernel", "self_test_kernel"}
ONE_IN = "25"  # one case of so many is tried, where a test has many (tests/support/one_in.hpp)
EXCHANGES = "5"  # where a test repeats exchanges (tests/support/number_in.hpp)
JOBS_OF_GPU = 4  # at once. A GPU runs the kernels of one process at a time, and some wait for a kernel of another GPU
GIB_OF_JOB = 4
CUDA = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
Job = collections.namedtuple("Job", "tool program part parts gpus")


def free_gib():
    return int(re.search(r"MemAvailable:\s+(\d+)", Path("/proc/meminfo").read_text())[1]) / 2**20


def build_listener(logs):
    library = logs / "log_kernels.so"
    cupti = CUDA / "extras/CUPTI"
    subprocess.run(["g++", "-std=c++20", "-O1", "-fPIC", "-shared", "-I", CUDA / "include", "-I", cupti / "include",
                    Path(__file__).with_name("log_kernels.cpp"), "-o", library, "-L", CUDA / "lib64", "-L", cupti / "lib64", "-lcupti"],
                   check=True)
    return library.resolve()


def tests_of(tool, program, gpus, all_gpus, asked):
    """The filter of the tests that this tool watches on so many GPUs, among those that are asked for."""
    on_two = ON_TWO_GPUS[program][0].split(":") if program in ON_TWO_GPUS else []
    left_out = LEFT_OUT + (FOR_MEMCHECK_ALONE if tool != "memcheck" else []) + (on_two if gpus == 1 and all_gpus > 1 else [])
    taken = [some + on for some in asked for on in on_two] if gpus == 2 else asked  # patterns begin and end with *
    return f"--gtest_filter={':'.join(taken)}-{':'.join(left_out)}"


def count_tests(build, program, tests):
    listed = subprocess.run([build / program, tests, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    return len(re.findall(r"^  \S", listed, re.M))


def make_jobs(options, programs, gpus):
    """The jobs that run side by side, and how many tests there are for each tool."""
    jobs, tests = [], collections.Counter()
    for tool in options.tools:
        for program in programs:
            parts_on = {1: PARTS.get(program, 1), 2: ON_TWO_GPUS[program][1] if gpus > 1 and program in ON_TWO_GPUS else 0}
            for on, most in parts_on.items():
                count = count_tests(options.build, program, tests_of(tool, program, on, gpus, options.tests)) if most else 0
                parts = min(count, 1 if tool == "launches" else most)
                tests[tool] += count
                jobs += [Job(tool, program, part, parts, on) for part in range(parts)]
    return sorted(jobs, key=lambda job: job.part > 0), tests


def kill_program(group, program):
    """What of this process group runs `program`; the tool above it lives on."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            in_group = int(stat.read_text().rsplit(")", 1)[1].split()[2]) == group
            if in_group and os.readlink(stat.with_name("exe")) == str(program):
                os.kill(int(stat.parent.name), signal.SIGKILL)
        except (OSError, IndexError):
            pass  # has ended meanwhile


def run_for(seconds, command, program, **options):
    """The exit code, and whether the program was killed."""
    process = subprocess.Popen(command, start_new_session=True, **options)
    try:
        return process.wait(seconds), False
    except subprocess.TimeoutExpired:
        kill_program(process.pid, program)
    try:
        return process.wait(20), True
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait(), True


def run_job(options, job, gpus, all_gpus, listener, deadline):
    log = options.logs / f"{job.tool}.{job.program}.{job.gpus}.{job.part}.log"
    program = (options.build / ("parhelion" if job.program in COMMANDS else job.program)).resolve()
    arguments = COMMANDS.get(job.program) or [tests_of(job.tool, job.program, job.gpus, all_gpus, options.tests)]
    libraries = [os.environ.get("LD_LIBRARY_PATH", ""), f"{CUDA}/lib64", f"{CUDA}/extras/CUPTI/lib64"]
    environment = os.environ | {
        "GTEST_TOTAL_SHARDS": str(job.parts), "GTEST_SHARD_INDEX": str(job.part), "CUDA_VISIBLE_DEVICES": ",".join(gpus),
        "LD_LIBRARY_PATH": ":".join(filter(None, libraries)), "PARHELION_TEST_DEADLINE": "20",
        "PARHELION_TEST_ONE_IN": ONE_IN, "PARHELION_TEST_EXCHANGES": EXCHANGES,
    }
    command = ["compute-sanitizer", "--tool", job.tool, "--print-limit", "20"]
    if job.tool == "launches":
        environment |= {"CUDA_INJECTION64_PATH": str(listener), "PARHELION_KERNEL_LOG": f"{log}.kernels"}
        command = []
    begin = time.monotonic()
    seconds = max(1, min(options.limit, deadline - begin))
    with open(log, "w") as out:
        code, is_cut = run_for(seconds, command + [program, *arguments], program, stdout=out, stderr=out, env=environment)
    text = log.read_text(errors="replace")
    reports = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)", text)
    running = re.findall(r"^\[ RUN      \] (\S+)", text, re.M) if is_cut and " ran. (" not in text else []
    return {
        "tool": job.tool, "program": job.program, "gpus": job.gpus, "part": f"{job.part + 1}/{job.parts}",
        "tests": int(code == 0) if job.program in COMMANDS else len(re.findall(r"^\[       OK", text, re.M)), "failed": len(re.findall(r"^\[  FAILED  \].* ms\)$", text, re.M)),
        "skipped": len(re.findall(r"^\[  SKIPPED \].* ms\)$", text, re.M)),
        "reports": 0 if job.tool == "launches" else int(reports[-1]) if reports else None, "exit": code,
        **({"cut": running[-1]} if running else {}), "s": round(time.monotonic() - begin),
    }


def variants_not_launched(options, gpus):
    symbols = subprocess.run(["cuobjdump", "-symbols", options.build / "parhelion"], capture_output=True, text=True, check=True).stdout
    kernels = [line.split()[-1] for line in symbols.splitlines() if "STO_ENTRY" in line]
    launched = [path.read_text() for path in options.logs.glob("launches.*.kernels")]
    demangled = [set(subprocess.run(["c++filt"], input=names, capture_output=True, text=True, check=True).stdout.splitlines())
                 for names in ("\n".join(kernels), "".join(launched))]
    missing = sorted(demangled[0] - demangled[1])
    (options.logs / "not_launched").write_text("".join(f"{name}\n" for name in missing))
    several = sum(any(re.search(rf"::{name}[(<]", kernel) for name in SEVERAL_GPUS) for kernel in missing) if gpus == 1 else 0
    return {"variants": len(demangled[0]), "launched": len(demangled[0] & demangled[1]), "several_gpus": several,
            "not_launched": len(missing) - several}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("build", type=Path)
    arguments.add_argument("logs", type=Path, nargs="?", default=Path("sanitizer"))
    arguments.add_argument("--tools", nargs="+", default=TOOLS, choices=TOOLS)
    arguments.add_argument("--programs", nargs="+", help="names of test programs (default: all)")
    arguments.add_argument("--tests", nargs="+", default=["*"], metavar="*PATTERN*", help="only these tests, and no command (default: all)")
    arguments.add_argument("--jobs", type=int, help="processes at once (default: by GPUs, cores and memory)")
    arguments.add_argument("--limit", type=float, default=300, help="seconds of a job")
    arguments.add_argument("--wall", type=float, default=1200, help="seconds of all")
    options = arguments.parse_args()
    begin = time.monotonic()
    options.build = options.build.resolve()
    options.logs.mkdir(parents=True, exist_ok=True)
    for old in options.logs.iterdir():
        old.unlink()
    names = visible_gpus() or sys.exit("no GPU is visible")
    gpus = len(names)
    at_once = options.jobs or max(1, int(min(len(os.sched_getaffinity(0)), JOBS_OF_GPU * gpus, free_gib() / GIB_OF_JOB)))
    places = queue.Queue()  # a GPU for each job at once
    for k in range(at_once):
        places.put(k % gpus)
    listener = build_listener(options.logs) if "launches" in options.tools else None
    programs = options.programs or sorted(path.name for path in options.build.glob("test_*_gpu"))
    programs.sort(key=lambda name: list(PARTS).index(name) if name in PARTS else len(PARTS))
    jobs, tests = make_jobs(options, programs, gpus)
    totals = collections.defaultdict(collections.Counter)

    def run(job):
        gpu = places.get()
        try:
            return run_job(options, job, [names[(gpu + k) % gpus] for k in range(job.gpus)], gpus, listener, begin + options.wall)
        finally:
            places.put(gpu)

    alone = [Job(tool, name, 0, 1, 2) for name in COMMANDS for tool in options.tools] if gpus > 1 and options.tests == ["*"] else []
    tests.update(job.tool for job in alone)

    with open(options.logs / "results.jsonl", "w") as results, concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        def tell(line):
            print(json.dumps(line), file=results, flush=True)
            print(json.dumps(line), flush=True)

        def count(line):
            tell(line)
            bad = line["reports"] is None or line["exit"] not in (0, 77)  # 77: all tests were skipped
            totals[line["tool"]].update({"tests": line["tests"], "reports": line["reports"] or 0, "jobs": 1, "jobs_failed": int(bad),
                                         "jobs_cut": int("cut" in line)})

        tell({"jobs": len(jobs) + len(alone), "at_once": at_once, "gpus": gpus, "tests": tests})
        for job in concurrent.futures.as_completed([pool.submit(run, job) for job in jobs]):
            count(job.result())
        for job in alone:
            count(run(job))
        variants = variants_not_launched(options, gpus) if "launches" in options.tools else None
        clean = all(total["reports"] == total["jobs_failed"] == 0 < total["tests"] for total in totals.values())
        for tool, total in totals.items():
            tell({"tool": tool, **total})
        if variants is not None:
            tell(variants)
            clean = clean and variants["variants"] > 0 and variants["not_launched"] == 0
        tell({"clean": clean, "s": round(time.monotonic() - begin)})
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
