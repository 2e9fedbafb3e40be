"""The port in the user's own file: additions only, right where C is awkward, nothing without the macro."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.emit.host.in_place_ports import Made, assembled, make, preprocessed, write
from warpsmith.run.native.device_compile import has_nvcc
from warpsmith.tree.text.additions import additions, remove_additions

PLAIN = b"""\
#include <stdlib.h>

void scale(int n, double *restrict a, const double *restrict b)
{
    for (int i = 0; i < n; i++)
        a[i] = 2 * b[i];
}
"""
# two kernels with host code between them that declares what is used later
WIDE = b"""\
int printf(const char *, ...);
void waves(int n, int steps, double *restrict a, double *restrict b)
{
    /* the clock */
    double t = 0;
    for (int s = 0; s < steps; s++) {
        for (int i = 1; i < n - 1; i++)
            b[i] = a[i - 1] + a[i + 1];
        t += 0.5;
        int last = s == steps - 1;   // the end
        for (int i = 1; i < n - 1; i++)
            a[i] = b[i] * 0.5;
        if (last)
            printf("%g\\n", t);
    }
}
"""
# an unbraced branch with an else behind it; loops on one line; a loop as the whole body of a loop
DANGLING = b"""\
void f(int n, int x, double *restrict a, double *restrict b)
{
    if (x > 2)
        for (int i = 0; i < n; i++)
            a[i] = 2 * b[i];
    else if (x > 1) for (int i = 0; i < n; i++) a[i] = 3 * b[i]; else
        for (int i = 0; i < n; i++) a[i] = 4 * b[i];
    for (int t = 0; t < 3; t++) for (int i = 0; i < n; i++) b[i] = a[i] + t;
}
"""
PRAGMAS = b"""\
void g(int n, double *restrict a, double *restrict b)
{
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int i = 0; i < n; i++)
        a[i] = b[i];
#pragma GCC ivdep
    for (int i = 0; i < n; i++)
        b[i] = a[i] + 1;
}
"""
# the loop between two conditionals of the user's: what is added must not depend on them
CONDITIONAL = b"""\
void h(int n, double *restrict a, double *restrict b)
{
#ifdef TRACE
    a[0] = 0;
#endif
    for (int i = 0; i < n; i++)
        a[i] = b[i];
#ifdef TRACE
    a[0] = 1;
#endif
}
"""
# loops in turn on the host and on the device, all with pragmas that a conditional holds
TURNS = b"""\
#define OPEN
void w(int n, int *restrict a, int *restrict b)
{
    int go;
    do {
        go = 0;
#ifdef OPEN
    #ifdef OTHER
    #pragma omp target
    #endif
    #pragma omp simd
#endif
        for (int i = 1; i < n; i++)
            b[i] = b[i - 1] / (1 + a[i]);
#ifdef OPEN
    #ifdef OTHER
    #pragma omp target
    #endif
    #pragma omp parallel for
#endif
        for (int i = 0; i < n; i++)
            if (a[i] > 0) {
                a[i]--;
                go = 1;
            }
    } while (go);
}
"""
NO_LINE_END = b"void k(int n, double *restrict a) { for (int i = 0; i < n; i++) a[i] = i; }"
SHAPES = {
    "plain": PLAIN,
    "wide": WIDE,
    "dangling": DANGLING,
    "pragmas": PRAGMAS,
    "conditional": CONDITIONAL,
    "turns": TURNS,
    "no line end": NO_LINE_END,
    "windows": WIDE.replace(b"\n", b"\r\n"),
    "tabs": WIDE.replace(b"    ", b"\t"),
    "mark": b"\xef\xbb\xbf" + PLAIN,
    "latin-1": PLAIN.replace(b"#include", b"/* \xe9tendue */\n#include"),
}


@pytest.fixture(params=SHAPES, scope="module")
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    found = make(SHAPES[request.param], tmp_path_factory.mktemp("port"))
    assert found.plan.fragments
    return found


def test_what_is_added_can_be_taken_out_to_the_byte(made: Made) -> None:
    assert made.text.encode("latin-1") != made.original
    assert remove_additions(made.text).encode("latin-1") == made.original


def test_the_lines_of_the_user_end_as_they_did(made: Made) -> None:
    bare = made.text.replace("\r\n", "\n")
    assert ("\r\n" in made.text) == (b"\r\n" in made.original)
    assert "\r" not in bare
    assert not re.search(r"[ \t]$", bare, re.MULTILINE)


@pytest.mark.parametrize("made", ["wide", "dangling", "pragmas", "conditional", "mark"], indirect=True)
def test_without_the_macro_the_compiler_sees_the_same(made: Made, tmp_path: Path) -> None:
    text = made.text.encode("latin-1")
    for options in ((), ("-fopenmp", "-DTRACE")):
        assert preprocessed(text, tmp_path, *options) == preprocessed(made.original, tmp_path, *options)
    assert assembled(text, tmp_path) == assembled(made.original, tmp_path)


@pytest.mark.parametrize("made", ["wide", "dangling", "pragmas", "conditional", "turns", "windows"], indirect=True)
def test_with_the_macro_it_compiles_in_every_configuration(made: Made, tmp_path: Path) -> None:
    write(made, tmp_path)
    (path,) = (file.path for file in made.files.changed)
    for options in ((), ("-O2", "-fopenmp", *(["-DTRACE"] if b"TRACE" not in made.original else []))):
        flags = ["-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-DWARPSMITH", *options]
        done = subprocess.run(
            ["gcc", *flags, "-c", path, "-o", "x.o"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_a_file_without_a_kernel_is_not_named(tmp_path: Path) -> None:
    made = make(
        b"int f(int n, int *a)\n{\n    for (int i = 1; i < n; i++)\n"
        b"        a[i] = a[i - 1] * a[i - 1];\n    return 0;\n}\n",
        tmp_path,
    )
    assert not made.files.files


def test_host_code_between_kernels_stands_once(tmp_path: Path) -> None:
    made = make(WIDE, tmp_path)
    assert made.text.count("t += 0.5") == 1
    assert made.text.count('printf("%g') == 1


def test_an_else_binds_to_the_if_of_the_user(tmp_path: Path) -> None:
    # x = 3, 2, 1 must take the first, second and third branch, with and without the macro
    made = make(DANGLING, tmp_path)
    write(made, tmp_path)
    stub = b"""
#include <stdio.h>
#include <stdlib.h>
int ws_on(void) { return 0; }
int main(void)
{
    for (int x = 1; x < 4; x++) {
        double a[2] = {0, 0}, b[2] = {1, 1};
        f(2, x, a, b);
        printf("%g %g\\n", a[0], b[1]);
    }
    return 0;
}
"""
    text = made.text.encode("latin-1") + stub
    (tmp_path / "b.c").write_bytes(text)
    kernels = re.findall(r"\b(ws_\w+)\(", "".join(f.text for f in made.files.files if f.path.endswith(".h")))
    calls = "".join(f"int {name}(void) {{ return 0; }}\n" for name in dict.fromkeys(kernels) if name != "ws_on")
    (tmp_path / "stubs.c").write_text(calls)
    printed = []
    for options in ((), ("-DWARPSMITH",)):
        command = ["gcc", "-w", *options, "b.c", "stubs.c", "-o", "p"]
        subprocess.run(command, cwd=tmp_path, check=True)
        printed.append(subprocess.run(["./p"], cwd=tmp_path, capture_output=True, check=True).stdout)
    assert printed[0] == printed[1] == b"4 6\n3 5\n2 4\n"


@pytest.mark.parametrize(
    "source",
    [
        b"#define RUN(s) do { s } while (0)\nvoid f(int n, double *restrict a)\n{\n"
        b"    RUN(for (int i = 0; i < n; i++) a[i] = i;);\n}\n",
        b"#define LOOP for (int i = 0; i < n; i++) a[i] = i;\nvoid f(int n, double *restrict a)\n{\n    LOOP\n}\n",
        b"#define F void f(int n, double *restrict a) { for (int i = 0; i < n; i++) \\\n    a[i] = i; }\nF\n",
        b"#ifdef WARPSMITH\nint mine;\n#endif\nvoid f(int n, double *restrict a)\n{\n"
        b"    for (int i = 0; i < n; i++)\n        a[i] = i;\n}\n",
        b"void f(int n, double *restrict a)\n{\n    switch (n) {\n    case 3:\n"
        b"        for (int i = 0; i < 3; i++)\n            a[i] = i;\n    }\n}\n",
    ],
    ids=["argument", "macro", "function", "own macro", "case"],
)
def test_where_nothing_can_be_added_nothing_is(source: bytes, tmp_path: Path) -> None:
    made = make(source, tmp_path)
    for file in made.files.changed:
        text = file.data()
        assert preprocessed(text, tmp_path) == preprocessed(source, tmp_path)
        assert assembled(text, tmp_path) == assembled(source, tmp_path)
        write(made, tmp_path)
        assembled(text, tmp_path, "-DWARPSMITH", "-I", str(tmp_path))


HELD = b"""\
#include <stdio.h>
#include <stdlib.h>
void rows(int n, int m, int **a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] += i * 10 + j;
}
void count(const int *n, int *u)
{
    for (int i = 0; i < *n; i++)
        u[i] += 3;
}
int main(void)
{
    int all[200], *r[4];
    for (int i = 0; i < 200; i++)
        all[i] = 0;
    for (int i = 0; i < 4; i++)
        r[i] = calloc(20, sizeof(int));
    for (int k = 0; k < 3; k++)
        rows(4, 20, r);
    all[59] = 20;
    for (int t = 0; t < 6; t++) {
        count(&all[59], all);
        all[59] += t;
        if (t == 1)
            all[59] = 25;
        if (t == 4)
            all[59] = 29;
    }
    printf("%d %d\\n", r[3][2], all[3]);
    return 0;
}
"""


def test_what_data_regions_add_stands_where_the_steps_put_it(tmp_path: Path) -> None:
    text = make(HELD, tmp_path).text
    rows = text[text.index("void rows") : text.index("void count")]
    # only where the rows are no block; a copy of all data behind the kernel would undo what it wrote
    places = ("WARPSMITH_ONLY(if (!ws_rows_1(n, m, a)))", "for (int i = 0; i < n; i++)")
    assert [rows.index(place) for place in places] == sorted(rows.index(place) for place in places)
    assert all(rows.count(place) == 1 for place in places) and "ws_update" not in rows
    # the steps wrote the time loop anew, and it is held as a whole
    (held,) = re.finditer(r"ws_data_begin\(WS_HERE\);\)\n    .*if \(!ws_main_1\(all\)\)\)\n *(.*)", text)
    assert held[1].startswith("for (int "), held[1]


_PROJECTED = b"""
struct grid { int nx, ny, stride; double *u, *v, *p; };
#define AT(g, i, j) ((long)(j) * (g)->stride + (i))
void project(struct grid *g, double t)
{
#pragma omp parallel
    {
#pragma omp for nowait
        for (int j = 1; j <= g->ny; j++)
            for (int i = 1; i < g->nx; i++)
                g->u[AT(g, i, j)] -= t * (g->p[AT(g, i + 1, j)] - g->p[AT(g, i, j)]);
#pragma omp for
        for (int j = 1; j < g->ny; j++)
            for (int i = 1; i <= g->nx; i++)
                g->v[AT(g, i, j)] -= t * (g->p[AT(g, i, j + 1)] - g->p[AT(g, i, j)]);
    }
}
"""


def test_a_region_of_several_loops_stands_once_behind_its_call(tmp_path: Path) -> None:
    text = make(_PROJECTED, tmp_path).text
    added = text.splitlines()[: text.count("\n")]
    mine = _PROJECTED.decode().splitlines()
    assert [line for line in added if line in mine] == mine
    (region,) = re.finditer(r"ws_data_begin.*\n.*if \(!(ws_project_1\(.*\))\)\)\n(.*)\n", text)
    assert region[2] == "#pragma omp parallel" and text.count("ws_project_1(") == 1


def test_a_file_that_knows_sizes_as_std_size_t_only_compiles(tmp_path: Path) -> None:
    source = b"""\
#include <vector>
int sum(const std::vector<int> &v)
{
    int s = 0;
    for (auto x : v)
        s += x;
    return s;
}
int table[16];
int main()
{
    std::vector<int> a(67);
    for (int i = 0; i < 67; i++)
        a[i] = i;
    std::vector<int> b = a;
    for (auto &x : b)
        x = -1;
    for (int i = 0; i < 16; i++)
        table[i] = i;
    for (int i = 0; i < 67; i++)
        b[i] += i;
    return sum(b) + sum(a) + table[3] == 0;
}
"""
    made = make(source, tmp_path, "a.cpp")
    write(made, tmp_path)
    check = ["g++", "-w", "-DWARPSMITH", "-fsyntax-only", "a.cpp"]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def mutants(text: str) -> dict[str, str]:
    """Return texts as a broken printer would write them."""
    return {
        "an include without the macro": re.sub(r"#ifdef WARPSMITH\n(#include.*\n)#else\n.*\n#endif\n", r"\1", text),
        "a test without the macro": re.sub(r"WARPSMITH_ONLY\((if .*)\)\n", r"\1\n", text),
        "a lost #endif": text.replace("#endif\n", "", 1),
        "a lost #ifdef": text.replace("#ifdef WARPSMITH\n", "", 1),
        "a changed line": text.replace("b[i - 1]", "b[i]").replace("2 * b[i]", "3 * b[i]"),
    }


@pytest.mark.parametrize(
    "name",
    [
        "an include without the macro",
        "a test without the macro",
        "a lost #endif",
        "a lost #ifdef",
        "a changed line",
    ],
)
def test_broken_texts_are_told_apart(name: str, tmp_path: Path) -> None:
    made = make(PLAIN, tmp_path)
    text = mutants(made.text)[name]
    assert text != made.text
    try:
        equal = preprocessed(text.encode("latin-1"), tmp_path) == preprocessed(PLAIN, tmp_path)
    except subprocess.CalledProcessError:
        equal = False
    assert not equal or remove_additions(text).encode("latin-1") != PLAIN


def test_additions_are_found_one_by_one(tmp_path: Path) -> None:
    text = make(PLAIN, tmp_path).text
    found = list(additions(text))
    assert len(found) == 2
    assert all(text[start : start + len(added)] == added for start, added in found)
    head = '#ifdef WARPSMITH\n#include "warpsmith/a_kernels.h"\n#else\n#define WARPSMITH_ONLY(...)\n#endif\n'
    assert [added for _, added in found] == [head, "    WARPSMITH_ONLY(if (!ws_scale_1(n, a, b)))\n"]


@pytest.mark.slow
@pytest.mark.skipif(not has_nvcc(), reason="nvcc is not installed")
def test_nvcc_takes_the_kernels_of_every_shape(made: Made, tmp_path: Path) -> None:
    write(made, tmp_path)
    kernels = [f.path for f in made.files.files if f.path.endswith(".cu")]
    command = ["nvcc", "-shared", "-Xcompiler", "-fPIC", "-o", "libwarpsmith.so", *kernels]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_object_of_a_data_region_stands_beside_the_flag(tmp_path: Path) -> None:
    made = make(Path(__file__).with_name("data_region_program.cpp").read_bytes(), tmp_path, "a.cpp")
    held = [line for line in made.text.splitlines() if "ws_data_region ws_data(" in line]
    assert held and held[0] == "    ws_data_region ws_data(WS_HERE, ws_gpu);"
    write(made, tmp_path)
    flags = ["-std=c++17", "-DWARPSMITH", "-fsyntax-only"]
    done = subprocess.run(["g++", *flags, "a.cpp"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
