"""The tree says all that the text said: bodies printed from the tree alone compile to the same machine code.

Only what is opaque keeps its text; every name, operator, macro expansion, literal and type is written out anew.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.sampling import one_in
from warpsmith.base.source import Edit, SourceFile, apply_edits
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Node, Verbatim, VerbatimExpr, While
from warpsmith.tree.printing.printer import print_stmt

ROOT = Path(__file__).resolve().parents[2]
# the tree has branches where the text has gotos
BRANCHES = ROOT / "tests" / "cases" / "forward_gotos.c"
PROGRAMS = [*sorted((ROOT / "examples").glob("*.c")), *sorted((ROOT / "tests" / "cases").glob("*.c"))]
PROGRAMS.remove(BRANCHES)

HARD = r"""
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#define N 4
#define HALF 0.1f
#define MINUS -3
#define IDX(i, j) ((i) * n + (j))
#define LESS 9 - 2
#define SUM x + y
#define BIG 0xFFFFFFFFFFul
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MATRIX(v, n) double (*v)[n]; v = (double (*)[n])malloc(sizeof(double) * (n) * (n));
typedef struct point { short k; double v[3]; struct point *next; } point;
enum { RED, GREEN = 5 };
static double table[N][N + 1] = {{1, 2}, {3}};
static const char *const names[] = {"a", "b\n"};
int f(int n, int x, int y, double a[n][n + 1], point *p, unsigned u, signed char c)
{
    MATRIX(m, n);
    static const int fixed[] = {1, 2, 3};
    const char text[] = "xyz";
    double (*rows)[n + 1] = (double (*)[n + 1])a, *flat = &a[0][0];
    int (*compare)(const char *, int) = 0;
    for (int i = 0; i < MAX(n, N); i += 2)
        for (int j = LESS; j >= 0; j--) {
            flat[IDX(i, j + 1)] = x - (y - c) - -x + HALF * (a[i][j] - (rows[j][i] * 2)) / fixed[j % 3];
            if (x & 1 && y | 2 || !(u >> 3 == c))
                continue;
            else if (p->next->v[j] != *p->v)
                break;
            m[i][j] += (u *= 3, (double)(u / 2u) * (x ? y : c)) + table[i & 3][GREEN - 4] + sizeof(point) + BIG;
        }
    do {
        x = SUM * 2 + (SUM) + offsetof(point, v) - 'a' % 7;
        switch (x ^ ~y) {
        case MINUS:
        case RED: x--; /* falls */
        case -1 - 1: { y = -(-y) - (x++ + ++x); break; }
        default: (*p).k <<= 2;
        }
    } while ((p = p->next) != NULL && --x > 0x10L);
    while (compare ? (*compare)(names[x & 1], text[2]) : 010 > y)
        y += (point){.k = 2}.k;
    return x == y ? MINUS : (int)flat[0], x;
}
"""


def kept(node: Node) -> str | None:
    """Return the text of what is opaque."""
    if isinstance(node, Verbatim | VerbatimExpr):
        return node.span.text
    if isinstance(node, While) and isinstance(node.body, Verbatim) and node.body.span == node.span:
        return node.span.text
    return None


def machine_code(text: bytes) -> str:
    # an assertion's message has its line and its text, which are others
    command = ["gcc", "-x", "c", "-w", "-O1", "-DNDEBUG", "-S", "-o", "-", "-"]
    done = subprocess.run(command, input=text, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return re.sub(r"\t\.(?:ident|file).*", "", done.stdout.decode("latin-1"))


def written_anew(path: Path) -> tuple[bytes, bytes]:
    """Return the text of a file with its bodies printed from the tree, and as it is."""
    unit = load_program([str(path)], FrontOptions()).program.units[0]
    edits = [Edit(f.body.span, print_stmt(f.body, known=kept)) for f in unit.functions if f.span.file is unit.file]
    assert edits
    return apply_edits(unit.file, edits).encode("latin-1"), unit.file.data()


def assert_same_code(path: Path) -> None:
    anew, text = written_anew(path)
    assert machine_code(anew) == machine_code(text)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("path", one_in(4, PROGRAMS), ids=lambda path: path.name)
def test_programs_survive_the_tree(path: Path) -> None:
    assert_same_code(path)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_gotos_that_are_branches_do_the_same(tmp_path: Path) -> None:
    printed = []
    for text in written_anew(BRANCHES):
        command = ["gcc", "-x", "c", "-w", "-O1", "-o", str(tmp_path / "program"), "-", "-lm"]
        subprocess.run(command, input=text, check=True, timeout=60)
        printed.append(subprocess.run([tmp_path / "program"], check=True, capture_output=True, timeout=60).stdout)
    assert printed[0] == printed[1] != b""
    anew, text = written_anew(BRANCHES)
    assert anew.count(b"goto") < text.count(b"goto")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_a_collection_of_hard_forms_survives_the_tree(tmp_path: Path) -> None:
    path = tmp_path / "hard.c"
    path.write_text(HARD)
    assert_same_code(path)
    assert SourceFile.read(str(path)).text == HARD
