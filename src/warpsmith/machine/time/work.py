"""One launch in numbers: what the time model knows of a kernel.

    counted        instructions by kind, requests, sectors, passes: of all warps together
    touched        what a block, the blocks that run at a time, and the grid touch at least once
    resident       warps and blocks that a multiprocessor holds at a time

All are sums over the launch unless they say otherwise; sectors are 32 bytes.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["LINE_BYTES", "SECTOR_BYTES", "LaunchWork", "Sweep", "TouchedSectors", "WarpInstructions"]

SECTOR_BYTES = 32
LINE_BYTES = 128


class WarpInstructions(Struct, frozen=True):
    """Instructions of warps, by the unit that executes them; `single` and `double` are of floating point, `barriers`
    are waits."""

    integer: float = 0
    multiply: float = 0
    single: float = 0
    double: float = 0
    special: float = 0
    convert: float = 0
    memory: float = 0
    control: float = 0
    barriers: float = 0

    @property
    def issued(self) -> float:
        """All of them."""
        return (
            self.integer + self.multiply + self.single + self.double + self.special + self.convert + self.memory
            + self.control + self.barriers
        )  # fmt: skip


class TouchedSectors(Struct, frozen=True):
    """Different sectors, read and written: of a block on average, of the blocks that run at a time, of twice as many,
    of the grid; `wider`: of four, eight, … times as many, as long as these are fewer than the grid. `apart`: of the
    blocks that run at a time, if those that do not keep step share nothing (0: all keep step); these are ahead of the
    others by `lag` of their way when they end. `active` blocks touch anything (0: all)."""

    block: float
    together: float
    twice: float
    grid: float
    wider: tuple[float, ...] = ()
    apart: float = 0.0
    lag: float = 0.0
    active: int = 0


class Sweep(Struct, frozen=True):
    """An access in loops: the sectors that a block touches with it, at once and then with each loop around it, the
    innermost first (`sectors`), and how often each loop repeats (`times`). `held`: the lines of 128 bytes that loads of
    the block touch meanwhile, in one iteration of each loop and then in all; `together`: that loads and stores touch,
    where what several blocks touch that run at a time counts once.

    `shared`: which part is left of what the blocks that run at a time touch with it where several touch the same,
    `part`: where several accesses of its loops do; `lines` are those of one access at once. `again`: another loop has
    touched the same before, `sectors[again]` each time; -1: none has; `loaded`: that loop loads. `near`: a store of the
    iteration before left it."""

    sectors: tuple[float, ...]
    times: tuple[float, ...]
    held: tuple[float, ...]
    together: tuple[float, ...]
    shared: float = 1.0
    part: float = 1.0
    lines: float = 0.0
    again: int = -1
    loaded: bool = True
    near: bool = False


class LaunchWork(Struct, frozen=True):
    """A launch; `running_blocks` run at a time on the whole device.

    `read` and `written` are touched by loads and stores; `fetched` by loads of what no store has touched before (None:
    as `read`). `sweeps` are those of loads, `stores` of stores. `batches`: waits for memory, those that a warp makes at
    once being one, `shared_batches`: for shared memory, `beside`: copies to shared memory that are on the way while the
    warp goes on, and that it waits for before the next ones; `load_sectors` and `store_sectors` are of global memory,
    `lines` the 128-byte lines of all its requests; `passes` those of shared memory; `local_sectors` of spills and
    arrays of a thread's own; `flops` those of lanes, `wide` the share of them that has 64 bits."""

    blocks: int
    block_warps: int
    resident_blocks: int
    running_blocks: int
    instructions: WarpInstructions
    requests: float
    load_sectors: float
    store_sectors: float
    lines: float
    passes: float
    local_sectors: float
    words: float
    batches: float
    read: TouchedSectors
    written: TouchedSectors
    sweeps: tuple[Sweep, ...]
    shared_bytes: int
    flops: float
    wide: float
    shared_batches: float = 0.0
    beside: float = 0.0
    fetched: TouchedSectors | None = None
    stores: tuple[Sweep, ...] = ()

    @property
    def warps(self) -> int:
        """Warps of the grid."""
        return self.blocks * self.block_warps
