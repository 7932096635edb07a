# SPDX-License-Identifier: Apache-2.0
"""Processes that join by the Python package, as somebody else's launcher has started them: each test starts them itself.

The library is $PARHELION_COMM_LIBRARY, the package src/comm/python."""
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy
import pytest

import parhelion_comm
from parhelion_comm import Code, CommError

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "src/comm/example/join.py"


def run_ranks(ranks, arguments, environment=lambda rank: {}, text_of=lambda rank: None):
    """Starts a Python process for each rank; their exit codes, outputs and errors, by rank."""
    started = [
        subprocess.Popen([sys.executable, *arguments], env=os.environ | environment(rank), text=True, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for rank in range(ranks)]
    ended = []
    for rank, process in enumerate(started):
        out, err = process.communicate(text_of(rank), timeout=60)
        ended.append((process.returncode, out, err))
    return ended


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def as_torchrun(rank, ranks, port):
    return {"RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(ranks),
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_the_example_runs_with_the_variables_of_torchrun(ranks):
    port = free_port()
    ended = run_ranks(ranks, [EXAMPLE], lambda rank: as_torchrun(rank, ranks, port))
    assert all(code == 0 for code, _, _ in ended), ended
    assert ended[0][1] == f"{ranks} ranks: {ranks * (ranks + 1) / 2}\n"


def test_a_process_that_nobody_has_started_is_alone():
    assert run_ranks(1, [EXAMPLE])[0][1] == "1 ranks: 1.0\n"


# Rank 0 makes an id in a file that the others wait for.
BY_ID = textwrap.dedent("""
    import os, sys, time
    from pathlib import Path
    import numpy, parhelion_comm
    rank, ranks, path = int(os.environ["NUMBER"]), int(sys.argv[1]), Path(sys.argv[2])
    if rank == 0:
        made = path.with_suffix(".new")
        made.write_bytes(parhelion_comm.make_id("lo"))
        made.rename(path)
    while not path.exists():
        time.sleep(0.01)
    comm = parhelion_comm.init(rank, ranks, path.read_bytes(), deadline=10)
    """)


def by_id(tmp_path, ranks, then):
    return run_ranks(ranks, ["-c", BY_ID + textwrap.dedent(then), str(ranks), str(tmp_path / "id")],
                     lambda rank: {"NUMBER": str(rank)})


def test_ranks_join_by_an_id_and_send_each_other_arrays(tmp_path):
    ended = by_id(tmp_path, 3, """
        def ring():
            out, into = numpy.arange(40.0) + 100 * rank, comm.empty(40)
            send, receive = comm.psend_init(out, 4, (rank + 1) % ranks), comm.precv_init(into, 5, (rank - 1) % ranks)
            for request in (receive, send):
                request.start()
            send.pready_range(0, 3)
            for request in (receive, send):
                request.wait()
            assert (into == numpy.arange(40.0) + 100 * ((rank - 1) % ranks)).all()
        ring()
        comm.finalize()
        """)
    assert all(end == (0, "", "") for end in ended), ended


def test_arrays_that_are_left_keep_a_rank_from_its_end(tmp_path):
    ended = by_id(tmp_path, 2, """
        array = comm.empty(8)
        try:
            comm.finalize()
        except parhelion_comm.CommError as error:
            print(error.code.name)
        array[:] = 1  # still there
        del array
        comm.finalize()
        """)
    assert all(end == (0, "IN_USE\n", "") for end in ended), ended


def test_a_rank_that_ends_without_a_word_is_named(tmp_path):
    ended = by_id(tmp_path, 3, """
        comm.barrier()
        if rank == 1:
            sys.exit(0)
        try:
            comm.barrier()
        except parhelion_comm.CommError as error:
            print(error)
        comm.finalize()
        """)
    for rank in (0, 2):
        assert ended[rank][0] == 0 and ended[rank][1].startswith("PEER_LOST: ") and "rank 1" in ended[rank][1], ended


def test_an_exception_inside_with_ends_the_rank(tmp_path):
    """It is caught outside, where the process goes on: the others' waits end at once, and what the rank has goes with its arrays."""
    ended = by_id(tmp_path, 2, """
        import gc
        def inside():
            with comm:
                mine = comm.empty(4)
                mine[:] = 7
                receive = comm.precv_init(mine, 1, 1 - rank)
                receive.start()
                if rank == 1:
                    raise ValueError("no more")
                comm.barrier()
        try:
            inside()
        except ValueError as error:
            mine = error.__traceback__.tb_next.tb_frame.f_locals["mine"]
            assert (mine == 7).all()  # the memory is there as long as its array
        except parhelion_comm.CommError as error:
            print(error.code.name, flush=True)
        try:
            comm.barrier()
        except parhelion_comm.CommError as error:
            print(error)
        def threads():
            return len(os.listdir("/proc/self/task"))
        before, mine = threads(), None
        gc.collect()
        assert threads() < before or rank == 0
        if rank == 1:  # alive when the other hears of it
            while not path.with_suffix(".heard").exists():
                time.sleep(0.01)
        path.with_suffix(".heard").touch()
        """)
    ended_here = "NULL: The run of this rank has ended.\n"
    assert ended == [(0, "STOPPED\n" + ended_here, ""), (0, ended_here, "")], ended


def test_ids_are_given_back():
    id = parhelion_comm.make_id("lo")
    parhelion_comm.free_id(id)
    with pytest.raises(CommError, match="ARGUMENT: .*used already"):
        parhelion_comm.free_id(id)
    with pytest.raises(CommError, match="An id has 128 bytes, not 3"):
        parhelion_comm.free_id(b"abc")


BY_EXCHANGE = textwrap.dedent("""
    import sys
    import parhelion_comm
    rank = int(sys.stdin.readline())

    def exchange(mine):  # by whoever has started this process
        print(mine.hex(), flush=True)
        return [bytes.fromhex(line) for line in sys.stdin.readline().split()]

    with parhelion_comm.init(rank, 2, exchange=exchange) as comm:
        comm.barrier()
    print("done")
    """)


def test_ranks_join_by_an_all_gather_of_the_callers():
    started = [subprocess.Popen([sys.executable, "-c", BY_EXCHANGE], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
               for _ in range(2)]
    for rank, process in enumerate(started):
        process.stdin.write(f"{rank}\n")
        process.stdin.flush()
    lines = [process.stdout.readline().strip() for process in started]
    for process in started:
        process.stdin.write(" ".join(lines) + "\n")
        process.stdin.flush()
    assert [process.communicate(timeout=60)[0] for process in started] == ["done\n"] * 2


def test_an_exception_of_the_all_gather_is_raised():
    def exchange(mine):
        raise RuntimeError("the store is down")

    with pytest.raises(RuntimeError, match="the store is down"):
        parhelion_comm.init(0, 2, exchange=exchange)


@pytest.mark.parametrize("arguments", [{"rank": 0}, {"rank": 0, "ranks": 1}, {"id": bytes(128)}])
def test_half_of_what_joining_needs_is_refused(arguments):
    with pytest.raises(CommError, match="ARGUMENT: Ranks join by"):
        parhelion_comm.init(**arguments)


@pytest.mark.parametrize("wrong", [b"", bytes(127), bytes(128)])
def test_what_is_no_id_is_refused(wrong):
    with pytest.raises(CommError) as raised:
        parhelion_comm.init(0, 1, wrong)
    assert raised.value.code == Code.ARGUMENT


def test_other_variables_than_a_launcher_sets_are_refused():
    ended = run_ranks(1, [EXAMPLE], lambda rank: {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1"})
    assert ended[0][0] != 0 and "does not say where its first process is" in ended[0][2]


def test_processes_of_several_hosts_need_a_secret():
    ended = run_ranks(1, [EXAMPLE], lambda rank: as_torchrun(0, 2, 12345) | {"MASTER_ADDR": "n042", "LOCAL_WORLD_SIZE": "1"})
    assert ended[0][0] != 0 and "Set PARHELION_SECRET_FILE" in ended[0][2]


def test_groups_add_among_themselves():
    def add(comm, of):
        if of is None:
            return None
        mine = numpy.full(100, 10.0**comm.rank)
        total = of.pallreduce_init(mine, mine)
        total.start()
        total.pready(0)
        total.wait()
        return mine[0]

    def program(comm):
        half, odd = comm.split(comm.rank // 2, -comm.rank), comm.split(comm.rank % 2 - 1)
        others, host = comm.group([3, 0, 2, 1]), comm.host()
        assert (half.ranks, half.rank) == (2, 1 - comm.rank % 2) and (others.rank, host.rank) == ([1, 3, 2, 0][comm.rank], comm.rank)
        sums = [add(comm, of) for of in (half, odd, others, host, half)]
        half.finalize()
        with pytest.raises(CommError, match="NULL"):
            half.barrier()
        return sums

    pairs, all_of_them = [11, 1100], 1111
    for processes in (0, 2):
        results = parhelion_comm.run(program, 4, processes=processes)
        for rank, sums in enumerate(results):
            pair = pairs[rank // 2]
            assert sums == [pair, 1010 if rank % 2 else None, all_of_them, all_of_them, pair]


def test_a_rank_ends_after_a_failure(tmp_path):
    ended = by_id(tmp_path, 2, """
        into = numpy.zeros(8)
        receive = comm.precv_init(into, 1, 1 - rank)
        receive.start()
        comm.barrier()
        if rank == 1:
            os._exit(0)
        try:
            receive.wait()
        except parhelion_comm.CommError as error:
            print(error.code.name)
        comm.finalize()
        """)
    assert ended[0] == (0, "PEER_LOST\n", ""), ended


@pytest.mark.parametrize("wrong", [{"memory_bytes": 2**70}, {"memory_bytes": -1}, {"deadline": 0}, {"deadline": 0.01}])
def test_sizes_that_make_no_sense_are_refused(wrong):
    with pytest.raises(CommError, match="ARGUMENT"):
        parhelion_comm.init(0, 1, parhelion_comm.make_id("lo"), **wrong)
