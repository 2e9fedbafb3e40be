"""The comparison with C++ proves itself: each of these mistakes in the lowering is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lower.harness import constructs, differences, emulated, kernels, lowered, text_of
from warpsmith.lower import calls, control, conversions, names, operators, places, statements
from warpsmith.lower.frame import Frame
from warpsmith.ssa import builder
from warpsmith.ssa.nodes import Constant
from warpsmith.ssa.passes import inline, promote, spaces
from warpsmith.ssa.verify import faults
from warpsmith.tree import nodes
from warpsmith.tree import types as tree

Patch = Callable[[pytest.MonkeyPatch], None]


def _unsigned(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(operators, "is_signed", lambda kind: False)


def _no_promotion(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tree, "promote", lambda kind: kind)
    patch.setattr(tree, "common_type", lambda one, other: one)


def _wrong_space(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(spaces, "_meet_spaces", lambda found: max(found))


def _everything_is_cheap(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(control, "is_cheap", lambda frame, e: True)


def _no_fall_through(patch: pytest.MonkeyPatch) -> None:
    original = statements._switch

    def switch(frame: Frame, s: Any) -> None:
        leave = statements._leave
        patch.setattr(statements, "_leave", lambda f, target: leave(f, f.loops[-1].exit if f.loops else target))
        original(frame, s)
        patch.setattr(statements, "_leave", leave)

    patch.setitem(statements._RULES, nodes.Switch, switch)


def _sealed_too_early(patch: pytest.MonkeyPatch) -> None:
    """A phi of a loop that forgets what comes from its end."""
    original = builder.Builder._simplify

    def simplify(self: builder.Builder, pending: list[Any]) -> None:
        for value in pending:
            phis = self._home[value].phis
            if len(phis.get(value, {})) > 1 and value.name == "c":
                phis[value] = dict.fromkeys(phis[value], next(iter(phis[value].values())))
        original(self, pending)

    patch.setattr(builder.Builder, "_simplify", simplify)


def _member_offset(patch: pytest.MonkeyPatch) -> None:
    original = names._field

    def field(record: tree.Type, name: str) -> tree.Field | None:
        found = original(record, name)
        return tree.Field(found.name, found.type, max(0, found.offset - 2)) if found and found.offset > 8 else found

    patch.setattr(names, "_field", field)


def _arithmetic_shift(patch: pytest.MonkeyPatch) -> None:
    original = operators.arithmetic
    patch.setattr(operators, "arithmetic", lambda f, op, kind, a, b: original(f, op, _as_signed(op, kind), a, b))


def _as_signed(op: str, type: tree.Type) -> tree.Type:
    return tree.INT if op == ">>" and type == tree.UNSIGNED else type


def _zero_extended(patch: pytest.MonkeyPatch) -> None:
    original = conversions.resize_integer
    patch.setattr(conversions, "resize_integer", lambda b, value, to, signed: original(b, value, to, signed=False))


def _no_copy(patch: pytest.MonkeyPatch) -> None:
    """A struct that is passed by value, and is the caller's own."""

    def passed(frame: Frame, e: Any, kind: tree.Type) -> Any:
        if isinstance(kind, tree.Record):
            return places.pointer_to(frame.builder, frame.object(e))
        return original(frame, e, kind)

    original = calls.pass_value
    patch.setattr(calls, "pass_value", passed)


def _overlapping_pieces(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(promote, "_as", lambda work, operand, kind: operand if operand.type == kind else _zero(kind))


def _zero(type: Any) -> Any:
    return Constant(type, 0)


def _first_return_wins(patch: pytest.MonkeyPatch) -> None:
    """An inlined function whose early return goes on behind the return."""
    original = inline._argument
    patch.setattr(inline, "_argument", lambda given: original(dict(zip(given, reversed(given.values()), strict=True))))


def _constant_is_late(patch: pytest.MonkeyPatch) -> None:
    original = places.MemoryPlace.at
    patch.setattr(places.MemoryPlace, "at", lambda self, offset: original(self, offset & ~7))


MISTAKES: dict[str, Patch] = {
    "comparisons, divisions and shifts are unsigned": _unsigned,
    "no promotions": _no_promotion,
    "pointers to two spaces lead to one": _wrong_space,
    "nothing is skipped": _everything_is_cheap,
    "cases do not fall through": _no_fall_through,
    "a phi of a loop is its first value": _sealed_too_early,
    "members lie two bytes early": _member_offset,
    "unsigned shifts keep the sign": _arithmetic_shift,
    "narrow numbers are widened with zeros": _zero_extended,
    "structures are passed without a copy": _no_copy,
    "members of unions forget each other": _overlapping_pieces,
    "arguments change places": _first_return_wins,
    "constant offsets are cut": _constant_is_late,
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    yield emulated(_given(), tmp_path_factory.mktemp("seeded") / "built")


def _given() -> dict[str, Any]:
    return {**constructs(), **kernels(range(60, 64))}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_seen(
    mistake: str, expected: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    MISTAKES[mistake](monkeypatch)
    try:
        made = lowered(text_of(_given()), tmp_path)
    except (ValueError, AssertionError, KeyError):
        return  # the builder itself refuses
    if not any(faults(function) for function in made.module.functions):
        assert differences(made.module, _given(), expected) != []


@pytest.mark.slow
def test_without_a_mistake_nothing_is_seen(expected: dict[str, list[str]], tmp_path: Path) -> None:
    assert differences(lowered(text_of(_given()), tmp_path).module, _given(), expected) == []
