"""`warpsmith simulate FILE.br`: host code of Brook+ is run, each of its calls of a kernel as a launch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

import click

from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.launch import usage
from warpsmith.app.cli.options import text, texts
from warpsmith.base.errors import WarpsmithError
from warpsmith.base.source import SourceFile
from warpsmith.flows.streams.run import StreamOptions, find_host, run_host
from warpsmith.report.streams.json import streams_json
from warpsmith.report.streams.model import StreamReport
from warpsmith.report.streams.text import streams_text
from warpsmith.simt.choose import Engine

__all__ = ["find_streams", "run_streams"]

_OTHERS: Final = ("interactive", "breaks", "watches", "policy", "block", "grid", "blocks", "warps", "profile")


def find_streams(path: str, given: Mapping[str, object]) -> str:
    """Return the host function that is meant, where a file is one of Brook+ and one is; "" for any other file."""
    if Path(path).suffix.lower() != ".br" or given["lang"] is not None or not Path(path).is_file():
        return ""
    try:
        file = SourceFile.read(path)
    except OSError:
        # who reads kernels says so
        return ""
    return find_host(file, text(given["kernel"]) or "")


def run_streams(path: str, host: str, given: Mapping[str, object], out: Mapping[str, str]) -> int:
    """Run a host function, print its passes and arrays, and return the exit code."""
    for name in _OTHERS:
        if given[name]:
            option = {"interactive": "-i", "breaks": "--break", "watches": "--watch"}.get(name, f"--{name}")
            raise usage(f"{option} is not for host code", "run one kernel: --kernel NAME")
    if str(given["timeline"]) != "off":
        raise usage("--timeline is not for host code", "run one kernel: --kernel NAME")
    most = max(1, int(str(given["max_steps"])))
    options = StreamOptions(texts(given["arg"]), out, most, cast("Engine", text(given["engine"]) or ""))
    as_json = global_options().json or given["form"] == "json"
    try:
        report = run_host(SourceFile.read(path), host, options)
    except WarpsmithError as error:
        if not as_json:
            raise
        report = StreamReport(path, host, "error", error.exit_code, (), (), error.findings)
    click.echo(streams_json(report) if as_json else streams_text(report))
    return report.exit_code
