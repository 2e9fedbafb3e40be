"""What came back from the device is compared with what the original leaves in memory, whatever its type."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from warpsmith.run.compare.left import Unlike, find_stayed, find_unlike, read_left

A = np.arange(1, 9, dtype=np.float64)
B = np.arange(1, 17, dtype=np.float32) / 3
WHOLE = np.arange(16, dtype=np.int32)


def unlike(*returned: bytes) -> tuple[Unlike, ...]:
    return find_unlike([A.tobytes(), B.tobytes(), WHOLE.tobytes()], returned)


def test_a_block_is_like_any_of_its_size() -> None:
    assert unlike(A.tobytes(), B.tobytes(), WHOLE.tobytes()) == ()
    assert unlike((A * (1 + 1e-13)).tobytes(), (B * (1 + 2e-7)).astype(np.float32).tobytes()) == ()


def test_another_number_is_found_where_it_is() -> None:
    changed = A.copy()
    changed[5] += 1e-6
    (found,) = unlike(changed.tobytes())
    assert found.size == 64 and 40 <= found.first < 48
    integers = WHOLE.copy()
    integers[3] += 1
    assert unlike(integers.tobytes()) == (Unlike(64, 12),)


def test_numbers_rounded_to_float_are_other_numbers() -> None:
    thirds = np.arange(1, 9) / 3
    assert find_unlike([thirds.tobytes()], [thirds.astype(np.float32).astype(np.float64).tobytes()])


def test_what_cancelled_out_is_measured_by_the_numbers_around_it() -> None:
    small = B.copy()
    small[7] = 1e-7
    noise = small.copy()
    noise[7] = -3e-7
    assert find_unlike([small.tobytes()], [noise.tobytes()]) == ()
    noise[7] = 1e-2
    assert find_unlike([small.tobytes()], [noise.tobytes()])


def test_a_size_that_the_original_does_not_have_says_nothing() -> None:
    assert unlike(bytes(32)) == ()


def test_not_a_number_is_like_itself_alone() -> None:
    one, other = A.copy(), A.copy()
    one[2] = np.nan
    other[2] = -np.nan
    assert find_unlike([one.tobytes()], [other.tobytes()]) == ()
    (found,) = find_unlike([A.tobytes()], [one.tobytes()])
    assert 16 <= found.first < 24


def test_a_file_that_ends_with_zero_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "left"
    assert read_left(path) is None
    path.write_bytes((3).to_bytes(8, "little") + b"abc" + (1).to_bytes(8, "little") + b"d")
    assert read_left(path) == (b"abc", b"d")
    path.write_bytes(path.read_bytes() + bytes(8))
    assert read_left(path) is None


def test_what_the_original_leaves_and_nobody_copied_stayed() -> None:
    known = [A.tobytes(), B.tobytes(), bytes(64)]
    close = (A * (1 + 1e-13)).tobytes()
    assert find_stayed(known, [], [close]) == (64,)
    assert find_stayed(known, [A.tobytes()], [close]) == ()
    assert find_stayed(known, [B.tobytes()], [WHOLE.tobytes(), (A + 1).tobytes()]) == ()
    assert find_stayed(known, [], [A[1:].tobytes()]) == (56,)
    assert find_stayed(known, [], [bytes(64)]) == ()
