"""Output to standard error, questions to a person, and whether results have colors."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

import click

from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.log import write_debug
from warpsmith.base.findings import Finding, render_finding

__all__ = ["ask", "is_colored", "tell"]


def tell(findings: Iterable[Finding]) -> None:
    """Write findings to standard error; with --quiet the errors only."""
    quiet = global_options().quiet
    for finding in findings:
        rendered = render_finding(finding)
        write_debug("%s", rendered)
        if not quiet or finding.severity == "error":
            click.echo(rendered, err=True)


def is_colored() -> bool:
    """Whether text on standard output has colors: as --color says, else on a terminal that can show them, unless the
    environment says otherwise."""
    wanted = global_options().color
    if wanted != "auto":
        return wanted == "always"
    said = os.environ.get
    if said("NO_COLOR"):
        return False
    if said("FORCE_COLOR") or said("CLICOLOR_FORCE", "0") != "0":
        return True
    return sys.stdout.isatty() and said("TERM") != "dumb"


def ask() -> str | None:
    """Return the next line that is said; one that comes from a file is shown."""
    click.echo("> ", nl=False)
    said = sys.stdin.readline()
    if not sys.stdin.isatty():
        click.echo(said.rstrip("\n"))
    return said or None
