"""Diagrams of a kernel as the analysis sees it: nodes and edges that can be drawn.

    control flow    blocks; where lanes part, where they are apart, where they meet again
    data            what the conditions of branches are made of: an edge from each operand to its result
    predicates      the same with an edge p → φ from every branch to the values in which its two ways meet: gated SSA,
                    where control dependence is data dependence (Ottenstein, Ballance, MacCabe, PLDI 1990; Coutinho et
                    al., PACT 2011)

Values of one expression of the user's are one node. Divergent ones are marked: in `data` those that follow from the
thread's index by data alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.analysis.affine.joins import between, follow_divergence, meeting
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.base.source import Span
from warpsmith.ssa.nodes import (
    BasicBlock,
    Branch,
    Exit,
    Instruction,
    Jump,
    Param,
    Phi,
    Query,
    Return,
    Switch,
    Unreachable,
    Value,
    terminator_operands,
)

__all__ = ["Diagram", "DiagramEdge", "DiagramNode", "control_flow", "dependences", "diagrams"]

State = Literal["together", "apart", "divergent", "block"]
_MOST = 60
_COPIES = ("to_generic", "from_generic", "zext", "sext", "trunc")


class DiagramNode(Struct, frozen=True):
    """A block or a value. `state`: `divergent` (lanes of a warp differ, or part here), `block` (only warps of a block
    do), `apart` (lanes may be apart here), else `together`; `note`: what is to be said of it."""

    key: str
    title: str
    lines: tuple[str, ...]
    shape: Literal["block", "value", "seed", "join", "predicate"]
    state: State
    note: str = ""


class DiagramEdge(Struct, frozen=True):
    """An edge; `predicate`: from a branch to a value in which its ways meet."""

    start: str
    end: str
    label: str = ""
    kind: Literal["flow", "data", "predicate"] = "flow"


class Diagram(Struct, frozen=True):
    """A picture to be drawn; `left_out`: nodes that were too many."""

    name: Literal["control flow", "data", "predicates"]
    nodes: tuple[DiagramNode, ...]
    edges: tuple[DiagramEdge, ...]
    left_out: int = 0


def diagrams(facts: KernelFacts) -> tuple[Diagram, ...]:
    """Return all pictures of a kernel; of one without branches, none."""
    if not facts.branches:
        return ()
    return control_flow(facts), dependences(facts, predicates=False), dependences(facts, predicates=True)


# --- control flow


def control_flow(facts: KernelFacts) -> Diagram:
    """Return the blocks of a kernel and how control goes between them."""
    graph, warp, whole = facts.warp_level.graph, facts.warp_level.branches, facts.block_level.branches
    blocks = {block.name: block for block in facts.function.blocks if block.name in graph.rank}
    skipped = _empty(blocks, graph.entry)
    apart = {name for diverged in warp for name in between(graph, diverged, meeting(graph, diverged))}
    meets = {meeting(graph, diverged) for diverged in warp}
    nodes: list[DiagramNode] = []
    edges: dict[tuple[str, str], DiagramEdge] = {}
    for name in graph.order:
        if name in skipped:
            continue
        state: State = "divergent" if name in warp else "block" if name in whole else "together"
        state = "apart" if name in apart and state != "divergent" else state
        title, lines = _block_text(blocks[name])
        note = "lanes part" if name in warp else "warps part" if name in whole else ""
        note = "; ".join(filter(None, ("lanes meet again" if _target(name, skipped) in meets else "", note)))
        nodes.append(DiagramNode(name, title, lines, "block", state, note))
        for label, after in _ways(blocks[name]):
            end = _target(after, skipped)
            old = edges.get((name, end))
            joined = f"{old.label}, {label}" if old is not None else label
            edges[name, end] = DiagramEdge(name, end, joined)
    return _cut("control flow", nodes, list(edges.values()))


def _empty(blocks: Mapping[str, BasicBlock], entry: str) -> dict[str, str]:
    """Return the blocks that only lead on, with what they lead to."""
    return {
        name: block.terminator.target
        for name, block in blocks.items()
        if name != entry and not block.instructions and isinstance(block.terminator, Jump)
        and block.terminator.target != name
    }  # fmt: skip


def _target(name: str, skipped: Mapping[str, str]) -> str:
    seen: set[str] = set()
    while name in skipped and name not in seen:
        seen.add(name)
        name = skipped[name]
    return name


def _ways(block: BasicBlock) -> Iterator[tuple[str, str]]:
    match block.terminator:
        case Branch(then=then, other=other):
            yield "yes", then
            yield "no", other
        case Switch(cases=cases, other=other):
            yield from ((str(number), after) for number, after in cases)
            yield "else", other
        case Jump(target=target):
            yield "", target
        case Exit() | Return() | Unreachable():
            return


def _block_text(block: BasicBlock) -> tuple[str, tuple[str, ...]]:
    """Return the lines of a block, and what stands there."""
    said = [i for i in block.instructions if not isinstance(i.detail, Param | Query) and i.op not in _COPIES]
    spans = [i.span for i in said if i.span is not None]
    ending = block.terminator.span
    if isinstance(block.terminator, Branch | Switch) and ending is not None:
        spans.append(ending)
    if not spans:
        return "", ("the end",) if not isinstance(block.terminator, Jump | Branch | Switch) else ("…",)
    shown = list(dict.fromkeys(" ".join(span.text.partition("{")[0].split()) for span in _outermost(spans)))
    # code of headers that was inlined has line numbers of its own
    numbers = [span.line for span in spans if span.file.path == spans[-1].file.path]
    first, last = min(numbers), max(numbers)
    title = f"line {first}" if first == last else f"lines {first} to {last}"
    return title, tuple(shown[:4] if len(shown) <= 4 else (*shown[:2], f"… {len(shown) - 3} more", shown[-1]))


def _outermost(spans: list[Span]) -> Iterator[Span]:
    """Yield the spans that lie in no other one, in the order of the text: whole statements, and the condition."""
    path, end = "", -1
    for span in sorted(spans, key=lambda span: (span.file.path, span.start, -span.end)):
        if span.file.path != path or span.end > end:
            yield span
            path, end = span.file.path, span.end


# --- what conditions are made of


def dependences(facts: KernelFacts, *, predicates: bool) -> Diagram:
    """Return what the conditions of the kernel's branches are made of, with or without the edges from predicates."""
    made = _Dependences(facts)
    found = made.diagram()
    return found if predicates else _by_data_alone(found, made.seeds)


class _Dependences:
    """Walks back from the conditions; the values of one expression share a key."""

    def __init__(self, facts: KernelFacts) -> None:
        self.facts = facts
        self.answer = facts.warp_level
        self.nodes: dict[str, DiagramNode] = {}
        self.edges: dict[tuple[str, str, str], DiagramEdge] = {}
        self.seeds: set[str] = set()
        self.seen: set[Value] = set()

    def diagram(self) -> Diagram:
        ends: dict[str, Value] = {}
        for name in self.answer.graph.order:
            block = self._block(name)
            condition = terminator_operands(block.terminator)[:1]
            if isinstance(block.terminator, Branch | Switch) and condition and isinstance(condition[0], Value):
                ends[name] = self._find_meant(condition[0])
        for name, value in ends.items():
            self._value(value)
            old = self.nodes[self._key(value)]
            parts = name in self.answer.branches
            state: State = "divergent" if parts else old.state
            self.nodes[old.key] = replace(old, shape="predicate", state=state, note="lanes part" if parts else "")
        for name, value in ends.items():
            self._gate(name, value)
        return _cut("predicates", list(self.nodes.values()), list(self.edges.values()))

    def _block(self, name: str) -> BasicBlock:
        return next(block for block in self.facts.function.blocks if block.name == name)

    def _value(self, root: Value) -> None:
        pending = [root]
        while pending:
            value = pending.pop(0)
            if value in self.seen:
                continue
            self.seen.add(value)
            self._node(value)
            for operand in self._operands(value):
                self._node(operand)
                self._edge(self._key(operand), self._key(value), "data")
                pending.append(operand)

    def _operands(self, value: Value) -> list[Value]:
        made = self.answer.definitions.get(value)
        if isinstance(made, Phi):
            return [self._find_meant(operand) for _, operand in made.incoming if isinstance(operand, Value)]
        return [self._find_meant(o) for o in made.operands if isinstance(o, Value)] if made is not None else []

    def _find_meant(self, value: Value) -> Value:
        """Return the value that one is a copy of, in another width or space."""
        made = self.answer.definitions.get(value)
        while isinstance(made, Instruction) and made.op in _COPIES and isinstance(made.operands[0], Value):
            value = made.operands[0]
            made = self.answer.definitions.get(value)
        return value

    def _edge(self, start: str, end: str, kind: Literal["data", "predicate"]) -> None:
        if start != end:
            self.edges.setdefault((start, end, kind), DiagramEdge(start, end, "", kind))

    def _gate(self, name: str, condition: Value) -> None:
        """Draw the edges from a branch to the values in which its ways meet."""
        for join, ways in follow_divergence(self.answer.graph, name).joins.items():
            for phi in self._block(join).phis:
                inside = {operand for before, operand in phi.incoming if before in ways}
                if phi.result in self.seen and len(inside) > 1:
                    self._edge(self._key(condition), self._key(phi.result), "predicate")

    def _key(self, value: Value) -> str:
        made = self.answer.definitions.get(value)
        if isinstance(made, Phi):
            return f"phi {self.answer.homes[value]} {value.name} {id(value)}"
        if isinstance(made, Instruction) and isinstance(made.detail, Param | Query):
            return f"given {made.detail}"
        span = None if made is None else made.span
        return f"value {id(value)}" if span is None else f"{span.file.path}:{span.start}:{span.end}"

    def _node(self, value: Value) -> None:
        key = self._key(value)
        made = self.answer.definitions.get(value)
        old = self.nodes.get(key)
        cause = self.answer.divergent.get(value)
        if cause is not None and cause.kind == "seed":
            self.seeds.add(key)
        state: State = "divergent" if cause is not None or (old and old.state == "divergent") else "together"
        if isinstance(made, Phi):
            self.nodes[key] = DiagramNode(key, f"φ {value.name.partition('.')[0] or 'value'}", (), "join", state)
            return
        title = _title(made)
        detail = made.detail if isinstance(made, Instruction) else None
        seed = isinstance(detail, Query | Param) and (old is None or old.shape == "seed")
        self.nodes[key] = DiagramNode(key, title, _at(made), "seed" if seed else "value", state)


def _title(made: Instruction | None) -> str:
    match made:
        case Instruction(detail=Query(register=register)):
            return f"%{register}"
        case Instruction(detail=Param(parameter=name)):
            return name
        case Instruction(span=Span() as span):
            return " ".join(span.text.split())
        case Instruction(op=op):
            return op
        case _:
            return "?"


def _at(made: Instruction | None) -> tuple[str, ...]:
    if made is None or made.span is None or isinstance(made.detail, Param | Query):
        return ()
    return (f"line {made.span.line}",)


def _by_data_alone(found: Diagram, seeds: set[str]) -> Diagram:
    """Return the picture without predicates: what is divergent by data alone is marked."""
    follows: dict[str, list[str]] = defaultdict(list)
    for edge in found.edges:
        if edge.kind == "data":
            follows[edge.start].append(edge.end)
    state = {node.key: node.state for node in found.nodes}
    reached, pending = set(seeds), list(seeds)
    while pending:
        for after in follows[pending.pop()]:
            if after not in reached and state.get(after) == "divergent":
                reached.add(after)
                pending.append(after)
    nodes = [
        node if node.key in reached or node.state != "divergent" else replace(node, state="together", note="")
        for node in found.nodes
    ]
    return replace(found, name="data", nodes=tuple(nodes), edges=tuple(e for e in found.edges if e.kind == "data"))


# --- size


def _cut(name: Literal["control flow", "predicates"], nodes: list[DiagramNode], edges: list[DiagramEdge]) -> Diagram:
    """Return a diagram of at most so many nodes: those that come first."""
    kept = nodes[:_MOST]
    keys = {node.key for node in kept}
    inside = tuple(edge for edge in edges if edge.start in keys and edge.end in keys)
    return Diagram(name, tuple(kept), inside, len(nodes) - len(kept))
