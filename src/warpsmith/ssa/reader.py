"""The text form of the kernel IR, read: see text.py for the form."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any, get_args

from msgspec import Struct, field

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.ssa.nodes import (
    Address,
    Barrier,
    BasicBlock,
    Branch,
    Callee,
    Constant,
    Construct,
    Convert,
    Detail,
    Exchange,
    Exit,
    Fence,
    Float,
    Function,
    Instruction,
    Jump,
    Limits,
    Memory,
    Module,
    NoWrap,
    Operand,
    Param,
    Parameter,
    Phi,
    Query,
    Return,
    Space,
    Switch,
    Symbol,
    Terminator,
    Text,
    Undefined,
    Unreachable,
    Value,
)
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.types import TYPES, Type

__all__ = ["parse_module"]

_FUNCTION = re.compile(r"(kernel|function) @(.+?)\((.*?)\)(?: -> ([\w ]+?))?(?: \[(.*)\])?$")
_SYMBOL = re.compile(r"(\w+) @(\S+) (\w+) x (\d+) align (\d+)(?: = (.*))?$")
_RESULTS = re.compile(r"((?:%\S+:\w+ ?)+) = (.*)$")
_OP = re.compile(r"(\w+)(?: \[(.*)\])?((?: [^\s\]\[]+)*)$")


def parse_module(text: str) -> Module:
    """Return the module that `text` says; raises InputError with the line where it is not the text form."""
    symbols: list[Symbol] = []
    functions: list[Function] = []
    lines = _Lines(text)
    for line in lines:
        try:
            if line.split()[0] in ("kernel", "function"):
                functions.append(_Reader(lines).function(line))
            else:
                symbols.append(_symbol(line))
        except (ValueError, KeyError, AttributeError, SyntaxError, StopIteration) as error:
            raise InputError(Finding("INP001", "error", f"line {lines.number}: not the IR's text: {error}")) from error
    return Module(tuple(functions), tuple(symbols))


class _Lines:
    """The lines that are not empty, with the number of the last one read."""

    def __init__(self, text: str) -> None:
        self._lines = iter(enumerate(text.splitlines(), start=1))
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while True:
            self.number, line = next(self._lines)
            if line.strip():
                return line.strip()


def _symbol(line: str) -> Symbol:
    space, name, type, count, align, initial = _match_line(_SYMBOL, line)
    numbers = tuple(int(word, 16) for word in (initial or "").split())
    return Symbol(name, _space(space), TYPES[type], int(count), int(align), numbers)


def _match_line(pattern: re.Pattern[str], line: str) -> tuple[Any, ...]:
    found = pattern.match(line)
    if found is None:
        raise ValueError(f"{line!r} has not the form that is expected here")
    return found.groups()


def _space(word: str) -> Space:
    space: Space = next(space for space in get_args(Space) if space == word)
    return space


class _Reader(Struct):
    """Reads one function; a value that is used before it is defined (by a phi) is made by its first use."""

    lines: _Lines
    values: dict[str, Value] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)

    def function(self, line: str) -> Function:
        word, name, parameters, results, limits = _match_line(_FUNCTION, line)
        body = list(self._body())
        for text in body:
            for value, type in re.findall(r"%(\S+):(\w+)", text.partition(" = ")[0] if " = " in text else ""):
                self.values[value] = Value(TYPES[type], value)
        symbols = tuple(_symbol(text) for text in body if _SYMBOL.match(text) and text.split()[0] in get_args(Space))
        code = [text for text in body if not (_SYMBOL.match(text) and text.split()[0] in get_args(Space))]
        given = tuple(_parameter(text) for text in parameters.split(", ") if text)
        types = tuple(TYPES[word] for word in (results or "").split())
        return Function(name, word == "kernel", given, types, tuple(self._blocks(code)), symbols, _limits(limits or ""))

    def _body(self) -> Iterator[str]:
        for line in self.lines:
            if line == "end":
                return
            yield line
        raise ValueError("the function has no end")

    def _blocks(self, code: list[str]) -> Iterator[BasicBlock]:
        starts = [n for n, text in enumerate(code) if text.endswith(":") and " " not in text]
        for start, end in zip(starts, [*starts[1:], len(code)], strict=False):
            inside = code[start + 1 : end]
            phis = [text for text in inside if " = phi " in text]
            rest = [text for text in inside[:-1] if " = phi " not in text]
            yield BasicBlock(
                code[start][:-1],
                tuple(map(self._phi, phis)),
                tuple(map(self._instruction, rest)),
                self._terminator(inside[-1].split()),
            )

    def _phi(self, text: str) -> Phi:
        left, _, right = text.partition(" = phi ")
        words = right.split()
        pairs = zip(words[::2], words[1::2], strict=True)
        return Phi(self.values[left[1:].rpartition(":")[0]], tuple((b, self._operand(o)) for b, o in pairs))

    def _instruction(self, text: str) -> Instruction:
        left, right = _match_line(_RESULTS, text) if _RESULTS.match(text) else ("", text)
        op, detail, operands = _match_line(_OP, right)
        results = tuple(self.values[word[1:].rpartition(":")[0]] for word in left.split())
        made = None if detail is None else _detail(op, detail)
        return Instruction(op, tuple(map(self._operand, operands.split())), results, made)

    def _operand(self, word: str) -> Operand:
        if word.startswith("%"):
            return self.values[word[1:]]
        number, _, type = word.rpartition(":")
        return Undefined(TYPES[type]) if number == "undef" else Constant(TYPES[type], int(number, 0))

    def _terminator(self, words: list[str]) -> Terminator:
        match words:
            case ["jump", target]:
                return Jump(target)
            case ["branch", *flags, condition, then, other]:
                uniform, predicated = "uniform" in flags, "predicated" in flags
                construct: Construct = next((word for word in get_args(Construct) if word in flags), "")
                return Branch(self._operand(condition), then, other, uniform, predicated, construct=construct)
            case ["switch", *rest]:
                uniform = rest[0] == "uniform"
                value, *cases, other = rest[uniform:]
                pairs = zip(cases[::2], cases[1::2], strict=True)
                return Switch(self._operand(value), tuple((int(n), b) for n, b in pairs), other, uniform)
            case ["return", *operands]:
                return Return(tuple(map(self._operand, operands)))
            case ["exit" | "trap" as word]:
                return Exit(fails=word == "trap")
            case ["unreachable"]:
                return Unreachable()
            case _:
                raise ValueError(f"{' '.join(words)!r} ends no block")


def _parameter(text: str) -> Parameter:
    name, size, _, align, *type = text.split()
    return Parameter(name, int(size), int(align), TYPES[type[0]] if type else None)


def _limits(text: str) -> Limits:
    found = {words[0]: [int(word) for word in words[1:]] for part in text.split(", ") if (words := part.split())}
    most, least = found.get("most", [None]), found.get("least", [None])
    if "exact" not in found:
        return Limits(most[0], None, least[0])
    x, y, z = found["exact"]
    return Limits(most[0], (x, y, z), least[0])


def _detail(op: str, text: str) -> Detail:
    """Return the detail of an op from its text, by the op's shape."""
    return _DETAILS.get(OPS[op].shape, _number_detail)(op, text)


def _memory(_: str, text: str) -> Detail:
    words = text.split()
    given: dict[str, Any] = {"space": _space(words[0]), "offset": int(words[1]), "align": int(words[3])}
    rest = words[4:]
    if rest and rest[0] not in ("cached", "scope"):
        given["order"] = rest.pop(0)
    if "cached" in rest:
        place = rest.index("cached")
        given["cached"] = " ".join(rest[place + 1 : rest.index("scope") if "scope" in rest else None])
    if "scope" in rest:
        given["scope"] = rest[-1]
    return Memory(**given)


def _number_detail(op: str, text: str) -> Detail:
    if text.startswith(("'", '"')):
        return Text(ast.literal_eval(text))
    words = text.split()
    if words and set(words) <= {"nsw", "nuw"}:
        return NoWrap("nsw" in words, "nuw" in words)
    flags = {word: True for word in words if word in ("saturate", "flush", "approximate")}
    rounding: Any = next((word for word in words if word not in flags), "")
    return Convert(rounding, **flags) if OPS[op].shape == "convert" else Float(rounding, **flags)


def _barrier(_: str, text: str) -> Detail:
    kind, _, memory = text.partition(" orders ")
    words = kind.split()
    reduces: Any = words[1] if len(words) > 1 else ""
    orders: Any = memory or "all"
    return Barrier(words[0] == "waits", reduces, orders)


def _free(op: str, text: str) -> Detail:
    return Callee(text[1:]) if op == "call" else Text(ast.literal_eval(text))


def _param(_: str, text: str) -> Detail:
    name, _, rest = text.rpartition("+")
    member = rest.lstrip("0123456789")
    return Param(name, int(rest.removesuffix(member)), member)


def _fence(_: str, text: str) -> Detail:
    scope: Any = text
    return Fence(scope)


def _exchange(_: str, text: str) -> Detail:
    how, *flags = text.split()
    return Exchange(how, not flags)


_DETAILS: dict[str, Callable[[str, str], Detail]] = {
    **dict.fromkeys(("load", "store", "atomic"), _memory),
    **dict.fromkeys(("vote", "shuffle", "match", "reduce"), _exchange),
    "barrier": _barrier,
    "free": _free,
    "param": _param,
    "fence": _fence,
    "query": lambda _, text: Query(text),
    "address": lambda _, text: Address(text[1:]),
}
