"""Objects of C++ that are made: by constructors, std::make_unique, copies.

    std::vector<double> v(n);       reads n, and runs no code of the program's
    Cell c(1, 2.0);                 a value, where its constructor makes only its object
    Cell d = c;                     a copy, as in C

Invariant: where the making of an object is said to do less than any code could, that is all that it does.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace as node_with

from warpsmith.front.c.builders import ExpressionBuilder
from warpsmith.front.c.types_of import is_std_array
from warpsmith.front.clang import kinds
from warpsmith.front.clang.node_table import NodeTable
from warpsmith.front.cxx import doing as cxx_doing
from warpsmith.front.cxx.classes.values import (
    is_numbers,
    is_value,
    makes_numbers,
    makes_only_its_object,
    starts_with_constants,
)
from warpsmith.front.cxx.objects import is_lvalue, is_pure
from warpsmith.tree.containers import is_owner
from warpsmith.tree.nodes import Call, Doing, Expr, Name, VerbatimExpr
from warpsmith.tree.types import Array, FunctionType, Pointer, Record, Scalar, Type
from warpsmith.tree.walk import peel, root_symbol

__all__ = ["CxxConstructions"]

_READERS: Final = frozenset({
    "at", "back", "begin", "data", "distance", "end", "front", "get", "operator[]", "operator*", "operator->",
    "accumulate", "inner_product", "max_element", "min_element",
})  # fmt: skip
"""Functions of the library that change nothing, though what they are given could be."""


class CxxConstructions:
    """Builds what makes the objects of one file of a C++ unit."""

    def __init__(self, expressions: ExpressionBuilder) -> None:
        self.expressions = expressions
        self.context = expressions.context
        self.table = expressions.table

    def construct(self, row: int, full: str) -> Expr:
        """Return the call of a constructor, destructor or conversion; `full` is its qualified name."""
        parts = self.table.expressions(row)
        name = full.rpartition("::")[0] or full
        type = self.context.types.of(self.table.type[row])
        plain = self.context.types.is_plain(self.table.type[row]) or is_numbers(self.context, type)
        if isinstance(type, Record) and plain and len(parts) == 1:
            value = self.expressions.build(parts[0])
            if isinstance(value.type, Record) and value.type.tag == type.tag:
                return value  # a copy, as in C
        opaque = self.expressions.make_opaque_object(row, f"a constructor of {name}")
        if is_owner(type) and (made := self._make_owner(opaque, parts)) is not None:
            return made
        if self.is_container(type) and self.by_value(parts):
            # Making a container of numbers reads what it is made from, and runs no code of the program's.
            doing = cxx_doing.fill_effects(self.expressions, type, self._keep_written(parts))
            return node_with(opaque, writes=(), calls=False, kept=(), doing=doing)
        signature = self.context.symbol(self.table.aux[row]).type
        given = signature.parameters if isinstance(signature, FunctionType) else (signature,)
        given = given[1:] if isinstance(signature, FunctionType) and signature.method else given
        if is_value(self.context, type) and len(given) == 1 and len(parts) == 1:
            copied = self._copy_object(opaque, given[0], parts[0])
            if copied is not None:
                return copied
        if all(isinstance(part, Scalar) for part in given) and self._are_numbers(parts):
            # it knows the numbers only
            alone = self._makes_value(row, type)
            doing = cxx_doing.make_effects(self.expressions, self._keep_written(parts)) if alone else None
            return node_with(opaque, writes=(), kept=(), calls=opaque.calls and not alone, doing=doing)
        return opaque

    def _make_owner(self, opaque: VerbatimExpr, parts: list[int]) -> VerbatimExpr | None:
        """Return the making of a std::unique_ptr, empty or of new memory; None for any other."""
        built = [
            self.expressions.build(part) for part in parts if self.table.is_written(part, self.expressions.text.uses)
        ]
        names = [direct.symbol.name for one in built if (direct := _called(one)) is not None]
        if len(built) > 1 or (built and names not in (["new[]"], ["new[]()"])):
            return None
        return node_with(opaque, writes=(), calls=False, kept=(), doing=Doing())

    def make_unique(self, row: int, rows: list[int]) -> VerbatimExpr:
        """Return a call of std::make_unique: of an array it reads how long that shall be."""
        opaque = self.expressions.make_opaque(row, "a call of std::make_unique")
        if not is_owner(opaque.type) or not self.by_value(rows):
            return opaque
        doing = cxx_doing.make_effects(self.expressions, rows)
        return opaque if doing is None else node_with(opaque, writes=(), calls=False, kept=(), doing=doing)

    def make_from_nothing(self, row: int, opaque: VerbatimExpr) -> VerbatimExpr:
        """Return the making of an object without arguments, with what it does."""
        callee = self.table.aux[row]
        known = callee >= 0 and self.context.dump.declared[callee][0] == kinds.CONSTRUCTOR
        if known and is_owner(opaque.type):
            return node_with(opaque, writes=(), calls=False, kept=(), doing=Doing())
        return node_with(opaque, doing=Doing()) if known and self._makes_value(row, opaque.type) else opaque

    def make_in_place(self, row: int, opaque: VerbatimExpr) -> VerbatimExpr:
        """Return an object that is made in an expression, with what its constructor does."""
        parts = self.table.expressions(row)
        inner = self.table.inner(parts[0]) if len(parts) == 1 else -1
        made = self.expressions.build(inner) if inner >= 0 and self.table.kind[inner] == kinds.CALL else opaque
        return node_with(opaque, doing=made.doing) if isinstance(made, VerbatimExpr) else opaque

    def _makes_value(self, row: int, type: Type) -> bool:
        """Whether a constructor's call makes a value, and does nothing else that anybody sees."""
        callee = self.table.aux[row]
        if not is_value(self.context, type) or not starts_with_constants(self.context, type):
            return False
        implicit = callee not in self.context.bodies and not self.table.expressions(row)
        return implicit or makes_only_its_object(self.context, callee)

    def _keep_written(self, rows: list[int]) -> list[int]:
        """Return the arguments that the user wrote: a default of what makes only its object is a constant."""
        return [row for row in rows if self.table.is_written(row, self.expressions.text.uses)]

    def _copy_object(self, opaque: VerbatimExpr, given: Type, part: int) -> VerbatimExpr | None:
        """Return the making of an object from another one of its class, which keeps no address; None for any other."""
        source = self.expressions.build(part)
        refers = isinstance(given, Pointer) and given.reference and isinstance(given.to, Record)
        root = root_symbol(source) if is_lvalue(source) and is_pure(source) else None
        same = (
            isinstance(source.type, Record) and isinstance(opaque.type, Record) and source.type.tag == opaque.type.tag
        )
        if not refers or not same or root is None or not isinstance(given, Pointer):
            return None
        copies = isinstance(given.to, Record) and given.to.const
        doing = cxx_doing.copy_effects(self.expressions, source) if copies else cxx_doing.move_effects(source)
        return node_with(opaque, writes=() if copies else (root,), calls=False, kept=(), doing=doing)

    def is_container(self, type: Type) -> bool:
        """Whether a type is a std::vector or std::array of numbers, of what is copied as bytes, or of such again."""
        if is_std_array(type) and isinstance(type, Array):
            element: Type = type.of
        elif isinstance(type, Record) and type.tag.startswith("std::vector<") and type.fields:
            data = type.fields[0].type
            element = data.to if isinstance(data, Pointer) else data
        else:
            return False
        bytes = isinstance(element, Record) and (
            self.context.types.is_bare(element.tag) or makes_numbers(self.context, element)
        )
        return bytes or isinstance(element, Scalar | Pointer) or self.is_container(element)

    def by_value(self, rows: list[int]) -> bool:
        """Whether evaluating arguments only reads: it calls none of the program's functions, and writes nothing."""
        if any(_writes(self.table, r) for row in rows for r in range(row, self.table.after[row])):
            return False
        kind = self.table.kind
        below = [r for row in rows for r in range(row, self.table.after[row]) if kind[r] in (kinds.CALL, kinds.LAMBDA)]
        return all(kind[r] == kinds.CALL and self._only_reads(self.table.aux[r]) for r in below)

    def _only_reads(self, callee: int) -> bool:
        """Whether a function is of the library, and changes nothing that it is given."""
        if callee < 0 or not self.context.is_library(callee):
            return False
        type = self.context.symbol(callee).type
        if self.context.dump.declared[callee][1] in _READERS or not isinstance(type, FunctionType):
            return isinstance(type, FunctionType)
        making = self.context.dump.declared[callee][0] == kinds.CONSTRUCTOR
        return all(_is_read(part) for part in type.parameters[int(making and type.method) :])

    def _are_numbers(self, rows: list[int]) -> bool:
        """Whether arguments are numbers that evaluating changes nothing, whatever functions they call."""
        made = [self.expressions.build(row) for row in rows if not self.by_value([row])]
        return all(isinstance(one.type, Scalar) and is_pure(one) for one in made)


def _writes(table: NodeTable, row: int) -> bool:
    """Whether an expression itself is an assignment or an increment."""
    kind, aux = table.kind[row], table.aux[row]
    if kind in (kinds.BINARY, kinds.COMPOUND_ASSIGN):
        return kinds.FIRST_ASSIGNMENT <= aux <= kinds.LAST_ASSIGNMENT
    return kind == kinds.UNARY and aux in kinds.INCREMENTS


def _is_read(parameter: Type) -> bool:
    """Whether a function can only read what a parameter of it is: a number, or what is constant there."""
    if isinstance(parameter, Pointer):
        return bool(getattr(parameter.to, "const", False))
    return isinstance(parameter, Scalar) or (isinstance(parameter, Record) and "initializer_list" in parameter.tag)


def _called(expr: Expr) -> Name | None:
    """Return the function that an expression is a call of."""
    inner = peel(expr)
    return inner.function if isinstance(inner, Call) and isinstance(inner.function, Name) else None
