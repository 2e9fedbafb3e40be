"""`warpsmith lower FILE --to gcn`: a kernel as text of another machine, each line with the user's."""

from __future__ import annotations

from collections.abc import Mapping

import click

from warpsmith.app.cli.about.launching import kernel_files
from warpsmith.app.cli.about.settings import settings_of
from warpsmith.app.cli.command import Command
from warpsmith.app.cli.options import compiler_options, front_options, text, texts
from warpsmith.app.cli.output import write_result
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.lower import TARGETS, Target, kernel_of_loop, lower_kernel, lower_to
from warpsmith.flows.streams.encode import encode_file
from warpsmith.kernels.units import KernelFile
from warpsmith.project.command_line import language_of
from warpsmith.report.lowering.html import lowering_html
from warpsmith.report.lowering.text import lowering_text

__all__ = ["command"]

_FORMATS = ("text", "html")


@click.command("lower", cls=Command)
@click.argument("path", metavar="FILE")
@click.option(
    "--to",
    "targets",
    type=click.Choice(TARGETS),
    multiple=True,
    required=True,
    help="What runs it: mask (the mask ISA), brook (Brook+), il (AMD IL), pseudo (its operations as in C), llvm (LLVM "
    "IR), gcn, avx512, ptx, sass; may be repeated.",
)
@click.option(
    "--arch",
    "architectures",
    multiple=True,
    metavar="NAME",
    help="Which machine of a target: gfx900 (default), gfx90a, gfx942, gfx1030, gfx1100; sm_70 …; skylake-avx512 …; "
    "of il translated: streams of Brook+ lie in rows.",
)
@click.option("--kernel", default="", metavar="NAME", help="The kernel that is meant, where there are several.")
@click.option("--loop", metavar="LOOP", help="Of C and C++: the loop that is meant, FILE:LINE or FUNCTION/i/j.")
@click.option(
    "--encode",
    multiple=True,
    metavar="KERNEL.NAME",
    help="Of Brook+: this constant, a power of two wherever host code gives it, is passed as its exponent.",
)
@click.option("--lang", type=click.Choice(["cuda", "opencl", "ptx"]), help="Language (default: by suffix).")
@click.option("--format", "form", default="text", metavar="FMT[=FILE]", help="text, or html: the targets side by side.")
@compiler_options
def command(path: str, **given: object) -> int:
    """Write a kernel (CUDA, OpenCL, PTX, Brook+, AMD IL) as text of another machine, with the lines that it is of.

    Of a C or C++ file it is the kernel that its loop becomes, as `port` would write it.
    gcn, avx512, ptx and llvm are written by LLVM's back ends; sass by NVIDIA's ptxas and nvdisasm, where they are
    installed. mask is a program that `simulate` runs clock by clock: its first lines say which view each argument is,
    and which words of the launch it reads; so do those of il, a compute
    shader of AMD IL (of Brook+ a pixel shader), which `simulate` runs as well. pseudo has the operations of il, one a
    line, as C writes them. What a target has not is refused, with the line.
    """
    targets: list[Target] = [target for target in TARGETS if target in texts(given["targets"])]
    architectures, (form, place) = texts(given["architectures"]), _output(text(given["form"]) or "text")
    file, kernel = _meant(path, given)
    if targets == ["mask"] and form == "text" and not architectures:
        made = lower_kernel(file, kernel).text
    else:
        lowered = lower_to(file, kernel, targets, architectures)
        made = lowering_html(lowered) if form == "html" else lowering_text(lowered)
    if place:
        write_result(place, made)
    else:
        click.echo(made, nl=False)
    return 0


def _meant(path: str, given: Mapping[str, object]) -> tuple[KernelFile, str]:
    """Return the file with the kernel that is meant, and its name."""
    kernel, loop, settings = text(given["kernel"]) or "", text(given["loop"]) or "", settings_of({})
    encoded = texts(given["encode"])
    if not encoded and text(given["lang"]) is None and language_of(path) in ("c", "c++"):
        return kernel_of_loop(path, front_options(given, settings), loop, kernel)
    if loop:
        help = (f"leave --loop out: {path} has kernels, --kernel NAME names one",)
        raise UsageError(Finding("INP000", "error", "--loop names a loop of C or C++", help=help))
    (file,) = kernel_files((path,), {**given, "kernel": (kernel,)}, settings)
    return encode_file(file, encoded) if encoded else file, kernel


def _output(form: str) -> tuple[str, str]:
    """Return a format and the file that it goes to ("": stdout)."""
    name, _, place = form.partition("=")
    if name not in _FORMATS:
        message = f"no format is called '{name}'"
        raise UsageError(Finding("INP000", "error", message, help=(f"the formats: {', '.join(_FORMATS)}",)))
    return name, "" if place == "-" else place
