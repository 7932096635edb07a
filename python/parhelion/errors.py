# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, by whose hand. Texts and ids are those of the program (docs/user/messages.md)."""

__all__ = ["Error", "InputError", "InputWarning", "InternalError", "PhysicsError", "SystemError"]


class Error(Exception):
    """Any error of Parhelion."""


class InputError(Error, ValueError):
    """The input files, or options that do not suit them. The text tells all that is wrong; the attributes are of the worst of it.

    id: the stable id, as "E104". file, line: where it is; line 0 is the file as a whole, an empty file no file at all.
    """

    def __init__(self, text: str, id: str = "", file: str = "", line: int = 0) -> None:
        super().__init__(text)
        self.id = id
        self.file = file
        self.line = line


class PhysicsError(Error, ArithmeticError):
    """The simulation blew up. step: when; the text names the atom, and why."""

    def __init__(self, text: str, step: int = 0) -> None:
        super().__init__(text)
        self.step = step


class SystemError(Error, RuntimeError):
    """Disk, device, or a rank that no longer answers."""


class InternalError(Error):
    """A defect of Parhelion. Please report it."""


class InputWarning(UserWarning):
    """A warning about the input, which stops load() and run() unless its id is among `allow`. id: the stable id, as "W121"."""

    def __init__(self, text: str, id: str = "") -> None:
        super().__init__(text)
        self.id = id
