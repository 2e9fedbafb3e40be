"""Programs of IL on GPUs with bundles: the figures of the tutorial, random programs, bugs that would be noticed."""

from __future__ import annotations

import pytest

from tests.front.il.listings import PLAIN, TRANSLATED
from tests.front.il.programs import hand_cases
from tests.front.il.running import parse
from tests.targets.r600.agree import bundles_agree
from tests.targets.r600.seeded import BUGS, MOST, BundleBug, case_of, found_by
from warpsmith.base.errors import RefusedError
from warpsmith.machine.vliw.gpus import load_vliw_gpus, vliw_gpu
from warpsmith.machine.vliw.slots import GENERATIONS, Generation
from warpsmith.targets.r600.analyze import analyze_il, compile_il


def test_the_listing_is_ten_bundles_on_a_hd_3870() -> None:
    found = analyze_il(parse(PLAIN), [vliw_gpu("hd3870")])
    made, figures = found.codes["r600"], found.gpus[0]
    assert (made.code.bundles, made.bound, made.code.fetches, made.divides) == (10, 10, 2, None)
    assert (float(figures.cycles), figures.mega_threads) == (2.5, 4960)


@pytest.mark.parametrize(("expansion", "bundles"), [("one-sided", 22), ("two-sided", 23), ("mesa", 24), ("plain", 21)])
def test_the_translated_listing_is_21_to_24_by_how_it_divides(expansion: str, bundles: int) -> None:
    made = compile_il(parse(TRANSLATED), "r600", expansion)  # type: ignore[arg-type]
    assert (made.code.bundles, made.bound, made.divides) == (bundles, bundles, expansion)


def test_the_translated_listing_on_a_hd_3870() -> None:
    (figures,) = analyze_il(parse(TRANSLATED), [vliw_gpu("hd3870")]).gpus
    assert float(figures.cycles) == 5.5 and round(figures.mega_threads) == 2255


def test_every_gpu_has_figures_and_every_generation_its_code() -> None:
    found = analyze_il(parse(PLAIN), load_vliw_gpus())
    assert [one.gpu for one in found.gpus] == list(load_vliw_gpus())
    assert {made.code.bundles for made in found.codes.values()} == {10} and set(found.codes) == set(GENERATIONS)


@pytest.mark.slow
@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("first", range(0, MOST, 20))
def test_bundles_of_random_programs_do_what_the_text_says(generation: Generation, first: int) -> None:
    assert not [seed for seed in range(first, first + 20) if not bundles_agree(case_of(seed), generation)]


def test_most_schedules_are_the_shortest_there_are() -> None:
    made = [compile_il(parse(case_of(seed).text), "r600") for seed in range(40)]
    assert all(one.code.bundles >= one.bound for one in made)
    assert sum(one.shortest for one in made) >= 36


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.title)
def test_a_bug_would_be_noticed(bug: BundleBug) -> None:
    assert found_by(bug) is not None


def test_control_flow_is_refused_with_its_line() -> None:
    with pytest.raises(RefusedError) as caught:
        compile_il(parse(hand_cases()[-1].text), "r600")
    span = caught.value.findings[0].span
    assert span is not None and span.text == "whileloop"


def test_cayman_divides_both_ways() -> None:
    assert compile_il(parse(TRANSLATED), "cayman", "one-sided").divides == "two-sided"
