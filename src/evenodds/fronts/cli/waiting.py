"""Streams that may keep one waiting, such as a terminal or a pipe: Ctrl-C is heard all the while."""

from __future__ import annotations

import io
import os
import select
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

__all__ = ["interruptible"]


@contextmanager
def interruptible(stream: BinaryIO) -> Iterator[BinaryIO]:
    """The same stream, which ends at once when Ctrl-C is pressed, or when it is no longer wanted.

    Python raises KeyboardInterrupt in the main thread, as soon as that runs again. While Arrow reads, the main thread
    waits for Arrow's own thread, and that for the stream; so it is the stream that must end first.
    """
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        yield stream
        return
    try:
        number = stream.fileno()
    except OSError:  # a stream in memory keeps nobody waiting
        yield stream
        return
    hearing, telling = os.pipe()
    os.set_blocking(telling, False)
    before = signal.set_wakeup_fd(telling, warn_on_full_buffer=False)
    try:
        yield io.BufferedReader(_Interruptible(number, hearing))
    finally:
        signal.set_wakeup_fd(before)
        os.close(telling)


class _Interruptible(io.RawIOBase):
    """The file of this number, up to the first signal, or to the end of those who send them."""

    def __init__(self, number: int, hearing: int) -> None:
        self._number = number
        self._hearing = hearing

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Wait for either of the two."""
        ready, _, _ = select.select([self._number, self._hearing], [], [])
        if self._hearing in ready:
            return 0
        found = os.read(self._number, len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        """Not before those who read have let go of it."""
        if not self.closed:
            os.close(self._hearing)
        super().close()
