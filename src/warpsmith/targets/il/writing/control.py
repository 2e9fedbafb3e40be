"""Control flow of AMD IL, which has ifs and loops, from blocks and branches.

    two arms       if_logicalnz c   …   else   …   endif
    a way that     if_logicalnz c   …  break   endif   …           which the rest need not stand in an else arm for
    leaves a loop  break_logicalnz c                               where it does nothing else
    loop           whileloop   …   endloop
    arms that      next = c ? 1 : 2, then for each part on the ways, in order:
      share code   if_logicalnz (next = 1)   …  next = …   endif

A loop that is left to several places notes in `which` to which one before each break. Phis are copies on the ways to
their block, all at once: what is overwritten too early goes through another register (the swap problem; Briggs and
others, 1998). Irreducible loops are refused: an if and a loop have one entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from msgspec import Struct

from warpsmith.front.il.nodes import IlRegister
from warpsmith.ssa.graph import Cycle, Graph
from warpsmith.ssa.nodes import BasicBlock, Branch, Function, Operand, Value
from warpsmith.targets.il.writing.code import IlCode, Word, component
from warpsmith.targets.il.writing.refused import refuse
from warpsmith.targets.il.writing.regions import IlLevel, make_level, reached
from warpsmith.targets.mask.levels import END, BranchWay, leads_to

__all__ = ["IlBlockWriters", "write_control"]


class IlBlockWriters(Struct, frozen=True):
    """What control flow asks for: the instructions of a block, the word of an operand, the register of a phi."""

    block: Callable[[BasicBlock], None]
    word: Callable[[Operand], Word]
    phi: Callable[[Value], IlRegister]


class _Test(Struct, frozen=True):
    """Holds where a word is not 0, or (`zero`) where it is."""

    word: Word
    zero: bool = False

    @property
    def form(self) -> str:
        """The end of the name of an instruction that tests it."""
        return "logicalz" if self.zero else "logicalnz"


class _Fork(Struct, frozen=True):
    """Ways from a part, each with what holds where it is taken."""

    ways: tuple[BranchWay, ...]
    tests: tuple[Callable[[], _Test], ...] = ()


class _At(Struct, frozen=True):
    """The level that is written, and the register for the way that leaves its loop."""

    level: IlLevel
    which: IlRegister


def write_control(function: Function, code: IlCode, writers: IlBlockWriters) -> None:
    """Write a function; raises InputError where its control flow cannot be written."""
    graph = Graph.of(function)
    blocks = {block.name: block for block in function.blocks}
    for cycle in graph.irreducible:
        line = blocks[cycle.entries[1]].terminator.span
        raise refuse(
            "control enters this loop in two places: AMD IL has loops of one entry", line, "write it as a loop"
        )
    writer = _Writer(graph, blocks, code, writers)
    writer.sequence(_At(make_level(graph, None), code.register()), graph.entry, END)


class _Writer:
    def __init__(self, graph: Graph, blocks: Mapping[str, BasicBlock], code: IlCode, writers: IlBlockWriters) -> None:
        self.graph, self.blocks, self.code, self.writers = graph, blocks, code, writers

    # --- a part, and what follows

    def sequence(self, at: _At, part: str | None, join: str) -> None:
        """Write what a thread does from a part on until `join`; nothing where it has left the loop."""
        while part is not None and part != join:
            part = self.follow(at, part, self.part(at, part))

    def part(self, at: _At, part: str) -> _Fork:
        """Write a block or a loop, and return the ways behind it."""
        loop = at.level.parts.loops.get(part)
        if loop is not None:
            return self.loop(loop)
        block = self.blocks[part]
        self.code.forget()
        self.writers.block(block)
        end = block.terminator
        if isinstance(end, Branch):
            self.code.span = end.span
        if isinstance(end, Branch) and end.then != end.other:
            word = self.writers.word(end.condition)
            ways = (BranchWay(part, end.then), BranchWay(part, end.other))
            return _Fork(ways, (lambda: _Test(word), lambda: _Test(word, zero=True)))
        (target,) = leads_to(self.graph, part)
        return _Fork((BranchWay(part, target),))

    def loop(self, cycle: Cycle) -> _Fork:
        """Write a loop, and return the ways behind it."""
        code, level = self.code, make_level(self.graph, cycle)
        exits = level.parts.exits
        if not exits:
            line = self.blocks[cycle.header].terminator.span
            raise refuse("no thread ever leaves this loop", line, "give it an end")
        inside = _At(level, code.register())
        code.span = self.blocks[cycle.header].terminator.span
        with self.region("whileloop", "endloop"):
            self.sequence(inside, cycle.header, END)
        ways = tuple(BranchWay("", target) for target in exits)
        return _Fork(ways, tuple(self._is(component(inside.which), number) for number in range(1, 1 + len(ways))))

    def _is(self, word: Word, number: int) -> Callable[[], _Test]:
        return lambda: _Test(self.code.compute("ieq", word, number))

    def follow(self, at: _At, part: str, fork: _Fork) -> str | None:
        """Write the ways up to where they meet, and return that part; None where the only one leaves the loop."""
        if len(fork.ways) == 1:
            return self.take(at, fork.ways[0])
        stay = self.settle(at, fork)
        if len(stay.ways) == 1:
            return self.take(at, stay.ways[0])
        join = at.level.joins[part]
        self.meet(at, stay, join)
        return join

    def settle(self, at: _At, fork: _Fork) -> _Fork:
        """Write the ways that leave the loop, and return the others."""
        stay: list[int] = []
        for number, way in enumerate(fork.ways):
            if at.level.leaves(way):
                self.leave(at, way, fork.tests[number]())
            else:
                stay.append(number)
        return _Fork(tuple(fork.ways[n] for n in stay), tuple(fork.tests[n] for n in stay))

    def leave(self, at: _At, way: BranchWay, test: _Test) -> None:
        """Write a way that leaves the loop where a test holds, which others go past."""
        if len(at.level.parts.exits) == 1 and not self.copies(way):
            self.code.put(f"break_{test.form}", None, test.word)
            return
        with self.when(test):
            self.take(at, way)

    @contextmanager
    def region(self, name: str, end: str, *words: Word) -> Iterator[Callable[[], None]]:
        """What is written within stands between two instructions, which are of the same line of the user's; what is
        given puts `else` between."""
        code, span = self.code, self.code.span

        def put(other: str, *given: Word) -> None:
            code.span = span
            code.put(other, None, *given)
            code.forget()

        put(name, *words)
        yield lambda: put("else")
        put(end)

    def when(self, test: _Test) -> AbstractContextManager[Callable[[], None]]:
        """What is written within is done where a test holds; behind a call of what is given, where it does not."""
        return self.region(f"if_{test.form}", "endif", test.word)

    # --- one way

    def take(self, at: _At, way: BranchWay) -> str | None:
        """Write what a thread does on a way, and return the part to which it leads; None where it leaves the loop."""
        self.copy(way)
        parts = at.level.parts
        if not at.level.leaves(way):
            return parts.part_of(way.target)
        if len(parts.exits) > 1:
            self.code.move(at.which, 1 + parts.exits.index(way.target))
        self.code.put("break", None)
        return None

    def copies(self, way: BranchWay) -> list[tuple[IlRegister, Word]]:
        """Return what phis of the target get on a way."""
        if not way.source or way.target == END:
            return []
        made = []
        for phi in self.blocks[way.target].phis:
            (operand,) = (one for name, one in phi.incoming if name == way.source)
            made.append((self.writers.phi(phi.result), self.writers.word(operand)))
        return [(register, source) for register, source in made if source != component(register)]

    def copy(self, way: BranchWay) -> None:
        """Write the copies of a way, as if they were made at once."""
        copies = self.copies(way)
        written = {component(register) for register, _ in copies}
        kept: dict[Word, Word] = {}
        for _, source in copies:
            if source in written and source not in kept:
                register = self.code.register()
                self.code.move(register, source)
                kept[source] = component(register)
        for register, source in copies:
            self.code.move(register, kept.get(source, source))

    # --- ways that part and meet

    def meet(self, at: _At, fork: _Fork, join: str) -> None:
        """Write ways that meet at `join`."""
        regions = [reached(at.level.after, at.level.parts.part_of(way.target), join) for way in fork.ways]
        if len(fork.ways) > 2 or regions[0] & regions[1]:
            self.dispatch(at, fork, set().union(*regions), join)
        else:
            self.arms(at, fork, join)

    def arms(self, at: _At, fork: _Fork, join: str) -> None:
        """Write two ways that share no part."""
        one, other = fork.ways
        first, second = fork.tests
        if self.does_nothing(at, one, join):
            one, other, first = other, one, second
        test = first()
        with self.when(test) as otherwise:
            self.sequence(at, self.take(at, one), join)
            if not self.does_nothing(at, other, join):
                otherwise()
                self.sequence(at, self.take(at, other), join)

    def does_nothing(self, at: _At, way: BranchWay, join: str) -> bool:
        """Whether a way leads straight to where all meet."""
        return at.level.parts.part_of(way.target) == join and not self.copies(way)

    def dispatch(self, at: _At, fork: _Fork, between: set[str], join: str) -> None:
        """Write ways that share parts: part by part, each for the threads whose next one it is."""
        order = sorted(between, key=self.graph.rank.__getitem__)
        numbers = {part: number for number, part in enumerate(order, 1)}
        numbers[join] = 0
        following = self.code.register()
        self.send(at, fork, following, numbers)
        for part in order:
            with self.when(self._is(component(following), numbers[part])()):
                self.send(at, self.part(at, part), following, numbers)

    def send(self, at: _At, fork: _Fork, following: IlRegister, numbers: Mapping[str, int]) -> None:
        """Note the number of the next part."""
        if len(fork.ways) > 1:
            fork = self.settle(at, fork)
        if len(fork.ways) == 1:
            self._note(at, fork.ways[0], following, numbers)
        elif len(fork.ways) == 2:
            self._note_either(at, fork, following, numbers)
        else:
            for way, make in zip(fork.ways, fork.tests, strict=True):
                with self.when(make()):
                    self._note(at, way, following, numbers)

    def _note_either(self, at: _At, fork: _Fork, following: IlRegister, numbers: Mapping[str, int]) -> None:
        one, other = fork.ways
        with self.when(fork.tests[0]()) as otherwise:
            self._note(at, one, following, numbers)
            otherwise()
            self._note(at, other, following, numbers)

    def _note(self, at: _At, way: BranchWay, following: IlRegister, numbers: Mapping[str, int]) -> None:
        part = self.take(at, way)
        if part is not None:
            self.code.move(following, numbers[part])
