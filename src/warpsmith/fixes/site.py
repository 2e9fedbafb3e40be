"""The text around a finding: its tree, what stands around each node, and whether the user wrote it where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct, field

from warpsmith.base.source import SourceFile, Span
from warpsmith.tree.nodes import Call, Expr, Function, MacroUse, Node
from warpsmith.tree.walk import children, walk

__all__ = ["Language", "Site", "Trees", "line_of"]

Language = Literal["cuda", "opencl", "ptx"]


class Site(Struct, frozen=True, eq=False):
    """One place that a finding names: `node` of `function`, and the node that each node of the function stands in."""

    language: Language
    function: Function
    node: Node
    _parents: Mapping[Node, Node]

    @property
    def file(self) -> SourceFile:
        """The file that the place is in."""
        return self.node.span.file

    def parent(self, node: Node) -> Node | None:
        """Return what a node stands in."""
        return self._parents.get(node)

    def around(self, node: Node) -> Iterator[Node]:
        """Yield what a node stands in, the innermost first."""
        above = self.parent(node)
        while above is not None:
            yield above
            above = self.parent(above)

    @property
    def is_template(self) -> bool:
        """Whether the text makes functions for other types as well."""
        return "<" in self.function.symbol.label


class Trees(Struct):
    """The functions of one file, for findings about it."""

    file: SourceFile
    language: Language
    functions: tuple[Function, ...]
    _parents: dict[Function, dict[Node, Node]] = field(default_factory=dict)

    def sites(self, span: Span) -> Iterator[Site]:
        """Yield the places that a span stands for: the outermost node with this text in each function (a template has
        several). There is none in another file, and none where a macro made the text."""
        if span.file.path != self.file.path:
            return
        for function in self.functions:
            parents = self._above(function)
            for node in walk(function.body):
                same = (node.span.start, node.span.end) == (span.start, span.end)
                if same and node.span.file.path == span.file.path and _is_written(node, parents):
                    yield Site(self.language, function, node, parents)
                    break

    def _above(self, function: Function) -> dict[Node, Node]:
        if function not in self._parents:
            self._parents[function] = {below: node for node in walk(function) for below in children(node)}
        return self._parents[function]


def _is_written(node: Node, parents: Mapping[Node, Node]) -> bool:
    """Whether a node is text of its own: no macro's expansion and no part of one, all of which has the text of the
    use."""
    if any(_is_all_of(part, node) for part in children(node)):
        return False
    above: Node | None = node
    while above is not None and not isinstance(above, MacroUse):
        outer = parents.get(above)
        if outer is not None and _is_all_of(above, outer):
            return False
        above = outer
    return above is None


def _is_all_of(part: Node, outer: Node) -> bool:
    """Whether a part of an expression has the whole of its text, as the name of a called function always has."""
    if not isinstance(outer, Expr) or (isinstance(outer, Call) and part is outer.function):
        return False
    return (part.span.start, part.span.end) == (outer.span.start, outer.span.end)


def line_of(span: Span) -> Span | None:
    """Return the whole line that a span stands alone on, its line end included; None where there is more on it."""
    file = span.file
    start, end = file.offset(span.line), file.offset(span.end_line + 1)
    alone = not file.text[start : span.start].strip() and not file.text[span.end : end].strip()
    return Span(file, start, end) if alone else None
