"""A translation unit of the tree from one dump: items, functions, type texts, region pragmas, headers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from warpsmith.base.source import Span
from warpsmith.front.c.context import Context, FileText
from warpsmith.front.c.counted.writes import Knowledge
from warpsmith.front.c.declarations import Declarations
from warpsmith.front.c.expressions import CannotModelError, Expressions
from warpsmith.front.c.jumps.words import count_jumps
from warpsmith.front.c.statements import Statements
from warpsmith.front.c.type_texts import type_texts
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import PATTERN
from warpsmith.front.cxx.functions import find_unique, more_functions, own_object
from warpsmith.tree.nodes import Block, Case, Function, GlobalDecl, Name, Other, Pragma, Stmt, Top
from warpsmith.tree.printing.nested import contains_nested, without_text
from warpsmith.tree.program import Language, Unit
from warpsmith.tree.types import FunctionType
from warpsmith.tree.walk import walk

__all__ = ["build_unit"]

_CONTAINERS = frozenset({kinds.LINKAGE_SPEC, kinds.NAMESPACE})


def build_unit(
    context: Context,
    language: Language,
    arguments: tuple[str, ...],
    knowledge: Knowledge,
    again: Callable[[Function], bool] = lambda _: True,
) -> Unit:
    """Return the unit of a dump; what it cannot model is opaque, never an error. Of the functions that were built
    before, with other knowledge, only those are built that are wanted `again`."""
    for row in [row for row, function in context.functions.items() if again(function)]:
        del context.functions[row]
    tops = list(_tops(context))
    globals_by_name = _globals(context)
    items: list[Top] = []
    functions: list[Function] = []
    position = 0
    while position < len(tops):
        row, number = tops[position]
        text = context.text(number)
        if context.table.kind[row] == kinds.VAR_DECL:
            count = _group(context, tops, position)
            made: Top | None = _variables(context, text, [r for r, _ in tops[position : position + count]])
            position += count
        else:
            made = _defined(context, text, row, knowledge, globals_by_name)
            position += 1
        if isinstance(made, Function):
            functions.append(made)
        if number in context.own:
            items.append(made if made is not None else _other(context, text, row))
    if context.cxx:
        functions = more_functions(
            context, functions, lambda row, text: _function(context, text, row, knowledge, globals_by_name)
        )
        items = [*_outermost([i for i in items if not isinstance(i, Function)]), *find_unique(context, functions)]
    else:
        items = _outermost(items)
    items += _file_lines(context, items)
    file = context.text(0).file
    ordered = sorted(items, key=lambda i: (i.span.file is file, i.span.file.path, i.span.start, i.span.end))
    headers = tuple(
        path for path, user in zip(context.dump.files[1:], context.dump.user[1:], strict=True) if user and path
    )
    sources = tuple(context.text(number).file for number in sorted(context.own - {0}))
    return Unit(
        file, language, tuple(ordered), tuple(functions), type_texts(context), arguments,
        _regions(context, functions), headers, tuple(context.find_left_out()), sources,
    )  # fmt: skip


def _tops(context: Context) -> Iterator[tuple[int, int]]:
    """Yield the top-level declarations with their files; `extern "C"` and namespaces are looked into."""
    pending = list(reversed(context.tops))
    while pending:
        row, number = pending.pop()
        if context.table.kind[row] in _CONTAINERS:
            pending += [(child, number) for child in reversed(context.table.children(row))]
        else:
            yield row, number


def _globals(context: Context) -> dict[str, list[int]]:
    """Return the declaration rows of the file-scope variables by name."""
    found: dict[str, list[int]] = {}
    for row, _ in _tops(context):
        if context.table.kind[row] == kinds.VAR_DECL:
            number = context.table.aux[row]
            found.setdefault(context.dump.declared[number][1], []).append(number)
    return found


def _group(context: Context, tops: list[tuple[int, int]], position: int) -> int:
    """Return how many rows from a position on are declarators of one declaration."""
    table, (first, number) = context.table, tops[position]
    count = 1
    while position + count < len(tops):
        row, file = tops[position + count]
        same = table.kind[row] == kinds.VAR_DECL and file == number and table.start[row] == table.start[first]
        if not same:
            break
        count += 1
    return count


def _variables(context: Context, text: FileText, rows: list[int]) -> Top:
    start, end = _extent(context, text, rows[0])
    end = max(end, _extent(context, text, rows[-1])[1])
    span = Span(text.file, start, text.scan.after_semicolon(end) or end)
    declarations = Declarations(context, text, Expressions(context, text))
    try:
        made = tuple(declarations.variable(row) for row in rows)
    except CannotModelError:
        return Other(span=span, intact=True, text=span.text)
    return GlobalDecl(span=span, intact=True, declarations=made)


def _extent(context: Context, text: FileText, row: int) -> tuple[int, int]:
    return context.table.range(row, text.uses)


def _defined(
    context: Context, text: FileText, row: int, knowledge: Knowledge, visible: dict[str, list[int]]
) -> Function | None:
    """Return the function that a declaration defines, if it does."""
    table = context.table
    if table.kind[row] not in kinds.FUNCTIONS or context.detail(table.aux[row])[3] & PATTERN:
        return None
    return _function(context, text, row, knowledge, visible)


def _other(context: Context, text: FileText, row: int) -> Other:
    start, end = _extent(context, text, row)
    span = Span(text.file, start, text.scan.after_semicolon(end) or end)
    return Other(span=span, intact=True, text=span.text)


def _function(
    context: Context, text: FileText, row: int, knowledge: Knowledge, visible: dict[str, list[int]]
) -> Function | None:
    """Return a function definition; None for a prototype, or where a macro writes the whole function."""
    if row in context.functions:
        return context.functions[row]
    table = context.table
    whole = table.whole_body(row)
    if whole is None or table.begins_in_macro(whole):
        return None
    number = table.aux[row]
    found = {name: list(rows) for name, rows in visible.items()}
    for node in range(row, table.after[row]):
        if table.kind[node] in (kinds.VAR_DECL, kinds.PARM_DECL):
            found.setdefault(context.dump.declared[table.aux[node]][1], []).append(table.aux[node])
    statements = Statements(context, text, knowledge, found)
    symbol = context.symbol(number)
    this = own_object(symbol, Span(text.file, *_extent(context, text, row)))
    if this is not None:
        span = Span(text.file, *_extent(context, text, row))
        statements.expressions.this = Name(span=span, type=this.type, symbol=this)
    statements.result = symbol.type.result if isinstance(symbol.type, FunctionType) else None
    if context.cxx:
        statements.cxx.enter(whole)
    else:
        statements.jumps = count_jumps(table, text, whole)
    parameters = tuple(
        statements.declarations.parameter(child)
        for child in table.children(row)
        if table.kind[child] == kinds.PARM_DECL
    )
    body = statements.build(whole)
    if statements.jumps:
        body = without_text(body)
    if not isinstance(body, Block):
        body = Block(span=body.span, intact=True, statements=(body,))
    start, end = _extent(context, text, row)
    context.functions[row] = made = Function(
        span=Span(text.file, start, max(end, body.span.end)), intact=not (statements.jumps and contains_nested(body)),
        symbol=symbol,
        parameters=parameters if this is None else (this, *parameters), body=body,
        static=context.dump.declared[number][3] in ((2, 3) if context.cxx else (2,)),
    )  # fmt: skip
    return made


def _outermost(items: list[Top]) -> list[Top]:
    """Return the items that lie in no other one: `typedef struct s { … } t;` is one item."""
    kept: list[Top] = []
    for item in sorted(items, key=lambda i: (i.span.file.path, i.span.start, -i.span.end)):
        last = kept[-1].span if kept else None
        if last is None or item.span.file is not last.file or item.span.start >= last.end:
            kept.append(item)
    return kept


def _file_lines(context: Context, items: list[Top]) -> list[Other]:
    """Return the preprocessor lines of the main file that stand outside of its declarations."""
    text = context.text(0)
    inside = sorted((item.span.start, item.span.end) for item in items if item.span.file is text.file)
    lines = []
    for line in text.scan.directives:
        if not any(start <= line.start < end for start, end in inside):
            span = Span(text.file, line.start, line.end)
            lines.append(Other(span=span, intact=True, text=span.text))
    return lines


def _regions(context: Context, functions: list[Function]) -> tuple[Span, ...]:
    """Return what `#pragma scop … #pragma endscop` encloses and the statement that follows `#pragma target`."""
    text = context.text(0)
    regions: list[Span] = []
    opened: int | None = None
    for line in text.scan.directives:
        words = text.file.text[line.start : line.end].split()
        if words[:2] == ["#pragma", "scop"]:
            opened = line.end
        elif words[:2] == ["#pragma", "endscop"] and opened is not None:
            regions.append(Span(text.file, opened, line.start))
            opened = None
    for function in functions:
        regions += _targets(function)
    return tuple(sorted(regions, key=lambda span: (span.file.path, span.start)))


def _targets(function: Function) -> Iterator[Span]:
    for node in walk(function.body):
        statements: tuple[Stmt, ...] = node.statements if isinstance(node, Block) else ()
        statements = node.body if isinstance(node, Case) else statements
        marked = False
        for statement in statements:
            if isinstance(statement, Pragma):
                marked = marked or statement.text.lstrip("# \t").split()[:2] == ["pragma", "target"]
            elif marked:
                yield statement.span
                marked = False
