"""Changes to the inputs of a run that got to a branch, so that the next one goes another way there.

what was compared, or a neighbor of it      into a word of memory or an argument that reaches the branch
what another thread has found               into the words that this one reads, but for one or two
small sizes, another grid, other arrays     so that the threads of a warp lie in several rows and planes
"""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from tests.corpus.goals import Goal, Goals
from tests.corpus.guessing import ARRAYS, KINDS, array_of
from tests.corpus.inputs import Inputs
from tests.corpus.sampling import Known, Who
from warpsmith.analysis.memory.bounds import countable
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.simt.meeting.waiting import TOGETHER
from warpsmith.ssa.nodes import Instruction, Param
from warpsmith.ssa.types import Type

__all__ = ["PATIENT", "Changes"]

_Some = TypeVar("_Some")
_PLAIN = (0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255, 256, 2**31 - 1, 2**31, 2**32 - 1, 2**64 - 1)
_REAL = (0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 1e-30, 1e30, float("inf"), float("nan"))
_FORMS = {2: "<e", 4: "<f", 8: "<d"}
PATIENT = 8
"""How many times as many steps a run gets at times."""


class Changes:
    """Changes to inputs of one kernel, as they are drawn from `chosen`. `free`: grids may be made up; `waits`: threads
    wait for each other somewhere, so that all must run."""

    def __init__(self, facts: KernelFacts, goals: Goals, chosen: random.Random, *, free: bool) -> None:
        self.facts, self.goals, self.chosen, self.free = facts, goals, chosen, free
        self.waits = any(i.op in TOGETHER for _, i in facts.function.instructions())

    def changed(self, known: Known, name: str, level: str) -> Inputs:
        """Return the inputs of a run, with something changed that reaches a branch."""
        goal, inputs = self.goals.of(name), self._elsewhere(known, name, level)
        apart = name not in known.watch.met[level or "block"]
        if (goal.loads or apart) and self.chosen.random() < 0.4:
            return self._beside(known, name, level)
        if self.chosen.random() < 0.2:
            goal = self.goals.of(self.chosen.choice(list(self.goals.above(name)) or [name]))
        if self.free and self.chosen.random() < 0.1:
            inputs = replace(inputs, arguments={**inputs.arguments, **self.sizes(goal)})
        for _ in range(self.chosen.choice((1, 1, 1, 2, 3))):
            loads = [i for i in goal.loads if known.watch.words[i]]
            if goal.arguments and (not loads or self.chosen.random() < 0.4):
                inputs = self._argument(inputs, known, goal)
            elif loads:
                inputs = self._words(inputs, known, goal, self.near(loads))
            else:
                inputs = replace(inputs, seed=self.chosen.randrange(1 << 30))
        return inputs

    def _elsewhere(self, known: Known, name: str, level: str) -> Inputs:
        """Return the inputs of a run, for which other threads may be run, for a longer time, in another grid."""
        goal, inputs = self.goals.of(name), known.inputs
        if self.chosen.random() < 0.1:
            inputs = replace(inputs, seed=self.chosen.randrange(1 << 30))
        if self.chosen.random() < 0.5:
            patient = known.late and self.chosen.random() < 0.1
            inputs = replace(inputs, patience=PATIENT if patient else 1)
        if self.chosen.random() < (0.2 if self.waits or inputs.lanes else 0.8):
            inputs = replace(inputs, lanes=self.lanes(level, [n for _, n in known.watch.visitors[name]]))
        if self.free and self.chosen.random() < 0.1:
            inputs = self.remade(inputs, known)
        often = 0.05 if not goal.axes else 0.3 if goal.loads or goal.arguments else 0.9
        if self.free and self.chosen.random() < often:
            inputs = self._launched(inputs, known, goal)
        return inputs

    def remade(self, inputs: Inputs, known: Known) -> Inputs:
        """Return inputs in which an array that was read, or all that were not, are made in another way."""
        read = {array_of(address): 0 for reads in known.watch.reads.values() for address, _ in reads.values()}
        others = [array for array in ARRAYS if array not in read]
        arrays = [self.chosen.choice(list(read))] if read and self.chosen.random() < 0.5 else others
        return replace(inputs, kinds={**inputs.kinds, **dict.fromkeys(arrays, self.chosen.choice(KINDS))})

    def _beside(self, known: Known, name: str, level: str) -> Inputs:
        """Return inputs with which another thread finds what one has found that came to a branch, but for a word or
        two of those that reach the branch: it goes the same way, up to there."""
        watch, inputs, goal = known.watch, known.inputs, self.goals.of(name)
        model = self.chosen.choice(list(watch.visitors[name]))
        lanes = self.lanes(level, [model[1]]) or (model[1], model[1] ^ 1)
        copied = watch.copied(model, (model[0], lanes[1]))
        words = {address: word for address, (_, word) in copied.items()}
        reaching = [address for i in goal.loads for address, (place, _) in copied.items() if place is i]
        met = name in watch.met[level or "block"]
        for _ in range(self.chosen.choice((1, 1, 2)) if met else self.chosen.choice((0, 0, 1))):
            if reaching:
                address = self.near(reaching)
                words[address] = self._number(known, goal, copied[address][0].results[0].type)
        return replace(inputs, words={**inputs.words, **words}, lanes=None if self.waits else lanes)

    def joined(self, known: Known, one: Who, other: Known, model: Who) -> Inputs:
        """Return the inputs of one run, in which a neighbor of a thread finds what a thread of another run found."""
        width = self.facts.device.warp_width
        first = one[1] // width * width
        beside = model[1] if model[1] // width == one[1] // width and model != one else first + (one[1] + 1) % width
        copied = other.watch.copied(model, (one[0], beside), known.watch)
        words = {address: word for address, (_, word) in copied.items()}
        lanes = (one[1], beside)
        both = {**other.inputs.words, **words, **known.inputs.words, **words}
        return replace(
            known.inputs, words=both, lanes=lanes, patience=max(known.inputs.patience, other.inputs.patience)
        )

    def lanes(self, level: str, among: Sequence[int] = ()) -> tuple[int, ...] | None:
        """Return two threads that are run, of a warp or of a block; None for all, as where they wait for each other."""
        x, y, z = self.facts.block
        count, width = x * y * z, self.facts.device.warp_width
        if count < 2 or self.chosen.random() < (0.8 if self.waits else 0.1):
            return None
        one = self.chosen.choice(among or range(count))
        first = one // width * width
        near = range(count) if level == "block" else range(first, min(first + width, count))
        return (one, self.chosen.choice([n for n in near if n != one] or [one]))

    def warp(self, thread: int) -> tuple[int, ...] | None:
        """Return the threads of a warp; None for all, where threads wait for each other."""
        x, y, z = self.facts.block
        width = self.facts.device.warp_width
        first = thread // width * width
        return None if self.waits else tuple(range(first, min(first + width, x * y * z)))

    def near(self, things: Sequence[_Some]) -> _Some:
        """Return one of several, the first ones more often."""
        place = min(int(self.chosen.expovariate(0.5)), len(things) - 1)
        return things[place] if self.chosen.random() < 0.7 else self.chosen.choice(things)

    def _launched(self, inputs: Inputs, known: Known, goal: Goal) -> Inputs:
        """Return inputs with a block run whose number is near what was compared, were it the number of a thread."""
        axis = self.chosen.choice(goal.axes or (0,))
        threads = self.facts.block[axis]
        compared = [n for i in goal.compared[:6] for n in known.watch.numbers[i]]
        number = self.chosen.choice(
            [*(goal.constants or compared)[:6], self.chosen.choice(compared or [0]), 1 << self.chosen.randrange(31)]
        )
        near = number % (1 << 32) // self.chosen.choice((1, threads, threads, threads, 2 * threads, 4 * threads))
        limit = countable(self.facts.block)[axis]
        place = min(max(0, near + self.chosen.choice((-1, -1, 0, 0, 1))), limit - 1)
        most = min(place + self.chosen.choice((1, 1, 2, place + 1)), limit)
        grid = [1, 1, 1]
        grid[axis] = most
        return replace(inputs, grid=(grid[0], grid[1], grid[2]), blocks=(place,))

    def _words(self, inputs: Inputs, known: Known, goal: Goal, i: Instruction) -> Inputs:
        """Return inputs with another number in one word that a load saw, or in many side by side: what the lanes of a
        warp tell each other changes with the second."""
        places = known.watch.words[i]
        # what was compared may be the word itself
        compared = {n for test in goal.compared[:4] for n in known.watch.numbers[test]}
        hit = [n for n, place in enumerate(places) if places[place] in compared]
        at = self.chosen.choice(hit) if hit and self.chosen.random() < 0.6 else self.chosen.randrange(len(places))
        new = self._number(known, goal, i.results[0].type)
        chosen = list(places)[at : at + self.chosen.choice((1, 1, 1, 1, 16, 32))]
        return replace(inputs, words={**inputs.words, **dict.fromkeys(chosen, new)})

    def _argument(self, inputs: Inputs, known: Known, goal: Goal) -> Inputs:
        i = self.near(goal.arguments)
        key = self._key(i)
        if not key:
            return inputs
        return replace(inputs, arguments={**inputs.arguments, key: self._number(known, goal, i.result.type)})

    def sizes(self, goal: Goal) -> dict[str, bytes]:
        """Return small whole numbers for arguments, and a few large ones: were they sizes of an array of several
        dimensions, the threads of a warp would lie in several of its rows and planes."""
        found = {}
        for i in goal.arguments:
            size, number = i.result.type.bytes, self.chosen.choice((*range(1, 7), 1000))
            if i.result.type.kind == "integer" and self._key(i):
                found[self._key(i)] = number.to_bytes(8, "little")[:size]
        return found

    def _key(self, i: Instruction) -> str:
        """Return what an argument is called among the inputs; "" where it is read in another way than it is given."""
        assert isinstance(i.detail, Param)
        size = next(p.bytes for p in self.facts.function.parameters if p.name == i.detail.parameter)
        return f"{i.detail.parameter}+{i.detail.offset}" if i.result.type.bytes <= size - i.detail.offset else ""

    def _number(self, known: Known, goal: Goal, type: Type) -> bytes:
        """Return a number to try: one that was compared, a neighbor of it, or one that often matters. What is a real
        number in memory may have been compared as a whole one."""
        size = type.bytes
        near = goal.compared[:4] if self.chosen.random() < 0.7 else goal.compared
        compared = sorted(n for i in near for n in known.watch.numbers[i])
        if self.chosen.random() < 0.3:
            # all lanes or none agree where a number is near the least or the greatest of what they have
            compared = [*compared[:4], *compared[-4:]]
        kind = self.chosen.random()
        if size in _FORMS and kind > (0.6 if type.kind == "float" else 0.95):
            return self._real(size)
        if compared and kind < 0.4:
            number = self.chosen.choice(compared) + self.chosen.choice((-1, 0, 0, 1))
        elif goal.constants and kind < 0.7:
            number = self.near(goal.constants) + self.chosen.choice((-1, 0, 0, 0, 1))
        else:
            number = self.chosen.choice(_PLAIN)
        if type.kind == "float" and size in _FORMS and number < 1 << 31 and self.chosen.random() < 0.5:
            return struct.pack(_FORMS[size], number % 60_000)
        return (number % (1 << 8 * size)).to_bytes(size, "little")

    def _real(self, size: int) -> bytes:
        usual = self.chosen.uniform(-2, 2), 10 ** self.chosen.uniform(-3, 3)
        try:
            return struct.pack(_FORMS[size], self.chosen.choice((*_REAL, *usual, *usual, *usual)))
        except OverflowError:
            return bytes(size)
