"""When a run with clocks stops, and what is answered. Clocks that were seen are kept, so that `back` shows them again;
what is older is reached by a run from the start.

    run ──at(look)──► is the goal reached? ──► converse ──► a goal ──► clocks that are kept, then the run goes on
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct, field

from warpsmith.flows.stepping.clock_answers import (
    HELP,
    Stepped,
    describe_clock,
    describe_locks,
    describe_stack,
    explain_slot,
)
from warpsmith.flows.stepping.session import Again, Ask, Quit
from warpsmith.simt.clocks.watching import ClockLook
from warpsmith.simt.mask.values import floats

__all__ = ["ClockSession"]

_KEPT: Final = 1000
_COMMANDS: Final = (
    "next", "back", "clock", "change", "until", "continue", "why", "locks", "stack", "print", "where", "help", "quit"
)  # fmt: skip
_REGISTER: Final = re.compile(r"r(\d+)(?:\.([xyzw]))?")
Goal = Callable[[ClockLook, ClockLook | None], bool]
"""Whether to stop in a clock, which the one before is told with."""


class ClockSession(Struct):
    """One session, over all runs. `looks`: clocks that are kept, up to the last that was run; `position`: the clock
    that is looked at, one more than the last where the run is over; `lanes`: of each wave those that have a thread;
    `over`: how the run ended, "" as long as it goes on."""

    stepped: Stepped
    say: Callable[[str], None]
    ask: Ask
    lanes: dict[int, int]
    looks: dict[int, ClockLook] = field(default_factory=dict)
    position: int = 0
    over: str = ""
    goal: Goal = lambda look, before: True

    def begin(self, clock: int) -> None:
        """Begin a run; nobody is asked before a clock."""
        self.looks.clear()
        self.over = ""
        self.goal = lambda look, before: look.clock >= clock

    def at(self, look: ClockLook) -> None:
        """A clock was run: stop where it is the one that somebody wants. Raises Again, Quit."""
        self.looks[look.clock] = look
        self.looks.pop(look.clock - _KEPT, None)
        if self.goal(look, self.looks.get(look.clock - 1)):
            self._stop(look.clock)
            self._converse()

    def finish(self, how: str) -> None:
        """The run is over: go back, or leave. Raises Again, Quit."""
        self.over = how
        self.position = max(self.looks, default=-1) + 1
        self.say(how)
        self._converse()

    def _stop(self, clock: int) -> None:
        self.position = clock
        self.say("\n".join(describe_clock(self.stepped, self.looks[clock], self.lanes)))

    def _converse(self) -> None:
        """Answer until the run has to go on."""
        while True:
            said = self.ask()
            if said is None:
                raise Quit
            word, *rest = said.split() or [""]
            name = next((full for full in _COMMANDS if word and full.startswith(word)), word)
            goal = self._goal_of(name, rest)
            if goal is None:
                self._tell(name, rest, said.strip())
            elif self._seek(goal):
                return

    # --- where to go

    def _goal_of(self, name: str, rest: list[str]) -> Goal | None:
        """Return when to stop, None where a command does not go on."""
        number = int(rest[0]) if rest and rest[0].isdecimal() else None
        here = self.position
        match name:
            case "next":
                ahead = here + (1 if number is None else number)
                return lambda look, before: look.clock >= ahead
            case "clock" if number is not None and number > here:
                return lambda look, before: look.clock >= number
            case "continue":
                return lambda look, before: False
            case "until" if number is not None and self._is_line(number):
                return lambda look, before: self._issues(look, number)
            case "change" if not rest:
                return lambda look, before: before is not None and self._differs(look, before, None)
            case "change" if (which := self._slot(rest[0])) is not None:
                return lambda look, before: before is not None and self._differs(look, before, which)
            case _:
                return None

    def _is_line(self, line: int) -> bool:
        return any(one.span.line == line for one in self.stepped.program.instructions)

    def _issues(self, look: ClockLook, line: int) -> bool:
        """Whether a wave issues the instruction of a line in a clock."""
        return any(
            slot is not None and done.state == "active" and done.index == slot.pc and self.stepped.line(slot.pc) == line
            for core in look.cores
            for slot, done in zip(core.slots, core.moments, strict=True)
        )

    @staticmethod
    def _differs(look: ClockLook, before: ClockLook, which: tuple[int, int] | None) -> bool:
        """Whether a slot, or any, does something else than in the clock before."""
        if which is None:
            return [core.moments for core in look.cores] != [core.moments for core in before.cores]
        core, at = which
        return look.cores[core].moments[at] != before.cores[core].moments[at]

    def _seek(self, goal: Goal) -> bool:
        """Stop in the next clock that is kept and reaches a goal; return whether the run has to go on for it."""
        last = max(self.looks, default=0)
        for clock in range(self.position + 1, last + 1):
            if goal(self.looks[clock], self.looks.get(clock - 1)):
                self._stop(clock)
                return False
        if self.over:
            self.position = max(self.looks, default=-1) + 1
            self.say(f"{self.over}; 'back' goes to a clock before, 'quit' leaves")
            return False
        self.goal = goal
        return True

    def _go_back(self, clock: int) -> None:
        """Show a clock before; raises Again where it is not kept."""
        if clock in self.looks:
            self._stop(clock)
            return
        raise Again(clock)

    # --- answers

    def _tell(self, name: str, rest: list[str], said: str) -> None:
        """Answer a command that does not go on. Raises Again, Quit."""
        number = int(rest[0]) if rest and rest[0].isdecimal() else None
        match name:
            case "" | "change":  # the slot that there is not was named
                pass
            case "back":
                self._go_back(max(0, self.position - (1 if number is None else number)))
            case "clock" if number is not None:
                self._go_back(number)
            case "until" if number is not None:
                self.say(f"line {number} has no instruction")
            case "help":
                self.say(HELP)
            case "quit":
                raise Quit
            case _:
                self._tell_here(name, rest, said)

    def _tell_here(self, name: str, rest: list[str], said: str) -> None:
        """Answer about the clock that is looked at."""
        if not self.looks:
            self.say("no clock has begun")
        elif name == "where":
            self._stop(min(self.position, max(self.looks)))
        elif name in ("why", "locks", "stack"):
            self._tell_slots(name, rest)
        elif name == "print" and rest:
            self._print(rest)
        else:
            self.say(f"{said!r} is no command; 'help' lists them")

    @property
    def _look(self) -> ClockLook:
        """The clock that is looked at; behind the last one, that."""
        return self.looks[min(self.position, max(self.looks))]

    def _tell_slots(self, name: str, rest: list[str]) -> None:
        tellers = {"why": explain_slot, "locks": describe_locks, "stack": describe_stack}
        look = self._look
        for which in self._slots(rest):
            self.say(tellers[name](self.stepped, look, which))

    def _slots(self, rest: list[str]) -> list[tuple[int, int]]:
        """Return the slot that is named, else all that have a wave."""
        if rest:
            which = self._slot(rest[0])
            return [] if which is None else [which]
        cores = self._look.cores
        return [(n, at) for n, core in enumerate(cores) for at, slot in enumerate(core.slots) if slot is not None]

    def _slot(self, said: str) -> tuple[int, int] | None:
        """Return core and slot of `2` or `1.2`; say so where there is none."""
        look = self._look if self.looks else None
        parts = said.split(".")
        if look is not None and all(part.isdecimal() for part in parts) and len(parts) <= 2:
            core, at = (int(parts[0]), int(parts[1])) if len(parts) == 2 else (0, int(parts[0]))
            if core < len(look.cores) and at < len(look.cores[core].slots):
                return core, at
        known = "" if look is None else f"; slots are 0 to {len(look.cores[0].slots) - 1}"
        cores = f", 1.0 is slot 0 of core 1 of {len(look.cores)}" if look is not None and len(look.cores) > 1 else ""
        self.say(f"there is no slot {said}{known}{cores}")
        return None

    def _print(self, rest: list[str]) -> None:
        """Say what a register holds in all lanes of waves."""
        match = _REGISTER.fullmatch(rest[0])
        registers = self.stepped.program.registers
        if not match or int(match[1]) >= registers:
            self.say(f"there is no register {rest[0]}; the program has r0 to r{registers - 1}, each with .x .y .z .w")
            return
        as_floats = rest[-1] == "f" and len(rest) > 1
        look = self._look
        for core, at in self._slots(rest[1 : -1 if as_floats else None]):
            slot = look.cores[core].slots[at]
            if slot is None:
                self.say(f"slot {self.stepped.slot_name(core, at)}: no wave")
                continue
            for component in match[2] or "xyzw":
                words = slot.registers[int(match[1]), "xyzw".index(component)]
                shown = [f"{one:g}" for one in floats(words.copy())] if as_floats else [str(one) for one in words]
                name = f"wave {slot.wave} r{match[1]}.{component}"
                self.say(f"{name} = {shown[0]} in all lanes" if len(set(shown)) == 1 else f"{name} = {' '.join(shown)}")
