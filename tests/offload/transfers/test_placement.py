"""Copies stand where they must: named programs, random programs run by a version-counting machine, seeded bugs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from tests.offload.transfers.abstract_programs import Machine, Program, StaleError, random_program
from tests.sampling import one_in
from warpsmith.offload.plan import TransferScheme
from warpsmith.offload.transfers import placement, transfers
from warpsmith.offload.transfers.flow import Flow, Point
from warpsmith.offload.transfers.placement import Insertion, PlacementError, PointAccess, arrange
from warpsmith.offload.transfers.transfer_check import check_transfers
from warpsmith.tree.nodes import Block, Break, Copy, For, If, Launch, Return, Stmt, Switch, While

SCHEMES: tuple[TransferScheme, ...] = ("fragment", "host", "mixed", "optimized")


def outline(statements: Sequence[Stmt]) -> str:
    """The copies, kernels and control flow in one line: `>x` to the device, `<x` to the host, `k` a kernel."""
    words: list[str] = []
    for stmt in statements:
        match stmt:
            case Copy():
                words.append((">" if stmt.to_device else "<") + stmt.variable.name)
            case Launch():
                words.append("k")
            case Block():
                words.append(outline(stmt.statements))
            case For() | While():
                words.append(f"loop({outline([stmt.body])})")
            case If():
                other = f" else {outline([stmt.other])}" if stmt.other is not None else ""
                words.append(f"if({outline([stmt.then])}{other})")
            case Switch():
                words.append(f"switch({' | '.join(outline(case.body) for case in stmt.cases)})")
            case Break():
                words.append("break")
            case Return():
                words.append("return")
            case _:
                words.append("h" if type(stmt).__name__ == "ExprStmt" else "")
    return " ".join(word for word in words if word)


def test_lu_copies_in_once_and_out_once() -> None:
    p = Program()
    moved = p.port(p.loop(p.kernel("x", "x"), p.kernel("x", "x")))
    assert outline(moved.statements) == ">x loop(k k) <x"
    assert [(t.to_device, t.in_loop) for t in moved.transfers] == [(True, None), (False, None)]


def test_jacobi_copies_nothing_inside_its_time_loop() -> None:
    p = Program(("x", "y"))
    moved = p.port(p.loop(p.kernel("x", "y"), p.kernel("y", "x")))
    assert outline(moved.statements) == ">x >y loop(k k) <x <y"


def test_the_printed_rule_would_lose_a_path() -> None:
    """if (c) { host writes x } else { kernel writes x }: below the join, each copy destroys the other path's data."""
    p = Program()
    moved = p.port(p.when([p.host(write="x")], [p.kernel("x", "x")]), p.kernel("x", "x"), p.host(use="x"))
    text = outline(moved.statements)
    inside, behind = text[text.index("if(") :].split(")", 1)
    assert ">x" in inside.split("else")[0] or "<x" in inside.split("else")[1]
    assert not (">x" in behind and "<x" in behind.split("k")[0])


def test_the_same_program_without_a_kernel_behind_it_pays_in_the_kernels_arm() -> None:
    p = Program()
    moved = p.port(p.when([p.host(write="x")], [p.kernel("x", "x")]))
    assert outline(moved.statements) == "if(h else >x k <x)"


def test_what_the_host_reads_in_the_loop_is_copied_there() -> None:
    p = Program()
    moved = p.port(p.loop(p.kernel("x", "x"), p.host(use="x")))
    assert outline(moved.statements) == ">x loop(k <x h)"


def test_an_input_goes_to_the_device_before_the_loop() -> None:
    p = Program()
    moved = p.port(p.loop(p.loop(p.kernel("x"))))
    assert outline(moved.statements) == ">x loop(loop(k))"


def test_what_the_host_changes_in_the_loop_goes_over_in_the_loop() -> None:
    p = Program()
    moved = p.port(p.loop(p.host(write="x"), p.loop(p.kernel("x"))))
    assert outline(moved.statements) == "loop(h >x loop(k))"


def test_a_kernel_that_covers_its_section_needs_no_copy_in() -> None:
    p = Program()
    assert outline(p.port(p.kernel(whole="x")).statements) == "k <x"
    p = Program()
    assert outline(p.port(p.kernel(write="x")).statements) == ">x k <x"


def test_what_dies_is_not_copied_back() -> None:
    p = Program()
    p.live = frozenset()
    assert outline(p.port(p.kernel(use="x", write="x"), p.kernel(use="x")).statements) == ">x k k"


def test_equal_copies_of_both_arms_become_one() -> None:
    p = Program()
    moved = p.port(p.when([p.kernel("x", "x")], [p.kernel("x", "x")]))
    assert outline(moved.statements) == ">x if(k else k) <x"


def test_a_return_pays_what_it_owes() -> None:
    p = Program()
    moved = p.port(p.kernel("x", "x"), p.loop(p.when([p.finish()]), p.kernel("x", "x")))
    assert outline(moved.statements) == ">x k loop(if(<x return) k) <x"


def test_a_loop_condition_on_the_host_sees_new_data() -> None:
    p = Program(("x", "e"))
    moved = p.port(p.repeat("do", [p.host(whole="e"), p.kernel("xe", "xe")], use="e"))
    assert outline(moved.statements) == ">x loop(h >e k <e) <x"


def test_a_host_loop_in_one_arm_of_a_time_loop_gets_its_copy_in_front() -> None:
    p = Program()
    moved = p.port(p.loop(p.kernel("x", "x"), p.when([p.loop(p.host(use="x"))])))
    assert outline(moved.statements) == ">x loop(k if(<x loop(h))) <x"
    p = Program()
    moved = p.port(p.loop(p.kernel("x", "x"), p.when([p.loop(p.host(use="x", write="x"))], [p.kernel("x", "x")])))
    assert outline(moved.statements) == ">x loop(k if(<x loop(h) >x else k)) <x"


def test_the_schemes_differ_in_what_they_copy() -> None:
    counts = {}
    for scheme in SCHEMES:
        p = Program()
        counts[scheme] = outline(p.port(p.loop(p.kernel("x", "x"), p.kernel("x", "x")), scheme=scheme).statements)
    assert counts == {
        "fragment": "loop(>x k <x >x k <x)",
        "host": ">x loop(k k) <x",
        "mixed": ">x loop(k <x k <x)",
        "optimized": ">x loop(k k) <x",
    }


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_random_programs_never_use_old_data(scheme: TransferScheme) -> None:
    for seed in range(80):
        program, scope = random_program(random.Random(seed))
        statements = program.port(*scope, scheme=scheme).statements
        for run in range(12):
            machine = Machine(program, program.offload_region(scope), random.Random(run))
            try:
                machine.execute(statements)
            except StaleError as error:
                pytest.fail(f"seed {seed}: {error}: {outline(statements)}")


def expected_copies(statements: Sequence[Stmt], times: int = 1 << 20) -> Counter[str]:
    """How often each object is copied in so many runs: every loop runs ten times, every condition holds in half."""
    found: Counter[str] = Counter()
    for stmt in statements:
        match stmt:
            case Copy():
                found[stmt.variable.name] += times
            case Block():
                found.update(expected_copies(stmt.statements, times))
            case For() | While():
                found.update(expected_copies([stmt.body], 10 * times))
            case If():
                for arm in (stmt.then, stmt.other):
                    found.update(expected_copies([arm] if arm is not None else [], times // 2))
            case Switch():
                for one in stmt.cases:
                    found.update(expected_copies(one.body, times // 2))
            case _:
                pass
    return found


def more_than_another_scheme(seeds: range) -> list[int]:
    """The programs in which the optimized scheme copies an object more often than another scheme does."""
    worse = []
    for seed in seeds:
        counts: dict[TransferScheme, Counter[str]] = {}
        for scheme in SCHEMES:
            program, scope = random_program(random.Random(seed))
            counts[scheme] = expected_copies(program.port(*scope, scheme=scheme).statements)
        best = counts.pop("optimized")
        if any(best[name] > other[name] for other in counts.values() for name in best):
            worse.append(seed)
    return worse


def test_no_scheme_copies_an_object_less_often_than_the_optimized_one() -> None:
    assert not more_than_another_scheme(range(60))


def test_a_placement_that_forgets_loops_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement.FlowProblem, "weight", lambda self, number: 1)
    assert more_than_another_scheme(range(12))


def test_the_optimized_scheme_copies_less() -> None:
    totals = dict.fromkeys(SCHEMES, 0)
    for seed in range(60):
        for scheme in SCHEMES:
            program, scope = random_program(random.Random(seed))
            statements = program.port(*scope, scheme=scheme).statements
            for run in range(6):
                machine = Machine(program, program.offload_region(scope), random.Random(run))
                machine.execute(statements)
                totals[scheme] += machine.copies
    assert totals["optimized"] == min(totals.values())
    assert totals["optimized"] * 3 < totals["mixed"] * 2


# --- seeded bugs

Mutant = Callable[[Flow, tuple[PointAccess, ...], TransferScheme], frozenset[Insertion]]


def _without_preds(flow: Flow, dropped: Callable[[int, int], bool]) -> Flow:
    """The flow without some edges (never all into a point)."""
    points: list[Point] = []
    for number, point in enumerate(flow.points):
        kept = [p for p in point.preds if not dropped(p, number)] or point.preds
        points.append(replace(point, preds=kept, succs=[]))
    for number, point in enumerate(points):
        for pred in point.preds:
            points[pred].succs.append(number)
    return replace(flow, points=tuple(points))


def _forget_partial(flow: Flow, accesses: tuple[PointAccess, ...], scheme: TransferScheme) -> frozenset[Insertion]:
    return arrange(flow, tuple(replace(a, device_use=a.device_use and not a.device_write) for a in accesses), scheme)


def _forget_exits(flow: Flow, accesses: tuple[PointAccess, ...], scheme: TransferScheme) -> frozenset[Insertion]:
    pairs = zip(flow.points, accesses, strict=True)
    return arrange(flow, tuple(PointAccess() if p.kind == "exit" else a for p, a in pairs), scheme)


def _forget_back_edges(flow: Flow, accesses: tuple[PointAccess, ...], scheme: TransferScheme) -> frozenset[Insertion]:
    return arrange(_without_preds(flow, lambda pred, point: pred >= point), accesses, scheme)


def _forget_second_arms(flow: Flow, accesses: tuple[PointAccess, ...], scheme: TransferScheme) -> frozenset[Insertion]:
    return arrange(_without_preds(flow, lambda pred, point: pred < point - 2), accesses, scheme)


def _forget_host_writes(flow: Flow, accesses: tuple[PointAccess, ...], scheme: TransferScheme) -> frozenset[Insertion]:
    return arrange(flow, tuple(replace(a, host_write=False) for a in accesses), scheme)


def _forget_host_uses(flow: Flow, accesses: tuple[PointAccess, ...], scheme: TransferScheme) -> frozenset[Insertion]:
    pairs = zip(flow.points, accesses, strict=True)
    return arrange(flow, tuple(replace(a, host_use=a.host_use and p.kind == "exit") for p, a in pairs), scheme)


def _forget_conditions(flow: Flow, accesses: tuple[PointAccess, ...], scheme: TransferScheme) -> frozenset[Insertion]:
    pairs = zip(flow.points, accesses, strict=True)
    own = tuple(PointAccess() if p.kind == "host" and not isinstance(p.nodes[0], Stmt) else a for p, a in pairs)
    return arrange(flow, own, scheme)


def _drop_last(flow: Flow, accesses: tuple[PointAccess, ...], scheme: TransferScheme) -> frozenset[Insertion]:
    return frozenset(sorted(arrange(flow, accesses, scheme))[:-1])


def _drop_first(flow: Flow, accesses: tuple[PointAccess, ...], scheme: TransferScheme) -> frozenset[Insertion]:
    return frozenset(sorted(arrange(flow, accesses, scheme))[1:])


def _turn_around(flow: Flow, accesses: tuple[PointAccess, ...], scheme: TransferScheme) -> frozenset[Insertion]:
    first, *rest = sorted(arrange(flow, accesses, scheme)) or [(0, "to device")]
    return frozenset({(first[0], "to host" if first[1] == "to device" else "to device"), *rest})


def _hoist_everything(flow: Flow, accesses: tuple[PointAccess, ...], scheme: TransferScheme) -> frozenset[Insertion]:
    result = arrange(flow, accesses, scheme)
    for span in flow.loops:
        inside = {c for c in result if span.head <= c[0] < span.end}
        result = (result - inside) | {(span.entry, direction) for _, direction in inside}
    return result


def _sink_below_branches(flow: Flow, accesses: tuple[PointAccess, ...], scheme: TransferScheme) -> frozenset[Insertion]:
    """The printed rule: a copy at the end of an arm moves behind the branch, whatever the other arm did."""
    result = set(arrange(flow, accesses, scheme))
    for copy in tuple(result):
        succs = flow.points[copy[0]].succs
        if len(succs) == 1 and len(flow.points[succs[0]].preds) > 1 and flow.points[succs[0]].kind == "slot":
            result.remove(copy)
            result.add((succs[0], copy[1]))
    return frozenset(result)


MUTANTS: tuple[Mutant, ...] = (
    _forget_partial, _forget_exits, _forget_back_edges, _forget_second_arms, _forget_host_writes, _forget_host_uses,
    _forget_conditions, _drop_last, _drop_first, _turn_around, _hoist_everything, _sink_below_branches,
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mutant", one_in(4, MUTANTS), ids=lambda m: m.__name__.strip("_"))
def test_a_seeded_bug_is_caught_by_the_check_and_by_running(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "arrange", mutant)
    monkeypatch.setattr(transfers, "check_transfers", lambda *_: ())
    found, stale = 0, 0
    for seed in range(50):
        program, scope = random_program(random.Random(seed))
        try:
            statements = program.port(*scope).statements
        except PlacementError:
            continue
        offload_region = program.offload_region(scope)
        complaints = check_transfers(statements, offload_region, program)
        found += bool(complaints)
        wrong = any(_goes_wrong(program, scope, statements, run) for run in range(10))
        stale += wrong
        assert complaints or not wrong, f"seed {seed}: not seen by the check: {outline(statements)}"
    assert found >= 2
    assert stale >= 1


def test_what_is_called_valid_never_uses_old_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies that lack one, or go the other way, are called valid only where no run shows that they are wrong."""
    said: list[bool] = []

    def spoiled(flow: Flow, accesses: tuple[PointAccess, ...], scheme: TransferScheme) -> frozenset[Insertion]:
        mutant = MUTANTS[-6 + len(said) % 4] if spoil else arrange
        copies = mutant(flow, accesses, scheme)
        said.append(placement.FlowProblem(flow, accesses).valid(copies))
        return copies

    monkeypatch.setattr(transfers, "arrange", spoiled)
    monkeypatch.setattr(transfers, "check_transfers", lambda *_: ())
    stale = 0
    for seed in range(40):
        program, scope = random_program(random.Random(seed))
        for spoil in (False, True):
            said.clear()
            statements = program.port(*scope).statements
            wrong = any(_goes_wrong(program, scope, statements, run) for run in range(10))
            stale += wrong
            assert spoil or all(said), seed
            assert not (wrong and all(said)), f"seed {seed}: {outline(statements)}"
    assert stale > 10


def _goes_wrong(program: Program, scope: tuple[Stmt, ...], statements: tuple[Stmt, ...], run: int) -> bool:
    try:
        Machine(program, program.offload_region(scope), random.Random(run)).execute(statements)
    except StaleError:
        return True
    return False
