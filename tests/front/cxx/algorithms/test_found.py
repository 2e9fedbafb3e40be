"""What the calls of algorithms that give a number are, written out."""

from __future__ import annotations

import re

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Function
from warpsmith.tree.printing.printer import Printer, join_lines, nothing

HEAD = """#include <algorithm>
#include <numeric>
#include <vector>
"""
FUNCTION = "void f%d(std::vector<double> &v, const double *p, int n, long t, const int *table) { %s }\n"
OVER_P = "for (long p_at = 0; p_at < (long)n; p_at++) {"
MADE = {
    "t = std::reduce(p, p + n);": f"double sum = (double)0; {OVER_P} sum = sum + p[p_at]; }} t = sum;",
    "t = std::count(p, p + n, 2.0);":
    f"long count_ = 0; {OVER_P} if (p[p_at] == 2.0) count_ = count_ + 1; }} t = count_;",
    "t = std::all_of(p, p + n, [](double x) { return x > 1; });":
    f"long count_ = 0; {OVER_P} if (!(p[p_at] > 1)) count_ = count_ + 1; }} t = count_ == 0;",
    "t = std::all_of(p, p + n, [table](int x) { return table[x] > 1; });":
    f"bool all = true; {OVER_P} if (!(table[(int)p[p_at]] > 1)) {{ all = false; break; }} }} t = all;",
    "t = std::any_of(p, p + n, [n](int x) { return n / x > 1; });":
    f"bool any = false; {OVER_P} if (n / (int)p[p_at] > 1) {{ any = true; break; }} }} t = any;",
    "t = *std::min_element(v.begin() + n, v.end());":
    "double least = v.data()[(long)n]; for (long v_at = (long)n + 1; v_at < (long)v.size(); v_at++) "
    "{ if (v.data()[v_at] < least) least = v.data()[v_at]; } t = least;",
    "t = std::distance(v.begin() + 1, std::max_element(v.begin() + 1, v.end()));":
    "long found = (long)1; double largest = v.data()[1]; for (long v_at = 1 + 1; v_at < (long)v.size(); v_at++) "
    "{ if (largest < v.data()[v_at]) { largest = v.data()[v_at]; found = v_at; } } t = found - (long)1;",
    "t = std::find(p, p + n, 2.0) == p + n;":
    f"long found = (long)n; {OVER_P} if (p[p_at] == 2.0) {{ if (p_at < found) found = p_at; }} }} "
    "t = found == (long)n;",
    "t = std::find_if(p, p + n, [table](int x) { return table[x]; }) - p;":
    f"long found = (long)n; {OVER_P} if (table[(int)p[p_at]]) {{ found = p_at; break; }} }} t = found;",
}  # fmt: skip


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Function]:
    path = tmp_path_factory.mktemp("found") / "found.cpp"
    path.write_text(HEAD + "".join(FUNCTION % pair for pair in enumerate(MADE)))
    found = [f for _, f in load_program([str(path)], FrontOptions()).program.functions()]
    return {int(f.symbol.name[1:]): f for f in found if re.fullmatch(r"f\d+", f.symbol.name)}


@pytest.mark.parametrize("number", range(len(MADE)), ids=list(MADE))
def test_a_call_is_these_statements(functions: dict[int, Function], number: int) -> None:
    written = " ".join(join_lines(Printer(nothing).stmt(functions[number].body.statements[-1])).split())
    assert written == f"{{ {list(MADE.values())[number]} }}"
