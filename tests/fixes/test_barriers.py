"""Barriers moved out of branches, or removed: where they may go, and where nothing is offered."""

from __future__ import annotations

import pytest

from tests.fixes.places import edited, offered, site, trees
from warpsmith.base.fixes import Fix
from warpsmith.fixes.barriers import hoist, remove

HEAD = "__global__ void k(float *a, int n)\n{\n    int t = threadIdx.x;\n"
BARRIER = "__syncthreads()"


def moved(body: str) -> list[str]:
    """Return the body with the barrier where each fix puts it."""
    text = HEAD + body + "}\n"
    fixes: list[Fix] = list(hoist(site(trees(text), BARRIER), None, None))  # type: ignore[arg-type]
    assert not any(fix.safe for fix in fixes)
    return [edited(text, fix).removeprefix(HEAD).removesuffix("}\n") for fix in fixes]


def test_the_last_statement_of_a_branch_comes_behind_it() -> None:
    body = "    if (t < n) {\n        a[t] = 1;\n        __syncthreads();\n    }\n    a[0] = 2;\n"
    assert moved(body) == ["    if (t < n) {\n        a[t] = 1;\n    }\n    __syncthreads();\n    a[0] = 2;\n"]


def test_the_first_statement_of_a_branch_comes_before_it() -> None:
    body = "    if (t < n) {\n        __syncthreads();\n        a[t] = 1;\n    }\n"
    assert moved(body) == ["    __syncthreads();\n    if (t < n) {\n        a[t] = 1;\n    }\n"]


def test_line_ends_stay_as_they_are() -> None:
    body = "    if (t < n) {\r\n        a[t] = 1;\r\n        __syncthreads();\r\n    }\r\n"
    assert moved(body) == ["    if (t < n) {\r\n        a[t] = 1;\r\n    }\r\n    __syncthreads();\r\n"]


def test_branches_around_are_offered_from_the_inside() -> None:
    inner = "        if (t) {\n            a[t] = 1;\n            __syncthreads();\n        }\n"
    body = f"    if (n) {{\n        a[1] = 1;\n{inner}    }}\n"
    found = moved(body)
    assert [one.count("    __syncthreads();") for one in found] == [1, 1]
    assert "        }\n        __syncthreads();\n    }" in found[0] and found[1].endswith(
        "    }\n    __syncthreads();\n"
    )


@pytest.mark.parametrize(
    "body",
    [
        "    __syncthreads();\n",
        "    if (t < n) { a[t] = 1; __syncthreads(); } else a[t] = 2;\n",
        "    if (t < n) __syncthreads();\n",
        "    if (t < n) { a[t] = 1; __syncthreads(); a[t] = 2; }\n",
        "    if (t < n) { __syncthreads(); }\n",
        "    while (t < n) { a[t] = 1; __syncthreads(); }\n",
        "    if (t < n) a[t] = 2; else { a[t] = 1; __syncthreads(); }\n",
    ],
)
def test_elsewhere_the_branch_would_do_something_else(body: str) -> None:
    assert moved(body) == []


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("    a[t] = 1;\n    __syncthreads();\n    a[0] = 2;\n", "    a[t] = 1;\n    a[0] = 2;\n"),
        ("    a[t] = 1; __syncthreads(); a[0] = 2;\n", "    a[t] = 1;  a[0] = 2;\n"),
        ("    if (n) __syncthreads();\n", None),
    ],
)
def test_a_barrier_goes_with_its_line(body: str, after: str | None) -> None:
    text = HEAD + body + "}\n"
    fixes = list(remove(site(trees(text), BARRIER), None, None))  # type: ignore[arg-type]
    assert [(edited(text, fix), fix.safe) for fix in fixes] == (
        [] if after is None else [(HEAD + after + "}\n", False)]
    )


def test_what_is_no_call_is_no_barrier() -> None:
    assert offered(remove, HEAD + "    a[t] = 1;\n}\n", "a[t] = 1") == []
    assert offered(hoist, HEAD + "    if (t) { a[0] = 3; a[t] = 1; }\n}\n", "a[t] = 1") == []
