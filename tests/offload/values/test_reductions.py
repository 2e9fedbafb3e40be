"""Which updates a kernel's threads make together, in which form, and what is said of their order."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import load
from warpsmith.offload.plan import OffloadOptions, Port
from warpsmith.offload.port import plan_port
from warpsmith.offload.values.reductions import Accumulator, accumulators, is_reduction, order_notes
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import Call
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.walk import walk

DATA = "enum { N = 100 }; double a[N], h[N], L[N][N]; int k[N], c[N]; float f[N]; unsigned char tiny[N]; long w[N];\n"


def port(text: str, directory: Path, *, precise: bool = False) -> Port:
    program = load(DATA + text, directory)
    poly = PolyOptions()
    return plan_port(program, analyze(program, poly), OffloadOptions(precise_fp=precise), poly)


def together(body: str, directory: Path) -> tuple[Accumulator, ...]:
    program = load(f"{DATA}void g(int n) {{ double s = 0; int m = 0; {body} c[0] = m; a[0] = s; }}", directory)
    facts = next(f for function in analyze(program, PolyOptions()).functions for f in function.loops)
    assert is_reduction(facts)
    found = accumulators((facts,))
    assert isinstance(found, tuple), found
    return found


def kernel_names(result: Port) -> list[tuple[str, ...]]:
    return [fragment.loops for fragment in result.plan.fragments]


@pytest.mark.parametrize(
    ("update", "form", "keeps", "rounded"),
    [
        ("s += a[i];", "sum", False, True),
        ("m += k[i];", "sum", False, False),
        ("if (k[i] > m) m = k[i];", "sum", True, False),
        ("h[3] += a[i];", "sum", False, True),
        ("c[k[i]]++;", "atomic", False, False),
        ("h[k[i]] += a[i];", "atomic", False, True),
    ],
)
def test_the_form_of_an_accumulator(update: str, form: str, keeps: bool, rounded: bool, tmp_path: Path) -> None:
    (one,) = together(f"for (int i = 0; i < n; i++) {update}", tmp_path)
    assert (one.form, one.keeps, one.is_rounded) == (form, keeps, rounded)


@pytest.mark.parametrize(
    ("update", "words"),
    [
        ("s += a[i];", "the same in every run"),
        ("h[k[i]] += a[i];", "differs from run to run"),
        ("s = s > a[i] ? s : a[i];", "NaN"),
    ],
)
def test_what_depends_on_the_order_is_said(update: str, words: str, tmp_path: Path) -> None:
    (note,) = order_notes(together(f"for (int i = 0; i < n; i++) {update}", tmp_path))
    assert words in note


@pytest.mark.parametrize("update", ["m += k[i];", "if (a[i] > s) s = a[i];", "s = a[i] < s ? a[i] : s;", "c[k[i]]++;"])
def test_what_does_not_depend_on_the_order_has_no_note(update: str, tmp_path: Path) -> None:
    assert order_notes(together(f"for (int i = 0; i < n; i++) {update}", tmp_path)) == ()


def test_a_precise_port_leaves_floating_point_sums_on_the_host(tmp_path: Path) -> None:
    text = "double g(int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }"
    assert kernel_names(port(text, tmp_path)) == [("g/i",)]
    result = port(text, tmp_path, precise=True)
    assert not result.plan.fragments
    assert [(r.loop, r.reason.rule) for r in result.plan.refusals] == [("g/i", "POR007")]


def test_the_port_says_that_it_reorders(tmp_path: Path) -> None:
    result = port("double g(int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }", tmp_path)
    assert [f.severity for f in result.plan.findings if f.rule == "POR007"] == ["note"]


def test_an_outer_parallel_loop_keeps_the_sum_in_its_threads(tmp_path: Path) -> None:
    text = "void g(int n) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i] += L[i][j]; }"
    result = port(text, tmp_path)
    assert kernel_names(result) == [("g/i", "g/i/j")]
    assert not result.plan.fragments[0].kernel.reductions


def test_both_loops_of_one_sum_become_threads(tmp_path: Path) -> None:
    text = (
        "double g(int n) { double s = 0;"
        " for (int i = 0; i < n; i++) for (int j = i; j < n; j++) s += L[i][j]; return s; }"
    )
    (fragment,) = port(text, tmp_path).plan.fragments
    assert dict(fragment.mapping) == {"i": "y", "j": "x"}
    assert fragment.kernel.strided == ("y", "x")


def test_a_parallel_loop_inside_goes_before_atomic_updates(tmp_path: Path) -> None:
    text = "void g(int n) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[j] += L[i][j]; }"
    assert kernel_names(port(text, tmp_path)) == [("g/i/j",)]


def test_an_update_of_a_narrow_element_stays_on_the_host(tmp_path: Path) -> None:
    result = port("void g(int n) { for (int i = 0; i < n; i++) tiny[k[i]]++; }", tmp_path)
    assert not result.plan.fragments
    assert "indivisibly" in result.plan.refusals[0].reason.text


def test_a_small_sum_in_two_host_loops_is_not_launched_again_and_again(tmp_path: Path) -> None:
    text = (
        "void g(int n) { for (int t = 1; t < n; t++) for (int i = 1; i < n; i++) {"
        " double s = h[0]; for (int j = 0; j < i; j++) s += a[j]; h[0] = s * h[i - 1] + h[i]; } }"
    )
    result = port(text, tmp_path)
    assert not result.plan.fragments
    assert "2 loops of the host would launch it" in result.plan.refusals[0].reason.text


def test_the_value_of_an_atomic_update_has_the_type_in_which_it_met_its_target(tmp_path: Path) -> None:
    result = port("void g(int n, unsigned u) { for (int i = 0; i < n; i++) w[k[i]] -= u; }", tmp_path)
    (fragment,) = result.plan.fragments
    (call,) = [part for part in walk(fragment.kernel.body) if isinstance(part, Call)]
    assert print_expr(call.arguments[1]) == "-(long)u"


def test_the_first_place_of_a_maximum_travels_with_it(tmp_path: Path) -> None:
    text = (
        "int g(int n) { double s = -1; int at = 0; for (int i = 0; i < n; i++) if (a[i] > s) { s = a[i]; at = i; }"
        " return at + (int)s; }"
    )
    (fragment,) = port(text, tmp_path).plan.fragments
    (one,) = fragment.kernel.reductions
    assert (one.op, one.strict, [symbol.name for symbol, _ in one.companions]) == ("max", True, ["at"])
    assert one.when is not None and one.when.name == "s_when"


@pytest.mark.parametrize(
    ("bound", "read", "reduces"),
    [("j < i", "a[j]", True), ("j <= i", "a[j]", False), ("j < i", "a[i]", False), ("j < i", "a[k[j]]", False)],
)
def test_a_sum_may_read_other_elements_of_its_array(bound: str, read: str, reduces: bool, tmp_path: Path) -> None:
    text = f"void g(int n, int i) {{ for (int j = 0; {bound}; j++) a[i] -= L[i][j] * {read}; }}"
    program = load(DATA + text, tmp_path)
    (facts,) = (f for function in analyze(program, PolyOptions()).functions for f in function.loops)
    assert is_reduction(facts) is reduces
