"""A caller for functions of a program that has no `main`: the same text is appended to the original and the candidate.

    file.c                          file.c, as built here
    void f(int n, double *x)        void f(int n, double *x) { … }
    { … }                           void ws_harness_0(void)
                                    {
                                        if (ws_harness_begin("f(n = 67)", 2, 0)) {
                                            int n = 67;
                                            … a buffer of the extent that the analysis found, guards around it …
                                            f(n, x); … every buffer, the result and the globals are logged …

The text goes into the file that defines the function, so static functions, its types and its macros are in reach.
Extents are expressions of the original; the original's first run computes them, the candidate is given the numbers.

Limits: arguments are made for integers, floating-point numbers and pointers (or arrays) of those. Any other parameter
makes the function uncallable, with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import resources

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.c_lexer import TEXTS, lex
from warpsmith.emit.files import OutputFile
from warpsmith.run.verification import HarnessFunction, Sources, VerifyOptions
from warpsmith.tree.nodes import Expr, Literal
from warpsmith.tree.printing.printer import print_expr, print_type
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.types import (
    Array,
    Pointer,
    Record,
    Scalar,
    Symbol,
    Type,
    element_type,
    is_float,
    is_integer,
    padding_of,
)
from warpsmith.tree.walk import names

__all__ = ["HarnessCall", "HarnessPlan", "add_harness", "defines", "plan_harness", "strip_text"]

_DISTINCT = (67, 47, 33, 29, 18, 11)
_SINGLE = 33
_FLOATS = ("1.25", "-0.75", "2.5", "0.375", "-1.5")


class HarnessCall(Struct, frozen=True):
    """One call: `sizes` gives the integer parameters and globals their values; `overlap`: two pointers share memory."""

    number: int
    label: str
    function: HarnessFunction
    sizes: Mapping[Symbol, int]
    special: bool = False
    overlap: tuple[Symbol, Symbol] | None = None


class HarnessPlan(Struct, frozen=True):
    """The calls to make, and why the other functions cannot be called."""

    cases: tuple[HarnessCall, ...]
    skipped: tuple[tuple[HarnessFunction, str], ...]
    globals: tuple[Symbol, ...]


class _Known(Struct, frozen=True):
    globals: tuple[Symbol, ...]
    counts: Mapping[tuple[str, str], int] | None


def plan_harness(functions: tuple[HarnessFunction, ...], options: VerifyOptions) -> HarnessPlan:
    """Return the calls for `functions`."""
    cases: list[HarnessCall] = []
    skipped: list[tuple[HarnessFunction, str]] = []
    for function in functions:
        reason = _uncallable(function)
        if reason is not None:
            skipped.append((function, reason))
            continue
        for case in _cases(function, options):
            cases.append(replace(case, number=len(cases)))
    return HarnessPlan(tuple(cases), tuple(skipped), _globals(functions))


def strip_text(text: str) -> str:
    """Return C text without comments, line splices, and what stands in strings and character constants."""
    return "".join(" " if t.kind == "comment" else '""' if t.kind in TEXTS else t.spelling for t in lex(text))


# `noexcept`, an attribute, or the parameters' declarations of a definition in the old style: `int argc; char **argv;`
_BEFORE_BODY = re.compile(r"(noexcept|try|__attribute__\s*\(\(.*?\)\)|(?:\w[\w\s*,\[\]]*;\s*)+)\s*\{", re.DOTALL)


def defines(text: str, name: str) -> bool:
    """Whether stripped C text defines the function `name`."""
    head = re.compile(rf"(?<![\w$]){re.escape(name)}\s*\(")
    return any(_opens_body(text, match.end()) for match in head.finditer(text))


def _opens_body(text: str, after: int) -> bool:
    depth = 1
    position = after
    while position < len(text) and depth:
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
    rest = text[position : position + 400].lstrip()
    return rest.startswith("{") or bool(_BEFORE_BODY.match(rest))


def add_harness(sources: Sources, plan: HarnessPlan, counts: Mapping[tuple[str, str], int] | None) -> Sources | str:
    """Return `sources` with the callers appended and a main added; `counts` has the buffers' extents by (case, name)
    where the original has computed them. Returns a sentence where a function is not defined in `sources`."""
    homes: dict[int, list[HarnessCall]] = {}
    stripped = [strip_text(file.text) for file in sources.files]
    for case in plan.cases:
        name = case.function.function.symbol.name
        home = _home(sources, stripped, case)
        if home is None:
            return f"it does not define the function {name}, which the original defines"
        homes.setdefault(home, []).append(case)
    files = [
        replace(file, text=_with_callers(file.text, stripped[index], index, homes[index], _Known(plan.globals, counts)))
        if index in homes
        else file
        for index, file in enumerate(sources.files)
    ]
    return replace(sources, files=(*files, OutputFile("ws_harness_main.c", _main(sorted(homes)))))


def _home(sources: Sources, stripped: list[str], case: HarnessCall) -> int | None:
    name = case.function.function.symbol.name
    own = case.function.function.span.file.path
    found = [i for i, text in enumerate(stripped) if defines(text, name) and not _header(sources.files[i])]
    same_name = [i for i in found if own.endswith(sources.files[i].path)]
    return next(iter([*same_name, *found]), None)


def _header(file: OutputFile) -> bool:
    return file.path.rpartition(".")[2].lower() in ("h", "hh", "hpp", "hxx", "cuh")


def _main(homes: list[int]) -> str:
    declared = "".join(f"void ws_harness_{home}(void);\n" for home in homes)
    called = "".join(f"    ws_harness_{home}();\n" for home in homes)
    log = "void ws_log_mark(const char *, const char *, long long);\n"
    return f'{declared}{log}int main(void)\n{{\n{called}    ws_log_mark("end", "of all", 0);\n    return 0;\n}}\n'


# --- what can be called, and with which sizes


def _uncallable(function: HarnessFunction) -> str | None:
    used = {name.symbol for name in names(function.function.body)}
    for parameter in function.function.parameters:
        if not parameter.name:
            return "it has a parameter without a name"
        if is_integer(parameter.type) or is_float(parameter.type):
            continue
        if not isinstance(parameter.type, Pointer | Array) or not _fillable(element_type(parameter.type)):
            return f"cannot make an argument of type {print_type(parameter.type)} for {parameter.name}"
        if parameter in used and parameter not in function.extents:
            return f"cannot tell how many elements {parameter.name} must have"
    for symbol in function.extents:
        if isinstance(symbol.type, Pointer) and not _fillable(element_type(symbol.type)):
            return f"cannot make what {symbol.name} points to"
    unbounded = sorted(
        s.name for s in used if _is_global(s) and isinstance(s.type, Pointer) and s not in function.extents
    )
    return f"cannot tell how many elements {unbounded[0]} must have" if unbounded else None


def _plain(type: Type) -> bool:
    return is_integer(type) or is_float(type)


def _fillable(type: Type) -> bool:
    """Whether data can be made: numbers, and structs of numbers."""
    if isinstance(type, Array):
        return type.count is not None and _fillable(type.of)
    if isinstance(type, Record):
        return bool(type.fields) and not type.union and all(_fillable(f.type) for f in type.fields)
    return _plain(type)


def _members(type: Type, offset: int = 0) -> Iterator[tuple[int, Scalar]]:
    """Yield the numbers of a struct with their offsets in bytes; nothing for a number."""
    if isinstance(type, Record):
        for part in type.fields:
            if isinstance(part.type, Scalar):
                yield offset + part.offset, part.type
            yield from _members(part.type, offset + part.offset)
    elif isinstance(type, Array) and type.count is not None:
        for index in range(type.count):
            at = offset + index * _bytes(type.of)
            if isinstance(type.of, Scalar):
                yield at, type.of
            yield from _members(type.of, at)


def _bytes(type: Type) -> int:
    if isinstance(type, Record):
        return type.bytes
    if isinstance(type, Array):
        return (type.count or 0) * _bytes(type.of)
    return max(1, type.bits // 8) if isinstance(type, Scalar) else 8


def _is_global(symbol: Symbol) -> bool:
    return symbol.storage in ("global", "static")


def _size_symbols(function: HarnessFunction) -> tuple[Symbol, ...]:
    """Return the integers that give the problem its size: parameters, given by their address as well (as Fortran gives
    them), and globals that an extent names."""
    named = {name.symbol for extent in function.extents.values() for name in names(extent)}
    own = [p for p in function.function.parameters if is_integer(p.type) or (p in named and _by_address(p.type))]
    outside = sorted((s for s in named if _is_global(s) and _settable(s)), key=lambda s: s.name)
    return (*own, *outside)


def _by_address(type: Type) -> bool:
    """Whether a parameter is the address of an integer."""
    return isinstance(type, Pointer) and is_integer(type.to) and not type.reference


def _settable(symbol: Symbol) -> bool:
    return isinstance(symbol.type, Scalar) and is_integer(symbol.type) and not symbol.type.const


def _cases(function: HarnessFunction, options: VerifyOptions) -> Iterator[HarnessCall]:
    sizes = _size_symbols(function)
    largest = max(options.sizes, default=_SINGLE)
    if not sizes:
        yield _case(function, {})
    else:
        for size in options.sizes:
            yield _case(function, dict.fromkeys(sizes, size))
        for values in _distinct(len(sizes)):
            yield _case(function, dict(zip(sizes, values, strict=True)))
    if options.special_values:
        yield replace(_case(function, dict.fromkeys(sizes, largest), "with NaN and infinities"), special=True)
    pair = _may_overlap(function)
    if pair is not None:
        note = f"{pair[0].name} and {pair[1].name} overlap"
        yield replace(_case(function, dict.fromkeys(sizes, largest), note), overlap=pair)


def _distinct(count: int) -> list[tuple[int, ...]]:
    """Return sets of sizes that are all different: descending and ascending, so that a width that must not be less
    than another one is right in one of them."""
    if count == 1:
        return [(_SINGLE,)]
    descending = tuple(_DISTINCT[i] if i < len(_DISTINCT) else 3 + i for i in range(count))
    return [descending, tuple(reversed(descending))]


def _case(function: HarnessFunction, sizes: Mapping[Symbol, int], note: str = "") -> HarnessCall:
    sized = [f"{symbol.name} = {value}" for symbol, value in sizes.items()]
    inner = ", ".join([*sized, *([note] if note else [])])
    return HarnessCall(0, f"{function.function.symbol.name}({inner})", function, sizes)


def _may_overlap(function: HarnessFunction) -> tuple[Symbol, Symbol] | None:
    """Return two pointer parameters of one element type that C lets overlap."""
    pointers = [p for p in function.function.parameters if p in function.extents and isinstance(p.type, Pointer)]
    sizes = _size_symbols(function)
    free = [p for p in pointers if isinstance(p.type, Pointer) and not p.type.restrict and p not in sizes]
    for i, first in enumerate(free):
        for second in free[i + 1 :]:
            if element_type(first.type) == element_type(second.type):
                return first, second
    return None


def _globals(functions: tuple[HarnessFunction, ...]) -> tuple[Symbol, ...]:
    found = {n.symbol for f in functions for n in names(f.function.body) if _is_global(n.symbol)}
    return tuple(sorted(found, key=lambda s: s.key))


# --- the text


def _with_callers(text: str, stripped: str, index: int, cases: list[HarnessCall], known: _Known) -> str:
    words = identifiers(stripped)
    reachable = [s for s in known.globals if s.name in words]
    body = "".join(_call(case, reachable, known.counts) for case in cases)
    declared = (resources.files("warpsmith.run") / "capture" / "ws_harness.h").read_text("utf-8")
    return f"{text}\n\n{declared}WS_EXTERN void ws_harness_{index}(void)\n{{\n{body}}}\n"


def _call(case: HarnessCall, reachable: list[Symbol], counts: Mapping[tuple[str, str], int] | None) -> str:
    function = case.function.function
    lines = [f'if (ws_harness_begin("{case.label}", {case.number}, {int(case.special)})) {{']
    lines += _scalars(case)
    buffers = [s for s in [*function.parameters, *reachable] if isinstance(s.type, Pointer | Array) and _buffer(s)]
    for symbol in buffers:
        lines.append(_count(case, symbol, counts))
    lines.append("if (ws_harness_fits()) {")
    lines += _buffers(case, buffers)
    lines += _list_watched(case, reachable)
    lines += _invoke(case)
    lines += ["ws_harness_end();", "}", "}"]
    return "".join(f"    {line}\n" for line in lines)


def _buffer(symbol: Symbol) -> bool:
    return symbol.storage == "parameter" or isinstance(symbol.type, Pointer)


def _scalars(case: HarnessCall) -> Iterator[str]:
    reals = 0
    for symbol in case.function.function.parameters:
        name = symbol.name
        if is_integer(symbol.type):
            yield f"{_plain_type(symbol.type)} {name} = ({_plain_type(symbol.type)}){case.sizes[symbol]}; (void){name};"
        elif is_float(symbol.type):
            yield f"{_plain_type(symbol.type)} {name} = {_FLOATS[reals % len(_FLOATS)]}; (void){name};"
            reals += 1
        elif symbol in case.sizes:
            type = _plain_type(element_type(symbol.type))
            yield f"{type} ws_of_{name} = ({type}){case.sizes[symbol]}; {type} *{name} = &ws_of_{name}; (void){name};"
    for symbol, value in case.sizes.items():
        if _is_global(symbol):
            yield f"{symbol.name} = {value};"


def _plain_type(type: Type) -> str:
    return type.name if isinstance(type, Scalar) else print_type(type)


def _count(case: HarnessCall, symbol: Symbol, counts: Mapping[tuple[str, str], int] | None) -> str:
    size = _element_size(symbol)
    if counts is not None:
        number = str(counts.get((case.label, symbol.name), 0))
    else:
        extent = case.function.extents.get(symbol)
        number = f"(long long)({_print_extent(extent)})" if extent is not None else "1"
    return f'long long ws_count_{symbol.name} = ws_harness_count("{symbol.name}", {number}, {size});'


def _print_extent(extent: Expr) -> str:
    return extent.text if isinstance(extent, Literal) else print_expr(extent)


def _buffers(case: HarnessCall, buffers: list[Symbol]) -> Iterator[str]:
    pair = case.overlap
    for symbol in buffers:
        target = f"void *ws_at_{symbol.name}"
        kind = f"{_kind(symbol)}, {_element_size(symbol)}"
        count = f"ws_count_{symbol.name}"
        if pair is not None and symbol is pair[1]:
            shift = f"(ws_count_{pair[0].name} / 2)"
            yield f"{target} = (char *)ws_at_{pair[0].name} + {shift} * {_element_size(symbol)};"
            continue
        if pair is not None and symbol is pair[0]:
            count = f"{count} + ws_count_{pair[1].name}"
        yield f'{target} = ws_harness_buffer("{symbol.name}", {count}, {kind});'
        if symbol in case.sizes and symbol.storage == "parameter":
            yield f"*({_plain_type(element_type(symbol.type))} *)ws_at_{symbol.name} = *{symbol.name};"
        gaps = ",".join(f"{offset}:{length}" for offset, length in padding_of(element_type(symbol.type)))
        if gaps:
            yield f'ws_harness_padding("{gaps}");'
        for offset, member in _members(element_type(symbol.type)):
            shape = f"{_element_size(symbol)}, {offset}, {_kind_of(member)}, {member.bits // 8}"
            yield f"ws_harness_member(ws_at_{symbol.name}, {count}, {shape});"
        if _is_global(symbol):
            yield f"{symbol.name} = WS_ANY(ws_at_{symbol.name});"


def _list_watched(case: HarnessCall, reachable: list[Symbol]) -> Iterator[str]:
    """Globals are compared after the call; arrays that the function uses are filled before it."""
    for symbol in reachable:
        element = element_type(symbol.type)
        if isinstance(symbol.type, Pointer) or not _plain(element):
            continue
        writable = not (isinstance(element, Scalar) and element.const)
        filled = int(writable and isinstance(symbol.type, Array) and symbol in case.function.extents)
        at = f"(void *)&{symbol.name}, (long long)sizeof {symbol.name}"
        yield f'ws_harness_object("{symbol.name}", {at}, {_kind(symbol)}, {_element_size(symbol)}, {filled});'


def _invoke(case: HarnessCall) -> Iterator[str]:
    function = case.function.function
    arguments = ", ".join(
        f"WS_ANY(ws_at_{p.name})" if isinstance(p.type, Pointer | Array) else p.name for p in function.parameters
    )
    call = f"{function.symbol.name}({arguments});"
    result = getattr(function.symbol.type, "result", None)
    if isinstance(result, Scalar) and _plain(result):
        symbol = replace(function.symbol, type=result)
        yield f"{result.name} ws_result = {call}"
        yield f"ws_harness_value(&ws_result, {_kind(symbol)}, {_element_size(symbol)});"
    else:
        yield call


def _kind(symbol: Symbol) -> int:
    return _kind_of(element_type(symbol.type))


def _kind_of(element: Type) -> int:
    if not isinstance(element, Scalar):
        return 0
    return {"signed": 1, "unsigned": 2, "bool": 2, "float": 3}.get(element.kind, 0)


def _element_size(symbol: Symbol) -> int:
    return _bytes(element_type(symbol.type))
