"""Bugs that other tools were reported for, each covered: a loop by a case, the rest by the test of its class."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

# What went wrong elsewhere, where it was reported, and the case or test that would fail here.
PEERS = {
    "two statements write one array, one element apart": ("DaCe 2247", "cases/peer_distribution.c"),
    "a scalar written under a condition, read in its else": ("PSyclone 2727", "cases/peer_conditional_else.c"),
    "a diagonal that is not read": ("PSyclone 2303", "cases/peer_diagonal.c"),
    "a subscript through a scalar": ("PSyclone 1742", "cases/peer_forward_substitution.c"),
    "a triangular product in place": ("DiscoPoP 371", "cases/peer_triangular_product.c"),
    "a temporary of the body": ("DawnCC 22", "cases/peer_private_scalar.c"),
    "annotations inside annotations": ("DawnCC 21, ROSE 27", "cases/peer_nested_annotations.c"),
    "a subscript that is a sum": ("DawnCC 19", "cases/peer_overlapping_diagonals.c"),
    "a condition of red and black": ("Pluto 11", "cases/peer_red_black.c"),
    "periodic boundaries": ("Pluto 25", "cases/peer_periodic.c"),
    "a step from an array": ("Polygeist 421", "cases/peer_step_from_memory.c"),
    "a bound that is a product": ("Polygeist 398", "cases/peer_product_bound.c"),
    "a matrix stored as a vector": ("Pluto 19", "cases/peer_flattened_product.c"),
    "a missing barrier": ("loopy 724, DaCe 1284", "run/referee/test_mutants.py::test_the_mutant_is_caught"),
    "outputs near zero": (
        "KernelBench 165",
        "run/compare/test_compare.py::test_zeros_never_stand_for_a_result_however_small",
    ),
    "zeros in the output": (
        "KernelBench 165",
        "run/compare/test_output.py::test_zeros_do_not_pass_under_any_allowance",
    ),
    "copies of one array that overlap": (
        "acc2omp 28",
        "offload/transfers/test_transfers.py::test_lu_copies_once_in_front_of_the_k_loop_and_once_behind",
    ),
    "a root of a float": ("PPCG README", "cases/peer_float_sqrt.c"),
    "structs copied whole": ("Polygeist 165", "cases/peer_struct_copy.c"),
    "tiles that divide no size": ("loopy 724", "cases/peer_tiles.c"),
    "a reduction across blocks": ("loopy 475", "run/referee/test_reduction_mutants.py::test_the_mutant_is_caught"),
    "mapped twice": (
        "DaCe 2003",
        "recipes/test_replay.py::test_mapping_a_loop_twice_is_mapping_it_as_said_last",
    ),
    "a loop left early": ("never parallel", "cases/peer_early_exit.c"),
    "a function left early": ("never parallel", "cases/peer_early_return.c"),
    "a subscript from memory, written": ("never parallel", "cases/indirect.c"),
    "a subscript from memory, read": ("never parallel", "cases/peer_indirect_read_write.c"),
    "a conditional scalar that flows on": ("never parallel", "cases/conditional_scalar.c"),
}


def _exists(place: str) -> bool:
    name, _, test = place.partition("::")
    path = TESTS / name
    if not path.is_file() or not test:
        return path.is_file() and not test
    return any(isinstance(node, ast.FunctionDef) and node.name == test for node in ast.parse(path.read_text()).body)


@pytest.mark.parametrize("what", PEERS)
def test_each_is_covered(what: str) -> None:
    assert _exists(PEERS[what][1])


def test_every_case_of_a_peer_is_in_the_table() -> None:
    covered = {place for _, place in PEERS.values()}
    assert {f"cases/{path.name}" for path in (TESTS / "cases").glob("peer_*.c")} <= covered


def test_a_missing_test_would_be_noticed() -> None:
    assert not _exists("run/compare/test_compare.py::test_that_nobody_wrote")
    assert not _exists("cases/peer_that_nobody_wrote.c")
