"""`warpsmith demo`: a small example is written, ported, judged and explained, with the commands that do it; below it
`demo journey`."""

from __future__ import annotations

import contextlib
import shlex
from importlib import resources
from pathlib import Path

import click

from warpsmith.app.cli.about.journey import command as journey
from warpsmith.app.cli.command import Command, Group
from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.global_options import GlobalOptions, global_options
from warpsmith.app.cli.output import check_free, write_result

__all__ = ["command"]

SOURCE = "heat.c"


class _Demo(Group):
    """Without the name of a command it is the small example."""

    def invoke(self, ctx: click.Context) -> object:
        if ctx._protected_args or ctx.args:
            return super().invoke(ctx)
        return _example.invoke(ctx)


@click.group("demo", cls=_Demo, commands=[journey])
def command() -> None:
    """Write a small C program, port it, let the referee judge the port, and explain its kernels.

    All is written below the folder that -o names, warpsmith-demo where none is named. With --json the document is that
    of `port`. `demo journey` sends one kernel through everything that there is.
    """


@click.command("demo", cls=Command, writes=True)
def _example() -> int:
    """Write the example, and run the commands on it."""
    said = global_options()
    output, force = said.output or "warpsmith-demo", said.force
    names = [SOURCE, *(f"gpu/{name}" for name in (SOURCE, "heat_kernels.cu", "heat_kernels.h"))]
    check_free(output, names, force=force)
    Path(output, "gpu").mkdir(parents=True, exist_ok=True)
    write_result(
        str(Path(output, SOURCE)), resources.files("warpsmith.app.cli").joinpath(f"data/{SOURCE}").read_bytes()
    )
    port = ["port", SOURCE, "-o", "gpu", *(["--force"] if force else [])]
    root = click.get_current_context().find_root().command
    same = _keep_global_options(said)
    with contextlib.chdir(output):
        if said.json:
            return run_guarded(root, [*port, *same, "--json"])
        for words in (port, ["analyze", "gpu/heat_kernels.cu", "--fail-on", "never"]):
            click.echo(f"$ cd {shlex.quote(output)} && warpsmith {' '.join(words)}")
            code = run_guarded(root, [*words, *same])
            click.echo()
            if code:
                return code
    click.echo(f"The example is in {output}. Next: `warpsmith port YOUR.c`, or `warpsmith explain referee`.")
    return 0


def _keep_global_options(said: GlobalOptions) -> list[str]:
    """Return the global options that hold for the commands of the demo as well: log and cache are this one's."""
    flags = {"-q": said.quiet, "--no-progress": said.no_progress, "--no-config": said.no_config,
             "--isolated": said.isolated}  # fmt: skip
    values = {
        "--color": said.color if said.color != "auto" else None,
        "--config": str(Path(said.config).resolve()) if said.config else None,
        "--jobs": said.jobs,
        "--timeout": said.timeout,
    }
    given = [f"{option}={value}" for option, value in values.items() if value is not None]
    return [*(option for option, is_set in flags.items() if is_set), *given]
