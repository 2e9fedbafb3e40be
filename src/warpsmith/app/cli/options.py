"""Options that several commands share."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeVar

import click

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.front.load import FrontOptions
from warpsmith.machine.devices import device
from warpsmith.report.words import VOCABULARIES, Speech
from warpsmith.run.verification import VerifyOptions
from warpsmith.settings.model import Settings
from warpsmith.tree.effects.file import users_effects

__all__ = [
    "chosen_device",
    "claims_option",
    "compiler_arguments",
    "compiler_options",
    "effects_option",
    "front_options",
    "parse_claims",
    "run_options",
    "speech_of",
    "text",
    "texts",
    "verify_options",
    "words_option",
]

F = TypeVar("F", bound=Callable[..., object])


def compiler_options(function: F) -> F:
    """Add -I -D -U --std, as a compiler takes them."""
    for option in (
        click.option("--std", metavar="STD", help="Language standard, as the compiler's -std (default gnu17)."),
        click.option("-U", "undefine", multiple=True, metavar="NAME", help="Undefine a macro."),
        click.option("-D", "define", multiple=True, metavar="NAME[=VALUE]", help="Define a macro."),
        click.option("-I", "include", multiple=True, metavar="DIR", help="Look for headers in DIR."),
    ):
        function = option(function)
    return function


def effects_option(function: F) -> F:
    """Add --effects, what the user says of functions whose text is not given."""
    return click.option(
        "--effects",
        multiple=True,
        metavar="FILE",
        help="What functions without source do (TOML, like warpsmith's own table).",
    )(function)


def words_option(function: F) -> F:
    """Add --words, whose words texts and pictures are in."""
    return click.option(
        "--words",
        type=click.Choice(VOCABULARIES),
        help="Whose words texts and pictures are in: warp, wavefront, sub-group or wave.",
    )(function)


def speech_of(given: Mapping[str, object], default: Speech) -> Speech:
    """Return the words that are asked for."""
    return next((Speech(one) for one in VOCABULARIES if one == given["words"]), default)


def claims_option(function: F) -> F:
    """Add --claims, what a pragma's word is worth."""
    return click.option(
        "--claims",
        type=click.Choice(["trust", "check"]),
        default="trust",
        show_default=True,
        help="OpenMP and OpenACC pragmas that can be neither proved nor refuted: believed, or not.",
    )(function)


def parse_claims(given: Mapping[str, object]) -> Literal["trust", "check"]:
    """Return what --claims says."""
    return "check" if given.get("claims") == "check" else "trust"


def compiler_arguments(given: Mapping[str, object]) -> tuple[str, ...]:
    """Return the compiler-like options among `given` as the compiler's own arguments."""
    flags = (("-I", "include"), ("-D", "define"), ("-U", "undefine"))
    arguments = [f"{flag}{value}" for flag, name in flags for value in texts(given[name])]
    std = text(given["std"])
    return tuple([*arguments, f"-std={std}"] if std else arguments)


def front_options(given: Mapping[str, object], settings: Settings) -> FrontOptions:
    """Return how C and C++ files are read: with the compiler's options, the user's effects, and in so many seconds."""
    return FrontOptions(
        arguments=compiler_arguments(given),
        effects=users_effects(texts(given.get("effects"))),
        timeout_s=settings.seconds("timeout"),
    )


def text(value: object) -> str | None:
    """Return an option that may be absent."""
    return None if value is None else str(value)


def texts(value: object) -> tuple[str, ...]:
    """Return an option that may be repeated."""
    return tuple(str(item) for item in value) if isinstance(value, tuple) else ()


def run_options(function: F) -> F:
    """Add the options that say how the referee runs the programs, on which device, and what counts as equal."""
    for option in (
        click.option(
            "--device",
            metavar="ID",
            help="GPU model: the limits of launches, and in a port the mapping (default: as is set, sm_80).",
        ),
        click.option("--seed", default=1, show_default=True, help="Seed of the schedules and of generated data."),
        click.option("--special-values", is_flag=True, help="Generated data hold NaN and infinities as well."),
        click.option("--tol", metavar="ABS,REL", help="Tolerance (default: from the original's own spread)."),
        click.option("--run-dir", metavar="DIR", help="Run in a copy of DIR."),
        click.option("--run-stdin", metavar="FILE", help="Standard input of the program."),
        click.option(
            "--run-args", default="", metavar="ARGS", help="Arguments of the program, as one shell word list."
        ),
    ):
        function = option(function)
    return function


def chosen_device(given: Mapping[str, object], settings: Settings) -> str:
    """Return the GPU model of a run or a port: the one that is named, else the first that is set."""
    return device(text(given["device"]) or settings.texts("device")[0]).name


def verify_options(given: Mapping[str, object], settings: Settings) -> VerifyOptions:
    """Return the referee's options among `given`; raises UsageError where one makes no sense."""
    absolute, relative = _tolerance(text(given["tol"]))
    stdin, directory = text(given["run_stdin"]), text(given["run_dir"])
    try:
        words = tuple(shlex.split(str(given["run_args"])))
    except ValueError as error:
        raise UsageError(Finding("INP000", "error", f"--run-args: {str(error).lower()}")) from error
    return VerifyOptions(
        run_args=words,
        run_stdin=None if stdin is None else str(_existing(stdin, "--run-stdin")),
        run_dir=None if directory is None else str(_existing(directory, "--run-dir")),
        absolute=absolute,
        relative=relative,
        seed=int(str(given["seed"])),
        special_values=bool(given["special_values"]),
        timeout_s=settings.seconds("timeout"),
        device=chosen_device(given, settings),
    )


def _existing(path: str, option: str) -> Path:
    if not Path(path).exists():
        raise UsageError(Finding("INP001", "error", f"{option}: {path} does not exist", help=("check the path",)))
    return Path(path)


def _tolerance(given: str | None) -> tuple[float | None, float | None]:
    if given is None:
        return None, None
    try:
        absolute, relative = (float(part) for part in given.split(","))
    except ValueError as error:
        message = f"--tol takes two numbers, ABS,REL; it got {given!r}"
        raise UsageError(Finding("INP000", "error", message, help=("for example --tol 1e-12,1e-9",))) from error
    if not (absolute >= 0 and relative >= 0):
        raise UsageError(Finding("INP000", "error", f"--tol takes numbers that are not negative; it got {given!r}"))
    return absolute, relative
