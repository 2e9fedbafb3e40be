"""Members of structs in an array: which uses are found, and which are none of single numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.programs import load
from warpsmith.base.verdict import Reason
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.place import LoopContext
from warpsmith.loops.writing.members import MemberUse, find_member_uses, member_name, rows_of_structs
from warpsmith.tree.nodes import Expr, Literal
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.walk import names

HEAD = (
    "struct vec { float x, y; };\n"
    "struct body { struct vec pos; double v[3]; int k; union { int a; float b; } u; struct body *next; };\n"
    "void use(struct body *); float half(float x);\n"
)


def uses(body: str, folder: Path, name: str = "p") -> tuple[MemberUse, ...] | Reason:
    """Return the uses in the loop of a function with this body."""
    text = (
        f"{HEAD}void f(int n, struct body *p, struct body (*g)[8], float (*xyz)[3], double big[][40])\n"
        f"{{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    )
    place = LoopContext.of(load(text, folder), "f/i")
    symbol = next(one for one in place.function.parameters if one.name == name)
    return find_member_uses(place.loop, symbol)


def _show(index: Expr) -> str:
    return "0" if isinstance(index, Literal) else show_expression(index)


@pytest.mark.parametrize(
    ("body", "name", "expected"),
    [
        ("p[i].k = 1;", "p", ["i k"]),
        ("p[i].pos.x += p[i + 1].pos.y;", "p", ["i + 1 pos_y", "i pos_x"]),
        ("p[i].v[2] = p->v[0] + (p + i)->v[1];", "p", ["0 v_0", "i v_1", "i v_2"]),
        ("(*p).k = (*(p + i)).k;", "p", ["0 k", "i k"]),
        # a subscript may use the array as well
        ("p[p[i].k].k = 2;", "p", ["i k", "p[i].k k"]),
        ("g[i][n - i].pos.x = 1;", "g", ["i n - i pos_x"]),
        ("xyz[i][2] = half(xyz[i + 1][0]);", "xyz", ["i + 1 0", "i 2"]),
    ],
)
def test_numbers_in_elements(body: str, name: str, expected: list[str], tmp_path: Path) -> None:
    found = uses(body, tmp_path, name)
    assert not isinstance(found, Reason), found
    shown = [" ".join([*(_show(index) for index in one.index), member_name(one.path)]) for one in found]
    assert sorted(shown) == expected


@pytest.mark.parametrize(
    ("body", "name", "why"),
    [
        ("use(p);", "p", "p is handed to a function: use(p)"),
        ("use(&p[i]);", "p", "the address of a part of p is taken"),
        ("float *x = &p[i].pos.x; *x = 1;", "p", "the address of a part of p is taken"),
        ("struct body q = p[i];", "p", "otherwise than by single members: p[i]"),
        ("p[i].pos = p[i + 1].pos;", "p", "otherwise than by single members"),
        ("p[i].u.a = 1;", "p", "text that is not modelled"),
        ("p[i].next = 0;", "p", "otherwise than by single members"),
        ("p[i].v[i] = 1;", "p", "otherwise than by single members"),
        ("p[i].v[3] = 1;", "p", "otherwise than by single members"),
        ("double *v = p[i].v; v[0] = 1;", "p", "otherwise than by single members"),
        ("p++; p->k = 3;", "p", "p itself is used"),
        ("xyz[i][n] = 1;", "xyz", "otherwise than by single members"),
        ("g[i]->k = 1;", "g", "otherwise than by single members"),
        ("*p[i].v = 1;", "p", "otherwise than by single members"),
    ],
)
def test_other_uses(body: str, name: str, why: str, tmp_path: Path) -> None:
    found = uses(body, tmp_path, name)
    assert isinstance(found, Reason) and why in found.text, found


def test_references_are_uses_of_a_part(tmp_path: Path) -> None:
    text = (
        "struct point { float x, y; };\nstatic void put(float &x) { for (int k = 0; k < 3; k++) x += k; }\n"
        "void f(int n, point *p) { for (int i = 0; i < n; i++) put(p[i].x); }\n"
        "void g(int n, point *p) { for (int i = 0; i < n; i++) { float &x = p[i].x; x = 1; } }\n"
        "void h(int n, point *p) { for (int i = 0; i < n; i++) p[i].x = 1; }\n"
    )
    path = tmp_path / "program.cpp"
    path.write_text(text)
    program = load_program([str(path)], FrontOptions()).program
    for function, wrong in (("f", True), ("g", True), ("h", False)):
        loop = LoopContext.of(program, f"{function}/i").loop
        symbol = next(n.symbol for n in names(loop) if n.symbol.name == "p")
        assert isinstance(find_member_uses(loop, symbol), Reason) == wrong, function


def test_which_variables_are_arrays_of_structs(tmp_path: Path) -> None:
    text = (
        "struct point { float x, y; }; union both { int a; float b; };\n"
        "void f(struct point *p, struct point g[4][5], float (*v)[3], float (*wide)[40], float *x, union both *u,"
        " struct point **q, double c[4][5][2]) { for (int i = 0; i < 3; i++) {"
        " p[i].x = g[i][i].y + v[i][0] + wide[i][0] + x[i] + u[i].b + q[i]->x + c[i][i][1]; } }"
    )
    loop = LoopContext.of(load(text, tmp_path), "f/i").loop
    known = {n.symbol.name: rows_of_structs(n.symbol.type) for n in names(loop)}
    ranks = {name: None if rows is None else len(rows) for name, rows in known.items() if name != "i"}
    assert ranks == {"p": 0, "g": 1, "v": 0, "wide": None, "x": None, "u": None, "q": None, "c": 1}
