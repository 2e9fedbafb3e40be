"""Calls of C++ as what they do: members of containers, std::min and its like, small functions in place.

    v[i]              Index(v.data(), i)                      std::vector, std::array
    v.size()          the member `size()`
    std::max(a, b)    a < b ? b : a                           exactly what it returns, for NaN and -0 as well
    u(i, j)           u.data_.data()[i * u.ny_ + j]           a body that is one `return`: in place of the call
    g.step(t)         Call(heat::Grid::step, &g, t)           any other: a call that hands over `this`

Invariant: an expression stands in place of a call only where evaluating it is evaluating the call: an argument that a
parameter takes has no side effect, and nothing in the body changes it. What is not one of these is opaque code that
names it.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace as node_with

from warpsmith.base.source import Span
from warpsmith.front.c.builders import ExpressionBuilder
from warpsmith.front.c.types_of import is_std_array
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import VIRTUAL
from warpsmith.front.cxx import doing as cxx_doing
from warpsmith.front.cxx.bodies import Alone, returned_value
from warpsmith.front.cxx.captures import captures_stay
from warpsmith.front.cxx.classes.members import MadeObjects, is_known, keeps_objects, object_type
from warpsmith.front.cxx.classes.values import is_numbers, is_value
from warpsmith.front.cxx.constructions import CxxConstructions
from warpsmith.front.cxx.iterators import is_iterator_use
from warpsmith.front.cxx.library import CxxLibrary
from warpsmith.front.cxx.library_texts import LibraryTexts, is_time
from warpsmith.front.cxx.limits import find_limit
from warpsmith.front.cxx.memory import CxxMemory
from warpsmith.front.cxx.objects import (
    INCREMENTS,
    address,
    before,
    dereference,
    is_lvalue,
    is_pure,
    member_of,
)
from warpsmith.tree.containers import is_owner
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Doing,
    Expr,
    InitList,
    Literal,
    MacroUse,
    Name,
    Unary,
    VerbatimExpr,
)
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.text.openers import Opener
from warpsmith.tree.types import (
    Array,
    FunctionType,
    Pointer,
    Record,
    Scalar,
    Symbol,
    Type,
)
from warpsmith.tree.walk import peel, root_symbol, walk

__all__ = ["CxxCalls"]

_CHANGES: Final = frozenset({
    "assign", "clear", "fill", "pop_back", "push_back", "emplace_back", "reserve", "resize", "shrink_to_fit",
    "capacity", "max_size", "operator=",
})  # fmt: skip
_MOST_NESTED: Final = 8


class CxxCalls:
    """Builds the calls of one file of a C++ unit."""

    def __init__(self, expressions: ExpressionBuilder) -> None:
        self.expressions = expressions
        self.context = expressions.context
        self.table = expressions.table
        self.library = CxxLibrary(expressions)
        self.texts = LibraryTexts(expressions)
        self.memory = CxxMemory(expressions)
        self.objects = CxxConstructions(expressions)
        self.made = MadeObjects(expressions, self.library)
        self.alone: dict[int, frozenset[int]] = {}  # calls that are all of their statements: see Alone

    def call(self, row: int, span: Span) -> Expr | None:
        """Return the expression of a call whose function clang names; None where it is a call as in C."""
        callee = self.table.aux[row]
        if callee < 0:
            return None
        declared = self.context.dump.declared[callee]
        kind, name, library = declared[0], declared[1], declared[9]
        full = self.context.detail(callee)[0]
        known = self._library_value(row, span, full) if library else None
        if known is not None:
            return known
        if kind in (kinds.CONSTRUCTOR, kinds.DESTRUCTOR, kinds.CONVERSION):
            return self.objects.construct(row, full)
        given, arguments = self.parts_of(row, callee)
        if kind == kinds.CXX_METHOD or name.startswith("operator"):
            return self._method(row, span, given, arguments)
        if library and full in ("std::make_unique", "std::make_unique_for_overwrite"):
            return self.objects.make_unique(row, arguments)
        if library and full.startswith("std::"):
            return self.library.standard(row, span, name, arguments)
        return self._function(row, span, None, arguments)

    def _library_value(self, row: int, span: Span, full: str) -> Expr | None:
        """Return a number of std::numeric_limits, or a call that only writes or reads what it is given; None for any
        other."""
        type = self.context.types.of(self.table.type[row])
        limit = find_limit(full, type, span, own=self.expressions.own)
        return limit if limit is not None else self.texts.call(row, span)

    def parts_of(self, row: int, callee: int) -> tuple[int | None, list[int]]:
        """Return the row of the object that a method is called of (-1: `this`; None: there is none), and those of the
        arguments."""
        parts = self.table.expressions(row)
        for number, part in enumerate(parts):
            inner = part
            while self.table.kind[inner] in (kinds.UNEXPOSED_EXPR, kinds.PAREN) and self.table.expressions(inner):
                inner = self.table.expressions(inner)[0]
            if self.table.kind[inner] == kinds.MEMBER_REF_EXPR and self.table.aux[inner] == callee:
                base = self.table.expressions(inner)
                return (base[0] if base else -1), parts[:number] + parts[number + 1 :]
            if self.table.kind[inner] == kinds.DECL_REF and self.table.aux[inner] == callee:
                rest = parts[:number] + parts[number + 1 :]
                method = (
                    self.context.dump.declared[callee][0] == kinds.CXX_METHOD and self.context.detail(callee)[2] >= 0
                )
                return (rest[0], rest[1:]) if method and rest else (None, rest)
        return None, parts

    def _make_opaque(self, row: int, reason: str) -> VerbatimExpr:
        return self.expressions.make_opaque(row, reason)

    # --- methods and operators

    def _method(self, row: int, span: Span, given: int | None, arguments: list[int]) -> Expr | None:
        callee = self.table.aux[row]
        declared, (full, _, owner, flags) = self.context.dump.declared[callee], self.context.detail(callee)
        if given is None or owner < 0:
            return self._function(row, span, None, arguments)
        lambda_row = self.context.lambda_of(given)
        if lambda_row is not None:
            return self._lambda(row, span, lambda_row, arguments)
        if is_iterator_use(self.context, row) and (made := self._at_iterator(given, span, declared[1])) is not None:
            return made
        value = self._object(given, span)
        if value is None:
            held = self.made.value(given) if given >= 0 else None
            from_members = self._inline_call(row, span, held, arguments) if held is not None else None
            if from_members is not None:
                return from_members
            return self._of_temporary(row, span, given, arguments, f"a call of {full} of what is not a variable")
        holder = value.type
        standard = isinstance(holder, Record) and holder.tag.startswith("std::")
        if (
            declared[1] == "operator="
            and len(arguments) == 1
            and (is_time(holder) or self.context.types.is_plain(owner))
        ):
            other = self.expressions.build(arguments[0])
            return Assign(span=span, intact=self.expressions.own, type=value.type, op="=", target=value, value=other)
        if (standard or is_std_array(holder)) and declared[9]:
            made = self.library.container(span, declared[1], value, arguments)
            return (
                made if made is not None else self._change_container(row, value, f"a call of {_short(full)}", arguments)
            )
        if flags & VIRTUAL:
            return self._make_opaque(row, f"a virtual call of {full}")
        return self._function(row, span, value, arguments)

    def _at_iterator(self, given: int, span: Span, name: str) -> Expr | None:
        """Return the element at the iterator of a counted loop, which is a pointer in the tree, or that pointer."""
        pointer = self.expressions.build(given) if given >= 0 else None
        if not isinstance(pointer, Name) or not isinstance(pointer.type, Pointer):
            return None
        return pointer if name == "operator->" else dereference(pointer, span, intact=self.expressions.own)

    def _of_temporary(self, row: int, span: Span, given: int, rows: list[int], reason: str) -> VerbatimExpr:
        """Return the call of a method of an object that is made for it."""
        opaque = self._make_opaque(row, reason)
        symbol = self.context.symbol(self.table.aux[row])
        this, type = self.expressions.build(given) if given >= 0 else opaque, symbol.type
        if not isinstance(type, FunctionType) or not type.method or not is_value(self.context, this.type):
            return opaque
        if self.context.detail(self.table.aux[row])[3] & VIRTUAL:
            return opaque
        arguments = self._build_arguments(row, rows, symbol, type.parameters[1:])
        if isinstance(arguments, str):
            return opaque
        arguments.insert(0, cxx_doing.temporary(this, this.span))
        return node_with(opaque, doing=self._doing(opaque, Name(span=span, type=type, symbol=symbol), arguments))

    def _doing(self, opaque: VerbatimExpr, name: Name, arguments: list[Expr]) -> Doing | None:
        """Return what a call with temporary objects does, whose value is `opaque`."""
        type = name.type
        if not isinstance(type, FunctionType) or not isinstance(type.result, Scalar | Record):
            return None
        call = Call(span=opaque.span, type=type.result, function=name, arguments=tuple(arguments))
        return cxx_doing.call_effects(call)

    def _build_arguments(
        self, row: int, rows: list[int], symbol: Symbol, parameters: tuple[Type, ...]
    ) -> list[Expr] | str:
        """Return the arguments of a call, with the addresses of the temporary objects that references are bound to; or
        why one of them is not understood."""
        arguments: list[Expr] = []
        for number, argument in enumerate(rows):
            wanted = parameters[number] if number < len(parameters) else None
            built = self.argument(row, argument, number)
            if built is None:
                return f"a default argument of {symbol.name}"
            if isinstance(wanted, Pointer) and wanted.reference:
                refers = is_lvalue(built) and self._is_place(argument, built, wanted)
                if not refers and not is_value(self.context, built.type):
                    return f"a call of {symbol.name} with a value for a reference"
                built = address(built) if refers else cxx_doing.temporary(built, built.span)
            arguments.append(built)
        return arguments

    def _is_place(self, argument: int, built: Expr, wanted: Pointer) -> bool:
        """Whether a reference is bound to what an argument names, not to what a function that stands in place of its
        call gives back, or to the number that it is converted to."""
        row = self.table.inner(argument)
        callee = self.table.aux[row] if self.table.kind[row] == kinds.CALL else -1
        signature = self.context.symbol(callee).type if callee >= 0 else None
        if isinstance(signature, FunctionType) and not isinstance(signature.result, Pointer):
            return False
        have, to = built.type, wanted.to
        if not isinstance(have, Scalar) or not isinstance(to, Scalar):
            return True
        return (have.bits, have.kind) == (to.bits, to.kind)

    def _change_container(self, row: int, value: Expr, reason: str, rows: list[int]) -> VerbatimExpr:
        """Return the call of a container's method that is not modelled: it changes the container and what it holds."""
        opaque = self._make_opaque(row, reason)
        root = root_symbol(value)
        name = self.context.dump.declared[self.table.aux[row]][1]
        known = name in _CHANGES and self.objects.is_container(value.type) and self.objects.by_value(rows)
        if root is None or not known:
            return opaque
        return node_with(opaque, writes=(root,), calls=False, kept=())

    def _object(self, given: int, span: Span) -> Expr | None:
        """Return the object that a method is called of."""
        if given == -1:
            this = self.expressions.this
            return None if this is None else dereference(self.expressions.this_at(span), before(span), intact=False)
        value = self.expressions.build(given)
        if isinstance(value.type, Pointer):
            return dereference(value, before(value.span), intact=False)
        return value if is_lvalue(value) else None

    def open_member(self, value: Expr, field: str, span: Span) -> Expr | None:
        """Return a private member outside of its class, where its class and its type can be named there."""
        made, holder = member_of(value, field, span, intact=False), value.type
        if made is None or not isinstance(holder, Record):
            return None
        found = next(part for part in holder.fields if part.name == field)
        element: Type = found.type
        while isinstance(element, Array | Pointer):
            element = element.of if isinstance(element, Array) else element.to
        lone = isinstance(element, Scalar) or (isinstance(element, Record) and self._is_named_container(element))
        if not lone or "(" in holder.tag or (isinstance(found.type, Pointer) and found.type.reference):
            return None
        declared = print_type(found.type, f"({holder.tag}::*type)")
        return node_with(made, opener=Opener(holder.tag, declared, field, holder.definition))

    def _is_named_container(self, type: Record) -> bool:
        """Whether a type is a std::vector whose elements have a name everywhere: numbers, containers, structs."""
        data = type.fields[0].type if type.tag.startswith("std::vector<") and type.fields else None
        element = data.to if isinstance(data, Pointer) else None
        named = isinstance(element, Record) and not element.union and "(" not in type.tag
        return self.objects.is_container(type) or named or is_owner(type)

    # --- the program's own functions

    def _function(self, row: int, span: Span, value: Expr | None, rows: list[int]) -> Expr | None:
        """Return a call of a function or method of the user's; `value` is the object."""
        from_text = self._inline_call(row, span, value, rows)
        if from_text is not None:
            return from_text
        symbol = self.context.symbol(self.table.aux[row])
        type = symbol.type
        if not isinstance(type, FunctionType):
            return self._make_opaque(row, f"a call of {symbol.name}")
        parameters = type.parameters[1:] if type.method else type.parameters
        if type.method and value is None:
            return self._make_opaque(row, f"a call of {symbol.name}")
        given = self._build_arguments(row, rows, symbol, parameters)
        if isinstance(given, str):
            return self._make_opaque(row, given)
        arguments: list[Expr] = [*([address(value)] if value is not None and type.method else []), *given]
        if any(isinstance(a, VerbatimExpr) and a.reason == "a temporary object" for a in given):
            return self._with_temporaries(row, value, Name(span=span, type=type, symbol=symbol), arguments)
        name = Name(span=span, type=type, symbol=symbol)
        result = type.result if isinstance(type.result, Pointer) and type.result.reference else None
        own = self.expressions.own
        plain = (
            result is None
            and value is None
            and all(self.table.is_written(part, self.expressions.text.uses) for part in rows)
        )
        call = Call(
            span=span,
            intact=own and plain,
            type=type.result,
            function=self._function_name(row, name),
            arguments=tuple(arguments),
        )
        if result is not None:
            bound = dereference(call, span, intact=False)
            return MacroUse(span=span, intact=own, type=result.to, name="", expansion=bound)
        return call if plain else MacroUse(span=span, intact=own, type=type.result, name="", expansion=call)

    def _with_temporaries(self, row: int, value: Expr | None, name: Name, arguments: list[Expr]) -> VerbatimExpr:
        """Return a call of a function to which objects are handed that are made for it."""
        opaque = self._make_opaque(row, f"a call of {name.symbol.name} with a value for a reference")
        if name.symbol.name.endswith("::operator=") and value is not None and is_value(self.context, value.type):
            return node_with(opaque, doing=cxx_doing.assign_effects(value, arguments[-1]))
        return node_with(opaque, doing=self._doing(opaque, name, arguments))

    def _function_name(self, row: int, name: Name) -> Expr:
        """Return the function's name with its own place, where the text has it, or a macro that is this name."""
        for part in self.table.expressions(row)[:1]:
            built = self.expressions.build(part)
            meant = built.expansion if isinstance(built, MacroUse) else built
            if isinstance(meant, Name) and meant.symbol == name.symbol:
                return built
        return name

    def argument(self, row: int, argument: int, number: int) -> Expr | None:
        """Return an argument; one that the caller left out is the parameter's default."""
        if self.table.is_written(argument, self.expressions.text.uses):
            return self.expressions.build(argument)
        found = self.context.bodies.get(self.table.aux[row])
        if found is None:
            return None
        parameters = [c for c in self.table.children(found[0]) if self.table.kind[c] == kinds.PARM_DECL]
        default = self.table.expressions(parameters[number]) if number < len(parameters) else []
        if len(default) != 1:
            return None
        there = self.expressions.elsewhere(self.expressions.site_of(row), found[1], {}, None, self.table.aux[row])
        return there.try_expression(default[0])

    # --- bodies in place of calls

    def _inline_call(self, row: int, span: Span, value: Expr | None, rows: list[int]) -> Expr | None:
        callee = self.table.aux[row]
        found = self.context.bodies.get(callee)
        if found is None or callee in self.expressions.open or len(self.expressions.open) >= _MOST_NESTED:
            return None
        if value is None and not self._is_worth(callee, found[0]):
            return None
        parameters = [c for c in self.table.children(found[0]) if self.table.kind[c] == kinds.PARM_DECL]
        this = None if value is None else address(value)
        body = self.table.body(found[0])
        if body is None or (this is not None and not is_known(this)):
            return None
        result = self.context.types.of(self.context.dump.declared[callee][2])
        returned = result.result if isinstance(result, FunctionType) else None
        return self._in_place(row, span, (found[1], body, parameters, this, returned), rows)

    def _is_worth(self, callee: int, row: int) -> bool:
        """Whether a function that is no method is better in place: C's own stay calls of device functions."""
        type = self.context.symbol(callee).type
        plain = self._plain_signature(type)
        return not plain or bool(self.context.detail(callee)[3] & 2)

    def _plain_signature(self, type: Type) -> bool:
        parts = (type.result, *type.parameters) if isinstance(type, FunctionType) else (type,)
        return not any(isinstance(t, Pointer) and t.reference for t in parts)

    def _lambda(self, row: int, span: Span, lambda_row: int, rows: list[int]) -> Expr:
        parameters = [c for c in self.table.children(lambda_row) if self.table.kind[c] == kinds.PARM_DECL]
        body = self.table.body(lambda_row)
        again = self.table.aux[row] in self.expressions.open
        kept = self.context.captures_keep(lambda_row) or captures_stay(
            self.context, lambda_row, self.expressions.escaped
        )
        if body is not None and kept and not again:
            signature = self.context.symbol(self.table.aux[row]).type
            result = signature.result if isinstance(signature, FunctionType) else None
            made = self._in_place(row, span, (0, body, parameters, self.expressions.this, result), rows)
            if made is not None:
                return made
        return self.expressions.make_opaque_lambda(row, lambda_row)

    def _in_place(
        self, row: int, span: Span, body: tuple[int, int, list[int], Expr | None, Type | None], rows: list[int]
    ) -> Expr | None:
        """Return the value of a body, over the arguments; None where it is more than a value."""
        number, block, parameters, this, result = body
        statements = self.table.parts(block)
        bound = self._bind_parameters(row, span, parameters, rows) if len(parameters) == len(rows) else None
        if bound is None or not statements:
            return None
        only = self._only(statements[0]) if len(statements) == 1 else None
        site = self.expressions.site_of(row)
        there = self.expressions.elsewhere(site, number, bound, this, self.table.aux[row])
        if only is not None:
            made = there.try_expression(only)
            kept = made is not None and self._is_same(made, list(bound.values()))
        else:
            made = returned_value(self.library, there, statements, result, self._alone(row, parameters))
            kept = True
        if made is None or not kept:
            return None
        if isinstance(result, Record) or not keeps_objects(made, this, bound, result):
            return None
        if isinstance(result, Scalar) and result.kind != "void":
            made = self.library.convert(made, result, site)
        return MacroUse(span=span, intact=self.expressions.own, type=made.type, name="", expansion=made)

    def _alone(self, row: int, parameters: list[int]) -> Alone | None:
        """Return what may be changed by a call, where it is all that its statement evaluates; None where it is not."""
        target = self.alone.get(row) if self.expressions.own else None
        if target is None:
            return None
        types = ((self.table.aux[p], self.context.symbol(self.table.aux[p]).type) for p in parameters)
        return Alone(target, frozenset(number for number, t in types if isinstance(t, Pointer) and t.reference))

    def stands_alone(self, row: int) -> None:
        """Note that a call is all that a statement evaluates, or all that it assigns to something."""
        table, target = self.table, frozenset[int]()
        row = self.table.inner(row)
        if table.kind[row] in (kinds.BINARY, kinds.COMPOUND_ASSIGN):
            parts = table.expressions(row)
            if len(parts) != 2 or not kinds.FIRST_ASSIGNMENT <= table.aux[row] <= kinds.LAST_ASSIGNMENT:
                return
            below = range(parts[0], table.after[parts[0]])
            if any(table.kind[r] not in (kinds.DECL_REF, kinds.UNEXPOSED_EXPR, kinds.PAREN) for r in below):
                return  # finding the place may read what the call changes
            target = frozenset(table.aux[r] for r in below if table.kind[r] == kinds.DECL_REF)
            row = self.table.inner(parts[1])
        if table.kind[row] == kinds.CALL:
            self.alone[row] = target

    def _only(self, row: int) -> int | None:
        """Return the expression that a statement returns or evaluates."""
        if self.table.kind[row] == kinds.RETURN:
            inner = self.table.expressions(row)
            return inner[0] if len(inner) == 1 else None
        return row if kinds.UNEXPOSED_EXPR <= self.table.kind[row] <= kinds.LAST_EXPR else None

    def _bind_parameters(self, row: int, span: Span, parameters: list[int], rows: list[int]) -> dict[int, Expr] | None:
        """Return what the parameters of a body are: the arguments, as long as they have no side effects."""
        bound: dict[int, Expr] = {}
        for parameter, argument in zip(parameters, rows, strict=True):
            type = self.context.symbol(self.table.aux[parameter]).type
            if (held := self._bind_object(argument, type)) is not None:
                bound[self.table.aux[parameter]] = held
                continue
            made = self.argument(row, argument, len(bound))
            if made is None or not is_pure(made) or not isinstance(type, Scalar | Pointer):
                return None  # what is handed over as a copy may be changed without a trace
            wanted = type.to if isinstance(type, Pointer) and type.reference else type
            bound[self.table.aux[parameter]] = self.library.convert(made, wanted, span)
        return bound

    def _bind_object(self, argument: int, type: Type) -> InitList | None:
        """Return the members of an object that is made for a parameter; None for one that stands in memory."""
        wanted = object_type(type)
        changed = isinstance(type, Pointer) and not (wanted is not None and wanted.const)
        if wanted is None or changed or not is_numbers(self.context, wanted):
            return None
        built = self.expressions.try_expression(argument)
        stands = built is not None and is_lvalue(built) and isinstance(type, Pointer)
        return None if stands else self.made.value(argument)

    def object_of(self, row: int) -> InitList | None:
        """Return the object that an expression makes, as its members; None where they are not all known."""
        return self.made.value(row)

    def is_written_as_list(self, type: Record) -> bool:
        """Whether `{a, b}` makes the object whose members are a and b."""
        return self.made.is_written_as_list(type)

    def _is_same(self, made: Expr, arguments: list[Expr]) -> bool:
        """Whether nothing that the body does changes what an argument stands for before it is read."""
        changes = [p for p in walk(made) if isinstance(p, Assign) or (isinstance(p, Unary) and p.op in INCREMENTS)]
        if any(isinstance(part, VerbatimExpr) for part in walk(made)):
            return False
        # one change of all is made when every argument has been read
        if not changes or (len(changes) == 1 and peel(made) is changes[0]):
            return True
        read = [part for argument in arguments for part in walk(argument)]
        simple = all(isinstance(part, Name | Literal | Unary | Binary | Cast | MacroUse) for part in read)
        simple = simple and not any(isinstance(part, Unary) and part.op in ("*", "&") for part in read)
        symbols = {part.symbol for part in read if isinstance(part, Name)}
        targets = [
            peel(p.target if isinstance(p, Assign) else p.operand) for p in changes if isinstance(p, Assign | Unary)
        ]
        touched = any(isinstance(t, Name) and t.symbol in symbols for t in targets)
        kept = all(s.storage in ("local", "parameter") and s.key not in self.expressions.escaped for s in symbols)
        return simple and not touched and kept and not any(isinstance(t, Literal | Cast | Binary) for t in targets)


def _short(full: str) -> str:
    """Return a qualified name without template arguments."""
    depth, kept = 0, ""
    for letter in full:
        depth -= letter == ">"
        kept += letter if depth == 0 and letter not in "<>" else ""
        depth += letter == "<"
    return kept
