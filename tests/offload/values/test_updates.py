"""Updates of accumulators as a kernel's threads make them: their own variables, or indivisible operations."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import analyzed
from warpsmith.offload.values.reductions import Accumulator, accumulators
from warpsmith.offload.values.updates import ATOMIC_KEY, Own, atomic_function, combine_updates, neutral
from warpsmith.tree.nodes import Block, For
from warpsmith.tree.printing.printer import print_expr, print_stmt
from warpsmith.tree.types import DOUBLE, FLOAT, INT, LONG_LONG, UNSIGNED_LONG, Scalar, Symbol

HEAD = """double a[99], h[99]; float g[99]; int k[99], c[99]; unsigned char tiny[99]; unsigned u[99];
double f(int n) { double s = 0; int at = -1; """


def loop(body: str, folder: Path, before: str = "") -> tuple[For, tuple[Accumulator, ...]]:
    program = analyzed(f"{HEAD}{before} for (int i = 2; i < n; i++) {{ {body} }} return s + at; }}", folder)
    facts = program.facts["f"].loops[0]
    found = accumulators((facts,))
    assert isinstance(found, tuple) and isinstance(facts.loop, For), found
    return facts.loop, found


def atomics(body: str, folder: Path) -> str:
    head, found = loop(body, folder)
    assert found and all(one.form == "atomic" for one in found), found
    return " ".join(print_stmt(combine_updates(head.body, head, found, {})).split())


@pytest.mark.parametrize(
    ("update", "text"),
    [
        ("c[k[i]]++;", "atomicAdd(&c[k[i]], 1);"),
        ("--c[k[i]];", "atomicAdd(&c[k[i]], -1);"),
        ("h[k[i]] += a[i];", "atomicAdd(&h[k[i]], a[i]);"),
        ("h[k[i]] -= a[i];", "atomicAdd(&h[k[i]], -a[i]);"),
        ("h[k[i]] = h[k[i]] + a[i];", "atomicAdd(&h[k[i]], a[i]);"),
        ("h[k[i]] = a[i] + h[k[i]];", "atomicAdd(&h[k[i]], a[i]);"),
        ("h[k[i]] = h[k[i]] + a[i] - g[i];", "atomicAdd(&h[k[i]], a[i] - g[i]);"),
        # what meets a double is one before it is negated: -(unsigned) wraps
        ("h[k[i]] -= u[i];", "atomicAdd(&h[k[i]], -(double)u[i]);"),
        ("h[k[i]] = h[k[i]] - u[i];", "atomicAdd(&h[k[i]], -(double)u[i]);"),
        # one statement before an else
        ("if (a[i] > 1) c[k[i]]++; else g[i] = 2;", "if (a[i] > 1) atomicAdd(&c[k[i]], 1); else g[i] = 2;"),
        ("c[k[i]] |= k[i];", "atomicOr(&c[k[i]], k[i]);"),
        ("if (k[i] > c[k[i]]) c[k[i]] = k[i];", "atomicMax(&c[k[i]], k[i]);"),
        ("if (a[i] > 1 && k[i] > c[k[i]]) c[k[i]] = k[i];", "if (a[i] > 1) atomicMax(&c[k[i]], k[i]);"),
        ("c[k[i]] = k[i] < c[k[i]] ? k[i] : c[k[i]];", "atomicMin(&c[k[i]], k[i]);"),
    ],
)
def test_an_update_of_any_element_is_indivisible(update: str, text: str, tmp_path: Path) -> None:
    assert atomics(update, tmp_path) == f"{{ {text} }}"


def own(one: Accumulator, *, when: bool = False) -> Own:
    made = {s: Symbol(f"own_{s.name}", f"own:{s.name}", s.type, "local") for s in one.companions}
    counter = Symbol("own_when", "own:when", LONG_LONG, "local") if when else None
    return Own(Symbol("own", "own", one.type, "local"), made, counter)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("s += a[i];", "{ own += a[i]; }"),
        ("s = s + a[i] * 2;", "{ own = own + a[i] * 2; }"),
        ("h[3] += a[i]; g[i] = 1;", "{ own += a[i]; g[i] = 1; }"),
    ],
)
def test_a_thread_sums_into_a_variable_of_its_own(body: str, text: str, tmp_path: Path) -> None:
    head, (one,) = loop(body, tmp_path)
    made = combine_updates(head.body, head, (one,), {one: own(one)})
    assert " ".join(print_stmt(made).split()) == text


def test_an_extreme_with_companions_stores_the_number_of_its_iteration(tmp_path: Path) -> None:
    head, (one,) = loop("if (a[i] > s) { s = a[i]; at = i; }", tmp_path)
    assert [s.name for s in one.companions] == ["at"]
    made = combine_updates(head.body, head, (one,), {one: own(one, when=True)})
    text = " ".join(print_stmt(made).split())
    assert text == "{ if (a[i] > own) { own = a[i]; own_at = i; own_when = (long long)i - 2; } }"


def test_what_is_no_update_stays_the_same_node(tmp_path: Path) -> None:
    head, found = loop("c[k[i]]++; g[i] = 2;", tmp_path)
    made = combine_updates(head.body, head, found, {})
    assert isinstance(made, Block) and isinstance(head.body, Block)
    assert made.statements[0] is not head.body.statements[0] and made.statements[1] is head.body.statements[1]


@pytest.mark.parametrize(
    ("body", "text"),
    [("s += a[i];", "-0.0"), ("s *= a[i];", "1.0"), ("at += k[i];", "0"), ("at ^= k[i];", "0")],
)
def test_what_changes_nothing(body: str, text: str, tmp_path: Path) -> None:
    _, (one,) = loop(body, tmp_path)
    assert print_expr(neutral(one)) == text


UNSIGNED = Scalar("unsigned int", 32, "unsigned")
WIDE = Scalar("unsigned long long", 64, "unsigned")


@pytest.mark.parametrize(
    ("op", "type", "name"),
    [
        ("+", INT, "atomicAdd"), ("+", DOUBLE, "atomicAdd"), ("+", FLOAT, "atomicAdd"), ("max", UNSIGNED, "atomicMax"),
        ("^", WIDE, "atomicXor"),
        # what CUDA has not
        ("*", INT, "atomic * int"), ("max", DOUBLE, "atomic max double"), ("+", LONG_LONG, "atomic + long long"),
        ("+", UNSIGNED_LONG, "atomic + unsigned long"),
    ],
)  # fmt: skip
def test_the_function_that_combines_indivisibly(op: str, type: Scalar, name: str) -> None:
    found = atomic_function(op, type)
    assert found.name == name
    assert found.key.startswith(ATOMIC_KEY) == name.startswith("atomic ")
