# SPDX-License-Identifier: Apache-2.0
"""The memory of an array of any library: where it is, its size and type, and what keeps it alive. Nothing is copied.

An array has the buffer protocol (NumPy, array.array, bytearray, memoryview), or __dlpack__ (PyTorch, JAX). Arrays in the memory
of a GPU, also those with __cuda_array_interface__ alone, are refused by name, as no call here can read them.
"""
import ctypes
import re
import sys
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_int32, c_int64, c_ssize_t, c_uint8, c_uint16, c_uint64, c_void_p
from struct import calcsize
from typing import NamedTuple

from ._library import Code, CommError, CommTypeError, Type


class Memory(NamedTuple):
    address: int | None
    bytes: int
    type: Type | None  # None: of another one
    element: int  # bytes of one
    owner: object  # the memory stays where it is as long as this lives
    name: str  # of the array's type, for messages


class _Buffer(Structure):  # Py_buffer, part of the stable ABI
    _fields_ = [("buf", c_void_p), ("obj", c_void_p), ("len", c_ssize_t), ("itemsize", c_ssize_t), ("readonly", c_int),
                ("ndim", c_int), ("format", c_char_p), ("shape", c_void_p), ("strides", c_void_p), ("suboffsets", c_void_p),
                ("internal", c_void_p)]


class _Device(Structure):  # this and what follows: dlpack.h
    _fields_ = [("type", c_int32), ("id", c_int32)]


class _DataType(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class _Tensor(Structure):
    _fields_ = [("data", c_void_p), ("device", _Device), ("ndim", c_int32), ("type", _DataType), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, POINTER(_Buffer), c_int]
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes, _release_buffer.restype = [POINTER(_Buffer)], None
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.argtypes, _get_pointer.restype = [ctypes.py_object, c_char_p], c_void_p

_NAME_IN_FORMAT = re.compile(":[^:]*:")  # of a field of a structure
_NATIVE = "@=<" if sys.byteorder == "little" else "@=>"
_TYPE_OF_FORMAT = {"f": Type.FLOAT, "d": Type.DOUBLE, "e": Type.HALF, "i": Type.INT32, "q": Type.INT64, "B": Type.UINT8}
if calcsize("l") == 8:
    _TYPE_OF_FORMAT["l"] = Type.INT64
_TYPE_OF_DLPACK = {(2, 32): Type.FLOAT, (2, 64): Type.DOUBLE, (2, 16): Type.HALF, (4, 16): Type.BFLOAT16,
                   (0, 32): Type.INT32, (0, 64): Type.INT64, (1, 8): Type.UINT8}
_HOST_MEMORY = (1, 3, 11)  # devices of DLPack: a CPU; memory of the host that CUDA or ROCm has pinned


def refuse(name, sentence, error=CommError):
    raise error(Code.ARGUMENT, f"The {name} {sentence}")


def memory_of(array, *, is_written):
    """Raises CommError (ARGUMENT) unless the array is in the host's memory, contiguous in C's order, writable where needed;
    CommTypeError, a TypeError as well, where it is no array or holds Python's objects."""
    name = f"{type(array).__module__}.{type(array).__qualname__}"
    if hasattr(array, "__cuda_array_interface__"):
        address = array.__cuda_array_interface__["data"][0]
        refuse(name, f"is in the memory of a GPU (at {address:#x}). Copy it to the host's.")
    try:
        view = memoryview(array)
    except TypeError:
        if not hasattr(array, "__dlpack__"):
            refuse(name, "has no buffer protocol and no __dlpack__. Pass an array.", CommTypeError)
        return _of_dlpack(array, name)
    except ValueError as error:  # as NumPy's of types that the protocol has no word for
        refuse(name, f"cannot be read as it is: {error}. View it as integers of the same size.", CommTypeError)
    if "O" in _NAME_IN_FORMAT.sub("", view.format):
        refuse(name, "holds references to Python's objects, which mean nothing to another rank. Convert it to numbers.",
               CommTypeError)
    if not view.c_contiguous:
        _refuse_gaps(name)
    if is_written and view.readonly:
        refuse(name, "is read-only.")
    buffer = _Buffer()
    _get_buffer(view, byref(buffer), 0)
    address = buffer.buf
    _release_buffer(byref(buffer))
    return Memory(address, view.nbytes, _TYPE_OF_FORMAT.get(view.format.lstrip(_NATIVE)), view.itemsize, view, name)


def _of_dlpack(array, name):
    kind, number = array.__dlpack_device__()
    if kind not in _HOST_MEMORY:
        refuse(name, f"is in the memory of a GPU (DLPack device {int(kind)}, number {number}). Copy it to the host's.")
    capsule = array.__dlpack__()  # nobody consumes it: it gives the tensor back at its own end
    tensor = _Tensor.from_address(_get_pointer(capsule, b"dltensor"))
    shape = tensor.shape[:tensor.ndim]
    elements = 1
    for axis in reversed(range(tensor.ndim)):
        if tensor.strides and shape[axis] > 1 and tensor.strides[axis] != elements:
            _refuse_gaps(name)
        elements *= shape[axis]
    of = tensor.type
    found = _TYPE_OF_DLPACK.get((of.code, of.bits)) if of.lanes == 1 else None
    element = (of.bits * of.lanes + 7) // 8
    return Memory((tensor.data or 0) + tensor.byte_offset, elements * element, found, element, capsule, name)


def _refuse_gaps(name):
    refuse(name, "is not contiguous in C's order: a partition is a piece of memory. Make a contiguous copy.")
