# SPDX-License-Identifier: Apache-2.0
"""The shared library of parhelion_comm.h, its calls and its numbers. A call that fails raises CommError."""
import ctypes
import operator
import os
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_size_t, c_void_p, sizeof
from enum import IntEnum
from pathlib import Path

Code = IntEnum("Code", {
    "NULL": 1, "NOT_ACTIVE": 2, "ACTIVE": 3, "PARTITION": 4, "READY_TWICE": 5, "ARGUMENT": 6, "NOT_SYMMETRIC": 7,
    "BYTES_DIFFER": 8, "PEER_FREED": 9, "NOT_MATCHED": 10, "IN_USE": 11, "TIMEOUT": 20, "STOPPED": 21, "SYSTEM": 22, "INTERNAL": 23, "DEVICE": 24,
    "MEMORY": 25, "LIMIT": 26, "PEER_LOST": 27})
Code.__doc__ = "PH_ERROR_... of parhelion_comm.h."
Type = IntEnum("Type", {"FLOAT": 0, "DOUBLE": 1, "HALF": 2, "BFLOAT16": 3, "BYTE": 4, "INT32": 5, "INT64": 6, "UINT8": 7})
Type.__doc__ = "Of the elements of a collective; BYTE is any data, which is not added or compared."
Bind = IntEnum("Bind", {"CORE": 0, "NONE": 1})
Bind.__doc__ = "Where ranks run: each on a core of its own, where there are enough, or wherever the system puts them."
Reduction = IntEnum("Reduction", {"SUM": 0, "MIN": 1, "MAX": 2, "PRODUCT": 3, "AVERAGE": 4})


class CommError(Exception):
    """`code` says what was wrong, or None if the library is newer and this package does not know it."""

    def __init__(self, code, sentence):
        super().__init__(f"{code.name if code else 'unknown code'}: {sentence}")
        self.code = code


class CommTypeError(CommError, TypeError):
    """An object that is no array, or one of Python's objects."""


RankProgram = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)

Interrupted = ctypes.CFUNCTYPE(c_int, c_void_p)


class Options(Structure):  # ph_options
    _fields_ = [("size", c_size_t), ("deadline_seconds", c_double), ("memory_bytes", c_size_t), ("bind", c_int),
                ("interrupted", Interrupted)]

    def __init__(self, **named):
        super().__init__(size=sizeof(Options), **named)


class Id(Structure):  # ph_id
    _fields_ = [("bytes", ctypes.c_ubyte * 128)]


AllGather = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, c_void_p)

_Sizes = POINTER(c_size_t)
_CALLS = {  # what they take; all return a code
    "ph_make_id": [c_char_p, POINTER(Id)],
    "ph_free_id": [POINTER(Id)],
    "ph_init": [POINTER(Id), c_int, c_int, POINTER(Options), POINTER(c_void_p)],
    "ph_init_exchange": [c_int, c_int, AllGather, c_void_p, POINTER(Options), POINTER(c_void_p)],
    "ph_init_here": [POINTER(Options), POINTER(c_void_p)],
    "ph_abort": [c_void_p],
    "ph_finalize": [POINTER(c_void_p)],
    "ph_split": [c_void_p, c_int, c_int, POINTER(c_void_p)],
    "ph_group": [c_void_p, POINTER(c_int), c_int, POINTER(c_void_p)],
    "ph_host": [c_void_p, POINTER(c_void_p)],
    "ph_run": [c_int, c_int, c_double, RankProgram, c_void_p],
    "ph_run_with": [c_int, c_int, POINTER(Options), RankProgram, c_void_p],
    "ph_pause_deadlines": [c_void_p],
    "ph_resume_deadlines": [c_void_p],
    "ph_barrier": [c_void_p],
    "ph_allreduce": [c_void_p, c_void_p, c_void_p, c_size_t, c_int, c_int],
    "ph_reduce": [c_void_p, c_void_p, c_void_p, c_size_t, c_int, c_int, c_int],
    "ph_reduce_scatter": [c_void_p, c_void_p, c_void_p, c_size_t, c_int, c_int],
    "ph_scan": [c_void_p, c_void_p, c_void_p, c_size_t, c_int, c_int],
    "ph_exclusive_scan": [c_void_p, c_void_p, c_void_p, c_size_t, c_int, c_int],
    "ph_allgather": [c_void_p, c_void_p, c_void_p, c_size_t, c_int],
    "ph_gather": [c_void_p, c_void_p, c_void_p, c_size_t, c_int, c_int],
    "ph_scatter": [c_void_p, c_void_p, c_void_p, c_size_t, c_int, c_int],
    "ph_broadcast": [c_void_p, c_void_p, c_size_t, c_int, c_int],
    "ph_alltoall": [c_void_p, c_void_p, c_void_p, c_size_t, c_int],
    "ph_gather_v": [c_void_p, c_void_p, c_size_t, c_void_p, _Sizes, _Sizes, c_int, c_int],
    "ph_scatter_v": [c_void_p, c_void_p, _Sizes, _Sizes, c_void_p, c_size_t, c_int, c_int],
    "ph_alltoall_v": [c_void_p, c_void_p, _Sizes, _Sizes, c_void_p, _Sizes, _Sizes, c_int],
    "ph_allocate": [c_void_p, c_size_t, POINTER(c_void_p)],
    "ph_release": [c_void_p, c_void_p, c_size_t],
    "ph_psend_init": [c_void_p, c_void_p, c_int, c_size_t, c_int, c_int, POINTER(c_void_p)],
    "ph_precv_init": [c_void_p, c_void_p, c_int, c_size_t, c_int, c_int, POINTER(c_void_p)],
    "ph_pallreduce_init": [c_void_p, c_void_p, c_void_p, c_int, c_size_t, c_int, c_int, POINTER(c_void_p)],
    "ph_preduce_scatter_init": [c_void_p, c_void_p, c_void_p, c_int, c_size_t, c_int, c_int, POINTER(c_void_p)],
    "ph_pallgather_init": [c_void_p, c_void_p, c_void_p, c_int, c_size_t, c_int, POINTER(c_void_p)],
    "ph_pbroadcast_init": [c_void_p, c_void_p, c_int, c_size_t, c_int, c_int, POINTER(c_void_p)],
    "ph_start": [c_void_p],
    "ph_pbuf_prepare": [c_void_p],
    "ph_pready": [c_void_p, c_int],
    "ph_pready_range": [c_void_p, c_int, c_int],
    "ph_parrived": [c_void_p, c_int, POINTER(c_int)],
    "ph_wait": [c_void_p],
    "ph_test": [c_void_p, POINTER(c_int)],
    "ph_free": [POINTER(c_void_p)],
}


def _raise_error(code, call, arguments):
    if code != 0:
        known = Code(code) if code in Code._value2member_map_ else None
        raise CommError(known, library.ph_error_message().decode(errors="replace"))


def _load():
    beside = Path(__file__).with_name("libparhelion_comm_c.so")
    path = os.environ.get("PARHELION_COMM_LIBRARY") or (str(beside) if beside.exists() else beside.name)
    loaded = ctypes.CDLL(path)  # lets go of the interpreter's lock during a call, so that ranks wait at the same time
    for name, takes in _CALLS.items():
        call = getattr(loaded, name)
        call.argtypes, call.restype, call.errcheck = takes, c_int, _raise_error
    loaded.ph_error_message.restype = c_char_p
    for name in ("ph_rank", "ph_ranks"):
        getattr(loaded, name).argtypes = [c_void_p]
    return loaded


def as_int(value):
    """`value` as C's int, which ctypes would cut off silently."""
    number = operator.index(value)
    if not -(2**31) <= number < 2**31:
        raise CommError(Code.ARGUMENT, f"{number} is beyond the numbers of C's int.")
    return number


library = _load()
