"""A struct of which every iteration has its own is declared in the kernel, where that is all that making one takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.flows.port import PortOptions, port
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions

POINT = "typedef struct { double x, y; } point;\n"
HEAD = "void f(int n, const point *restrict p, double *restrict r)\n{\n    point d;\n"
LOOP = "for (int i = 0; i < n; i++) {"

OWN = {
    "every field is set": f"{LOOP} d.x = p[i].x; d.y = p[i].y + 1; r[i] = d.x * d.y; }}",
    "set as a whole": f"{LOOP} d = p[i]; d.x += 1; r[i] = d.x * d.y; }}",
    "said by the pragma": f"""
#pragma omp parallel for private(d)
    {LOOP} d.x = p[i].x; d.y = d.x + 1; r[i] = d.x * d.y; }}""",
}
SHARED = {
    "one field comes from before": f"{LOOP} d.x = p[i].x; if (i % 2) d.y = p[i].y; r[i] = d.x * d.y; }}",
    "read by the next iteration": f"{LOOP} r[i] = d.x; d.x = p[i].x; d.y = 0; }}",
    "read behind the loop": f"{LOOP} d.x = p[i].x; d.y = 2 * d.x; r[i] = d.y; }} r[0] = d.y;",
    "address kept": f"point *q = &d; {LOOP} q->x = p[i].x; d.y = p[i].y; r[i] = q->x * d.y; }} r[0] = q->x;",
}


@pytest.mark.parametrize("title", OWN)
def test_every_thread_declares_its_own(title: str, tmp_path: Path) -> None:
    choice = analyzed(f"{POINT}{HEAD}{OWN[title]}\n}}\n", tmp_path).choice()
    (draft,) = choice.drafts
    assert [symbol.name for symbol in draft.locals] == ["d"]
    assert "d" not in {use.symbol.name for use in draft.uses}


@pytest.mark.parametrize("title", SHARED)
def test_what_iterations_share_is_not_taken_for_their_own(title: str, tmp_path: Path) -> None:
    assert analyzed(f"{POINT}{HEAD}{SHARED[title]}\n}}\n", tmp_path).choice().drafts == ()


def test_a_struct_that_a_function_makes_stays(tmp_path: Path) -> None:
    """A constructor does more than a declaration."""
    path = tmp_path / "given.cpp"
    made = "struct point { double x, y; point() : x(1), y(2) {} };\n"
    text = f"{made}{HEAD}{OWN['every field is set']}\n}}\n".replace("restrict", "__restrict__")
    for part, count in ((text, 0), (text.replace("point() : x(1), y(2) {}", ""), 1)):
        path.write_text(part)
        program = load_program([str(path)], FrontOptions()).program
        facts = {one.function.symbol.name: one for one in analyze(program, PolyOptions()).functions}
        assert len(Analyzed(program, facts).choice().drafts) == count


@pytest.mark.slow
def test_the_referee_passes_it(tmp_path: Path) -> None:
    path = tmp_path / "given.c"
    path.write_text(f"""#include <stdio.h>
        {POINT}static {HEAD}{OWN["said by the pragma"]}
        }}
        static point p[50];
        static double r[50];
        int main(void)
        {{
            for (int i = 0; i < 50; i++)
                p[i].x = i, p[i].y = i % 5;
            f(50, p, r);
            printf("%g %g\\n", r[1], r[49]);
            return 0;
        }}
        """)
    verification = port([str(path)], PortOptions()).verification
    assert verification is not None and verification.status == "pass"
