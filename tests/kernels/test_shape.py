"""How kernels are launched, from what the user says: sizes, arguments, assumptions; the command line wins."""

from __future__ import annotations

import pytest

from tests.kernels.kernels import kernel
from warpsmith.analysis.uniformity.facts import ParameterBound
from warpsmith.base.errors import UsageError
from warpsmith.kernels.shape import Launching, arguments_of, bounds_of, check_names, dim_of, shape_of
from warpsmith.kernels.units import Launched
from warpsmith.settings.model import KernelSettings, Settings


@pytest.mark.parametrize(
    ("text", "dim"),
    [("64", (64, 1, 1)), ("32,8", (32, 8, 1)), ("2,3,4", (2, 3, 4)), ("16x4", (16, 4, 1)), (" 8 , 2 ", (8, 2, 1))],
)
def test_sizes(text: str, dim: tuple[int, int, int]) -> None:
    assert dim_of(text, "--block") == dim


@pytest.mark.parametrize("text", ["", "0", "-1", "1,2,3,4", "a", "1,,2", "1.5", "32,0"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UsageError, match="--grid takes one to three numbers above 0"):
        dim_of(text, "--grid")


def test_arguments() -> None:
    assert arguments_of(["n=4096", " m = 0x10 ", "k=-3", "n=5"]) == {"n": 5, "m": 16, "k": -3}
    for text in ("n", "n=", "n=x", "=3", "n=1.5"):
        with pytest.raises(UsageError, match="--arg takes NAME=NUMBER"):
            arguments_of([text])


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("n >= 64", [ParameterBound("n", 64, None)]),
        ("n > 64", [ParameterBound("n", 65, None)]),
        ("n<=7", [ParameterBound("n", None, 7)]),
        ("n < 7", [ParameterBound("n", None, 6)]),
        ("n == 100", [ParameterBound("n", 100, 100)]),
        ("64 <= n", [ParameterBound("n", 64, None)]),
        ("64 > n", [ParameterBound("n", None, 63)]),
        ("-3 == n", [ParameterBound("n", -3, -3)]),
        ("n % 32 == 0", [ParameterBound("n", multiple=32)]),
        ("n % 0 == 0", [ParameterBound("n", multiple=1)]),
        (
            "n >= 1 && m < 5 and k == 2",
            [ParameterBound("n", 1, None), ParameterBound("m", None, 4), ParameterBound("k", 2, 2)],
        ),
    ],
)
def test_assumptions(text: str, bounds: list[ParameterBound]) -> None:
    assert list(bounds_of([text])) == bounds


@pytest.mark.parametrize("text", ["n", "n % 32 == 1", "n + 1 > 2", "injective(a)", "", "n != 3", "n >= m"])
def test_assumptions_of_no_form(text: str) -> None:
    with pytest.raises(UsageError, match="is not of a form that is known"):
        bounds_of(["k >= 1", text])


SETTINGS = Settings(
    {"assume": ("n >= 1",)},
    {},
    "/p",
    kernels=(KernelSettings("scale", (32, 1, 1), (7, 1, 1), {"n": 10, "by": 2, "other": 1}, ("n <= 99",)),),
)
NONE = Settings({"assume": ()}, {}, "/p")


def test_flags_win_over_configuration_and_that_over_host_code() -> None:
    launched = Launched((8, 1, 1), (9, 1, 1), 128)
    said = Launching((64, 1, 1), None, {"n": 20}, ("n % 4 == 0",), 16)
    shape = shape_of(kernel("scale"), "scale", said, SETTINGS, launched)
    assert (shape.block, shape.grid, shape.shared_bytes) == ((64, 1, 1), (7, 1, 1), 16)
    assert dict(shape.arguments) == {"n": 20, "by": 2}
    assert [(b.parameter, b.least, b.most, b.multiple) for b in shape.assumptions] == [
        (b.parameter, b.least, b.most, b.multiple) for b in bounds_of(["n >= 1", "n <= 99", "n % 4 == 0"])
    ]
    plain = shape_of(kernel("scale"), "scale", Launching(), NONE, launched)
    assert (plain.block, plain.grid, plain.shared_bytes) == ((8, 1, 1), (9, 1, 1), 128)
    nothing = shape_of(kernel("scale"), "scale", Launching(), NONE)
    assert (nothing.block, nothing.grid, nothing.shared_bytes) == (None, None, 0)


def test_a_parameter_is_known_by_its_place_as_well() -> None:
    said = Launching(arguments={"1": 5, "param_2": 6, "3": 7, "width": 8}, assume=("width >= 1", "n >= 2"))
    shape = shape_of(kernel("scale"), "scale", said, NONE)
    assert dict(shape.arguments) == {"n": 5, "by": 6} and [b.parameter for b in shape.assumptions] == ["n"]


def test_names_that_no_kernel_has() -> None:
    check_names(Launching(arguments={"n": 1, "param_3": 2}, assume=("by >= 1",)), ["data", "n", "by"])
    check_names(Launching(arguments={"anything": 1}), [])
    for said in (Launching(arguments={"nn": 1}), Launching(assume=("nn >= 1",))):
        with pytest.raises(UsageError, match="no kernel has a parameter called 'nn'") as told:
            check_names(said, ["data", "n", "by"])
        assert told.value.findings[0].help == ("did you mean 'n'?",)
    with pytest.raises(UsageError) as other:
        check_names(Launching(arguments={"zzz": 1}), ["data", "n"])
    assert other.value.findings[0].help == ("the parameters: data, n",)
