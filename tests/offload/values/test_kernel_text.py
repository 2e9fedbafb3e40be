"""A fragment's statements in a kernel's names."""

from __future__ import annotations

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.base.errors import RefusedError
from warpsmith.offload.values.kernel_text import (
    Rewriter,
    drop_pragmas,
    flat_rows,
    kernel_pointer,
    return_for_continue,
    shared_type,
)
from warpsmith.tree.nodes import Empty, For, Pragma
from warpsmith.tree.printing.printer import print_stmt, print_type
from warpsmith.tree.types import DOUBLE, Array, Pointer, Scalar, Symbol, element_type
from warpsmith.tree.walk import walk

TEXT = """
enum { OUTER = 7 };
void f(int n, int m, double *u, double (*rows)[m], double (*cube)[n][m], double (*fixed)[4], double cell, double own)
{
    enum { LOCAL = 5 };
    int moved = 3, also = 4;
    double part[LOCAL];
    u[0] = cell * n + own;
    cell += 1;
    rows[n + 1][2] = 1;
    cube[1][2][m - 1] = 2;
    fixed[n][1] = 3;
    u[1] = LOCAL + OUTER + part[0];
    u[2] = sizeof(u) + sizeof(double);
    int single = n;
    for (own = 0; n < m; n++) u[n] = own;
    double (*plane)[m] = cube[2];
    for (int i = 0; i < n; i++) {
        if (u[i] > 1) continue; else u[i] = 2;
        { if (u[i] > 2) continue; }
        switch (n) { case 1: continue; default: u[i] = 3; }
        for (int j = 0; j < n; j++) continue;
#pragma omp simd
        for (int k = 0; k < n; k++) u[k] = 4;
        u[i] = 5;
    }
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(TEXT, tmp_path_factory.mktemp("text"))


def rewriter(program: Analyzed) -> Rewriter:
    def new(name: str, *, pointer: bool = False) -> Symbol:
        old = program.symbol(name)
        return Symbol(f"{name}_gpu", f"k:{name}", kernel_pointer(old.type) if pointer else old.type, "parameter")

    buffers = {program.symbol(name): new(name, pointer=True) for name in ("u", "rows", "cube", "fixed")}
    cells = {
        program.symbol(n): Symbol(f"{n}_gpu", f"k:{n}", Pointer(DOUBLE), "parameter")
        for n in ("cell", "moved", "also", "single")
    }
    flat = {s: tuple(e for e in flat_rows(s.type) if e is not None) for s in buffers if flat_rows(s.type)}
    return Rewriter(
        values={program.symbol(name): new(name) for name in ("n", "m")},
        cells=cells,
        buffers=buffers,
        renamed={program.symbol("own"): new("own")},
        flat=flat,
        moved=frozenset({program.symbol("single"), program.symbol("moved"), program.symbol("also")}),
        function=program.function().span,
    )


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("u[0] = cell", "u_gpu[0] = *cell_gpu * n_gpu + own_gpu;"),
        ("cell += 1", "*cell_gpu += 1;"),
        ("rows[n + 1]", "rows_gpu[(long long)(n_gpu + 1) * m_gpu + 2] = 1;"),
        ("cube[1][2]", "cube_gpu[(long long)1 * n_gpu * m_gpu + (long long)2 * m_gpu + (m_gpu - 1)] = 2;"),
        ("fixed[n]", "fixed_gpu[n_gpu][1] = 3;"),
        # nobody else sees an enumerator of the function
        ("u[1] = LOCAL", "u_gpu[1] = 5 + OUTER + part[0];"),
        # the size of what has another name here is a number
        ("u[2] = sizeof", "u_gpu[2] = 8ul + sizeof(double);"),
        ("int single", "*single_gpu = n_gpu;"),
        ("int moved", "{ *moved_gpu = 3; *also_gpu = 4; }"),
        ("for (own", "for (own_gpu = 0; n_gpu < m_gpu; n_gpu++) u_gpu[n_gpu] = own_gpu;"),
    ],
)
def test_each_variable_has_its_kernels_name(statement: str, text: str, program: Analyzed) -> None:
    made = rewriter(program).stmt(program.statement(statement))
    assert " ".join(print_stmt(made).split()) == text


def test_a_row_of_variable_length_is_no_pointer_in_a_kernel(program: Analyzed) -> None:
    with pytest.raises(RefusedError, match="rows of variable length are used without a full subscript"):
        rewriter(program).stmt(program.statement("double (*plane)"))


def test_what_is_not_touched_stays_the_same_node(program: Analyzed) -> None:
    plain = Rewriter({}, {}, {}, {}, {})
    loop = program.statement("for (int i")
    assert plain.stmt(loop) is loop and plain.expr(program.expr("cell * n + own")) is program.expr("cell * n + own")
    n = program.symbol("n")
    assert plain.symbol(n) is n and rewriter(program).symbol(n).name == "n_gpu"


@pytest.mark.parametrize(
    ("name", "extents", "pointer"),
    [
        ("u", 0, "double *"),
        ("rows", 1, "double *"),
        ("cube", 2, "double *"),
        ("fixed", 0, "double (*)[4]"),
        ("part", 0, "double *"),
    ],
)
def test_rows_that_are_subscripted_linearly(name: str, extents: int, pointer: str, program: Analyzed) -> None:
    type = program.symbol(name).type
    assert len(flat_rows(type)) == extents
    assert print_type(kernel_pointer(type)).replace(" ", "") == pointer.replace(" ", "")


def test_types_as_they_are_declared_outside_the_function(program: Analyzed) -> None:
    inside, part = program.function().span, program.symbol("part").type
    outside = shared_type(part, inside)
    assert isinstance(outside, Array) and outside.extent is None and outside.count == 5
    assert shared_type(part, None) is part and shared_type(DOUBLE, inside) is DOUBLE
    colors = Scalar("unsigned int", 32, "unsigned", spelling="const enum color")
    assert getattr(shared_type(colors, inside), "spelling", None) == ""
    pointed = shared_type(Pointer(colors), inside)
    assert isinstance(pointed, Pointer) and element_type(pointed) == shared_type(colors, inside)
    plain = Pointer(DOUBLE)
    assert shared_type(plain, inside) is plain


def test_a_continue_of_the_threads_own_loop_ends_the_thread(program: Analyzed) -> None:
    loop = program.find("for (int i", For)
    text = print_stmt(return_for_continue(loop.body))
    assert text.count("return;") == 3 and text.count("continue;") == 1
    assert text.index("continue;") > text.index("int j")
    rest = program.statement("u[i] = 5")
    assert return_for_continue(rest) is rest
    kept = program.statement("for (int j")
    assert return_for_continue(kept) is kept


def test_pragmas_speak_to_the_hosts_compiler(program: Analyzed) -> None:
    body = program.find("for (int i", For).body
    made = drop_pragmas(body)
    assert any(isinstance(p, Pragma) for p in walk(body)) and not any(isinstance(p, Pragma) for p in walk(made))
    assert print_stmt(made).count("for (") == print_stmt(body).count("for (")
    pragma = next(p for p in walk(body) if isinstance(p, Pragma))
    assert isinstance(drop_pragmas(pragma), Empty)
    rest = program.statement("u[i] = 5")
    assert drop_pragmas(rest) is rest
