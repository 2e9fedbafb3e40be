"""`warpsmith simulate`: a kernel runs lane by lane, and every branch, access and mistake is counted."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from typing import Final, cast

import click
from msgspec.structs import replace

from warpsmith.app.cli.about.settings import settings_of
from warpsmith.app.cli.command import Command
from warpsmith.app.cli.commands.clocks import run_clocks
from warpsmith.app.cli.commands.machines.assembly import SUFFIX, run_assembly
from warpsmith.app.cli.commands.machines.streams import find_streams, run_streams
from warpsmith.app.cli.commands.pictures import read_timeline, write_picture
from warpsmith.app.cli.console import ask, tell
from warpsmith.app.cli.failure import TIMED_OUT, is_late
from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.launch import kernel_file, launch_of, launch_options, usage
from warpsmith.app.cli.options import speech_of, text, texts, words_option
from warpsmith.app.cli.output import refuse_dash
from warpsmith.app.cli.progress import watch_progress
from warpsmith.base.errors import WarpsmithError
from warpsmith.flows.simulate import SimulateOptions, simulate
from warpsmith.flows.stepping.step import Stepping, step
from warpsmith.report.simulation.html import simulation_html, simulation_svg
from warpsmith.report.simulation.json import simulation_json
from warpsmith.report.simulation.model import CHECKS, Check, SimulationReport
from warpsmith.report.simulation.perfetto import simulation_perfetto
from warpsmith.report.simulation.text import simulation_text
from warpsmith.report.words import NVIDIA, Speech
from warpsmith.settings.model import Settings
from warpsmith.simt.choose import Engine
from warpsmith.simt.policies.machine import POLICIES, PolicyName
from warpsmith.simt.selection import Selection

__all__ = ["command"]


@click.command("simulate", cls=Command)
@click.argument("path", metavar="FILE")
@click.option("--out", multiple=True, metavar="NAME=FILE", help="Write an array to FILE (.npy) when the run is over.")
@click.option(
    "--check", default="all", show_default=True, metavar="LIST", help="all, none, or some of race,oob,uninit,barrier."
)
@click.option(
    "--engine",
    type=click.Choice(["compiled", "interpreter"]),
    help="Who runs it: machine code, or lane by lane (default: lane by lane at first, then machine code).",
)
@click.option(
    "--profile",
    is_flag=True,
    help="Every basic block as well, those that took most first; of a .mask program every line, by lost lane clocks.",
)
@click.option(
    "--policy",
    default="",
    metavar="LIST",
    help=f"Run it under other ways to keep lanes together: all, or some of {', '.join(POLICIES)}.",
)
@click.option(
    "--caches",
    is_flag=True,
    help="Run its requests through the caches of --device: hits, and bytes that memory moves.",
)
@click.option(
    "--timeline",
    default="off",
    metavar="FORM[=FILE]",
    help="Lanes of every step: ascii, html, svg, perfetto, json; off.",
)
@click.option("--blocks", metavar="LIST", help="Count and show these blocks only: 0,3-5 (numbered along x first).")
@click.option("--warps", metavar="LIST", help="Count and show these warps of each block only.")
@click.option(
    "--break",
    "breaks",
    multiple=True,
    metavar="LINE[:COND]",
    help="Tell when a warp comes to a line, if COND holds in an active lane: --break '9:x > 5'.",
)
@click.option(
    "--watch", "watches", multiple=True, metavar="X", help="Tell when a variable or an element (out[3]) changes."
)
@click.option("-i", "interactive", is_flag=True, help="Stop there, and ask what to do; 'help' lists the commands.")
@click.option(
    "--clocks",
    is_flag=True,
    help="Run a program of the mask ISA (.mask), or a kernel as one, on a machine with clocks.",
)
@click.option(
    "--machine",
    metavar="FILE|NAME[,KEY=VALUE…]",
    help="With --clocks: the machine, a .toml file or a name (default: example), and what is to be otherwise.",
)
@click.option(
    "--target", type=click.Choice(["gcn", "avx512"]), help="Of FILE.s: whose text it is (default: by registers)."
)
@click.option("--range", "range_", metavar="FROM-TO", help="With --clocks: draw these clocks only: 100-199.")
@click.option("--heat", metavar="svg|png=FILE", help="With --clocks: draw clocks by thread, those lost beside them.")
@click.option("--pixels", metavar="WxH", help="With --heat: threads are pixels, W in a row.")
@click.option(
    "--max-clocks",
    type=click.IntRange(1),
    default=10_000_000,
    show_default=True,
    metavar="N",
    help="With --clocks: stop.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Text, or one document.")
@words_option
@launch_options
def command(path: str, **given: object) -> int:
    """Run one kernel of FILE (.cu, .cl, .ptx) without a GPU, and count what its warps do.

    \b
    Arguments   n=1024  m=n*2  x=3.5            numbers; later ones may name earlier ones
                a=zeros:f32[n]  a=const:f32[n]=2  a=iota:i32[64]
                a=rand:f32[n]:seed=1:below=64   0 up to below (1 for floats, 100 for integers)
                a=each:i32[n]=n-1-i             by a rule; a=libc:i32[n]:below=64 random() %% below
                a=empty:f32[n]                  nothing was written there yet
                a=@b.npy                        an array of numpy
                a=local:f32[64]                 for a __local parameter
                p=hex:0000803f                  the bytes of a struct
                t=texture[8,4]:rand:f32[32]     a texture object; [8,4,linear,normalized,wrap], mirror, border
    Types       f16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64

    \b
    Every lane has a program counter of its own. What is counted puts lanes of a warp together that are at
    one instruction in one iteration of every loop around it (maximal reconvergence):
      visits           how often a warp comes to a branch, once however many lanes are there
      diverged         visits in which its lanes take different ways
      lost lane slots  instructions of the warp while a lane waits, counted for the branch where that lane
                       left the others; after an early return that is all the rest of the kernel
      requests         how often a warp accesses memory, once for all lanes there
      sectors          32-byte pieces that a request touches; ideal: those that its bytes would fill
      bank conflicts   passes of shared memory beyond the first one of a request

    FILE.mask, a program of the mask ISA, runs with clocks, on a machine of --machine; its arguments are
    views: t0=iota:u32[64]  u0=zeros:f32[64]  t1=image[16,16]:checker=4  t2=image[8,8]:rand:seed=1
    With --clocks a kernel runs as the program that `lower FILE --to mask` writes, with its own arguments.
    --timeline html, svg, png or perfetto=FILE draws what each lane did in each clock, pipeline=FILE.svg
    instructions over clocks, graph=FILE.svg the control flow with clocks and lanes; -i goes through
    clocks, forward and back: states, masks, locks, ALUs ('help' lists the commands).

    FILE.s, a program of AMD's GCN as `lower FILE --to gcn` prints it or as people write it, runs wave by
    wave; the masks before each instruction of one wave are printed (--blocks 0 --warps 0: of which one).
    Without .amdhsa_kernel its arguments are scalar registers: s12=x (the block's number), s4=7,
    s[2:3]=zeros:u32[64]; v0 is the thread. A program of AVX-512 without memory is 16 lanes, with the mask
    in k1 and their numbers in zmm0 (zmm0=8: from 8 on).

    FILE.br, a text of Brook+: --kernel names a kernel (its streams are arrays, width and height say how many
    elements its out streams have), or a function of host code, which is run with all its passes (default: main).

    Instructions are those of warpsmith's kernel IR, not of a GPU; --policy counts them where lanes are kept
    together in other ways. Races are seen in the order of this run: another --seed may show more.

    \b
    Exit codes: 0 done, nothing wrong   1 a check failed   2 usage, or nothing could be read
                3 stopped early (--max-steps, or something that is not modeled)   124 out of time (--timeout)
    """
    if given["clocks"] or given["machine"] or path.endswith(".mask"):
        return run_clocks(path, given)
    if path.endswith(SUFFIX):
        return run_assembly(path, given, _files(texts(given["out"])))
    host = find_streams(path, given)
    if host:
        return run_streams(path, host, given, _files(texts(given["out"])))
    return _run_kernel(path, given)


def _run_kernel(path: str, given: Mapping[str, object]) -> int:
    """Run a kernel lane by lane."""
    as_json = global_options().json or given["form"] == "json" or given["timeline"] == "json"
    words = speech_of(given, NVIDIA)
    if given["interactive"] or given["breaks"] or given["watches"]:
        return _step(path, given)
    try:
        settings = settings_of({})
        with watch_progress() as progress:
            report = simulate(kernel_file(path, given, settings), replace(_options(given, settings), progress=progress))
    except WarpsmithError as error:
        if not as_json:
            raise
        code = TIMED_OUT if is_late(error.findings) else error.exit_code
        report = SimulationReport((path,), "error", code, error.findings)
    tell(report.diagnostics)
    form, file = read_timeline(str(given["timeline"]), _PICTURES)
    if report.timeline and form in _PICTURES:
        drawn = _PICTURES[form](report, words)
        if file is None:
            click.echo(drawn)
            return report.exit_code
        write_picture(file, drawn)
        report = replace(report, timeline=())
    width = shutil.get_terminal_size((100, 24)).columns
    rendered = simulation_json(report) if as_json else simulation_text(report, width, words)
    if rendered:
        click.echo(rendered)
    return report.exit_code


def _step(path: str, given: Mapping[str, object]) -> int:
    """Step through the kernel; what a person says comes from standard input."""
    if given["words"]:
        raise usage("--words: --break, --watch and -i speak of warps", "leave --words out")
    if global_options().json or given["form"] == "json":
        raise usage("--break, --watch and -i talk to people: they have no JSON")
    if path == "-" and given["interactive"]:
        raise usage("-i reads commands from standard input, so the kernel cannot come from there", "name a file")
    settings = settings_of({})
    asked = ask if given["interactive"] else None
    stepping = Stepping(texts(given["breaks"]), texts(given["watches"]), click.echo, asked)
    return step(kernel_file(path, given, settings), _options(given, settings), stepping)


_PICTURES: Final[Mapping[str, Callable[[SimulationReport, Speech], str]]] = {
    "html": simulation_html, "svg": simulation_svg, "perfetto": lambda report, _: simulation_perfetto(report),
}  # fmt: skip


def _options(given: Mapping[str, object], settings: Settings) -> SimulateOptions:
    return replace(
        launch_of(given, settings),
        checks=_checks(str(given["check"])),
        out=_files(texts(given["out"])),
        timeline=read_timeline(str(given["timeline"]), _PICTURES)[0] != "off",
        profile=bool(given["profile"]),
        policies=_policies(str(given["policy"])),
        caches=bool(given["caches"]),
        selection=Selection(_numbers("--blocks", given["blocks"]), _numbers("--warps", given["warps"])),
        engine=cast("Engine", text(given["engine"]) or ""),
    )


def _checks(said: str) -> tuple[Check, ...]:
    words = [word.strip() for word in said.split(",")]
    if words in (["all"], ["none"]):
        return CHECKS if words == ["all"] else ()
    for word in words:
        if word not in CHECKS:
            raise usage(f"--check: there is no check '{word}'", f"all, none, or some of {','.join(CHECKS)}")
    return tuple(check for check in CHECKS if check in words)


def _policies(said: str) -> tuple[PolicyName, ...]:
    words = [word.strip() for word in said.split(",") if word.strip()]
    if words == ["all"]:
        return POLICIES
    for word in words:
        if word not in POLICIES:
            raise usage(f"--policy: there is no policy '{word}'", f"all, or some of {', '.join(POLICIES)}")
    return tuple(policy for policy in POLICIES if policy in words)


def _numbers(option: str, said: object) -> tuple[int, ...] | None:
    """Return the numbers of a list, `0,3-5`; None where there is none."""
    if said is None:
        return None
    found: set[int] = set()
    for part in str(said).split(","):
        first, dash, last = (word.strip() for word in part.partition("-"))
        last = last if dash else first
        if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < _MOST_CHOSEN):
            raise usage(
                f"{option} takes numbers and ranges of them; it got {part.strip()!r}", f"for example {option} 0,3-5"
            )
        found.update(range(int(first), int(last) + 1))
    return tuple(sorted(found))


_MOST_CHOSEN: Final = 1 << 20


def _files(said: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in said:
        name, equals, file = one.partition("=")
        if not name or not equals or not file:
            raise usage(f"--out takes NAME=FILE; it got {one!r}", "for example --out c=c.npy")
        refuse_dash(file, f"--out {name}=FILE")
        found[name] = file
    return found
