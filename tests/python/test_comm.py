# SPDX-License-Identifier: Apache-2.0
"""The Python package of the communication library, between threads and processes: messages, collectives, misuse, lifetimes.

The library is $PARHELION_COMM_LIBRARY, the package src/comm/python."""
import array
import gc
import os
import re
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy
import pytest

import parhelion_comm
from parhelion_comm import Bind, Code, CommError, Reduction, Type, run

ROOT = Path(__file__).parents[2]


def raises(code, words=""):
    return pytest.raises(CommError, match=f"^{code.name}: .*{words}")


def as_tensor(of):
    """Has __dlpack__ and no buffer protocol, as a tensor of PyTorch."""

    class Tensor:
        def __dlpack__(self):
            return of.__dlpack__()

        def __dlpack_device__(self):
            return of.__dlpack_device__()

    return Tensor()


def send_round(comm, make):
    """To the next rank in six partitions, which are received as four. `make` makes the array that is sent of a NumPy array."""
    following, previous = (comm.rank + 1) % comm.ranks, (comm.rank - 1) % comm.ranks
    out = numpy.zeros((6, 20))
    into = comm.empty(out.size)
    send, receive = comm.psend_init(make(out), 6, following, tag=3), comm.precv_init(into, 4, previous, tag=3)
    for epoch in range(1, 6):
        receive.start()
        send.start()
        send.pbuf_prepare()
        out[:] = 1000 * epoch + 200 * comm.rank + numpy.arange(120).reshape(out.shape)
        send.pready(5)
        send.pready_range(0, 4)
        while not receive.parrived(3):
            pass
        send.wait()
        receive.wait()
        assert (into == 1000 * epoch + 200 * previous + numpy.arange(120)).all()
    send.free()
    receive.free()
    comm.release(into)


def collectives(comm):
    me, ranks = comm.rank, comm.ranks
    whole, total, block = numpy.zeros(ranks * 40), numpy.zeros(ranks * 40), numpy.zeros(40)
    gathered, sent = numpy.zeros(ranks * 40), numpy.zeros(40, "float32")
    own = numpy.zeros(40)
    sums = comm.pallreduce_init(whole, total, 4)
    scatter = comm.preduce_scatter_init(whole, block, 4, Reduction.MAX)
    gather = comm.pallgather_init(own, gathered, 2)
    broadcast = comm.pbroadcast_init(sent, 4, root=1)
    for epoch in range(1, 4):
        whole[:] = 100 * epoch + 10 * me + numpy.arange(whole.size)
        own[:] = 100 * epoch + me
        sent[:] = epoch + numpy.arange(40) if me == 1 else -1
        for request, partitions in ((sums, 4), (scatter, 4), (gather, 2), (broadcast, 4 if me == 1 else 0)):
            request.start()
            if partitions:
                request.pready_range(0, partitions - 1)
        for request in (broadcast, gather, scatter, sums):
            while not request.test():
                pass
        of_all = sum(100 * epoch + 10 * r + numpy.arange(whole.size) for r in range(ranks))
        assert (total == of_all).all()
        assert (block == 100 * epoch + 10 * (ranks - 1) + 40 * me + numpy.arange(40)).all()
        assert (gathered == numpy.repeat([100 * epoch + r for r in range(ranks)], 40)).all()
        assert (sent == epoch + numpy.arange(40)).all()
    comm.barrier()


@pytest.mark.parametrize("make", [lambda a: a, memoryview, as_tensor], ids=["numpy", "buffer", "dlpack"])
def test_sides_of_a_message_may_cut_it_differently(make):
    run(lambda comm: send_round(comm, make), 3)


@pytest.mark.parametrize("ranks", [2, 5])
def test_collectives_give_what_numpy_gives(ranks):
    run(collectives, ranks)


@pytest.mark.parametrize("make, kind", [
    (lambda: array.array("f", [1.5] * 8), Type.FLOAT),
    (lambda: numpy.full(8, 1.5, "float16"), Type.HALF),
    (lambda: numpy.full(8, 0x3FC0, "uint16"), Type.BFLOAT16),
    (lambda: bytearray(array.array("d", [1.5] * 8)), Type.DOUBLE)])
def test_every_type_is_added_as_it_is(make, kind):
    expected = {Type.FLOAT: array.array("f", [4.5] * 8), Type.HALF: numpy.full(8, 4.5, "float16"),
                Type.BFLOAT16: numpy.full(8, 0x4090, "uint16"), Type.DOUBLE: array.array("d", [4.5] * 8)}

    def program(comm):
        values = make()
        total = comm.pallreduce_init(values, values, 2, type=kind)
        total.start()
        total.pready_range(0, 1)
        total.wait()
        assert bytes(values) == bytes(expected[kind])

    run(program, 3)


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_tensors_tell_their_type(kind):
    def program(comm):
        values = numpy.full((4, 2), comm.rank + 1, kind)
        total = comm.pallreduce_init(as_tensor(values), as_tensor(values), 2)
        total.start()
        total.pready_range(0, 1)
        total.wait()
        assert (values == 3).all()
        with raises(Code.ARGUMENT, "not BFLOAT16"):
            comm.pallreduce_init(as_tensor(values), as_tensor(values), type=Type.BFLOAT16)

    run(program, 2)


def test_any_thread_may_mark_partitions():
    def program(comm):
        values = numpy.zeros((16, 50))
        total = comm.pallreduce_init(values, values, 16)
        total.start()

        def mark(first):
            for p in range(first, 16, 4):
                values[p] = p + comm.rank
                total.pready(p)

        threads = [threading.Thread(target=mark, args=(first,)) for first in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        total.wait()
        assert (values == 2 * numpy.arange(16)[:, None] + 1).all()

    run(program, 2)


def test_ranks_may_be_processes():
    """In a program of its own, as processes are copies of one that has a single thread. Its output is printed once."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    for processes in (3, 2):
        program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import test_comm
from parhelion_comm import CommError, run
print("begin")
def program(comm):
    test_comm.send_round(comm, memoryview)
    test_comm.collectives(comm)
    sys.stdout.write(f"rank {{comm.rank}}\\n")  # at once
run(program, 3, processes={processes})
def fail(comm):
    if comm.rank == 1:
        raise ValueError("no more")
    comm.barrier()
try:
    run(fail, 3, processes={processes})
except CommError as error:
    print(error)
"""
        done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, timeout=120, env=buffered)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[0] == "begin" and sorted(lines[1:4]) == ["rank 0", "rank 1", "rank 2"]
        assert lines[4:] == ["STOPPED: The program of rank 1 raised ValueError: no more"]
        assert done.stderr.count("ValueError: no more") == 1 and "This was rank 1 of 3." in done.stderr


def test_processes_are_refused_where_there_are_threads():
    run(lambda comm: threading.current_thread(), 2)  # ranks of an earlier run are none
    with raises(Code.ARGUMENT, "no more processes than ranks"):
        run(lambda comm: None, 1, processes=2)
    go_on = threading.Event()
    thread = threading.Thread(target=go_on.wait)
    thread.start()
    try:
        with raises(Code.ARGUMENT, "one Python thread only"):
            run(lambda comm: None, 2, processes=2)
    finally:
        go_on.set()
        thread.join()


def test_misuse_raises_what_the_library_says():
    def program(comm):
        values = numpy.zeros(8)
        total = comm.pallreduce_init(values, values, 2)
        for call in (lambda: total.pready(0), total.pbuf_prepare):
            with raises(Code.NOT_ACTIVE):
                call()
        total.start()
        for call in (total.start, total.free):
            with raises(Code.ACTIVE):
                call()
        for partition in (-1, 2):
            with raises(Code.PARTITION):
                total.pready(partition)
        with raises(Code.ARGUMENT, "beyond the numbers of C's int"):
            total.pready(2**32)
        total.pready(0)
        with raises(Code.READY_TWICE):
            total.pready(0)
        total.pready(1)
        total.wait()
        total.free()
        for call in (total.start, total.free):
            with raises(Code.NULL):
                call()
        with raises(Code.MEMORY):
            comm.allocate(2**45)
        memory = comm.empty(8)
        with raises(Code.ARGUMENT, "as a whole only"):
            comm.release(memory[:4])
        receive = comm.precv_init(memory, 1, comm.rank)
        with raises(Code.IN_USE, "in use by 1 request"):
            comm.release(memory)
        receive.free()
        comm.release(memory)
        for call in (lambda: comm.psend_init(values, 0, 0), lambda: comm.psend_init(values, 3, 0),
                     lambda: comm.psend_init(values, 1, 9), lambda: comm.allocate(-1),
                     lambda: comm.release(values), lambda: comm.pallreduce_init(values, values[:4]),
                     lambda: comm.pallreduce_init(values, values, 3), lambda: comm.pallgather_init(values, values),
                     lambda: comm.preduce_scatter_init(values, values), lambda: comm.pbroadcast_init(values, root=5),
                     lambda: comm.pallreduce_init(values, values.astype("float32")),
                     lambda: comm.pallreduce_init(values, values, type=Type.FLOAT),
                     lambda: comm.pallreduce_init(values.astype("int16"), values.astype("int16"))):
            with raises(Code.ARGUMENT):
                call()
        comm.barrier()

    run(program, 2)
    with raises(Code.ARGUMENT, "a rank at least"):
        run(program, 0)


class OnGpu:
    __cuda_array_interface__ = {"shape": (4,), "typestr": "<f8", "data": (0x7F00, False), "version": 3}


class TensorOnGpu:
    def __dlpack__(self):
        raise AssertionError("its memory is not for us")

    def __dlpack_device__(self):
        return 2, 1


@pytest.mark.parametrize("make, why", [
    (lambda: numpy.zeros((4, 4))[:, ::2], "not contiguous"),
    (lambda: numpy.zeros((4, 4)).T[1:], "not contiguous"),
    (lambda: memoryview(bytearray(8))[::2], "not contiguous"),
    (lambda: as_tensor(numpy.zeros((4, 4))[:, 1:3]), "not contiguous"),
    (OnGpu, r"test_comm\.OnGpu is in the memory of a GPU \(at 0x7f00\)"),
    (TensorOnGpu, r"test_comm\.TensorOnGpu is in the memory of a GPU \(DLPack device 2, number 1\)"),
    (lambda: [1.0, 2.0], "builtins.list has no buffer protocol"),
    (lambda: 3.0, "builtins.float has no buffer protocol"),
    (lambda: numpy.array([None, "a"]), "numpy.ndarray holds references to Python's objects"),
    (lambda: numpy.zeros(3, [("O_not", "f8"), ("b", object)]), "holds references to Python's objects"),
    (lambda: numpy.zeros(3, "datetime64[s]"), "View it as integers")])
def test_other_memory_is_refused(make, why):
    def program(comm):
        for call in (lambda: comm.psend_init(make(), 1, 0), lambda: comm.pbroadcast_init(make())):
            with raises(Code.ARGUMENT, why) as caught:
                call()
            assert isinstance(caught.value, TypeError) == any(words in why for words in ("protocol", "objects", "integers"))

    run(program, 1)


def test_fields_whose_names_look_like_objects_are_sent():
    def program(comm):
        comm.psend_init(numpy.zeros(3, [("O", "f8"), ("bO", "i4")]), 1, 0)

    run(program, 1)


@pytest.mark.parametrize("kind", ["int32", "uint8", "bool", "complex128", ">f8", "S7", [("a", "i2"), ("b", "f8")]], ids=str)
@pytest.mark.parametrize("algorithm_bytes", [7, 300_000])  # one shot, and by a ring
def test_any_bytes_are_broadcast_and_gathered(kind, algorithm_bytes):
    kind = numpy.dtype(kind)
    count = -(-algorithm_bytes // kind.itemsize)

    def of_rank(rank):
        return (numpy.arange(count * kind.itemsize) % 97 + rank).astype("uint8").view(kind)

    def program(comm):
        own, sent, gathered = of_rank(comm.rank), of_rank(comm.rank), numpy.zeros(3 * count, kind)
        broadcast, gather = comm.pbroadcast_init(sent, 1, root=1), comm.pallgather_init(own, gathered)
        broadcast.start()
        gather.start()
        if comm.rank == 1:
            broadcast.pready(0)
        gather.pready(0)
        gather.wait()
        broadcast.wait()
        assert sent.tobytes() == of_rank(1).tobytes()
        assert gathered.tobytes() == b"".join(of_rank(r).tobytes() for r in range(3))
        with raises(Code.ARGUMENT, "bytes are not added"):
            comm.pallreduce_init(own, own, type=Type.BYTE)

    run(program, 3)


def collectives_in_one_call(comm):
    me, ranks = comm.rank, comm.ranks
    for kind in ("float64", "float32", "int32", "int64", "uint8"):
        mine, total, block = (numpy.arange(ranks * 5) % 3 + me).astype(kind), numpy.zeros(ranks * 5, kind), numpy.zeros(5, kind)
        everybody = [(numpy.arange(ranks * 5) % 3 + r).astype(kind) for r in range(ranks)]
        comm.allreduce(mine, total)
        assert (total == sum(everybody)).all()
        comm.allreduce(mine, total, Reduction.PRODUCT)
        assert (total == numpy.prod(everybody, axis=0, dtype=kind)).all()
        comm.allreduce(mine, total, Reduction.AVERAGE)
        assert (total == (sum(everybody) / ranks).astype(kind)).all()
        comm.reduce_scatter(mine, block, Reduction.MAX)
        assert (block == everybody[-1][5 * me:5 * me + 5]).all()
        comm.scan(mine, total)
        assert (total == sum(everybody[:me + 1])).all()
        comm.exclusive_scan(mine, total)
        assert me == 0 or (total == sum(everybody[:me])).all()
        comm.reduce(mine, total if me == 1 else None, root=1)
        assert me != 1 or (total == sum(everybody)).all()
    comm.barrier()


def copies_in_one_call(comm):
    me, ranks = comm.rank, comm.ranks
    kind = numpy.dtype([("a", "i2"), ("b", "f8")])  # any

    def of(rank, n):
        return (numpy.arange(n * kind.itemsize) + 50 * rank).astype("uint8").view(kind)

    everything, block = numpy.zeros(ranks * 3, kind), numpy.zeros(3, kind)
    comm.allgather(of(me, 3), everything)
    assert everything.tobytes() == b"".join(of(r, 3).tobytes() for r in range(ranks))
    comm.gather(of(me, 3), everything if me == 2 else None, root=2)
    comm.scatter(everything if me == 2 else None, block, root=2)
    assert block.tobytes() == of(me, 3).tobytes()
    comm.broadcast(block, root=1)
    assert block.tobytes() == of(1, 3).tobytes()
    sent, came = numpy.repeat(10 * me + numpy.arange(ranks), 2), numpy.zeros(2 * ranks, "int64")
    comm.alltoall(sent, came)
    assert (came == numpy.repeat(10 * numpy.arange(ranks) + me, 2)).all()
    counts = [me + to for to in range(ranks)]
    sent, came = numpy.repeat(10.0 * me + numpy.arange(ranks), counts), numpy.zeros(sum(counts))
    comm.alltoall_v(sent, counts, came, counts)
    assert (came == numpy.repeat(10.0 * numpy.arange(ranks) + me, counts)).all()
    sent, came = numpy.repeat(of(me, ranks), counts), numpy.zeros(sum(counts), kind)
    comm.alltoall_v(sent, counts, came, counts)
    assert came.tobytes() == b"".join(numpy.repeat(of(r, ranks)[me:me + 1], counts[r]).tobytes() for r in range(ranks))
    sizes, gaps = list(range(ranks)), [10 * r for r in range(ranks)]
    gathered = numpy.full(10 * ranks, -1)
    comm.gather_v(numpy.full(me, me), gathered if me == 0 else None, sizes, offsets=gaps)
    assert me != 0 or all((gathered[g:g + r] == r).all() and (gathered[g + r:g + 10] == -1).all() for r, g in enumerate(gaps))
    own = numpy.zeros(me, "int64")
    comm.scatter_v(gathered if me == 0 else None, own, sizes, offsets=gaps)
    assert (own == me).all()


@pytest.mark.parametrize("ranks, processes", [(3, 0), (4, 0), (3, 3)])
def test_collectives_in_one_call_give_what_numpy_gives(ranks, processes):
    if processes:
        text = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_comm import collectives_in_one_call, copies_in_one_call, run
for program in (collectives_in_one_call, copies_in_one_call):
    run(program, {ranks}, processes={processes})
"""
        done = in_a_program(text)
        assert done.returncode == 0, done.stderr
        return
    run(collectives_in_one_call, ranks)
    run(copies_in_one_call, ranks)


def test_collectives_in_one_call_refuse_what_makes_no_sense():
    def program(comm):
        x, y = numpy.zeros(4), numpy.zeros(4)
        for call in (lambda: comm.allreduce(x, y[:2]), lambda: comm.allreduce(x, y.astype("int64")),
                     lambda: comm.allreduce(x[:3], x[1:]), lambda: comm.alltoall(x[:3], y[:3]), lambda: comm.alltoall(x, x),
                     lambda: comm.broadcast(x, root=2), lambda: comm.allgather(x, y),
                     lambda: comm.alltoall_v(x, [1], y, [1, 1]), lambda: comm.alltoall_v(x, [3, 2], y, [1, 1]),
                     lambda: comm.alltoall_v(x, [-1, 2], y, [1, 1]), lambda: comm.reduce(x.astype("int16"), y)):
            with raises(Code.ARGUMENT):
                call()
        for call in (lambda: comm.reduce(x, None, root=comm.rank), lambda: comm.gather_v(x, y, None, root=comm.rank)):
            with raises(Code.NULL):
                call()
        different = (lambda: comm.allreduce(x, y)) if comm.rank == 0 else comm.barrier
        with raises(Code.ARGUMENT, "rank 0 for all-reduce by sum of 4 double, rank 1 for barrier"):
            different()
        comm.allreduce(x + 1, y)
        assert (y == 2).all()

    run(program, 2)


def in_a_program(text, **options):
    """Runs Python's `text` in a process of its own, where ranks may be processes."""
    return subprocess.run([sys.executable, "-B", "-c", text], capture_output=True, text=True, timeout=120, **options)


@pytest.mark.parametrize("processes", [0, 1, 3])
def test_run_takes_arguments_and_returns_results(processes):
    done = in_a_program(f"""
from parhelion_comm import CommError, run
def program(comm, factor, offset=0):
    return comm.rank, [factor * comm.rank + offset] * 30000
assert run(program, 3, (10,), {{"offset": 5}}, processes={processes}) == [(r, [10 * r + 5] * 30000) for r in range(3)]
assert run(lambda comm: None, 2) == [None, None]
try:
    run(lambda comm: (lambda: 3), 3, processes={processes})
except CommError as error:
    print(error)
""")
    assert done.returncode == 0, done.stderr
    assert ("raised" in done.stdout and "pickle" in done.stdout) == (processes > 0), done.stdout


@pytest.mark.parametrize("processes", [0, 2])
@pytest.mark.parametrize("wait", ["comm.barrier()", "never.wait()"])
def test_an_interrupt_ends_all_ranks_at_once(processes, wait):
    """All wait for what does not come, for a minute. The signal is sent to the process that has called run."""
    program = f"""
from parhelion_comm import run
def program(comm):
    never = comm.precv_init(comm.empty(1), 1, 1 - comm.rank)
    never.start()
    comm.barrier()
    try:
        if comm.rank == 0:
            print("ready", flush=True)
            {wait}
        never.wait()
    finally:
        print(f"ended {{comm.rank}}\\n", end="", flush=True)  # in one piece
try:
    run(program, 2, processes={processes}, deadline=60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    child = subprocess.Popen([sys.executable, "-B", "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    begin = time.monotonic()
    out, err = child.communicate(timeout=60)
    assert time.monotonic() - begin < 30  # of a minute's deadline
    assert sorted(out.splitlines()) == ["ended 0", "ended 1", "interrupted"], out + err
    assert child.returncode == 0 and "Traceback" not in err


def test_an_interrupt_reaches_ranks_that_compute():
    done = in_a_program("""
import os, signal, threading
from parhelion_comm import run
def program(comm):
    if comm.rank == 0:  # once: a second one might come while the first is looked at
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    while True:
        pass
try:
    run(program, 2)
except KeyboardInterrupt:
    print("interrupted")
""")
    assert done.stdout == "interrupted\n", done.stderr


def test_deadlines_can_be_paused():
    def program(comm):
        if comm.rank == 1:
            with comm.deadlines_paused():
                time.sleep(1.5)
        comm.barrier()
        with raises(Code.ARGUMENT, "by the rank that has paused them"):
            comm.resume_deadlines()

    run(program, 2, deadline=1)


def test_memory_is_as_large_as_asked_for():
    def program(comm, bytes):
        memory = comm.empty(bytes // 8)
        memory[-1] = 1
        with raises(Code.MEMORY, f"of rank {comm.rank}, .* bytes, has no .* left in one piece. .* \\(memory_bytes\\)"):
            comm.allocate(bytes)
        comm.release(memory)

    run(program, 2, (2**20,), memory_bytes=2**20)
    run(program, 2, (2**30,))  # by default
    run(program, 2, (3 * 2**30,), memory_bytes=3 * 2**30)
    with raises(Code.SYSTEM, "bytes of address space"):
        run(program, 2, (8,), memory_bytes=2**50)
    for bytes in (-1, 2**63):
        with raises(Code.ARGUMENT):
            run(program, 1, (8,), memory_bytes=bytes)


def test_processes_have_cores_of_their_own():
    """Where there are as many as ranks, and afterwards their caller is where it was."""
    done = in_a_program("""
import os
from parhelion_comm import Bind, run
before = os.sched_getaffinity(0)
where = run(lambda comm: os.sched_getaffinity(0), 2, processes=2)
if len(before) >= 2:
    assert where == [before] * 2 or not where[0] & where[1], where  # others may have them
assert run(lambda comm: os.sched_getaffinity(0), 2, processes=2, bind=Bind.NONE) == [before] * 2
assert run(lambda comm: os.sched_getaffinity(0), 2) == [before] * 2
assert os.sched_getaffinity(0) == before
""")
    assert done.returncode == 0, done.stderr


def test_messages_are_in_pythons_words():
    def program(comm):
        values, sentences = numpy.zeros(8), []
        request = comm.pallreduce_init(values, values, 2)
        for call in (lambda: comm.precv_init(values, 3, 0), lambda: comm.allocate(2**60), lambda: request.pready(0),
                     lambda: comm.psend_init(values, 1, 9), request.pbuf_prepare, lambda: comm.pbroadcast_init(values, root=9),
                     lambda: comm.resume_deadlines(), lambda: (request.start(), request.free())):
            with pytest.raises(CommError) as caught:
                call()
            sentences.append(str(caught.value))
        return sentences

    for sentence in run(program, 1)[0]:
        assert not re.search(r"::|\bph_|\bstd\b|Partitioned[A-Z(]|World|Options", sentence), sentence


def test_results_are_not_read_only():
    def program(comm):
        with raises(Code.ARGUMENT, "read-only"):
            comm.pallreduce_init(bytes(8), bytes(8), type=Type.DOUBLE)
        comm.psend_init(bytes(8), 1, 0)  # what is sent may be

    run(program, 1)


def test_an_exception_of_a_program_stops_the_run_and_is_raised_again():
    def program(comm):
        memory = comm.empty(4)  # noqa: F841: what an exception's frames refer to ends with the run
        if comm.rank == 1:
            raise ValueError("no more")
        comm.barrier()

    with pytest.raises(ValueError, match="no more") as caught:
        run(program, 3)
    assert caught.value.__notes__ == ["This was rank 1 of 3."]
    assert all("memory" not in entry.frame.f_locals for entry in caught.traceback if entry.name == "program")


def test_a_wait_that_times_out_ends_with_its_sentence():
    def program(comm):
        if comm.rank == 1:
            time.sleep(1)
        comm.barrier()

    with raises(Code.TIMEOUT, "Rank 0 timed out after 0.2 s"):
        run(program, 2, deadline=0.2)


def test_a_wait_that_times_out_is_the_error_of_a_run_that_does_not_look():
    def program(comm):
        if comm.rank == 1:
            time.sleep(1)
        try:
            comm.barrier()
        except CommError as error:
            assert error.code == (Code.TIMEOUT if comm.rank == 0 else Code.STOPPED)

    with raises(Code.TIMEOUT, "Rank 0 timed out after 0.2 s"):
        run(program, 2, deadline=0.2)


def test_requests_keep_their_arrays_alive():
    class Array(numpy.ndarray):
        """Can be referred to weakly."""

    alive = []

    def program(comm):
        values = numpy.full(1000, 1.0).view(Array)
        alive.append(weakref.ref(values))
        total = comm.pallreduce_init(values, values)
        del values
        gc.collect()
        assert alive[0]() is not None
        total.start()
        total.pready(0)
        total.wait()
        total.free()
        gc.collect()
        assert alive[0]() is None
        forgotten = numpy.full(1000, 1.0).view(Array)
        alive.append(weakref.ref(forgotten))
        comm.psend_init(forgotten, 1, 0).start()
        del forgotten
        gc.collect()
        assert alive[1]() is not None

    run(program, 1)
    gc.collect()
    assert alive[1]() is None


def test_memory_of_the_run_and_its_handles_end_with_it():
    kept = []

    def program(comm):
        values = numpy.zeros(4)
        kept.extend([comm, comm.pallreduce_init(values, values), comm.allocate(64)[8:16]])

    with raises(Code.ARGUMENT, "in use after the run"):
        run(program, 1)
    comm, request, _ = kept
    for call in (request.start, request.free, lambda: request.parrived(0), comm.barrier, lambda: comm.allocate(8)):
        with raises(Code.NULL):
            call()

    def tidy(comm):
        cycle = [comm.empty((2, 3), "float32")]
        cycle.append(cycle)

    run(tidy, 2)


def test_ranks_that_ask_for_different_things_are_all_told():
    def program(comm):
        values = numpy.ones(4)
        total = comm.pallreduce_init(values, values, reduction=Reduction.MAX if comm.rank == 1 else Reduction.SUM)
        with raises(Code.ARGUMENT, "by max .*rank|rank .*by max"):
            total.start()
            total.wait()
        total.free()
        comm.barrier()

    run(program, 3)


def resident_kib():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


# As often as PARHELION_TEST_CYCLES says. 1 MiB is a byte for each of the last nine tenths of a million.
@pytest.mark.parametrize("processes", [0, 2])
def test_freed_requests_leave_nothing_behind(processes):
    cycles = int(os.environ.get("PARHELION_TEST_CYCLES", "3000")) // (1 if processes == 0 else 10)

    def program(comm):
        values, received = numpy.ones(8), comm.empty(8)
        before = 0
        for cycle in range(cycles):
            if cycle == cycles // 10:
                comm.barrier()
                before = resident_kib()
            total = comm.pallreduce_init(values, values, 8, Reduction.MAX)
            send, receive = comm.psend_init(values, 2, 1 - comm.rank), comm.precv_init(received, 1, 1 - comm.rank)
            if cycle % 2:
                for request in (total, receive, send):
                    request.start()
                total.pready_range(0, 7)
                send.pready_range(0, 1)
                for request in (total, receive, send):
                    request.wait()
            for request in (total, receive, send):
                request.free()
        comm.barrier()
        return resident_kib() - before

    growth = run(program, 2, processes=processes)
    print(f"{cycles} cycles, growth {growth} KiB")
    assert max(growth) <= 1024


@pytest.mark.parametrize("processes", [0, 2])
def test_a_rank_that_exits_has_done_its_part(processes, tmp_path):
    def program(comm):
        if comm.rank == 1:
            sys.exit()
        time.sleep(0.3)
        (tmp_path / "work").write_text("done")

    run(program, 2, processes=processes)
    assert (tmp_path / "work").read_text() == "done"


def test_numbers_are_those_of_the_header():
    header = (ROOT / "src/comm/c/parhelion_comm.h").read_text()
    numbers = {name: int(number) for name, number in re.findall(r"^\s+PH_(\w+) = (\d+)", header, re.M)}
    assert numbers.pop("SUCCESS") == 0
    ours = {("ERROR_" if kind is Code else "") + one.name: one.value for kind in (Code, Type, Reduction) for one in kind}
    ours |= {"BIND_" + one.name: one.value for one in Bind}
    assert ours == numbers
    calls = set(re.findall(r"\b(ph_\w+)\(", re.sub(r"/\*.*?\*/", "", header, flags=re.S)))
    assert calls - {"ph_comm"} == set(parhelion_comm._library._CALLS) | {"ph_error_message", "ph_version", "ph_rank", "ph_ranks"}


def test_the_example_of_the_guide_adds_up():
    done = subprocess.run([sys.executable, "-B", ROOT / "src/comm/example/sum.py"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "sum: 30.0\n"), done.stderr
