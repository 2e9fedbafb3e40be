"""Views: what they hold, where they lie, and which a program needs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simt.mask.programs import program
from warpsmith.base.errors import UsageError
from warpsmith.simt.mask.resources import image, is_pixel, place_views, words_of

PIXELS = np.zeros((2, 3, 4), np.uint8)


def test_buffers_and_images_of_words() -> None:
    assert words_of([1.0, -2.0]).words.tolist() == [0x3F800000, 0xC0000000]
    assert words_of(np.array([[1, -1]])).words.tolist() == [1, 0xFFFFFFFF]
    held = image([[[1, 2, 3, 4], [255, 0, 0, 0]]])
    assert (held.words.tolist(), held.width, held.height) == ([0x04030201, 255], 2, 1)
    with pytest.raises(ValueError, match="four bytes"):
        image(np.zeros((2, 2, 3)))


def test_views_share_no_line_and_are_copies() -> None:
    given = {("u", 0): words_of(range(65)), ("t", 1): image(PIXELS), ("t", 0): words_of([1])}
    placed = place_views(program("ret"), given)  # type: ignore[arg-type]
    assert {key: bound.base for key, bound in placed.items()} == {("t", 0): 0, ("t", 1): 256, ("u", 0): 512}
    placed["u", 0].words[0] = 9
    assert given["u", 0].words[0] == 0


@pytest.mark.parametrize(
    ("line", "message", "remedy"),
    [
        ("ld r0.x, t0, r1.x", "nothing is bound to t0", "--arg t0=zeros:u32[64]"),
        ("sample r0, t2, s0, r1.xy", "nothing is bound to t2", "--arg t2=image[16,16]"),
        ("sample r0, t1, s0, r1.xy", "sample needs an image, and t1 is a buffer", "--arg t1=image[16,16]"),
        ("st u1, r0.x, r1.x", "st needs a buffer, and u1 is an image", "--arg u1=zeros:u32[64]"),
        ("st u0, u2(0, 0), r1.x", "st needs an image, and u0 is a buffer", "--arg u0=image[16,16]"),
    ],
)
def test_a_view_that_is_missing_or_of_the_other_kind_is_told(line: str, message: str, remedy: str) -> None:
    given = {("t", 1): words_of([0]), ("u", 0): words_of([0]), ("u", 1): image(PIXELS)}
    with pytest.raises(UsageError) as error:
        place_views(program(f"mov r9.x, u(0)\n{line}\nret"), given)  # type: ignore[arg-type]
    (finding,) = error.value.findings
    assert finding.message == message and finding.help == (remedy,)
    assert finding.span is not None and finding.span.line == 2


def test_a_store_to_a_pixel_has_two_components() -> None:
    one, two, three, _ = program("st u0, r0.x, r1\nst u0, r0.xy, r1\nst u0, thread_id, r1\nret").instructions
    assert [is_pixel(store) for store in (one, two, three)] == [False, True, False]
