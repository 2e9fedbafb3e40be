"""A page for each command: its usage, help and options, as click has them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping

import click

from generated.markdown import code, fence, literal, prose, tree
from warpsmith.app.cli.command import GLOBAL_OPTIONS
from warpsmith.app.cli.main import warpsmith

__all__ = ["pages"]


def pages() -> Mapping[str, str]:
    """Return the pages of all commands, and one of the options that every command has."""
    found = dict(_commands())
    names = sorted(name for name in found)
    index = ["# Command line", "", fence("warpsmith [OPTIONS] COMMAND [ARGUMENTS]", "text"), ""]
    index += [literal(inspect.cleandoc(warpsmith.help or "")), "", tree(f"commands/{name}" for name in names), ""]
    index += ["## Options of every command", "", "They stand before or after the command's name.", ""]
    index += [_options(GLOBAL_OPTIONS, click.Context(warpsmith)), ""]
    return {"commands.md": "\n".join(index)} | {f"commands/{name}.md": text for name, text in found.items()}


def _commands() -> Iterator[tuple[str, str]]:
    context = click.Context(warpsmith, info_name="warpsmith")
    for name in warpsmith.list_commands(context):
        command = warpsmith.get_command(context, name)
        assert command is not None
        yield name, "\n".join([f"# {name}", "", *_described(command, click.Context(command, context, name)), ""])


def _described(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the lines of one command, then those of the commands below it."""
    yield fence(f"{context.command_path} {' '.join(command.collect_usage_pieces(context))}", "text")
    yield ""
    yield literal(inspect.cleandoc(command.help or ""))
    own = [option for option in command.get_params(context) if option not in GLOBAL_OPTIONS]
    if any(_record(option, context) for option in own):
        yield from ("", "**Options**", "", _options(own, context))
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from ("", f"## {context.info_name} {name}", "")
            yield from _described(below, click.Context(below, context, name))


def _options(options: Iterable[click.Parameter], context: click.Context) -> str:
    records = (record for option in options if (record := _record(option, context)) is not None)
    return "\n\n".join(f"{code(names)}\n: {prose(' '.join(text.split()))}" for names, text in records)


def _record(option: click.Parameter, context: click.Context) -> tuple[str, str] | None:
    """Return the names and the help of an option; None where it says nothing."""
    record = option.get_help_record(context)
    return record if record is not None and record[1] else None
