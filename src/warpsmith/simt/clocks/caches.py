"""When data are there: caches of lines, and the memory behind them.

    look(T)   line present: at T + latency, or when it arrives if it is on its way      a hit
              else: asked of what is behind at T + latency, put in place of another     a miss, perhaps an eviction
    DRAM      one line after the other, `bandwidth` bytes a clock: at the end of its transfer + latency

A line is in the set of its number modulo their count; the line that came first ("fifo") or was asked for last of all
("lru") goes. Tags change when the request is issued, so requests are served in order of issue.
"""

from __future__ import annotations

from msgspec import Struct

from warpsmith.machine.simt.parameters import CacheShape, MemoryShape

__all__ = ["CacheLine", "Dram", "LineCache"]


class CacheLine(Struct):
    """A line that is there, or on its way; `arrives`: the clock from which on it is there."""

    number: int
    arrives: int


class Dram:
    """The memory behind all caches; `bytes` moved."""

    def __init__(self, shape: MemoryShape, line: int) -> None:
        self.shape, self.line = shape, line
        self.free = 0
        self.bytes = 0

    def look(self, number: int, clock: int, core: int) -> int:
        """Return the clock in which a line is there that is asked for in `clock`."""
        return self.move(clock) + self.shape.latency

    def move(self, clock: int) -> int:
        """Return the clock in which the transfer of a line ends; `free` counts in bytes since clock 0."""
        self.free = max(clock * self.shape.bandwidth, self.free) + self.line
        self.bytes += self.line
        return -(-self.free // self.shape.bandwidth)


class LineCache:
    """A cache in front of another one, or of DRAM; `events`: hits, misses, evictions by clock and core."""

    def __init__(self, shape: CacheShape, line: int, behind: LineCache | Dram) -> None:
        self.shape, self.behind = shape, behind
        self.sets: list[list[CacheLine]] = [[] for _ in range(shape.sets(line))]
        self.events: dict[tuple[int, int], list[int]] = {}

    def look(self, number: int, clock: int, core: int) -> int:
        """Return the clock in which a line is there that `core` asks for in `clock`."""
        if not self.sets:
            return self.behind.look(number, clock, core)
        held = self.sets[number % len(self.sets)]
        events = self.events.setdefault((clock, core), [0, 0, 0])
        for line in held:
            if line.number == number:
                events[0] += 1
                if self.shape.replacement == "lru":
                    held.remove(line)
                    held.append(line)
                return max(clock + self.shape.latency, line.arrives)
        events[1] += 1
        if len(held) == self.shape.ways:
            events[2] += 1
            held.pop(0)
        arrives = self.behind.look(number, clock + self.shape.latency, core)
        held.append(CacheLine(number, arrives))
        return arrives
