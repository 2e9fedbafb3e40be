"""`warpsmith steps`: the steps that a port or a recipe may apply."""

from __future__ import annotations

import shlex
import shutil
import textwrap

import click

from warpsmith.app.cli.command import Command
from warpsmith.app.cli.global_options import global_options
from warpsmith.catalogue import STEPS, Argument, Page, StepParameter, describe, step_class
from warpsmith.report.model import Report, StepEntry
from warpsmith.report.port.json import report_json
from warpsmith.report.port.text import table_text

__all__ = ["command", "page_text", "step_json", "step_text"]

_KINDS = {
    "text": "text",
    "number": "whole number",
    "flag": "true or false",
    "texts": "list of texts",
    "numbers": "list of whole numbers",
}
_GAP = "   "


@click.command("steps", cls=Command)
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """List the steps, or explain one: what it does, when it is legal, its parameters, and the text before and after.

    \b
    A step is applied by    warpsmith port FILE --transform NAME=LOOP,parameter=value
    or by a recipe:         warpsmith port FILE --recipe RECIPE
    """
    pages = tuple(describe(cls) for cls in STEPS) if name is None else (describe(step_class(name)),)
    if global_options().json:
        click.echo(report_json(Report("steps", (), "ok", steps=tuple(_entry(page) for page in pages))))
    elif name is None:
        click.echo(table_text([(page.name, page.title) for page in sorted(pages, key=lambda page: page.name)]))
    else:
        click.echo(page_text(pages[0], shutil.get_terminal_size((100, 24)).columns))
    return 0


def step_text(name: str) -> str:
    """Return the page of the step `name`."""
    return page_text(describe(step_class(name)), shutil.get_terminal_size((100, 24)).columns)


def step_json(name: str) -> str:
    """Return the document of the step `name`."""
    return report_json(Report("steps", (), "ok", steps=(_entry(describe(step_class(name))),)))


def page_text(page: Page, width: int) -> str:
    """Return what a step does as a page of text; before and after stand side by side where `width` columns allow."""
    lines = [
        page.name,
        "",
        *_wrap_text(page.title, width),
        *([""] if page.doc else []),
        *_wrap_text(page.doc, width),
        "",
    ]
    lines += ["parameters", table_text([(p.name, _kind(p), _default(p)) for p in page.parameters]), ""]
    shown = ",".join(f"{key}={value}" for key, value in page.example.items()).removeprefix("loop=")
    lines += [f"example   --transform {shlex.quote(f'{page.name}={shown}')}", ""]
    return "\n".join([*lines, *_example(page.before.splitlines(), page.after.splitlines(), width)])


def _example(before: list[str], after: list[str], width: int) -> list[str]:
    left = max(map(len, before))
    if left + len(_GAP) + max(map(len, after)) > width:
        return ["before", *_indent_lines(before), "after", *_indent_lines(after)]
    height = max(len(before), len(after))
    pairs = zip(before + [""] * (height - len(before)), after + [""] * (height - len(after)), strict=True)
    rows = (f"{one:<{left}}{_GAP}{other}".rstrip() for one, other in pairs)
    return [f"{'before':<{left}}{_GAP}after", *rows]


def _indent_lines(lines: list[str]) -> list[str]:
    return ["    " + line if line else "" for line in lines]


def _wrap_text(text: str, width: int) -> list[str]:
    paragraphs = [paragraph for paragraph in text.split("\n\n") if paragraph.strip()]
    lines: list[str] = []
    for number, paragraph in enumerate(paragraphs):
        plain = not any(line.startswith(" ") for line in paragraph.splitlines())
        lines += [""] if number else []
        lines += textwrap.wrap(paragraph, width) if plain else paragraph.splitlines()
    return lines


def _kind(parameter: StepParameter) -> str:
    return " | ".join(parameter.choices) if parameter.choices else _KINDS[parameter.kind]


def _default(parameter: StepParameter) -> str:
    return "must be given" if parameter.default is None else f"default {_show_value(parameter.default)}"


def _show_value(value: Argument) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case tuple():
            return ",".join(str(item) for item in value) or "(empty)"
        case _:
            return str(value) or "(empty)"


def _entry(page: Page) -> StepEntry:
    listed = tuple((p.name, p.kind, "" if p.default is None else _show_value(p.default)) for p in page.parameters)
    return StepEntry(page.name, page.title, page.doc, listed, page.example, page.before, page.after)
