"""Rows of `T **` in whatever blocks they lie: what is written for them, and programs with every kind of rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.poly.analysis import program_of
from tests.random_programs.acceptance import is_accepted
from tests.random_programs.row_programs import row_program
from warpsmith.base.verdict import Unknown
from warpsmith.emit.files import OutputFile
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.loops.steps.data.row_starts import RowStarts
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.run.referee.referee import verify
from warpsmith.run.verification import Sources, VerifyOptions

Ported = Callable[..., PortResult]


@pytest.fixture
def ported(tmp_path: Path) -> Ported:
    def make(text: str) -> PortResult:
        (tmp_path / "one.c").write_text(text)
        return port([str(tmp_path / "one.c")], PortOptions(verify=False))

    return make


def _text(result: PortResult, name: str = "one.c") -> str:
    return " ".join(next((file.text for file in result.files if file.path == name), "").split())


_GRIDS = """
#include <stdlib.h>
void relax(int n, int m, double **u, double **v)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            v[i][j] = 0.5 * (u[i - 1][j] + u[i + 1][j]);
}
void run(int n, int m, double **u, double **v)
{
    for (int t = 0; t < 9; t++) {
        relax(n, m, u, v);
        double **w = u;
        u = v;
        v = w;
    }
}
"""
_ALLOCATED = """
double **grid(int n, int m)
{
    double **a = malloc(n * sizeof *a);
    for (int i = 0; i < n; i++)
        a[i] = ALLOCATION;
    return a;
}
"""


def test_rows_of_their_own_stay_on_the_device_while_grids_change_places(ported: Ported) -> None:
    result = ported(_GRIDS + _ALLOCATED.replace("ALLOCATION", "malloc(m * sizeof *a[i])"))
    text = _text(result)
    relax, run = text[text.index("void relax") : text.index("void run")], text[text.index("void run") :]
    assert "if (!ws_relax_1(n, m, u, v)) for (" in relax
    kernels = _text(result, "one_kernels.cu")
    own = " ".join(kernels[kernels.index(" ws_relax_1(") :].partition("\n}\n")[0].split())
    assert "ws_row_starts_of(u, 0, " in own
    # what is only read may share what it likes
    assert "if (!ws_rows_clear(v_at, 1, (long long)m - 1))" in own and "if (!ws_rows_apart(u_at, v_at))" in own
    assert "(double *)ws_rows_enter(v_at, WS_COPY | WS_KEEP | WS_ALLOCATION | WS_CHANGE, " in own
    assert "ws_rows_exit(u_at, 0, WS_HERE); ws_rows_exit(v_at, 1, WS_HERE);" in own
    # the time loop moves nothing, and no kernel has a pointer of the host's
    assert run.count("ws_data_begin") == run.count("ws_data_end") == 1 and "_update" not in run
    kernel = kernels[kernels.index("__global__ void ws_relax_k1_kernel(") :]
    assert "**" not in kernel[: kernel.index("}")]


def test_rows_stay_on_the_device_in_a_time_loop_around_kernels_of_its_own(ported: Ported) -> None:
    relaxed = _GRIDS.partition("void run")[0].partition("{")[2].rpartition("}")[0]
    text = _text(
        ported(
            "#include <stdlib.h>\nvoid run(int n, int m, double **u, double **v) "
            f"{{ for (int t = 0; t < 9; t++) {{ {relaxed} "
            "double **w = u; u = v; v = w; } }" + _ALLOCATED.replace("ALLOCATION", "malloc(m * sizeof *a[i])")
        )
    )
    run = text[text.index("void run") : text.index("double **grid")]
    # what the host does where a test fails is no reason to move everything each time
    assert run.count("ws_data_begin") == run.count("ws_data_end") == 1 and "ws_run_1(" in run
    assert "_update" not in run


@pytest.mark.parametrize("allocation", ["a[0] + i * m", "NULL"], ids=["one block", "nothing"])
def test_evenly_spaced_rows_are_tried_first_where_no_row_has_its_own_block(allocation: str, ported: Ported) -> None:
    text = _text(ported(_GRIDS + _ALLOCATED.replace("ALLOCATION", allocation)))
    assert "u_flat[" in text and "u_step" in text and "ws_row" not in text


def test_what_is_only_read_may_be_shared(ported: Ported) -> None:
    text = (
        "void f(int n, const int *c, double **a, double *restrict y) { for (int i = 0; i < n; i++) y[i] = a[c[i]][i]; }"
    )
    assert "ws_rows_distinct" not in _text(ported(text)) and "ws_rows_clear" not in _text(ported(text))


def test_rows_that_may_be_freed_meanwhile_are_refused() -> None:
    body = "for (int t = 0; t < 3; t++) { for (int i = 0; i < n; i++) a[c[i]][t] += i; free(a[t]); }"
    program = program_of(f"void free(void *p);\nvoid f(int n, const int *c, double **a) {{ {body} }}")
    verdict = RowStarts("f/t").check(program, Facts.about(program, PolyOptions()))
    assert isinstance(verdict, Unknown)
    assert "a row may be freed in the loop" in verdict.reasons[0].text


_PROGRAM = Path(__file__).with_name("rows_program.c")


def _judged(files: tuple[OutputFile, ...]) -> str:
    original = Sources((OutputFile("rows_program.c", _PROGRAM.read_text()),))
    return verify(original, Sources(files), VerifyOptions(), ()).status


_SEEN = "memcmp(rows->seen.data() + from, rows->first + from, bytes) == 0"
_SENT = "starts[i] = from / element;\n    }"
_BUGS = {
    "rows may share a block": ("            rows->distinct = false;\n", "            {}\n"),
    "an array may be a row": ("else if (others[k].end <= mine[i].start)", "else"),
    "rows that have moved are not seen": (_SEEN, "true"),
    "rows of dead blocks live": ("rows->deaths == ws_row_deaths", "rows->deaths != ~0ull"),
    "the kernel has where rows start on the host": (_SENT, "starts[i] = there->rows->starts[i];\n    }"),
    "the starts are sent once": ("if (starts == there->sent)", "if (!there->sent.empty())"),
    "the first rows do not come back": ("ranges[i], written,", "ranges[i], i > 2 && written,"),
    "rows begin where their blocks do": (" + (rows->seen[i] - there->ranges.back()->host)", ""),
    "ranges that have gone are used again": ("there->turns == ws_turns", "true"),
    "one entry serves all rows": (" || block.start != last.start || block.end != last.end", ""),
}


@pytest.mark.slow
def test_hostile_rows() -> None:
    """Rows that are shared, overlap, are freed and made again, swapped, missing, of the stack and of variables."""
    result = port([str(_PROGRAM)], PortOptions())
    assert is_accepted(result.verification), result.verification
    ported = {fragment.function.symbol.name for fragment in (result.plan.fragments if result.plan else ())}
    assert {"sum", "relax", "rowwise", "scaled", "gathered", "ragged", "paired", "through_rows"} <= ported
    missed = []
    for bug, (old, new) in _BUGS.items():
        wrong = tuple(replace(file, text=file.text.replace(old, new)) for file in result.files)
        assert wrong != result.files, bug
        if _judged(wrong) == "pass":
            missed.append(bug)
    assert not missed


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_random_programs_do_what_they_did(seed: int, tmp_path: Path) -> None:
    text = row_program(seed)
    (tmp_path / "rows.c").write_text(text)
    result = port([str(tmp_path / "rows.c")], PortOptions())
    assert is_accepted(result.verification), result.verification
    fragments = result.plan.fragments if result.plan else ()
    moved = [stmt.span for fragment in fragments for stmt in fragment.statements]
    # the text of a function may have come into its caller
    holders = (f for _, f in result.program.functions() if any(f.body.span.contains(span) for span in moved))
    ported = {function.symbol.name for function in holders} | {f.function.symbol.name for f in fragments}
    # what nothing calls stays as it is
    called = {name for _, f in result.program.functions() if f"{(name := f.symbol.name)}(" in text.split("int main")[1]}
    assert len(ported) > 4 or called <= ported


_LEVELS = """
void eliminate(int n, double **a, double *g)
{
    int k, i, j;
    for (k = 0; k < n; k++) {
        for (i = k + 1; i < n; i++)
            a[i][k] = a[i][k] / a[k][k];
        %s
        for (i = k + 1; i < n; i++)
            for (j = k + 1; j < n; j++)
                a[i][j] = a[i][j] - a[i][k] * a[k][j];
    }
}
"""

_ROWS_OF_THEIR_OWN = """
double **made(int n)
{
    double **a = malloc(n * sizeof *a);
    for (int i = 0; i < n; i++)
        a[i] = malloc(n * sizeof(double));
    return a;
}
"""


@pytest.mark.parametrize(
    ("between", "together"),
    [
        ("", True),
        ("j = k + 2; if (j > n) i = 0;", True),
        # the host may write beside what kernels change in a block
        ("g[k] = k;", False),
        ("n = n + (int)g[k] * 0;", False),
        ("other(k);", False),
    ],
)
def test_rows_are_entered_once_around_a_loop_that_only_counts(between: str, together: bool, ported: Ported) -> None:
    result = ported("#include <stdlib.h>\nvoid other(int);\n" + _LEVELS % between + _ROWS_OF_THEIR_OWN)
    text, made = _text(result), _text(result, "one_kernels.cu")
    if not between:
        assert "if (!ws_eliminate_1(n, a)) for (k = 0; k < n; k++) {" in text
    assert len(re.findall(r"= ws_rows_table\(a_at2?,", text + made)) == (1 if together else 2)


@pytest.mark.parametrize("between", ["a[k][k] += g[k] * a[n - 1][k];", "other((int)a[k][k]); if (a[k][0] > 9) break;"])
def test_host_code_between_kernels_stays_as_it_was(between: str, ported: Ported) -> None:
    text = _text(ported("#include <stdlib.h>\nvoid other(int);\n" + _LEVELS % between + _ROWS_OF_THEIR_OWN))
    assert "if (!ws_eliminate_1(" in text and "a_flat" not in text
    assert all(text.count(part) == 1 for part in (*between.split(" if "), "a[i][k] = a[i][k] / a[k][k];"))
    # tables, tests and copies are in the functions
    assert "ws_rows_" not in text and "_gpu = (" not in text
