"""Values that are called uniform never differ when they run: random kernels in one, two and three dimensions, with any
control flow, and others about lanes."""

from __future__ import annotations

import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

import pytest
from msgspec import Struct, field
from msgspec.structs import replace

from tests.analysis.kernels import random_module
from tests.analysis.lane_kernels import lane_module
from warpsmith.analysis.affine import affine, joins
from warpsmith.analysis.uniformity import seeds, uniformity
from warpsmith.analysis.uniformity.seeds import Threads
from warpsmith.analysis.uniformity.uniformity import Uniformity
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Dim, Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.observer import Lane, Silent
from warpsmith.ssa.nodes import BasicBlock, Instruction, Module
from warpsmith.ssa.nodes import Memory as Access
from warpsmith.ssa.reader import parse_module

WARP = 4
SHAPES: tuple[Dim, ...] = ((8, 1, 1), (2, 3, 1), (4, 2, 1), (3, 2, 2))


class Seen(Struct, Silent):
    """For each place and moment, what the threads of a warp, and of a block, computed there."""

    values: dict[tuple[str, int, object, Instruction], set[tuple[int, ...]]] = field(
        default_factory=lambda: defaultdict(set)
    )
    ways: dict[tuple[str, int, object, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    def value(self, lane: Lane, place: Instruction, moment: object, numbers: tuple[int, ...]) -> None:
        for level, group in _groups(lane):
            self.values[level, group, moment, place].add(numbers)

    def branch(self, lane: Lane, block: BasicBlock, moment: object, taken: str) -> None:
        for level, group in _groups(lane):
            self.ways[level, group, moment, block.name].add(taken)


def _groups(lane: Lane) -> Iterator[tuple[str, int]]:
    yield "block", lane.block
    yield "warp", lane.block * 100 + lane.warp


def _seen(module: Module, block: Dim, n: int = 5) -> Seen:
    seen = Seen()
    launch = Launch((2, 1, 1), block, {"n": struct.pack("<i", n)}, warp=WARP, max_steps=6000)
    interpret(module, "k", launch, LaunchMemory(checks=False), seen)
    return seen


def _answers(module: Module, block: Dim, arguments: dict[str, int] | None = None) -> dict[str, Uniformity]:
    (function,) = module.functions
    levels = (Threads("warp", block, WARP), Threads("block", block, WARP))
    return {threads.level: uniformity.uniformity(function, threads, arguments=arguments) for threads in levels}


def wrong(module: Module, block: Dim, n: int | None = None) -> list[str]:
    """Return what was called uniform and differs. `n`: the argument, where it is said."""
    if n is not None:
        return _refuted(_answers(module, block, {"n": n}), _seen(module, block, n))
    return _refuted(_answers(module, block), _seen(module, block))


def _refuted(answers: dict[str, Uniformity], seen: Seen) -> list[str]:
    found = []
    for (level, _, moment, place), numbers in seen.values.items():
        divergent = any(value in answers[level].divergent for value in place.results)
        if len(numbers) > 1 and not divergent:
            found.append(f"{level}: {place.op} %{place.results[0].name} at {moment} is {sorted(numbers)[:3]}")
    for (level, _, moment, name), taken in seen.ways.items():
        if len(taken) > 1 and name not in answers[level].branches:
            found.append(f"{level}: the branch of {name} at {moment} goes {sorted(taken)}")
    return found


def shape(seed: int) -> Dim:
    """Return the shape of a block for one of many kernels."""
    return SHAPES[seed % len(SHAPES)]


# each bug below shows in these
SEEDS = range(90)


def _random_wrong(seeds: range) -> Iterator[list[str]]:
    for seed in seeds:
        yield wrong(random_module(seed, structured=seed % 3 != 0), shape(seed), (None, 8, None, 5)[seed % 4])


def test_nothing_uniform_ever_differs() -> None:
    bad = {seed: found for seed, found in enumerate(_random_wrong(SEEDS)) if found}
    assert not bad, "\n".join(f"{seed}: {found[:3]}" for seed, found in bad.items())


def test_nothing_uniform_ever_differs_where_the_shape_of_a_block_is_not_known() -> None:
    uniform = 0
    for seed in range(20):
        module = random_module(seed, structured=seed % 3 != 0)
        (function,) = module.functions
        answers = {n: uniformity.uniformity(function, Threads(n, None, WARP)) for n in ("warp", "block")}
        for block in SHAPES[:: 1 + seed % 3]:
            assert not _refuted(answers, _seen(module, block)), (seed, block)
        uniform += len(answers["warp"].homes) - len(answers["warp"].divergent)
        # no thread is alone in a block of code, as far as is known
        assert not any(answers["block"].is_alone(name) for name in answers["block"].graph.order)
    assert uniform > 100


def test_nothing_known_of_lanes_ever_differs() -> None:
    met: Counter[str] = Counter()
    for seed in range(40):
        module = lane_module(seed)
        assert not wrong(module, shape(seed)), seed
        answer = _answers(module, shape(seed))["warp"]
        active_sets = answer.active_sets
        assert active_sets is not None
        names = answer.graph.order
        met["alone"] += sum(active_sets.alone(name) for name in names)
        met["few"] += sum(active_sets.narrow(name) and not active_sets.alone(name) for name in names)
        met["rows"] += sum(len(table.numbers) > 1 and table.rest is not None for table in answer.tables.values())
        loads = [i for _, i in answer.function.instructions() if i.op == "load"]
        met["same in own memory"] += sum(_space(i) == "local" and i.result not in answer.divergent for i in loads)
        met["tables"] += sum(_space(i) == "constant" and i.result in answer.divergent for i in loads)
    assert all(met[what] >= 9 for what in ("alone", "few", "rows", "same in own memory", "tables")), met


def _space(i: Instruction) -> str:
    return i.detail.space if isinstance(i.detail, Access) else ""


def _no_joins(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        uniformity, "follow_divergence", lambda graph, block: replace(joins.follow_divergence(graph, block), joins={})
    )


def _no_time(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        uniformity, "follow_divergence", lambda graph, block: replace(joins.follow_divergence(graph, block), left=())
    )


def _anything_is_equal(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(affine._RULES, "eq", lambda instruction, operands: affine.SHARED)


def _rows_are_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Threads, "varies", lambda self, axis: axis == 0)


def _lanes_are_uniform(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(seeds, "_BY_LANE", ())


@pytest.mark.slow
@pytest.mark.parametrize("bug", [_no_joins, _no_time, _anything_is_equal, _rows_are_ignored, _lanes_are_uniform])
def test_a_seeded_bug_is_seen(bug: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    bug(monkeypatch)
    assert any(_random_wrong(SEEDS))


@pytest.mark.slow
def test_nothing_uniform_ever_differs_in_many() -> None:
    assert not [found for found in _random_wrong(range(2000)) if found]


@pytest.mark.slow
def test_nothing_known_of_lanes_ever_differs_in_many() -> None:
    assert not [seed for seed in range(2000) if wrong(lane_module(seed), shape(seed))]


def test_most_of_what_never_differs_is_called_uniform() -> None:
    same = called = divergent = 0
    for seed in SEEDS:
        module = random_module(seed, structured=True)
        answers, seen = _answers(module, shape(seed)), _seen(module, shape(seed))
        together: dict[tuple[str, str], bool] = defaultdict(lambda: True)
        for (level, _, _, name), taken in seen.ways.items():
            together[level, name] &= len(taken) == 1
        for (level, name), one_way in together.items():
            same += one_way
            called += one_way and name not in answers[level].branches
            divergent += not one_way
    assert divergent > 60
    # what no input of one run tells apart may still differ in another
    assert called >= 0.6 * same, (called, same)


SKIPPED = """
kernel @k(n 4 align 4 i32)
start:
  %t:i32 = query [tid.x]
  jump head
head:
  %x:i32 = phi start 0:i32 test 1:i32 last 2:i32
  %i:i32 = phi start 0:i32 test %next last %next
  %y:i32 = add %x 7:i32
  %next:i32 = add %i 1:i32
  jump test
test:
  %odd:i32 = and %t 1:i32
  %turn:i32 = and %i 1:i32
  %both:i1 = eq %odd %turn
  branch %both last head
last:
  %on:i1 = slt %next 4:i32
  branch %on head done
done:
  return
end
"""


def test_threads_that_meet_in_another_iteration_have_not_met() -> None:
    module = parse_module(SKIPPED)
    assert not wrong(module, (8, 1, 1))
    y = next(i for _, i in module.functions[0].instructions() if i.op == "add")
    answers = _answers(module, (8, 1, 1))
    assert all(y.result in answer.divergent for answer in answers.values())
    assert not wrong(parse_module(SKIPPED.replace("%t:i32 = query [tid.x]", "%t:i32 = query [ctaid.x]")), (8, 1, 1))


LEFT_LATER = """
kernel @k(n 4 align 4 i32)
start:
  %t:i32 = query [tid.x]
  %odd:i32 = and %t 1:i32
  jump head
head:
  %k:i32 = phi start 0:i32 next %more
  %late:i1 = ult %k %odd
  branch %late next first
first:
  %zero:i1 = eq %k 0:i32
  branch %zero done second
second:
  %one:i1 = eq %k 1:i32
  branch %one done next
next:
  %more:i32 = add %k 1:i32
  jump head
done:
  %r:i1 = phi first 0:i1 second 1:i1
  branch %r some none
some:
  jump none
none:
  return
end
"""


def test_threads_that_leave_a_loop_later_come_another_way() -> None:
    module = parse_module(LEFT_LATER)
    assert not wrong(module, (8, 1, 1))
    assert all(set(answer.branches) == {"head", "done"} for answer in _answers(module, (8, 1, 1)).values())
    assert not wrong(parse_module(LEFT_LATER.replace("query [tid.x]", "query [ctaid.x]")), (8, 1, 1))


LAST_COUNT = """
kernel @k(n 4 align 4 i32)
start:
  %t:i32 = query [tid.x]
  jump head
head:
  %k:i32 = phi start 0:i32 head %next
  %next:i32 = add %k 1:i32
  %on:i1 = ult %k %t
  branch %on head done
done:
  %count:i32 = phi head %next
  %few:i1 = ult %count 3:i32
  branch %few some none
some:
  jump none
none:
  return
end
"""


def test_what_the_only_edge_out_of_a_loop_carries_differs_where_threads_leave_in_different_iterations() -> None:
    module = parse_module(LAST_COUNT)
    assert not wrong(module, (8, 1, 1))
    for answer in _answers(module, (8, 1, 1)).values():
        assert set(answer.branches) == {"head", "done"}
        assert "count" in {value.name for value in answer.divergent}
        assert "k" not in {value.name for value in answer.divergent}


VOTED = """
kernel @k(n 4 align 4 i32)
start:
  %t:i32 = query [tid.x]
  %odd:i32 = and %t 4:i32
  %p:i1 = eq %odd 0:i32
  %who:i32 = vote [ballot] %p 15:i32
  %some:i1 = ne %who 0:i32
  branch %some yes done
yes:
  jump done
done:
  return
end
"""


@pytest.mark.parametrize(("block", "parts"), [((4, 1, 1), set()), ((2, 2, 1), set()), ((8, 1, 1), {"start"})])
def test_what_a_warp_has_voted_is_the_same_for_a_block_of_one_warp(block: Dim, parts: set[str]) -> None:
    module = parse_module(VOTED)
    assert not wrong(module, block)
    answers = _answers(module, block)
    assert set(answers["warp"].branches) == set()
    assert set(answers["block"].branches) == parts


HALVES = """
kernel @k(n 4 align 4 i32)
start:
  %t:i32 = query [tid.x]
  %n:i32 = param [n+0]
  %b:i32 = and %t 2:i32
  %c:i1 = eq %b 0:i32
  branch %c low high
low:
  %x:i32 = lshr %t 1:i32
  %p:i32 = and %x 1:i32
  %u:i32 = add %n 1:i32
  jump join
high:
  %y:i32 = lshr %t 1:i32
  %q:i32 = and %y 1:i32
  %v:i32 = add %n 1:i32
  jump join
join:
  %z:i32 = phi low %p high %q
  %w:i32 = phi low %u high %v
  %o:i1 = ne %z 0:i32
  branch %o last rest
last:
  jump rest
rest:
  %s:i1 = ne %w 0:i32
  branch %s more done
more:
  jump done
done:
  return
end
"""


def test_what_both_sides_compute_alike_is_the_same_if_it_is_made_of_the_same() -> None:
    module = parse_module(HALVES)
    assert not wrong(module, (8, 1, 1))
    for answer in _answers(module, (8, 1, 1)).values():
        assert "join" in answer.branches
        assert "rest" not in answer.branches


MEET = """
kernel @k(n 4 align 4 i32, a 8 align 8 i64)
start:
  %t:i32 = query [tid.x]
  %n:i32 = param [n+0]
  %c:i1 = slt %n 3:i32
  branch %c low high
low:
  %p:i32 = add %t 1:i32
  jump join
high:
  %q:i32 = add %t 1:i32
  jump join
join:
  %z:i32 = phi low %p high %q
  %d:i32 = sub %z %t
  %w:i64 = zext %t
  %a:i64 = param [a+0]
  %at:i64 = add %a %w
  %same:i32 %alike:i32 = load [global +0 align 4] %a
  %one:i32 %other:i32 = load [global +0 align 4] %at
  return
end
"""


@pytest.mark.parametrize("block", [None, (8, 1, 1)])
def test_what_two_ways_know_alike_and_what_is_loaded_in_one_go(block: Dim | None) -> None:
    (function,) = parse_module(MEET).functions
    answer = uniformity.uniformity(function, Threads("block", block, WARP))
    differ = {value.name for value in answer.divergent}
    assert differ >= {"z", "one", "other"} and not differ & {"d", "same", "alike"}


LATER = """
kernel @k(n 4 align 4 i32, a 8 align 8 i64)
start:
  %t:i32 = query [tid.x]
  %n:i32 = param [n+0]
  %a:i64 = param [a+0]
  jump head
head:
  %i:i32 = phi start 0:i32 head %k
  %w:i64 = zext %i
  %at:i64 = add %a %w
  %v:i32 = load [global +0 align 4] %at
  %u:i32 = add %v 1:i32
  %k:i32 = add %i %t
  %c:i1 = slt %n 3:i32
  branch %c head done
done:
  %told:i32 = shuffle [idx] %t 2:i32 3:i32 15:i32
  return
end
"""


@pytest.mark.parametrize("block", [None, (8, 1, 1)])
def test_what_is_found_to_differ_in_a_later_iteration_differs_for_all_that_use_it(block: Dim | None) -> None:
    (function,) = parse_module(LATER).functions
    answer = uniformity.uniformity(function, Threads("warp", block, WARP))
    assert {value.name for value in answer.divergent} == {"t", "i", "w", "at", "v", "u", "k"}


FOLLOWED = """
kernel @k(p 8 align 8 i64)
  local @own i64 x 4 align 8
start:
  %p:i64 = param [p+0]
  %own:i64 = address [@own]
  %seen:i64 = to_generic ['local'] %own
  store [WHERE +0 align 8] %p %seen
  %at:i64 = load [global +0 align 8] %p
  %v:i32 = load [generic +0 align 4] %at
  return
end
function @f(a 8 align 8 i64)
start:
  %at:i64 = param [a+0]
  %v:i32 = load [generic +0 align 4] %at
  return
end
"""


@pytest.mark.parametrize(("into", "same"), [("%p %seen", False), ("%own %p", True), ("%seen %p", True)])
def test_what_a_loaded_pointer_leads_to_is_the_same_unless_it_may_be_of_the_thread_itself(
    into: str, *, same: bool
) -> None:
    kernel, called = parse_module(
        FOLLOWED.replace("[WHERE +0 align 8] %p %seen", f"[generic +0 align 8] {into}")
    ).functions
    for level, function, expected in (("warp", kernel, same), ("block", kernel, same), ("warp", called, False)):
        answer = uniformity.uniformity(function, Threads("block" if level == "block" else "warp"))
        names = {value.name for value in answer.divergent}
        assert ("v" not in names) == expected and "at" not in names
