"""A kernel is run under a policy by the interpreter and by the compiled machine, and both must show the same."""

from __future__ import annotations

from collections.abc import Iterable

from tests.simt.engine.agree import Case, Differs
from warpsmith.simt.choose_policy import TURNS_OF
from warpsmith.simt.counters import BlockCount
from warpsmith.simt.engine.engine import Checks, Run, run, why_refused
from warpsmith.simt.policies.machine import PolicyName, PolicyRun, run_policy, why_not
from warpsmith.ssa.nodes import BasicBlock

__all__ = ["agree_under", "policy_checks"]


def policy_checks(policy: PolicyName) -> Checks:
    """Return what is compiled to show a policy."""
    turns = TURNS_OF[policy]
    return Checks(requests=False, uninitialized=False, races=False, turns=turns, policy=True)


def agree_under(policy: PolicyName, case: Case) -> str:
    """Run a kernel twice; return "" where both show the same, else why the compiled machine leaves it to the
    interpreter. Raises Differs."""
    function = case.module.function(case.name)
    assert function is not None
    memory, launch = case.placed(checks=False)
    checks = policy_checks(policy)
    why = why_not(policy, case.module) or why_refused(case.module, function, launch, checks.turns)
    if why:
        return why
    before = [bytes(buffer.data) for buffer in memory.buffers]
    made = run(case.module, case.name, launch, memory, checks)
    if made.why:
        _expect("memory that is put back", [bytes(b.data) for b in memory.buffers], before)
        return made.why
    other, launch = case.placed(checks=False)
    right = run_policy(policy, case.module, case.name, launch, other)
    if not right.outcome.complete or [p for p in right.outcome.problems if p.kind != "overflow"]:
        raise Differs(f"the interpreter alone finds {right.outcome.problems[:1]}")
    for one, two in zip(memory.buffers, other.buffers, strict=True):
        _expect(one.name, bytes(one.data).hex(), bytes(two.data).hex())
    _compare_counts(made, right)
    return ""


def _compare_counts(made: Run, right: PolicyRun) -> None:
    own, sums = made.counts.totals, right.totals
    for name in ("warp_instructions", "lane_instructions", "issued_slots", "unfilled", "other"):
        _expect(name, getattr(own, name), getattr(sums, name))
    _expect("lost slots", dict(own.lost), dict(sums.lost))
    _expect("blocks", _rows(made.counts.blocks.items()), _rows(right.blocks.items()))
    _expect("sets that wait", made.counts.most_waiting, right.most_waiting)


def _rows(blocks: Iterable[tuple[BasicBlock, BlockCount]]) -> dict[tuple[str, int], BlockCount]:
    return {(block.name, id(block)): count for block, count in blocks if count.visits}


def _expect(what: str, one: object, two: object) -> None:
    if one != two:
        raise Differs(f"{what}: {one} is not {two}")
