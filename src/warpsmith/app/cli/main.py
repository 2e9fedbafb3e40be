"""The entry point: a literal table of commands, each loaded when it is invoked, and the only place that exits."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, NoReturn

import click

from warpsmith.app.cli.command import Group
from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.stops import defer_stops

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["main"]

COMMANDS = {
    "analyze": ("commands.analyze", "Say what GPU kernels cost and what is wrong with them."),
    "baseline": ("commands.baseline", "Write, check, prune or show findings that are known."),
    "completion": ("about.completion", "Print what lets a shell complete commands and options."),
    "config": ("about.config", "Show what is set, where it comes from, and what can be set."),
    "demo": ("about.demo", "Write a small example, port it, judge it and explain it."),
    "devices": ("about.devices", "List the GPU models and their limits."),
    "diff": ("commands.diff", "Say what changed between two reports, or two sources."),
    "doctor": ("about.doctor", "Say which tools are found and what is missing."),
    "experiment": ("commands.experiment", "Run a kernel with its width, policy, block or input varied; compare."),
    "explain": ("commands.explain", "Explain a rule (POR003), a term (divergent) or a loop (lu.c:11)."),
    "lower": ("commands.lower", "Write a kernel as text of another machine."),
    "port": ("commands.port", "Move the loops of C files to CUDA, and prove it by running."),
    "rules": ("about.rules", "List the rules about kernels."),
    "simulate": ("commands.simulate", "Run a kernel lane by lane; count branches, accesses and mistakes."),
    "steps": ("about.steps", "List the steps that rewrite or place loops, with before and after."),
    "survey": ("commands.survey", "List every loop of a project in one category, by work."),
    "verify": ("commands.verify", "Judge any candidate port: verify ORIGINAL... -- CANDIDATE..."),
}

# words that start no work: nobody has to supervise what they do
_ANSWERED_AT_ONCE = frozenset({"-h", "--help", "-V", "--version"})


class _Commands(Group):
    """The command table; `--help` loads no command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        # libraries that are stopped while they set themselves up end the process in their own words
        with defer_stops():
            command = import_module(f"warpsmith.app.cli.{COMMANDS[cmd_name][0]}").command
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return what may follow; for the names of commands none of them is loaded."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        # loaded here, because `warpsmith --help` must not wait for it
        from click.shell_completion import CompletionItem

        return [CompletionItem(name, help=text) for name, (_, text) in COMMANDS.items() if name.startswith(incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
def warpsmith() -> None:
    """Moves C loop nests to the GPU, step by step and never on trust, on a machine with no GPU.

    \b
    warpsmith port lu.c -o gpu/     verdicts, a CUDA program, and the referee's word on it
    warpsmith port --survey lu.c    verdicts only
    """


def _open_closed() -> None:
    """Put a stream that takes everything, or is at its end, where our starter has closed one (`>&-`)."""
    sys.stdin = sys.stdin or os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def main() -> None:
    """Run the command line and exit with its code; a stop ends the programs that we run as well."""
    _open_closed()
    for stream in (sys.stdout, sys.stderr):
        # a name that is no UTF-8 is shown with escapes, which JSON reads back
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if _ANSWERED_AT_ONCE.issuperset(sys.argv[1:]):
        _leave(run_guarded(warpsmith, sys.argv[1:]))
    # loaded here, because `warpsmith --help` must not wait for it
    from warpsmith.app.cli.supervise import run_supervised

    _leave(run_supervised(lambda: run_guarded(warpsmith, sys.argv[1:])))


def _leave(code: int) -> NoReturn:
    """End this process, which has put away all that lies outside its memory: to take that apart object by object takes
    as long as to make it."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        # the interpreter tells of what cannot be written
        sys.exit(code)
    os._exit(code)
