"""Hand-made programs and ports: the text, its tree, and the tree that offload would make of it."""

from __future__ import annotations

import msgspec.structs
from msgspec import Struct

from warpsmith.base.source import SourceFile, Span
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    CaptureStmt,
    Copy,
    DeclStmt,
    DeviceAlloc,
    DeviceFree,
    Expr,
    ExprStmt,
    For,
    Function,
    Index,
    Launch,
    Literal,
    Name,
    Node,
    Stmt,
    VarDecl,
    replace,
)  # fmt: skip
from warpsmith.tree.program import Kernel, KernelParameter, MappedLoop, Program, Unit
from warpsmith.tree.types import DOUBLE, FLOAT, INT, VOID, FunctionType, Pointer, Scalar, Storage, Symbol, Type
from warpsmith.tree.walk import rebuild

__all__ = ["Maker", "Ported", "lu", "renamed", "saxpy"]


class Ported(Struct, frozen=True):
    """A program before and after."""

    original: Program
    ported: Program


class Maker:
    """Makes intact nodes of a source file; a fragment is found by its text, the n-th time that it occurs."""

    def __init__(self, text: str, path: str = "a.c") -> None:
        self.file = SourceFile(path, text)

    def span(self, fragment: str, nth: int = 1) -> Span:
        start = -1
        for _ in range(nth):
            start = self.file.text.index(fragment, start + 1)
        return Span(self.file, start, start + len(fragment))

    def name(self, symbol: Symbol, at: Span, offset: int = 0) -> Name:
        start = at.start + offset
        return Name(span=Span(self.file, start, start + len(symbol.name)), intact=True, type=symbol.type, symbol=symbol)

    def inside(self, at: Span, fragment: str, nth: int = 1) -> Span:
        start = -1
        for _ in range(nth):
            start = at.text.index(fragment, start + 1)
        return Span(self.file, at.start + start, at.start + start + len(fragment))

    def number(self, value: int, at: Span) -> Literal:
        return Literal(span=at, intact=True, type=INT, text=str(value), value=value)

    def binary(self, op: str, left: Expr, right: Expr, type: Type = INT) -> Binary:
        span = Span(self.file, left.span.start, right.span.end)
        return Binary(span=span, intact=True, type=type, op=op, left=left, right=right)

    def index(self, base: Expr, index: Expr, type: Type) -> Index:
        span = Span(self.file, base.span.start, self.file.text.index("]", index.span.end) + 1)
        return Index(span=span, intact=True, type=type, base=base, index=index)

    def assign(self, op: str, target: Expr, value: Expr) -> ExprStmt:
        span = Span(self.file, target.span.start, value.span.end)
        expr = Assign(span=span, intact=True, type=target.type, op=op, target=target, value=value)
        return ExprStmt(span=Span(self.file, span.start, span.end + 1), intact=True, expr=expr)

    def loop(self, header: Span, variable: Symbol, lower: Expr, bound: Expr, body: Stmt) -> For:
        return For(
            span=Span(self.file, header.start, body.span.end), intact=True, variable=variable,
            declares="int" in header.text, lower=lower, relation="<", bound=bound, step=1, body=body, header=header,
        )  # fmt: skip

    def function(self, name: str, parameters: tuple[Symbol, ...], statements: tuple[Stmt, ...], head: str) -> Function:
        start = self.file.text.index(head)
        end = self.file.text.rindex("}") + 1
        opening = self.file.text.index("{", start)
        body = Block(span=Span(self.file, opening, end), intact=True, statements=statements)
        type = FunctionType(VOID, tuple(p.type for p in parameters))
        symbol = Symbol(name, name, type, "function")
        return Function(
            span=Span(self.file, start, end), intact=True, symbol=symbol, parameters=parameters, body=body, static=False
        )

    def unit(self, *functions: Function) -> Unit:
        return Unit(self.file, "c", functions, functions, (), ())


def symbol(name: str, type: Type, storage: Storage = "parameter") -> Symbol:
    return Symbol(name, f"a.c:{name}", type, storage)


def renamed(node: Node, old: Symbol, new: Symbol) -> Node:
    def change(part: Node) -> Node:
        return replace(part, symbol=new) if isinstance(part, Name) and part.symbol == old else part

    return rebuild(node, change)


def _use(of: Symbol, at: Span) -> Name:
    return Name(span=at, type=of.type, symbol=of)


def _bytes(at: Span, count: Expr, size: int) -> Expr:
    long_long = Scalar("long long", 64, "signed")
    number = Literal(span=at, type=long_long, text=f"{size}LL", value=size)
    return Binary(span=at, type=long_long, op="*", left=number, right=count)


SAXPY = """\
#include <stdio.h>

/* y = a*x + y */
void saxpy_serial(int n, float a, float *x, float *y)
{
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i]; // the whole work
}
"""


def saxpy(text: str = SAXPY) -> Ported:
    """`saxpy_serial` with its loop on the device."""
    make = Maker(text, "saxpy.c")
    n, a = symbol("n", INT), symbol("a", FLOAT)
    x, y = symbol("x", Pointer(FLOAT)), symbol("y", Pointer(FLOAT))
    i = symbol("i", INT, "local")
    line = make.span("y[i] = a * x[i] + y[i];")
    target = make.index(make.name(y, line), make.name(i, line, 2), FLOAT)
    product = make.binary(
        "*", make.name(a, line, 7), make.index(make.name(x, line, 11), make.name(i, line, 13), FLOAT), FLOAT
    )
    last = make.index(make.name(y, line, 18), make.name(i, line, 20), FLOAT)
    body = make.assign("=", target, make.binary("+", product, last, FLOAT))
    header = make.span("for (int i = 0; i < n; i++)")
    loop = make.loop(header, i, make.number(0, make.inside(header, "0")), make.name(n, make.inside(header, "n;")), body)
    function = make.function("saxpy_serial", (n, a, x, y), (loop,), "void saxpy_serial")
    original = Program((make.unit(function),))

    x_gpu, y_gpu = symbol("x_gpu", Pointer(FLOAT), "device"), symbol("y_gpu", Pointer(FLOAT), "device")
    at = loop.span
    size = _bytes(at, _use(n, at), 4)
    zero = Literal(span=at, type=INT, text="0", value=0)
    statements: tuple[Stmt, ...] = (
        DeviceAlloc(span=at, buffer=x_gpu, host=x, bytes=size),
        DeviceAlloc(span=at, buffer=y_gpu, host=y, bytes=size),
        Copy(span=at, to_device=True, buffer=x_gpu, variable=x, host=_use(x, at), offset=zero, bytes=size, cause=at),
        Copy(span=at, to_device=True, buffer=y_gpu, variable=y, host=_use(y, at), offset=zero, bytes=size, cause=at),
        Launch(
            span=at, kernel="ws_saxpy_serial_k1", region="saxpy_serial/i",
            arguments=(_use(n, at), _use(a, at), _use(x_gpu, at), _use(y_gpu, at)),
        ),
        Copy(span=at, to_device=False, buffer=y_gpu, variable=y, host=_use(y, at), offset=zero, bytes=size, cause=at),
        DeviceFree(span=at, buffer=y_gpu),
        DeviceFree(span=at, buffer=x_gpu),
    )  # fmt: skip
    kernel_body = renamed(renamed(body, x, x_gpu), y, y_gpu)
    assert isinstance(kernel_body, ExprStmt)
    kernel = Kernel(
        "ws_saxpy_serial_k1", "saxpy_serial", "saxpy_serial/i", at, (MappedLoop(loop, "x", "saxpy_serial/i"),),
        ((loop.lower, loop.bound),), (256, 1, 1),
        (KernelParameter(n, n, "value"), KernelParameter(a, a, "value"), KernelParameter(x_gpu, x, "buffer"),
         KernelParameter(y_gpu, y, "buffer", True)), (), kernel_body, (),
    )  # fmt: skip
    new = replace(function, body=replace(function.body, statements=statements))
    ported = msgspec.structs.replace(original.with_function(function, new), kernels=(kernel,))
    return Ported(original, ported)


LU = """\
// LU decomposition
void lu(double *A, int N)
{
    int i, j, k;
    for (k = 0; k < N; k++) {
        /* the row */
        for (i = k + 1; i < N; i++)
            for (j = k + 1; j < N; j++) {
                // update
                A[i * N + j] -= A[i * N + k] * A[k * N + j];
            }
    }
}
"""


def lu(text: str = LU, captures: bool = False) -> Ported:
    """`lu` with its inner nest on the device, copies around the k loop."""
    make = Maker(text, "lu.c")
    n, a = symbol("N", INT), symbol("A", Pointer(DOUBLE))
    i, j, k = symbol("i", INT, "local"), symbol("j", INT, "local"), symbol("k", INT, "local")
    at = make.span("int i, j, k;")
    decl = DeclStmt(
        span=at, intact=True,
        declarations=tuple(VarDecl(span=make.inside(at, s.name, 2 if s is i else 1), intact=True, symbol=s, init=None)
                           for s in (i, j, k)),
    )  # fmt: skip
    line = make.span("A[i * N + j] -= A[i * N + k] * A[k * N + j];")

    def element(offset: int, row: Symbol, column: Symbol) -> Index:
        product = make.binary("*", make.name(row, line, offset + 2), make.name(n, line, offset + 6))
        inner = make.binary("+", product, make.name(column, line, offset + 10))
        return make.index(make.name(a, line, offset), inner, DOUBLE)

    update = make.assign("-=", element(0, i, j), make.binary("*", element(16, i, k), element(31, k, j), DOUBLE))
    braces = make.span("{", 3)
    body = Block(span=Span(make.file, braces.start, make.file.text.index("}") + 1), intact=True, statements=(update,))

    def header(fragment: str, variable: Symbol, inner: Stmt) -> For:
        at = make.span(fragment)
        if variable is k:
            lower: Expr = make.number(0, make.inside(at, "0"))
        else:
            plus = make.inside(at, "k + 1")
            lower = make.binary("+", make.name(k, plus), make.number(1, make.inside(plus, "1")))
        return make.loop(at, variable, lower, make.name(n, make.inside(at, "N")), inner)

    loop_j = header("for (j = k + 1; j < N; j++)", j, body)
    loop_i = header("for (i = k + 1; i < N; i++)", i, loop_j)
    outer = make.span("{", 2)
    block = Block(
        span=Span(make.file, outer.start, make.file.text.rindex("}", 0, -3) + 1), intact=True, statements=(loop_i,)
    )
    loop_k = header("for (k = 0; k < N; k++)", k, block)
    function = make.function("lu", (a, n), (decl, loop_k), "void lu")
    original = Program((make.unit(function),))

    gpu = symbol("A_gpu", Pointer(DOUBLE), "device")
    here = loop_k.span
    square = Binary(span=here, type=INT, op="*", left=_use(n, here), right=_use(n, here))
    size = _bytes(here, square, 8)
    zero = Literal(span=here, type=INT, text="0", value=0)
    launch = Launch(
        span=loop_i.span, kernel="ws_lu_k1", region="lu/k/i",
        arguments=(_use(gpu, here), _use(n, here), _use(k, here)),
    )  # fmt: skip
    inner: tuple[Stmt, ...] = (launch,)
    if captures:
        inner = (launch, CaptureStmt(
            span=loop_i.span, region="lu/k/i", symbol=a, element=DOUBLE, lower=zero, upper=square, extent=None,
            buffer=gpu,
        ))  # fmt: skip
    host_loop = replace(loop_k, body=replace(block, statements=inner))
    statements: tuple[Stmt, ...] = (
        decl,
        DeviceAlloc(span=here, buffer=gpu, host=a, bytes=size),
        Copy(
            span=here, to_device=True, buffer=gpu, variable=a, host=_use(a, here), offset=zero, bytes=size, cause=here
        ),
        host_loop,
        Copy(
            span=here, to_device=False, buffer=gpu, variable=a, host=_use(a, here), offset=zero, bytes=size, cause=here
        ),
        DeviceFree(span=here, buffer=gpu),
    )

    def count(loop: For) -> Expr:
        return Binary(span=here, type=INT, op="-", left=loop.bound, right=loop.lower)

    kernel_body = renamed(body, a, gpu)
    assert isinstance(kernel_body, Block)
    kernel = Kernel(
        "ws_lu_k1", "lu", "lu/k/i", loop_i.span,
        (MappedLoop(loop_i, "y", "lu/k/i"), MappedLoop(loop_j, "x", "lu/k/i/j")),
        ((loop_i.lower, count(loop_i)), (loop_j.lower, count(loop_j))), (32, 8, 1),
        (KernelParameter(gpu, a, "buffer", True), KernelParameter(n, n, "value"), KernelParameter(k, k, "value")),
        (), kernel_body, (),
        sliced=("y",),
    )  # fmt: skip
    new = replace(function, body=replace(function.body, statements=statements))
    ported = msgspec.structs.replace(original.with_function(function, new), kernels=(kernel,))
    return Ported(original, ported)
