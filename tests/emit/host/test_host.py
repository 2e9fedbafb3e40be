"""The words of device statements in host text: casts that are needed, parentheses, and which call is made."""

from __future__ import annotations

from typing import Any

import msgspec.structs
import pytest

from tests.emit.examples import Maker, Ported, saxpy
from warpsmith.base.errors import RefusedError
from warpsmith.emit.host.host import CudaWords
from warpsmith.emit.words import choose_support
from warpsmith.tree.nodes import (
    Binary,
    CaptureStmt,
    Copy,
    DataEnter,
    DataRegionBoundary,
    DataSuspension,
    DeviceAlloc,
    DeviceFree,
    DeviceStmt,
    Expr,
    Launch,
    Literal,
    Name,
    replace,
)
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import DOUBLE, FLOAT, INT, Field, Pointer, Record, Symbol, Type

MADE: Ported = saxpy()
WORDS = CudaWords(choose_support(MADE.original), {k.name: k for k in MADE.ported.kernels})
STATEMENTS = MADE.ported.units[0].functions[0].body.statements
SPAN = Maker("int x;").span("x")


def lines(node: DeviceStmt) -> tuple[str, ...]:
    return WORDS.lines(node, print_expr)


def number(value: int) -> Expr:
    return Literal(span=SPAN, type=INT, text=str(value), value=value)


def name(text: str, type: Type) -> Name:
    return Name(span=SPAN, type=type, symbol=Symbol(text, text, type, "parameter"))


def total(left: Expr, right: Expr) -> Expr:
    return Binary(span=SPAN, type=INT, op="+", left=left, right=right)


def test_a_port_of_one_loop() -> None:
    said = [line for stmt in STATEMENTS for line in lines(stmt)]  # type: ignore[arg-type]
    assert said == [
        'float *x_gpu = (float *)ws_device_acquire(4LL * n, "x", WS_HERE);',
        'float *y_gpu = (float *)ws_device_acquire(4LL * n, "y", WS_HERE);',
        "ws_copy_to_device(x_gpu, x, 4LL * n, WS_HERE);",
        "ws_copy_to_device(y_gpu, y, 4LL * n, WS_HERE);",
        "ws_saxpy_serial_k1(n, a, x_gpu, y_gpu);",
        "ws_copy_to_host(y, y_gpu, 4LL * n, WS_HERE);",
        "ws_device_release(y_gpu);",
        "ws_device_release(x_gpu);",
    ]


@pytest.mark.parametrize(("kernel", "arguments"), [("other", 4), ("ws_saxpy_serial_k1", 3)])
def test_a_launch_without_its_kernel_is_refused(kernel: str, arguments: int) -> None:
    launch = next(s for s in STATEMENTS if isinstance(s, Launch))
    with pytest.raises(RefusedError, match=f"there is no kernel {kernel} of this form"):
        lines(replace(launch, kernel=kernel, arguments=launch.arguments[:arguments]))


def test_a_pointer_of_another_type_is_cast() -> None:
    launch = next(s for s in STATEMENTS if isinstance(s, Launch))
    n, a, _, _ = launch.arguments
    const = Pointer(msgspec.structs.replace(FLOAT, const=True))
    given = (n, a, name("p", Pointer(DOUBLE)), name("q", const))
    assert lines(replace(launch, arguments=given))[0].count("(float *)q") == 1
    assert "float *)p" in lines(replace(launch, arguments=given))[0]


def test_copies_take_offsets_and_drop_qualifiers_in_plain_sight() -> None:
    copy = next(s for s in STATEMENTS if isinstance(s, Copy))
    moved = replace(copy, offset=total(number(3), number(4)))
    assert lines(moved) == ("ws_copy_to_device(x_gpu + (3 + 4), x, 4LL * n, WS_HERE);",)
    for qualifier, there, back in (("const", "x", "(void *)x"), ("volatile", "(const void *)x", "(void *)x")):
        type = Pointer(msgspec.structs.replace(FLOAT, **{qualifier: True}))
        host = replace(copy, host=name("x", type))
        assert lines(host) == (f"ws_copy_to_device(x_gpu, {there}, 4LL * n, WS_HERE);",)
        assert lines(replace(host, to_device=False)) == (f"ws_copy_to_host({back}, x_gpu, 4LL * n, WS_HERE);",)


def test_a_declaration_apart_from_its_call() -> None:
    alloc = next(s for s in STATEMENTS if isinstance(s, DeviceAlloc))
    declared, call = WORDS.declare(alloc, print_expr)
    assert declared == "float *x_gpu = 0;" and call == f"x_gpu = {lines(alloc)[0].split(' = ', 1)[1]}"
    assert (WORDS.on, WORDS.flag) == ("ws_on()", "ws_gpu")
    free = next(s for s in STATEMENTS if isinstance(s, DeviceFree))
    assert lines(free) == (f"ws_device_release({free.buffer.name});",)


def test_data_regions_begin_and_end() -> None:
    def hold(**more: Any) -> str:
        return "\n".join(lines(DataRegionBoundary(span=SPAN, cause=SPAN, **more)))

    opens, ends = hold(opens=True), hold(opens=False)
    assert opens != ends and opens.endswith("(WS_HERE);") and ends.endswith("(WS_HERE);")
    assert hold(opens=True, guard="g").endswith(" g(WS_HERE);") and hold(opens=False, guard="g") == "g.end(WS_HERE);"
    assert hold(opens=True, guard="g", flag="on").endswith(" g(WS_HERE, on);")
    kept = hold(opens=True, lasting=(name("x", INT).symbol,), callers=True).split("\n")
    assert len(kept) == 3 and kept[2].endswith("(&x, (long long)sizeof x);")
    pause = [lines(DataSuspension(span=SPAN, cause=SPAN, ends=end))[0] for end in (False, True)]
    assert pause[0] != pause[1]


def test_what_is_entered_has_its_flags() -> None:
    def enter(**more: Any) -> str:
        given = {"copy": False, "keep": False, **more}
        node = DataEnter(
            span=SPAN, buffer=Symbol("x_gpu", "x_gpu", Pointer(FLOAT), "device"),
            variable=name("x", Pointer(FLOAT)).symbol, address=name("x", Pointer(FLOAT)), bytes=number(8), cause=SPAN,
            **given,
        )  # fmt: skip
        return lines(node)[0]

    plain, both = enter(), enter(copy=True, keep=True)
    assert plain.startswith("float *x_gpu = (float *)") and '(x, 8, 0, "x", WS_HERE);' in plain
    assert " | " in both and both.count("|") == 1 and " | " not in enter(copy=True)
    assert enter(starts=name("s", INT).symbol) != plain and "(s, 0," in enter(starts=name("s", INT).symbol)
    assert "(x, WS_HERE)" in enter(starts=name("x", Pointer(FLOAT)).symbol)


PAIR = Record("pair", 16, fields=(Field("a", DOUBLE, 0), Field("b", DOUBLE, 8)))
MIXED = Record("mixed", 16, fields=(Field("a", DOUBLE, 0), Field("n", INT, 8)))


@pytest.mark.parametrize(
    ("element", "extent", "said"),
    [
        (DOUBLE, None, ", -1, 3, 8, 0, 5, (const void *)0);"),
        (FLOAT, 10, ", 40, 3, 4, 0, 5, (const void *)0);"),
        (INT, 10, ", 40, 1, 4, 0, 5, (const void *)0);"),
        # two numbers of one type are compared as what they are; others byte by byte, but for the gaps
        (PAIR, 10, ", 160, 3, 8, 0, 10, (const void *)0);"),
        (MIXED, 10, ", 160, 0, 16, 0, 5, (const void *)0);"),
    ],
)
def test_what_is_captured(element: Type, extent: int | None, said: str) -> None:
    symbol = Symbol("a", "a", Pointer(element), "parameter")
    capture: Any = CaptureStmt(
        span=SPAN, region="f/i", symbol=symbol, element=element, lower=number(0), upper=number(5), buffer=None,
        extent=None if extent is None else number(extent),
    )  # fmt: skip
    (line,) = lines(capture)
    assert f'ws_capture("f/i", "a", (const void *)a{said}' in line, line
    assert line.startswith("ws_capture_padding") == (element is MIXED)
