"""DIV: branches that part the threads of a warp."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from msgspec.structs import replace

from warpsmith.analysis.affine.failures import find_failing, is_test_of_failure
from warpsmith.analysis.affine.joins import follow_divergence
from warpsmith.analysis.memory.branches import PARTED
from warpsmith.analysis.rules.branch_kinds import (
    ORDERED,
    is_boundary,
    is_bounded_by_guard,
    is_edge_of_block,
    is_of_one_thread,
    period_of,
)
from warpsmith.analysis.rules.finding import Estimate, EvidenceTable, KernelFinding, Why, why_of
from warpsmith.analysis.rules.lanes import LaneValues, alive_at, masks
from warpsmith.analysis.rules.origins import ValueOrigin, origin
from warpsmith.analysis.rules.sides import (
    BranchTest,
    Sides,
    comparison,
    cost_of,
    ends_kernel,
    loop_left_by,
    sides_of,
)
from warpsmith.analysis.uniformity.facts import BranchFact, KernelFacts
from warpsmith.analysis.uniformity.seeds import MAYBE_OWN
from warpsmith.base.findings import Certainty, Note
from warpsmith.base.source import Span
from warpsmith.ssa.graph import EXIT
from warpsmith.ssa.nodes import Branch, Callee, Constant, Instruction, Jump, Operand, Switch, Value
from warpsmith.ssa.ops import OPS

__all__ = ["divergence"]

LIGHT = 8
"""Instructions; a side that costs no more is as well run by all lanes."""
HEAVY_TAIL = 24
_TEST = 3


def divergence(facts: KernelFacts) -> Iterator[KernelFinding]:
    """Yield what is to be said of the branches of a kernel, one thing a branch."""
    lanes = LaneValues(facts)
    chained = dict(_chains(facts))
    graph = facts.warp_level.graph
    failing = find_failing(graph, {block.name: block for block in facts.function.blocks})
    exits: set[str] = set()
    for branch in facts.branches:
        if branch.warp != "divergent" or is_test_of_failure(graph, failing, branch.place.name):
            continue
        if branch.why[-1:] == (MAYBE_OWN,):
            # nothing else tells threads apart, and hardly anybody keeps such an address in memory
            continue
        if branch.place.name in chained:
            found = chained[branch.place.name]
            if found is not None:
                yield found
            continue
        for one in _of_branch(facts, branch, lanes):
            if one.rule == "DIV005":
                exits.add(branch.place.name)
                if _goes_on(facts, branch, exits):
                    continue
            yield one
    yield from _indirect_calls(facts)


def _goes_on(facts: KernelFacts, branch: BranchFact, exits: Set[str]) -> bool:
    """Whether a branch is a further test of one condition, as in `a[i] > 0 && b[i] > 0`, after one in `exits`."""
    before = facts.warp_level.graph.predecessors[branch.place.name]
    quiet = all(OPS[i.op].pure or i.op == "load" for i in branch.place.instructions)
    return quiet and len(before) == 1 and before[0] in exits


def _of_branch(facts: KernelFacts, branch: BranchFact, lanes: LaneValues) -> Iterable[KernelFinding]:
    """Return what fits best of what can be said of one branch."""
    terminator = branch.place.terminator
    if isinstance(terminator, Switch):
        return [_many_ways(facts, branch, len({block for _, block in terminator.cases} | {terminator.other}))]
    assert isinstance(terminator, Branch)
    test = comparison(facts, terminator.condition)
    made_of = origin(facts, terminator.condition)
    sides = sides_of(facts, branch)
    if sides is None or made_of.of_time:
        return []
    if loop_left_by(facts, branch) is not None:
        known = is_bounded_by_guard(facts, branch, lanes) or (test is not None and _is_retry(facts, test))
        return [] if known else [_trip_count(facts, branch, made_of)]
    if is_boundary(facts, branch):
        return [_boundary(facts, branch, "only the warps at the edge part here: a bounds check, nothing to gain")]
    if test is not None and (found := _find_interleaved(facts, branch, test)) is not None:
        return [found]
    split = masks(lanes, terminator)
    if split is not None and all(mask in (0, full) for mask, full in zip(split, _full(lanes), strict=True)):
        return []
    if (period := period_of(facts, test, split)) is not None and sides.most > 0:
        return [_modulo(facts, branch, sides, period, split)] if _is_of_warps(facts, branch, lanes) else []
    return _of_sides(facts, branch, sides, made_of, split)


def _of_sides(
    facts: KernelFacts, branch: BranchFact, sides: Sides, made_of: ValueOrigin, split: tuple[int, ...] | None
) -> Iterable[KernelFinding]:
    """Return what the sides of a branch cost that is none of the known kinds."""
    if split is None and is_edge_of_block(facts, branch):
        return [_boundary(facts, branch, "at most one warp of a block parts here: nothing to gain")]
    if not _leaves_one(facts, branch, split) and (found := _early_exit(facts, branch, sides)) is not None:
        return [found]
    late = _late(facts, branch, sides)
    if sides.least <= LIGHT:
        return late
    if split is None and is_of_one_thread(facts, branch):
        return [_boundary(facts, branch, "one thread alone goes another way: nothing to gain")]
    return [_report_two_sided(facts, branch, sides, made_of, split), *late]


def _full(lanes: LaneValues) -> list[int]:
    return [(1 << len(warp)) - 1 for warp in lanes.warps(range(len(lanes.threads)))]


# --- findings


def _make_finding(
    facts: KernelFacts, branch: BranchFact, rule: str, message: str, certainty: Certainty
) -> KernelFinding:
    return KernelFinding(
        rule, message, certainty, facts.kernel, branch.span, f"branch {_text(branch.span)}",
        why=why_of(branch.why, branch.lines),
    )  # fmt: skip


def _text(span: Span | None) -> str:
    return "" if span is None else " ".join(span.text.split())


def _on_data(made_of: ValueOrigin) -> tuple[Certainty, tuple[str, ...]]:
    """Return how sure it is that threads diverge, and on what it depends."""
    if made_of.loads:
        return "conditional", ("values that are loaded from memory differ between the lanes of a warp",)
    if made_of.unknown:
        return "heuristic", ("what a call or an exchange gives differs between the lanes of a warp",)
    return "conditional", ("the values that are compared lie so that lanes of one warp differ",)


def _report_two_sided(
    facts: KernelFacts, branch: BranchFact, sides: Sides, made_of: ValueOrigin, split: tuple[int, ...] | None
) -> KernelFinding:
    message = (
        f"the branch differs between the threads of a warp: {sides.then_cost} and {sides.other_cost} "
        "instructions run one after the other"
    )
    certainty, assumptions = ("proven", ()) if split is not None else _on_data(made_of)
    found = _make_finding(facts, branch, "DIV001", message, certainty)
    both, tid = sides.then_cost + sides.other_cost, facts.words.thread("x")
    return replace(
        found,
        assumptions=assumptions,
        label="differs between the lanes of a warp",
        evidence=(_split(facts, split),) if split is not None else (),
        estimate=_slots(both / sides.most),
        help=(
            f"let whole warps take one side: decide by {tid} / 32, or sort the work so that neighbors agree",
            "or move what both sides have in common behind the branch",
        ),
        impact=both / max(1, sides.most),
    )


def _slots(factor: float) -> Estimate:
    return Estimate("instruction slots of a warp that parts", round(factor, 2), "times those of the longer side")


def _split(facts: KernelFacts, split: tuple[int, ...]) -> EvidenceTable:
    width = facts.device.warp_width
    rows = [(str(warp), f"0x{mask:0{width // 4}x}", _picture(mask, width)) for warp, mask in enumerate(split)]
    same = all(mask == split[0] for mask in split)
    shown = [("all", *rows[0][1:])] if same and len(rows) > 1 else rows[:4]
    return EvidenceTable("lanes that take the branch, if all get there", ("warp", "mask", "lanes"), tuple(shown))


def _picture(mask: int, width: int) -> str:
    return "".join("#" if mask >> k & 1 else "-" for k in range(width))


def _is_of_warps(facts: KernelFacts, branch: BranchFact, lanes: LaneValues) -> bool:
    """Whether more than one warp of a block may get to a branch: of one warp's lanes none can be given to another."""
    alive = alive_at(facts, branch.place.name, lanes)
    return alive is None or sum(any(warp) for warp in lanes.warps(alive)) > 1 or len(lanes.warps(alive)) == 1


def _modulo(
    facts: KernelFacts, branch: BranchFact, sides: Sides, period: int, split: tuple[int, ...] | None
) -> KernelFinding:
    said = "every warp runs both sides" if sides.least else "every warp runs it with a part of its lanes"
    message = f"{said}: the branch follows the thread's index modulo {period}"
    found = _make_finding(facts, branch, "DIV002", message, "proven")
    factor = (sides.then_cost + sides.other_cost) / max(1, sides.most) if sides.least else 1.0
    tid = facts.words.thread("x")
    return replace(
        found,
        label=f"alternates with a period of {period} lanes",
        evidence=(_split(facts, split),) if split is not None else (),
        estimate=_slots(factor) if sides.least else None,
        help=(f"give the two kinds of work to different warps: decide by ({tid} / 32), and renumber the items",),
        impact=max(factor, 1.0),
    )


def _trip_count(facts: KernelFacts, branch: BranchFact, made_of: ValueOrigin) -> KernelFinding:
    known = made_of.of_thread or any(text in PARTED for text in branch.why)
    index = "the thread's index" if known else "what is not known"
    source = "loaded data" if made_of.loads else "a call or an exchange" if made_of.unknown else index
    message = f"lanes of a warp leave the loop in different iterations: how often it runs depends on {source}"
    sure = not made_of.unknown and (known or bool(made_of.loads)) and not _is_of_flags(facts, made_of)
    found = _make_finding(facts, branch, "DIV003", message, "conditional" if sure else "heuristic")
    helps = (
        "sort or bucket the items so that the lanes of a warp have as much to do",
        "or give each long item to a whole warp: lanes stride over it and reduce at the end",
    )
    assumptions = ("the numbers of iterations differ between the lanes of a warp",)
    return replace(found, assumptions=assumptions, label="the warp stays until its last lane leaves", help=helps)


def _is_retry(facts: KernelFacts, test: BranchTest) -> bool:
    """Whether a loop runs until an atomic operation has found what it should: there is nothing to sort."""
    definitions = facts.warp_level.definitions
    makers = [definitions.get(side) for side in (test.left, test.right) if isinstance(side, Value)]
    return any(isinstance(made, Instruction) and made.op.startswith("atomic_") for made in makers)


def _is_of_flags(facts: KernelFacts, made_of: ValueOrigin) -> bool:
    """Whether all that lanes may differ by is what they read at places that are the same for all: flags, which change
    for all of them alike."""
    if made_of.of_thread or not made_of.loads:
        return False
    level = facts.warp_level
    return all(level.is_uniform(load.operands[0], level.homes[load.results[0]]) for load in made_of.loads)


def _boundary(facts: KernelFacts, branch: BranchFact, message: str) -> KernelFinding:
    return replace(_make_finding(facts, branch, "DIV008", message, "proven"), impact=0.0, why=())


def _leaves_one(facts: KernelFacts, branch: BranchFact, split: tuple[int, ...] | None) -> bool:
    """Whether one lane of a warp at most goes on where the others end, as in `if (tid == 0)` at the end: there are no
    lanes to compact. `split`: those that take the branch."""
    terminator = branch.place.terminator
    assert isinstance(terminator, Branch)
    if split is None:
        return False
    full = (1 << facts.device.warp_width) - 1
    on = [mask if ends_kernel(facts, terminator.other) else full & ~mask for mask in split]
    return all(mask.bit_count() <= 1 for mask in on)


def _early_exit(facts: KernelFacts, branch: BranchFact, sides: Sides) -> KernelFinding | None:
    terminator = branch.place.terminator
    assert isinstance(terminator, Branch)
    leaves = [ends_kernel(facts, way) for way in (terminator.then, terminator.other)]
    tail = sides.other_cost if leaves[0] else sides.then_cost
    if not any(leaves) or all(leaves) or tail < HEAVY_TAIL or facts.warp_level.graph.cycles_around(branch.place.name):
        return None
    made_of = origin(facts, terminator.condition)
    if made_of.parameters and not (made_of.loads or made_of.unknown):
        return None  # a bounds check: only warps at the edge part
    message = f"some lanes leave here, and {tail} instructions follow for the rest: their slots stay empty"
    certainty, assumptions = _on_data(made_of)
    found = _make_finding(facts, branch, "DIV005", message, certainty)
    helps = ("compact the items that go on into full warps first (a ballot and a prefix sum of its bits)",)
    label = "lanes that leave are idle until the kernel ends"
    return replace(found, assumptions=assumptions, label=label, help=helps)


def _many_ways(facts: KernelFacts, branch: BranchFact, count: int, what: str = "a switch") -> KernelFinding:
    message = f"{what} with {count} targets is taken lane by lane: a warp runs each target that a lane asks for"
    found = _make_finding(facts, branch, "DIV006", message, "conditional")
    return replace(
        found,
        assumptions=("lanes of one warp ask for different targets",),
        label=f"up to {count} passes",
        help=("sort the items by target, or replace the code of the targets by a table of values",),
        estimate=_slots(float(count)),
        impact=float(count),
    )


def _late(facts: KernelFacts, branch: BranchFact, sides: Sides) -> list[KernelFinding]:
    """Return where threads that diverged run the same code apart from each other, since they meet too late."""
    graph = facts.warp_level.graph
    if sides.join == EXIT and not sides.least:
        return []
    follows = follow_divergence(graph, branch.place.name)
    both = sides.then & sides.other
    shared = sorted(both, key=graph.rank.__getitem__)
    cost = cost_of(facts, shared)
    # two tests for one way, as compilers make them of `a || b`: they are joined, or as cheap as if they were
    is_joined = not sides.least and sides.most <= _TEST
    if follows.left or not shared or cost <= LIGHT or is_joined:
        return []
    blocks = {block.name: block for block in facts.function.blocks}
    early, join = blocks[shared[0]], blocks.get(sides.join)
    message = f"{cost} instructions are on both ways, but threads meet again only behind them"
    spans = [(_first(early.instructions), "the ways come together here already")]
    if join is not None:
        spans.append((_first(join.instructions), "threads wait for each other only here"))
    related = tuple(Note(span, text) for span, text in spans if span is not None)
    found = _make_finding(facts, branch, "DIV007", message, "conditional")
    return [
        replace(
            found,
            assumptions=("threads meet at the immediate post-dominator, as hardware and compilers arrange it",),
            related=related,
            help=("nest the conditions so that each `if` has one join, or use a flag in place of goto and break",),
        )
    ]


def _first(instructions: Iterable[Instruction]) -> Span | None:
    return next((i.span for i in instructions if i.span is not None), None)


# --- chains


def _find_interleaved(facts: KernelFacts, branch: BranchFact, test: BranchTest) -> KernelFinding | None:
    """Return DIV004 where the thread's index modulo a number that changes with the loop around is compared with 0."""
    if test.op not in ("eq", "ne") or not isinstance(test.right, Constant) or test.right.bits:
        return None
    made = facts.warp_level.definitions.get(test.left) if isinstance(test.left, Value) else None
    if not isinstance(made, Instruction) or made.op not in ("and", "urem", "srem"):
        return None
    ways = [(made.operands[0], made.operands[1]), (made.operands[1], made.operands[0])]
    for index, step in ways if made.op == "and" else ways[:1]:
        of_index, of_step = origin(facts, index), origin(facts, step)
        masked = made.op != "and" or _is_counted(facts, step)
        if masked and of_index.of_thread and not of_index.loop and of_step.loop and not of_step.of_thread:
            message = "the lanes that work are spread over all warps: a reduction in the interleaved order"
            found, words = _make_finding(facts, branch, "DIV004", message, "proven"), facts.words
            helps = (
                "let the first threads work: `if (tid < s)` with s halved in each step keeps whole warps busy",
                f"below 32 active threads, {words.shuffle_down} needs neither {words.shared} memory nor a barrier",
            )
            return replace(found, label="fewer and fewer lanes of every warp", help=helps, impact=2.0)
    return None


def _is_counted(facts: KernelFacts, mask: Operand) -> bool:
    """Whether a mask is made as `2 * s - 1`: one bit alone, as bitonic sorts have it, splits the lanes in halves."""
    made = facts.warp_level.definitions.get(mask) if isinstance(mask, Value) else None
    return isinstance(made, Instruction) and made.op in ("add", "sub", "not", "xor")


def _chains(facts: KernelFacts) -> Iterator[tuple[str, KernelFinding | None]]:
    """Yield blocks that compare one value with different constants, as a switch is compiled; the first gets the
    finding, the others None."""
    groups: dict[Value, list[tuple[BranchFact, BranchTest]]] = {}
    for branch in facts.branches:
        terminator = branch.place.terminator
        if branch.warp != "divergent" or not isinstance(terminator, Branch):
            continue
        test = comparison(facts, terminator.condition)
        if test is None or not isinstance(test.left, Value) or not isinstance(test.right, Constant):
            continue
        if test.op in ("eq", "ne", *ORDERED):
            groups.setdefault(test.left, []).append((branch, test))
    for tested, group in groups.items():
        made_of = origin(facts, tested)
        if made_of.plain and made_of.of_block:
            # the edges of an array: few warps of the launch part there
            continue
        ladder = _find_ladder(facts, group)
        equal = (_way_if_equal(branch, test) for branch, test in ladder if test.op in ("eq", "ne"))
        targets = {_behind_jumps(facts, way) for way in equal}
        if len(targets) < 2:
            continue
        first = ladder[0][0]
        yield first.place.name, _many_ways(facts, first, len(targets) + 1, "a chain of tests")
        for branch, _ in ladder[1:]:
            yield branch.place.name, None


Tested = tuple[BranchFact, BranchTest]


def _find_ladder(facts: KernelFacts, group: Sequence[Tested]) -> list[Tested]:
    """Return the first test, and those to which only others of the ladder lead, with nothing but the test in their
    blocks."""
    names = {group[0][0].place.name}
    found = [group[0]]
    for branch, test in group[1:]:
        place = branch.place
        if names.issuperset(facts.warp_level.graph.predecessors[place.name]) and len(place.instructions) <= 2:
            names.add(place.name)
            found.append((branch, test))
    return found


def _way_if_equal(branch: BranchFact, test: BranchTest) -> str:
    """Return where a test for one number leads that finds it."""
    then, other = _ways(branch)
    return then if test.op == "eq" else other


def _behind_jumps(facts: KernelFacts, name: str) -> str:
    """Return where a block leads, if it does nothing but jump."""
    graph = facts.warp_level.graph
    empty = {
        block.name for block in facts.function.blocks if isinstance(block.terminator, Jump) and not block.instructions
    }
    seen: set[str] = set()
    while name in empty and name not in seen:
        seen.add(name)
        (name,) = graph.successors[name]
    return name


def _ways(branch: BranchFact) -> tuple[str, str]:
    terminator = branch.place.terminator
    assert isinstance(terminator, Branch)
    return terminator.then, terminator.other


def _indirect_calls(facts: KernelFacts) -> Iterator[KernelFinding]:
    for block, i in facts.function.instructions():
        indirect = isinstance(i.detail, Callee) and i.detail.name.startswith("%") and i.operands
        if not indirect or facts.warp_level.is_uniform(i.operands[0], block.name):
            continue
        yield KernelFinding(
            "DIV006",
            "a function pointer that differs between lanes is called: a warp runs each target that a lane asks for",
            "conditional", facts.kernel, i.span, f"call {_text(i.span)}",
            assumptions=("lanes of one warp call different functions",),
            why=(Why("the pointer differs between the lanes of a warp", i.span),),
            help=("sort the items by target, or select values instead of functions",),
        )  # fmt: skip
