"""The text of a rewritten unit: the user's bytes, with edits only where the tree changed.

    old body   { a; for (k…) { s; t; } b; }          new body   { a; alloc; for (k…) { launch; t; } b; }
                     └─ same span: descend ─┘                    inserted ┘      └ replaces s

Invariant: old and new trees are walked side by side, and an edit is made only for a pair that differs; what an edit
writes stays apart from the user's tokens beside it. A node of the
new tree stands for the node of the old one that has its class and its span; a statement that has no counterpart is
inserted beside its neighbors, one that lost its counterpart is deleted, with its line if nothing else stands there.
Limits: a region that cuts through a preprocessor conditional cannot be replaced; it is refused.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.base.records import field_names
from warpsmith.base.source import Edit, SourceFile, Span, apply_edits
from warpsmith.tree.nodes import (
    Block,
    CaptureStmt,
    Case,
    Copy,
    CopyWait,
    DeclStmt,
    DeviceFree,
    Expr,
    For,
    Function,
    GlobalDecl,
    MacroUse,
    Member,
    Name,
    Node,
    Other,
    Pragma,
    Stmt,
    Top,
    VarDecl,
)
from warpsmith.tree.printing.computed import is_computed
from warpsmith.tree.printing.nested import contains_nested, is_nested
from warpsmith.tree.printing.printer import DeviceWords, Printer, join_lines
from warpsmith.tree.program import Unit
from warpsmith.tree.specializations import can_specialize, place_of_specialization, specialization
from warpsmith.tree.text.layout import (
    indent_at,
    indent_text,
    indentation_unit,
    line_end,
    outdent,
    own_line,
    slice_text,
    starts_line,
)
from warpsmith.tree.text.lexical import directives, tokens
from warpsmith.tree.text.openers import Opener, opener_insertions
from warpsmith.tree.text.places import cut_pragmas, place_before
from warpsmith.tree.text.spacing import join_pieces
from warpsmith.tree.walk import children, has_dead, walk

__all__ = ["Patcher", "include_offset", "is_added", "openers_in", "unit_text"]

_SKIPPED = frozenset(("span", "intact", "header", "cause", "reason", "type"))
_Key = tuple[type[Node], int, int, int]


def unit_text(
    original: Unit,
    rewritten: Unit,
    dialect: DeviceWords,
    includes: tuple[str, ...] = (),
    opened: Collection[Opener] = (),
) -> str:
    """Return the text of `rewritten`, byte for byte the original's outside the statements that changed.

    `includes` are lines to add after the includes of the file; `opened`: what they make known of private members.
    Raises RefusedError where the text cannot be changed.
    """
    left_out = [(span.start, span.end) for span in original.left_out if span.file is original.file]
    unit = indentation_unit(original.file.text)
    patcher = Patcher((function for function in original.functions), dialect, unit, left_out)
    edits: list[Edit] = []
    first = len(original.file.text)
    for added, anchor in _find_added(rewritten):
        if anchor.span.file is not original.file:
            continue
        first = min(first, anchor.span.start)
        place = Span(original.file, anchor.span.start, anchor.span.start)
        edits.append(Edit(place, f"{patcher.printer.top(added)}\n\n"))
    for old, new in zip(original.items, (item for item in rewritten.items if not is_added(item)), strict=True):
        if old.span.file is not original.file:
            continue
        changed = patcher.edits(old, new)
        if changed:
            first = min(first, old.span.start)
        edits += changed
    for old, new in _find_specialized(original, rewritten):
        first = min(first, old.span.start)
        own = Patcher((old,), dialect, unit, left_out)
        text = specialization(old, _edit_text(old.body.span, own.edits(old, new)))
        behind = place_of_specialization(old)
        edits.append(Edit(Span(original.file, behind, behind), f"\n\n{text}"))
    opening = [
        Edit(Span(original.file, place, place), "".join(f"{line}\n" for line in lines))
        for place, lines in opener_insertions(original.file, edits, openers_in(rewritten), opened=opened)
    ]
    if includes:
        edits.append(_include_edit(original.file, includes, first))
    edits += opening
    end = line_end(original.file.text)
    return apply_edits(original.file, [Edit(e.span, e.text.replace("\n", end)) for e in edits], join_pieces)


def openers_in(unit: Unit) -> Iterator[Opener]:
    """Yield how the functions of a unit reach private members."""
    if unit.language != "c":
        parts = (part for function in unit.functions for part in walk(function))
        yield from (part.opener for part in parts if isinstance(part, Member) and part.opener is not None)


def is_added(item: Top) -> bool:
    """Whether a top-level item stands for no text of the user's: its span is empty, where the next item starts."""
    return item.span.start == item.span.end and not isinstance(item, Other)


def _find_added(unit: Unit) -> Iterator[tuple[Top, Top]]:
    """Yield every item that was added, with the next one that was not."""
    for position, item in enumerate(unit.items):
        if is_added(item):
            yield item, next(other for other in unit.items[position:] if not is_added(other))


def _find_specialized(original: Unit, rewritten: Unit) -> Iterator[tuple[Function, Function]]:
    """Yield the instances of templates that have changed, which get texts of their own."""
    given = (function for function in rewritten.functions if not is_added(function))
    for old, new in zip(original.functions, given, strict=True):
        if old is not new and old.span.file is original.file and can_specialize(original, old):
            yield old, new


def include_offset(file: SourceFile, before: int) -> int:
    """Return where an `#include` may be added: a line start, after the file's own unconditional includes, before
    `before`; without any, after leading comments and leading `#define`s (they may be feature-test macros)."""
    position = 0
    for directive in directives(file.text):
        if directive.start >= before:
            break
        if directive.word == "include" and directive.depth == 0 and directive.braces == 0:
            position = directive.end
    if not position:
        position = _after_leading_lines(file.text, before)
    if not position:
        return 3 if file.text.startswith("\xef\xbb\xbf") else 0
    end = file.text.find("\n", position)
    if file.text[position : None if end == -1 else end].strip():
        return position
    return len(file.text) if end == -1 else end + 1


def _after_leading_lines(text: str, before: int) -> int:
    """Return the end of the comments and `#define` lines with which `text` starts."""
    ends = {d.start: d.end for d in directives(text) if d.word in ("define", "undef", "pragma")}
    position = skip = 3 if text.startswith("\xef\xbb\xbf") else 0
    for token in tokens(text):
        if token.start < skip or token.kind in ("blank", "newline"):
            continue
        if token.start >= before or (token.kind != "comment" and token.start not in ends):
            break
        position = skip = ends.get(token.start, token.end)
    return position if position > 3 else 0


def _include_edit(file: SourceFile, includes: tuple[str, ...], before: int) -> Edit:
    offset = include_offset(file, before)
    text = "".join(f"{line}\n" for line in includes)
    if offset and not file.text[:offset].endswith("\n") and file.text[:offset] != "\xef\xbb\xbf":
        text = "\n" + text
    return Edit(Span(file, offset, offset), text)


class Patcher:
    """Knows the nodes that the user's text is, and makes the edits that turn them into others. `left_out`: what the
    build at hand does not compile of it, by offsets."""

    def __init__(
        self,
        originals: Iterable[Node],
        words: DeviceWords | None = None,
        unit: str = "    ",
        left_out: Sequence[tuple[int, int]] = (),
    ) -> None:
        self._origins: Mapping[_Key, Node] = _index(tuple(originals))
        self._printer = Printer(self.find_known, words)
        self._unit = unit
        self._left_out = left_out

    @property
    def printer(self) -> Printer:
        """A printer that keeps the user's text, comments and layout included, wherever it can."""
        return self._printer

    def find_known(self, node: Node) -> str | None:
        """Return the user's text of `node`, outdented, with what changed inside it; None if it is not his at all, or
        says what no run comes to: that may name variables which are not where the text will stand."""
        if has_dead(node):
            return None
        if node.intact:
            return slice_text(node.span)
        unwritten = isinstance(node, MacroUse) or node.span.start == node.span.end
        old = None if unwritten else self._origins.get(_key(node))
        if old is None or not self._alike(old, node) or contains_nested(node):
            return None
        text = _edit_text(old.span, self.edits(old, node))
        return outdent(text, indent_at(old.span.file, old.span.start))

    def edits(self, old: Node, new: Node) -> list[Edit]:
        """Return the edits that turn `old`, which is the user's text, into `new`."""
        edits: list[Edit] = []
        pending: list[tuple[Node | None, Node, Node]] = [(None, old, new)]
        while pending:
            parent, before, after = pending.pop()
            if after is before or (after.intact and after.span == before.span):
                continue
            if not self._alike(before, after):
                edits.append(self._replacement(parent, before, after))
            elif isinstance(before, Block) and isinstance(after, Block):
                edits += self._run_edits(before, before.statements, after.statements, pending)
            elif isinstance(before, Case) and isinstance(after, Case):
                edits += self._run_edits(before, before.body, after.body, pending)
                labels = zip(before.labels, after.labels, strict=True)
                pending += [(after, a, b) for a, b in labels if a is not None and b is not None]
            elif isinstance(before, For) and isinstance(after, For) and not _same_header(before, after):
                edits += _remove_pragmas(old, before)
                edits.append(Edit(before.header, self._printer.for_header(after)))
                pending.append((after, before.body, after.body))
            else:
                pairs = zip(children(before), children(after), strict=True)
                pending += [(after, a, b) for a, b in pairs]
        return _each_once(edits)

    # --- one pair

    def _alike(self, old: Node, new: Node) -> bool:
        """Whether `new` is `old` but for what is inside its parts, so that the text around those can stay."""
        if type(old) is not type(new) or old.span != new.span or isinstance(old, MacroUse) or is_nested(old):
            return False
        if isinstance(old, Block) and isinstance(new, Block):
            written = old.span.text.startswith("{") and not any(_is_unwritten(stmt) for stmt in old.statements)
            return written and _has_choices_of(old, new)
        if isinstance(old, DeclStmt) and isinstance(new, DeclStmt):
            return self._same_declarations(old, new)
        if isinstance(old, For) and isinstance(new, For):
            header = old.header.text
            if ";" not in header:
                return False  # for (x : v): what the text declares stands in the tree's body
            # what no run comes to may name the counter of before
            changeable = header.startswith("for") and header.endswith(")") and not has_dead(new)
            return changeable or _same_header(old, new)
        return _same_fields(old, new) and _orderly(old)

    def _same_declarations(self, old: DeclStmt, new: DeclStmt) -> bool:
        pairs = list(zip(old.declarations, new.declarations, strict=False))
        alike = len(old.declarations) == len(new.declarations) and old.types == new.types
        return alike and all(self._same_declaration(a, b) for a, b in pairs)

    def _same_declaration(self, a: VarDecl, b: VarDecl) -> bool:
        if (a.init is None) != (b.init is None) or not (a.init is None or a.span.contains(a.init.span)):
            return False
        if a.symbol.type is b.symbol.type:
            return a.symbol.name == b.symbol.name
        return self._printer.type(a.symbol.type, a.symbol.name) == self._printer.type(b.symbol.type, b.symbol.name)

    def _replacement(self, parent: Node | None, old: Node, new: Node) -> Edit:
        _check_conditionals(old.span)
        if isinstance(new, Expr):
            text = self._printer.expr(new) if parent is None else self._printer.slot(parent, new)
            bare = self._printer.expr(new)
            return Edit(old.span, bare if text != bare and _in_parentheses(old.span) and "," not in bare else text)
        if isinstance(new, Stmt):
            return self._statement_edit(old.span, (new,), body=not isinstance(parent, Block | Case))
        return Edit(old.span, self._printer.top(new) if isinstance(new, Function | GlobalDecl) else new.span.text)

    def _text(self, statements: tuple[Stmt, ...], indent: str) -> str:
        texts = [indent_text(join_lines(self._printer.stmt(s), self._unit), indent) for s in statements]
        return f"\n{indent}".join(texts)

    def _statement_edit(self, span: Span, statements: tuple[Stmt, ...], body: bool = False) -> Edit:
        file = span.file
        start = _after_header(span) if body else span.start
        indent = indent_at(file, max(start - 1, 0) if body else start)
        text = self._text(statements, indent)
        if not body:
            return Edit(span, text)
        if text.startswith("{"):
            return Edit(Span(file, start, span.end), f" {text}" if start < span.start else text)
        if "\n" in text or len(statements) != 1:
            inner = self._text(statements, indent + self._unit)
            gap = " " if start < span.start else ""
            return Edit(Span(file, start, span.end), f"{gap}{{\n{indent}{self._unit}{inner}\n{indent}}}")
        return Edit(span, text)

    # --- runs of statements

    def _run_edits(
        self,
        owner: Node,
        old: tuple[Stmt, ...],
        new: tuple[Stmt, ...],
        pending: list[tuple[Node | None, Node, Node]],
    ) -> list[Edit]:
        """Align two runs: pairs go to `pending`, the gaps between them become edits."""
        edits: list[Edit] = []
        old_start = new_start = 0
        for i, j in [*_align_unchanged(old, new), (len(old), len(new))]:
            gone, come = old[old_start:i], new[new_start:j]
            if gone or come:
                after = old[i] if i < len(old) else None
                ahead = old_start - (not gone and is_computed(after))  # its declaration stands directly before it
                before = old[ahead - 1] if ahead else None
                edits += self._gap(owner, before, old[ahead] if ahead < old_start else after, gone, come)
            if i < len(old):
                pending.append((owner, old[i], new[j]))
            old_start, new_start = i + 1, j + 1
        return edits

    def _gap(
        self, owner: Node, before: Stmt | None, after: Stmt | None, gone: tuple[Stmt, ...], come: tuple[Stmt, ...]
    ) -> list[Edit]:
        if not gone:
            return self._insert_between(owner, before, after, come)
        span = Span(gone[0].span.file, gone[0].span.start, gone[-1].span.end)
        _check_conditionals(span)
        unmarked = _remove_pragmas(owner, gone[0])
        if come:
            return [*unmarked, self._run_edit(span, gone, come)]
        return [*unmarked, *(Edit(own_line(statement.span), "") for statement in gone)]

    def _run_edit(self, span: Span, gone: tuple[Stmt, ...], come: tuple[Stmt, ...]) -> Edit:
        """Replace `gone` by `come`. Pragma lines may stand anywhere: what is under them shows how deep the code is."""
        model = next((statement for statement in gone if not isinstance(statement, Pragma)), gone[0])
        file = span.file
        if model is gone[0] or not (starts_line(file, span.start) and starts_line(file, model.span.start)):
            return self._statement_edit(span, come)
        indent = indent_at(file, model.span.start)
        return Edit(Span(file, file.offset(span.line), span.end), indent + self._text(come, indent))

    def _insert_between(
        self, owner: Node, before: Stmt | None, after: Stmt | None, come: tuple[Stmt, ...]
    ) -> list[Edit]:
        """Insert `come` between two neighbors, never inside a preprocessor conditional that starts between them."""
        file = owner.span.file
        start = before.span.end if before is not None else owner.span.start + (isinstance(owner, Block))
        end = after.span.start if after is not None else owner.span.end - (isinstance(owner, Block))
        # A pragma line may stand anywhere: it does not show how deep the code is.
        neighbor = next((s for s in (after, before) if s is not None and not isinstance(s, Pragma)), after or before)
        indent = indent_at(file, neighbor.span.start) if neighbor else indent_at(file, start) + self._unit
        text = self._text(come, indent)
        marked = isinstance(after, Pragma) or any(isinstance(stmt, Pragma) for stmt in come)
        if after is not None and not marked and cut_pragmas(file, owner.span.start, end):
            above = place_before(file, after.span, after.span.end, owner.span.start, self._left_out)
            line = f"\n{indent}{text}\n" if above.splits else f"{indent}{text}\n"
            return [Edit(Span(file, above.offset, above.offset), line)]
        trailing = after is None or isinstance(come[0], DeviceFree | CaptureStmt) or _copies_back(come[0])
        places = _free_lines(file, start, end)
        if places:
            place = places[0] if trailing and before is not None else places[-1]
            return [Edit(Span(file, place, place), f"{indent}{text}\n")]
        if after is not None and starts_line(file, after.span.start):
            return [Edit(Span(file, end, end), f"{text}\n{indent}")]
        if before is not None:
            return [Edit(Span(file, start, start), f"\n{indent}{text}" if after is None else f" {text}")]
        if after is not None:
            return [Edit(Span(file, end, end), f"{text} ")]
        return [Edit(Span(file, start, start), f"\n{indent}{text}\n{indent_at(file, start)}")]


# the user's text is the same in the port, in its kernels, and in what the referee compares
@functools.lru_cache(maxsize=16)
def _index(originals: tuple[Node, ...]) -> Mapping[_Key, Node]:
    """Map class and span to the node; what a macro expands to has no text of its own and is left out."""
    found: dict[_Key, Node] = {}
    stack = list(originals)
    while stack:
        node = stack.pop()
        found.setdefault(_key(node), node)
        if not isinstance(node, MacroUse):
            stack += children(node)
    return found


def _key(node: Node) -> _Key:
    return type(node), id(node.span.file), node.span.start, node.span.end


def _edit_text(span: Span, edits: list[Edit]) -> str:
    """Return the text of `span` with `edits`, all of which lie inside it."""
    piece = SourceFile(span.file.path, span.text)
    moved = [Edit(Span(piece, e.span.start - span.start, e.span.end - span.start), e.text) for e in edits]
    return apply_edits(piece, moved, join_pieces).replace("\r\n", "\n")


def _same_header(old: For, new: For) -> bool:
    same = (old.variable.name, old.declares, old.relation, old.step) == (
        new.variable.name, new.declares, new.relation, new.step,
    )  # fmt: skip
    same = same and (not old.declares or old.variable.type == new.variable.type)
    return same and _orderly(old)


def _same_fields(old: Node, new: Node) -> bool:
    for name in field_names(old):
        if name in _SKIPPED:
            continue
        a, b = getattr(old, name), getattr(new, name)
        if isinstance(a, Node) or isinstance(b, Node):
            if not (isinstance(a, Node) and isinstance(b, Node)):
                return False
        elif isinstance(a, tuple) and isinstance(b, tuple):
            if not _same_items(old, a, b):
                return False
        elif name == "symbol" and isinstance(old, Name | VarDecl) and isinstance(new, Name | VarDecl):
            if old.symbol.name != new.symbol.name:
                return False
        elif a != b:
            return False
    # A cast names its type, a declaration is compared by its statement; elsewhere the type leaves no text.
    return getattr(old, "type", None) == getattr(new, "type", None) or type(old).__name__ != "Cast"


def _same_items(owner: Node, a: tuple[object, ...], b: tuple[object, ...]) -> bool:
    if isinstance(owner, Case) and a and not isinstance(a[0], Expr | None):
        return True
    return len(a) == len(b) and all(isinstance(x, Node) == isinstance(y, Node) for x, y in zip(a, b, strict=True))


def _orderly(node: Node) -> bool:
    """Whether the parts of `node` lie in its text one after another (text made by macros does not)."""
    spans = sorted((child.span for child in children(node)), key=lambda span: span.start)
    inside = all(node.span.contains(span) and span.end > span.start for span in spans)
    return inside and all(a.end <= b.start for a, b in pairwise(spans))


def _align_unchanged(old: tuple[Stmt, ...], new: tuple[Stmt, ...]) -> list[tuple[int, int]]:
    """Return increasing pairs of indices of statements that are the same, by identity or by class and span."""
    places = {_key(stmt): index for index, stmt in enumerate(old)} | {id(stmt): index for index, stmt in enumerate(old)}
    pairs: list[tuple[int, int]] = []
    last = -1
    for j, stmt in enumerate(new):
        i = places.get(id(stmt), places.get(_key(stmt)))
        if i is not None and i > last:
            pairs.append((i, j))
            last = i
    return pairs


def _copies_back(stmt: Stmt) -> bool:
    return (isinstance(stmt, Copy) and not stmt.to_device) or (isinstance(stmt, CopyWait) and stmt.by_host)


def _free_lines(file: SourceFile, start: int, end: int) -> list[int]:
    """Return the line starts in (start, end] where a statement may be put, at the outermost conditional there.

    The first is right after what ends at `start`, the last in front of the comment above what starts at `end`.
    """
    between = file.text[start:end]
    found = list(directives(between))
    depth, depths = 0, [(start, 0)]
    for directive in found:
        depth += (directive.word in ("if", "ifdef", "ifndef")) - (directive.word == "endif")
        depths.append((start + directive.end, depth))
    least = min(d for _, d in depths)
    lines = []
    for line in (start + t.end for t in tokens(between) if t.kind == "newline" and t.text.endswith("\n")):
        here = [d for position, d in depths if position < line][-1]
        if here == least:
            lines.append(line)
    return _above_comment(file, lines, end)


def _above_comment(file: SourceFile, lines: list[int], end: int) -> list[int]:
    """Drop the places between a comment and the statement under it."""
    kept = list(lines)
    while len(kept) > 1 and file.text[kept[-2] : kept[-1]].strip().startswith(("//", "/*")):
        kept.pop()
    return kept if not kept or starts_line(file, end) or end >= len(file.text) else kept[:1]


def _remove_pragmas(owner: Node, stmt: Stmt) -> list[Edit]:
    """Take out the pragmas of `stmt` that stand in a conditional of their own: what comes is not what they marked."""
    return [Edit(own_line(line), "") for line in cut_pragmas(stmt.span.file, owner.span.start, stmt.span.start)]


def _each_once(edits: list[Edit]) -> list[Edit]:
    """Leave out what another edit takes out as well: the pragma in a conditional that is replaced as a whole, or whose
    loop is."""
    kept: list[Edit] = []
    for e in edits:
        removal = not e.text and e.span.start < e.span.end
        others = (*(o for o in edits if o.text), *(k for k in kept if not k.text)) if removal else ()
        if not any(o.span.contains(e.span) for o in others):
            kept.append(e)
    return kept


def _has_choices_of(old: Block, new: Block) -> bool:
    """Whether each line of a conditional around code still stands in a block: without one, another branch would be the
    build's, or both."""
    kept = {id(stmt) for stmt in new.statements}
    return all(id(stmt) in kept for stmt in old.statements if isinstance(stmt, Pragma) and stmt.choice)


def _check_conditionals(span: Span) -> None:
    """Refuse to replace a text that a preprocessor conditional enters or leaves."""
    depth = 0
    for directive in directives(span.text):
        depth += (directive.word in ("if", "ifdef", "ifndef")) - (directive.word == "endif")
        if depth < 0 or (depth == 0 and directive.word in ("else", "elif")):
            break
    else:
        if depth == 0:
            return
    text = "a preprocessor conditional starts or ends inside the region: it cannot be replaced"
    raise RefusedError(Finding("POR008", "error", text, span))


def _after_header(span: Span) -> int:
    """Return where the blanks before a loop's or branch's body start, if nothing but blanks is before it."""
    text = span.file.text
    start = span.start
    while start and text[start - 1] in " \t\r\n":
        start -= 1
    return start if text[:start].endswith((")", "else", "do")) else span.start


def _in_parentheses(span: Span) -> bool:
    text = span.file.text
    return text[: span.start].rstrip().endswith("(") and text[span.end :].lstrip().startswith(")")


def _is_unwritten(stmt: Stmt) -> bool:
    """Whether a statement has no text of its own: what `for (x : v)` declares."""
    return isinstance(stmt, DeclStmt) and stmt.span.start == stmt.span.end
