"""The device side of one unit: its constants, helper functions and kernels, as text that CUDA C++ takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import cast

import msgspec.structs
from msgspec import Struct

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.emit.device.atomics import atomic_names, atomic_texts
from warpsmith.emit.device.classes import Classes
from warpsmith.emit.device.device_code import check_device_type, cxx_words, device_symbols, for_device, refuse
from warpsmith.emit.device.helper_names import helper_names
from warpsmith.emit.device.kernel import kernel_text
from warpsmith.emit.device.library import library_names, library_texts
from warpsmith.emit.device.placed import check_outside, placed_names
from warpsmith.emit.device.reduction import block_texts
from warpsmith.emit.device.running import scan_helpers
from warpsmith.emit.device.sharing import sharing_names, sharing_texts
from warpsmith.emit.file_names import in_comment
from warpsmith.emit.words import Support
from warpsmith.tree.library_texts import is_assertion
from warpsmith.tree.nodes import Block, Expr, For, Function, GlobalDecl, Name, Node, Stmt, VarDecl, replace
from warpsmith.tree.printing.patch import Patcher
from warpsmith.tree.printing.printer import Printer, join_lines
from warpsmith.tree.program import Combine, Kernel, Program, Scan, SharingThreads, Unit
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.types import Array, FunctionType, Pointer, Scalar, Symbol, Type
from warpsmith.tree.walk import walk

__all__ = ["DeviceSection", "device_section"]


class DeviceSection(Struct, frozen=True):
    """`pieces` in order (constants, helpers, kernels each with its launcher); `device` is their text without launchers;
    `declarations` of the launchers, and `places`, the user's regions that they stand for."""

    pieces: tuple[str, ...]
    device: str
    declarations: tuple[str, ...]
    places: tuple[str, ...]


class _Macros(Struct, frozen=True):
    """Those of a unit: a variable of device code has none of their `names`; uses of those that are `redefined` are
    written out."""

    names: frozenset[str]
    redefined: frozenset[str]


def device_section(
    program: Program, unit: Unit, kernels: tuple[Kernel, ...], support: Support, helper_prefix: str
) -> DeviceSection:
    """Return the device side of `unit`. Raises RefusedError for what device code cannot have.

    `helper_prefix` goes before the names of helper functions where host text of the same file has them too.
    """
    patcher = Patcher(function for _, function in program.functions())
    called = _helpers(program, kernels)
    spans = (*(kernel.span for kernel in kernels), *(helper.span for helper in called))
    known = {text.name: text.text for text in unit.type_texts}
    classes = Classes(helper_prefix, known, unit.language != "c", placed_names(unit, spans), spans)
    for kernel in kernels:
        check_outside(kernel, unit, patcher.printer)
    kernels = tuple(classes.kernel(kernel) for kernel in kernels)
    helpers = tuple(classes.function(helper) for helper in called)
    atomics, warps = atomic_names(kernels, support), sharing_names(kernels, support)
    bodies = (*(kernel.body for kernel in kernels), *(helper.body for helper in helpers))
    library = library_names(bodies, frozenset(f.symbol for f in helpers), support)
    own = helper_names(helpers, bodies, helper_prefix, support)
    names = {**own, **atomics, **warps, **library}
    macros = _Macros(
        frozenset(text.name for text in unit.type_texts if text.macro),
        frozenset(text.name for text in unit.type_texts if text.macro and not text.text),
    )
    constants = _constants(program, kernels, helpers)
    pieces = classes.texts(names.values())
    pieces += [_constant_text(declaration, patcher.printer, macros.redefined) for declaration in constants]
    pieces += library_texts(library, support)
    pieces += _helper_texts(helpers, names, patcher.printer, macros)
    pieces += [*block_texts(kernels, support), *scan_helpers(kernels, support), *atomic_texts(atomics)]
    pieces += sharing_texts(warps)
    device, texts, declarations, places = list(pieces), list(pieces), [], []
    taken = identifiers("\n".join(pieces)) | macros.names
    for kernel in kernels:
        asserts = _has_assertion(program, kernel)
        text = kernel_text(_device_kernel(kernel, names, macros), patcher.printer, support, taken, asserts=asserts)
        place = f"{in_comment(PurePosixPath(unit.file.path).name)}:{kernel.line}: {kernel.region}"
        function = f"// {place}\n{cxx_words(text.device)}"
        device.append(function)
        texts.append(f"{function}\n\n{text.launcher}")
        declarations.append(text.declaration)
        places.append(place)
    return DeviceSection(tuple(texts), "\n\n".join(device), tuple(declarations), tuple(places))


def _has_assertion(program: Program, kernel: Kernel) -> bool:
    """Whether a kernel, or what it calls, tests assertions."""
    bodies = (kernel.body, *(helper.body for helper in _helpers(program, (kernel,))))
    return any(is_assertion(node) for body in bodies for node in walk(body))


# --- kernels in device words


def _device_kernel(kernel: Kernel, helpers: Mapping[Symbol, str], macros: _Macros) -> Kernel:
    """Return `kernel` with every part in device words, and host names of parameters replaced in its loops."""
    to_device = {p.host: p.symbol for p in kernel.parameters if p.host != p.symbol and p.kind == "value"}
    loops = tuple(m.loop for m in kernel.mapped)
    headers = [part for loop in loops for part in (loop.lower, loop.bound)]
    places = [part for c in kernel.reductions for part in (c.target, c.start, *(place for _, place in c.companions))]
    places += [part for s in kernel.scans for part in (s.element, s.initial, s.factor, s.source) if part is not None]
    own = [*kernel.locals, *kernel.shared, *(symbol for symbol, _ in kernel.positions)]
    own += [*(c.variable for c in kernel.reductions), *(s for s in (kernel.inside, kernel.turn) if s is not None)]
    own += [scan.variable for scan in kernel.scans]
    own += [] if kernel.sharing is None else [kernel.sharing.rank, kernel.sharing.count]
    own += [*(p.symbol for p in kernel.parameters), *(loop.variable for loop in loops)]
    renamed = device_symbols((kernel.body, *kernel.guards, *headers, *places), helpers, own, macros=macros.names)
    symbols = {**renamed, **{host: renamed.get(symbol, symbol) for host, symbol in to_device.items()}}

    def device(expr: Expr) -> Expr:
        return cast(Expr, for_device(expr, symbols, redefined=macros.redefined))

    def device_loop(loop: For) -> For:
        variable = symbols.get(loop.variable, loop.variable)
        return replace(loop, variable=variable, lower=device(loop.lower), bound=device(loop.bound), body=kernel.body)

    for parameter in kernel.parameters:
        _check_symbol(parameter.symbol, kernel)
    return msgspec.structs.replace(
        kernel,
        body=cast(Stmt, for_device(kernel.body, symbols, redefined=macros.redefined)),
        mapped=tuple(msgspec.structs.replace(m, loop=device_loop(m.loop)) for m in kernel.mapped),
        launch=tuple((device(lower), device(count)) for lower, count in kernel.launch),
        guards=tuple(device(guard) for guard in kernel.guards),
        narrow=tuple(device(condition) for condition in kernel.narrow),
        sharing=None if kernel.sharing is None else _device_sharing(kernel.sharing, symbols, device),
        parameters=tuple(msgspec.structs.replace(p, symbol=symbols.get(p.symbol, p.symbol)) for p in kernel.parameters),
        locals=tuple(symbols.get(symbol, symbol) for symbol in kernel.locals),
        reductions=tuple(_device_combine(c, symbols, device) for c in kernel.reductions),
        scans=tuple(_device_scan(scan, symbols, device) for scan in kernel.scans),
        inside=None if kernel.inside is None else symbols.get(kernel.inside, kernel.inside),
        shared=tuple(symbols.get(symbol, symbol) for symbol in kernel.shared),
        positions=tuple((symbols.get(symbol, symbol), axis) for symbol, axis in kernel.positions),
        turn=None if kernel.turn is None else symbols.get(kernel.turn, kernel.turn),
    )


def _device_scan(scan: Scan, symbols: Mapping[Symbol, Symbol], device: Callable[[Expr], Expr]) -> Scan:
    return msgspec.structs.replace(
        scan,
        variable=symbols.get(scan.variable, scan.variable),
        element=device(scan.element),
        initial=device(scan.initial),
        target=None if scan.target is None else device(scan.target),
        factor=None if scan.factor is None else device(scan.factor),
        source=None if scan.source is None else device(scan.source),
    )


def _device_sharing(
    one: SharingThreads, symbols: Mapping[Symbol, Symbol], device: Callable[[Expr], Expr]
) -> SharingThreads:
    return msgspec.structs.replace(
        one,
        rank=symbols.get(one.rank, one.rank),
        count=symbols.get(one.count, one.count),
        long=tuple(device(condition) for condition in one.long),
    )


def _device_combine(one: Combine, symbols: Mapping[Symbol, Symbol], device: Callable[[Expr], Expr]) -> Combine:
    return msgspec.structs.replace(
        one,
        variable=symbols.get(one.variable, one.variable),
        target=device(one.target),
        start=device(one.start),
        companions=tuple((symbols.get(symbol, symbol), device(place)) for symbol, place in one.companions),
    )


def _check_symbol(symbol: Symbol, kernel: Kernel) -> None:
    check_device_type(symbol.type, kernel.body)


# --- helper functions


def _helpers(program: Program, kernels: Iterable[Kernel]) -> tuple[Function, ...]:
    """Return the definitions that the kernels call, directly or not, called ones before their callers."""
    defined = {function.symbol: function for _, function in program.functions()}
    order: dict[Symbol, Function] = {}
    stack = [(symbol, False) for kernel in kernels for symbol in _find_called(kernel.body)]
    entered: set[Symbol] = set()
    while stack:
        symbol, finished = stack.pop()
        function = defined.get(symbol)
        if function is None:
            continue
        if finished:
            order.setdefault(symbol, function)
        elif symbol not in entered:
            entered.add(symbol)
            stack.append((symbol, True))
            stack += [(called, False) for called in _find_called(function.body)]
    return tuple(order.values())


def _find_called(node: Node) -> Iterator[Symbol]:
    return (n.symbol for n in walk(node) if isinstance(n, Name) and n.symbol.storage == "function")


def _helper_texts(
    helpers: tuple[Function, ...], names: Mapping[Symbol, str], printer: Printer, macros: _Macros
) -> list[str]:
    texts: list[str] = []
    heads: list[str] = []
    for function in helpers:
        device = _device_function(function, names, macros)
        head = f"static __device__ {printer.signature(device)}"
        heads.append(cxx_words(f"{head};"))
        texts.append(cxx_words(f"{head}\n{join_lines(printer.stmt(device.body))}"))
    seen: set[Symbol] = set()
    early = False
    for function in helpers:
        early = early or any(s in names and s not in seen and s != function.symbol for s in _find_called(function.body))
        seen.add(function.symbol)
    return ["\n".join(heads), *texts] if early else texts


def _device_function(function: Function, names: Mapping[Symbol, str], macros: _Macros) -> Function:
    type = function.symbol.type
    if isinstance(type, FunctionType) and type.variadic:
        raise refuse(f"a function with a variable number of arguments ({function.symbol.name})", function)
    if isinstance(function.symbol.type, FunctionType) and function.symbol.type.method:
        name = function.symbol.label or function.symbol.name
        raise refuse(f"a method that is more than one expression ({name})", function)
    renamed = device_symbols((function.body,), names, function.parameters, macros=macros.names)
    for parameter in function.parameters:
        check_device_type(parameter.type, function)
    result = type.result if isinstance(type, FunctionType) else None
    return replace(
        function,
        symbol=msgspec.structs.replace(function.symbol, name=names[function.symbol]),
        parameters=tuple(renamed.get(p, p) for p in function.parameters),
        body=cast(Block, for_device(function.body, renamed, result, redefined=macros.redefined)),
        static=False,
    )


# --- constants


def _constants(program: Program, kernels: Iterable[Kernel], helpers: Iterable[Function]) -> list[VarDecl]:
    """Return the file-scope constants that device text names; raises RefusedError where one is a variable."""
    defined = {
        d.symbol: d
        for unit in program.units
        for item in unit.items
        if isinstance(item, GlobalDecl)
        for d in item.declarations
        if d.init is not None
    }
    found: dict[Symbol, VarDecl] = {}
    roots: list[tuple[Node, set[Symbol]]] = [(k.body, {p.symbol for p in k.parameters}) for k in kernels]
    for root, own in [*roots, *((f.body, set[Symbol]()) for f in helpers)]:
        for name in walk(root):
            if not isinstance(name, Name) or name.symbol in own or name.symbol.storage not in ("global", "static"):
                continue
            declaration = defined.get(name.symbol)
            if declaration is None or not _is_const(declaration.symbol.type):
                text = f"device code cannot name {name.symbol.name}, a variable of the host"
                raise RefusedError(Finding("POR008", "error", text, name.span))
            found[name.symbol] = declaration
    return list(found.values())


def _is_const(type: Type) -> bool:
    while isinstance(type, Array):
        type = type.of
    return isinstance(type, Scalar | Pointer) and type.const


def _constant_text(declaration: VarDecl, printer: Printer, redefined: frozenset[str]) -> str:
    init = declaration.init
    assert init is not None, "only constants with a value are asked for"
    value = printer.expr(cast(Expr, for_device(init, {}, redefined=redefined)))
    return cxx_words(f"static __device__ {printer.type(declaration.symbol.type, declaration.symbol.name)} = {value};")
