# SPDX-License-Identifier: Apache-2.0
"""Partitioned messages and collectives between the ranks of one host: parhelion_comm.h for Python (docs/user/comm.md).

`run` calls a program once for each rank, with its Comm. Names and rules are those of the header. Arrays are used where they are
(_arrays.py says which) and kept alive as long as a request is about them. Misuse and failures raise CommError.
"""
import ctypes
import gc
import math
import sys
import traceback
import weakref
from ctypes import byref, c_int, c_void_p

from ._arrays import memory_of, refuse
from ._library import Code, CommError, RankProgram, Reduction, Type, as_int, library

__all__ = ["Code", "Comm", "CommError", "Reduction", "Request", "Type", "run"]

_BYTES_OF = {Type.FLOAT: 4, Type.DOUBLE: 8, Type.HALF: 2, Type.BFLOAT16: 2}


def run(program, ranks, *, processes=0, deadline=30.0):
    """Calls program(comm) for every rank and returns when all have ended: threads of this process, of which the caller is rank 0,
    or spread over `processes` processes. No wait for another rank takes longer than `deadline` seconds.

    An exception of a program stops the run. Of threads the first is raised again here, with empty frames, as their arrays may be
    memory of the run. Of processes its traceback is printed and CommError (STOPPED) raised. Processes are copies of this one, so
    there must be no other Python thread.
    """
    if processes and len(sys._current_frames()) > 1:
        raise CommError(Code.ARGUMENT, "Processes are copies of this one, which must have one Python thread only.")
    comms, errors = [], []

    def be_rank(handle, _):
        comm = Comm(handle)
        comms.append(comm)  # the library looks at requests after the program, at arrays with them
        try:
            program(comm)
            return 0
        except BaseException as error:
            error.add_note(f"This was rank {comm.rank} of {comm.ranks}.")
            if processes and not _is_bystander(error):
                traceback.print_exception(error)
            errors.append(error)
            return 1
        finally:
            comm._handle = None
            if processes:  # which end without Python's knowledge
                sys.stdout.flush()
                sys.stderr.flush()

    sys.stdout.flush()  # else every process would print what waits here
    sys.stderr.flush()
    failure = None
    try:
        library.ph_run(as_int(ranks), as_int(processes), deadline, RankProgram(be_rank), None)
    except CommError as error:
        failure = error
    for error in errors:
        traceback.clear_frames(error.__traceback__)
    for comm in comms:
        comm._requests.clear()
    if failure is not None:
        raise next((e for e in errors if not _is_bystander(e)), failure)
    if any(comm._has_memory_in_use() for comm in comms):
        gc.collect()
        if any(comm._has_memory_in_use() for comm in comms):
            raise CommError(Code.ARGUMENT, "Memory of allocate() is in use after the run, which it ended with. Make a copy.")


def _is_bystander(error):
    return isinstance(error, CommError) and error.code == Code.STOPPED


class Comm:
    """A rank among all: `rank` of `ranks`. It is the thread's that `run` gives it to."""

    def __init__(self, handle):
        self._handle = handle  # None: the run has ended
        self._requests = set()  # until they are freed, also those that the program has forgotten
        self._allocated = {}  # address: (weak reference to what has the memory, bytes)
        self.rank, self.ranks = library.ph_rank(handle), library.ph_ranks(handle)

    def barrier(self):
        library.ph_barrier(self._live())

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
        library.ph_release(self._live(), given.address, self._allocated[given.address][1])
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
        """`input` of all ranks to `result`, which has a block for each."""
        source, target = memory_of(input, is_written=False), memory_of(result, is_written=True)
        count, of = self._elements(source, target, partitions, type)
        _expect_blocks(target, source, self.ranks)
        return self._request(
            library.ph_pallgather_init, (source, target), source.address, target.address, as_int(partitions), count, of)

    def pbroadcast_init(self, buffer, partitions=1, root=0, *, type=None):
        """`buffer` of rank `root` to that of all; only the root marks partitions."""
        memory = memory_of(buffer, is_written=True)
        count, of = self._elements(memory, memory, partitions, type)
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
    def _elements(counted, other, partitions, type):
        """The elements of a partition of `counted`, and their type, which `other` must share."""
        of = next((Type(t) for t in (type, counted.type, other.type) if t is not None), None)
        if of is None:
            refuse(counted.name, "has no elements of a type that can be added; `type` says how to read it.")
        for memory in (counted, other):
            if memory.type not in (None, of):
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
