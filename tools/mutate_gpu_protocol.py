#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tests notice when the exchange between GPUs is broken? Removes each signal, wait, barrier and count of SOURCES in turn and builds
a test program of each, to be run on a machine with a GPU, which may be another.

  mutate_gpu_protocol.py build DIR [--only REGEX]      builds DIR/0 (not mutated), DIR/1, ... and DIR/mutants.tsv, which names them
  mutate_gpu_protocol.py run DIR                       runs them; needs nothing but DIR and this file

`run` reports which mutants the tests have killed, and how; exit code 1 if one survives or if the program that is not mutated fails. Cost:
some ten seconds on a core to build a mutant, a few seconds on a GPU to run it.
"""
import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCES = ["src/halo", "src/comm/gpu_block.cuh"]
TARGET = "test_halo_gpu"
# One after another until a mutant is killed. Ranks side by side on one GPU have to wait for each other as those on several have.
FILTERS = [
    "*GpuHaloStress.brings*/direct*side_by_side:*GpuHaloStress.is_done*/direct*side_by_side:*GpuHaloStress.brings*/staged_fused*side_by_side",
    "*GpuHaloStress.brings*/staged_fused*_on_1",
    "*GpuHaloStress.brings*/staged_dma*_on_1_side_by_side:*GpuHaloStress.brings*/staged_host_1_1_4_on_1_side_by_side",
]
SECONDS = 20  # of one run


def operators():
    from mutate_protocol import EFFECT, Operator

    wait = r"block_wait_(?:arrived|added)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
    publish = r"(?:    if constexpr \([^\n]*\n    \{\n    )?    if \(is_last_block\([^\n]*(?:publish|signal)\([^\n]*(?:\n    \})?"
    return [
        Operator("no signal", EFFECT.format("publish|signal|store_release_system"), r"\g<gap>;", files="halo/"),
        Operator("no wait", rf"(?<=[ (=!]){wait}(?=[);& ])", "(__syncthreads(), true)"),
        Operator("no wait", EFFECT.format("wait_arrived"), r"\g<gap>;"),
        Operator("no wait of a queue or the host", r"\bworld_\.wait\([^;]*;|wait_for\(queue, [^;]*;", ";"),
        Operator("no next epoch", EFFECT.format("take"), r"\g<gap>;"),
        Operator("first block publishes, not the last", r"(?<=[.>]arrive\()([^;]*)(?=\);)", r"(\1) - gridDim.x + 1"),
        Operator("nobody is last", r"(?<=[.>]arrive\()([^;]*)(?=\);)", r"(\1) + 1"),
        Operator("no barrier of the block", r"(?<=\n) *__syncthreads\(\);", "    ::parhelion::test::be_late();"),
        Operator("no barrier of the warp", r"(?<=\n) *__syncwarp\(\);", ""),
        Operator("signal before data", rf"(    for_share\((?:(?!\n\}}).)*?)\n({publish})(?=\n[\n}}])", r"\2\n\1"),
        Operator("forces are not cleared", r"\n *a\.state\.f\[[^\n]* = \{\};", ""),
        Operator("sums of forces are not atomic", r"a\.state\.add_force\(slot, (Vec3<[^;]*)\);", r"{ const auto& s = \1; auto& t = a.state.f[slot]; t.x += s.x, t.y += s.y, t.z += s.z; }"),
        Operator("forces go in the order of positions", r"count_ - 1 - round /", "round /"),
    ]


class Builds:
    """A copy of the sources, the program built from it, and the commands that have built it."""

    def __init__(self, folder, architectures):
        from mutate_protocol import ROOT, write_if_changed

        self.folder, self.source, self.build = folder, folder / "source", folder / "source" / "build-cuda"
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in tracked.decode().split("\0"):
            if name and (ROOT / name).is_file():
                write_if_changed(self.source / name, (ROOT / name).read_bytes())
        configure = ["cmake", "--preset", "cuda", "-B", str(self.build), "-DPARHELION_BENCH=OFF", f"-DCMAKE_CUDA_ARCHITECTURES={architectures}"]
        subprocess.run(configure, cwd=self.source, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", str(self.build), "--target", TARGET, "-j", "1"], check=True, stdout=subprocess.DEVNULL)
        commands = subprocess.run(["ninja", "-t", "commands", TARGET], cwd=self.build, check=True, capture_output=True, text=True).stdout
        lines = commands.splitlines()
        self.link = shlex.split(lines[-1].split("&&")[1])
        self.compile = [shlex.split(c) for c in lines if f"-o tests/CMakeFiles/{TARGET}.dir" in c]

    def program(self, number, mutated):
        """Links the mutant of this number; an error message if it does not compile."""
        link = list(self.link)
        for command in self.compile:
            source, output = command[command.index("-c") + 1], command[command.index("-o") + 1]
            if mutated.endswith(".cu") and not source.endswith(mutated):
                continue
            mutant_object = str(self.folder / Path(output).name)
            text = Path(source).read_text()
            # The other policies come from the library.
            Path(source).write_text(text.replace("PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)", "PARHELION_INSTANTIATE(Mixed)"))
            changed = [mutant_object if word == output else word for word in command]
            built = subprocess.run(changed, cwd=self.build, capture_output=True, text=True)
            Path(source).write_text(text)
            if built.returncode != 0:
                return next((line for line in (built.stdout + built.stderr).splitlines() if "error" in line), "does not compile")
            link[link.index(output)] = mutant_object
        link[link.index("-o") + 1] = str(self.folder / str(number))
        subprocess.run([*link, "-s"], cwd=self.build, check=True)
        return ""


def build(arguments):
    from mutate_protocol import ROOT, mutants_of

    sources = [ROOT / name for name in SOURCES]
    files = [f for s in sources for f in (sorted([*s.glob("*.cu"), *s.glob("gpu_*.cuh"), *s.glob("gpu_*.hpp")]) if s.is_dir() else [s])]
    mutants = [m for f in files for m in mutants_of(str(f.relative_to(ROOT)), operators()) if re.search(arguments.only, m.name)]
    if arguments.list:
        print(*(m.name for m in mutants), sep="\n")
        return 0
    builds = Builds(arguments.folder.resolve(), arguments.architectures)
    with open(arguments.folder / "mutants.tsv", "w") as table:
        for number, mutant in enumerate([None, *mutants]):
            if mutant is None:
                name, why = "not mutated", builds.program(0, "")
            else:
                path = builds.source / mutant.file
                original = path.read_text()
                path.write_text(mutant.text)
                name, why = mutant.name, builds.program(number, mutant.file)
                path.write_text(original)
            print(f"{number}\t{name}\t{why}", file=table, flush=True)
            print(number, name, why, flush=True)
    return 0


def run_one(program):
    """How it ended: '' if well, else what killed it."""
    return next((how for how in (run_tests(program, tests) for tests in FILTERS) if how), "")


def run_tests(program, tests):
    environment = dict(os.environ, PARHELION_TEST_DEADLINE="1", PARHELION_TEST_EXCHANGES="1")
    command = [program, f"--gtest_filter={tests}", "--gtest_fail_fast"]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True
    )
    try:
        output, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "time-out"
    if process.returncode == 0:
        return "" if "[  PASSED  ] 0 tests" not in output else "no test ran"
    failed = re.search(r"\[  FAILED  \] ([\w/.]+)", output)
    wrong = re.search(r"(\d+ wrong positions, \d+ wrong forces, \d+ forces left behind)", output)
    waited = re.search(r"waited .* in vain [^,]*", output)
    return f"{failed[1] if failed else 'crash'}: {' '.join(m[0] for m in (wrong, waited) if m)}"


def run(arguments):
    table = [line.split("\t") for line in (arguments.folder / "mutants.tsv").read_text().splitlines()]
    survivors = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        runs = [None if why else pool.submit(run_one, arguments.folder.resolve() / number) for number, _, why in table]
        for (number, name, why), ended in zip(table, runs):
            how = f"does not compile: {why}" if ended is None else ended.result() or "survived"
            if (how == "survived") != (number == "0"):
                survivors.append(name)
            print(f"{number}\t{name}\t{how}", flush=True)
    print(f"{len(table) - 1} mutants. Not as it should be:", *(survivors or ["none"]), sep="\n  ")
    return 1 if survivors else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(required=True)
    builder = commands.add_parser("build")
    builder.add_argument("--list", action="store_true", help="name the mutants and stop")
    builder.add_argument("--only", default="", help="regular expression on their names")
    builder.add_argument("--architectures", default="90-real", help="of the GPU, as CMake names them")
    builder.set_defaults(do=build)
    runner = commands.add_parser("run")
    runner.add_argument("--jobs", type=int, default=3, help="programs at the same time")
    runner.set_defaults(do=run)
    for command in (builder, runner):
        command.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    return arguments.do(arguments)


if __name__ == "__main__":
    sys.exit(main())
