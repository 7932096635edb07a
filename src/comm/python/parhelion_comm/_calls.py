# SPDX-License-Identifier: Apache-2.0
"""Collectives of whole buffers in one call, as methods of a rank; and how many elements of which type arrays have."""
import ctypes
import operator

from ._arrays import memory_of, refuse
from ._library import Code, CommError, Reduction, Type, as_int, library

BYTES_OF = {Type.FLOAT: 4, Type.DOUBLE: 8, Type.HALF: 2, Type.BFLOAT16: 2, Type.BYTE: 1, Type.INT32: 4, Type.INT64: 8, Type.UINT8: 1}
_INTEGERS = (Type.INT32, Type.INT64, Type.UINT8)


class Calls:
    """What a Comm has of them. All ranks call, and none returns before all have."""

    def allreduce(self, input, result, reduction=Reduction.SUM, *, type=None):
        """`input` of all ranks, element by element and in rank order, to `result`, which may be the same array. This and what
        follows are collectives in one call: all ranks call, and none returns before all have."""
        self._reduce_now(library.ph_allreduce, input, result, 1, reduction, type)

    def reduce(self, input, result=None, reduction=Reduction.SUM, root=0, *, type=None):
        """As `allreduce`, to the `result` of rank `root` alone."""
        self._reduce_now(library.ph_reduce, input, result, 1, reduction, type, as_int(root))

    def reduce_scatter(self, input, result, reduction=Reduction.SUM, *, type=None):
        """As `allreduce`, but `input` has a block for each rank, whose `result` is its block."""
        self._reduce_now(library.ph_reduce_scatter, input, result, self.ranks, reduction, type)

    def scan(self, input, result, reduction=Reduction.SUM, *, type=None):
        """As `allreduce`, of the ranks up to this one."""
        self._reduce_now(library.ph_scan, input, result, 1, reduction, type)

    def exclusive_scan(self, input, result, reduction=Reduction.SUM, *, type=None):
        """As `allreduce`, of the ranks before this one; rank 0's `result` stays as it is."""
        self._reduce_now(library.ph_exclusive_scan, input, result, 1, reduction, type)

    def allgather(self, input, result):
        """`input` of all ranks to `result`, which has a block for each. This and what follows take elements of any type."""
        self._copy_now(library.ph_allgather, input, result, 1, self.ranks)

    def gather(self, input, result=None, root=0):
        """As `allgather`, to rank `root` alone."""
        self._copy_now(library.ph_gather, input, result, 1, self.ranks, as_int(root))

    def scatter(self, input, result, root=0):
        """`input` of rank `root`, which has a block for each rank, to the `result` of each."""
        self._copy_now(library.ph_scatter, input, result, self.ranks, 1, as_int(root))

    def broadcast(self, buffer, root=0):
        """`buffer` of rank `root` to that of all."""
        memory = memory_of(buffer, is_written=True)
        count, of = elements_of(memory, memory, 1, None, otherwise=Type.BYTE)
        library.ph_broadcast(self._live(), memory.address, count, of, as_int(root))

    def alltoall(self, input, result):
        """Block b of `input` to block r of rank b's `result`, where r is this rank."""
        self._copy_now(library.ph_alltoall, input, result, self.ranks, self.ranks)

    def gather_v(self, input, result=None, counts=None, root=0, *, offsets=None):
        """As `gather`, with blocks of any size. `counts` and `offsets`, in elements, are of rank `root`, one for each rank;
        without offsets one block follows the other."""
        source, target, of = self._pair(input, result)
        blocks = _table(self.ranks, target, of, counts, offsets) if target is not None else (None, None)
        library.ph_gather_v(self._live(), source.address, source.bytes // BYTES_OF[of], _address(target), *blocks, of, as_int(root))

    def scatter_v(self, input, result, counts=None, root=0, *, offsets=None):
        """As `scatter`, with blocks of any size, as of `gather_v`."""
        source, target, of = self._pair(input, result)
        blocks = _table(self.ranks, source, of, counts, offsets) if source is not None else (None, None)
        library.ph_scatter_v(self._live(), _address(source), *blocks, target.address, target.bytes // BYTES_OF[of], of, as_int(root))

    def alltoall_v(self, input, counts, result, result_counts, *, offsets=None, result_offsets=None):
        """As `alltoall`, with blocks of any size: counts and offsets as of `gather_v`, of what goes to and comes from each."""
        source, target, of = self._pair(input, result)
        library.ph_alltoall_v(self._live(), source.address, *_table(self.ranks, source, of, counts, offsets), target.address,
                              *_table(self.ranks, target, of, result_counts, result_offsets), of)

    def _reduce_now(self, call, input, result, blocks, reduction, type, *root):
        source = memory_of(input, is_written=False)
        target = memory_of(result, is_written=True) if result is not None else None
        if target is not None:
            expect_blocks(source, target, blocks)
        count, of = elements_of(source, target or source, blocks, type)
        call(self._live(), source.address, _address(target), count, of, Reduction(reduction), *root)

    def _copy_now(self, call, input, result, blocks_of_input, blocks_of_result, *root):
        source, target, of = self._pair(input, result)
        if source is not None and target is not None and source.bytes * blocks_of_result != target.bytes * blocks_of_input:
            raise CommError(Code.ARGUMENT, f"{source.bytes} and {target.bytes} bytes have no blocks of one size for {self.ranks} ranks.")
        counted, blocks = (source, blocks_of_input) if source is not None else (target, blocks_of_result)
        count = share(counted.bytes // BYTES_OF[of], blocks, f"The {counted.bytes} bytes of the {counted.name}")
        call(self._live(), _address(source), _address(target), count, of, *root)

    def _pair(self, input, result):
        """An input and a result, of which a rank that is not the root may lack one, and the type of their elements."""
        source = memory_of(input, is_written=False) if input is not None else None
        target = memory_of(result, is_written=True) if result is not None else None
        there = [memory for memory in (source, target) if memory is not None]
        if not there:
            raise CommError(Code.NULL, "Both arrays are None.")
        return source, target, elements_of(there[0], there[-1], 1, None, otherwise=Type.BYTE)[1]


def elements_of(counted, other, partitions, type, otherwise=None):
    """The elements of a partition of `counted`, and their type, which `other` must share: `otherwise` of what has none."""
    told = [memory.type for memory in (counted, other)]
    strong = [t for t in told if t is not Type.UINT8]  # what has bytes may be of any type
    of = next((Type(t) for t in (type, *strong, otherwise, *told) if t is not None), None)
    if of is None:
        refuse(counted.name, "has no elements of a type that can be added; `type` says how to read it.")
    for memory in (counted, other):
        is_read_as_told = memory.type is Type.UINT8 or (type is not None and memory.type in _INTEGERS)
        if memory.type not in (None, of) and of != Type.BYTE and not is_read_as_told:
            refuse(memory.name, f"has elements of type {memory.type.name}, not {of.name}.")
    if counted.bytes % BYTES_OF[of]:
        refuse(counted.name, f"has {counted.bytes} bytes, which are no elements of type {of.name}.")
    elements = counted.bytes // BYTES_OF[of]
    return share(elements, partitions, f"The {elements} elements of the {counted.name}"), of


def share(whole, partitions, what):
    """Of one of the equal partitions of `whole`."""
    if partitions < 1 or whole % partitions:
        raise CommError(Code.ARGUMENT, f"{what} cannot be cut into {partitions} equal partitions.")
    return whole // partitions


def expect_blocks(larger, smaller, blocks):
    if larger.bytes != blocks * smaller.bytes:
        raise CommError(Code.ARGUMENT, f"Of {larger.bytes} and {smaller.bytes} bytes one is not {blocks} times the other.")


def _address(memory):
    return None if memory is None else memory.address


def _table(ranks, memory, of, counts, offsets):
    """Counts and offsets of blocks for each rank, which lie in `memory`, in elements of type `of`: bytes, where that is any."""
    if counts is None:
        raise CommError(Code.NULL, "The counts of blocks are None.")
    sizes = [operator.index(count) for count in counts]
    places = [sum(sizes[:r]) for r in range(len(sizes))] if offsets is None else [operator.index(offset) for offset in offsets]
    if len(sizes) != ranks or len(places) != ranks:
        raise CommError(Code.ARGUMENT, f"There are {ranks} ranks, {len(sizes)} counts and {len(places)} offsets.")
    each = memory.element if of == Type.BYTE else BYTES_OF[of]
    elements, units = memory.bytes // each, each // BYTES_OF[of]
    for size, place in zip(sizes, places):
        if size < 0 or place < 0 or place + size > elements:
            raise CommError(Code.ARGUMENT, f"A block of {size} elements from {place} on is not in {elements} elements.")
    in_units = ctypes.c_size_t * ranks
    return in_units(*(units * size for size in sizes)), in_units(*(units * place for place in places))
