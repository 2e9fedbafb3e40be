"""Lines before a loop that belong to it: pragmas, and the preprocessor lines around them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.loops.steps.test_docstrings import NoWords
from warpsmith.base.verdict import Proved
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.place import LoopContext
from warpsmith.loops.steps.data.flatten import Flatten
from warpsmith.loops.steps.data.localize import Localize
from warpsmith.loops.steps.data.row_starts import RowStarts
from warpsmith.loops.writing.pragma_lines import closing_lines, pragma_in_the_way, pragmas_of, run_with_pragmas
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import claims_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import Pragma, Verbatim
from warpsmith.tree.printing.patch import unit_text

OMP = "#pragma omp parallel for"
# what stands before the loop; how many of these statements belong to it; its pragmas; whether nothing can go before
CASES = [
    ("a[0] = 1;", 0, 0, False),
    (f"a[0] = 1;\n{OMP}", 1, 1, False),
    (f"a[0] = 1;\n#ifdef ON\n{OMP}\n#endif", 3, 1, False),
    (f"a[0] = 1;\n#ifdef OFF\n{OMP}\n#endif", 3, 0, False),
    (f"#ifdef OFF\n{OMP}\n#else\n#pragma omp simd\n#endif", 5, 1, False),
    (f"#ifdef ON\na[0] = 1;\n{OMP}\n#endif", 2, 1, False),
    (f"#ifdef ON\na[0] = 1;\n{OMP}\n#else\na[0] = 2;\n#endif", 3, 1, True),
    (f"#ifdef OFF\na[0] = 1;\n#else\na[0] = 2;\n{OMP}\n#endif", 2, 1, False),
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


SHARED = """#include <stdio.h>
#include <stdlib.h>
long long starts[4];
double *zero;
const long long *ws_row_starts(const void *rows, unsigned long element)
{
    for (int i = 0; i < 4; i++)
        starts[i] = ((double *const *)rows)[i] - ((double *const *)rows)[0];
    zero = ((double *const *)rows)[0];
    return starts;
}
const long long *ws_row_starts_of(const void *rows, long long low, long long high, unsigned long element)
{
    return low < high ? ws_row_starts(rows, element) : 0;
}
void *ws_row_zero(const long long *at)
{
    return at == starts ? zero : 0;
}
int calls;
struct g { int n; double *x; };
void f(int n, double **a, struct g *g)
{
#ifdef ON
    calls++;
#pragma omp parallel \\
    for
#endif
    for (int i = 0; i < n; i++)
        BODY
}
int main(void)
{
    double *rows[4], x[4] = {1, 2, 3, 4};
    struct g g = {4, x};
    for (int i = 0; i < 4; i++)
        rows[i] = calloc(4, sizeof(double));
    f(4, rows, &g);
    for (int i = 0; i < 4; i++)
        printf("%g %g ", rows[i][i], x[i]);
    printf("%d\\n", calls);
}
"""
STEPS = [
    (RowStarts("f/i"), "for (int k = 0; k < 4; k++) a[i][k] = i + k;"),
    (Flatten("f/i"), "for (int k = 0; k < 4; k++) a[i][k] = i + k;"),
    (Localize("f/i"), "g->x[i] = 2 * i + g->n;"),
]


@pytest.mark.parametrize(("step", "body"), STEPS)
def test_a_conditional_with_other_code_ends_before_what_is_new(
    step: RowStarts | Flatten | Localize, body: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.c"
    path.write_text(SHARED.replace("BODY", body))
    program = load_program([str(path)], FrontOptions(arguments=("-DON",))).program
    assert isinstance(step.check(program, Facts.about(program, PolyOptions())), Proved)
    changed = step.apply(program)
    text = unit_text(program.units[0], changed.units[0], NoWords())
    after = tmp_path / "b.c"
    after.write_text(text)
    assert text.count("#ifdef") == text.count("#endif") == 1
    assert text.index("calls++;\n") < text.index("#endif") < text.index("for (int i = 0; i < n; i++)", 700)
    outputs = []
    for file in (path, after):
        built = str(file.with_suffix(""))
        subprocess.run(["gcc", "-fopenmp", "-DON", str(file), "-o", built], check=True)
        outputs.append(subprocess.run([built], check=True, capture_output=True).stdout)
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("step", "body"), STEPS)
def test_new_variables_are_shared_where_a_pragma_lists_all(
    shared: bool, step: RowStarts | Flatten | Localize, body: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.c"
    text = SHARED.replace("BODY", body).replace("\\\n    for", "for default( none ) shared(n, a, g)")
    path.write_text(
        text if shared else text.replace("    calls++;\n", "").replace("#ifdef ON", "").replace("#endif", "")
    )
    program = load_program([str(path)], FrontOptions(arguments=("-DON",))).program
    assert isinstance(step.check(program, Facts.about(program, PolyOptions())), Proved)
    changed = step.apply(program)
    after = tmp_path / "b.c"
    after.write_text(unit_text(program.units[0], changed.units[0], NoWords()))
    outputs = []
    for file in (path, after):
        built = str(file.with_suffix(""))
        subprocess.run(["gcc", "-fopenmp", "-DON", str(file), "-o", built], check=True)
        outputs.append(subprocess.run([built], check=True, capture_output=True).stdout)
    assert outputs[0] == outputs[1]


def test_only_the_ends_of_conditionals_begun_above_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    lines = f"#ifdef ON\na[0] = 1;\n{OMP}\n#ifdef OFF\n#endif\n#endif"
    path.write_text(f"void f(int n, double *a)\n{{\n{lines}\nfor (int i = 1; i < n; i++)\n    a[i] = i;\n}}\n")
    program = load_program([str(path)], FrontOptions(arguments=("-DON",))).program
    kept = closing_lines(run_with_pragmas(LoopContext.of(program, "f/i")))
    assert [(line.text, line.span.line) for line in kept if isinstance(line, Pragma | Verbatim)] == [("#endif", 8)]
