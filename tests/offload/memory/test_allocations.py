"""Sections by allocation: what is copied and held where subscripts are data, under which guards, what mistakes cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from warpsmith.emit.files import OutputFile
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.offload.plan import OffloadOptions, TransferScheme
from warpsmith.poly.facts import PolyOptions
from warpsmith.run.referee.referee import verify
from warpsmith.run.verification import Sources, VerifyOptions
from warpsmith.tree.program import Assumption

Ported = Callable[..., PortResult]


@pytest.fixture
def ported(tmp_path: Path) -> Ported:
    def make(text: str, *granted: str) -> PortResult:
        (tmp_path / "one.c").write_text(text)
        poly = PolyOptions(granted=tuple(Assumption(word, "granted") for word in granted))
        return port([str(tmp_path / "one.c")], PortOptions(verify=False, poly=poly))

    return make


def _text(result: PortResult, name: str = "one.c") -> str:
    text = next((file.text for file in result.files if file.path == name), "")
    return " ".join(text.split())


def _guards(result: PortResult) -> set[str]:
    assert result.ported is not None
    return {a.text for a in result.ported.program.assumptions if a.kind == "guarded"}


_GATHER = """
void gather(int n, const int *restrict at, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] = x[at[i]];
}
"""


def test_a_gather_takes_the_whole_block(ported: Ported) -> None:
    result = ported(_GATHER)
    assert _guards(result) == {"x lies in a block of memory that the run time knows"}
    assert "if (!ws_gather_1(n, at, x, y))" in _text(result)
    text = kernels = _text(result, "one_kernels.cu")
    assert "if (ws_allocation_bytes(x) <= 0)" in text
    assert (
        "ws_copy_to_device(x_gpu, x + ws_allocation_lower(x, sizeof(double)), ws_allocation_size(x, sizeof(double)),"
        in text
    )
    assert "ws_gather_k1(at_gpu, x_gpu - ws_allocation_lower(x, sizeof(double)), y_gpu, n);" in text
    # what is only read stays where it is, and what has a section keeps it
    assert "ws_copy_to_host(x" not in text
    assert "ws_allocation_size(y" not in text
    assert "size_t ws_allocation_bytes(const void *at) {" in kernels


def test_a_program_that_asks_for_no_block_has_no_table(ported: Ported) -> None:
    result = ported("void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 2 * a[i]; }\n")
    assert not any("ws_allocation" in file.text for file in result.files)


def test_restrict_does_not_keep_blocks_apart(ported: Ported) -> None:
    scatter = "void f(int n, const int *restrict at, double *restrict x, double *restrict y)\n"
    scatter += "{ for (int i = 0; i < n; i++) { x[at[i]] += 1; y[i] = i; } }\n"
    assert "x and y lie in different blocks of memory" in _guards(ported(scatter))
    # of a block that nobody writes, every copy is right
    assert not any("different blocks" in text for text in _guards(ported(_GATHER)))


def test_host_code_beside_a_written_block_finds_it_on_the_host(ported: Ported) -> None:
    text = """
    void f(int n, const int *restrict at, double *restrict x, double *restrict y)
    {
        for (int i = 0; i < n; i++)
            x[at[i]] += 1;
        y[3] = 7;
        for (int i = 0; i < n; i++)
            x[at[i]] *= 2;
    }
    """
    found = ported(text)
    # y may lie in the block of x, so x is back before the host writes y, and goes again
    host = _text(found)
    assert host.index("= ws_f_1(") < host.index("y[3] = 7;") < host.index("ws_f_2(")
    kernels = _text(found, "one_kernels.cu")
    first, second = (kernels[kernels.index(f" ws_f_{n}(") :].partition("\n}\n")[0] for n in (1, 2))
    assert "ws_copy_to_host(x + ws_allocation_lower(" in first
    assert "ws_copy_to_device(x_gpu" in second
    # where a kernel reads y, a guard says that it lies elsewhere
    other = ported(text.replace("*= 2", "*= y[0]"))
    assert "x and y lie in different blocks of memory" in _guards(other)


@pytest.mark.parametrize(
    "text",
    [
        "void f(int n, int *at, double *x, double *y) { for (int i = 0; i < n; i++) { x += at[i]; y[i] = x[at[i]]; } }",
        "struct s; void f(int n, int *at, struct s **x, struct s **y) { for (int i = 0; i < n; i++) y[i] = x[at[i]]; }",
        "void f(int n, int *at, void *x, char *y) { for (int i = 0; i < n; i++) y[i] = ((char *)x)[at[i]]; }",
    ],
    ids=["a pointer that moves", "pointers", "no size"],
)
def test_what_has_no_block(text: str, ported: Ported) -> None:
    result = ported(text)
    assert result.plan is not None
    assert not result.plan.fragments


_HELD = """
#include <stdio.h>
#include <stdlib.h>
static void push(int n, const int *at, double *x)
{
    for (int i = 0; i < n; i++)
        x[at[i]] += i;
}
int main(void)
{
    int n = 50, *at = malloc(n * sizeof *at), k;
    double *x = malloc(n * sizeof *x);
    for (int i = 0; i < n; i++) { x[i] = i; at[i] = 49 - i; }
    for (int t = 0; t < 9; t++) {
        push(n, at, x);
        k = 3;
        while (x[k] < 40 && at[k] > 1) {
            x[k] *= 0.5;
            k = at[k] / 2;
        }
        printf("%d\\n", k);
    }
    printf("%g\\n", x[7]);
    return 0;
}
"""


def test_a_block_stays_on_the_device_and_host_code_updates_it(ported: Ported) -> None:
    result = ported(_HELD, "injective(at)")
    text = _text(result)
    assert "ws_data_begin(WS_HERE);" in text
    kernels = " ".join(_text(result, "one_kernels.cu").split())
    assert 'WS_COPY | WS_KEEP | WS_ALLOCATION | WS_CHANGE, "x", WS_HERE);' in kernels
    loop = text[text.index("k = 3;") : text.index("printf")]
    assert loop.index("ws_main_update(") < loop.index("while (x[k]") < loop.index("ws_main_update2(")
    before, after = (kernels[kernels.index(f" ws_main_update{n}(") :].partition("}")[0] for n in ("", 2))
    assert "ws_update_host(x" in before and "ws_update_device(x" in after
    assert "_all(" not in loop


_ROWS = "void f(int n, const int *restrict r, double **restrict a, double *restrict y)\n{\nBODY\n}\n"


@pytest.mark.parametrize(
    ("body", "ports"),
    [
        ("for (int i = 0; i < n; i++) y[i] = a[r[i]][i % 5];", True),
        ("for (int i = 0; i < n; i++) { const double *row = a[r[i]]; y[i] = row[1] + row[r[i] % 3]; }", True),
        ("for (int i = 0; i < n; i++) { a[r[i]] = y; y[i] = a[i][r[i]]; }", False),
        ("for (int i = 0; i < n; i++) { double **p = a + 1; y[i] = p[r[i]][2]; }", False),
    ],
    ids=["elements", "a row in a variable", "row pointers that change", "used as a whole"],
)
def test_rows_by_their_starts(body: str, ports: bool, ported: Ported) -> None:
    result = ported(_ROWS.replace("BODY", body))
    assert result.plan is not None
    assert bool(result.plan.fragments) == ports
    if ports:
        assert "if (!ws_f_1(n, r, a, y)) for (int i = 0; i < n; i++) " + body.partition("; i++) ")[2] in _text(result)
        kernels = " ".join(_text(result, "one_kernels.cu").split())
        assert "const long long *a_at = ws_row_starts(a, sizeof(double)); // only where the run time knows" in kernels
        # the kernel has the block and where rows begin, and no pointer of the host's
        assert "double **" not in _text(result, "one_kernels.cu").replace("char **", "")


_PROGRAM = Path(__file__).with_name("allocations_program.c")


def _judged(files: tuple[OutputFile, ...]) -> str:
    original = Sources((OutputFile("allocations_program.c", _PROGRAM.read_text()),))
    return verify(original, Sources(files), VerifyOptions(), ()).status


_SCHEMES: tuple[TransferScheme, ...] = ("optimized", "mixed")


@pytest.mark.slow
def test_hostile_blocks() -> None:
    """Blocks freed and used again, grown, shared, entered in the middle; blocks that nobody knows; rows that move."""
    ports = []
    # what a data region keeps is found whole in the present table: without data regions every block is copied by its
    # own size
    for scheme in _SCHEMES:
        result = port([str(_PROGRAM)], PortOptions(offload=OffloadOptions(transfers=scheme)))
        assert result.verification is not None
        assert result.verification.status == "pass"
        assert len(result.files) == 3
        ports.append(result.files)
    assert all(_judged(files) == "pass" for files in ports)
    missed = []
    for bug, (old, new) in _BUGS.items():
        wrong = [tuple(replace(file, text=file.text.replace(old, new)) for file in files) for files in ports]
        changed = [one for one, files in zip(wrong, ports, strict=True) if one != files]
        assert changed, bug
        if all(_judged(one) == "pass" for one in changed):
            missed.append(bug)
    assert not missed


_SIZE = "sizeof(double))"
_BUGS = {
    "a block ends too early": ("? start + bytes - (uintptr_t)at : 0", "? (start + bytes - (uintptr_t)at) / 2 : 0"),
    "nothing lies before": ("? -(long long)(((uintptr_t)at - start) / element) : 0", "? 0 : 0"),
    "all are apart": ("return start + bytes <= other_start || other_start + other_bytes <= start;", "return 1;"),
    "unknown memory has a size": ("(uintptr_t)at : 0;", "(uintptr_t)at : 64;"),
    "only the rest of the block goes": (f"(x + ws_allocation_lower(x, {_SIZE}", "(x"),
    "a block does not come back": ("ws_data_exit(count_gpu, 1,", "ws_data_exit(count_gpu, 0,"),
    "the kernel has the wrong first element": (f"x_gpu - ws_allocation_lower(x, {_SIZE}", "x_gpu"),
    "rows all begin at the first": ("starts[i] = from / element;", "starts[i] = 0;"),
    "rows are not translated": ("table_at_gpu[row_gpu[i]]", "row_gpu[i]"),
    "rows are all those of one time": ("memcmp(rows->seen.data() + from, rows->first + from, bytes) == 0", "true"),
}


_WALKING = """
#include <stdio.h>
#include <stdlib.h>
static void fill(int n, int m, int d, const double *a, double *b, double *other)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double *c = i % 2 ? b + i : other + i;
        for (int j = 0; j < m; j++) {
            *c = a[i] * j;
            c += d;
        }
    }
}
int main(void)
{
    int n = 50, m = 7;
    double *a = malloc(n * sizeof(double)), *b = calloc(n * m, sizeof(double)), *c = calloc(n * m, sizeof(double));
    for (int i = 0; i < n; i++)
        a[i] = i;
    fill(n, m, n, a, b, c);
    double s = 0;
    for (int i = 0; i < n * m; i++)
        s += b[i] * (i % 5) + c[i] * (i % 7);
    printf("%g\\n", s);
    return 0;
}
"""


def test_what_pointers_walk_through_lies_in_the_blocks_that_they_began_in(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text(_WALKING)
    result = port([str(tmp_path / "one.c")], PortOptions())
    assert result.verification is not None and result.verification.status == "pass"
    assert result.plan is not None and any("fill/i" in fragment.loops for fragment in result.plan.fragments)
    known = {text for text in _guards(result) if "the run time knows" in text}
    assert known == {f"{name} lies in a block of memory that the run time knows" for name in ("b", "other")}
