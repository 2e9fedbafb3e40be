"""Operands of IL."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile, Span
from warpsmith.front.il.nodes import IlDestination, IlIndex, IlRegister, IlSource
from warpsmith.front.il.operands import read_destination, read_register, read_source
from warpsmith.front.il.tokens import IlTextError, IlWord


def word(text: str) -> IlWord:
    return IlWord(text, Span(SourceFile("p.il", text), 0, len(text)))


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("r1", IlSource(IlRegister("r", 1))),
        ("x1[r2.y+3].x", IlSource(IlRegister("x", 1, IlIndex(3, 2, "y")), "xxxx")),
        ("r1.x", IlSource(IlRegister("r", 1), "xxxx")),
        ("r12.xy", IlSource(IlRegister("r", 12), "xyyy")),
        ("v0.x0z1", IlSource(IlRegister("v", 0), "x0z1")),
        ("vWinCoord0.xy00", IlSource(IlRegister("v", 0), "xy00")),
        ("vAbsTid.x", IlSource(IlRegister("vAbsTid"), "xxxx")),
        ("cb0[3].x000_neg(x)", IlSource(IlRegister("cb", 0, IlIndex(3)), "x000", negated="x")),
        ("cb1[ r2.y + 4 ]", IlSource(IlRegister("cb", 1, IlIndex(4, 2, "y")))),
        ("g[r0.x].w", IlSource(IlRegister("g", 0, IlIndex(0, 0, "x")), "wwww")),
        ("r1_abs_neg(yw)", IlSource(IlRegister("r", 1), "xyzw", absolute=True, negated="yw")),
        ("r1.wzyx_abs", IlSource(IlRegister("r", 1), "wzyx", absolute=True)),
    ],
)
def test_sources(text: str, source: IlSource) -> None:
    assert read_source(word(text)) == source


@pytest.mark.parametrize(
    ("text", "mask"), [("r1", "xyzw"), ("r1.x___", "x___"), ("r1.yw", "_y_w"), ("r1.x0_1", "x0_1"), ("o0.z", "__z_")]
)
def test_destinations(text: str, mask: str) -> None:
    found = read_destination(word(text))
    assert found == IlDestination(IlRegister("o" if text[0] == "o" else "r", found.register.number), mask)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1", "there is no register 'q1'"),
        ("r", "'r' has no number from 0 to 4095"),
        ("r99999", "'r99999' has no number from 0 to 4095"),
        ("r1[0]", "'r1[0]' is no register"),
        ("cb0", "'cb0' is no register"),
        ("g1[0]", "there is one global buffer"),
        ("cb0[x]", "'[x]' is no index"),
        ("cb0[123456789]", "the index 123456789 is too large"),
        ("r1.xyzwx", "'.xyzwx' is no swizzle"),
        ("r1._y__", "'_y__' is no modifier that is read"),
        ("r1.", "nothing stands behind the dot"),
        ("r1_half", "'_half' is no modifier that is read"),
        ("r1_neg()", "'_neg()' is no modifier that is read"),
        ("r1_neg(yx)", "'_neg(yx)' is no modifier that is read"),
        ("r1.x__", "'__' is no modifier that is read"),
        ("o0", "'o0' is an output and cannot be read"),
        ("-r1", "'-r1' is no register"),
    ],
)
def test_what_is_no_source(text: str, message: str) -> None:
    with pytest.raises(IlTextError) as caught:
        read_source(word(text))
    assert caught.value.finding.message == message and caught.value.finding.help


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("l0", "'l0' cannot be written"),
        ("r1.xx", "'.xx' is no mask"),
        ("r1.____", "'.____' is no mask"),
        ("r1.yxzw", "'.yxzw' is no mask"),
        ("r1_neg(x)", "a destination has no modifier"),
    ],
)
def test_what_is_no_destination(text: str, message: str) -> None:
    with pytest.raises(IlTextError) as caught:
        read_destination(word(text))
    assert caught.value.finding.message == message


def test_a_declared_register_has_no_modifier() -> None:
    assert read_register(word("v0.xy__")) == (IlRegister("v", 0), "xy__")
    with pytest.raises(IlTextError):
        read_register(word("o0_abs"))
