"""Lowered kernels write what the same text writes as C++, bit by bit; and what is called uniform never differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lower.constructs import CONSTRUCTS
from tests.lower.harness import constructs, differences, emulated, interpreted, kernels, lowered, text_of
from warpsmith.lower.program import Lowered
from warpsmith.simt.launch import Dim
from warpsmith.ssa.reader import parse_module
from warpsmith.ssa.text import print_module
from warpsmith.ssa.verify import faults

SEEDS = range(40, 46)

Given = dict[str, tuple[str, Dim]]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Given, Lowered, dict[str, list[str]]]:
    """Return all constructs and some random kernels: their texts, their SSA, and what they write as C++."""
    folder = tmp_path_factory.mktemp("lower")
    given = {**constructs(), **kernels(SEEDS)}
    return given, lowered(text_of(given), folder), emulated(given, folder / "built")


def test_every_kernel_is_modeled_and_well_formed(both: tuple[Given, Lowered, dict[str, list[str]]]) -> None:
    _, made, _ = both
    assert [f"{f.span}: {f.message}" for f in made.findings] == []
    assert [fault for function in made.module.functions for fault in faults(function)] == []


def test_every_construct_means_what_it_means_in_cpp(both: tuple[Given, Lowered, dict[str, list[str]]]) -> None:
    _, made, expected = both
    wrong = differences(made.module, constructs(), expected)
    names = {f"c{number}": name for number, name in enumerate(CONSTRUCTS)}
    assert [f"{names.get(text.split()[0].rstrip(':'))}: {text}" for text in wrong] == []


def test_random_kernels_write_what_they_write_as_cpp(both: tuple[Given, Lowered, dict[str, list[str]]]) -> None:
    given, made, expected = both
    assert differences(made.module, {name: given[name] for name in kernels(SEEDS)}, expected) == []


def test_the_text_of_lowered_kernels_is_read_back(both: tuple[Given, Lowered, dict[str, list[str]]]) -> None:
    given, made, _ = both
    again = parse_module(print_module(made.module))
    assert print_module(again) == print_module(made.module)
    assert interpreted(again, "c20", given["c20"][1]) == interpreted(made.module, "c20", given["c20"][1])


def test_the_random_kernels_have_everything(both: tuple[Given, Lowered, dict[str, list[str]]]) -> None:
    _, made, _ = both
    ops = {i.op for function in made.module.functions for _, i in function.instructions()}
    assert {"barrier", "vote", "shuffle", "select", "atomic_add", "sdiv", "udiv", "sext", "zext", "ashr", "lshr"} <= ops


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 400, 40))
def test_many_random_kernels(start: int, tmp_path: Path) -> None:
    given = kernels(range(start, start + 40))
    made = lowered(text_of(given), tmp_path)
    assert [f.message for f in made.findings] == []
    assert [fault for function in made.module.functions for fault in faults(function)] == []
    assert differences(made.module, given, emulated(given, tmp_path / "built")) == []
