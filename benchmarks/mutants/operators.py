"""Mutants of Python text: one small change each, made where it stands, so that all other text stays as it is.

    comparison    < and <=, > and >=, == and !=, in and not in, is and is not: the other of the pair; < and > turned
    logic         `and` for `or`, `or` for `and`; `not` dropped
    number        an integer one larger, one smaller
    returned      None, True, False or something empty in place of a value, as the function's annotation allows
    statement     a call, an assignment to more than a name, `continue`, `break` left out
    sets          union for intersection, subset for superset, `any` for `all`, `min` for `max`, and the other way round
    arguments     two neighbors change places
    condition     a branch, a choice, a filter of a comprehension: always, never

Annotations, docstrings, decorators and messages of exceptions stay as they are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

__all__ = ["Mutant", "mutants"]

_OTHER: dict[type[ast.cmpop], tuple[ast.cmpop, ...]] = {
    ast.Lt: (ast.LtE(), ast.Gt()),
    ast.LtE: (ast.Lt(), ast.GtE()),
    ast.Gt: (ast.GtE(), ast.Lt()),
    ast.GtE: (ast.Gt(), ast.LtE()),
    ast.Eq: (ast.NotEq(),),
    ast.NotEq: (ast.Eq(),),
    ast.In: (ast.NotIn(),),
    ast.NotIn: (ast.In(),),
    ast.Is: (ast.IsNot(),),
    ast.IsNot: (ast.Is(),),
}
_NAMES = {
    "union": "intersect",
    "intersect": "union",
    "intersection": "union",
    "issuperset": "issubset",
    "issubset": "issuperset",
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "lexmin": "lexmax",
    "lexmax": "lexmin",
    "intersect_domain": "intersect_range",
    "intersect_range": "intersect_domain",
}
_EMPTY = {"tuple": "()", "list": "[]", "set": "set()", "frozenset": "frozenset()", "dict": "{}", "str": "''"}


class Mutant(Struct, frozen=True):
    """One change: in which function (`Class.method`), which operator, the text before and after, the line with both,
    `return [a < b -> (a <= b)] and c`, and the whole text."""

    function: str
    line: int
    operator: str
    before: str
    after: str
    change: str
    text: str

    @property
    def key(self) -> tuple[str, str]:
        """Return what tells it from others, line numbers left out."""
        return self.function, self.change


def mutants(text: str) -> tuple[Mutant, ...]:
    """Return all mutants of a file, in the order of its text."""
    tree = ast.parse(text)
    writer = _Writer(text)
    found: dict[str, Mutant] = {}
    for node, function, returned in _inside(tree, "", None):
        for operator, changed, new in _changes(node, returned):
            before, change, whole = writer.replaced(changed, new)
            if whole != text:
                found.setdefault(whole, Mutant(function, changed.lineno, operator, before, new, change, whole))
    return tuple(found.values())


class _Writer:
    """Puts texts in place of nodes."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.starts = [0]
        for line in self.data.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def replaced(self, node: ast.expr | ast.stmt, new: str) -> tuple[str, str, str]:
        """Return a node's text, its line with another in its place, and the whole text with that."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[node.end_lineno - 1] + node.end_col_offset
        before = self.data[start:end].decode()
        front, back = self.data[self.starts[node.lineno - 1] : start], self.data[end : self.starts[node.end_lineno]]
        change = " ".join(f"{front.decode()}[{before} -> {new}]{back.decode()}".split())
        return before, change, (self.data[:start] + new.encode() + self.data[end:]).decode()


def _inside(node: ast.AST, function: str, returned: ast.expr | None) -> Iterator[tuple[ast.AST, str, ast.expr | None]]:
    """Yield what may be changed below a node, with its function's name and annotation."""
    for child in _children(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            name = f"{function}.{child.name}".lstrip(".")
            yield from _inside(child, name, child.returns if isinstance(child, ast.FunctionDef) else None)
        else:
            yield child, function, returned
            yield from _inside(child, function, returned)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            yield from (s for s in node.body if not _is_text(s))
        case ast.Module():
            yield from (s for s in node.body if not (_is_text(s) or isinstance(s, ast.Import | ast.ImportFrom)))
        case ast.AnnAssign(value=value):
            yield from () if value is None else (value,)
        case ast.Raise() | ast.Assert():
            return
        case ast.JoinedStr():
            return
        case _:
            yield from ast.iter_child_nodes(node)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


_Change = tuple[str, ast.expr | ast.stmt, str]


def _changes(node: ast.AST, returned: ast.expr | None) -> Iterator[_Change]:
    match node:
        case ast.Constant() | ast.Compare() | ast.BoolOp() | ast.UnaryOp() | ast.BinOp():
            yield from ((_NAMED[type(node)], node, new) for new in _values(node))
        case ast.Return(value=value) if value is not None:
            yield from _returns(node, value, returned)
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break():
            yield "statement", node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "statement", node, "pass"
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield from (("condition", test, word) for word in ("True", "False"))
        case ast.comprehension(ifs=tests):
            yield from (("condition", test, word) for test in tests for word in ("True", "False"))
        case ast.Call():
            yield from _calls(node)


_NAMED: dict[type[ast.expr], str] = {
    ast.Constant: "number",
    ast.Compare: "comparison",
    ast.BoolOp: "logic",
    ast.UnaryOp: "logic",
    ast.BinOp: "sets",
}


def _values(node: ast.expr) -> Iterator[str]:
    """Yield what may stand for an expression."""
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            yield from (f"({value + by})" for by in (1, -1))
        case ast.Compare(ops=[op], left=left, comparators=[right]):
            yield from (f"({ast.unparse(ast.Compare(left, [other], [right]))})" for other in _OTHER[type(op)])
        case ast.BoolOp(op=op, values=values):
            turned = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield f"({ast.unparse(ast.BoolOp(turned, values))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield f"({ast.unparse(operand)})"
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield f"({ast.unparse(ast.BinOp(left, ast.BitAnd(), right))})"
        case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
            yield f"({ast.unparse(ast.BinOp(left, ast.BitOr(), right))})"


def _returns(node: ast.Return, value: ast.expr, returned: ast.expr | None) -> Iterator[_Change]:
    """Yield returns of what the annotation allows, and is not returned anyhow."""
    options = [one for one in _options(returned) if one != ast.unparse(value)]
    yield from (("returned", node, f"return {one}") for one in options)


def _options(annotation: ast.expr | None) -> Iterator[str]:
    match annotation:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from _options(left)
            yield from _options(right)
        case ast.Constant(value=None):
            yield "None"
        case ast.Name(id="bool"):
            yield from ("True", "False")
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)) if name in _EMPTY:
            yield _EMPTY[name]


def _calls(node: ast.Call) -> Iterator[_Change]:
    match node.func:
        case ast.Name(id=name) if name in _NAMES:
            yield "sets", node.func, _NAMES[name]
        case ast.Attribute(value=value, attr=name) if name in _NAMES:
            yield "sets", node.func, f"{ast.unparse(value)}.{_NAMES[name]}"
    if _is_test_of_class(node) or any(isinstance(a, ast.Starred) for a in node.args):
        return
    for number, (one, other) in enumerate(pairwise(node.args)):
        if ast.dump(one) != ast.dump(other):
            turned = [*node.args[:number], other, one, *node.args[number + 2 :]]
            yield "arguments", node, ast.unparse(ast.Call(node.func, turned, node.keywords))


def _is_test_of_class(node: ast.Call) -> bool:
    """Whether turned arguments only fail: isinstance(x, T)."""
    return isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "cast", "getattr", "enumerate", "field")
