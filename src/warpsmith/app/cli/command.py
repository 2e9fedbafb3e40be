"""The common part of all commands: the global options, which stand before or after a command's name, and how it starts.

    warpsmith -q port lu.c --json     =     warpsmith port lu.c -q --json

What a command prints goes to the file that -o names; commands that write several files, or a file of a certain name,
take care of it themselves (`writes`).

The table `GLOBAL_OPTIONS` is the only place where they are written down. Both groups and commands list it after their
own parameters; what is given goes to the context, where `global_options` (global_options.py) finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import click
from click.core import ParameterSource

from warpsmith import __version__
from warpsmith.app.cli.global_options import META, global_options
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.time_limit import MOST_SECONDS

__all__ = ["GLOBAL_OPTIONS", "Command", "Group"]


def _note(context: click.Context, option: click.Parameter, value: object) -> None:
    """Keep a value that was given; the option after the command's name is the later one, and wins."""
    assert option.name is not None
    if context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
        known: dict[str, object] = context.meta.setdefault(META, {})
        known[option.name] = value


def _global(*words: str, help: str, **more: object) -> click.Option:
    return click.Option(words, help=help, expose_value=False, callback=_note, **more)  # type: ignore[arg-type]


def _version(context: click.Context, _: click.Parameter, value: object) -> None:
    if value and not context.resilient_parsing:
        click.echo(f"warpsmith, version {__version__}")
        context.exit()


def _seconds(text: str) -> float:
    """Return a time that a timer can wait for."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MOST_SECONDS:
        raise click.BadParameter(f"{text!r} is no number of seconds above 0, at most {MOST_SECONDS:,}.")
    return seconds


GLOBAL_OPTIONS: Final[Sequence[click.Option]] = (
    _global("-v", "--verbose", count=True, help="Say on standard error what is done, and how long it took; -vv: more."),
    _global("-q", "--quiet", is_flag=True, help="Results and errors only: no progress, no warnings, no notes."),
    _global("--color", type=click.Choice(["auto", "always", "never"]), help="Colors (auto: on a terminal)."),
    _global("--no-progress", is_flag=True, help="No progress line (it is for terminals only)."),
    _global("--config", metavar="FILE", help="This configuration file and no other."),
    _global("--no-config", is_flag=True, help="No configuration files."),
    _global("--isolated", is_flag=True, help="No configuration files, no environment variables, no cache."),
    _global("--cache-dir", metavar="DIR", help="What is kept for later runs goes here (default ~/.cache/warpsmith)."),
    _global("--no-cache", is_flag=True, help="Keep nothing, and use nothing that was kept."),
    _global("-j", "--jobs", type=click.IntRange(0), metavar="N", help="Processes, threads; 0: as many as processors."),
    _global("--timeout", type=_seconds, metavar="S", help="Seconds for one piece of work: reading files, their loops, "
            "a kernel, a run of a program; longer: exit code 124 (default 120; survey --run: 3600)."),
    _global("-o", "--output", metavar="PATH", help="Write the results to PATH, not to standard output: a file; a "
            "folder where they are several files (port, demo)."),
    _global("--force", is_flag=True, help="Overwrite files that exist."),
    _global("--log-file", metavar="FILE", help="Append what is done, and when, to FILE."),
    _global("--json", is_flag=True, help="One JSON document on standard output, on every path."),
    _global("--exit-zero", is_flag=True, help="Exit code 0 in place of 1 (negative) and 3 (incomplete)."),
    click.Option(("-V", "--version"), is_flag=True, is_eager=True, expose_value=False, callback=_version,
                 help="Print the version and exit."),
    _global("-C", "directory", metavar="DIR", help="Run in DIR."),
)  # fmt: skip


class _WithGlobals(click.Command):
    """Lists the global options after its own parameters, in a section of their own."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return its own parameters and the global ones."""
        return [*super().get_params(ctx), *GLOBAL_OPTIONS]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write two sections, its own options and the global ones."""
        own = [p for p in self.get_params(ctx) if p not in GLOBAL_OPTIONS]
        for title, options in (("Options", own), ("Global options", list(GLOBAL_OPTIONS))):
            records = [record for option in options if (record := option.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class Command(_WithGlobals):
    """A command: runs in the folder, with the cache and the log that the global options name. `writes`: it makes files
    where -o says, and its standard output stays what it is."""

    def __init__(self, name: str | None, *, writes: bool = False, **more: Any) -> None:
        super().__init__(name, **more)
        self.writes = writes

    def invoke(self, ctx: click.Context) -> object:
        """Run the command where and with what the global options say."""
        options = global_options()
        _refuse_empty(ctx)
        # loaded here, because `warpsmith --help` must not wait for it
        from warpsmith.app.cli.surroundings import begin_command

        with begin_command(options, ctx.command_path):
            if self.writes and options.output == "-":
                message = f"{ctx.command_path} makes files: -o - has no place for them"
                raise UsageError(Finding("INP000", "error", message, help=("name a place: -o PATH",)))
            if self.writes or options.output is None:
                return super().invoke(ctx)
            from warpsmith.app.cli.destination import results_in

            return results_in(options.output, partial(super().invoke, ctx), force=options.force)


def _refuse_empty(ctx: click.Context) -> None:
    """Raise UsageError for an argument without a letter: an unset variable of a script, and never the folder here."""
    arguments = [one for one in ctx.command.params if isinstance(one, click.Argument)]
    given = [ctx.params.get(one.name or "") for one in arguments]
    # what stands behind the -- of verify
    given.append(ctx.meta.get("candidate"))
    if any(one == "" or (isinstance(one, tuple) and "" in one) for one in given):
        message = "an argument is empty: ''"
        raise UsageError(Finding("INP000", "error", message, help=("is a variable of the shell not set?",)))


class Group(_WithGlobals, click.Group):
    """A command with commands of its own."""

    command_class = Command

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that is named; without one, print the help, which is no JSON."""
        if not (ctx._protected_args or ctx.args):
            if global_options().json:
                message = f"{ctx.command_path} --json: a command is missing"
                raise UsageError(Finding("INP000", "error", message, help=(f"{ctx.command_path} -h lists them",)))
            click.echo(ctx.get_help(), color=ctx.color)
            return 0
        return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is named; the nearest one is suggested for a name that none has."""
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], names, n=1)
            help = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"no command is called {args[0]!r}.{help}")
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what stands before the command's name; nothing at all is no error."""
        self.no_args_is_help = False
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, the global ones, and the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)
