"""SYN001 and SYN006: a barrier moved out of a branch, and a barrier removed.

if (i < n) {                         if (i < n) {
    s[t] = a[i];                         s[t] = a[i];
    __syncthreads();                 }
}                                    __syncthreads();

The last statement of a branch without `else` may come behind it, the first one before it: what the branch does is the
same, and every thread comes to the barrier. Never safe: whoever waited for nobody now waits.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.base.fixes import Fix
from warpsmith.base.source import Edit, SourceFile, Span
from warpsmith.fixes.site import Site, line_of
from warpsmith.tree.nodes import Block, Call, ExprStmt, If, Node
from warpsmith.tree.walk import peel

__all__ = ["hoist", "remove"]


def remove(site: Site, facts: KernelFacts, finding: KernelFinding) -> Iterator[Fix]:
    """Yield the text without the barrier."""
    del facts, finding
    statement = _statement(site)
    if statement is not None and isinstance(site.parent(statement), Block):
        yield Fix("remove the barrier", (_remove_statement(statement),), False)


def hoist(site: Site, facts: KernelFacts, finding: KernelFinding) -> Iterator[Fix]:
    """Yield the barrier behind, or before, the branches that it ends or begins, the innermost first."""
    del facts, finding
    statement = _statement(site)
    if statement is None:
        return
    for at in (-1, 0):
        below: Node = statement
        while (branch := _branch(site, below, at)) is not None:
            where = "behind" if at else "in front of"
            title = f"move the barrier {where} the branch of line {branch.span.line}"
            inserted = _beside(branch, _text(statement), behind=bool(at))
            yield Fix(title, tuple(sorted((_remove_statement(statement), inserted), key=_start)), False)
            below = branch


def _start(edit: Edit) -> int:
    return edit.span.start


def _statement(site: Site) -> ExprStmt | None:
    """Return the statement of a barrier."""
    for node in (site.node, *site.around(site.node)):
        if isinstance(node, ExprStmt):
            return node if isinstance(peel(node.expr), Call) and _text(node).endswith(";") else None
        if not isinstance(node, Call):
            return None
    return None


def _text(statement: ExprStmt) -> str:
    span = statement.span
    if span.text.endswith(";"):
        return span.text
    rest = span.file.text[span.end :]
    return span.text + ";" if rest.lstrip()[:1] == ";" else span.text


def _whole(statement: ExprStmt) -> Span:
    """Return the text of a statement, its semicolon included."""
    span = statement.span
    if span.text.endswith(";"):
        return span
    return Span(span.file, span.start, span.file.text.index(";", span.end) + 1)


def _remove_statement(statement: ExprStmt) -> Edit:
    span = _whole(statement)
    return Edit(line_of(span) or span, "")


def _branch(site: Site, node: Node, at: int) -> If | None:
    """Return the branch without `else` that a statement ends (at = -1) or begins (0), where that stands in a block."""
    block = site.parent(node)
    if not isinstance(block, Block) or len(block.statements) < 2 or block.statements[at] is not node:
        return None
    branch = site.parent(block)
    if not isinstance(branch, If) or branch.other is not None or branch.then is not block:
        return None
    return branch if isinstance(site.parent(branch), Block) else None


def _beside(branch: If, text: str, *, behind: bool) -> Edit:
    """Return the edit that puts a statement on a line of its own beside a branch."""
    span = branch.span
    file = span.file
    indent = _indent(file, span.line)
    end = _newline(file)
    if behind:
        return Edit(Span(file, span.end, span.end), f"{end}{indent}{text}")
    return Edit(Span(file, span.start, span.start), f"{text}{end}{indent}")


def _indent(file: SourceFile, line: int) -> str:
    text = file.line(line)
    return text[: len(text) - len(text.lstrip())]


def _newline(file: SourceFile) -> str:
    return "\r\n" if "\r\n" in file.text else "\n"
