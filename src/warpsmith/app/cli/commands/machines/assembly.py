"""`warpsmith simulate FILE.s`: a program in assembly text of GCN or AVX-512, wave by wave, with its masks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

import click

from warpsmith.app.cli.console import tell
from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.launch import usage
from warpsmith.app.cli.options import text, texts
from warpsmith.flows.assembly.simulate import AssemblyOptions, AssemblyTarget, simulate_assembly
from warpsmith.flows.clocks.simulate import read_program
from warpsmith.kernels.shape import dim_of
from warpsmith.report.masks.json import masks_json
from warpsmith.report.masks.text import masks_text

__all__ = ["SUFFIX", "run_assembly"]

SUFFIX: Final = ".s"
_OTHERS: Final = (
    "interactive",
    "breaks",
    "watches",
    "policy",
    "clocks",
    "machine",
    "heat",
    "range_",
    "engine",
    "profile",
)


def run_assembly(path: str, given: Mapping[str, object], out: Mapping[str, str]) -> int:
    """Run a program, print masks and memory, and return the exit code."""
    for name in _OTHERS:
        if given[name]:
            option = {"interactive": "-i", "breaks": "--break", "watches": "--watch"}.get(name, f"--{name.rstrip('_')}")
            raise usage(f"{option} is not for assembly text", "leave it out")
    timeline = str(given["timeline"])
    if timeline not in ("off", "ascii", "json"):
        raise usage(f"--timeline {timeline}: assembly text has ascii and json", "for example --timeline ascii")
    report = simulate_assembly(read_program(path), _options(given, out))
    tell(report.findings)
    if global_options().json or given["form"] == "json" or timeline == "json":
        click.echo(masks_json(report))
    else:
        click.echo(masks_text(report, everything=timeline == "ascii"))
    return report.exit_code


def _options(given: Mapping[str, object], out: Mapping[str, str]) -> AssemblyOptions:
    block, grid = text(given["block"]), text(given["grid"])
    return AssemblyOptions(
        target=cast("AssemblyTarget", text(given["target"]) or ""),
        kernel=str(given["kernel"]),
        block=None if block is None else dim_of(block, "--block"),
        grid=None if grid is None else dim_of(grid, "--grid"),
        arguments=texts(given["arg"]),
        shared=_number(given, "shared"),
        max_steps=max(1, _number(given, "max_steps")),
        shown=(_first(given, "blocks"), _first(given, "warps")),
        out=out,
    )


def _number(given: Mapping[str, object], name: str) -> int:
    return max(0, int(str(given[name])))


def _first(given: Mapping[str, object], name: str) -> int:
    """Return the block, or the wave, whose masks are shown."""
    said = given[name]
    if said is None:
        return 0
    if not str(said).isdecimal():
        raise usage(f"--{name} {said}: masks are shown of one wave", f"for example --{name} 0")
    return int(str(said))
