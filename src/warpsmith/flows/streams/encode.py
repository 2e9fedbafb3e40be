"""A parameter of a Brook+ kernel encoded anew: its exponent is passed where host code passes powers of two.

    kernel void f(…, float width)         { … floor(x / width) … }                     f(…, pow(2.0f, n))
    kernel void f(…, int width_exponent)  { … (float)((int)x >> width_exponent) … }    f(…, n)

The whole text comes out: the kernel (shifts.py), and each call of it in host code (powers.py).

Source: the seed document on Brook+ and AMD IL, where a width is passed as its exponent; `examples/brook/bitonic.br` has
such a width.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.c_lexer import C17, lex
from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Edit, SourceFile, Span, apply_edits
from warpsmith.flows.streams.powers import exponent_name, exponents_passed
from warpsmith.flows.streams.shifts import shifted
from warpsmith.flows.streams.values import host_error
from warpsmith.front.brook.hosts import read_host
from warpsmith.front.brook.nodes import BrookDefinition, BrookKernel, BrookParameter
from warpsmith.front.brook.read import BrookText, read_brook
from warpsmith.kernels.units import KernelFile, read_unit
from warpsmith.tree.nodes import Call, Function, Name
from warpsmith.tree.types import Scalar
from warpsmith.tree.walk import walk

__all__ = ["encode_file", "encode_parameter"]

_TYPES = ("int", "uint", "float")


class _FreeNames(Struct):
    """Names that nothing has in one function, and no function of the text."""

    taken: set[str]

    @classmethod
    def of(cls, text: BrookText, name: str) -> _FreeNames:
        one = text.definitions[name]
        words = text.words[one.first : one.last]
        return cls({*text.definitions, *(word.text for word in words), *(given.name for given in one.parameters)})

    def fresh(self, wanted: str) -> str:
        """Return a name like the one that is wanted."""
        name, number = wanted, 2
        while name in self.taken:
            name, number = f"{wanted}_{number}", number + 1
        self.taken.add(name)
        return name


def encode_file(file: KernelFile, wanted: Sequence[str]) -> KernelFile:
    """Return a file whose text passes each of `wanted` (KERNEL.PARAMETER) as its exponent; raises as
    `encode_parameter`, and UsageError where it is not of Brook+."""
    if Path(file.path).suffix.lower() != ".br":
        help = ("it takes a .br file, whose host code says what kernels get",)
        raise UsageError(Finding("INP000", "error", "--encode names a number that a kernel of Brook+ gets", help=help))
    unit = read_unit(file)
    if isinstance(unit, Finding):
        raise InputError(unit)
    source = unit.file
    for one in wanted:
        source = SourceFile(source.path, encode_parameter(source, one))
    return replace(file, text=source.text)


def encode_parameter(file: SourceFile, wanted: str) -> str:
    """Return the text of a Brook+ file with `wanted` (KERNEL.PARAMETER) passed as its exponent.

    Raises UsageError where there is no such parameter, and InputError where a call or a use does not allow it.
    """
    text = read_brook(file)
    if text.findings:
        raise InputError(*text.findings)
    kernel, parameter, at = _meant(text, wanted)
    _check_seen(text, kernel.definition)
    function = _own(text, kernel)
    exponent = _FreeNames.of(text, kernel.definition.name).fresh(exponent_name(parameter.name))
    edits = [*shifted(function, function.parameters[at], exponent), _declared(text, parameter, exponent)]
    asked: list[str] = []
    reducing = [name for name, one in text.definitions.items() if any(p.kind == "reduce" for p in one.parameters)]
    for host in _hosts(text, kernel.definition.name):
        names = _FreeNames.of(text, host.symbol.name)
        passed = exponents_passed(host, kernel.definition.name, at, reducing, names.fresh)
        edits += passed.edits
        asked += passed.asked
    edits.append(_comment(file, kernel, f"{exponent}: {parameter.name} is 2 to its power", asked))
    return apply_edits(file, sorted(edits, key=lambda one: (one.span.start, one.span.end)))


def _meant(text: BrookText, wanted: str) -> tuple[BrookKernel, BrookParameter, int]:
    kernel, _, name = wanted.partition(".")
    listed = [f"{k}.{p.name}" for k, one in text.kernels.items() for p in one.definition.parameters if _fits(p)]
    if wanted not in listed:
        helps = f"those that can be: {', '.join(listed) or 'none'}"
        raise UsageError(Finding("INP000", "error", f"'{wanted}' is no number that a kernel gets", help=(helps,)))
    made = text.kernels[kernel]
    (at,) = [at for at, one in enumerate(made.definition.parameters) if one.name == name]
    return made, made.definition.parameters[at], at


def _fits(parameter: BrookParameter) -> bool:
    type = parameter.type
    return parameter.kind == "constant" and isinstance(type, Scalar) and type.bits == 32 and not parameter.pointer


def _own(text: BrookText, kernel: BrookKernel) -> Function:
    """Return the function with the kernel's own text; raises InputError where others call it."""
    functions = [one for unit in text.program.units for one in unit.items if isinstance(one, Function)]
    launched = kernel.function.symbol
    (own,) = [one for one in functions if one.symbol.name == launched.name and one.symbol != launched]
    for other in functions:
        for node in walk(other.body):
            called = node.function if isinstance(node, Call) else None
            if isinstance(called, Name) and called.symbol == own.symbol and other.symbol != launched:
                raise host_error(node.span, f"{other.symbol.name} calls {own.symbol.name} as well")
    return own


def _hosts(text: BrookText, kernel: str) -> list[Function]:
    """Return the functions of host code that call a kernel."""
    found: list[Function] = []
    for name, one in text.definitions.items():
        words = text.words[one.first : one.last]
        if one.form == "function" and any(word.text == kernel for word in words):
            found.append(read_host(text, name).function)
    return found


def _check_seen(text: BrookText, kernel: BrookDefinition) -> None:
    """Raise InputError where the kernel is named in a part of the text that is not read: what is called there would not
    be changed with it. Macros with parameters leave no text that could be changed."""
    macro = re.search(r"^[ \t]*#[ \t]*define[ \t]+\w+\(", text.file.text, re.MULTILINE)
    if macro is not None:
        span = Span(text.file, macro.start(), macro.end())
        raise host_error(span, "texts with macros that have parameters are not encoded", "write functions")
    seen = {kernel.span.start}
    for one in text.definitions.values():
        seen |= {word.span.start for word in text.words[one.first : one.last]}
    for token in lex(text.file.text, C17):
        if token.kind == "word" and token.spelling == kernel.name and token.start not in seen:
            span = Span(text.file, token.start, token.end)
            raise host_error(span, f"{kernel.name} is named in a part of the text that is not read", "take it out")


def _declared(text: BrookText, parameter: BrookParameter, exponent: str) -> Edit:
    """Return the edit of the parameter's declaration."""
    (at,) = [at for at, word in enumerate(text.words) if word.span == parameter.span]
    type = text.words[at - 1]
    if type.span.text not in (*_TYPES, "unsigned"):
        raise host_error(type.span, f"the type of '{parameter.name}' is not written in front of it")
    return Edit(Span(type.span.file, type.span.start, parameter.span.end), f"int {exponent}")


def _comment(file: SourceFile, kernel: BrookKernel, what: str, asked: list[str]) -> Edit:
    """Return the line above the kernel that says what its parameter is, and what is asked of host code."""
    heads = [one.start() for one in re.finditer(r"\b(?:kernel|reduce)\b", file.text)]
    start = max(one for one in heads if one < kernel.definition.span.start)
    listed = ", ".join(dict.fromkeys(asked))
    text = f"// {what}" + (f"; from 0 to 30 are {listed}" if listed else "") + "\n"
    return Edit(Span(file, start, start), text)
