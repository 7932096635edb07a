# SPDX-License-Identifier: Apache-2.0
"""Partitioned messages and collectives between ranks: parhelion_comm.h for Python (docs/user/comm.md).

`run` calls a program once for each rank, with its Comm. `init` gives one to a process that somebody else has started. Names and rules are those of the header. Arrays are used where they are
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
from ._calls import Calls, elements_of, expect_blocks, share
from ._library import (
    AllGather, Bind, Code, CommError, CommTypeError, Id, Interrupted, Options, RankProgram, Reduction, Type, as_int, library)

__all__ = ["Bind", "Code", "Comm", "CommError", "CommTypeError", "Reduction", "Request", "Type", "free_id", "init", "make_id", "run"]

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
    _expect_sizes(deadline, memory_bytes)
    of_run = _Run(lambda comm: program(comm, *args, **(kwargs or {})), ranks, processes)
    by_default = Bind.CORE if processes else Bind.NONE
    return of_run.carry_out(deadline, memory_bytes, by_default if bind is None else Bind(bind))


def _expect_sizes(deadline, memory_bytes):
    if not 0 <= memory_bytes < 2**63:
        raise CommError(Code.ARGUMENT, f"There are no {memory_bytes} bytes of memory.")
    if not deadline > 0:
        raise CommError(Code.ARGUMENT, f"A deadline of {deadline} s is none: it is above 0.")


def make_id(where=None):
    """What ranks join by: 128 bytes, made by the process that is to be rank 0, for one world. They hold a secret: hand them to the
    other ranks alone. `where`: a network interface, or host or host:port of this host, where the others find this process."""
    made = Id()
    library.ph_make_id(None if where is None else where.encode(), byref(made))
    return bytes(made.bytes)


def free_id(id):
    """Gives back an id of `make_id` that nobody has joined by, and nobody will."""
    library.ph_free_id(byref(_as_id(id)))


def _as_id(id):
    if len(id) != ctypes.sizeof(Id):
        raise CommError(Code.ARGUMENT, f"An id has {ctypes.sizeof(Id)} bytes, not {len(id)}.")
    return Id.from_buffer_copy(id)


def init(rank=None, ranks=None, id=None, *, exchange=None, mpi=None, deadline=30.0, memory_bytes=0):
    """Joins the other ranks of a job that somebody else has started, and returns this process's Comm: all ranks call, with the same
    options. End it by `finalize`, or use it in a `with`: an exception inside stops all ranks, and ends this one.

    How they meet is one of: `rank`, `ranks` and `id`, the bytes that rank 0 has of `make_id`; `rank`, `ranks` and `exchange`, a
    function that takes the bytes of this rank and returns a list of those of all, as an all-gather of torch.distributed does;
    `mpi`, a communicator of mpi4py; or nothing, where torchrun, Slurm or an MPI has started the processes.
    `deadline` and `memory_bytes` are as of `run`. Ctrl-C takes effect when a wait has ended, by the deadline at the latest."""
    if mpi is not None:
        rank, ranks, exchange = mpi.Get_rank(), mpi.Get_size(), mpi.allgather
    if (rank is None) != (ranks is None) or (rank is None) != (id is None and exchange is None):
        raise CommError(Code.ARGUMENT, "Ranks join by `rank` and `ranks` with `id` or `exchange`, by `mpi`, or by nothing of these.")
    _expect_sizes(deadline, memory_bytes)
    options, handle = Options(deadline_seconds=deadline, memory_bytes=memory_bytes), c_void_p()
    if exchange is not None:
        _init_by(exchange, as_int(rank), as_int(ranks), options, handle)
    elif id is not None:
        library.ph_init(byref(_as_id(id)), as_int(rank), as_int(ranks), byref(options), byref(handle))
    else:
        library.ph_init_here(byref(options), byref(handle))
    return Comm(handle.value)


def _init_by(exchange, rank, ranks, options, handle):
    raised = []

    def all_gather(_, mine, size, target):
        try:
            everybody = b"".join(exchange(ctypes.string_at(mine, size)))
            if len(everybody) != size * ranks:
                raise CommError(Code.ARGUMENT, f"The exchange has returned {len(everybody)} bytes of {ranks} ranks with {size} each.")
            ctypes.memmove(target, everybody, len(everybody))
            return 0
        except BaseException as error:
            raised.append(error)
            return 1

    try:
        library.ph_init_exchange(rank, ranks, AllGather(all_gather), None, byref(options), byref(handle))
    except CommError:
        if raised:
            raise raised[0] from None
        raise


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
            for part in comm._with_parts():
                part._requests.clear()
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
            comm._end()
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


class Comm(Calls):
    """A rank among all: `rank` of `ranks`. It is the thread's that `run` gives it to; of `init`, that of one thread at a time."""

    def __init__(self, handle):
        self._handle = handle  # None: the run has ended
        self._requests = set()  # until they are freed, also those that the program has forgotten
        self._allocated = {}  # address: (weak reference to what has the memory, bytes)
        self._parts = []  # groups of members of this one
        self.rank, self.ranks = library.ph_rank(handle), library.ph_ranks(handle)

    def __enter__(self):
        return self

    def __exit__(self, raised, *_):
        if raised is None:
            self.finalize()
        else:
            self._end_by_exception()

    def _end_by_exception(self):
        """Stops all ranks, and ends this one: at once, or where the exception's frames have arrays of its memory, with the last."""
        handle = self._live()
        library.ph_abort(handle)
        for comm in self._with_parts():
            for request in list(comm._requests):
                request.free()
        in_use = [memory() for comm in self._with_parts() for memory, _ in comm._allocated.values()]
        left = {id(memory) for memory in in_use if memory is not None}
        self._end()

        def end_with_the_last(of):
            left.discard(of)
            if not left:
                library.ph_finalize(byref(c_void_p(handle)))

        for memory in in_use:
            if memory is not None:
                weakref.finalize(memory, end_with_the_last, id(memory)).atexit = False
        if not left:
            end_with_the_last(None)

    def abort(self):
        """This rank stops for a reason of its own: all waits, of all ranks, end with STOPPED."""
        library.ph_abort(self._live())

    def finalize(self):
        """The end of a rank of `init`: returns when the others have heard what it has sent. Frees its requests, of which none may be
        active. Arrays of `allocate` and `empty` must be gone, as their memory goes: else IN_USE, and the rank goes on."""
        for comm in self._with_parts():
            for request in list(comm._requests):
                request.free()
        if self._has_memory_in_use():
            gc.collect()
            if self._has_memory_in_use():
                raise CommError(Code.IN_USE, "Memory of allocate() is in use. Delete its arrays, or make copies, before the end.")
        library.ph_finalize(byref(c_void_p(self._live())))
        self._end()

    def split(self, color, key=0):
        """The group of the ranks that give the same color >= 0, numbered by key: a Comm of its own, or None for a color below 0. All
        ranks call. Messages and collectives of a group are among its members alone. It lives until its own `finalize`, or until
        the whole ends."""
        return self._part(library.ph_split, as_int(color), as_int(key))

    def group(self, ranks):
        """The group of these ranks, in this order. They call, in one order for the same ranks."""
        numbers = [as_int(rank) for rank in ranks]
        return self._part(library.ph_group, (ctypes.c_int * len(numbers))(*numbers), len(numbers))

    def host(self):
        """The group of the ranks that share memory with this one, as those of one host do. All ranks call."""
        return self._part(library.ph_host)

    def _part(self, make, *arguments):
        handle = c_void_p()
        make(self._live(), *arguments, byref(handle))
        if handle.value is None:
            return None
        self._parts.append(Comm(handle.value))
        return self._parts[-1]

    def _with_parts(self):
        return [self, *(comm for part in self._parts for comm in part._with_parts())]

    def _end(self):
        for comm in self._with_parts():
            comm._handle = None

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
        """Into `buffer`, from rank `peer`. Without a copy if it is from `allocate` or `empty`."""
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
        count, of = elements_of(source, target, partitions, type, otherwise=Type.BYTE)
        expect_blocks(target, source, self.ranks)
        return self._request(
            library.ph_pallgather_init, (source, target), source.address, target.address, as_int(partitions), count, of)

    def pbroadcast_init(self, buffer, partitions=1, root=0, *, type=None):
        """`buffer` of rank `root` to that of all; only the root marks partitions. Elements may be of any type."""
        memory = memory_of(buffer, is_written=True)
        count, of = elements_of(memory, memory, partitions, type, otherwise=Type.BYTE)
        return self._request(library.ph_pbroadcast_init, (memory,), memory.address, as_int(partitions), count, of, as_int(root))

    def barrier(self):
        """Returns when all ranks have called it."""
        library.ph_barrier(self._live())

    def _live(self):
        if self._handle is None:
            raise CommError(Code.NULL, "The run of this rank has ended.")
        return self._handle

    def _has_memory_in_use(self):
        return any(memory() is not None for comm in self._with_parts() for memory, _ in comm._allocated.values())

    def _message(self, make, memory, partitions, peer, tag):
        size = share(memory.bytes, partitions, f"The {memory.bytes} bytes of the {memory.name}")
        return self._request(make, (memory,), memory.address, as_int(partitions), size, as_int(peer), as_int(tag))

    def _reduce(self, make, source, target, blocks, partitions, reduction, type):
        count, of = elements_of(target, source, partitions, type)
        expect_blocks(source, target, blocks)
        return self._request(
            make, (source, target), source.address, target.address, as_int(partitions), count, of, Reduction(reduction))

    def _request(self, make, memories, *arguments):
        handle = c_void_p()
        make(self._live(), *arguments, byref(handle))
        request = Request(self, handle, [memory.owner for memory in memories])
        self._requests.add(request)
        return request


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
