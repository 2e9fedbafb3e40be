"""Headers of counted loops that stand in place of loops that walk."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.base.verdict import Reason
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.place import LoopContext
from warpsmith.loops.walk_starts import Starts
from warpsmith.loops.walking_loops import WalkingLoop, read_walk
from warpsmith.loops.writing.counted_walks import count_walk
from warpsmith.tree.nodes import While
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.walk import walk

HEAD = "int f(int n, unsigned u, unsigned long z, long h, int *a, int *e) { int i = 0, k = 0; int *p = a; "
HEADERS = {
    "for (p = a; p != a + n; ++p) k += *p;": ("p_k = 0; p_k < n; 1", []),
    "for (p = a; p != a + n; ++p) if (*p) break;": ("p_k = 0; p_k < n; 1", ["n >= 0"]),
    "for (p = a; p != a + u; ++p) if (*p) break;": ("p_k = 0; p_k < u; 1", []),
    "for (p = a; p < e; p += 3) if (*p) break;": ("p_k = 0; p_k < p_n; 3", []),
    "for (p = a; p != e; p++) if (*p) break;": ("p_k = 0; p_k < p_n; 1", ["a <= e"]),
    "for (p = a + n; p > a; p--) k += p[-1];": ("p_k = 0; p_k < n; 1", []),
    "for (p = a + 2; p < a + n; p++) k += *p;": ("p_k = 0; p_k < (long long)n - 2; 1", []),
    "while (i < n) i++;": ("i = 0; i < n; 1", []),
    "k = h; while (k < n) k += 2;": ("k_k = k; k_k < n; 2", []),
    "i = n - 1; while (i >= 0) i--;": ("i = n - 1; i >= 0; -1", []),
    "while (n-- > 0) k++;": ("n_k = 0; n_k < n; 1", []),
    "while (--n >= 0) k++;": ("n_k = 0; n_k < n; 1", []),
    "while (n) { if (a[n]) break; n--; }": ("n_k = 0; n_k < n; 1", ["n >= 0"]),
    "while (u--) { if (a[u]) break; }": ("u_k = 0; u_k < u; 1", []),
    "do i++; while (i < n);": ("i = 0; i < n; 1", ["0 < n"]),
    "do k++; while (--n);": ("n_k = 0; n_k < n; 1", ["n > 0"]),
    "do k += *p++; while (p != e);": ("p_k = 0; p_k < p_n; 1", ["a < e"]),
    # no bound that can be counted to
    "while (u > 1) u--;": "u does not go down to 0",
    "while (u >= 0) u--;": "u does not go down to 0",
    "while (z > u) z--;": "does not go down by one to a number",
    "while (--n > 0) k++;": "n does not go down to 0",
    "while (i != z) i++;": "compared in another type",
    "while (p < e) { p += 2; k++; i += 3; }": "moves by no multiple",
    "while (p++ < e) k++;": "moved by its test",
}


@pytest.mark.parametrize("text", HEADERS)
def test_headers(text: str) -> None:
    expected = HEADERS[text]
    program = program_of(f"{HEAD}{text} return k + i + *p; }}")
    function = next(f for _, f in program.functions())
    loop = next(n for n in walk(function.body) if isinstance(n, While))
    found = read_walk(loop, frozenset())
    assert isinstance(found, WalkingLoop), found
    place = LoopContext(program.units[0], function, loop, ())
    counted = count_walk(found, Starts(place, found.setup, frozenset()), Fresh.of(program))
    if isinstance(counted, Reason):
        assert isinstance(expected, str) and expected in counted.text
        return
    name = counted.counter.name
    header = (
        f"{name} = {print_expr(counted.lower)}; {name} {counted.relation} {print_expr(counted.bound)}; {counted.step}"
    )
    assert (header, [guard.text for guard in counted.guards]) == expected
