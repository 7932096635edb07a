# SPDX-License-Identifier: Apache-2.0
"""Work of the engine on a thread of its own, so that the thread that asked for it may go on, or be interrupted while it waits."""
import atexit
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from . import _core

T = TypeVar("T")
_running: "set[Task[Any]]" = set()


class Task(Future[T], Generic[T]):
    """Work under way: a concurrent.futures.Future, so that result(timeout), done() and asyncio.wrap_future() are there, and stop()."""

    def __init__(self, work: Callable[[], T], stop: _core.Stop) -> None:
        super().__init__()
        self._stop = stop
        self._work = work
        self._thread = threading.Thread(target=self._do, name="parhelion", daemon=True)
        self.set_running_or_notify_cancel()
        _running.add(self)
        self._thread.start()

    def stop(self) -> None:
        """Ends the work early, within a second and a step; result() then says that it was stopped. From any thread."""
        self._stop.set()

    def wait(self) -> T:
        """The result. A KeyboardInterrupt stops the work, waits for its end, and is raised."""
        try:
            return self.result()
        except KeyboardInterrupt:
            self.stop()
            raise
        finally:
            self._join()

    def finish(self) -> None:
        """Stops the work and waits for its end; from a callback of the work it cannot wait."""
        self.stop()
        self._join()

    def _join(self) -> None:
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _do(self) -> None:
        try:
            result = self._work()
        except BaseException as error:
            self.set_exception(error)
        else:
            self.set_result(result)
        finally:
            _running.discard(self)
            del self._work


@atexit.register
def _end_all() -> None:
    """No thread is in the engine when the process takes it apart."""
    for task in list(_running):
        task.finish()
