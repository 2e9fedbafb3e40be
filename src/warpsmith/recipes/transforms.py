"""Steps as options: `--transform NAME=LOOP[,key=value…]`.

tile=f/i,sizes=32:8         Tile(loop="f/i", sizes=(32, 8))      also sizes=32,8
split=f/i,at=(n + 1) / 2    Split(loop="f/i", at="(n + 1) / 2")  commas in brackets belong to the value
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.catalogue import Argument, ArgumentsError, Step, StepParameter, make, parameters, step_class
from warpsmith.recipes.listed import ListedStep

__all__ = ["example_step", "transforms"]

_FORM = "the form is NAME=LOOP or NAME=LOOP,key=value"
_KEYED = re.compile(r"\s*([A-Za-z_][A-Za-z_0-9]*)\s*=(?!=)")


def transforms(texts: tuple[str, ...]) -> tuple[ListedStep, ...]:
    """Return the steps that options name, in order; raises UsageError (STP004) where one makes no sense."""
    return tuple(ListedStep(_transform(text)) for text in texts)


def example_step(name: str, given: Mapping[str, str]) -> Step:
    """Return the step of a docstring's example; raises ArgumentsError."""
    known = {parameter.name: parameter for parameter in parameters(step_class(name))}
    return make(name, {key: _value(known.get(key), text) for key, text in given.items()})


def _transform(text: str) -> Step:
    held = text.encode("utf-8", "surrogateescape").decode("latin-1")
    name, equals, rest = held.partition("=")
    try:
        known = {parameter.name: parameter for parameter in parameters(step_class(name.strip()))}
        if not equals or not rest.strip():
            raise _error(f"--transform {held!r} names no loop", _FORM)
        given = _pieces(rest, next(iter(known)))
        return make(name.strip(), {key: _value(known.get(key), value) for key, value in given.items()})
    except ArgumentsError as error:
        found = error.findings[0]
        raise UsageError(
            Finding(found.rule, "error", f"--transform {held!r}: {found.message}", help=found.help)
        ) from error


def _pieces(text: str, first: str) -> dict[str, str]:
    """Return the values by their keys; what stands first may be without its key `first`."""
    given: dict[str, str] = {}
    last = first
    for piece in _split(text):
        keyed = _KEYED.match(piece)
        if keyed is None:
            # a list's next item
            given[last] = f"{given[last]},{piece}" if last in given else piece
            continue
        last = keyed[1]
        if last in given:
            raise _error(f"--transform gives {last} twice", _FORM)
        given[last] = piece[keyed.end() :]
    return {key: value.strip() for key, value in given.items()}


def _split(text: str) -> Iterator[str]:
    """Yield the parts between the commas that stand in no brackets."""
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth <= 0:
            yield text[start:position]
            start = position + 1
    yield text[start:]


def _value(parameter: StepParameter | None, text: str) -> Argument:
    """Return the value that a text stands for; the text itself where it is none of the parameter's type."""
    if parameter is None:
        return text
    items = tuple(item.strip() for item in re.split(r"," if "," in text else r":", text)) if text else ()
    match parameter.kind:
        case "number":
            return _number(text)
        case "flag":
            return {"true": True, "false": False}.get(text, text)
        case "texts":
            return items
        case "numbers":
            numbers = tuple(_number(item) for item in items)
            return tuple(n for n in numbers if isinstance(n, int)) if all(isinstance(n, int) for n in numbers) else text
        case "text":
            return text


def _number(text: str) -> int | str:
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,30}", text) else text


def _error(message: str, help: str) -> UsageError:
    return UsageError(Finding("STP004", "error", message, help=(help,)))
