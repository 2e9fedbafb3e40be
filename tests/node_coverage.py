"""Which nodes every `match` of the analyses stands for, read from the source: for test_node_coverage.py.

match node:                            universe   what the subject may be: by its annotation, else by the classes named
    case Assign(op="="): …             named      Assign, VarDecl
    case VarDecl(): …                  covered    VarDecl (Assign is asked for in part only)
    case _: …                          swallowed  the universe without what is covered
"""

from __future__ import annotations

import ast
import importlib
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType, UnionType
from typing import get_args

from msgspec import Struct

from warpsmith.base import verdict
from warpsmith.poly.isl import formula
from warpsmith.ssa import nodes as ssa
from warpsmith.tree import nodes, types
from warpsmith.tree.nodes import Expr, Node, Stmt, Top

SOURCES = Path(__file__).parent.parent / "src"

Kinds = frozenset[type]
Functions = tuple[ast.FunctionDef, ...]


def members(union: object) -> Kinds:
    """Return the classes of a closed union."""
    return frozenset(get_args(union))


def parts_of(module: ModuleType) -> Kinds:
    """Return the nodes of `module` that stand in no union: parts of others."""
    found = {c for c in vars(module).values() if isinstance(c, type) and issubclass(c, Node) and not c.__subclasses__()}
    return frozenset(found) - members(Expr) - members(Stmt) - members(Top)


def unions() -> Mapping[str, Kinds]:
    """Return the closed unions by name; Node is every node of the tree."""
    every = members(Expr) | members(Stmt) | members(Top) | parts_of(nodes)
    return {
        "Expr": members(Expr),
        "Stmt": members(Stmt),
        "Top": members(Top),
        "Node": every,
        "Type": members(types.Type),
        "Verdict": members(verdict.Verdict),
        "Formula": members(formula.Formula),
        "Terminator": members(ssa.Terminator),
        "Operand": members(ssa.Operand),
        "Detail": members(ssa.Detail),
    }


class Match(Struct, frozen=True):
    """One `match` over a closed union. `where`: `poly/pointers/accesses.py:_value`, with `#2` for the second one there;
    `wildcard`: its last case takes all that is left."""

    where: str
    line: int
    universe: Kinds
    covered: Kinds
    wildcard: bool

    @property
    def swallowed(self) -> frozenset[str]:
        """The names of what no case names whole."""
        return frozenset(kind.__name__ for kind in self.universe - self.covered)


def matches(path: Path, known: Mapping[str, Kinds]) -> Iterator[Match]:
    """Yield the matches over the unions `known` in a file of the sources, in order."""
    tree = ast.parse(path.read_text())
    name = path.relative_to(SOURCES).with_suffix("").as_posix().replace("/", ".")
    module = importlib.import_module(name)
    seen: dict[str, int] = {}
    for function, match in _placed(tree, ()):
        found = _match(function, match, module, known)
        if found is not None:
            place = f"{path.relative_to(SOURCES / 'warpsmith').as_posix()}:{function[-1].name if function else ''}"
            seen[place] = seen.get(place, 0) + 1
            where = place if seen[place] == 1 else f"{place}#{seen[place]}"
            universe, covered, wildcard = found
            yield Match(where, match.lineno, universe, covered, wildcard)


def _placed(node: ast.AST, around: Functions) -> Iterator[tuple[tuple[ast.FunctionDef, ...], ast.Match]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Match):
            yield around, child
        yield from _placed(child, (*around, child) if isinstance(child, ast.FunctionDef) else around)


def _match(
    around: Functions, match: ast.Match, module: ModuleType, known: Mapping[str, Kinds]
) -> tuple[Kinds, Kinds, bool] | None:
    names = {**vars(module), **{kind.__name__: kind for kind in known["Node"]}, **vars(module)}
    named = frozenset(kind for case in match.cases for kind in _named(case.pattern, names))
    if not any(named & kinds for kinds in known.values()):
        return None
    last = match.cases[-1]
    wildcard = last.guard is None and isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
    if wildcard and "assert_never" in ast.unparse(last):
        wildcard = False
    covered = frozenset(
        k for case in match.cases if case.guard is None for k in _named(case.pattern, names, whole=True)
    )
    universe = _annotated(around, match.subject, names, known) or _guessed(around, match.subject, named, known)
    return universe, frozenset(k for k in universe if any(issubclass(k, kind) for kind in covered)), wildcard


def _named(pattern: ast.pattern, names: Mapping[str, object], whole: bool = False) -> Iterator[type]:
    """Yield the classes that a pattern asks for; `whole`: those of which it takes every object."""
    match pattern:
        case ast.MatchOr(patterns=patterns):
            for part in patterns:
                yield from _named(part, names, whole)
        case ast.MatchAs(pattern=inner) if inner is not None:
            yield from _named(inner, names, whole)
        case ast.MatchSequence(patterns=[first, second]):
            both = frozenset(_named(first, names, whole)) & frozenset(_named(second, names, whole))
            yield from both
        case ast.MatchClass(cls=cls, patterns=given, kwd_patterns=keywords):
            free = all(isinstance(part, ast.MatchAs) and part.pattern is None for part in (*given, *keywords))
            kind = _resolved(cls, names)
            if isinstance(kind, type) and (free or not whole):
                yield kind


def _resolved(expr: ast.expr, names: Mapping[str, object]) -> object:
    if isinstance(expr, ast.Name):
        return names.get(expr.id)
    return getattr(_resolved(expr.value, names), expr.attr, None) if isinstance(expr, ast.Attribute) else None


def _annotated(
    around: Functions, subject: ast.expr, names: Mapping[str, object], known: Mapping[str, Kinds]
) -> Kinds | None:
    """Return the classes that the subject's annotation allows; None where it has none, or more than tree nodes."""
    if not isinstance(subject, ast.Name):
        return None
    for function in reversed(around):
        for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
            if argument.arg == subject.id and argument.annotation is not None:
                return _kinds_of(ast.unparse(argument.annotation), names, known)
    return None


def _kinds_of(annotation: str, names: Mapping[str, object], known: Mapping[str, Kinds]) -> Kinds | None:
    found: set[type] = set()
    for word in (part.strip() for part in annotation.split("|")):
        value = names.get(word)
        if word in known:
            found |= known[word]
        elif word == "object":
            found |= known["Node"]
        elif isinstance(value, UnionType | typing._UnionGenericAlias):  # type: ignore[attr-defined]
            found |= members(value)
        elif isinstance(value, type):
            found.add(value)
    return frozenset(found) or None


def _guessed(around: Functions, subject: ast.expr, named: Kinds, known: Mapping[str, Kinds]) -> Kinds:
    """Return the least union that has all classes named; all nodes for what a walk yields."""
    fitting = [kinds for kinds in known.values() if named <= kinds] or [known["Node"]]
    walked = isinstance(subject, ast.Name) and any(_is_walked(function, subject.id) for function in around[-1:])
    return known["Node"] if walked and named <= known["Node"] else min(fitting, key=len)


def _is_walked(function: ast.FunctionDef, name: str) -> bool:
    """Whether a variable of a function is what a walk over a tree yields, or a stack of its nodes."""
    for part in ast.walk(function):
        if isinstance(part, ast.For | ast.comprehension) and _binds(part.target, name):
            return "walk(" in ast.unparse(part.iter) or "children(" in ast.unparse(part.iter)
        if isinstance(part, ast.Assign) and any(_binds(target, name) for target in part.targets):
            return ".pop(" in ast.unparse(part.value)
    return False


def _binds(target: ast.expr, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(target))
