"""The table of IL's instructions."""

from __future__ import annotations

from warpsmith.front.il.arithmetic import _COMPUTED
from warpsmith.front.il.ops import CONDITIONAL, FLOW, IL_OPS


def test_every_instruction_that_computes_has_its_meaning() -> None:
    computed = {op.name for op in IL_OPS.values() if op.form in ("map", "scalar")}
    assert computed == _COMPUTED.keys()


def test_control_flow_writes_nothing() -> None:
    assert all(op.writes != (op.form in FLOW or op.form in ("fence", "lds_store")) for op in IL_OPS.values())
    assert all(op.acts for op in IL_OPS.values() if not op.writes)
    assert all((op.sources == 1) == (op.form in CONDITIONAL) for op in IL_OPS.values() if op.form in FLOW)


def test_what_gives_a_float_is_said_where_it_matters() -> None:
    assert {op.name for op in IL_OPS.values() if op.divides} == {"div", "rcp", "rsq"}
    assert IL_OPS["iadd"].reads == "integer" and IL_OPS["and"].reads == "bits" and IL_OPS["lt"].gives == "integer"
