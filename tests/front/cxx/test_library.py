"""Calls of C++'s library as what they do."""

from __future__ import annotations

from collections.abc import Iterable

from tests.front.conftest import Load, found
from tests.front.cxx.test_cxx import CLASS
from warpsmith.front.cxx.library import NATIVE
from warpsmith.tree.nodes import Expr, ExprStmt, VerbatimExpr
from warpsmith.tree.printing.printer import nothing, print_expr

WRITTEN = {
    "r = v.empty()": "r = v.size() == 0",
    "r = arr.empty()": "r = (size_t)4 == 0",
    "r = *arr.data()": "r = *&(arr.data())[0]",
    "arr.back() = 1": "(arr.data())[(size_t)4 - 1] = 1",
    "r = *v.data()": "r = *v.data()",
    "v.at(i + 1) = arr.at(i)": "v.at(i + 1) = arr.at(i)",
    "r = std::max(v.at(i), c)": "r = v.at(i) < c ? c : v.at(i)",
    "i = std::abs(i)": "i = abs(i)",
    "r = std::max(i, 3)": "r = i < 3 ? 3 : i",
    "f = std::fmin(f, 2.0f)": "f = fminf(f, 2.0f)",
    "r = std::hypot(f, r)": "r = hypot((double)f, r)",
    "r = std::isnan(f) || std::signbit(r)": "r = isnan(f) || signbit(r)",
    "r = std::isfinite(c)": "r = isfinite(c)",
    "r = std::min(std::sqrt(r), c)": "r = c < sqrt(r) ? c : sqrt(r)",
}
KEPT = {
    "r = std::max(i++, 3)": "a call of std::max whose arguments have side effects",
    "r = std::clamp(heavy(i), r, c)": "a call of std::clamp whose arguments have side effects",
    "r = *std::max_element(arr.data(), arr.data() + 4)": "",
}


def expressions(load: Load, cases: Iterable[str]) -> dict[str, Expr]:
    """Return the expression of each statement of `Grid::test`, each in a method of its own."""
    head, _, parameters = CLASS.partition("%s")[0].rpartition("void test(")
    parts = [f"void test{n}({parameters}{case};\n}}\n" for n, case in enumerate(cases)]
    text = head + "".join(parts) + CLASS.partition("%s")[2].partition("}")[2]
    functions = {f.symbol.name.rpartition("::")[2]: f for _, f in load(text, name="case.cpp").program.functions()}
    made = [found(functions[f"test{n}"].body, ExprStmt)[0] for n, _ in enumerate(cases)]
    return {case: stmt.expr for case, stmt in zip(cases, made, strict=True) if isinstance(stmt, ExprStmt)}


def test_what_it_does_stands_in_its_place(load: Load) -> None:
    made = expressions(load, WRITTEN)
    assert {case: print_expr(expr, nothing) for case, expr in made.items()} == WRITTEN


def test_what_would_be_evaluated_twice_is_text(load: Load) -> None:
    for case, expr in expressions(load, KEPT).items():
        boxes = [n.reason for n in found(expr, VerbatimExpr) if isinstance(n, VerbatimExpr)]
        assert (boxes or [""])[0] == KEPT[case]


def test_functions_of_c_have_both_names() -> None:
    assert {"sqrt", "sqrtf", "atan2f", "copysign"} <= NATIVE and "printf" not in NATIVE and "abs" not in NATIVE
