"""How every command ends: exit codes, and one JSON document on every path where `--json` was asked for.

0 done   1 a negative answer   2 usage or input   3 incomplete   70 internal error   124 time limit   130 Ctrl-C
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import click

from warpsmith.base.errors import WarpsmithError
from warpsmith.base.findings import Finding, render_finding

__all__ = ["EXIT_CODES", "TIMED_OUT", "crash_file", "run_guarded"]

# by the status of the report
EXIT_CODES = {"ok": 0, "negative": 1, "incomplete": 3, "error": 2}
TIMED_OUT = 124

INTERNAL = 70
INTERRUPTED = 130


def run_guarded(command: click.Command, arguments: Sequence[str]) -> int:
    """Run `command` and return its exit code; whatever happens is told in words, never as a traceback."""
    json = _asks_for_json(arguments)
    try:
        result = command.main(args=list(arguments), prog_name="warpsmith", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        return _usage(error, arguments, json=json)
    except click.exceptions.Exit as error:
        return error.exit_code
    except WarpsmithError as error:
        return _tell(error.findings, arguments, error.exit_code, json=json)
    except (KeyboardInterrupt, click.Abort):
        return _tell((_finding("INT001", "interrupted"),), arguments, INTERRUPTED, json=json)
    except BrokenPipeError:
        # the reader of our output went away: nothing is left to say, and the interpreter must not complain at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception:
        return _crash(arguments, json=json)


def _asks_for_json(arguments: Sequence[str]) -> bool:
    """Whether one JSON document is wanted; what stands behind `--` belongs to others."""
    own = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    return "--json" in own or "--format=json" in own or ("--format", "json") in pairwise(own)


def _finding(rule: str, message: str, *helps: str) -> Finding:
    return Finding(rule, "error", message, help=helps)


def _usage(error: click.ClickException, arguments: Sequence[str], *, json: bool) -> int:
    context = getattr(error, "ctx", None)
    path = context.command_path if isinstance(context, click.Context) else "warpsmith"
    return _tell((_finding("INP000", error.format_message(), f"try `{path} --help`"),), arguments, 2, json=json)


def _tell(findings: tuple[Finding, ...], arguments: Sequence[str], code: int, *, json: bool) -> int:
    for finding in findings:
        click.echo(render_finding(finding), err=True)
    if json:
        # loaded here, because `warpsmith --help` must not wait for it
        from warpsmith.report.json_form import report_json
        from warpsmith.report.model import Report, Status

        name = next((word for word in arguments if not word.startswith("-")), "warpsmith")
        status: Status = "negative" if code == 1 else "error"
        click.echo(report_json(Report(name, (), status, findings)))
    return code


def crash_file(arguments: Sequence[str], details: str) -> str:
    """Write what is known of an error of ours where it can be sent from; return the path."""
    with tempfile.NamedTemporaryFile("w", prefix="warpsmith-crash-", suffix=".txt", delete=False) as file:
        file.write(f"warpsmith {' '.join(arguments)}\nin {Path.cwd()}\n\n{details}")
    return file.name


def _crash(arguments: Sequence[str], *, json: bool) -> int:
    path = crash_file(arguments, traceback.format_exc())
    finding = _finding("INT070", "internal error: this is a bug in warpsmith", f"the details are in {path}")
    return _tell((finding,), arguments, INTERNAL, json=json)
