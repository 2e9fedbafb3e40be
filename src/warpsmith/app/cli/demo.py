"""`warpsmith demo`: a small example is written, ported, judged and explained, with the commands that do it."""

from __future__ import annotations

import contextlib
from importlib import resources
from pathlib import Path

import click

from warpsmith.app.cli.command import Command, global_options
from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.output import check_free, write_result

__all__ = ["command"]

SOURCE = "heat.c"


@click.command("demo", cls=Command)
@click.option("-o", "--output", default="warpsmith-demo", show_default=True, metavar="DIR", help="Write it below DIR.")
@click.option("--force", is_flag=True, help="Overwrite files that exist.")
def command(output: str, *, force: bool) -> int:
    """Write a small C program, port it, let the referee judge the port, and explain its kernels.

    With --json the document is that of `port`.
    """
    names = [SOURCE, *(f"gpu/{name}" for name in (SOURCE, "heat_kernels.cu", "heat_kernels.h"))]
    check_free(output, names, force=force)
    Path(output, "gpu").mkdir(parents=True, exist_ok=True)
    write_result(
        str(Path(output, SOURCE)), resources.files("warpsmith.app.cli").joinpath(f"data/{SOURCE}").read_bytes()
    )
    port = ["port", SOURCE, "-o", "gpu", *(["--force"] if force else [])]
    said = global_options()
    root = click.get_current_context().find_root().command
    quiet = ["-q"] if said.quiet else []
    with contextlib.chdir(output):
        if said.json:
            return run_guarded(root, [*port, *quiet, "--json"])
        for words in (port, ["analyze", "gpu/heat_kernels.cu", "--fail-on", "never"]):
            click.echo(f"$ cd {output} && warpsmith {' '.join(words)}")
            code = run_guarded(root, [*words, *quiet])
            click.echo()
            if code:
                return code
    click.echo(f"The example is in {output}. Next: `warpsmith port YOUR.c`, or `warpsmith explain referee`.")
    return 0
