"""Attributes of declarations in device code, read from the words and the line that the worker has put down.

    __shared__ float t[32]                       space shared
    extern __shared__ float t[]                  space dynamic: the launch gives its size
    __global__ __launch_bounds__(B * 2, 4) k     kernel, at most 2B threads, at least 4 blocks

An argument is an expression of constants; a name in it is asked of `constant`.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Final

from warpsmith.front.clang.wire import Mark
from warpsmith.tree.device import DeviceTraits
from warpsmith.tree.types import Space

__all__ = ["kernel_name", "place_of", "traits_of"]

_ATTRIBUTE: Final = re.compile(r"__attribute__\(\((?:\w+::)?(\w+)\(")
_ATTRIBUTES: Final = re.compile(r"__attribute__\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)")
_KERNEL: Final = re.compile(r"\s*(?:\w+\s+)*(?:__kernel|kernel)\s")
# `alignas` of CUDA is a macro of ours (mini_cuda.h)
_ALIGNED: Final = re.compile(r"\baligned\((?:warpsmith_alignment<int ?\()?(\d+)\)|\b_?[aA]lignas\((\d+)\)")
_SPACES: Final[tuple[Space, ...]] = ("shared", "constant", "managed", "global", "private", "generic")
_OPERATORS: Final[dict[type[ast.AST], Callable[[int, int], int]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv,
    ast.Mod: operator.mod, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}  # fmt: skip
_SUFFIX: Final = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b")
_LONGEST: Final = 400
Constant = Callable[[str], int | None]


def place_of(mark: Mark | None) -> tuple[Space, int]:
    """Return the memory and the alignment of a variable."""
    if mark is None:
        return "", 0
    words, text = mark
    found = _ALIGNED.findall(text)
    alignment = max((int(a or b) for a, b in found), default=0)
    if "shared" in words and text.startswith("extern"):
        return "dynamic", alignment
    for space in _SPACES:
        if space in words or (space == "global" and "device" in words):
            return space, alignment
    return "", alignment


def traits_of(mark: Mark | None, constant: Constant, *, ours: bool) -> DeviceTraits:
    """Return what a function is on a device."""
    if mark is None:
        return DeviceTraits(kernel=False, ours=ours)
    words, text = mark
    kernel = "kernel" in words or bool(_KERNEL.match(_ATTRIBUTES.sub("", text)))
    bounds = _arguments(text, "launch_bounds", constant)
    registers = _arguments(text, "maxnreg", constant)
    annotated = [word for word in words if word.startswith("maxnreg ")]
    if annotated and not registers:
        registers = [_value(annotated[0].removeprefix("maxnreg "), constant)]
    return DeviceTraits(
        kernel=kernel, host="host" in words,
        max_threads=bounds[0] if bounds else None, min_blocks=bounds[1] if len(bounds) > 1 else None,
        max_registers=registers[0] if registers else None,
        block=_shape(_arguments(text, "reqd_work_group_size", constant)),
        hint=_shape(_arguments(text, "work_group_size_hint", constant)), ours=ours,
    )  # fmt: skip


def _shape(values: list[int | None]) -> tuple[int, int, int] | None:
    if len(values) != 3 or None in values:
        return None
    return (values[0] or 0, values[1] or 0, values[2] or 0)


def _arguments(text: str, name: str, constant: Constant) -> list[int | None]:
    """Return the values of the arguments of an attribute; nothing where it is not there."""
    for found in _ATTRIBUTE.finditer(text):
        if found.group(1) == name:
            end = _closing(text, found.end())
            return [_value(word, constant) for word in _split(text[found.end() : end])]
    return []


def _closing(text: str, place: int) -> int:
    depth = 1
    for at in range(place, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
    return len(text)


def _split(text: str) -> list[str]:
    words, depth, start = list[str](), 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            words.append(text[start:at].strip())
            start = at + 1
    return [*words, text[start:].strip()]


def _value(text: str, constant: Constant) -> int | None:
    """Return the value of a constant expression of integers."""
    text = _SUFFIX.sub(r"\1", text.replace("static_cast<int>", "").replace("::", "__SCOPE__"))
    if len(text) > _LONGEST:
        return None
    try:
        return _evaluate(ast.parse(text, mode="eval").body, constant)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
        return None


def _evaluate(node: ast.expr, constant: Constant) -> int | None:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return constant(name.replace("__SCOPE__", "::"))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _evaluate(operand, constant)
            return None if inner is None else -inner
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            a, b = _evaluate(left, constant), _evaluate(right, constant)
            if a is None or b is None or (isinstance(op, ast.LShift) and not 0 <= b < 64):
                return None
            return _OPERATORS[type(op)](a, b)
        case _:
            return None


def kernel_name(name: str, mark: Mark | None) -> str:
    """Return a function's name with the arguments of its template as one writes them: `k<float, 32>`."""
    text = mark[1] if mark is not None else ""
    short = name.rpartition("::")[2]
    found = re.search(rf"\b{re.escape(short)}<", text)
    if found is None:
        return name
    depth, at = 1, found.end()
    while at < len(text) and depth:
        # of `a->b` and `>>` only the brackets of a type can stand here
        depth += (text[at] == "<") - (text[at] == ">")
        at += 1
    return name + text[found.end() - 1 : at]
