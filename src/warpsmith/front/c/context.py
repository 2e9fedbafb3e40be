"""The state of building one unit's tree: the tables, the files, the types, the symbols made so far."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import SourceFile, Span
from warpsmith.front.c.device_marks import place_of
from warpsmith.front.c.scan import ScannedText
from warpsmith.front.c.types_of import Types, decay_type, fill_extents
from warpsmith.front.clang import kinds
from warpsmith.front.clang.node_table import MacroRange, MacroUses, NodeTable
from warpsmith.front.clang.wire import CONST, PATTERN, Detail, Dump
from warpsmith.tree.containers import CHECKS
from warpsmith.tree.effects.effects import EffectsTable
from warpsmith.tree.free_store import FREES, MAKES, is_replacement
from warpsmith.tree.library_texts import ASSERTION, TEXTS
from warpsmith.tree.nodes import Expr, Function
from warpsmith.tree.types import FunctionType, Pointer, Record, Storage, Symbol, Type

__all__ = ["ALGORITHMS", "Context", "FileText", "find_asserted", "only_tests"]

ALGORITHMS: Final = frozenset(f"std::{name}" for name in (
    "accumulate", "all_of", "any_of", "copy_if", "count_if", "find_if", "for_each", "for_each_n", "generate",
    "inner_product", "max_element", "min_element", "none_of", "reduce", "replace_if", "sort", "stable_sort",
    "transform", "transform_reduce",
))  # fmt: skip
"""Functions of the library that call what they are given, and keep nothing of it."""


class FileText(Struct, frozen=True):
    """One of the user's files: its text, its marks, its macro uses, and what its conditionals leave out."""

    file: SourceFile
    scan: ScannedText
    uses: MacroUses
    skipped: tuple[tuple[int, int], ...] = ()

    def is_skipped(self, offset: int) -> bool:
        """Whether the build at hand leaves out what stands at `offset`, for another reason than that OpenMP is off:
        pragmas that stand free are read then as well."""
        text = self.file.text
        around = (text[start:end].split("\n", 1)[0] for start, end in self.skipped if start <= offset < end)
        return any("_OPENMP" not in first for first in around)

    def skipped_code(self, start: int, end: int) -> str:
        """Return the code in [start, end) that the build at hand leaves out, without preprocessor lines."""
        lines = self.scan.lines(start, end)
        ends = [*(line.start for line in lines[1:]), end]
        pieces = ((line.end, stop) for line, stop in zip(lines, ends, strict=True))
        left_out = (piece for piece in pieces if any(s <= piece[0] < e for s, e in self.skipped))
        return " ".join(self.file.text[begin:stop] for begin, stop in left_out)


class Context:
    """The mutable state of building one unit; it does not outlive `build_unit`."""

    def __init__(self, dump: Dump, read: Callable[[str], SourceFile]) -> None:
        self.dump = dump
        self.table = NodeTable(dump)
        self.types = Types(dump, self.span)
        self._read = read
        self._texts: dict[int, FileText] = {}
        self._symbols: dict[int, Symbol] = {}
        self._keys: dict[str, int] = {}
        self.too_deep: list[Span] = []
        self.cxx = bool(dump.details)
        self.bodies = self._bodies() if self.cxx else {}
        self.in_place: set[tuple[int, int]] = set()
        self.functions: dict[int, Function] = {}
        self.own: frozenset[int] = frozenset({0})  # the files whose text is this unit's alone
        self.numbers: dict[tuple[str, int | None], bool] = {}  # classes, and whether their objects are numbers only

    def _bodies(self) -> dict[int, tuple[int, int]]:
        """Return the node and the file of every function definition, by its declaration row."""
        table, found = self.table, dict[int, tuple[int, int]]()
        for tops in (self.dump.tops, self.dump.instances):
            for top, file in tops:
                for row in range(top, table.after[top]):
                    if table.kind[row] not in kinds.FUNCTIONS or table.body(row) is None:
                        continue
                    if not self.detail(table.aux[row])[3] & PATTERN:
                        found[table.aux[row]] = (row, file)
        return found

    def lambda_of(self, row: int) -> int | None:
        """Return the lambda that an expression is, or that the variable it names was made as."""
        table = self.table
        while table.kind[row] in (kinds.UNEXPOSED_EXPR, kinds.PAREN) and table.expressions(row):
            row = table.expressions(row)[0]
        if table.kind[row] == kinds.LAMBDA:
            return row
        return self._lambdas.get(table.aux[row]) if table.kind[row] == kinds.DECL_REF else None

    @functools.cached_property
    def tops(self) -> tuple[tuple[int, int], ...]:
        """The top-level declarations with their files, without the prototypes of headers, in which there is nothing:
        a project has more of them than of all else, and each of its files has them all."""
        table = self.table
        return tuple(
            (row, number)
            for row, number in self.dump.tops
            if not number or table.kind[row] not in kinds.FUNCTIONS or table.after[row] > row + 1
        )

    @functools.cached_property
    def field_rows(self) -> list[int]:
        """The rows of the members of classes."""
        return [row for row, kind in enumerate(self.table.kind) if kind == kinds.FIELD_DECL]

    @functools.cached_property
    def _lambdas(self) -> dict[int, int]:
        """Return the lambdas that variables are made as, by the variables' declaration rows."""
        table, found = self.table, dict[int, int]()
        for row, kind in enumerate(table.kind):
            if kind == kinds.VAR_DECL and table.aux[row] >= 0:
                made = table.expressions(row)
                while len(made) == 1 and table.kind[made[0]] in (kinds.UNEXPOSED_EXPR, kinds.CALL):
                    made = table.expressions(made[0])
                if len(made) == 1 and table.kind[made[0]] == kinds.LAMBDA and self._stays_as_made(row):
                    found[table.aux[row]] = made[0]
        return found

    def _stays_as_made(self, row: int) -> bool:
        """Whether a variable is always the lambda that it is made as: a std::function may be given another one."""
        type = self.types.of(self.table.type[row])
        closure = isinstance(type, Record) and (type.spelling == "auto" or "(lambda at " in type.tag)
        return closure or self.table.aux[row] not in self._named_elsewhere

    @functools.cached_property
    def _named_elsewhere(self) -> frozenset[int]:
        """The variables that something else than a call of them names."""
        table = self.table
        called: set[int] = set()
        for row, kind in enumerate(table.kind):
            if kind == kinds.CALL and table.aux[row] >= 0 and self.dump.declared[table.aux[row]][1] == "operator()":
                named = table.expressions(row)[0]
                while table.kind[named] == kinds.UNEXPOSED_EXPR and table.expressions(named):
                    named = table.expressions(named)[0]
                called.add(named)
        return frozenset(
            table.aux[row] for row, kind in enumerate(table.kind) if kind == kinds.DECL_REF and row not in called
        )

    @property
    def named_lambdas(self) -> frozenset[int]:
        """The lambdas that variables are made as."""
        return frozenset(self._lambdas.values())

    @functools.cached_property
    def only_called(self) -> frozenset[int]:
        """The lambdas that are only called, in place or by algorithms of the library: no other code gets to know what
        they refer to."""
        others = self._named_elsewhere
        lent = {inner for row, around in self._calls() for inner in self._lent(row, around)}
        return frozenset({made for variable, made in self._lambdas.items() if variable not in others} | lent)

    def _calls(self) -> Iterator[tuple[int, int]]:
        """Yield the calls with the kinds of what stands around them, conversions left out."""
        table, path = self.table, list[int]()
        for row, depth in enumerate(table.depth):
            del path[depth:]
            if table.kind[row] == kinds.CALL:
                around = (table.kind[one] for one in reversed(path) if table.kind[one] != kinds.UNEXPOSED_EXPR)
                yield row, next(around, -1)
            path.append(row)

    def _lent(self, row: int, around: int) -> Iterator[int]:
        """Yield the lambdas in a call of an algorithm of the library, which keeps none: the call names what they do.
        std::for_each gives back what it is given: its value must not be used."""
        table, callee = self.table, self.table.aux[row]
        if callee < 0 or not self.is_library(callee):
            return
        full = self.detail(callee)[0]
        if full not in ALGORITHMS or (full.startswith("std::for_each") and around != kinds.COMPOUND):
            return
        for part in table.expressions(row)[1:]:
            inner = part
            while table.kind[inner] in (kinds.UNEXPOSED_EXPR, kinds.CALL) and len(table.expressions(inner)) == 1:
                (inner,) = table.expressions(inner)
            if table.kind[inner] == kinds.LAMBDA:
                yield inner

    def captures_keep(self, row: int) -> bool:
        """Whether what a lambda's body names is the variable itself: it holds references, no copies."""
        text = self.text(0).file.text  # the lambdas of headers are not looked at
        start = self.table.start[row]
        closing = text.find("]", start)
        words = (
            [word.strip() for word in text[start + 1 : closing].split(",")] if text[start : start + 1] == "[" else ["="]
        )
        return all(not word or word == "this" or (word.startswith("&") and "=" not in word) for word in words)

    def detail(self, row: int) -> Detail:
        """Return the C++ names of a declaration row."""
        name = self.dump.declared[row][1]
        return self.dump.details.get(row, (name, "", -1, 0))

    def text(self, number: int) -> FileText:
        """Return a user's file by its number."""
        known = self._texts.get(number)
        if known is None:
            file = self._read(self.dump.files[number])
            uses = MacroUses((name, start, end) for name, f, start, end in self.dump.macro_uses if f == number)
            scan = ScannedText.of(file)
            known = FileText(file, scan, uses, self._find_skipped(number, scan))
            self._texts[number] = known
        return known

    def _find_skipped(self, number: int, scan: ScannedText) -> tuple[tuple[int, int], ...]:
        """Return what the conditionals of a file leave out. Of a header which is included again that is all of it, and
        says nothing."""
        first = scan.starts[0] if scan.starts and number else -1
        found = ((start, end) for file, start, end in self.dump.skipped if file == number and start != first)
        return tuple(found)

    def find_left_out(self) -> Iterator[Span]:
        """Yield what conditionals leave out of the files that were read."""
        for text in self._texts.values():
            yield from (Span(text.file, start, end) for start, end in text.skipped)

    def span(self, number: int, start: int, end: int) -> Span | None:
        """Return a span in a user's file; None for other files."""
        if number < 0 or not self.dump.user[number]:
            return None
        return Span(self.text(number).file, start, end)

    def is_library(self, row: int) -> bool:
        """Whether what is declared in `row` comes from a system header (or is built in)."""
        return self.dump.declared[row][9]

    def function_names(self) -> Iterator[str]:
        """Yield the names of the functions that the unit names."""
        return (declared[1] for declared in self.dump.declared if declared[0] in kinds.FUNCTIONS)

    def library_keys(self, effects: EffectsTable, named: frozenset[str] | None = None) -> Iterator[str]:
        """Yield the keys of the functions that write nothing but what they are given: those of C in the table, and what
        system headers declare for C++. `named`: the functions that the program names (None: the unit's)."""
        used = frozenset(self.function_names()) if named is None else named
        yield from self._unwritable(effects, used)
        for declared in self.dump.declared:
            name, key = declared[1], declared[7] or declared[1]
            if declared[0] in kinds.FUNCTIONS and declared[9]:
                known = effects.of(name)
                tame = known is not None and not (known.program or known.exposed_writes or known.program_with & used)
                if name != key or tame:
                    yield key

    def _unwritable(self, effects: EffectsTable, used: frozenset[str]) -> Iterator[str]:
        """Yield the names of what stands for an assertion or for a construct of C++ in calls, and runs none of the
        program's functions."""
        if ASSERTION not in used:
            yield ASSERTION
        for name in sorted(CHECKS | MAKES | FREES | TEXTS) if self.cxx else ():
            known = effects.of(name)
            if known is not None and not known.program_with & used and not any(map(is_replacement, used)):
                yield name

    def defines(self, name: str) -> bool:
        """Whether the unit has the definition of an external function called `name`."""
        table, declared = self.table, self.dump.declared
        return any(
            kind == kinds.FUNCTION_DECL
            and declared[table.aux[row]][1] == name
            and any(table.kind[child] == kinds.COMPOUND for child in table.children(row))
            for row, kind in enumerate(table.kind)
        )

    @functools.cached_property
    def asserts(self) -> bool:
        """Whether the C library's `assert` is what its header says."""
        return not self.defines("__assert_fail")

    def key(self, row: int) -> str:
        """Return the key of the symbol of a declaration row."""
        _, name, _, _, _, file, offset, key, *_ = self.dump.declared[row]
        path = self.text(file).file.path if file >= 0 and self.dump.user[file] else self._system(file)
        return key or self._unique(f"{path}:{offset}:{name}", row)

    def symbol(self, row: int) -> Symbol:
        """Return the symbol of a declaration row, made on first use."""
        known = self._symbols.get(row)
        if known is None:
            kind, _, type, *_ = self.dump.declared[row]
            found = self.types.of(type) if type >= 0 else self.types.of(0)
            known = self.declare(row, decay_type(found) if kind == kinds.PARM_DECL else found)
        return known

    def declare(self, row: int, type: Type) -> Symbol:
        """Make the symbol of a declaration row with `type`; a symbol once made is kept."""
        known = self._symbols.get(row)
        if known is not None:
            return known
        kind, name, _, linkage, storage, file, offset, _, value, *_ = self.dump.declared[row]
        stored = _storage(kind, linkage, storage)
        span = self.span(file, offset, offset + len(name))
        label = ""
        if row in self.dump.details and stored not in ("local", "parameter", "static local"):
            name, label, owner, flags = self.dump.details[row]
            label = label if label != name and stored == "function" else ""
            if owner >= 0 and isinstance(type, FunctionType):
                holder = self.types.of(owner)
                if isinstance(holder, Record) and flags & CONST:
                    holder = replace(holder, const=True)
                this = Pointer(holder, const=True)
                type = replace(type, parameters=(this, *type.parameters), method=True)
        symbol = Symbol(name, self.key(row), type, stored, span, value, label)
        if self.dump.marks is not None:
            space, alignment = place_of(self.dump.marks.get(row))
            symbol = replace(symbol, space=space, alignment=alignment)
        self._symbols[row] = symbol
        return symbol

    def declare_local(self, row: int) -> Symbol:
        """Make the symbol of a parameter of a lambda that stands in place: a variable of the function around it."""
        self._symbols[row] = replace(self.symbol(row), storage="local")
        return self._symbols[row]

    def _system(self, file: int) -> str:
        return self.dump.files[file] if file >= 0 else ""

    def _unique(self, key: str, row: int) -> str:
        """Return `key`, marked where one macro use declares the same name twice."""
        candidate, number = key, 1
        while self._keys.setdefault(candidate, row) != row:
            number += 1
            candidate = f"{key}#{number}"
        return candidate

    def cast_type(self, type: int, extents: list[int], build: Callable[[int], Expr]) -> Type:
        """Return a type row with the extents that stand beside it as rows, innermost first; `build` makes them."""
        levels = self.types.extents(type)
        if levels and len(extents) == sum(levels) - 1:
            levels[0] = False  # completed by its initializer
        if not extents or len(extents) != sum(levels):
            return self.types.of(type)
        outermost_first = iter([build(row) for row in reversed(extents)])
        return fill_extents(self.types.of(type), [next(outermost_first) if written else None for written in levels])

    def variables(self, row: int) -> Iterator[Symbol]:
        """Yield every variable that the subtree of a node names, each once; not what a lambda in it declares."""
        table, declared = self.table, self.dump.declared
        seen = self._of_lambdas(row) if self.cxx else set[int]()
        for node in range(row, table.after[row]):
            if table.kind[node] in (kinds.DECL_REF, kinds.VAR_DECL):
                number = table.aux[node]
                if number not in seen and declared[number][0] in (kinds.VAR_DECL, kinds.PARM_DECL):
                    seen.add(number)
                    yield self.symbol(number)

    def _of_lambdas(self, row: int) -> set[int]:
        """Return the declaration rows of the parameters and variables of the lambdas in a subtree."""
        table, found = self.table, set[int]()
        for node in range(row, table.after[row]):
            if table.kind[node] == kinds.LAMBDA:
                inner = range(node, table.after[node])
                found.update(table.aux[n] for n in inner if table.kind[n] in (kinds.VAR_DECL, kinds.PARM_DECL))
        return found

    def may_call(self, row: int) -> bool:
        """Whether the subtree of a node has a call or assembly in it."""
        table = self.table
        return any(table.kind[node] in (kinds.CALL, kinds.ASM) for node in range(row, table.after[row]))

    def use_of(self, row: int, text: FileText) -> MacroRange | None:
        """Return the macro use that a node begins in."""
        return text.uses.at(self.table.start[row]) if self.table.begins_in_macro(row) else None


def _storage(kind: int, linkage: int, storage: int) -> Storage:
    if kind == kinds.PARM_DECL:
        return "parameter"
    if kind in kinds.FUNCTIONS or kind == kinds.FUNCTION_TEMPLATE:
        return "function"
    if kind == kinds.ENUM_CONSTANT:
        return "enumerator"
    if linkage == kinds.LINKAGE_INTERNAL:
        return "static"
    if linkage > kinds.LINKAGE_INTERNAL:
        return "global"
    return "static local" if storage == kinds.STORAGE_STATIC else "local"


# --- macros that only test: `assert` of glibc is ({ if (x[i] > 0) ; else __assert_fail("x[i] > 0", …); }) in C

_ENDING: Final = frozenset({"__assert_fail", "__assert_rtn", "__assert", "abort"})
_CHANGING: Final = frozenset({kinds.COMPOUND_ASSIGN, kinds.ASM, kinds.LAMBDA, kinds.VAR_DECL})
_PLACES: Final = ("", "x++", "x--", "++x", "--x", "&")


def only_tests(context: Context, row: int) -> bool:
    """Whether the subtree of a node only reads, and ends the program where a test fails: all that it calls ends the
    program, and nothing is written, declared or taken the address of."""
    table = context.table
    rows = range(row, table.after[row])
    calls = [node for node in rows if table.kind[node] == kinds.CALL]
    return bool(calls) and all(_ends(context, node) for node in calls) and not any(_changes(context, n) for n in rows)


def find_asserted(context: Context, row: int) -> int | None:
    """Return the row of the condition where all that a row of the C library's `assert` does is to test it, and to end
    the program where it fails: `({ if (x) ; else __assert_fail(…); })` of C, `x ? void(0) : __assert_fail(…)` of C++.
    """
    table, parts = context.table, context.table.children(row)
    if table.kind[row] == kinds.STATEMENT_EXPR:
        while len(parts) == 1 and table.kind[parts[0]] == kinds.COMPOUND:
            parts = table.children(parts[0])
        if len(parts) != 1 or table.kind[parts[0]] != kinds.IF:
            return None
        parts = table.children(parts[0])
    elif table.kind[row] != kinds.CONDITIONAL:
        return None
    if len(parts) != 3 or not _does_nothing(context, parts[1]) or not _fails(context, parts[2]):
        return None
    return parts[0]


def _does_nothing(context: Context, row: int) -> bool:
    """Whether a row is `;`, or a number that is cast to void."""
    kind = context.table.kind
    casts = (kinds.CAST, kinds.STATIC_CAST, kinds.FUNCTIONAL_CAST, kinds.PAREN, kinds.UNEXPOSED_EXPR, kinds.INTEGER)
    return kind[row] == kinds.NULL_STMT or all(kind[node] in casts for node in range(row, context.table.after[row]))


def _fails(context: Context, row: int) -> bool:
    """Whether a row is a call of what a failed assertion calls, which the program does not define."""
    table, parts = context.table, context.table.children(row)
    while table.kind[row] in (kinds.PAREN, kinds.UNEXPOSED_EXPR) and len(parts) == 1:
        row, parts = parts[0], table.children(parts[0])
    if table.kind[row] != kinds.CALL or not context.asserts:
        return False
    called = next((n for n in range(row, table.after[row]) if table.kind[n] == kinds.DECL_REF), None)
    return called is not None and context.symbol(table.aux[called]).name == "__assert_fail"


def _ends(context: Context, call: int) -> bool:
    table = context.table
    called = next((n for n in range(call, table.after[call]) if table.kind[n] == kinds.DECL_REF), None)
    return called is not None and context.symbol(table.aux[called]).name in _ENDING


def _changes(context: Context, node: int) -> bool:
    kind, number = context.table.kind[node], context.table.aux[node]
    if kind == kinds.BINARY:
        return (
            not 0 <= number < len(kinds.BINARY_OPERATORS) or kinds.FIRST_ASSIGNMENT <= number <= kinds.LAST_ASSIGNMENT
        )
    if kind == kinds.UNARY:
        return not 0 <= number < len(kinds.UNARY_OPERATORS) or kinds.UNARY_OPERATORS[number] in _PLACES
    return kind in _CHANGING
