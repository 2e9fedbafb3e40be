"""The processes of a survey: each has a desk of its own, a file goes to the one that has read it, answers come in any
order. One that has nothing left to do takes over files of the one with most.

What is answered does not depend on how many there are. A process that dies takes down the job that it was at: that job
is answered with None, and the rest of its files go to a new one.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from importlib import import_module
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from warpsmith.base.children import end_with_parent
from warpsmith.front.inputs import Source
from warpsmith.survey.limits import SurveyLimits
from warpsmith.tree.plain import Plain

if TYPE_CHECKING:
    from warpsmith.survey.unit import Desk

__all__ = ["Crew", "FileJob"]

BATCH = 8
"""So many files are parsed by one parser process: it takes a tenth of a second to start."""
# what takes longer than to read a file
_LONG = frozenset({"read", "analyze"})


class FileJob(Struct, frozen=True):
    """One thing to do for files; `numbers` has several only to `read`."""

    task: Literal["read", "summarize", "analyze"]
    numbers: tuple[int, ...]
    arguments: tuple[Plain, ...] = ()


class _Worker(Struct):
    process: multiprocessing.Process
    pipe: Connection
    pending: list[FileJob] = field(default_factory=list)
    at: FileJob | None = None


class Crew:
    """`jobs` processes; with one, everything runs in this process."""

    def __init__(self, limits: SurveyLimits, sources: Sequence[Source], jobs: int) -> None:
        self._limits = limits
        self._sources = sources
        self._jobs = jobs
        self._desk: Desk | None = None
        self._workers: list[_Worker | None] = [None] * jobs
        self._homes: dict[int, int] = {}
        self._ahead: FileJob | None = None

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            if worker is not None:
                worker.process.terminate()
                worker.process.join()

    def hurry(self, number: int) -> None:
        """Let the first file that must be read be read at once, while others are still looked up."""
        if self._ahead is None and self._jobs > 1:
            self._ahead = FileJob("read", (number,))
            worker = self._worker(self._home(self._ahead))
            worker.pending.append(self._ahead)
            self._next(worker)

    def read(self, numbers: Sequence[int]) -> Iterator[tuple[int, Plain]]:
        """Yield the exports of files."""
        numbers = [n for n in numbers if self._ahead is None or n not in self._ahead.numbers]
        batches = [tuple(numbers[at : at + BATCH]) for at in range(0, len(numbers), BATCH)]
        again: list[int] = []
        for job, answer in self.run([FileJob("read", batch) for batch in batches]):
            if isinstance(answer, list):
                yield from zip(job.numbers, answer, strict=True)
            else:
                again += job.numbers
        # one of a batch brought it down: each by itself
        for job, answer in self.run([FileJob("read", (number,)) for number in again]):
            yield job.numbers[0], answer[0] if isinstance(answer, list) else answer

    def run(self, jobs: Sequence[FileJob]) -> Iterator[tuple[FileJob, Plain]]:
        """Yield every job with its answer."""
        if self._jobs == 1:
            for job in jobs:
                yield job, _answer(self._own_desk(), job)
            return
        for job in jobs:
            self._worker(self._home(job)).pending.append(job)
        busy = [w for w in self._workers if w is not None and (w.at is not None or self._next(w))]
        while busy:
            ready = wait([worker.pipe for worker in busy])
            for worker in [w for w in busy if w.pipe in ready]:
                done = worker.at
                assert done is not None
                yield done, self._receive(worker)
            busy = [w for w in self._workers if w is not None and (w.at is not None or self._next(w))]

    def _own_desk(self) -> Desk:
        if self._desk is None:
            self._desk = _desk(self._limits, self._sources)
        return self._desk

    def _home(self, job: FileJob) -> int:
        """Return which process a job goes to: where its file was read before, else the next in turn."""
        known = self._homes.get(job.numbers[0])
        home = known if known is not None else len(set(self._homes.items())) // BATCH % self._jobs
        for number in job.numbers:
            self._homes.setdefault(number, home)
        return home

    def _worker(self, home: int) -> _Worker:
        worker = self._workers[home]
        if worker is None:
            ours, theirs = multiprocessing.Pipe()
            process = multiprocessing.Process(
                target=_serve, args=(theirs, os.getpid(), self._limits, self._sources), daemon=True
            )
            process.start()
            theirs.close()
            worker = self._workers[home] = _Worker(process, ours)
        return worker

    def _receive(self, worker: _Worker) -> Plain:
        """Return the answer of a worker and give it its next job; None where it died."""
        worker.at = None
        try:
            answer: Plain = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join()
            home = self._workers.index(worker)
            self._workers[home] = None
            fresh = self._worker(home)
            fresh.pending = worker.pending
            self._next(fresh)
            return None
        self._next(worker)
        return answer

    def _next(self, worker: _Worker) -> bool:
        """Give a worker its next job; whether there was one."""
        job = worker.pending.pop(0) if worker.pending else self._take_over(self._workers.index(worker))
        if job is None:
            return False
        worker.at = job
        with contextlib.suppress(OSError):  # it died: reading its answer says so
            worker.pipe.send(job)
        return True

    def _take_over(self, home: int) -> FileJob | None:
        """Return a job of the worker with most, whose files are this one's from now on; None where there is none that
        is worth reading a file once more."""
        others = [worker for worker in self._workers if worker is not None and worker.pending]
        most = max(others, key=lambda worker: len(worker.pending), default=None)
        if most is None or most.pending[-1].task not in _LONG:
            return None
        job = most.pending.pop()
        self._homes.update(dict.fromkeys(job.numbers, home))
        return job


def _desk(limits: SurveyLimits, sources: Sequence[Source]) -> Desk:
    """Return a desk; what analyzes is loaded only now, by who does it: not where all is remembered."""
    module = import_module("warpsmith.survey.unit")
    made: Desk = module.Desk(limits, sources)
    return made


def _answer(desk: Desk, job: FileJob) -> Plain:
    """Return what a desk says; where it fails, in what file the details are: the other files are served."""
    try:
        return _ask_desk(desk, job)
    except Exception:
        with tempfile.NamedTemporaryFile("w", prefix="warpsmith-crash-", suffix=".txt", delete=False) as file:
            file.write(f"survey: {job.task} {job.numbers}\n\n{traceback.format_exc()}")
        return {"crashed": file.name}


def _ask_desk(desk: Desk, job: FileJob) -> Plain:
    match job.task:
        case "read":
            return desk.read(job.numbers)
        case "summarize":
            return desk.summarize(job.numbers[0], *job.arguments)
        case "analyze":
            return desk.analyze(job.numbers[0], *job.arguments)


def _serve(pipe: Connection, parent: int, limits: SurveyLimits, sources: Sequence[Source]) -> None:
    """Answer jobs until nobody asks any more; Ctrl-C is the asker's business."""
    end_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    desk = _desk(limits, sources)
    while True:
        try:
            job: FileJob = pipe.recv()
        except EOFError:
            return
        pipe.send(_answer(desk, job))
