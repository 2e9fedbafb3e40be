"""Lines before a loop that belong to it: pragmas, and the preprocessor lines around them."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.place import LoopContext
from warpsmith.loops.writing.pragma_lines import pragma_in_the_way, pragmas_of, run_with_pragmas
from warpsmith.poly.claimed import claims_of

OMP = "#pragma omp parallel for"
# what stands before the loop; how many of these statements belong to it; its pragmas; whether nothing can go before
CASES = [
    ("a[0] = 1;", 0, 0, False),
    (f"a[0] = 1;\n{OMP}", 1, 1, False),
    (f"a[0] = 1;\n#ifdef ON\n{OMP}\n#endif", 3, 1, False),
    (f"a[0] = 1;\n#ifdef OFF\n{OMP}\n#endif", 3, 0, False),
    (f"#ifdef OFF\n{OMP}\n#else\n#pragma omp simd\n#endif", 5, 1, False),
    (f"#ifdef ON\na[0] = 1;\n{OMP}\n#endif", 2, 1, True),
    (f"{OMP} private(n)\n#ifdef OFF\n#endif\n#ifdef ON\n#pragma GCC ivdep\n#endif", 6, 2, False),
    ("#pragma omp barrier\n#ifdef ON\n#endif", 0, 0, False),
]


@pytest.mark.parametrize(("before", "lines", "pragmas", "cut"), CASES)
def test_what_belongs_to_a_loop(before: str, lines: int, pragmas: int, cut: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(f"void f(int n, double *a)\n{{\n{before}\nfor (int i = 1; i < n; i++)\n    a[i] = i;\n}}\n")
    program = load_program([str(path)], FrontOptions(arguments=("-DON",))).program
    place = LoopContext.of(program, "f/i")
    run = run_with_pragmas(place)
    assert (len(run) - 1, len(pragmas_of(run))) == (lines, pragmas)
    assert (pragma_in_the_way(place) is not None) == cut
    claimed = [c.pragma for c in claims_of(place.function)]
    assert [p for p in pragmas_of(run) if p.directive is not None] == claimed
