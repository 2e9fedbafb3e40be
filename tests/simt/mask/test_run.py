"""Whole programs without clocks: the listings, the graphs of control flow, programs of our own, random ones."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simt.mask.programs import example, program, random_text, views_for
from warpsmith.simt.mask import stack
from warpsmith.simt.mask.nodes import MaskInstruction
from warpsmith.simt.mask.resources import BoundView, image, words_of
from warpsmith.simt.mask.run import Groups, MaskRun, mask_text, run_masks, waves_of


def run(name: str, threads: int = 32, width: int = 32) -> MaskRun:
    views = {("u", 0): words_of(np.zeros(threads, np.uint32))}
    done = run_masks(example(name), views, Groups(threads), width)  # type: ignore[arg-type]
    assert done.fault is None
    return done


def stored(name: str, threads: int = 32, width: int = 32) -> list[int]:
    return [int(word) for word in run(name, threads, width).views["u", 0].words]


def masks(name: str, width: int) -> list[str]:
    """The masks of the first wave, repeated ones told once."""
    found = [mask_text(mask, width) for _, mask in run(name, width, width).masks[0]]
    return [mask for n, mask in enumerate(found) if n == 0 or mask != found[n - 1]]


def test_the_first_example_at_width_8_has_the_masks_of_its_listing() -> None:
    # get_lane_id, if, the body, behind it
    (wave,) = run("odd_lanes", 8, 8).masks
    at = {index: mask_text(mask, 8) for index, mask in wave}
    assert [at[0], at[2], at[4], at[6]] == ["11111111", "11111111", "01010101", "11111111"]
    assert [index for index, _ in wave] == [0, 1, 2, 3, 4, 5, 6, 7]


def test_the_second_example_at_width_32_loses_a_lane_in_each_iteration() -> None:
    (wave,) = run("up_to_16").masks
    body = [mask for index, mask in wave if index == 5]
    # lane n has 16 - n iterations: in iteration k lanes 0 to 15 - k are active
    assert body == [(1 << 16 - k) - 1 for k in range(16)]
    assert len([index for index, _ in wave if index == 4]) == 17
    assert wave[-1] == (7, 0xFFFFFFFF)


def test_the_third_example_at_width_32_walks_one_half_and_then_the_other() -> None:
    assert masks("two_halves", 32) == ["1" * 32, "1" * 16 + "0" * 16, "0" * 16 + "1" * 16, "1" * 32]


def test_an_arm_that_no_lane_takes_is_not_walked() -> None:
    (wave,) = run("two_halves", 16, 16).masks
    assert [index for index, _ in wave] == [0, 1, 2, 3, 4, 7]
    text = "br_push u(0), E, C\nmov r0.x, u(1)\npop_mask\nE:\nmov r0.x, u(2)\npop_mask\nC:\nret\n"
    (wave,) = run_masks(program(text), {}, Groups(4), 4).masks
    assert [index for index, _ in wave] == [0, 3, 4, 5]


def test_the_loop_with_one_exit() -> None:
    assert stored("loop") == [2 * lane for lane in range(32)]


def test_the_loop_with_two_exits() -> None:
    expected = [next((x for x in range(10) if x * x >= lane), 10) for lane in range(32)]
    assert stored("two_exits") == expected


def test_the_loop_with_two_entries() -> None:
    """Case d: odd lanes begin at B, even ones at C."""
    assert stored("two_entries") == [10 * (lane + 1) + lane if lane % 2 else 11 * lane for lane in range(32)]
    # lanes that come in at C wait for those that came in at B
    (wave,) = run("two_entries", 4, 4).masks
    assert [(index, mask_text(mask, 4)) for index, mask in wave][2:8] == [
        (2, "1111"), (3, "0101"), (4, "0101"), (5, "0101"), (6, "0101"), (7, "0101"),
    ]  # fmt: skip


def test_a_branch_by_the_thread() -> None:
    assert stored("branch", 40, 16) == [thread * thread if thread % 3 == 0 else 0 for thread in range(40)]


def _collatz(n: int) -> int:
    steps = 0
    while n > 1:
        n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
    return steps


def test_a_loop_whose_trip_count_each_lane_has_for_itself() -> None:
    assert stored("collatz", 50, 8) == [_collatz(thread + 1) for thread in range(50)]


def _nested(lane: int) -> int:
    total = 0
    for _ in range(lane if lane < 20 else 0):
        total += 1
        total = total if lane % 2 else total * 2 + 7
    return total & 0xFFFFFFFF


def test_nested_branches_and_loops() -> None:
    assert stored("nested") == [_nested(lane) for lane in range(32)]


def picture(name: str, views: dict[object, BoundView] | None = None, width: int = 32) -> np.ndarray:
    given = {("u", 0): image(np.zeros((32, 32, 4), np.uint8)), **(views or {})}
    done = run_masks(example(name), given, Groups(32, 32), width)  # type: ignore[arg-type]
    assert done.fault is None
    return done.views["u", 0].words.view(np.uint8).reshape(32, 32, 4)


def test_stripes_by_if_and_else() -> None:
    seen = picture("stripes")
    assert seen[0, 31].tolist() == [0, 128, 255, 255] and seen[0, 0].tolist() == [0, 0, 0, 255]
    assert seen[1, 0].tolist() == [255, 128, 0, 255] and seen[1, 31].tolist() == [0, 0, 0, 255]


def _textures() -> dict[object, BoundView]:
    rows, columns = np.mgrid[0:32, 0:32]
    board = np.where((rows // 8 + columns // 8) % 2, 255, 0).astype(np.uint8)
    made = np.random.default_rng(1)
    return {
        ("t", 0): image(made.integers(0, 256, (32, 32, 4))),
        ("t", 1): image(made.integers(0, 256, (8, 8, 4))),
        ("t", 2): image(np.repeat(board[:, :, np.newaxis], 4, axis=2)),
    }


def test_textures_blended_without_and_with_branches_are_one_picture() -> None:
    free, branching = picture("blend", _textures()), picture("blend_branches", _textures())
    assert np.array_equal(free, branching)
    # where the mask is 0 the first texture is seen as it is: places are middles of its texels
    first = _textures()["t", 0].words.view(np.uint8).reshape(32, 32, 4)
    assert np.array_equal(free[:8, :8], first[:8, :8]) and not np.array_equal(free[:8, 8:16], first[:8, 8:16])


def test_a_ray_marcher_with_a_loop_calls_and_two_exits() -> None:
    seen = picture("sphere")
    assert seen[0, 0].tolist() == [26, 51, 128, 255]  # the sky
    assert seen[16, 16, 0] > 200  # the middle of the sphere, lit
    for width in (16, 64):
        assert np.array_equal(picture("sphere", width=width), seen)


def test_waves_of_groups_that_fill_no_wave() -> None:
    assert waves_of(Groups(5, 2), 4) == [(0, 4), (4, 1), (5, 4), (9, 1)]
    done = run_masks(program("mov r0.x, thread_id\nret\n"), {}, Groups(5, 2), 4)
    assert [wave[0][1] for wave in done.masks] == [0b1111, 1, 0b1111, 1]


def test_what_goes_wrong_ends_the_run_with_the_wave_and_the_instruction() -> None:
    done = run_masks(program("lt.u32 r0.x, wave_id, u(1)\nbr_push r0.x, A, A\nA:\npop_mask\n"), {}, Groups(4), 4)
    assert done.fault is not None
    assert (done.fault.kind, done.fault.index, done.fault.wave) == ("underflow", 2, 0)
    done = run_masks(program("A:\njmp A\n"), {}, Groups(4), 4, most=50)
    assert done.fault is not None and (done.fault.kind, len(done.masks[0])) == ("endless", 50)
    done = run_masks(program("A:\npush_mask A\njmp A\n"), {}, Groups(4), 4, depth=3)
    assert done.fault is not None and (done.fault.kind, done.fault.at) == ("overflow", (3, 0))


SEEDS = range(60)


def outcomes(seed: int, width: int, most: int = 1_000_000) -> list[bytes]:
    threads = 37
    done = run_masks(program(random_text(seed)), views_for(threads, seed), Groups(threads), width, most=most)
    assert done.fault is None, done.fault
    return [bound.words.tobytes() for bound in done.views.values()]


@pytest.mark.parametrize("seed", SEEDS)
def test_lanes_together_do_what_each_does_alone(seed: int) -> None:
    alone = outcomes(seed, 1)
    assert alone == outcomes(seed, 8) == outcomes(seed, 64)


def _differs() -> bool:
    """Whether the checks see a bug that is in place: results, a fault, a run without an end, the order of arms."""
    halves = ["1" * 32, "1" * 16 + "0" * 16, "0" * 16 + "1" * 16, "1" * 32]
    for seed in SEEDS:
        try:
            if masks("two_halves", 32) != halves:
                return True
            if outcomes(seed, 1, 20_000) != outcomes(seed, 8, 20_000):
                return True
        except AssertionError:
            return True
    return False


@pytest.mark.parametrize("bug", ["keeps all", "other first", "no rest", "converges late", "pops the mask only"])
def test_a_bug_in_the_stack_is_seen(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    control = stack.control

    def wrong(state: stack.MaskStack, instruction: MaskInstruction, true: int) -> bool:
        form = instruction.op.form
        if bug == "keeps all" and form == "nonzero" and state.exec & true:
            true = state.exec
        before = state.exec
        ended = control(state, instruction, true)
        if bug == "other first" and form == "branch" and before & true and before & ~true:
            _, other = state.entries.pop()
            state.push(before & true, state.pc)
            state.exec, state.pc = before, other
        if bug == "no rest" and form == "branch" and before & true and before & ~true:
            state.entries.pop()
        if bug == "converges late" and form == "branch":
            state.entries[0] = (state.exec, state.entries[0][1])
        if bug == "pops the mask only" and form == "pop":
            state.pc = min(state.pc, 5)
        return ended

    monkeypatch.setattr("warpsmith.simt.mask.step.control", wrong)
    assert _differs()
