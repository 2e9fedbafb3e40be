"""Declarations of variables, in functions and at file scope, from the worker's rows."""

from __future__ import annotations

import re

import msgspec.structs

from warpsmith.base.source import Span
from warpsmith.front.c.context import Context, FileText
from warpsmith.front.c.expressions import CannotModelError, Expressions
from warpsmith.front.c.scan import bare
from warpsmith.front.c.types_of import decay_type
from warpsmith.front.clang import kinds
from warpsmith.front.clang.node_table import MacroRange
from warpsmith.front.cxx.objects import address, is_alike, is_lvalue, is_value, unwritten
from warpsmith.tree.nodes import Call, DeclStmt, Expr, MacroUse, VarDecl, VerbatimExpr, replace
from warpsmith.tree.types import Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.walk import peel, walk

__all__ = ["Declarations"]

_DEPENDS = re.compile(r"\b(?:__typeof__|__typeof|typeof|decltype|auto|__auto_type)\b")


class Declarations:
    """Builds the variable declarations of one file of a unit."""

    def __init__(self, context: Context, text: FileText, expressions: Expressions) -> None:
        self.context = context
        self.table = context.table
        self.text = text
        self.expressions = expressions

    def statement(self, row: int, span: Span, *, types: bool = False) -> DeclStmt | str:
        """Return a declaration statement; what it is that is not modelled, where it declares a type and no `types` are
        wanted or that type has no text of its own, or where a macro made what is not modelled."""
        children = self.table.children(row)
        declared = [child for child in children if self.table.kind[child] in kinds.TYPES]
        # The variables exist all the same: their uses must find one symbol.
        if declared and not types:
            return "a type declared inside a function"
        reason = self._find_dependent(row, declared)
        if reason:
            return reason
        try:
            made = tuple(self.variable(child) for child in children if self.table.kind[child] == kinds.VAR_DECL)
        except CannotModelError:
            return "a type declared inside a function"
        return DeclStmt(span=span, intact=True, declarations=made, types=self._types_text(declared))

    def _find_dependent(self, row: int, declared: list[int]) -> str:
        """Return why the text of the types that a statement declares does not say by itself what they are, or ""."""
        if declared and self.table.begins_in_macro(row):
            return "a macro that declares a type"
        for child in declared:
            if any(True for _ in self.context.variables(child)) or _DEPENDS.search(self._types_text([child])):
                return "a type that depends on a variable"
        return ""

    def _types_text(self, declared: list[int]) -> str:
        """Return the text from the first type that a statement declares to the last one; a typedef's begins first."""
        ranges = [self.table.range(child, self.text.uses) for child in declared]
        return self.text.file.text[min(r[0] for r in ranges) : max(r[1] for r in ranges)] if ranges else ""

    def declared_and_set(self, rows: list[int], span: Span) -> DeclStmt | None:
        """Return a macro's `T v; v = value;` as the declaration `T v = value;`; None for any other statements."""
        table = self.table
        use = self.context.use_of(rows[0], self.text)
        shape = [table.kind[row] for row in rows]
        if use is None or shape != [kinds.DECL_STMT, kinds.BINARY] or kinds.BINARY_OPERATORS[table.aux[rows[1]]] != "=":
            return None
        declared, (target, value) = table.children(rows[0]), table.expressions(rows[1])
        alike = [table.kind[row] for row in declared] == [kinds.VAR_DECL] and table.kind[target] == kinds.DECL_REF
        if not alike or table.aux[target] != table.aux[declared[0]] or self.context.use_of(rows[1], self.text) != use:
            return None
        try:
            made = self.variable(declared[0])
            init = self._part(value, use)
        except CannotModelError:
            return None
        if made.init is not None:
            return None
        only = VarDecl(span=made.span, symbol=made.symbol, init=init)
        return DeclStmt(span=span, intact=True, declarations=(only,))

    def variable(self, row: int) -> VarDecl:
        """Return one declarator with its initializer; it is not intact, because its text does not stand in one piece.

        Raises CannotModelError where a macro hides what is not modelled.
        """
        number = self.table.aux[row]
        parts = self._own_parts(row, self.table.expressions(row))
        written = self._written_extents(row, parts)
        use = self.text.uses.at(self.context.dump.declared[number][6])
        type = self.context.cast_type(self.table.type[row], parts[:written], lambda part: self._part(part, use))
        if self.context.cxx:
            return self._cxx_variable(row, type, parts[written:], use)
        symbol = self.context.declare(number, type)
        init = self._part(parts[-1], use) if len(parts) > written else None
        return VarDecl(span=self._place(row, number, use), symbol=symbol, init=init)

    def _own_parts(self, row: int, parts: list[int]) -> list[int]:
        """Return the extents and the initializer; what stands before the name are arguments of a C++ template."""
        if not self.context.cxx or self.table.begins_in_macro(row):
            return parts
        name = self.context.dump.declared[self.table.aux[row]][6]
        return [part for part in parts if self.table.start[part] >= name or self.table.flags[part]]

    def _cxx_variable(self, row: int, type: Type, parts: list[int], use: MacroRange | None) -> VarDecl:
        """Return a declarator of C++: a reference holds an address; an object may be made by a constructor."""
        table, number = self.table, self.table.aux[row]
        init = None
        if parts and not self._is_default(row, parts[-1]):
            # A constructor's variable is known to what makes it: `T x(x.size())` is no program that anyone writes.
            self.expressions.cxx.stands_alone(parts[-1])
            init = self._part(parts[-1], use)
            if isinstance(type, Record) and any(isinstance(one, VerbatimExpr | Call) for one in walk(init)):
                init = self._members(row, parts[-1], type) or init
        refers = isinstance(type, Pointer) and type.reference
        if refers and init is not None and isinstance(type, Pointer):
            converted = isinstance(init.type, Scalar) and not is_alike(init.type, type.to)
            if is_lvalue(init) and not converted and not isinstance(peel(init), VerbatimExpr):
                init = address(init)
            elif isinstance(init, VerbatimExpr):
                init = msgspec.structs.replace(init, type=type)
            elif isinstance(type.to, Scalar) and (converted or is_value(init)):
                type = type.to  # bound to a value: a variable that holds it
            elif isinstance(type.to, Scalar):
                opaque = self.expressions.make_opaque(parts[-1], "a reference to the result of an operator")
                init = msgspec.structs.replace(opaque, type=type)
            else:
                init = self.expressions.make_opaque(parts[-1], "a reference to a value")
        symbol = self.context.declare(number, type)
        name = self.context.dump.declared[number][1]
        if isinstance(init, VerbatimExpr) and isinstance(type, Record) and re.match(rf"{name}\b", init.text):
            rest = init.text[len(name) :].strip()
            init = replace(init, text=f"{type.spelling or type.tag}{rest or '()'}")
        if isinstance(init, VerbatimExpr) and table.begins_in_macro(row):
            raise CannotModelError("an object of C++ that a macro makes")
        return VarDecl(span=self._place(row, number, use), symbol=symbol, init=init)

    def _members(self, row: int, part: int, type: Record) -> MacroUse | None:
        """Return an object of numbers that is made in a known way as the list of its members: the user's text, or what
        a kernel writes."""
        made = self.expressions.cxx.object_of(part) if self.expressions.own else None
        if made is None or not self.expressions.cxx.is_written_as_list(type):
            return None
        start, end = self.table.range(part, self.text.uses)
        name = self.context.dump.declared[self.table.aux[row]][6]
        written = start > name and self.text.file.text[start:end][:1] not in ("", "{")
        place = Span(self.text.file, start, end if written else start)
        return MacroUse(span=place, intact=written, type=type, name="", expansion=unwritten(made))

    def _is_default(self, row: int, part: int) -> bool:
        """Whether an initializer is the one that an object without one has, which does nothing."""
        table = self.table
        if (
            table.kind[part] != kinds.CALL
            or table.expressions(part)
            or not self.context.types.is_plain(table.type[row])
        ):
            return False
        callee = table.aux[part]
        return callee >= 0 and self.context.dump.declared[callee][0] == kinds.CONSTRUCTOR

    def _written_extents(self, row: int, parts: list[int]) -> int:
        """Return how many of a declarator's expressions are array extents; the one after them is the initializer."""
        levels = sum(self.context.types.extents(self.table.type[row]))
        last = parts[-1] if parts else None
        if last is not None and len(parts) <= levels and self._follows_equals(row, parts[0]):
            return 0  # `auto rows = …` takes its levels from the initializer
        while last is not None and self.table.kind[last] == kinds.UNEXPOSED_EXPR and self.table.expressions(last):
            last = self.table.expressions(last)[0]
        # `int a[] = {1, 2}` is an array of 2 to clang, but nobody wrote the 2.
        if last is not None and self.table.kind[last] in (kinds.INIT_LIST, kinds.STRING):
            return min(levels, len(parts) - 1)
        return levels if len(parts) >= levels else 0

    def _follows_equals(self, row: int, part: int) -> bool:
        """Whether an `=` stands between the declared name and a part of the declaration."""
        start, name = self.table.start[part], self.context.dump.declared[self.table.aux[row]][6]
        return not self.table.begins_in_macro(row) and "=" in bare(self.text.file.text[name:start])

    def _part(self, row: int, use: MacroRange | None) -> Expr:
        """Return an extent or initializer; one that the macro `use` wrote together with the name has no own text."""
        before = self.expressions.inside
        if use is not None and self.context.use_of(row, self.text) == use:
            self.expressions.inside = use
        try:
            return self.expressions.build(row)
        finally:
            self.expressions.inside = before

    def _place(self, row: int, number: int, use: MacroRange | None) -> Span:
        """Return the text from the declared name to the end of its initializer."""
        if use is not None:
            return Span(self.text.file, use.start, use.end)
        start, end = self.table.range(row, self.text.uses)
        name, offset = self.context.dump.declared[number][1], self.context.dump.declared[number][6]
        if start <= offset < end and self.text.file.text.startswith(name, offset):
            start = offset
        return Span(self.text.file, start, end)

    def parameter(self, row: int) -> Symbol:
        """Return the symbol of a function parameter; an array is the pointer that it stands for."""
        parts = self._own_parts(row, self.table.expressions(row))
        use = self.text.uses.at(self.context.dump.declared[self.table.aux[row]][6])
        try:
            type = decay_type(self.context.cast_type(self.table.type[row], parts, lambda part: self._part(part, use)))
        except CannotModelError:
            type = decay_type(self.context.types.of(self.table.type[row]))
        start, end = self.table.range(row, self.text.uses)
        if isinstance(type, Pointer) and "[restrict" in self.text.file.text[start:end].replace(" ", ""):
            type = Pointer(type.to, restrict=True, const=type.const, spelling=type.spelling)
        return self.context.declare(self.table.aux[row], type)
