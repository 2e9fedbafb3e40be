"""Runs the worker process: one for all files, a time limit, and an answer for every file whatever happens.

A file whose answer is missing when the process ends crashed it; the files after it get a new process.
"""

from __future__ import annotations

import importlib.util
import marshal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from msgspec import Struct

import warpsmith
from warpsmith.front.clang.wire import Dump, Request, decode_dump

__all__ = ["Failed", "parse_files", "worker_command"]


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
    answers: list[Dump | Failed] = []
    deadline = time.monotonic() + timeout_s
    while len(answers) < len(requests):
        left = deadline - time.monotonic()
        if left <= 0:
            answers += [Failed("time-out")] * (len(requests) - len(answers))
            break
        got, failure = _run(requests[len(answers) :], left)
        answers += got
        if failure is not None:
            answers.append(failure)
    return answers


def _run(requests: Sequence[Request], timeout_s: float) -> tuple[list[Dump], Failed | None]:
    """Run one worker; return its answers, and the failure of the request after them if one is missing."""
    command = worker_command()
    question = marshal.dumps((library_path(), list(requests)))
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:  # pragma: no branch
        late = False
        try:
            output, errors = process.communicate(question, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            late = True
            output, errors = process.communicate()
    answers = _split(output)
    if len(answers) >= len(requests):
        return answers, None
    last = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return answers, Failed("time-out" if late else "crash", last or f"signal {-process.returncode}")


def _split(output: bytes) -> list[Dump]:
    """Return the complete answers in what the worker wrote."""
    answers: list[Dump] = []
    position = 0
    while position + 8 <= len(output):
        size = int.from_bytes(output[position : position + 8], "little")
        position += 8
        if position + size > len(output):
            break
        answers.append(decode_dump(output[position : position + size]))
        position += size
    return answers
