"""Which loops become passes of a kernel, once a step has said so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import analyzed
from warpsmith.base.verdict import Reason
from warpsmith.loops.place import LoopContext
from warpsmith.offload.fragments import Draft
from warpsmith.offload.selection.passes import passes_at
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Decision

HEAD = "void f(int n, double *restrict A, double *restrict B, double *restrict x)\n"
NESTS = "for (int i = 1; i < n; i++) B[i] = A[i - 1]; for (int k = 1; k < n; k++) A[k] = B[k];"


def ask(nests: str, folder: Path, *, iterations: int = 2, header: str = "int t = 0; t < 9; t++") -> Draft | Reason:
    given = analyzed(f"{HEAD}{{ for ({header}) {{ {nests} }} }}\n", folder)
    place = LoopContext.of(given.program, "f/t")
    decision = Decision("f/t", "f", "passes", place.loop, width=iterations)
    return passes_at(given.request(), given.facts["f"].of(place.loop), (place.loop,), decision)


def test_a_draft_has_both_nests_and_what_they_use(tmp_path: Path) -> None:
    draft = ask(NESTS, tmp_path)
    assert isinstance(draft, Draft) and draft.passes is not None
    assert (draft.passes.iterations, draft.passes.turns) == (2, 4)
    assert [f.loop.variable.name for f in draft.loops if isinstance(f.loop, For)] == ["i"]
    assert {use.symbol.name: (use.kind, use.read, use.written) for use in draft.uses} == {
        "A": ("buffer", True, True), "B": ("buffer", True, True), "n": ("value", True, False)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("iterations", "header"),
    [
        (3, "int t = 0; t < 9; t++"),
        (2, "int t = 0; t < 8; t++"),
        (2, "int t = 1; t < 9; t++"),
        (4, "int t = 0; t < 5; t++"),
    ],
)
def test_iterations_are_an_even_number_of_passes_and_one(iterations: int, header: str, tmp_path: Path) -> None:
    found = ask(NESTS, tmp_path, iterations=iterations, header=header)
    assert isinstance(found, Reason) and "an even number of passes" in found.text


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("B[i] = A[i - 1];", "{ B[i] = A[i - 1]; x[i] = 1; }", "more than one store"),
        ("k < n", "k < n - 1", "same values"),
        ("k = 1", "k = 0", "same values"),
        ("A[k] = B[k];", "A[k] = A[k - 1];", ""),
        ("A[k] = B[k]", "A[k] = t", "read t"),
        ("k++", "k += 2", "count up by one"),
    ],
)
def test_other_loops_say_why(old: str, new: str, why: str, tmp_path: Path) -> None:
    found = ask(NESTS.replace(old, new), tmp_path)
    assert isinstance(found, Reason) and why in found.text
