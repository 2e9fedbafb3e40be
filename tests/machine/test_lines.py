from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from warpsmith.machine.lines import count_lines

SMALL = st.integers(-16, 16)
BOX = st.sampled_from([1, 2, 4, 8])


def enumerated(strides: tuple[int, ...], box: tuple[int, ...], line: int, offset: int) -> int:
    lowest = sum(min(0, a * (b - 1)) for a, b in zip(strides, box, strict=True))
    cells = (sum(a * t for a, t in zip(strides, thread, strict=True)) for thread in product(*map(range, box)))
    return len({(offset + cell - lowest) // line for cell in cells})


@given(st.tuples(SMALL, SMALL, SMALL), st.tuples(BOX, BOX, BOX), st.integers(0, 15))
def test_small_strides_touch_the_lines_of_their_span(
    strides: tuple[int, int, int], box: tuple[int, int, int], offset: int
) -> None:
    assert count_lines(strides, box, 16, offset) == enumerated(strides, box, 16, offset)


@given(SMALL, BOX, st.sampled_from([2, 4, 8, 16, 32]), st.integers(0, 15))
def test_a_stride_of_whole_distant_lines_multiplies(small: int, threads: int, rows: int, offset: int) -> None:
    row = 16 * 64
    assert count_lines((small, row), (threads, rows), 16, offset) == enumerated(
        (small, row), (threads, rows), 16, offset
    )
    assert count_lines((small, None), (threads, rows), 16, offset) == count_lines(
        (small, row), (threads, rows), 16, offset
    )


def test_the_well_known_cases() -> None:
    assert count_lines((1,), (32,), 8) == 4
    assert count_lines((0,), (32,), 8) == 1
    assert count_lines((None,), (32,), 8) == 32
    assert count_lines((-1,), (32,), 8) == 4
    assert count_lines((1,), (32,), 8, 1) == 5
