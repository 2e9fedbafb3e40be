"""Control flow by the mask stack. All lanes that are active come to a part together, and meet again where its ways do.

    two arms      br_push c, ELSE, JOIN   …  pop_mask   ELSE:  …  pop_mask   JOIN:
    one arm       push_mask JOIN   mask_nz c   …  pop_mask   JOIN:
    loop          push_mask END   HEAD:  …  mask_nz c   …  jmp HEAD   END:
    arms that     next = c ? 1 : 2, then for each part on the ways, in order:
      share code  push_mask JOIN   mask_nz (next = 1)   …  next = …   pop_mask   JOIN:

A lane that leaves a loop within an arm cannot be masked off up to END there, since the stack's innermost entry is the
arm's: it notes in `which` where it goes, comes to the end of the iteration with the others, and leaves by the `mask_nz`
there. Behind a loop of several exits, `which` tells lanes apart. Phis are copies on the ways to their block, all at
once: what is overwritten too early goes through another register (the swap problem; Briggs and others, 1998).
Irreducible loops have no header at which lanes could meet: refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from warpsmith.ssa.graph import Cycle, Graph
from warpsmith.ssa.nodes import BasicBlock, Branch, Function, Operand, Value
from warpsmith.targets.mask.code import MaskCode, Virtual, Word
from warpsmith.targets.mask.levels import END, BranchWay, LoopLevel, leads_to, level_of, reached
from warpsmith.targets.mask.refused import refuse
from warpsmith.targets.mask.words import equal, invert, select

__all__ = ["BlockWriters", "write_control"]


class BlockWriters(Struct, frozen=True):
    """What control flow asks for: the instructions of a block, the word of an operand, the register of a phi."""

    block: Callable[[BasicBlock], None]
    word: Callable[[Operand], Word]
    phi: Callable[[Value], Virtual]


class _Fork(Struct, frozen=True):
    """Ways from a part. Of two, the first one is taken where `selector` is not 0; behind a loop of several exits it is
    the number of the way, from 1 on."""

    ways: tuple[BranchWay, ...]
    selector: Word = 0
    numbered: bool = False


class _At(Struct):
    """The level that is written, `which` exit its lanes take (0: none), and whether lanes wait for its end to leave."""

    level: LoopLevel
    which: Virtual
    wait: bool = False


def write_control(function: Function, code: MaskCode, parts: BlockWriters) -> None:
    """Write a function; raises InputError where its control flow cannot be written."""
    graph = Graph.of(function)
    blocks = {block.name: block for block in function.blocks}
    for cycle in graph.irreducible:
        line = blocks[cycle.entries[1]].terminator.span
        raise refuse("control enters this loop in two places: lanes have no place to meet", line, "write it as a loop")
    writer = _Writer(graph, blocks, code, parts)
    at = _At(level_of(graph, None), code.virtual())
    writer.sequence(at, graph.entry, END)
    code.end()


class _Writer:
    def __init__(self, graph: Graph, blocks: Mapping[str, BasicBlock], code: MaskCode, parts: BlockWriters) -> None:
        self.graph, self.blocks, self.code, self.parts = graph, blocks, code, parts

    # --- a part, and what follows

    def sequence(self, at: _At, part: str, join: str, *, outermost: bool = False) -> None:
        """Write what lanes do from a part on until `join`, where they all come. `outermost`: the innermost entry of the
        stack is the loop's."""
        while part != join:
            fork = self.part(at, part)
            part = self.follow(at, part, fork, outermost=outermost)

    def part(self, at: _At, part: str) -> _Fork:
        """Write a block or a loop, and return the ways behind it."""
        loop = at.level.loops.get(part)
        if loop is not None:
            return self.loop(loop)
        block = self.blocks[part]
        self.parts.block(block)
        end = block.terminator
        if isinstance(end, Branch) and end.then != end.other:
            return _Fork((BranchWay(part, end.then), BranchWay(part, end.other)), self.parts.word(end.condition))
        (target,) = leads_to(self.graph, part)
        return _Fork((BranchWay(part, target),))

    def loop(self, cycle: Cycle) -> _Fork:
        code, level = self.code, level_of(self.graph, cycle)
        if not level.exits:
            line = self.blocks[cycle.header].terminator.span
            raise refuse("no lane ever leaves this loop", line, "give it an end")
        head, end = code.label("LOOP"), code.label("END")
        inside = _At(level, code.virtual())
        code.push(end)
        code.place(head)
        code.move(inside.which, 0)
        self.sequence(inside, cycle.header, END, outermost=True)
        if inside.wait:
            code.keep(invert(code, inside.which))
        code.jump(head)
        code.joins.pop()
        code.place(end)
        ways = tuple(BranchWay("", target) for target in level.exits)
        if len(ways) == 2:
            return _Fork(ways, equal(code, inside.which, 1))
        return _Fork(ways, inside.which, numbered=len(ways) > 2)

    def follow(self, at: _At, part: str, fork: _Fork, *, outermost: bool) -> str:
        """Write the ways up to where they meet, and return that part."""
        if len(fork.ways) == 1:
            return self.take(at, fork.ways[0])
        if outermost and at.level.cycle is not None:
            following = self.leave(at, fork)
            if following is not None:
                return following
        join = at.level.joins[part]
        regions = [reached(at.level, [at.level.part_of(way.target)], join) for way in fork.ways]
        if fork.numbered or regions[0] & regions[1]:
            self.dispatch(at, fork, set().union(*regions), join)
        else:
            self.arms(at, fork, join)
        return join

    # --- one way

    def take(self, at: _At, way: BranchWay) -> str:
        """Write what lanes do on a way, and return the part to which it leads."""
        if at.level.kind_of(way.target) == "exit":
            self.copy(way)
            self.code.move(at.which, 1 + at.level.exits.index(way.target))
            at.wait = True
        else:
            self.copy(way)
        return at.level.part_of(way.target)

    def does_nothing(self, at: _At, way: BranchWay) -> bool:
        """Whether there is nothing to do on a way."""
        return at.level.kind_of(way.target) != "exit" and not self.copies(way)

    def copies(self, way: BranchWay) -> list[tuple[Virtual, Word]]:
        """Return what phis of the target get on a way."""
        if not way.source or way.target == END:
            return []
        made = []
        for phi in self.blocks[way.target].phis:
            (operand,) = (one for name, one in phi.incoming if name == way.source)
            made.append((self.parts.phi(phi.result), self.parts.word(operand)))
        return [(dest, source) for dest, source in made if dest != source]

    def copy(self, way: BranchWay) -> None:
        """Write the copies of a way, as if they were made at once."""
        copies = self.copies(way)
        written = {dest for dest, _ in copies}
        kept: dict[Word, Virtual] = {}
        for _, source in copies:
            if source in written and source not in kept:
                kept[source] = self.code.virtual()
                self.code.move(kept[source], source)
        for dest, source in copies:
            self.code.move(dest, kept.get(source, source))

    def may_precede(self, way: BranchWay) -> bool:
        """Whether lanes that go another way may make the copies of this one too: nothing of the target is live here."""
        return not way.source or way.target == END or not self.graph.dominates(way.target, way.source)

    # --- ways that part

    def leave(self, at: _At, fork: _Fork) -> str | None:
        """Let the lanes that leave a loop wait at its end; None where that cannot be done here."""
        out = [way for way in fork.ways if at.level.kind_of(way.target) == "exit"]
        if len(fork.ways) != 2 or len(out) != 1 or not self.may_precede(out[0]):
            return None
        code, (one, other) = self.code, fork.ways
        self.copy(out[0])
        code.move(at.which, 1 + at.level.exits.index(out[0].target))
        code.keep(fork.selector if out[0] is other else invert(code, fork.selector))
        code.move(at.which, 0)
        return self.take(at, other if out[0] is one else one)

    def arms(self, at: _At, fork: _Fork, join: str) -> None:
        """Write two ways that share no part."""
        code, (one, other) = self.code, fork.ways
        if self.is_short(at, other, join):
            self.copy(other)
            with code.only(fork.selector):
                self.sequence(at, self.take(at, one), join)
        elif self.is_short(at, one, join):
            self.copy(one)
            with code.only(invert(code, fork.selector)):
                self.sequence(at, self.take(at, other), join)
        else:
            with code.arms(fork.selector) as end_arm:
                self.sequence(at, self.take(at, one), join)
                end_arm()
                self.sequence(at, self.take(at, other), join)

    def is_short(self, at: _At, way: BranchWay, join: str) -> bool:
        """Whether a way leads straight to where all meet, with copies at most, which others may make too."""
        there = at.level.part_of(way.target) == join and at.level.kind_of(way.target) != "exit"
        return there and (self.does_nothing(at, way) or self.may_precede(way))

    def dispatch(self, at: _At, fork: _Fork, between: set[str], join: str) -> None:
        """Write ways that share parts: part by part, each for the lanes whose next one it is."""
        order = sorted(between, key=self.graph.rank.__getitem__)
        numbers = {part: number for number, part in enumerate(order, 1)}
        numbers[join] = 0
        following = self.code.virtual()
        self.send(at, fork, (following, numbers))
        for part in order:
            with self.code.only(equal(self.code, following, numbers[part])):
                self.send(at, self.part(at, part), (following, numbers))

    def send(self, at: _At, fork: _Fork, to: tuple[Virtual, Mapping[str, int]]) -> None:
        """Note in each lane the number of its next part."""
        code, (following, numbers), ways = self.code, to, fork.ways
        if len(ways) == 1:
            code.move(following, numbers[self.take(at, ways[0])])
        elif fork.numbered:
            for number, way in enumerate(ways, 1):
                with code.only(equal(code, fork.selector, number)):
                    code.move(following, numbers[self.take(at, way)])
        elif all(self.does_nothing(at, way) for way in ways):
            one, other = (numbers[at.level.part_of(way.target)] for way in ways)
            code.move(following, select(code, fork.selector, one, other))
        else:
            with code.arms(fork.selector) as end_arm:
                code.move(following, numbers[self.take(at, ways[0])])
                end_arm()
                code.move(following, numbers[self.take(at, ways[1])])
