"""Messages between the processes of a survey: plain lists that mean what they meant."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.front.c.counted.writes import Store, Writes
from warpsmith.loops.search.effort import FunctionEffort, LoopEffort
from warpsmith.loops.search.traffic import ArrayTraffic
from warpsmith.poly.effects.outside import OutsideFunction, encode_function
from warpsmith.survey.plain import (
    decode_effort,
    decode_finding,
    decode_outside,
    decode_writes,
    encode_effort,
    encode_finding,
    encode_writes,
)
from warpsmith.tree.plain import Plain, encode_symbol
from warpsmith.tree.types import DOUBLE, INT, Pointer, Symbol

G = Symbol("g", "g", INT, "global")
P = Symbol("p", "p", Pointer(DOUBLE), "global")
F = Symbol("f", "f", INT, "function")


def crossed(plain: Plain) -> Plain:
    """Return what another process gets."""
    return json.loads(json.dumps(plain))  # type: ignore[no-any-return]


WRITES = Writes(
    variables=frozenset({G, P}),
    stores=frozenset({Store(P, True, DOUBLE), Store(None, False, INT)}),
    calls=frozenset({F}),
    unknown=True,
)
EFFORT = FunctionEffort(
    "f",
    12,
    ("g", "h"),
    (
        LoopEffort(-1, 10, True, 5, ("g",), (ArrayTraffic("a", 8, True, False, (0,)),)),
        LoopEffort(
            0, None, False, 7, (), (ArrayTraffic("b", 4, False, True, ()), ArrayTraffic("a", 8, True, True, (0, 1)))
        ),
    ),
)


def test_what_may_be_written() -> None:
    assert decode_writes(crossed(encode_writes(WRITES))) == WRITES
    assert decode_writes(crossed(encode_writes(Writes(frozenset(), frozenset(), frozenset(), False)))).unknown is False
    assert encode_writes(WRITES) == encode_writes(WRITES), "one text for one meaning"


def test_how_much_work_a_function_is() -> None:
    plain = crossed(encode_effort(EFFORT))
    assert decode_effort(plain) == EFFORT
    light = decode_effort(plain, memory=False)
    assert [loop.touched for loop in light.loops] == [(), ()]
    assert [(x.around, x.trips, x.counted, x.operations, x.calls) for x in light.loops] == [
        (-1, 10, True, 5, ("g",)),
        (0, None, False, 7, ()),
    ]


def test_what_is_known_of_other_files() -> None:
    plain: Plain = {
        "functions": [encode_function(OutsideFunction(F))],
        "shared": [encode_symbol(P)],
        "taken": [encode_symbol(G)],
        "mentioned": ["errno"],
        "closed": True,
    }
    found = decode_outside(crossed(plain))
    assert list(found.functions) == [F] and found.functions[F].summary is None
    assert found.shared == {P} and found.taken == {G} and found.mentioned == {"errno"} and found.closed


def test_a_finding_keeps_its_place_as_text() -> None:
    span = Span(SourceFile("a.c", "int x;\n"), 4, 5)
    found = decode_finding(crossed(encode_finding(Finding("INP004", "warning", "odd", span, help=("so", "there")))))
    assert (found.rule, found.severity, found.span, found.help) == ("INP004", "warning", None, ("so", "there"))
    assert found.message == f"{span}: odd" and "a.c:1:5" in found.message
    assert decode_finding(encode_finding(Finding("A", "error", "plain"))).message == "plain"


@pytest.mark.parametrize(
    ("decode", "plain"),
    [
        (decode_writes, None),
        (decode_writes, [[], [], []]),
        (decode_writes, [[], [], [], 1]),
        (decode_writes, [[], [[None, 1, 2]], [], False]),
        (decode_effort, ["f", 1, []]),
        (decode_effort, ["f", "1", [], []]),
        (decode_effort, ["f", 1, [], [[0, 1, 2]]]),
        (decode_effort, ["f", 1, [], [[0, 1, True, 2, [], [["a", 8, True, 1, []]]]]]),
    ],
)
def test_what_is_none_of_ours_is_refused(decode: Callable[[Plain], object], plain: Plain) -> None:
    with pytest.raises(ValueError):
        decode(plain)
