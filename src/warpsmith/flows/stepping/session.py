"""When a kernel that is stepped through stops, and what is answered.

A warp stands somewhere else when its line or its active lanes have changed; `next` goes there. `back` runs the kernel
again from its start to where the warp stood before: steps are numbered, and a launch repeats itself.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct, field

from warpsmith.flows.stepping.answers import (
    HELP,
    describe_groups,
    describe_values,
    explain_lane,
    line_of,
    name_lanes,
    picture,
    source_line,
)
from warpsmith.flows.stepping.conditions import Number, UnknownNameError, evaluate, parse
from warpsmith.flows.stepping.turns import StepPosition, Warp
from warpsmith.flows.stepping.values import LaneScope
from warpsmith.simt.thread import Thread

__all__ = ["Again", "Breakpoint", "Quit", "Session", "Watchpoint", "breakpoint_of"]


class Quit(Exception):
    """Nobody wants to go on."""


class Again(Exception):
    """The kernel has to run again, up to a step."""


class Breakpoint(Struct, frozen=True):
    """Stop where a warp comes to a line, and `condition` is true in an active lane."""

    line: int
    text: str = ""
    condition: ast.expr | None = None


class Watchpoint(Struct, frozen=True):
    """Stop where an expression changes: in all lanes that are there, or the element of an array."""

    text: str
    expression: ast.expr

    @property
    def is_one_element(self) -> bool:
        """Whether it is an element of a number."""
        return isinstance(self.expression, ast.Subscript) and isinstance(self.expression.slice, ast.Constant)


Ask = Callable[[], str | None]
"""Returns what a person says next; None: nothing more."""


class Session(Struct):
    """One debugging session, over all runs of the kernel. `ask` is None where nobody is asked: then each stop is told,
    and the run goes on. `chosen`: whether a warp of a block is looked at."""

    say: Callable[[str], None]
    ask: Ask | None
    breakpoints: list[Breakpoint]
    watches: list[Watchpoint]
    chosen: Callable[[int, int], bool]
    scope: Callable[[Thread], LaneScope]
    mode: str = "next"
    until: int = 0
    focus: tuple[int, int] | None = None
    position: StepPosition | None = None
    replay: int = -1
    ended: str = ""
    before: dict[tuple[int, int], tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    points: dict[tuple[int, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    seen: dict[str, dict[tuple[int, int], Number]] = field(default_factory=lambda: defaultdict(dict))
    told: int = 0
    executed: tuple[int, tuple[int, int]] = (0, (0, 0))

    def begin(self, replay: int = -1) -> None:
        """Begin a run; up to step `replay` nobody is asked."""
        self.replay, self.position, self.ended = replay, None, ""
        self.before.clear()
        self.points.clear()
        self.seen.clear()

    # --- steps

    def at(self, position: StepPosition) -> None:
        """A warp is about to execute an instruction: stop here where somebody wants it."""
        warp = position.warp
        key = warp.block, warp.number
        held = self.before.get(key, (0, ()))
        line = line_of(position.place) or held[0]
        now = (line, position.lanes)
        arrives, moves = line != held[0], now != held
        self.before[key] = now
        if moves and self.chosen(*key):
            self.points[key].append(position.number)
        reasons = list(self._changes(position))
        self.executed = (line, key)
        if not self.chosen(*key):
            return
        if position.number < self.replay:
            return
        if position.number == self.replay:
            self.replay, self.focus = -1, key
            self._stop(position, ["back"])
            return
        if arrives:
            reasons += self._breaks(position, line)
        mine = self.focus is None or key == self.focus
        wanted = moves if self.mode == "next" else arrives and self.mode == "until" and line == self.until
        if wanted and mine and self.ask is not None:
            reasons.append("")
        if reasons:
            self.focus = key
            self._stop(position, reasons)

    def _breaks(self, position: StepPosition, line: int) -> Iterator[str]:
        """Yield the breakpoints at which a warp has come."""
        for one in self.breakpoints:
            if one.line != line:
                continue
            if one.condition is None:
                yield f"breakpoint at line {line}"
                continue
            lanes = [lane for lane in position.lanes if self._is_true(position.warp.threads[lane], one.condition)]
            if lanes:
                yield f"breakpoint at line {line}: {one.text} holds in {name_lanes(lanes)}"

    def _is_true(self, thread: Thread, condition: ast.expr) -> bool:
        try:
            return bool(evaluate(condition, self.scope(thread)))
        except UnknownNameError:
            return False

    def _changes(self, position: StepPosition) -> Iterator[str]:
        """Yield what is watched and has changed since it was looked at last."""
        warp = position.warp
        for one in self.watches:
            if one.is_one_element:
                yield from self._element_change(one, next(iter(warp.threads.values())))
                continue
            changed: dict[tuple[Number | None, Number], list[int]] = defaultdict(list)
            for lane, thread in warp.threads.items():
                old, value = self._look(one, (warp.block, thread.lane.thread), thread)
                if value is not None and value != old:
                    changed[old, value].append(lane)
            for (old, value), lanes in changed.items():
                was = "held nothing" if old is None else f"was {old:g}"
                where = "" if len(lanes) == len(warp.threads) else f" in {name_lanes(lanes)}"
                yield f"{one.text} {was} and is {value:g}{where}"

    def _element_change(self, one: Watchpoint, thread: Thread) -> Iterator[str]:
        """Yield how an element has changed that is the same whoever looks at it."""
        old, value = self._look(one, (0, 0), thread)
        if old is not None and value is not None and value != old:
            line, (block, warp) = self.executed
            yield f"{one.text} was {old:g} and is {value:g}: block {block} warp {warp} executed line {line}"

    def _look(self, one: Watchpoint, key: tuple[int, int], thread: Thread) -> tuple[Number | None, Number | None]:
        """Return what is watched as it was and as it is."""
        old = self.seen[one.text].get(key)
        try:
            value = evaluate(one.expression, self.scope(thread))
        except UnknownNameError:
            return old, None
        self.seen[one.text][key] = value
        return old, value

    # --- stops

    def _stop(self, position: StepPosition, reasons: Sequence[str]) -> None:
        self.position = position
        for reason in reasons:
            if reason:
                self.say(reason)
        self.say(self._where())
        if self.ask is None:
            self.told += 1
            if self.told >= _MOST_TOLD:
                self.say(f"that were {_MOST_TOLD} stops; the rest is not shown")
                raise Quit
            return
        self.converse()

    def finish(self, how: str) -> None:
        """The run is over: go back, or leave."""
        self.ended = how
        self.say(how)
        if self.ask is not None:
            self.converse()

    def converse(self) -> None:
        """Answer until somebody wants to go on."""
        while True:
            said = self.ask() if self.ask is not None else None
            if said is None:
                raise Quit
            if self._answer(said.strip()):
                return

    def _answer(self, said: str) -> bool:
        """Answer one line; return whether the run goes on."""
        word, _, rest = said.partition(" ")
        rest = rest.strip()
        if "why" in said.split():
            self.say(self._why([part.strip("?,.") for part in said.split() if part.strip("?,.").isdecimal()]))
            return False
        name = next((full for full in _COMMANDS if word and full.startswith(word)), word)
        if name in ("next", "continue"):
            return self._go(name)
        if name == "until" and rest.isdecimal():
            self.until = int(rest)
            return self._go(name)
        self._tell(name, rest, said)
        return False

    def _tell(self, name: str, rest: str, said: str) -> None:
        """Answer where the kernel does not go on. Raises Again, Quit."""
        match name:
            case "":
                pass
            case "back":
                self._back()
            case "print" if rest:
                self._print(rest)
            case "lanes":
                self.say(self._lanes())
            case "where":
                self.say(self._where())
            case "break" if rest:
                self._add_break(rest)
            case "help":
                self.say(HELP)
            case "quit":
                raise Quit
            case _:
                self.say(f"{said!r} is no command; 'help' lists them")

    def _go(self, mode: str) -> bool:
        if self.ended:
            self.say(f"{self.ended}; 'back' goes to the step before, 'quit' leaves")
            return False
        self.mode = mode
        return True

    def _back(self) -> None:
        """Have the kernel run again, up to where the warp stood before."""
        if self.position is None or self.focus is None:
            self.say("nothing was executed yet")
            return
        points = self.points[self.focus]
        at = len(points) if self.ended else bisect_left(points, self.position.number)
        if not at:
            self.say("this is the first step of the warp")
            return
        self.mode = "next"
        raise Again(points[at - 1])

    def _add_break(self, said: str) -> None:
        try:
            self.breakpoints.append(breakpoint_of(said))
        except ValueError as error:
            self.say(str(error))
        else:
            self.say(f"stops at line {self.breakpoints[-1].line}")

    # --- answers

    def _warp(self) -> Warp | None:
        return None if self.position is None else self.position.warp

    def _where(self) -> str:
        position = self.position
        if position is None:
            return "no warp has begun"
        warp = position.warp
        line = self.before[warp.block, warp.number][0]
        text = source_line(position.place, line, self.scope(next(iter(warp.threads.values()))).kernel.span)
        count = len(position.lanes)
        who = f"block {warp.block} warp {warp.number}, step {position.number:,}"
        return f"line {line}: {text}\n  {who}: {count} of {len(warp.threads)} lanes   {self._picture()}"

    def _picture(self) -> str:
        position = self.position
        if position is None:
            return ""
        width = next(iter(position.warp.threads.values())).kernel.launch.warp
        return picture(position.warp.threads, position.lanes, width)

    def _lanes(self) -> str:
        position = self.position
        if position is None:
            return "no warp has begun"
        legend = "# active   - waits or is elsewhere   . has ended, or no thread is there"
        return "\n".join((self._picture(), legend, *describe_groups(position)))

    def _why(self, digits: Sequence[str]) -> str:
        position = self.position
        if position is None or not digits:
            return "say which lane: why 5" if position is not None else "no warp has begun"
        return explain_lane(position, int(digits[0]))

    def _print(self, said: str) -> None:
        warp = self._warp()
        parts = said.rsplit(" ", 1)
        lane = int(parts[1]) if len(parts) == 2 and parts[1].isdecimal() and parts[0] else None
        text = parts[0] if lane is not None else said
        if warp is None or self.position is None:
            self.say("no warp has begun")
            return
        if lane is not None and lane not in warp.threads:
            self.say(f"the warp has no lane {lane}; it has {name_lanes(list(warp.threads))}")
            return
        try:
            expression = parse(text)
        except ValueError as error:
            self.say(str(error))
            return
        lanes = (lane,) if lane is not None else self.position.lanes
        scopes = {one: self.scope(warp.threads[one]) for one in lanes}
        for line in describe_values(text, expression, scopes):
            self.say(line)


_COMMANDS: Final = (
    "next", "until", "back", "print", "lanes", "where", "why", "continue", "break", "help", "quit"
)  # fmt: skip
_MOST_TOLD: Final = 200


def breakpoint_of(said: str) -> Breakpoint:
    """Return the breakpoint `LINE[:COND]` or `FILE:LINE[:COND]`; raises ValueError."""
    first, _, rest = said.partition(":")
    if not first.strip().isdecimal() and rest:
        first, _, rest = rest.partition(":")
    if not first.strip().isdecimal():
        raise ValueError(f"{said!r} names no line: it takes LINE, or LINE:CONDITION")
    text = rest.strip()
    return Breakpoint(int(first), text, parse(text) if text else None)
