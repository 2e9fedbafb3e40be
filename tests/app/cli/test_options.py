"""Options that several commands share, and what makes no sense in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.app.cli.about.settings import default_settings
from warpsmith.app.cli.options import chosen_device, compiler_arguments, parse_claims, text, texts, verify_options
from warpsmith.base.errors import UsageError
from warpsmith.run.verification import VerifyOptions

GIVEN: dict[str, object] = {
    "device": None, "seed": 3, "special_values": True, "tol": None, "run_dir": None, "run_stdin": None, "run_args": ""
}  # fmt: skip


def options(**more: object) -> VerifyOptions:
    return verify_options(GIVEN | more, default_settings())


def test_options_of_a_compiler() -> None:
    given: dict[str, object] = {"include": ("a", "b"), "define": ("X=1",), "undefine": ("Y",), "std": None}
    assert compiler_arguments(given) == ("-Ia", "-Ib", "-DX=1", "-UY")
    assert compiler_arguments(given | {"std": "c11", "include": (), "define": (), "undefine": ()}) == ("-std=c11",)


def test_options_that_may_be_absent_or_repeated() -> None:
    assert (text(None), text(3), texts(None), texts(("a", 1)), texts("a")) == (None, "3", (), ("a", "1"), ())
    assert (parse_claims({"claims": "check"}), parse_claims({"claims": "trust"}), parse_claims({})) == (
        "check",
        "trust",
        "trust",
    )


def test_options_of_the_referee(tmp_path: Path) -> None:
    found = options(run_args="-n 'a b'", tol="1e-3,0", run_dir=str(tmp_path))
    assert found.run_args == ("-n", "a b") and (found.absolute, found.relative) == (1e-3, 0.0)
    assert (found.seed, found.special_values, found.run_dir, found.run_stdin) == (3, True, str(tmp_path), None)
    assert options().absolute is None and options().device == "a100"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"run_args": "'open"}, "--run-args: no closing quotation"),
        ({"tol": "1e-3"}, "--tol takes two numbers"),
        ({"tol": "a,b"}, "--tol takes two numbers"),
        ({"tol": "-1,0"}, "not negative"),
        ({"tol": "nan,0"}, "not negative"),
        ({"run_stdin": "/none"}, "--run-stdin: /none does not exist"),
        ({"run_dir": "/none"}, "--run-dir: /none does not exist"),
    ],
)
def test_what_makes_no_sense(more: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        options(**more)


def test_a_device_is_the_one_named_else_the_one_that_is_set() -> None:
    assert chosen_device({"device": "h100"}, default_settings()) == "h100"
    assert chosen_device({"device": None}, default_settings()) == "a100"
    with pytest.raises(UsageError):
        chosen_device({"device": "x100"}, default_settings())
