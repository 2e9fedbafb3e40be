"""The accesses of an expression, in C's order, and the variables from which an address may be made."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.expressions import expressions
from tests.poly.programs import function
from warpsmith.poly.pointers.accesses import (
    Base,
    MemoryAccess,
    accesses,
    bases,
    direct_call,
    is_pointer,
    node_accesses,
    own_accesses,
)
from warpsmith.tree.nodes import Assign, Call, Expr, ExprStmt, For, Function, Node
from warpsmith.tree.walk import peel, walk

HEAD = """struct pt { double x, y; int k[4]; }; struct tab { double *data; struct pt at; };
int side(int); double *make(void); struct pt point(int); struct tab table(int); double fixed[9], grid[3][4];
"""
PARAMETERS = "int n, int i, double *a, double *b, double **m, struct tab *t, struct pt s, struct tab u, int (*op)(int)"

# read x, write x; load and store go through a base; ? marks what is only perhaps done, ~ what is a part of a variable
TOUCHES: dict[str, str] = {
    "a[i] = s.x + *b++": "read s.x, read b, write b, load b, read a, read i, store a",
    "n += i": "read i, read n, write n",
    "n++": "read n, write n",
    "s.k[i] = 1": "read i, write s.k~",
    "s.x = 2": "write s.x",
    "t->data[i] = 1": "read t, load t, read i, store t*",
    "t->at.x = 1": "read t, store t",
    "u.at.y": "read u.at.y",
    "m[n][i]": "read m, read n, load m, read i, load m*",
    "n ? a[0] : b[0]": "read n, read a?, load a?, read b?, load b?",
    "n && i++": "read n, read i?, write i?",
    "n || side(i)": "read n, read i?, call?",
    "(n ? a : b)[i] = 0": "read n, read a?, read b?, read i, store a?, store b?",
    "&a[i]": "read a, read i",
    "&s": "",
    "&s.k[i]": "read i",
    "*&n": "load &n",
    "side(n) + op(i)": "read n, call, read op, read i, call",
    "sizeof n": "",
    "i[a]": "read a, read i, load a",
    "(int)a[0]": "read a, load a",
    "*make()": "call, load -",
    "point(n).x + a[i]": "read n, call, read a, read i, load a",
    "table(n).at.y": "read n, call",
    "point(n).k[i]": "read n, call, read i",
    "table(n).data[i] = 1": "read n, call, read i, store -",
    "(n, i)": "read n, read i",
    "fixed[i] = fixed[0]": "load &fixed, read i, store &fixed",
    "grid[i][n]": "read i, read n, load &grid",
    "grid[i]": "read i",
    "side": "",
}

# the variables an address may be made from: & the variable's own, * loaded from memory that it reaches
BASES: dict[str, str] = {
    "a": "a",
    "a + n": "a",
    "n + a": "a",
    "fixed": "&fixed",
    "&n": "&n",
    "&s.k[i]": "&s",
    "&a[i]": "a",
    "&t->at.x": "t",
    "n ? a : b": "a b",
    "(n, b)": "b",
    "a = b": "b a",
    "a += 2": "a",
    "a++": "a",
    "t->data": "t*",
    "u.data": "u*",
    "m[i]": "m*",
    "*m": "m*",
    "grid[i]": "&grid",
    "(char *)a": "a",
    "(double *)0": "",
    "(double *)n": "-",
    "(double *)8": "-",
    "make()": "make()",
    "table(n).data": "-",
    "point(n).k": "-",
    "(double *)(long)a": "-",
    "side": "&side",
}


@functools.cache
def _read() -> dict[str, Expr]:
    texts = [*dict.fromkeys([*TOUCHES, *BASES])]
    return dict(zip(texts, expressions(PARAMETERS, *texts, head=HEAD), strict=True))


def _base(base: Base) -> str:
    if base.call is not None:
        return f"{getattr(direct_call(base.call), 'name', '?')}()"
    name = "-" if base.symbol is None else base.symbol.name
    return f"{'&' if base.address else ''}{name}{'*' if base.deep else ''}"


def _access(access: MemoryAccess) -> str:
    what = ".".join((access.symbol.name, *access.path)) if access.symbol is not None else ""
    what = (
        _base(access.base)
        if access.base is not None and access.base.call is None
        else what or ("-" if access.base else "")
    )
    text = f"{access.kind} {what}".strip()
    return text + ("" if access.whole else "~") + ("" if access.certain else "?")


@pytest.mark.parametrize("text", TOUCHES)
def test_touches_in_order(text: str) -> None:
    assert ", ".join(map(_access, accesses(_read()[text]))) == TOUCHES[text]


@pytest.mark.parametrize("text", BASES)
def test_bases(text: str) -> None:
    assert " ".join(map(_base, bases(_read()[text]))) == BASES[text]


STATEMENTS = """void outside(void);
void g(int n, double *a) {
  for (int i = 0; i < n; i++) { double t[n + 1]; double w = a[i]; if (w) a[i] = 0; }
  __asm__("nop");
  (*outside)();
}"""


def _statements() -> Function:
    return function(program_of(STATEMENTS), "g")


def test_statements_touch_what_is_theirs() -> None:
    loop, text, call = _statements().body.statements
    assert isinstance(loop, For)
    own = sorted(map(_access, own_accesses(loop)))
    assert own == ["read i", "read n", "write i"], "its bound and its counter, not its body"
    inside = sorted({_access(t) for t in node_accesses(loop)})
    assert inside == [
        "load a", "read a", "read i", "read n", "read w", "store a", "write i", "write w",
    ]  # fmt: skip
    lengths = [_access(t) for part in walk(loop) for t in own_accesses(part) if type(part).__name__ == "VarDecl"]
    assert lengths == ["read n", "read a", "read i", "load a", "write w"], (
        "a length is read, a declaration writes nothing"
    )
    assert [t.kind for t in node_accesses(text)] == ["opaque"]
    assert isinstance(call, ExprStmt) and isinstance(called := peel(call.expr), Call)
    assert getattr(direct_call(called), "name", "") == "outside"


def test_which_values_are_addresses() -> None:
    addresses = [text for text, expr in _read().items() if is_pointer(expr)]
    assert set(addresses) >= {"a + n", "&n", "grid[i]", "side", "(double *)0"}
    assert not {"n++", "u.at.y", "s.x = 2"} & set(addresses)
    assert all(isinstance(node, Node) for node in _read().values()) and isinstance(_read()["a = b"], Assign)
