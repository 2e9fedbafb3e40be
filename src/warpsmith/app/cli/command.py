"""The common part of all commands: the global options, which stand before or after a command's name, and how it starts.

    warpsmith -q port lu.c --json     =     warpsmith port lu.c -q --json

What a command prints goes to the file that -o names; commands that write several files, or a file of a certain name,
take care of it themselves (`writes`).

The table `GLOBAL_OPTIONS` is the only place where they are written down. Both groups and commands list it after their
own parameters; what is given goes to the context, where `global_options` finds it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, cast

import click
from click.core import ParameterSource
from msgspec import Struct

from warpsmith import __version__
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.settings.read import MOST_SECONDS

__all__ = ["GLOBAL_OPTIONS", "Command", "GlobalOptions", "Group", "global_options"]

Color = Literal["auto", "always", "never"]
_META: Final = "warpsmith.global"
_CACHE: Final = "WARPSMITH_CACHE_DIR"


class GlobalOptions(Struct, frozen=True):
    """The global options of one invocation; `directory` is where the command runs (-C), None means "not given"."""

    verbose: int = 0
    quiet: bool = False
    color: Color = "auto"
    no_progress: bool = False
    config: str | None = None
    no_config: bool = False
    isolated: bool = False
    cache_dir: str | None = None
    no_cache: bool = False
    jobs: int | None = None
    timeout: float | None = None
    output: str | None = None
    force: bool = False
    log_file: str | None = None
    json: bool = False
    exit_zero: bool = False
    directory: str | None = None


def _note(context: click.Context, option: click.Parameter, value: object) -> None:
    """Keep a value that was given; the option after the command's name is the later one, and wins."""
    assert option.name is not None
    if context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
        known: dict[str, object] = context.meta.setdefault(_META, {})
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
    _global("-j", "--jobs", type=click.IntRange(0), metavar="N", help="Processes; 0: as many as processors."),
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


def global_options() -> GlobalOptions:
    """Return the global options of the command that runs; the defaults where none runs."""
    context = click.get_current_context(silent=True)
    known = context.meta.get(_META, {}) if context is not None else {}
    return GlobalOptions(**cast("dict[str, object]", known))  # type: ignore[arg-type]


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
        with _start_command(options, ctx.command_path):
            if self.writes and options.output == "-":
                message = f"{ctx.command_path} makes files: -o - has no place for them"
                raise UsageError(Finding("INP000", "error", message, help=("name a place: -o PATH",)))
            if self.writes or options.output is None:
                return super().invoke(ctx)
            # loaded here, because `warpsmith --help` must not wait for it
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
        """Run the command that is named; without one, print the help."""
        if not (ctx._protected_args or ctx.args):
            click.echo(ctx.get_help(), color=ctx.color)
            return 0
        return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is named; the nearest one is suggested for a name that none has."""
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
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


@contextlib.contextmanager
def _start_command(options: GlobalOptions, name: str) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        stack.enter_context(_logging(options, name))
        stack.enter_context(_directory(options.directory))
        stack.enter_context(_cache(options))
        yield


class _LogFile(logging.FileHandler):
    """A log file; that it cannot be written, say on a full disk, is reported once, at the end."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name that logging calls
        """Go on without the line: what cannot be written to the file at its end says the same."""


@contextlib.contextmanager
def _logging(options: GlobalOptions, name: str) -> Iterator[None]:
    """Send what the package's logger records to standard error (-v) and to the log file."""
    logger = logging.getLogger("warpsmith")
    handlers: list[logging.Handler] = []
    file = options.log_file or (None if options.isolated else os.environ.get("WARPSMITH_LOG"))
    if file == "-":
        raise UsageError(Finding("INP000", "error", "--log-file names a file", help=("-v prints to standard error",)))
    if options.verbose:
        handlers.append(logging.StreamHandler())
        handlers[0].setFormatter(logging.Formatter("%(message)s"))
        handlers[0].setLevel(logging.DEBUG if options.verbose > 1 else logging.INFO)
    if file:
        try:
            handlers.append(_LogFile(file, encoding="utf-8", errors="backslashreplace"))
        except OSError as error:
            message = f"--log-file: {file} cannot be written: {(error.strerror or str(error)).lower()}"
            raise UsageError(Finding("OUT002", "error", message)) from error
        handlers[-1].setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    level = logger.level
    if handlers:
        logger.setLevel(logging.DEBUG)
    elif not logger.handlers:
        logger.setLevel(logging.WARNING)
        handlers = [logging.NullHandler()]
    logger.propagate = False
    for handler in handlers:
        logger.addHandler(handler)
    logger.debug("%s in %s", name, Path.cwd())
    try:
        yield
    finally:
        logger.setLevel(level)
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()


@contextlib.contextmanager
def _directory(path: str | None) -> Iterator[None]:
    if path is None:
        yield
        return
    before = Path.cwd()
    try:
        os.chdir(path)
    except OSError as error:
        message = f"-C: {path}: {(error.strerror or str(error)).lower()}"
        raise UsageError(Finding("INP001", "error", message, help=("name a folder that is there",))) from error
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def _cache(options: GlobalOptions) -> Iterator[None]:
    """Name the cache for this process and those that it starts; without one, a folder that goes away is it."""
    before = os.environ.get(_CACHE)
    with contextlib.ExitStack() as stack:
        if options.no_cache or options.isolated:
            os.environ[_CACHE] = stack.enter_context(tempfile.TemporaryDirectory(prefix="warpsmith-cache-"))
        elif options.cache_dir is not None:
            if Path(options.cache_dir).exists() and not Path(options.cache_dir).is_dir():
                message = f"--cache-dir: {options.cache_dir} is no folder"
                raise UsageError(Finding("INP001", "error", message, help=("name a folder; it is made where need be",)))
            os.environ[_CACHE] = str(Path(options.cache_dir).resolve())
        try:
            yield
        finally:
            os.environ.pop(_CACHE, None)
            if before is not None:
                os.environ[_CACHE] = before
