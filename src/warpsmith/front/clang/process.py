"""Runs the worker process: one for all files, a time limit, and an answer for every file whatever happens.

A file whose answer is missing when the worker ends crashed it; the file after it gets a new worker. Between two files
the worker waits: it ends with this process, or when it is closed.
"""

from __future__ import annotations

import importlib.util
import marshal
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, Literal

from msgspec import Struct

import warpsmith
from warpsmith.base.cache import cache_folder
from warpsmith.front.clang.wire import LENGTH_BYTES, Dump, Request, decode_dump, frame_bytes, length

__all__ = ["Failed", "parse_files", "worker_command"]

_READ_BYTES = 1 << 20
_WRITE_BYTES = 1 << 16
_UNREAD = frozenset({"PYTEST_CURRENT_TEST"})
"""Environment variables that change often and that no parser reads: pytest sets its own for each test."""
_END_S = 1.0
"""How long a process that has closed its output may take to end."""


class Failed(Struct, frozen=True):
    """A file without an answer: the worker crashed on it, or the time was over."""

    why: Literal["crash", "time-out"]
    detail: str = ""


def worker_command() -> list[str]:
    """Return the command of the worker: this interpreter, without site packages, so that it starts at once."""
    package = str(Path(warpsmith.__file__).resolve().parents[1])
    start = f"import sys; sys.path.insert(0, {package!r}); from warpsmith.front.clang.worker import main; main()"
    return [sys.executable, "-I", "-S", "-c", start]


@lru_cache(maxsize=1)
def library_path() -> str:
    """Return where the libclang wheel keeps its library."""
    spec = importlib.util.find_spec("clang")
    places = spec.submodule_search_locations if spec is not None else None
    for place in places or ():
        for found in sorted(Path(place, "native").glob("libclang.*")):
            return str(found)
    return "libclang.so"


def parse_files(requests: Sequence[Request], timeout_s: float) -> list[Dump | Failed]:
    """Return one answer a request, in order; `timeout_s` is for all of them together."""
    deadline = time.monotonic() + timeout_s
    parser = _parser()
    return [parser.answer(request, deadline) for request in requests]


def _parser() -> _Parser:
    """Return the parser that is kept, where it sees what this process sees."""
    command = tuple(worker_command())
    # the kernel ends a child with the thread that started it
    if threading.current_thread() is not threading.main_thread():
        return _Parser(command)
    try:
        folder = os.getcwd()  # noqa: PTH109 - as the worker has it, whose paths start there
    except FileNotFoundError:
        return _Parser(command)
    seen = tuple((name, value) for name, value in os.environ.items() if name not in _UNREAD)
    # a copy of this process that `fork` made must not use our pipes
    return _kept_parser(os.getpid(), command, folder, seen)


@lru_cache(maxsize=1)
def _kept_parser(
    _process: int, command: tuple[str, ...], _folder: str, _environment: tuple[tuple[str, str], ...]
) -> _Parser:
    return _Parser(command)


def _headers_folder() -> str:
    """Return where precompiled headers are kept; nothing where the user has no place for them."""
    try:
        return str(cache_folder() / "headers")
    except RuntimeError:
        return ""


class _Parser:
    """A worker, started for the first question and kept for those that follow."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self._command = command
        self._worker: _Worker | None = None

    def answer(self, request: Request, deadline: float) -> Dump | Failed:
        """Return the worker's answer to a request, or why there is none."""
        if time.monotonic() >= deadline:
            return Failed("time-out")
        kept, self._worker = self._worker, None
        worker = kept if kept is not None and kept.runs() else _Worker(self._command)
        try:
            answer = decode_dump(worker.ask(marshal.dumps(request), deadline))
        except TimeoutError:
            return Failed("time-out")
        except EOFError:
            return Failed("crash", worker.why_ended())
        # one that was interrupted while it answered is not kept: the next question would get that answer
        self._worker = worker
        return answer


class _Worker:
    """A process that answers questions, each with its length before it. It ends when nothing refers to it."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0
        )
        weakref.finalize(self, _end, self._process, self._errors, os.getpid())
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        self._said = 0
        self._unsent = frame_bytes(marshal.dumps((library_path(), _headers_folder())))

    def runs(self) -> bool:
        """Whether the process waits for a question; a signal to all of a terminal's processes ends it."""
        return self._process.poll() is None

    def ask(self, question: bytes, deadline: float) -> bytes:
        """Return the answer to a question; raises TimeoutError at the deadline and EOFError where the process ends."""
        unsent, got = memoryview(self._unsent + frame_bytes(question)), bytearray()
        self._unsent, self._said = b"", os.fstat(self._errors.fileno()).st_size
        poll = select.poll()
        poll.register(self._out, select.POLLIN)
        poll.register(self._in, select.POLLOUT)
        while len(got) < LENGTH_BYTES or len(got) < LENGTH_BYTES + length(got):
            left = deadline - time.monotonic()
            ready = dict(poll.poll(max(0.0, left * 1000)))
            if not ready:
                raise TimeoutError
            if self._in in ready:
                unsent = unsent[self._write_some(unsent) :]
                if not unsent:
                    poll.unregister(self._in)
            if self._out in ready:
                read = os.read(self._out, _READ_BYTES)
                if not read:
                    raise EOFError
                got += read
        return bytes(got[LENGTH_BYTES:])

    def _write_some(self, unsent: memoryview) -> int:
        """Return how much of `unsent` the process has taken: all of it where it takes nothing more."""
        try:
            return os.write(self._in, unsent[:_WRITE_BYTES])
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            return len(unsent)

    def why_ended(self) -> str:
        """Return the last line of what the process said since the last question, else the signal that ended it."""
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        said = os.pread(self._errors.fileno(), _READ_BYTES, self._said)
        return said.decode("utf-8", "replace").strip().rpartition("\n")[2] or f"signal {-self._process.wait()}"


def _end(process: subprocess.Popen[bytes], errors: IO[bytes], owner: int) -> None:
    """End a worker; in a copy of its owner that `fork` made, only let go of it."""
    if os.getpid() == owner:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout, errors):
        assert stream is not None
        stream.close()
