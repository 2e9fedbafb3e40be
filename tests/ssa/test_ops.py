"""The op table."""

from __future__ import annotations

from typing import get_args

from warpsmith.ssa.ops import OPS, Cost, Domain, Effect, Shape


def test_every_op_has_the_shape_of_its_name() -> None:
    assert all(name == op.name for name, op in OPS.items())
    assert all(op.pure for op in OPS.values() if op.shape in ("unary", "binary", "compare", "convert"))


def test_what_an_op_may_do() -> None:
    effects = {name: op.effect for name, op in OPS.items()}
    assert effects["load"] == "reads" and effects["store"] == "writes" and effects["call"] == "unknown"
    assert {name for name, effect in effects.items() if effect == "synchronizes"} == {
        "barrier",
        "warp_barrier",
        "fence",
    }
    assert {name for name, effect in effects.items() if effect == "lanes"} == {
        "vote", "shuffle", "match", "reduce", "active",
    }  # fmt: skip
    assert all(effects[name] == "writes" for name in OPS if name.startswith("atomic_"))
    assert not OPS["unmodeled"].pure and OPS["lanewise"].pure and OPS["query"].pure


def test_operands_change_places_only_where_that_changes_nothing() -> None:
    turned = {name for name, op in OPS.items() if op.commutes}
    assert {"add", "mul", "and", "or", "xor", "eq", "ne", "fadd", "ffma", "smin", "foeq", "fune", "ordered"} <= turned
    assert not turned & {"sub", "sdiv", "urem", "shl", "slt", "uge", "fsub", "folt", "fuge", "copysign", "select"}
    assert not turned & {"usubsat", "ssubsat", "insert", "uextract"} and {"saddsat", "uaddsat"} <= turned


def test_each_column_has_its_words() -> None:
    for op in OPS.values():
        assert op.shape in get_args(Shape) and op.domain in get_args(Domain)
        assert op.cost in get_args(Cost) and op.effect in get_args(Effect)
    assert (OPS["shl"].shape, OPS["smulwide"].shape, OPS["foeq"].domain, OPS["bitcast"].cost) == (
        "shift", "wide", "float", "none",
    )  # fmt: skip
