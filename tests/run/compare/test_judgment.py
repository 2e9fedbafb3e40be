"""How many elements of a section lie under a mask."""

from __future__ import annotations

import numpy as np
import pytest

from warpsmith.run.compare.captures import CaptureRecord
from warpsmith.run.compare.judgment import section_elements


def record(lower: int, upper: int, stride: int = 1) -> CaptureRecord:
    return CaptureRecord("r", "y", 0, -2, 12, lower, upper, "allocation", stride, 0, (), None, None)


@pytest.mark.parametrize(
    ("lower", "upper", "low", "expected"),
    [
        (0, 6, 0, 4),
        (1, 3, 0, 1),
        (0, 4, -1, 2),  # the mask starts one element before the section
        (0, 4, 2, 1),  # or behind its first elements
        (-2, 2, -2, 3),
        (3, 3, 0, 0),
        (0, 2, 4, 0),
    ],
)
def test_the_mask_is_counted_within_the_section(lower: int, upper: int, low: int, expected: int) -> None:
    mask = np.array([True, False, True, True, False, True])
    assert section_elements(record(lower, upper), mask, low) == expected


@pytest.mark.parametrize(("bytes", "expected"), [(0, 0), (1, 0), (4, 0), (5, 1), (8, 1)])
def test_a_record_counts_with_more_than_half_of_its_bytes(bytes: int, expected: int) -> None:
    mask = np.zeros(16, np.bool_)
    mask[8 : 8 + bytes] = True
    assert section_elements(record(0, 2, 8), mask, 0) == expected
