"""`warpsmith verify`: the referee, for any port by hand or by machine."""

from __future__ import annotations

import click
from msgspec.structs import replace

from warpsmith.app.cli.about.settings import settings_of
from warpsmith.app.cli.command import Command
from warpsmith.app.cli.failure import EXIT_CODES, TIMED_OUT
from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.options import compiler_options, front_options, run_options, verify_options
from warpsmith.app.cli.progress import watch_progress
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.verify import verify_candidate
from warpsmith.report.model import Report, Status
from warpsmith.report.port.json import report_json
from warpsmith.report.port.text import verification_text
from warpsmith.run.verification import has_timed_out

__all__ = ["command"]

_STATUS: dict[str, Status] = {
    "pass": "ok",
    "fail": "negative",
    "undecided": "incomplete",
    "skipped": "incomplete",
}


class _TwoLists(Command):
    """Keeps the `--` between the two file lists, which click would drop."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        before, after = args, list[str]()
        if "--" in args:
            cut = args.index("--")
            before, after = args[:cut], args[cut + 1 :]
        ctx.meta["candidate"] = tuple(after)
        return super().parse_args(ctx, before)


@click.command("verify", cls=_TwoLists, options_metavar="[OPTIONS] ORIGINAL... -- CANDIDATE...")
@click.argument("original", nargs=-1, metavar="")
@compiler_options
@run_options
@click.pass_context
def command(ctx: click.Context, /, original: tuple[str, ...], **given: object) -> int:
    """Judge a candidate against the original, whoever made it.

    Both are C, C++ or CUDA files, with a main or with the same functions. The candidate runs on the embedded emulation
    under hostile schedules. Exit code 0: accepted, 1: rejected, with the reason, 3: not judged, or undecided: nothing
    differs, but too little could be compared; the reasons say what would help. 124: not in time.
    """
    candidate: tuple[str, ...] = ctx.meta["candidate"]
    if not original or not candidate:
        message = "verify takes two lists of files: ORIGINAL... -- CANDIDATE..."
        raise UsageError(Finding("INP000", "error", message, help=("warpsmith verify lu.c -- lu.cu",)))
    settings = settings_of({})
    front = front_options(given, settings)
    with watch_progress() as progress:
        options = replace(verify_options(given, settings), progress=progress)
        verification = verify_candidate(original, candidate, front, options)
    status = _STATUS[verification.status]
    if global_options().json:
        click.echo(report_json(Report("verify", (*original, "--", *candidate), status, verify=verification)))
    else:
        click.echo(verification_text(verification))
    return TIMED_OUT if has_timed_out(verification) else EXIT_CODES[status]
