#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tests notice when the exchange between GPUs is broken? Weakens or removes each order, signal, wait, barrier and count of SUITES in
turn and builds a test program of each, to be run on a machine with GPUs, which may be another and needs no compiler.

  mutate_gpu_protocol.py build DIR [--suite halo] [--only REGEX]     builds DIR/SUITE/0 (not mutated), DIR/SUITE/1, ... and
                                                                     DIR/SUITE/mutants.tsv, which names them
  mutate_gpu_protocol.py check DIR [--suite halo] [--only REGEX]     compiles them, and does not link
  mutate_gpu_protocol.py run DIR [--suite halo] [--only REGEX]       runs them; needs DIR/*/[0-9]*, DIR/*/mutants.tsv and tools/

With --standin all three are for the stand-in for the CUDA runtime (tests/standin), a build of the preset standin, and DIR is another; no
GPU is needed. It runs one block after another, each until it waits: it notices what is missing (a signal, a wait, a barrier before others
look, a count), not the order in which hardware would do things. Mutants of machine code, which it has none of, are not made.

`build` takes everything but the mutants from a build of the checkout (--build), which it brings up to date. `run` reports which mutants the
tests have killed, and how; exit code 1 unless all were killed, but for EXCEPTIONS. The program that is not mutated runs first, and
deadlines are stretched until it passes; a mutant counts as killed only if that program passes the same test right after, else the run is
void and is repeated with longer deadlines. A suite for which there are too few GPUs is not run, which is said, and the exit code is 1.
Cost: some ten seconds on a core to build a mutant (of the update: minutes), a few seconds on a GPU to run one (of the engine: half a
minute), and once more the test that has killed it.
"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from mutants import EFFECT, ROOT, Operator, Outcome, Result, Skipped, first_error, mutants_of, report, run_tests
from visible_gpus import visible_gpus

LATE = "::parhelion::test::be_late();"  # tests/halo/late_blocks.cuh
LATE_BLOCKS = ("-include", "tests/halo/late_blocks.cuh", "-I", "tests")  # compiled with barriers that some threads reach late
MACHINE_CODE = "src/device/gpu/cuda/instructions.cuh"


@dataclass(frozen=True)
class Suite:
    """Mutants that one test program is to notice."""

    target: str
    sources: list  # what is mutated: files and folders
    compiled: str  # regex on the sources that are compiled with a mutant; everything else is linked as it is
    filters: list  # of tests; one after another until a mutant is killed
    gpus: int = 1  # that it takes to notice
    seconds: int = 20  # of one run
    options: tuple = ()  # of the compiler, for what is compiled with a mutant
    policy: str = "Mixed"  # numeric, that mutants are compiled for
    standin: list = ()  # filters for the stand-in; none if no test of these mutants is short enough there

    def target_on(self, standin):
        return self.target.replace("_gpu", "_standin") if standin else self.target


SUITES = {
    # Ranks side by side on one GPU have to wait for each other as those on several have. On one GPU nobody notices that a scope does not
    # reach another: the last filters are of two and four, and are skipped where there are fewer.
    "halo": Suite(
        "test_halo_gpu",
        ["src/halo/gpu", "src/comm/gpu/block.cuh", MACHINE_CODE],
        r"tests/halo/|src/halo/",
        [
            "*GpuHaloStress.brings*/direct*side_by_side:*GpuHaloStress.is_done*/direct*side_by_side:*GpuHaloStress.brings*/staged_fused*side_by_side",
            "*GpuHaloStress.brings*/staged_fused*_on_1",
            "*GpuHaloStress.brings*/staged_dma*_on_1_side_by_side:*GpuHaloStress.brings*/staged_host_1_1_4_on_1_side_by_side",
            "Nodes/GpuHaloStress.brings*/staged_fused_*_on_1_*nodes",
            ":".join(f"*GpuHaloStress.{test}_on_{gpus}" for test in ("brings*/direct*", "is_done*/direct*", "brings*/staged_fused*") for gpus in (2, 4)),
        ],
        standin=[
            "*GpuHaloStress.*/direct_2_1_1_on_1_side_by_side",
            "*GpuHaloStress.brings*/staged_*_2_1_1_on_1_side_by_side",
            "*GpuHaloStress.brings*/direct_2_1_1_on_2:*GpuHaloStress.brings*/staged_*_2_1_1_on_2",
            "Nodes/GpuHaloStress.brings*/staged_fused_2_1_1_on_1_2_nodes",
        ],
    ),
    # Channels by themselves and sums, with barriers that some threads reach late.
    "sums": Suite(
        "test_comm_gpu",
        ["src/comm/gpu/collectives.cuh", "src/comm/gpu/collectives.cu", MACHINE_CODE],
        r"tests/comm/(collectives|channels)_gpu_test\.cu|src/comm/gpu/collectives\.cu",
        ["*GpuCollectives.*_on_one:*GpuCollectives.*_on_each_of_two", "*GpuChannels.*:*GpuBlocks.*", "*GpuCollectives.*gpus"],
        seconds=60,
        options=LATE_BLOCKS,
        standin=[
            "*GpuCollectives.*/two_on_one:*GpuCollectives.add_in_rank_order*/three_on_one:-*very_many*:*name_the*",
            "*GpuCollectives.*/two_gpus:*GpuCollectives.of_groups*/three_on_one:-*very_many*",
        ],
    ),
    # Partitioned messages, with barriers that some threads reach late.
    "partitioned": Suite(
        "test_comm_gpu",
        ["src/comm/partitioned/gpu/partitioned.cuh", "src/comm/partitioned/gpu/partitioned_gpu.cu", "src/comm/partitioned/protocol.hpp",
         "src/comm/partitioned/counts.hpp", MACHINE_CODE],
        r"tests/comm/partitioned/partitioned_gpu_test\.cu|src/comm/partitioned/gpu/partitioned_gpu\.cu",
        ["*GpuPartition*:-*gpus*:*two_on_each*", "*GpuPartitions.*gpus*"],
        seconds=60,
        options=LATE_BLOCKS,
        standin=["*GpuPartitions.*/two_on_one*:*GpuPartitionedMisuse.*", "*GpuPartitions.*/two_gpus*"],
    ),
    # All-reduces by packets.
    "packets": Suite(
        "test_comm_gpu",
        ["src/comm/partitioned/gpu/packets.cuh"],
        r"tests/comm/partitioned/collectives_gpu_test\.cu|src/comm/partitioned/gpu/collectives_gpu\.cu",
        ["OnOneGpu.partitioned_packets*:*GpuPartitionedCollectives.*on_one"],
        seconds=60,
        options=LATE_BLOCKS,
        standin=["OnOneGpu.partitioned_packets*:*GpuPartitionedCollectives.*/two_on_one"],
    ),
    # What carries them with the progression engine: a host thread, so that most orders are tests/comm/proxy_ring_test.cpp's business.
    "proxy": Suite(
        "test_comm_gpu",
        ["src/comm/core/proxy_ring.hpp", "src/comm/gpu/proxy.cpp"],
        r"tests/comm/partitioned/p\w+_gpu_test\.cu|src/comm/partitioned/gpu/partitioned_gpu\.cu|src/comm/gpu/proxy\.cpp",
        ["*GpuPartitions.*one_by_proxy:GpuProxies*:*GpuNodes.*", "Nodes/GpuChannels.work*_on_one"],
        seconds=60,
        options=LATE_BLOCKS,
        standin=["*GpuPartitions.*/two_on_one_by_proxy:GpuProxies*:*GpuNodes.*/2x*", "Nodes/GpuChannels.work*/two_nodes_on_one"],
    ),
    # The exchanges of the mesh, of ranks side by side on one GPU; what is lost must end, too.
    "mesh": Suite(
        "test_mesh_exchange_gpu",
        ["src/mesh_exchange/gpu/peer_exchange.cuh", "src/mesh_exchange/gpu/patch.cu", "src/mesh_exchange/gpu/spectrum.cu",
         "src/mesh_exchange/gpu/slab_limits.cu", "src/mesh_exchange/gpu/dedicated.cu", "src/comm/gpu/block.cuh", MACHINE_CODE],
        r"tests/mesh_exchange/rank_mesh_gpu|src/mesh_exchange/gpu/",
        ["*GpuSlabLimits*:*GpuMeshStress*_on_1_side_by_side", "*GpuMeshStress*_on_1:GpuMeshFaults.*", "*GpuMeshStress*_on_2:*GpuMeshStress*_on_4"],
        seconds=60,
        options=LATE_BLOCKS,
        policy="MixedReproducible",
        standin=["*GpuSlabLimits*:*GpuMeshStress*_2_on_1_side_by_side:*GpuMeshStress*dedicated_4_on_1_side_by_side", "*GpuMeshStress*_2_on_2"],
    ),
    # Atoms that go to other virtual nodes at a repartition.
    "travellers": Suite(
        "test_domain_gpu",
        ["src/domain/gpu/travellers_gpu.cu"],
        r"src/domain/gpu/travellers_gpu\.cu",
        ["GpuTravellersOfNodes/*"],
        seconds=60,
        standin=["GpuTravellersOfNodes/*"],
    ),
    # Ranks that share a GPU share its queues, which wait for everything by themselves.
    "engine": Suite(
        "test_engine_gpu",
        ["src/engine/gpu/step_gpu.hpp", "src/engine/gpu/exchange_gpu.hpp", "src/engine/gpu/ranks.cpp"],
        r"src/engine/gpu/ranks\.cpp",
        ["RanksOnGpus.follow_the_trajectory_of_one_bit_by_bit:RanksOnGpus.grow_capacity*:RanksOnGpus.have_the_bits*:*FewAtomsOnRanks*reproducible"],
        gpus=2,
        seconds=300,
    ),
    "update": Suite(
        "test_engine_gpu",
        ["src/dynamics/gpu/update_gpu.cuh"],
        r"src/engine/gpu/update_gpu\.cu",
        ["RanksOnGpus.follow_the_trajectory_of_one_bit_by_bit:*FewAtomsOnRanks*reproducible"],
        gpus=2,
        seconds=300,
    ),
}

wait = r"block_wait_(?:arrived|added)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
publish = r"    (?:if constexpr \([^\n]*)?signal_when_last\([^\n]*"
OPERATORS = [
    # Orders and scopes, of the instructions themselves.
    Operator("acquire -> relaxed", r"ld\.acquire\.sys", "ld.relaxed.sys", "instructions", True),
    Operator("acquire of the system -> of the GPU", r"ld\.acquire\.sys", "ld.acquire.gpu", "instructions", True),
    Operator("release -> relaxed", r"st\.release\.sys", "st.relaxed.sys", "instructions", True),
    Operator("release to the system -> to the GPU", r"st\.release\.sys", "st.release.gpu", "instructions", True),
    Operator("acq_rel -> acquire", r"atom\.acq_rel\.gpu", "atom.acquire.gpu", "instructions", True),
    Operator("acq_rel -> release", r"atom\.acq_rel\.gpu", "atom.release.gpu", "instructions", True),
    Operator("acq_rel -> relaxed", r"atom\.acq_rel\.gpu", "atom.relaxed.gpu", "instructions", True),
    Operator("acq_rel of the GPU -> of the block", r"atom\.acq_rel\.gpu", "atom.acq_rel.cta", "instructions", True),
    Operator("release to the system -> to the block", r"fence\.acq_rel\.sys", "fence.acq_rel.cta", "instructions", True),
    # The halo.
    Operator("no signal", EFFECT.format("publish|signal|signal_when_last|store_release_system|store_and_count_release"), r"\g<gap>;", files="halo/|comm/gpu/collectives.cuh|partitioned/|mesh_exchange/"),
    Operator("no wait", rf"(?<=[ (=!]){wait}(?=[);& ])", "(__syncthreads(), true)"),
    Operator("no wait", EFFECT.format("wait_arrived"), r"\g<gap>;"),
    Operator("no wait of a queue or the host", r"\bworld_\.wait\([^;]*;|wait_for\(queue, [^;]*;", ";", files="halo/"),
    Operator("no next epoch", EFFECT.format("take|take_when_last"), r"\g<gap>;"),
    Operator("first block publishes, not the last", r"(?<=[.>]arrive\()([^;]*)(?=\);)", r"(\1) - gridDim.x + 1", files="halo/|comm/gpu/"),
    Operator("nobody is last", r"(?<=[.>]arrive\()([^;]*)(?=\);)", r"(\1) + 1", files="halo/|comm/gpu/"),
    Operator("no barrier of the block", r"(?<=\n) *__syncthreads\(\);", f"    {LATE}", files="halo/|gpu/block|partitioned/"),
    Operator("no barrier of the warp", r"(?<=\n) *warp_barrier\(\);", ""),
    Operator("signal before data", rf"(    for_share\((?:(?!\n\}}).)*?)\n({publish})(?=\n[\n}}])", r"\2\n\1"),
    Operator("forces are not cleared", r"\n *a\.state\.f\[[^\n]* = \{\};", ""),
    Operator("sums of forces are not atomic", r"a\.state\.add_force\(slot, (Vec3<[^;]*)\);", r"{ const auto& s = \1; auto& t = a.state.f[slot]; t.x += s.x, t.y += s.y, t.z += s.z; }"),
    Operator("forces go in the order of positions", r"int m = messages_\.count\(\) - 1; m >= 0; --m", "int m = 0; m < messages_.count(); ++m"),
    # Sums over ranks.
    Operator("no wait", r"(?<=has_failed = )receiver\.wait_arrived[^;]*", "false"),
    Operator("stored before places are known", r"(?<=slot\(\)\); \}\n) *__syncthreads\(\);", f"    {LATE}", files="gpu/collectives"),
    Operator("signalled before all have stored", r"(\n    for \((?:(?!\n    \}).)*\n    \})\n *__syncthreads\(\);(?= *\n    if \(is_peer\) \{ ends\.senders)",
             rf"\n    {LATE}\1"),
    Operator("added before all have arrived", r"__syncthreads_or\(has_failed\)", "has_failed"),
    Operator("not in rank order", r"T sum = ends\.rank == 0 [^;]*;(\s*)for \(int r = 1; r < ends\.ranks; \+\+r\) \{[^}]*\}",
             r"T sum = mine;\1for (int r = 0; r < ends.ranks; ++r) { if (r != ends.rank) { sum = combine(sum, slots[r][i]); } }"),
    Operator("last rank left out", r"(?<=r < ends\.ranks)(?=; \+\+r\) \{ sum)", " - 1"),
    Operator("sum not settled", r"(?<=values\[i\] = )settled\(sum\)", "sum"),
    Operator("one slot", r"(?<=\{)2(?=, Credits::No)", "1", files="gpu/collectives"),
    # Partitioned messages.
    Operator("no arrival, or no credit, or no copy", EFFECT.format("arrive|prepare|copy_partition"), r"\g<gap>;", files="partitioned/"),
    Operator("no wait", r"wait_until<CudaAtomics>\([^;]*(?= [!=]= Verdict::Reached)", "Verdict::Reached", files="partitioned/"),
    Operator("no wait", r"!wait_signal\(request, s\)", "false"),
    Operator("always prepared", r"(?<=is_prepared\(Word nth\) const)\s*\{[^}]*\}", "{ return nth == nth; }"),
    Operator("always arrived", r"(?<=has_signal\(int signal, Word nth\) const)\s*\{[^}]*\}", "{ return signal + 0 * nth == signal; }"),
    Operator("marked before all have copied", r"(\n    copy_partition\([^;]*;)\n    (?:__syncthreads|warp_barrier)\(\);", rf"\n    {LATE}\1", files="partitioned/"),
    Operator("copied before all know that they may", r"__syncthreads_or\((!may)\)", rf"(({LATE[:-1]}), (\1), false)"),
    Operator("first of a group signals", r"arrived == all\)", "arrived + 0 * all == goal(signal, nth - 1) + n)"),
    Operator("one for its group", r"static_cast<Word>\(__popc\(group\)\)", "1"),
    Operator("one signal less is needed", r"(?<=signal_of\(last\)) \+ 1", ""),
    Operator("no next epoch", r"\+\+request\.started;|request\.started = nth;", ""),
    # Packets.
    Operator("one slot", r"epoch % 2 ", "0 * epoch ", files="gpu/packets"),
    Operator("no packet", EFFECT.format("store_packet"), r"\g<gap>;", files="gpu/packets"),
    Operator("a packet of any epoch", r"seen\.epoch != epoch", "seen.epoch == 0", files="gpu/packets"),
    Operator("no wait", r"!wait_packet\(request, m, ([^;]*), epoch, elements\)", r"(elements = load_packet(\1).elements, false)", files="gpu/packets"),
    # Proxies.
    Operator("descriptor not released", EFFECT.format("store_release_system"), r"\g<gap>;", files="proxy_ring"),
    Operator("tickets by less than one", r"(?<=&tickets_, )1", "0", files="proxy_ring"),
    Operator("fewer places than signals", r"\(places_ - 1\)", "0", files="proxy_ring"),
    Operator("one descriptor for all signals", r"read \+ \(put\.signal - first_signal\)", "read", files="proxy_ring"),
    Operator("no copy, no signal", r"gpu_memory::(on_device|set_words)\([^;]*;", ";", files="gpu/proxy"),
    Operator("signal before the copy", r"(    for \(const Descriptor& message : messages\)\n    \{\n[^\n]*\n *if \(!memory_\.reaches\(put\.destination\)\) \{ this(?:(?!\n    \}).)*\n    \}\n)(.*?set_words\([^;]*;[^\n]*\n)", r"\2\1", files="gpu/proxy"),
    Operator("nobody is told that it was read", r"if \(message\.read != nullptr\) \{[^;]*; \}", "", files="gpu/proxy"),
    Operator("read before it is copied", r"(?=\n *gpu_memory::on_device)", "\n        if (message.read != nullptr) { const gpu_memory::WordAt words{message.read, put.epoch}; gpu_memory::set_words(queue_, {&words, 1}); }", files="gpu/proxy"),
    Operator("the last of several is not carried", r"carry\(\{taken\.data\(\), n\}\)", "carry({taken.data(), n - (n > 1 ? 1 : 0)})", files="gpu/proxy"),
    Operator("to another node at once", r"if \(sends\(taken\[n\]\)\) \{ continue; \}", "", files="gpu/proxy"),
    Operator("no payload to another node", r"carry\(\{&message, 1\}, Parts::Payloads\);", "", files="gpu/proxy"),
    Operator("no signal to another node", r"under_way_\.keep_signal_of\(next\);", "", files="gpu/proxy"),
    Operator("signal with the first byte", r"if \(parts == Parts::Payloads\) \{ return; \}", "", files="gpu/proxy"),
    Operator("what is late is waited for after a failure", r" \|\| has_stopped\(\)", "", files="gpu/proxy"),
    Operator("its failure is told to nobody", r"options_\.on_failure\([^;]*;", ";", files="gpu/proxy"),
    # Relays, and what kernels tell them.
    Operator("no size with the signal", r"if \(message\.read == nullptr\) \{ words[^}]*\}; \}", "", files="gpu/proxy"),
    Operator("the size that was there at first", r"put\.bytes = HostAtomics::load_relaxed_system\([^;]*;", "", files="gpu/proxy"),
    Operator("all slots to the first", r"put\.offset \+= slot \* relay\.stride, ", "", files="gpu/proxy"),
    Operator("the first slot to all", r"put\.data \+= slot \* relay\.stride;", "", files="gpu/proxy"),
    Operator("each signal of a relay as the first", r"(?<=relay\.stride, )put\.signal \+= slot", "static_cast<void>(0)", files="gpu/proxy"),
    Operator("every second look finds nothing", r"if \(epoch == put\.epoch\) \{ continue; \}", "if (epoch == put.epoch || (epoch & 1) != 0) { continue; }", files="gpu/proxy"),
    Operator("a relay is not told the size", r"m\.(wanted|f|x)_send\.set_bytes\([^;]*;", ";", files="halo/"),
    # Travellers.
    Operator("nobody travels", r"a\.ends\.senders\[far\.place\]\.publish\([^;]*;", "a.ends.senders[far.place].publish(0);", files="travellers"),
    Operator("what travelled travels again", r"far\.packed = 0;", ";", files="travellers"),
    Operator("zone of nobody", r"static_cast<std::uint8_t>\(atom\.zone\)", "static_cast<std::uint8_t>(0)", files="travellers"),
    Operator("nobody collects", r"far\.collects \? [^;]*: -1", "-1", files="travellers"),
    Operator("velocities are not collected", r"is_collected \|\| (?=atom\.zone)", "", files="travellers"),
    Operator("no force travels", r"first\.place == 0 && ", "false && ", files="travellers"),
    # The mesh.
    Operator("no wait", r"(?<=has_failed = )has_peer\(\) && receivers[^;]*", "false", files="mesh_exchange/"),
    Operator("no begin", r"if \(!exchange\.begin\(\)\) \{ return; \}", "", files="mesh_exchange/"),
    Operator("no end", r"exchange\.end\(\);", "", files="mesh_exchange/"),
    Operator("no wait", r"await_peers\(queue[^;]*;", ";", files="mesh_exchange/"),
    Operator("forces are not cleared", r"(?<=\n)        f\[slot\] = \{\};", "", files="mesh_exchange/"),
    Operator("nobody is told who is left out", r"= inboxes\[m\]\.left_out\[supercluster\]", "", files="mesh_exchange/"),
    Operator("a plane too few is reached", r"points - from_first < order", "points - from_first < order - 1", files="mesh_exchange/"),
    Operator("a mesh rank of two gets nothing", r"if \(comes\) \{ inboxes", "if (comes && m == 0) { inboxes", files="mesh_exchange/"),
    Operator("charges are not cleared", r"if \(!is_kept\) \{ from\[z\] = 0; \}", "", files="mesh_exchange/"),
    Operator("a plane too long ahead", r"back >= order - 1", "back >= order - 2", files="mesh_exchange/"),
    Operator("a plane too long behind", r"back < reaches_back\[slot\]", "back <= reaches_back[slot]", files="mesh_exchange/"),
    # What the engine queues, and the update.
    Operator("flags not agreed on", r"co_await agree_on_flags\([^;]*;", "co_return;", files="engine/"),
    Operator("exchange buffers not released", r"co_await release_exchange_buffers\([^;]*;", "co_await all_are_here;", files="engine/"),
    Operator("release without a wait", r"barrier_wait\(queue[^;]*;", "", files="engine/"),
    Operator("sums not awaited", r"all_reduce_receive\(r\.queue[^;]*;", "", files="engine/"),
    Operator("waits are queued before sends", r"(\n *(?:all_reduce_send|r\.halo->request_atoms)\([^;]*;)\n *co_await all_are_here;", r"\1", files="engine/"),
    Operator("update does not await forces", r"(?:if \(lanes\.any_of_warp\([^\n]*\n)|(?:typename Copies::Arrival\(args\.copies\)\.await\(\);)", "\n", files="update_gpu"),
]

# Mutants that may end otherwise than killed by a test, and why.
EXCEPTIONS = {}
STANDIN_EXCEPTIONS = {  # on the stand-in
    "signal before data: src/halo/gpu/exchange.cu": (Outcome.SURVIVED, "a block goes on from its signal to its data before any other runs"),
}
STANDIN_SECONDS = 120  # of one run there
STRETCHES = (1, 3, 9)  # of deadlines, where the machine is too slow


class Builds:
    """The commands that have built a test program, with which it is built again: a mutant is a file that the compiler finds before the
    checkout's, which is left alone."""

    def __init__(self, folder, suite, build, links, standin):
        self.folder, self.build, self.standin, self.policy = folder, build, standin, suite.policy
        self.unmutated = {}  # source: its object, where nothing is mutated
        target = suite.target_on(standin)
        if links:
            subprocess.run(["cmake", "--build", build, "--target", target, "-j", "1"], check=True, stdout=subprocess.DEVNULL)
        commands = subprocess.run(["ninja", "-t", "commands", target], cwd=build, check=True, capture_output=True, text=True).stdout
        lines = commands.splitlines()
        self.link = shlex.split(lines[-1].split("&&")[1])
        self.compile = []
        for line in lines:
            command = shlex.split(line) if " -c " in line else []
            # On the stand-in what includes no kernels is not compiled with them.
            source = self.source_of(command) if command else ""
            is_host = source.endswith(".cpp")
            if command and re.search(suite.compiled, source) and not (standin and is_host and source not in suite.sources):
                options = [str(ROOT / word) if word.startswith("tests") else word for word in (LATE_BLOCKS if standin else suite.options)]
                options = [] if is_host else options
                self.compile.append((command + options, f"/{target}.dir/" not in command[command.index("-o") + 1]))
        # A test program that compiles a source of the library itself, with late blocks, does not look for the library's object.
        own = {self.source_of(command) for command, in_library in self.compile if not in_library}
        self.compile = [(command, in_library) for command, in_library in self.compile if not in_library or self.source_of(command) not in own]

    def source_of(self, command):
        return os.path.relpath(self.build / command[command.index("-c") + 1], ROOT)

    def compile_one(self, command, text, folder):
        """Compiles this text in place of the source, with what is in the overlay before all else: its result, and the object."""
        source, output = self.source_of(command), command[command.index("-o") + 1]
        stand_in, made = self.folder / "compiled" / Path(source).name, str(folder / Path(output).name)
        folder.mkdir(exist_ok=True)
        stand_in.parent.mkdir(parents=True, exist_ok=True)
        stand_in.write_text(text)
        replaced = {command[command.index("-c") + 1]: str(stand_in), output: made, command[command.index("-MF") + 1]: made + ".d"}
        changed = [replaced.get(word, word) for word in command if not word.startswith("-Werror")]
        first = next(n for n, word in enumerate(changed) if word.startswith("-I"))
        changed[first:first] = ["-I", str(self.folder / "overlay")]
        # A cache of the compiler would not see that a header is now found earlier than before.
        environment = os.environ | {"CCACHE_DISABLE": "1"}
        built = subprocess.run([*changed, "-I", str(ROOT / Path(source).parent)], cwd=self.build, env=environment, capture_output=True, text=True)
        return built.returncode, built.stdout + built.stderr, (output, made)

    def objects(self, mutant):
        """Compiles what has the mutant in it, or all where there is none: [(object of the original, of the mutant, is it in a library)]; a
        Result if it does not compile."""
        shutil.rmtree(self.folder / "overlay", ignore_errors=True)
        mutated = mutant.file if mutant else ""
        if mutant:
            path = self.folder / "overlay" / Path(mutated).relative_to("src")
            path.parent.mkdir(parents=True)
            path.write_text(mutant.text)
        made, has_mutant = [], not mutant
        for command, in_library in self.compile:
            source = self.source_of(command)
            if mutant and source != mutated and not self.includes(source, mutated):
                made.append(self.unmutated[source])
                continue
            has_mutant = True
            text = mutant.text if source == mutated else (ROOT / source).read_text()
            if not in_library or self.standin:  # other policies come from the library
                text = text.replace("PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)", f"PARHELION_INSTANTIATE({self.policy})")
            code, said, objects = self.compile_one(command, text, self.folder / ("mutated" if mutant else "unmutated"))
            if code != 0:
                return first_error(said)
            made.append((*objects, in_library))
            if not mutant:
                self.unmutated[source] = made[-1]
        if not has_mutant:
            raise RuntimeError(f"{mutant.name}: nothing that was compiled includes it")
        return made

    def includes(self, source, file):
        _, made, _ = self.unmutated[source]
        return str(ROOT / file) in Path(made + ".d").read_text().split()

    def program(self, number, objects):
        link = list(self.link)
        for output, mutant_object, in_library in objects:
            if in_library:  # objects come before libraries, whose own is then not looked at
                link.insert(link.index("-o"), mutant_object)
            else:
                link[link.index(output)] = mutant_object
        link[link.index("-o") + 1] = str(self.folder / str(number))
        stripped = [] if self.standin else ["-s"]  # the stand-in tells kernels by their symbols
        subprocess.run([*link, *stripped], cwd=self.build, check=True)


def find_mutants(suite, standin=False):
    sources = [ROOT / name for name in suite.sources if not (standin and name == MACHINE_CODE)]
    files = [f for s in sources for f in (sorted([*s.glob("*.cu"), *s.glob("*.cuh"), *s.glob("*.hpp")]) if s.is_dir() else [s])]
    return [m for f in files for m in mutants_of(str(f.relative_to(ROOT)), OPERATORS)]


def suites_for(arguments):
    return [name for name, suite in SUITES.items() if suite.standin or not arguments.standin]


def build(arguments):
    failed = False
    for name in arguments.suite or suites_for(arguments):
        suite = SUITES[name]
        mutants = [m for m in find_mutants(suite, arguments.standin) if re.search(arguments.only, m.name)]
        if arguments.list:
            print(*(f"{name}: {m.name}" for m in mutants), sep="\n")
            continue
        folder = arguments.folder.resolve() / name
        folder.mkdir(parents=True, exist_ok=True)
        builds = Builds(folder, suite, (arguments.build or ROOT / ("build-standin" if arguments.standin else "build-cuda")).resolve(),
                        arguments.links, arguments.standin)
        with open(folder / "mutants.tsv", "w") as table:
            for number, mutant in enumerate([None, *mutants]):
                objects = builds.objects(mutant)
                result = objects if isinstance(objects, Result) else ""
                if not result and arguments.links:
                    builds.program(number, objects)
                failed = failed or bool(result)
                print(f"{number}\t{mutant.name if mutant else 'not mutated'}\t{result}", file=table, flush=True)
                print(name, number, mutant.name if mutant else "not mutated", result or "compiles", flush=True)
    return 1 if failed else 0


@dataclass(frozen=True)
class Tests:
    """Those of one filter, as they are run here and now: the program that is not mutated has passed them so."""

    filter: str
    original: Path  # the program that is not mutated
    stretch: int  # how many times longer its deadlines are than elsewhere
    seconds: int  # of a run, at stretch 1

    def run(self, program, stretch, only=""):
        """only: this test alone."""
        environment = {"PARHELION_TEST_DEADLINE": str(stretch), "PARHELION_TEST_EXCHANGES": "1", "PARHELION_STANDIN_PATIENCE": str(10 * stretch)}
        return run_tests([program, f"--gtest_filter={only or self.filter}", "--gtest_fail_fast"], environment, self.seconds * stretch)

    def passed_by_original(self):
        """These with deadlines that hold here; None if that takes too long. Skipped as run_tests says."""
        for stretch in STRETCHES:
            begin = time.monotonic()
            if self.run(self.original, stretch).outcome == Outcome.SURVIVED:
                return replace(self, stretch=stretch, seconds=max(self.seconds, int(5 * (time.monotonic() - begin)) + 1))
        return None

    def judge(self, program):
        """What they say of a mutant. An end that the program which is not mutated shares is void, and not counted: the same again with
        longer deadlines."""
        for more in STRETCHES:
            result = self.run(program, self.stretch * more)
            if result.outcome == Outcome.SURVIVED:
                return result
            beside = self.run(self.original, self.stretch * more, "" if result.test == "start" else result.test)
            if beside.outcome == Outcome.SURVIVED:
                return result
        return Result(Outcome.VOID, f"last: {result.outcome.value}, {result.how}")


def tests_of(suite, original, standin):
    """A list of Tests; RuntimeError if the program that is not mutated fails some."""
    found = []
    for tests in suite.standin if standin else suite.filters:
        try:
            passed = Tests(tests, original, 1, STANDIN_SECONDS if standin else suite.seconds).passed_by_original()
        except Skipped:
            continue
        if passed is None:
            raise RuntimeError(f"the program that is not mutated does not pass {tests}")
        found.append(passed)
    if not found:
        raise RuntimeError("this machine has GPUs for none of the tests")
    return found


def run_one(tests, program):
    """What the first tests that notice say, else that it survived."""
    results = (of_filter.judge(program) for of_filter in tests)
    return next((result for result in results if result.outcome != Outcome.SURVIVED), Result(Outcome.SURVIVED))


def run_suite(name, arguments):
    """The exit code."""
    suite, folder, standin = SUITES[name], arguments.folder.resolve() / name, arguments.standin
    if not standin and len(visible_gpus()) < suite.gpus:
        print(f"{name}: NOT RUN: it takes {suite.gpus} GPUs, and {len(visible_gpus())} are here")
        return 1
    table = [line.split("\t", 2) for line in (folder / "mutants.tsv").read_text().splitlines()]
    try:
        tests = tests_of(suite, folder / "0", standin)
    except RuntimeError as error:
        print(f"{name}: nothing is shown: {error}")
        return 1
    mutants = [row for row in table if row[0] != "0" and re.search(arguments.only, row[1])]
    results = {}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        runs = [None if why else pool.submit(run_one, tests, folder / number) for number, _, why in mutants]
        for (number, mutant, why), ended in zip(mutants, runs):
            results[mutant] = Result.parse(why) if ended is None else ended.result()
            print(f"{name}\t{number}\t{mutant}\t{results[mutant]}", flush=True)
    return report(results, STANDIN_EXCEPTIONS if standin else EXCEPTIONS)


def run(arguments):
    suites = arguments.suite or [name for name in SUITES if (arguments.folder / name / "mutants.tsv").exists()]
    if not suites:
        sys.exit(f"{arguments.folder} has no mutants")
    return max([run_suite(name, arguments) for name in suites])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(required=True)
    builder = commands.add_parser("build")
    checker = commands.add_parser("check")
    for command, links in ((builder, True), (checker, False)):
        command.add_argument("--list", action="store_true", help="name the mutants and stop")
        command.add_argument("--build", type=Path, help="folder of a build, configured from here; build-cuda or build-standin if not said")
        command.set_defaults(do=build, links=links)
    runner = commands.add_parser("run")
    jobs = 3 if len(visible_gpus()) == 1 else 1  # of several GPUs programs would wait for each other's turns
    runner.add_argument("--jobs", type=int, default=jobs, help="programs at the same time")
    runner.set_defaults(do=run)
    for command in (builder, checker, runner):
        command.add_argument("--only", default="", help="regular expression on the mutants' names")
        command.add_argument("--standin", action="store_true", help="for the stand-in for the CUDA runtime, in place of GPUs")
        command.add_argument("--suite", action="append", choices=list(SUITES), help="all if not said; may be said again")
        command.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    return arguments.do(arguments)


if __name__ == "__main__":
    sys.exit(main())
