"""Masking and comparing text and files."""

from __future__ import annotations

import pytest

from warpsmith.run.compare.output import (
    OutputRule,
    compare_files,
    compare_text,
    drop_noise,
    masked_tokens,
    noise,
    rule_of,
)

PLAIN = OutputRule()


def differs(expected: str, actual: str, rule: OutputRule = PLAIN) -> str | None:
    found = compare_text(expected.encode(), actual.encode(), rule)
    return None if found is None else found.text


def test_equal_text_is_equal() -> None:
    assert differs("a 1 2.5\n", "a 1 2.5\n") is None
    assert differs("a  1\t2.5\n", "a 1 2.5") is None


@pytest.mark.parametrize(
    ("expected", "actual"),
    [("n 3\n", "n 4\n"), ("x 0.010\n", "x 0.011\n"), ("a\n", "b\n"), ("a\n", "a\nb\n"), ("1 2\n", "12\n"),
     ("0x10\n", "0x11\n"), ("nan\n", "1.0\n"), ("inf\n", "-inf\n"), ("1000000\n", "1000001\n")],
)  # fmt: skip
def test_a_difference_is_found(expected: str, actual: str) -> None:
    assert differs(expected, actual) is not None


def test_the_first_difference_is_told_with_both_values() -> None:
    assert differs("a 1\nb 2.5\n", "a 1\nb 3.5\n") == "line 2 has 3.5, the original has 2.5"


def test_what_differs_between_two_runs_is_masked() -> None:
    base, again = b"time 0.01 s at 0x7ffd10\nsum 3.25\n", b"time 9.37 s at 0x7ffe44\nsum 3.25\n"
    rule = rule_of(base, [again], [])
    assert compare_text(base, b"time 123.456 s at 0x1\nsum 3.25\n", rule) is None
    assert compare_text(base, b"time 123.456 s at 0x1\nsum 3.26\n", rule) is not None
    assert masked_tokens(base, rule) == ("line 1: 0.01", "line 1: 0x7ffd10")


def test_a_line_whose_shape_varies_is_masked_whole() -> None:
    rule = rule_of(b"a b\nc\n", [b"a\nc\n"], [])
    assert compare_text(b"a b\nc\n", b"x y z\nc\n", rule) is None
    assert compare_text(b"a b\nc\n", b"a b\nd\n", rule) is not None


def test_a_varying_number_of_lines_masks_everything_and_says_so() -> None:
    rule = rule_of(b"a\n", [b"a\nb\n"], [])
    assert rule.all_masked and masked_tokens(b"a\n", rule) == ("output: all of it",)


def test_numbers_may_differ_by_the_originals_own_spread() -> None:
    base, variant = b"r 0.10000000000000\n", b"r 0.10000000001000\n"
    assert compare_text(base, b"r 0.10000000002000\n", rule_of(base, [], [variant])) is None
    assert compare_text(base, b"r 0.10000000009000\n", rule_of(base, [], [variant])) is not None


def test_the_last_of_many_digits_may_be_rounded_the_other_way() -> None:
    assert differs("3.14159265\n", "3.14159266\n") is None
    assert differs("3.14159265\n", "3.14159268\n") is not None
    assert differs("0.02\n", "0.01\n") is not None


def test_zeros_do_not_pass_under_any_allowance() -> None:
    wide = OutputRule(absolute=1.0)
    assert differs("0.001 0.002\n", "0.000 0.000\n", wide) is not None
    assert differs("0.001 0.002\n", "0.001 0.000\n", wide) is None


def test_cancellation_in_one_token_does_not_widen_the_others() -> None:
    base, variant = b"1e-17 2.50000\n", b"3e-17 2.50000\n"
    assert compare_text(base, b"1e-17 2.60000\n", rule_of(base, [], [variant])) is not None


def test_binary_output_is_compared_byte_by_byte() -> None:
    assert differs("\0a", "\0b") == "byte 1 is 0x62, the original has 0x61"
    assert differs("\0a", "\0ab") == "3 bytes, the original has 2"


def test_files_are_compared_by_name_and_content() -> None:
    one = {"a.txt": b"1\n"}
    assert compare_files(one, {"a.txt": b"1\n"}, {}, frozenset()) is None
    for other in ({}, {"a.txt": b"2\n"}, {"a.txt": b"1\n", "b.txt": b""}):
        assert compare_files(one, other, {}, frozenset()) is not None
    assert compare_files({**one, "t1": b""}, {**one, "t2": b""}, {}, frozenset({"t1"})) is None


def test_a_number_may_be_off_by_as_much_as_the_object_behind_it() -> None:
    one, other = b"sum 1544.696\n", b"sum 1544.677\n"
    assert compare_text(one, other, PLAIN) is not None
    assert compare_text(one, other, OutputRule(rounding=1.3e-5)) is None
    assert compare_text(one, b"sum 1545.6\n", OutputRule(rounding=1.3e-5)) is not None
    assert compare_text(b"n 1544\n", b"n 1545\n", OutputRule(rounding=1e-3)) is not None


def test_a_number_of_which_the_builds_determine_no_digit_shows_nothing() -> None:
    base = b"1.00e-15 250.0\n"
    rule = rule_of(base, [], [b"4.00e-15 250.0\n"])
    assert compare_text(base, b"7.0 250.0\n", rule) is not None
    assert compare_text(base, b"7.0 250.0\n", drop_noise(base, rule)) is None
    assert compare_text(base, b"7.0 251.0\n", drop_noise(base, rule)) is not None


def test_a_number_of_which_the_builds_determine_no_digit_may_be_off_by_more() -> None:
    base, other = b"1.00e-15 250.0\n", b"8.00e-16 250.0\n"
    rule = rule_of(base, [], [other])
    assert compare_text(base, b"3.00e-15 250.0\n", rule) is None
    assert compare_text(base, b"9.00e-15 250.0\n", rule) is not None
    assert compare_text(base, b"3.00e-15 250.1\n", rule) is not None
    assert noise(base, rule) == ("line 1: 1.00e-15",)
    rule = rule_of(base, [], [b"1.05e-15 250.0\n"])
    assert compare_text(base, b"1.30e-15 250.0\n", rule) is not None and noise(base, rule) == ()


def test_doubles_are_not_measured_by_the_cancellation_in_another_number() -> None:
    base, variant = "0.0028571283832903305 {}\n", "0.0028571300354087725 {}\n"

    def accepts(expected: str, actual: str) -> bool:
        rule = rule_of(base.format(expected).encode(), [], [variant.format(expected).encode()])
        return compare_text(base.format(expected).encode(), base.format(actual).encode(), rule) is None

    doubles = "1.2714285714285714 2.2428571428571429 3.2142857142857144"
    assert not accepts(doubles, doubles.replace("2.2428571428571429", "2.2428572177886963"))
    assert accepts(doubles, doubles.replace("2.2428571428571429", "2.2428571428571433"))
    # a float printed as a double, and digits of which a float has as many
    assert accepts("2.2428572177886963", "2.2428574562072754")
    assert accepts("2.2428572", "2.2428574")


def test_a_number_in_a_row_may_be_off_by_the_rounding_of_another() -> None:
    # differences of floats near 2: each builds' own happens to be exact where another order is not
    row = "1.50000000 1.75000000 0.50000000 0.25000000 0.12500000 0.06250000 0.03125000 "
    base, variant = f"{row}0.04679084 x\n".encode(), f"{row}0.04679084 x\n".replace("1.75000000", "1.75000024").encode()
    rule = rule_of(base, [], [variant])
    assert compare_text(base, base.replace(b"0.04679084", b"0.04679108"), rule) is None
    assert compare_text(base, base.replace(b"0.04679084", b"0.04679208"), rule) is not None
    assert (
        compare_text(base[21:], base[21:].replace(b"0.04679084", b"0.04679108"), rule_of(base[21:], [], [])) is not None
    )
    # a large number that is not determined says nothing of the others
    wild = rule_of(base, [], [base.replace(b"1.75000000", b"1.76000000")])
    assert compare_text(base, base.replace(b"0.04679084", b"0.04679108"), wild) is not None


def test_nan_stands_for_numbers_where_noise_decides_whether_they_are_finite() -> None:
    broken = OutputRule(broken=True)
    assert compare_text(b"sum 0.25", b"sum nan", broken) is None
    assert compare_text(b"sum 0.25", b"sum nan", OutputRule()) is not None
    assert compare_text(b"sum 0.25", b"sum 0.75", broken) is not None
    assert compare_text(b"sum nan", b"sum 0.25", broken) is not None
