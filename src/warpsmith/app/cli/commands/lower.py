"""`warpsmith lower FILE --to mask`: a kernel as a program of the mask ISA."""

from __future__ import annotations

import click

from warpsmith.app.cli.about.launching import kernel_files
from warpsmith.app.cli.about.settings import settings_of
from warpsmith.app.cli.command import Command
from warpsmith.app.cli.options import compiler_options, text
from warpsmith.flows.lower import lower_kernel

__all__ = ["command"]


@click.command("lower", cls=Command)
@click.argument("path", metavar="FILE")
@click.option("--to", "target", type=click.Choice(["mask"]), required=True, help="What runs it: the mask ISA.")
@click.option("--kernel", default="", metavar="NAME", help="The kernel that is meant, where there are several.")
@click.option("--lang", type=click.Choice(["cuda", "opencl", "ptx"]), help="Language (default: by suffix).")
@compiler_options
def command(path: str, **given: object) -> int:
    """Write a kernel (CUDA, OpenCL, PTX) as a program of the mask ISA, which `simulate` runs clock by clock.

    Its first lines say which view each argument is, and which words of the launch it reads. What the ISA has not is
    refused, with the line: shared memory, barriers, atomics, 64-bit numbers.
    """
    kernel = text(given["kernel"]) or ""
    (file,) = kernel_files((path,), {**given, "kernel": (kernel,)}, settings_of({}))
    click.echo(lower_kernel(file, kernel).text, nl=False)
    return 0
