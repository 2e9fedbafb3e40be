"""How every command ends: exit codes, and one JSON document on every path where `--json` was asked for.

0 done   1 a negative answer   2 usage or input   3 incomplete   70 internal error   124 time limit   130 Ctrl-C
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TextIO

import click

from warpsmith.base.errors import WarpsmithError
from warpsmith.base.findings import Finding, printable, render_finding

__all__ = [
    "EXIT_CODES",
    "INTERRUPTED",
    "TIMED_OUT",
    "exit_code",
    "is_late",
    "report_interrupted",
    "report_killed",
    "run_guarded",
]  # fmt: skip

# by the status of the report
EXIT_CODES = {"ok": 0, "negative": 1, "incomplete": 3, "error": 2}
TIMED_OUT = 124
OUT_OF_TIME = "INP009"

INTERNAL = 70
INTERRUPTED = 130


def exit_code(status: str, findings: Sequence[Finding]) -> int:
    """Return the exit code of a report: a negative answer before the time limit, that before all else."""
    return TIMED_OUT if status != "negative" and is_late(findings) else EXIT_CODES[status]


def is_late(findings: Iterable[Finding]) -> bool:
    """Whether one of the findings says that the time limit was hit."""
    return any(finding.rule == OUT_OF_TIME for finding in findings)


def run_guarded(command: click.Command, arguments: Sequence[str]) -> int:
    """Run `command` and return its exit code; whatever happens is reported in words, never as a traceback."""
    code = _run(command, arguments)
    return 0 if code in (EXIT_CODES["negative"], EXIT_CODES["incomplete"]) and _has(arguments, "--exit-zero") else code


def _run(command: click.Command, arguments: Sequence[str]) -> int:
    json = _asks_for_json(arguments)
    try:
        return _invoke(command, arguments)
    except click.ClickException as error:
        return _usage(error, arguments, json=json)
    except click.exceptions.Exit as error:
        return error.exit_code
    except WarpsmithError as error:
        return _report_findings(
            error.findings, arguments, TIMED_OUT if is_late(error.findings) else error.exit_code, json=json
        )
    except (KeyboardInterrupt, click.Abort):
        return report_interrupted(arguments)
    except BrokenPipeError:
        _let_go(sys.stdout)
        return 0
    except OSError as error:
        if error.errno not in _SURROUNDINGS and "temporary directory" not in str(error):
            return _crash(arguments, json=json)
        return _cannot_write(error, arguments, json=json)
    except Exception as error:
        if isinstance(error, UnicodeEncodeError) and not _ENCODES:
            return _cannot_encode(error, arguments, json=json)
        # what Python does while it makes a class wraps whatever comes up there
        stopped = isinstance(error.__cause__, KeyboardInterrupt)
        return report_interrupted(arguments) if stopped else _crash(arguments, json=json)


def _invoke(command: click.Command, arguments: Sequence[str]) -> int:
    """Run `command`; raises BrokenPipeError where nobody reads its output: click would end the process, with the code
    of a negative answer, and leave another object as standard output."""
    output = sys.stdout
    try:
        result = command.main(args=list(arguments), prog_name="warpsmith", standalone_mode=False)
    except SystemExit as error:
        if sys.stdout is output:
            raise
        sys.stdout = output
        raise BrokenPipeError from error
    if sys.stdout is not None:
        sys.stdout.flush()
    return result if isinstance(result, int) else 0


_SURROUNDINGS = frozenset({
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EFBIG, errno.ENAMETOOLONG,
    errno.EMFILE, errno.ENFILE, errno.EBADF, errno.ENXIO, errno.ELOOP,
})  # fmt: skip
"""What the machine refuses; it is no error of ours, whoever stumbled over it."""


def _cannot_write(error: OSError, arguments: Sequence[str], *, json: bool) -> int:
    what = str(error.filename) if error.filename else "the results"
    reason = (error.strerror or str(error)).lower()
    finding = _finding("OUT002", f"{what} cannot be read or written: {reason}", "free space, or name another place")
    if error.filename is None:  # standard output itself: no document can be written there either
        _let_go(sys.stdout)
        json = False
    return _report_findings((finding,), arguments, 2, json=json)


_ENCODES = sys.getfilesystemencoding() == "utf-8"


def _cannot_encode(error: UnicodeEncodeError, arguments: Sequence[str], *, json: bool) -> int:
    """Report that names of files cannot be written in the encoding that the environment asks for."""
    name, encoding = printable(str(error.object)), sys.getfilesystemencoding()
    finding = _finding("INP000", f"{name}: no name of a file in {encoding}", "unset PYTHONUTF8, or set it to 1")
    return _report_findings((finding,), arguments, 2, json=json)


def _let_go(stream: TextIO | None) -> None:
    """Give up a stream that takes nothing: the interpreter must not stumble over it again when it ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        assert stream is not None
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _own(arguments: Sequence[str]) -> list[str]:
    """Return the words that are ours; what stands behind `--` belongs to others."""
    return list(arguments[: arguments.index("--")] if "--" in arguments else arguments)


def _has(arguments: Sequence[str], option: str) -> bool:
    return option in _own(arguments)


def report_interrupted(arguments: Sequence[str]) -> int:
    """Say that Ctrl-C ended the command; return its exit code."""
    return _report_findings(
        (_finding("INT001", "interrupted"),), arguments, INTERRUPTED, json=_asks_for_json(arguments)
    )


def report_killed(number: int, arguments: Sequence[str]) -> int:
    """Say that a signal which nobody asked for ended the process that did the work; return the exit code."""
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    cause = "memory may be short" if number == signal.SIGKILL else "this is a bug in warpsmith, or in a library of it"
    finding = _finding("INT070", f"internal error: {name} ended the command", cause)
    return _report_findings((finding,), arguments, INTERNAL, json=_asks_for_json(arguments))


def _asks_for_json(arguments: Sequence[str]) -> bool:
    """Whether one JSON document is wanted."""
    own = _own(arguments)
    return "--json" in own or "--format=json" in own or ("--format", "json") in pairwise(own)


def _finding(rule: str, message: str, *helps: str) -> Finding:
    return Finding(rule, "error", message, help=helps)


def _usage(error: click.ClickException, arguments: Sequence[str], *, json: bool) -> int:
    context = getattr(error, "ctx", None)
    path = context.command_path if isinstance(context, click.Context) else "warpsmith"
    return _report_findings(
        (_finding("INP000", error.format_message(), f"try `{path} --help`"),), arguments, 2, json=json
    )


def _report_findings(findings: tuple[Finding, ...], arguments: Sequence[str], code: int, *, json: bool) -> int:
    try:
        for finding in findings:
            click.echo(render_finding(finding), err=True)
    except OSError:
        _let_go(sys.stderr)
    if json:
        # loaded here, because `warpsmith --help` must not wait for it
        from warpsmith.report.model import Report, Status
        from warpsmith.report.port.json import report_json

        name = next((word for word in arguments if not word.startswith("-")), "warpsmith")
        status: Status = "negative" if code == 1 else "error"
        click.echo(report_json(Report(name, (), status, findings)))
    return code


def _crash(arguments: Sequence[str], *, json: bool) -> int:
    # loaded here, because nobody else needs it
    import traceback

    from warpsmith.app.cli.crash import crash_file

    path = crash_file(arguments, traceback.format_exc())
    finding = _finding("INT070", "internal error: this is a bug in warpsmith", f"the details are in {path}")
    return _report_findings((finding,), arguments, INTERNAL, json=json)
