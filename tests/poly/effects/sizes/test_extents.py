"""How many elements stand behind a pointer into a container: known where its size was read together with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.effects.sizes.extents import known_extent
from warpsmith.tree.nodes import VarDecl
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.walk import loops, walk

TEXT = """
#include <vector>
void other(std::vector<float> &v);
float f(std::vector<float> &v, std::vector<float> &w, const int *at)
{
    float sum = 0;
    %s
    for (int i = 0; i < 9; i++)
        sum += p[at[i]];
    return sum;
}
"""


@pytest.mark.parametrize(
    ("text", "extent"),
    [
        ("float *p = v.data(); std::size_t n = v.size();", "(long long)n"),
        ("std::size_t n = v.size(); float x = sum; float *p = v.data();", "(long long)n"),
        ("float *p = v.data(); std::size_t n = v.size(); other(v);", "(long long)n"),
        ("float *p = v.data(); other(v); std::size_t n = v.size();", ""),
        ("float *p = v.data(); v.push_back(1); std::size_t n = v.size();", ""),
        ("float *p = v.data(); std::size_t n = w.size();", ""),
        ("float *p = v.data(); std::size_t n = v.size(); n++;", ""),
        ("float *p = v.data(); std::size_t n = v.size(); p = w.data();", ""),
        ("float *p = v.data(); std::size_t n = v.size(); std::size_t *q = &n; other(v);", ""),
        ("float *p = v.data() + 1; std::size_t n = v.size();", ""),
    ],
)
def test_the_size_that_was_read_together_counts(tmp_path: Path, text: str, extent: str) -> None:
    path = tmp_path / "case.cpp"
    path.write_text(TEXT % text)
    program = load_program([str(path)], FrontOptions()).program
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    pointer = next(n.symbol for n in walk(function.body) if isinstance(n, VarDecl) and n.symbol.name == "p")
    ((loop, _),) = loops(function.body)
    found = known_extent(program, function, pointer, loop)
    assert (print_expr(found) if found is not None else "") == extent
