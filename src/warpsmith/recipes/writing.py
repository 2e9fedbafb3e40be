"""Writing a recipe: always the same bytes for the same steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from warpsmith import __version__
from warpsmith.base.source import readable
from warpsmith.catalogue import Argument, Step, arguments_of
from warpsmith.recipes.reading import FORMAT

__all__ = ["write_recipe"]

_WIDTH = 120
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def write_recipe(steps: Sequence[Step], assumptions: Iterable[str], inputs: Iterable[str]) -> str:
    """Return the recipe that applies `steps` in order: what `read_recipe` reads back. `inputs` are paths, of which the
    names are written; `assumptions` what the user asserted."""
    lines = [
        f"# written by warpsmith {__version__}; `warpsmith port --recipe THIS_FILE` replays it",
        f"recipe = {FORMAT}",
    ]
    names = [PurePath(path).name.encode("utf-8", "surrogateescape").decode("latin-1") for path in inputs]
    lines += _list("inputs", names)
    lines += _list("assume", assumptions)
    for step in steps:
        lines += ["", "[[step]]", f"name = {_value(step.name)}"]
        lines += [_entry(key, value) for key, value in arguments_of(step).items()]
    return "\n".join(lines) + "\n"


def _list(key: str, texts: Iterable[str]) -> list[str]:
    unique = tuple(dict.fromkeys(texts))
    return [_entry(key, unique)] if unique else []


def _entry(key: str, value: Argument) -> str:
    line = f"{key} = {_value(value)}"
    if len(line) <= _WIDTH or not isinstance(value, tuple):
        return line
    return "\n".join([f"{key} = [", *(f"    {_value(item)}," for item in value), "]"])


def _value(value: Argument) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return f'"{"".join(_escape(c) for c in readable(value))}"'
        case tuple():
            return f"[{', '.join(_value(item) for item in value)}]"


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return f"\\u{ord(character):04x}" if ord(character) < 0x20 or ord(character) == 0x7F else character
