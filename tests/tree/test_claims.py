"""Claims about variables: owned by each thread, and different in each before the loop starts."""

from __future__ import annotations

from pathlib import Path

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.claims import Claim
from warpsmith.tree.nodes import For, Pragma
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

TEXT = """void f(int n, double *a) {
    double s = 0, t = 0, u = 0, v = 0; int i;
#pragma omp parallel for private(t) \\
        reduction(+: s) nowait
    for (i = 0; i < n; i++) { t = a[i]; s += t + u + v; }
#pragma omp for nowait
    for (i = 0; i < n; i++) a[i] = s;
}
"""


def test_which_variables_belong_to_a_thread(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(TEXT)
    (unit,) = load_program([str(tmp_path / "a.c")], FrontOptions()).program.units
    pragmas = [n for n in walk(unit.functions[0]) if isinstance(n, Pragma)]
    first, second = [n for n in walk(unit.functions[0]) if isinstance(n, For)]
    known: dict[str, Symbol] = {s.name: s for s in (n.symbol for n in walk(unit.functions[0]) if hasattr(n, "symbol"))}
    assert pragmas[0].directive is not None and pragmas[1].directive is not None
    one = Claim(
        "threads", pragmas[0], pragmas[0].directive, first, (first,), private=frozenset({known["t"], first.variable}),
        firstprivate=frozenset({known["u"]}), lastprivate=frozenset({known["v"]}), linear=frozenset({known["n"]}),
        reductions={known["s"]: "+"},
    )  # fmt: skip
    assert {s.name for s in one.owned} == {"t", "i", "u", "v", "n", "s"}
    # t and s are the loop's own, i is its counter
    assert {s.name for s in one.differing} == {"u", "v", "n"}
    assert one.text == "#pragma omp parallel for private(t) reduction(+: s) nowait" and one.span is pragmas[0].span
    assert not one.nowait  # the region's threads wait at its end
    assert Claim("threads", pragmas[1], pragmas[1].directive, second, (second,)).nowait
