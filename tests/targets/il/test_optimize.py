"""Programs of IL made shorter: the same results, no more bundles, conditions that are needed."""

from __future__ import annotations

import pytest

from tests.front.il.groups import Groups
from tests.front.il.listings import PLAIN, TRANSLATED, passes
from tests.front.il.programs import hand_cases
from tests.front.il.running import parse, sort_pass
from tests.targets.il.agree import case_of, differs
from tests.targets.il.seeded import BUGS, CASES, RewriteBug, found_by
from tests.targets.r600.seeded import case_of as random_straight
from tests.targets.r600.test_views import random_text
from warpsmith.base.errors import RefusedError
from warpsmith.front.il.code import translate_il
from warpsmith.front.il.printing import print_il
from warpsmith.machine.vliw.slots import GENERATIONS
from warpsmith.targets.il.optimize import optimize_il
from warpsmith.targets.r600.analyze import compile_il

POWER = "cb0[3].x is a power of two"
NUMBERS = "what line {} chooses from is not NaN"


@pytest.mark.parametrize(
    ("text", "granted", "bundles"),
    [
        (PLAIN, (), 10),
        (PLAIN, (NUMBERS.format(29),), 9),
        (TRANSLATED, (), 22),
        (TRANSLATED, (POWER,), 15),
        (TRANSLATED, (POWER, NUMBERS.format(37)), 14),
    ],
)
def test_the_listings_get_shorter_by_what_is_granted(text: str, granted: tuple[str, ...], bundles: int) -> None:
    made = optimize_il(parse(text), granted)
    assert compile_il(made.program, "r600").code.bundles == bundles
    assert made.done[-1].bundles == bundles and not made.refused


@pytest.mark.parametrize(("text", "row"), [(PLAIN, 0), (TRANSLATED, 8)])
def test_what_becomes_of_the_listings_sorts(text: str, row: int) -> None:
    granted = (POWER, NUMBERS.format(29), NUMBERS.format(37))
    module = translate_il(optimize_il(parse(text), granted).program)
    words = [0x3F800000 + 997 * number % 64 * 4096 for number in range(64)]
    for stage, distance in passes(6):
        before = words
        words = sort_pass(module, words, stage, distance, row, fast=True)
        assert sorted(words) == sorted(before)
    assert words == sorted(words)


def test_offers_say_what_they_need_and_what_they_bring() -> None:
    made = optimize_il(parse(TRANSLATED))
    offered = {(one.line, one.conditions): (one.before, one.bundles) for one in made.offered}
    assert offered[(30, (POWER,))] == (22, 20) and offered[(28, (POWER,))] == (22, 16)
    assert offered[(28, ("r2.x in line 28 is from 0 to 1048575", "cb0[3].x is from 1 to 8388607"))] == (22, 19)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_programs_write_the_same_with_no_more_bundles(first: int) -> None:
    for seed in range(first, first + 20):
        case = random_straight(seed)
        program = parse(case.text)
        made = optimize_il(program)
        assert not differs(case, made), seed
        for generation in GENERATIONS:
            after = compile_il(made.program, generation).code.bundles
            assert generation != "r600" or after <= compile_il(program, generation).code.bundles


def test_control_flow_is_refused_with_its_line() -> None:
    with pytest.raises(RefusedError) as caught:
        optimize_il(parse(hand_cases()[-1].text))
    assert caught.value.findings[0].message.startswith("whileloop: a program with control flow is not rewritten")


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_small_programs_write_the_same(case: tuple[str, tuple[int, ...], tuple[str, ...]]) -> None:
    body, constants, granted = case
    made = case_of(body, constants)
    assert not differs(made, optimize_il(parse(made.text), granted))


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.title)
def test_a_bug_would_be_noticed(bug: RewriteBug) -> None:
    assert found_by(bug) is not None


@pytest.mark.parametrize("seed", range(8))
def test_a_compute_shader_has_no_more_bundles_and_writes_the_same(seed: int) -> None:
    text = random_text(seed)
    made = optimize_il(parse(text))
    before, after = (compile_il(one, "evergreen").code.bundles for one in (parse(text), made.program))
    assert after <= before
    left = []
    for one in (text, print_il(made.program)):
        views = {0: bytearray(range(256)) * 2, 1: bytearray(320)}
        Groups(one, views, [3, 5, 7, 11]).run_groups((2, 1, 1), (8, 1, 1))
        left.append(bytes(views[1]))
    assert left[0] == left[1]
