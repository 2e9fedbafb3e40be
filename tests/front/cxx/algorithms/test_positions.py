"""Where ranges begin and end, in several spellings; what is no place that stays is none."""

from __future__ import annotations

import re

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import For, Function
from warpsmith.tree.printing.printer import Printer, join_lines, nothing

HEAD = """#include <algorithm>
#include <array>
#include <iterator>
#include <vector>
struct S { double *p; int n; };
static double *held;
static double fixed[8];
static int shared;
"""
FUNCTION = """void f%d(std::vector<double> &v, std::vector<double> *w, double *p, int n, int *k,
        S &s, int &r) { double a[8]; int m = 2; %s }
"""
FOUND = {
    "std::fill(std::begin(v), std::end(v), 1.0);": "0; v_at < v.size()",
    "std::fill(w->begin(), w->end(), 1.0);": "0; w_at < w->size()",
    "std::fill(v.data(), v.data() + n, 1.0);": "0; v_at < (long)n",
    "std::fill(v.data(), v.data() + v.size(), 1.0);": "0; v_at < v.size()",
    "std::fill(&a[2], a + n, 1.0);": "2; a_at < (long)n",
    "std::fill(p + m, p + n - 1, 1.0);": "(long)m; p_at < (long)n - 1",
    "std::fill(a, a + 8, 1.0);": "0; a_at < 8",
    "std::fill(std::begin(a), std::end(a), 1.0);": "0; a_at < 8",
    "std::fill(fixed, fixed + n, 1.0);": "0; fixed_at < (long)n",
    "std::fill(v.begin() + m, v.begin() + (m + n), 1.0);": "(long)m; v_at < (long)(m + n)",
    "std::fill_n(v.begin() + 1, n, 1.0);": "1; v_at < 1 + (long)n",
}
NONE = (
    "std::fill(held, held + n, 1.0);",  # another function may set it
    "std::fill(s.p, s.p + n, 1.0);",
    "std::fill(p - 1, p + n, 1.0);",
    "std::fill(p, p + *k, 1.0);",
    "std::fill(p, p + r, 1.0);",
    "std::fill(p, p + s.n, 1.0);",
    "std::fill(p, p + shared, 1.0);",
    "std::fill(p, p + n++, 1.0);",
    "std::fill(v.begin(), w->end(), 1.0);",
    "std::fill(v.rbegin(), v.rend(), 1.0);",
    "std::fill(p, a, 1.0);",
)


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Function]:
    path = tmp_path_factory.mktemp("positions") / "positions.cpp"
    path.write_text(HEAD + "".join(FUNCTION % pair for pair in enumerate([*FOUND, *NONE])))
    found = [f for _, f in load_program([str(path)], FrontOptions()).program.functions()]
    return {int(f.symbol.name[1:]): f for f in found if re.fullmatch(r"f\d+", f.symbol.name)}


@pytest.mark.parametrize("number", range(len(FOUND)), ids=list(FOUND))
def test_a_range_has_its_bounds(functions: dict[int, Function], number: int) -> None:
    made = functions[number].body.statements[-1]
    assert isinstance(made, For)
    head = join_lines(Printer(nothing).stmt(made)).split("\n")[0]
    assert f"= {list(FOUND.values())[number]};" in head


@pytest.mark.parametrize("number", range(len(FOUND), len(FOUND) + len(NONE)), ids=NONE)
def test_what_may_move_or_is_no_array_is_no_range(functions: dict[int, Function], number: int) -> None:
    assert not isinstance(functions[number].body.statements[-1], For)
