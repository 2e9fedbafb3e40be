"""The CUDA text of device statements in host code: plain C that is also C++."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.emit.device.prototypes import launcher_type, plain
from warpsmith.emit.words import Support
from warpsmith.tree.allocations import names_allocations
from warpsmith.tree.nodes import (
    CaptureStmt,
    Cast,
    Copy,
    CopyWait,
    DataEnter,
    DataExit,
    DataRegionBoundary,
    DataSuspension,
    DeviceAlloc,
    DeviceFree,
    Expr,
    Launch,
    Literal,
    Name,
    Update,
)
from warpsmith.tree.printing.precedence import ASSIGNMENT, level
from warpsmith.tree.printing.printer import DeviceStmt, print_type
from warpsmith.tree.printing.references import address_text
from warpsmith.tree.program import Kernel, KernelParameter
from warpsmith.tree.types import Array, Opaque, Pointer, Record, Scalar, Symbol, Type, padding_of

__all__ = ["CudaWords"]

_KINDS = {"signed": 1, "unsigned": 2, "bool": 2, "float": 3}
_POINTER = 8

Text = Callable[[Expr], str]


class CudaWords(Struct, frozen=True):
    """The words for one program's kernels."""

    support: Support
    kernels: Mapping[str, Kernel]

    def lines(self, node: DeviceStmt, expr: Text) -> tuple[str, ...]:
        """Return the host statements of a device statement, one a line."""
        match node:
            case Launch():
                return (self._launch(node, expr),)
            case DeviceAlloc():
                return (self._acquire(node, expr),)
            case DeviceFree():
                return (f"{self.support.release}({node.buffer.name});",)
            case Copy():
                return (self._copy(node, expr),)
            case CopyWait():
                return (f"{self.support.wait(by_host=node.by_host)}({node.buffer.name}, {self.support.here});",)
            case CaptureStmt():
                return (_capture(node, expr),)
            case DataRegionBoundary():
                return (self._data_region(node), *self._lasting(node))
            case _:
                return (self._write_present(node, expr),)

    def _write_present(self, node: DataEnter | DataExit | Update | DataSuspension, expr: Text) -> str:
        """Return a statement that asks the present table."""
        match node:
            case DataEnter():
                return self._enter(node, expr)
            case DataExit(starts=Symbol(name=name)):
                return f"{self.support.exit_rows}({name}, {int(node.written)}, {self.support.here});"
            case DataExit():
                return f"{self.support.exit}({node.buffer.name}, {int(node.written)}, {self.support.here});"
            case Update():
                return self._update(node, expr)
            case DataSuspension():
                return f"{self.support.suspension(ends=node.ends)}({self.support.here});"

    def _data_region(self, node: DataRegionBoundary) -> str:
        if not node.guard:
            return f"{self.support.data_region(opens=node.opens)}({self.support.here});"
        if node.opens:
            flag = f", {node.flag}" if node.flag else ""
            return f"{self.support.guard} {node.guard}({self.support.here}{flag});"
        return f"{node.guard}.end({self.support.here});"

    def _lasting(self, node: DataRegionBoundary) -> Iterator[str]:
        """Yield the statements that tell what of the stack outlives a data region that has just begun."""
        if node.callers:
            yield f"{self.support.callers}({self.support.frame});"
        for symbol in node.lasting:
            yield f"{self.support.lasts}(&{symbol.name}, (long long)sizeof {symbol.name});"

    @property
    def on(self) -> str:
        """An expression: whether the device is in use."""
        return f"{self.support.on}()"

    @property
    def flag(self) -> str:
        """The name of a variable that remembers that."""
        return f"{self.support.prefix}_gpu"

    def declare(self, node: DeviceAlloc | DataEnter, expr: Text) -> tuple[str, str]:
        """Return the buffer's declaration without a buffer, and the statement that gets it one."""
        whole = self._acquire(node, expr) if isinstance(node, DeviceAlloc) else self._enter(node, expr)
        declaration, call = whole.split(" = ", 1)
        return f"{declaration} = 0;", f"{node.buffer.name} = {call}"

    def _launch(self, node: Launch, expr: Text) -> str:
        kernel = self.kernels.get(node.kernel)
        if kernel is None or len(kernel.parameters) != len(node.arguments):
            raise RefusedError(Finding("POR008", "error", f"there is no kernel {node.kernel} of this form", node.span))
        pairs = zip(kernel.parameters, node.arguments, strict=True)
        return f"{node.kernel}({', '.join(_argument(kernel, p, a, expr) for p, a in pairs)});"

    def _acquire(self, node: DeviceAlloc, expr: Text) -> str:
        declared = print_type(node.buffer.type, node.buffer.name)
        cast = print_type(node.buffer.type)
        size = _part(node.bytes, expr)
        return f'{declared} = ({cast}){self.support.acquire}({size}, "{node.host.name}", {self.support.here});'

    def _enter(self, node: DataEnter, expr: Text) -> str:
        declared, cast = print_type(node.buffer.type, node.buffer.name), print_type(node.buffer.type)
        words = self.support
        if node.starts is not None and node.starts == node.variable:
            return f"{declared} = {words.table}({node.starts.name}, {words.here});"
        said = (
            (words.copy, node.copy),
            (words.keep, node.keep),
            (words.allocation, node.allocation),
            (words.change, node.changes),
            (words.watched, node.watch),
        )
        flags = [word for word, holds in said if holds]
        where = [_part(node.address, expr), _part(node.bytes, expr)] if node.starts is None else [node.starts.name]
        parts = [*where, " | ".join(flags) or "0", f'"{node.variable.name}"', words.here]
        call = f"{words.enter if node.starts is None else words.enter_rows}({', '.join(parts)})"
        return f"{declared} = ({cast}){call};"

    def _update(self, node: Update, expr: Text) -> str:
        if node.block and node.address is not None:
            block = self.support.update_block(to_device=node.to_device)
            return f"{block}({_part(node.address, expr)}, {self.support.here});"
        if node.address is None or node.bytes is None:
            return f"{self.support.update_all(to_device=node.to_device)}({self.support.here});"
        parts = [_part(node.address, expr), _part(node.bytes, expr)]
        return f"{self.support.update(to_device=node.to_device)}({', '.join(parts)}, {self.support.here});"

    def _copy(self, node: Copy, expr: Text) -> str:
        offset = (
            "" if isinstance(node.offset, Literal) and node.offset.value == 0 else f" + {_tight(node.offset, expr)}"
        )
        # a wait finds the copies of a buffer by where it starts
        assert not (node.overlaps and offset), node
        device, host, size = f"{node.buffer.name}{offset}", _host(node, expr), _part(node.bytes, expr)
        words = self.support
        if node.to_device:
            call = words.begin_to_device if node.overlaps else words.to_device
            return f"{call}({device}, {host}, {size}, {words.here});"
        return f"{words.begin_to_host if node.overlaps else words.to_host}({host}, {device}, {size}, {words.here});"


def _part(item: Expr, expr: Text) -> str:
    text = expr(item)
    return f"({text})" if level(item) < ASSIGNMENT else text


def _tight(item: Expr, expr: Text) -> str:
    """Return `item` as an operand of + or a cast."""
    text = expr(item)
    return f"({text})" if level(item) <= 12 else text


def _prefix(item: Expr, expr: Text) -> str:
    text = expr(item)
    return f"({text})" if level(item) < 14 else text


def _argument(kernel: Kernel, parameter: KernelParameter, argument: Expr, expr: Text) -> str:
    if isinstance(argument.type, Record) and isinstance(argument, Name):
        return f"&{argument.symbol.name}"
    wanted = launcher_type(kernel, parameter)
    while isinstance(argument, Cast) and isinstance(argument.type, Pointer):
        argument = argument.operand
    given = argument.type
    if not isinstance(wanted, Pointer) or (isinstance(wanted.to, Scalar) and wanted.to.kind == "void"):
        return _part(argument, expr)
    if isinstance(given, Pointer) and plain(given.to) == plain(wanted.to) and not _is_qualified(given.to):
        return _part(argument, expr)
    return f"({print_type(wanted)}){_prefix(argument, expr)}"


def _is_qualified(type: Type) -> bool:
    return isinstance(type, Scalar) and (type.const or type.volatile)


def _pointee(type: Type) -> Type:
    while isinstance(type, Pointer | Array):
        type = type.to if isinstance(type, Pointer) else type.of
    return type


def _host(node: Copy, expr: Text) -> str:
    """Return the host address; a qualifier that the copy would drop is cast away in plain sight."""
    target = _pointee(node.host.type)
    volatile = isinstance(target, Scalar) and target.volatile
    const = isinstance(target, Scalar | Record) and target.const and not node.to_device
    if volatile or const:
        return f"({'const ' if node.to_device else ''}void *){_prefix(node.host, expr)}"
    return _part(node.host, expr)


def _capture(node: CaptureStmt, expr: Text) -> str:
    if node.starts is not None:
        return _capture_rows(node)
    number = None if isinstance(node.element, Array) else _number_of(node.element)
    size = _size(node.element) if number is None else _size(number)
    # A struct of numbers of one type is recorded as so many of them, each compared as what it is.
    numbers = _size(node.element) // size
    kind = 0 if number is None else _KINDS.get(number.kind, 0)
    address = address_text(node.symbol)
    declared = "-1" if node.extent is None else _product(node.extent, size * numbers, expr)
    width = str(size)
    if isinstance(node.element, Opaque):
        # the compiler knows how large it is (`int *volatile`)
        width = f"(int)sizeof({_innermost(node.symbol)})"
        declared = declared if node.extent is None else f"{declared} * (long long){width}"
    device = "(const void *)0" if node.buffer is None else f"(const void *){node.buffer.name}"
    parts = [
        f'"{node.region}"',
        f'"{node.name or node.symbol.name}"',
        f"(const void *){address}",
        declared,
        str(kind),
        width,
        _part(node.lower, expr) if numbers == 1 else _product(node.lower, numbers, expr),
        _part(node.upper, expr) if numbers == 1 else _product(node.upper, numbers, expr),
        device,
    ]
    gaps = ",".join(f"{offset}:{length}" for offset, length in padding_of(node.element) if number is None)
    padding = f'ws_capture_padding("{gaps}"), ' if gaps else ""
    block = "ws_capture_block(), " if names_allocations(node.lower) else ""
    ahead = "ws_capture_ahead(), " if node.ahead else ""
    return f"{padding}{block}{ahead}ws_capture({', '.join(parts)});"


def _innermost(symbol: Symbol) -> str:
    """Return an lvalue of the type of the innermost elements of a variable, or of what it points to."""
    text, type = symbol.name, symbol.type
    if isinstance(type, Pointer):
        text, type = f"{text}[0]", type.to
    while isinstance(type, Array):
        text, type = f"{text}[0]", type.of
    return text


def _capture_rows(node: CaptureStmt) -> str:
    """Return the capture of all blocks that rows lie in: each is an object of its own."""
    number = None if isinstance(node.element, Array) else _number_of(node.element)
    size = _size(node.element) if number is None else _size(number)
    kind = 0 if number is None else _KINDS.get(number.kind, 0)
    gaps = ",".join(f"{offset}:{length}" for offset, length in padding_of(node.element) if number is None)
    device = "0" if node.buffer is None else f"(const void *){node.buffer.name}"
    parts = [f'"{node.region}"', f'"{node.name or node.symbol.name}"', node.starts.name if node.starts else "0"]
    parts += [str(kind), str(size), f'"{gaps}"', device, str(int(node.ahead))]
    return f"ws_capture_rows({', '.join(parts)});"


def _number_of(element: Type) -> Scalar | None:
    """Return the one type of all numbers in `element`; None where they are of several, or it holds anything else."""
    match element:
        case Scalar():
            return element
        case Array(of=of):
            return _number_of(of)
        case Record(fields=fields, union=False) if fields:
            found = [_number_of(field.type) for field in fields]
            first = found[0]
            alike = first is not None and all(
                n is not None and (n.kind, n.bits) == (first.kind, first.bits) for n in found
            )
            return first if alike else None
        case _:
            return None


def _size(element: Type) -> int:
    match element:
        case Scalar(bits=bits):
            return max(1, bits // 8)
        case Pointer():
            return _POINTER
        case Record(bytes=size) if size:
            return size
        case _:
            return 1


def _product(extent: Expr, size: int, expr: Text) -> str:
    if isinstance(extent, Literal) and isinstance(extent.value, int):
        return str(extent.value * size)
    text = f"(long long){_prefix(extent, expr)}"
    return text if size == 1 else f"{text} * {size}"
