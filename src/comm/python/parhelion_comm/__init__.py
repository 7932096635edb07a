# SPDX-License-Identifier: Apache-2.0
"""Partitioned messages and collectives between the ranks of one host: parhelion_comm.h for Python (docs/user/comm.md).

`run` calls a program once for each rank, with its Comm. Names and rules are those of the header. Arrays are used where they are
(_arrays.py says which) and kept alive as long as a request is about them. Misuse and failures raise CommError.
"""
import contextlib
import ctypes
import gc
import math
import os
import pickle
import sys
import threading
import traceback
import weakref
from ctypes import byref, c_int, c_void_p

from ._arrays import memory_of, refuse
from ._library import (
    Bind, Code, CommError, CommTypeError, Interrupted, Options, RankProgram, Reduction, Type, as_int, library)

__all__ = ["Bind", "Code", "Comm", "CommError", "CommTypeError", "Reduction", "Request", "Type", "run"]

_BYTES_OF = {Type.FLOAT: 4, Type.DOUBLE: 8, Type.HALF: 2, Type.BFLOAT16: 2, Type.BYTE: 1}


def run(program, ranks, args=(), kwargs=None, *, processes=0, deadline=30.0, memory_bytes=0, bind=None):
    """Calls program(comm, *args, **kwargs) for every rank and returns, when all have ended, what they have returned: a list, by
    rank. Ranks are threads of this process, or spread over `processes` processes, whose results are pickled.

    No wait for another rank takes longer than `deadline` seconds. `memory_bytes` is the most that a rank may allocate (0: 1 GiB).
    `bind` says whether each rank has a core of its own, where there are enough: of processes by default, not of threads,
    which share the interpreter's lock and hand it over faster where they may share a core.

    An exception of a program stops the run. Of threads the first is raised again here, with empty frames, as their arrays may be
    memory of the run. Of processes its traceback is printed and CommError (STOPPED) raised. Processes are copies of this one, so
    there must be no other Python thread. Ctrl-C, or what else a signal's handler raises, stops the run and is raised here.
    """
    if processes and len(sys._current_frames()) > 1:
        raise CommError(Code.ARGUMENT, "Processes are copies of this one, which must have one Python thread only.")
    ranks, processes = as_int(ranks), as_int(processes)
    if not 0 <= memory_bytes < 2**63:
        raise CommError(Code.ARGUMENT, f"There are no {memory_bytes} bytes of memory.")
    if not deadline > 0:
        raise CommError(Code.ARGUMENT, f"A deadline of {deadline} s is none: it is above 0.")
    of_run = _Run(lambda comm: program(comm, *args, **(kwargs or {})), ranks, processes)
    by_default = Bind.CORE if processes else Bind.NONE
    return of_run.carry_out(deadline, memory_bytes, by_default if bind is None else Bind(bind))


class _Run:
    """What the ranks of a run leave for the one who has called `run`."""

    def __init__(self, program, ranks, processes):
        self._program, self._ranks, self._processes = program, ranks, processes
        self._comms, self._errors, self._threads = [], [], set()
        self._caught = []  # what handlers of signals have raised
        self._results = [None] * max(ranks, 0)
        # A process leaves the outcome of a rank in a file without a name.
        self._files = [os.fdopen(os.memfd_create("outcome"), "r+b") for _ in range(ranks)] if processes else []

    def carry_out(self, deadline, memory_bytes, bind):
        sys.stdout.flush()  # else every process would print what waits here
        sys.stderr.flush()
        is_main = threading.current_thread() is threading.main_thread()  # the one whose signals have handlers
        ask = self._ask()
        next(ask)
        options = Options(deadline_seconds=deadline, memory_bytes=memory_bytes, bind=bind,
                          interrupted=Interrupted(ask.send) if is_main else Interrupted())
        failure = None
        try:
            library.ph_run_with(self._ranks, self._processes, byref(options), RankProgram(self._be_rank), None)
        except CommError as error:
            failure = error
        except BaseException as error:  # of a handler, after the last question
            self._caught.append(error)
        for error in self._errors:
            traceback.clear_frames(error.__traceback__)
        for comm in self._comms:
            comm._requests.clear()
        if self._caught:
            raise self._caught[0]
        if failure is not None:
            raise next((e for e in self._errors if not _is_bystander(e)), self._in_pythons_words(failure))
        self._expect_no_memory_in_use()
        return [self._outcome_of(rank)[1] for rank in range(self._ranks)] if self._processes else self._results

    def _be_rank(self, handle, _):
        comm = Comm(handle)
        self._comms.append(comm)  # the library looks at requests after the program, at arrays with them
        self._threads.add(threading.get_ident())
        try:
            self._leave(comm.rank, True, self._program(comm))
            return 0
        except BaseException as error:
            if isinstance(error, SystemExit) and not error.code:  # it has done its part, as one that returns
                self._leave(comm.rank, True, None)
                return 0
            self._fail(comm, error)
            return 1
        finally:
            self._threads.discard(threading.get_ident())
            comm._handle = None
            if self._processes:  # which end without Python's knowledge
                sys.stdout.flush()
                sys.stderr.flush()

    def _fail(self, comm, error):
        error.add_note(f"This was rank {comm.rank} of {comm.ranks}.")
        self._errors.append(error)
        if self._processes and not _is_bystander(error):
            if not isinstance(error, KeyboardInterrupt):  # the launcher tells of that
                traceback.print_exception(error)
            self._leave(comm.rank, False, "".join(traceback.format_exception_only(error)).splitlines()[0])

    def _leave(self, rank, is_result, value):
        """The outcome of a rank: its result, or what it has raised in words."""
        if not self._processes:
            self._results[rank] = value
            return
        outcome = pickle.dumps((is_result, value))
        file = self._files[rank]
        file.seek(0)
        file.truncate()
        file.write(outcome)
        file.flush()

    def _outcome_of(self, rank):
        self._files[rank].seek(0)
        outcome = self._files[rank].read()
        return pickle.loads(outcome) if outcome else (False, None)

    def _in_pythons_words(self, failure):
        """Of a program in C it is told that it has returned a number; one in Python has raised something."""
        for rank in range(len(self._files)):
            is_result, words = self._outcome_of(rank)
            if not is_result and words and f"The program of rank {rank} returned 1" in str(failure):
                return CommError(failure.code, f"The program of rank {rank} raised {words}")
        return failure

    def _ask(self):
        """The library asks now and then whether the run shall go on, and handlers of signals have their turn here. A generator:
        it goes on inside the `try`, where a function would begin outside."""
        while True:
            try:
                yield int(bool(self._caught))
            except GeneratorExit:
                return
            except BaseException as error:
                self._caught.append(error)
                for thread in list(self._threads):  # those that compute; waits end without it
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(type(error)))

    def _expect_no_memory_in_use(self):
        if any(comm._has_memory_in_use() for comm in self._comms):
            gc.collect()
            if any(comm._has_memory_in_use() for comm in self._comms):
                raise CommError(Code.ARGUMENT, "Memory of allocate() is in use after the run, which it ended with. Make a copy.")


def _is_bystander(error):
    return isinstance(error, CommError) and error.code in (Code.STOPPED, Code.PEER_LOST)


class Comm:
    """A rank among all: `rank` of `ranks`. It is the thread's that `run` gives it to."""

    def __init__(self, handle):
        self._handle = handle  # None: the run has ended
        self._requests = set()  # until they are freed, also those that the program has forgotten
        self._allocated = {}  # address: (weak reference to what has the memory, bytes)
        self.rank, self.ranks = library.ph_rank(handle), library.ph_ranks(handle)

    def barrier(self):
        library.ph_barrier(self._live())

    @contextlib.contextmanager
    def deadlines_paused(self):
        """Meanwhile no wait of any rank comes to its deadline: for a debugger, or a long computation of one rank."""
        self.pause_deadlines()
        try:
            yield
        finally:
            if self._handle is not None:
                self.resume_deadlines()

    def pause_deadlines(self):
        """Until `resume_deadlines` no wait of any rank comes to its deadline. Calls come in pairs."""
        library.ph_pause_deadlines(self._live())

    def resume_deadlines(self):
        library.ph_resume_deadlines(self._live())

    def allocate(self, bytes):
        """Memory that other ranks write to, for `precv_init`, until the end of the run or `release`: a memoryview of so many
        bytes, aligned to 128. All views of it, as numpy.asarray makes, must be gone at the end of the run."""
        if bytes < 0:
            raise CommError(Code.ARGUMENT, f"There are no {bytes} bytes.")
        address = c_void_p()
        library.ph_allocate(self._live(), bytes, byref(address))
        memory = (ctypes.c_ubyte * bytes).from_address(address.value or 0)
        self._allocated[address.value] = weakref.ref(memory), bytes
        return memoryview(memory).cast("B")

    def empty(self, shape, dtype="float64"):
        """`allocate` as a NumPy array."""
        import numpy

        of = numpy.dtype(dtype)
        count = math.prod(shape) if isinstance(shape, tuple) else shape
        return numpy.ndarray(shape, of, self.allocate(count * of.itemsize))

    def release(self, memory):
        """Gives back what `allocate` or `empty` has returned."""
        given = memory_of(memory, is_written=True)
        if given.address not in self._allocated:
            refuse(given.name, "is not from allocate().")
        library.ph_release(self._live(), given.address, given.bytes)
        del self._allocated[given.address]

    def psend_init(self, buffer, partitions, peer, tag=0):
        """`buffer`, in so many equal partitions, to rank `peer`."""
        return self._message(library.ph_psend_init, memory_of(buffer, is_written=False), partitions, peer, tag)

    def precv_init(self, buffer, partitions, peer, tag=0):
        """Into `buffer`, which is from `allocate` or `empty`, from rank `peer`."""
        return self._message(library.ph_precv_init, memory_of(buffer, is_written=True), partitions, peer, tag)

    def pallreduce_init(self, input, result, partitions=1, reduction=Reduction.SUM, *, type=None):
        """`input` of all ranks, element by element, to `result`, of equal size; it may be the same array. `type`: of the
        elements, where the array's own does not say it, as with bytes."""
        source, target = memory_of(input, is_written=False), memory_of(result, is_written=True)
        return self._reduce(library.ph_pallreduce_init, source, target, 1, partitions, reduction, type)

    def preduce_scatter_init(self, input, result, partitions=1, reduction=Reduction.SUM, *, type=None):
        """As `pallreduce_init`, but `input` has a block for each rank, whose `result` is its block."""
        source, target = memory_of(input, is_written=False), memory_of(result, is_written=True)
        return self._reduce(library.ph_preduce_scatter_init, source, target, self.ranks, partitions, reduction, type)

    def pallgather_init(self, input, result, partitions=1, *, type=None):
        """`input` of all ranks to `result`, which has a block for each. Elements may be of any type."""
        source, target = memory_of(input, is_written=False), memory_of(result, is_written=True)
        count, of = self._elements(source, target, partitions, type, otherwise=Type.BYTE)
        _expect_blocks(target, source, self.ranks)
        return self._request(
            library.ph_pallgather_init, (source, target), source.address, target.address, as_int(partitions), count, of)

    def pbroadcast_init(self, buffer, partitions=1, root=0, *, type=None):
        """`buffer` of rank `root` to that of all; only the root marks partitions. Elements may be of any type."""
        memory = memory_of(buffer, is_written=True)
        count, of = self._elements(memory, memory, partitions, type, otherwise=Type.BYTE)
        return self._request(library.ph_pbroadcast_init, (memory,), memory.address, as_int(partitions), count, of, as_int(root))

    def _live(self):
        if self._handle is None:
            raise CommError(Code.NULL, "The run of this rank has ended.")
        return self._handle

    def _has_memory_in_use(self):
        return any(memory() is not None for memory, _ in self._allocated.values())

    def _message(self, make, memory, partitions, peer, tag):
        size = _share(memory.bytes, partitions, f"The {memory.bytes} bytes of the {memory.name}")
        return self._request(make, (memory,), memory.address, as_int(partitions), size, as_int(peer), as_int(tag))

    def _reduce(self, make, source, target, blocks, partitions, reduction, type):
        count, of = self._elements(target, source, partitions, type)
        _expect_blocks(source, target, blocks)
        return self._request(
            make, (source, target), source.address, target.address, as_int(partitions), count, of, Reduction(reduction))

    @staticmethod
    def _elements(counted, other, partitions, type, otherwise=None):
        """The elements of a partition of `counted`, and their type, which `other` must share: `otherwise` of what has none."""
        of = next((Type(t) for t in (type, counted.type, other.type, otherwise) if t is not None), None)
        if of is None:
            refuse(counted.name, "has no elements of a type that can be added; `type` says how to read it.")
        for memory in (counted, other):
            if memory.type not in (None, of) and of != Type.BYTE:
                refuse(memory.name, f"has elements of type {memory.type.name}, not {of.name}.")
        if counted.bytes % _BYTES_OF[of]:
            refuse(counted.name, f"has {counted.bytes} bytes, which are no elements of type {of.name}.")
        elements = counted.bytes // _BYTES_OF[of]
        return _share(elements, partitions, f"The {elements} elements of the {counted.name}"), of

    def _request(self, make, memories, *arguments):
        handle = c_void_p()
        make(self._live(), *arguments, byref(handle))
        request = Request(self, handle, [memory.owner for memory in memories])
        self._requests.add(request)
        return request


def _share(whole, partitions, what):
    """Of one of the equal partitions of `whole`."""
    if partitions < 1 or whole % partitions:
        raise CommError(Code.ARGUMENT, f"{what} cannot be cut into {partitions} equal partitions.")
    return whole // partitions


def _expect_blocks(larger, smaller, blocks):
    if larger.bytes != blocks * smaller.bytes:
        raise CommError(Code.ARGUMENT, f"Of {larger.bytes} and {smaller.bytes} bytes one is not {blocks} times the other.")


class Request:
    """One side of a message, or a member of a collective, used epoch after epoch: start, pready of each partition, wait."""

    def __init__(self, comm, handle, owners):
        self._comm, self._own_handle, self._owners = comm, handle, owners

    @property
    def _handle(self):  # null after the end of the run, which has freed it
        return self._own_handle if self._comm._handle is not None else c_void_p()

    def start(self):
        """Begins the next epoch."""
        library.ph_start(self._handle)

    def pbuf_prepare(self):
        """Returns when partitions may leave at once."""
        library.ph_pbuf_prepare(self._handle)

    def pready(self, partition):
        """This partition is complete. Any thread may say so between `start` and `wait`."""
        library.ph_pready(self._handle, as_int(partition))

    def pready_range(self, first, last):
        """`pready` of partitions first to last, both included."""
        library.ph_pready_range(self._handle, as_int(first), as_int(last))

    def parrived(self, partition):
        """May this partition of what is received be read?"""
        has_arrived = c_int()
        library.ph_parrived(self._handle, as_int(partition), byref(has_arrived))
        return bool(has_arrived.value)

    def wait(self):
        """The end of the epoch."""
        library.ph_wait(self._handle)

    def test(self):
        """As `wait` if that would return at once: then True."""
        is_complete = c_int()
        library.ph_test(self._handle, byref(is_complete))
        return bool(is_complete.value)

    def free(self):
        """Of a request that has been waited for. What is left at the end of the run is freed."""
        library.ph_free(byref(self._handle))
        self._comm._requests.discard(self)
        self._owners.clear()
