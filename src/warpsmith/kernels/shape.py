"""How kernels are launched, from what the user says: --block, --grid, --arg, --assume, and the configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from math import gcd
from typing import Final

from msgspec import Struct, field

from warpsmith.analysis.uniformity.facts import Dim, LaunchCall, LaunchShape, ParameterBound
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.kernels.units import Launched
from warpsmith.settings.model import Settings
from warpsmith.ssa.nodes import Function

__all__ = [
    "Launching",
    "agreed_arguments",
    "arguments_of",
    "bounds_of",
    "check_names",
    "dim_of",
    "known_arguments",
    "shape_of",
]

_FORM: Final = re.compile(
    r"(?P<name>[A-Za-z_$][\w$.]*)\s*(?:%\s*(?P<multiple>\d+)\s*==\s*0|(?P<op><=|>=|==|<|>)\s*(?P<number>-?\d+))$"
)
_TURNED: Final = re.compile(r"(?P<number>-?\d+)\s*(?P<op><=|>=|==|<|>)\s*(?P<name>[A-Za-z_$][\w$.]*)$")
_MIRROR: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "=="}


class Launching(Struct, frozen=True):
    """What the command line says of every launch."""

    block: Dim | None = None
    grid: Dim | None = None
    arguments: Mapping[str, int] = field(default_factory=dict)
    assume: tuple[str, ...] = ()
    shared_bytes: int = 0


def dim_of(text: str, option: str) -> Dim:
    """Return `X[,Y[,Z]]`; raises UsageError for anything else."""
    parts = text.replace("x", ",").split(",")
    if not 1 <= len(parts) <= 3 or not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        message = f"{option} takes one to three numbers above 0, X,Y,Z; it got {text!r}"
        raise UsageError(Finding("INP000", "error", message, help=(f"for example {option} 32,8",)))
    x, y, z = (*(int(part) for part in parts), 1, 1)[:3]
    return x, y, z


def arguments_of(texts: Iterable[str]) -> dict[str, int]:
    """Return NAME=VALUE as numbers; raises UsageError for anything else."""
    found: dict[str, int] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        try:
            found[name] = int(value, 0)
        except ValueError as error:
            message = f"--arg takes NAME=NUMBER; it got {text!r}"
            raise UsageError(Finding("INP000", "error", message, help=("for example --arg n=4096",))) from error
        if not name or not equals:
            raise UsageError(Finding("INP000", "error", f"--arg takes NAME=NUMBER; it got {text!r}"))
    return found


def bounds_of(texts: Iterable[str]) -> tuple[ParameterBound, ...]:
    """Return what `--assume` grants; raises UsageError for what is not of a form that is known.

    >>> [bound.text for bound in bounds_of(["n % 32 == 0 && n >= 64"])]
    ['n % 32 == 0', 'n >= 64']
    """
    return tuple(_parse_bound(part.strip()) for text in texts for part in re.split(r"&&|\band\b", text))


def _parse_bound(text: str) -> ParameterBound:
    found = _FORM.match(text)
    turned = _TURNED.match(text) if found is None else None
    if found is None and turned is None:
        message = f"--assume: {text!r} is not of a form that is known"
        forms = ("the forms: 'n % 32 == 0', 'n >= 64', 'n < 4096', 'n == 100', joined by &&",)
        raise UsageError(Finding("INP000", "error", message, help=forms))
    if found is not None and found["multiple"]:
        return ParameterBound(found["name"], multiple=max(1, int(found["multiple"])))
    match = found or turned
    assert match is not None
    op, number = match["op"] if found is not None else _MIRROR[match["op"]], int(match["number"])
    least = {">=": number, ">": number + 1, "==": number}.get(op)
    most = {"<=": number, "<": number - 1, "==": number}.get(op)
    return ParameterBound(match["name"], least, most)


def shape_of(
    function: Function, name: str, said: Launching, settings: Settings, launched: Launched | None = None
) -> LaunchShape:
    """Return the launch of one kernel: flags before configuration before what the file's own host code does; names
    that the kernel has no parameter for are left out."""
    row = settings.of_kernel(name)
    given = {**row.args, **said.arguments}
    arguments = {symbol: number for text, number in given.items() if (symbol := _parameter(function, text)) is not None}
    bounds = []
    for bound in bounds_of((*settings.texts("assume"), *row.assume, *said.assume)):
        symbol = _parameter(function, bound.parameter)
        if symbol is not None:
            bounds.append(ParameterBound(symbol, bound.least, bound.most, bound.multiple))
    calls = launched.calls if launched is not None and not arguments and not bounds else ()
    arguments |= agreed_arguments(calls)
    return LaunchShape(
        said.block or row.block or (launched.block if launched is not None else None),
        said.grid or row.grid or (launched.grid if launched is not None else None),
        arguments,
        (*bounds, *_bound_others(calls)),
        said.shared_bytes or (launched.shared_bytes if launched is not None else 0),
        blocks=launched.blocks if launched is not None else (),
        complete=launched is not None and launched.complete,
        calls=calls,
        flat=launched.flat if launched is not None and not (said.grid or row.grid) else (),
    )  # fmt: skip


def known_arguments(calls: Sequence[LaunchCall]) -> dict[str, frozenset[int]]:
    """Return what scalar parameters may be in any of the launches."""
    names = calls[0].numbers if calls else ()
    return {name: frozenset(n for call in calls for n in call.numbers[name]) for name in names}


def agreed_arguments(calls: Sequence[LaunchCall]) -> dict[str, int]:
    """Return the numbers that are the same in all launches."""
    return {name: min(numbers) for name, numbers in known_arguments(calls).items() if len(numbers) == 1}


def _bound_others(calls: Sequence[LaunchCall]) -> Iterator[ParameterBound]:
    for name, numbers in known_arguments(calls).items():
        if len(numbers) > 1:
            yield ParameterBound(name, min(numbers), max(numbers), max(1, gcd(*numbers)))


def _parameter(function: Function, text: str) -> str | None:
    """Return the parameter that a name means: its own, or its place (`2`, `param_2`): PTX has no names."""
    names = [parameter.name for parameter in function.parameters]
    if text in names:
        return text
    place = text.removeprefix("param_")
    return names[int(place)] if place.isdecimal() and int(place) < len(names) else None


def check_names(said: Launching, known: Sequence[str]) -> None:
    """Raise UsageError where --arg or --assume names a parameter that no kernel has; `known` are all there are."""
    for name in [*said.arguments, *(bound.parameter for bound in bounds_of(said.assume))]:
        if known and name not in known and not name.removeprefix("param_").isdecimal():
            near = get_close_matches(name, known, n=1)
            help = f"did you mean '{near[0]}'?" if near else f"the parameters: {', '.join(known) or 'none'}"
            raise UsageError(Finding("INP000", "error", f"no kernel has a parameter called '{name}'", help=(help,)))
