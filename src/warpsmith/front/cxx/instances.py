"""Arguments that tell a template's instances apart, in words of C++ that the template's own text can say.

    template <typename T, int N> void blur(…)         blur<float, 3>     T: float, N: 3
    template <typename T> class Image { void f() }    Image<float>::f    T: float

Invariant: where arguments are given, they are those of that instance and of no other one. Only numbers and their types
are said: another type may not be known where the template is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.front.c.context import Context
from warpsmith.front.clang import kinds
from warpsmith.tree.expressions import TemplateArgument
from warpsmith.tree.nodes import Function

__all__ = ["with_instances"]

_TYPES: Final = frozenset({
    "bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long",
    "unsigned long", "long long", "unsigned long long", "float", "double", "long double",
})  # fmt: skip
_NUMBER: Final = re.compile(r"-?\d+|true|false")
_TYPED: Final = re.compile(r"(?:typename|class)\s+(\w+)(?:\s*=.*)?", re.DOTALL)
_VALUED: Final = re.compile(r"([\w:\s]+?)\b(\w+)(?:\s*=.*)?", re.DOTALL)
_SIGNED: Final = frozenset({"int", "long", "short", "long long", "signed", "std::ptrdiff_t", "ptrdiff_t"})


class _Template(Struct, frozen=True):
    """A template in a file: its text [start, end), and its parameters: each name with the type of its values, "" for
    one that is itself a type."""

    path: str
    start: int
    end: int
    parameters: tuple[tuple[str, str], ...] | None


def with_instances(context: Context, functions: Sequence[Function]) -> Iterator[Function]:
    """Yield the functions, those that templates made with what tells them apart."""
    templates = list(_templates(context))
    for function in functions:
        path, place = function.span.file.path, function.body.span.start
        around = [t for t in templates if t.path == path and t.start <= place < t.end]
        label = function.symbol.label or function.symbol.name
        yield replace(function, instance=_instance(label, around)) if around or "<" in label else function


def _templates(context: Context) -> Iterator[_Template]:
    """Yield the templates of the user's files, from the outermost inwards."""
    table = context.table
    patterns = kinds.TEMPLATES | {kinds.FUNCTION_TEMPLATE}
    for top, number in context.dump.tops:
        text = context.text(number)
        for row in range(top, table.after[top]):
            if table.kind[row] in patterns:
                start, end = table.range(row, text.uses)
                parameters = _parameters(text.file.text[start:end])
                yield _Template(text.file.path, start, end, parameters)


def _parameters(text: str) -> tuple[tuple[str, str], ...] | None:
    """Return the names of a template's parameters, each with its type; None where one has none."""
    opened = re.match(r"template\s*<", text)
    inside = _cut_enclosed(text[opened.end() :]) if opened else None
    if inside is None:
        return None
    found: list[tuple[str, str]] = []
    for part in _split(inside):
        typed, valued = _TYPED.fullmatch(part), _VALUED.fullmatch(part)
        if "..." in part or "template" in part:
            return None
        if typed is not None:
            found.append((typed[1], ""))
        elif valued is not None and valued[1].strip():
            found.append((valued[2], " ".join(valued[1].split()).removeprefix("const ")))
        else:
            return None
    return tuple(found)


def _instance(label: str, around: Sequence[_Template]) -> tuple[TemplateArgument, ...] | None:
    """Return the arguments of the instance of this label; None where not all can be said."""
    given = [_split(inside) for inside in _arguments(label)]
    if "÷" in label or len(given) != len(around):
        return None
    found: list[TemplateArgument] = []
    for template, values in zip(around, given, strict=True):
        if template.parameters is None or len(values) != len(template.parameters):
            return None
        for (name, type), value in zip(template.parameters, values, strict=True):
            if not _can_be_said(type, value):
                return None
            found.append(TemplateArgument(name, type, value))
    return tuple(found)


def _can_be_said(type: str, value: str) -> bool:
    """Whether text can say that a parameter is this type, or has this value; clang may give a value the wrong sign."""
    if not type:
        return value in _TYPES
    return _NUMBER.fullmatch(value) is not None and (type == "bool" or not value.startswith("-") or type in _SIGNED)


def _arguments(label: str) -> Iterator[str]:
    """Yield what stands in angle brackets in a label, the outermost ones: `A<x>::f<y>` has x and y."""
    position = label.find("<")
    while position >= 0:
        inside = _cut_enclosed(label[position + 1 :])
        if inside is None:
            return
        yield inside
        position = label.find("<", position + len(inside) + 2)


def _cut_enclosed(text: str) -> str | None:
    """Return the text up to the `>` that closes what was opened before it."""
    depth = 1
    for place, letter in enumerate(text):
        depth += (letter in "<([{") - (letter in ">)]}")
        if depth == 0:
            return text[:place]
    return None


def _split(text: str) -> list[str]:
    """Return the parts between commas that no bracket encloses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "<([{") - (letter in ">)]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]
