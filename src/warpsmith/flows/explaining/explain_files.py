"""Many files of EXPLAIN, in one process or in several: the same results in the same order.

A process that dies takes only the file with it that it was at: what was lost with that one is done again, each file by
itself. Only what the user asked for wrongly ends the whole.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from warpsmith.base.children import end_with_parent
from warpsmith.base.errors import UsageError, WarpsmithError
from warpsmith.base.findings import Finding
from warpsmith.flows.explaining.checked_fixes import with_fixes
from warpsmith.flows.explaining.explain_file import FileResult, FileTask, explain_file

__all__ = ["explain_files"]


def explain_files(tasks: Sequence[FileTask], jobs: int) -> list[FileResult]:
    """Return the result for each file, in order, by `jobs` processes (0: as many as there are processors)."""
    wanted = min(len(tasks), jobs or os.cpu_count() or 1)
    if wanted <= 1:
        return [_explain_file(task) for task in tasks]
    found = _by_others(tasks, wanted)
    return [result or _alone(task) for task, result in zip(tasks, found, strict=True)]


def _explain_file(task: FileTask) -> FileResult:
    """Return the result for a file; an error of ours is one, too."""
    try:
        return with_fixes(task, explain_file(task))
    except UsageError:
        raise
    except WarpsmithError as error:
        return FileResult(task.wanted.path, diagnostics=[*error.findings], failed=True)
    except Exception as error:
        return _report_failure(task, type(error).__name__, traceback.format_exc())


def _alone(task: FileTask) -> FileResult:
    """Return the result for a file that another one may have taken down."""
    (result,) = _by_others([task], 1)
    return result or _report_failure(task, "the process that read it died", f"{task.wanted.path}: the process died")


def _report_failure(task: FileTask, why: str, details: str) -> FileResult:
    message = f"{task.wanted.path} cannot be analyzed: an error of warpsmith's own ({why})"
    helps = ("this is a bug in warpsmith: the other files are analyzed",)
    diagnostic = Finding("INT070", "error", message, None, helps)
    return FileResult(task.wanted.path, diagnostics=[diagnostic], failed=True, crashed=details)


def _by_others(tasks: Sequence[FileTask], jobs: int) -> list[FileResult | None]:
    """Return the results that other processes find, None for those that were lost with one that died."""
    with _pool(jobs) as pool:
        futures = [pool.submit(_explain_file, task) for task in tasks]
        found: list[FileResult | None] = []
        for future in futures:
            try:
                found.append(future.result())
            except BrokenProcessPool:
                found.append(None)
        return found


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool that is not waited for where we have to stop."""
    with ProcessPoolExecutor(jobs, initializer=_obey, initargs=(os.getpid(),)) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def _obey(parent: int) -> None:
    """Let signals end this process without a word: what to say of them is the asker's business."""
    end_with_parent(parent)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
