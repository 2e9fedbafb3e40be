"""`warpsmith config`: what is set, where it comes from, what can be set."""

from __future__ import annotations

import json
from pathlib import Path

import click

from warpsmith.app.cli.about.settings import settings_of
from warpsmith.app.cli.command import Group
from warpsmith.app.cli.console import tell
from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.output import check_free, write_result
from warpsmith.report.analysis.text import columns
from warpsmith.report.json_parts import document
from warpsmith.settings.model import Key, Setting, Settings, load_keys

__all__ = ["command"]

_STARTER = """\
# What warpsmith reads in this folder and below; `warpsmith config schema` lists every key.
device = ["sm_80"]
fail-on = "error"
# baseline = "warpsmith-baseline.json"
# assume = ["n % 32 == 0"]

[rules]
ignore = []

# [kernels."transpose*"]
# block = [32, 8]
# args = { n = 4096 }

# [per-file-ignores]
# "third_party/**" = ["ALL"]
"""


@click.group("config", cls=Group)
def command() -> None:
    """Show what is set and where it comes from, list the keys, or write a file to start with."""


@command.command("show")
@click.option("--origin", is_flag=True, help="Say of each key where its value comes from.")
def show(*, origin: bool) -> int:
    """Print the settings that hold here, as a warpsmith.toml would have them."""
    settings = settings_of({})
    tell(settings.findings)
    if global_options().json:
        values = {key: _plain(settings.values[key]) for key in load_keys()}
        origins = {"origins": dict(settings.origins)} if origin else {}
        kernels = {one.pattern: {"block": one.block, "grid": one.grid, "args": dict(one.args), "assume": one.assume}
                   for one in settings.kernels}  # fmt: skip
        more = {"severity": dict(settings.severity), "kernels": kernels,
                "per-file-ignores": {k: list(v) for k, v in settings.per_file_ignores.items()}}  # fmt: skip
        click.echo(json.dumps(values | more | origins, indent=2, ensure_ascii=False))
    else:
        click.echo(_toml(settings, origin=origin))
    return 0


@command.command("schema")
def schema() -> int:
    """List every key with its type, its default and its environment variable."""
    keys = list(load_keys().values())
    if global_options().json:
        rows = [
            {"name": key.name, "type": key.type, "default": _plain(key.default), "help": key.help}
            | ({"words": list(key.words)} if key.words else {})
            | ({"variable": key.variable} if key.variable else {})
            for key in keys
        ]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return 0
    rows_of_text = [(key.name, _kind(key), _value(key.default), key.variable, key.help) for key in keys]
    tables = [
        ("rules.severity", "table", "{}", "", "The severity of a rule: { MEM003 = \"note\" }."),
        ("kernels", "tables", "{}", "", "By name (\"transpose*\"): block, grid, args, assume."),
        ("per-file-ignores", "table", "{}", "", "By path (\"third_party/**\"): rules that are not reported."),
    ]  # fmt: skip
    click.echo("\n".join(columns([("key", "type", "default", "variable", "what"), *rows_of_text, *tables])))
    return 0


@command.command("init", writes=True)
def init() -> int:
    """Write a warpsmith.toml to start with into this folder, or the file that -o names."""
    said = global_options()
    path = Path(said.output or "warpsmith.toml")
    check_free(str(path.parent), [path.name], force=said.force)
    write_result(str(path), _STARTER)
    click.echo(document("config", (), {"outputs": [str(path)]}) if said.json else f"wrote {path}")
    return 0


def _plain(value: Setting) -> object:
    return list(value) if isinstance(value, tuple) else value


def _kind(key: Key) -> str:
    return " | ".join(key.words) if key.words else key.type


def _value(value: Setting) -> str:
    """Return a value as TOML has it; a basic string of TOML is one of JSON."""
    return json.dumps(_plain(value), ensure_ascii=False)


def _toml(settings: Settings, *, origin: bool) -> str:
    lines: list[str] = []
    tables: dict[str, list[str]] = {}
    for name in load_keys():
        table, _, key = name.rpartition(".")
        line = f"{key} = {_value(settings.values[name])}"
        line += f"    # {settings.origins[name]}" if origin else ""
        (tables.setdefault(table, []) if table else lines).append(line)
    if settings.severity:
        words = ", ".join(f"{code} = {json.dumps(word)}" for code, word in settings.severity.items())
        tables.setdefault("rules", []).append(f"severity = {{ {words} }}")
    for one in settings.kernels:
        rows = [f"{name} = {json.dumps(list(dim))}" for name, dim in (("block", one.block), ("grid", one.grid)) if dim]
        rows += [f"args = {{ {', '.join(f'{k} = {v}' for k, v in one.args.items())} }}"] if one.args else []
        rows += [f"assume = {json.dumps(list(one.assume))}"] if one.assume else []
        tables[f"kernels.{json.dumps(one.pattern)}"] = rows
    if settings.per_file_ignores:
        tables["per-file-ignores"] = [
            f"{json.dumps(glob)} = {json.dumps(list(codes))}" for glob, codes in settings.per_file_ignores.items()
        ]
    for table, rows in tables.items():
        lines += ["", f"[{table}]", *rows]
    return "\n".join(lines)
