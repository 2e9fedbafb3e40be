"""Where code is being written: what those who write instructions may ask of who writes the kernel."""

from __future__ import annotations

from typing import Protocol

from warpsmith.simt.engine.access import Runtime
from warpsmith.simt.engine.lanes import Emit, Ir
from warpsmith.simt.engine.words import LaunchWords, Stop
from warpsmith.ssa.nodes import Operand

__all__ = ["Here"]


class Here(Protocol):
    """A place in a block: `mask` are the active lanes, `everyone` the threads of the warp, `number` the warp's, `state`
    the record of the launch."""

    e: Emit
    runtime: Runtime
    state: Ir
    number: Ir
    everyone: Ir
    mask: Ir
    lockstep: bool
    """Lanes exchange with those that are there, which is what a policy shows; else with all of the warp."""

    def value(self, operand: Operand) -> Ir:
        """Return an operand as a vector."""
        ...

    def table(self, word: LaunchWords) -> Ir:
        """Return a table of the launch."""
        ...

    def live(self) -> Ir:
        """Return the lanes that have not ended."""
        ...

    def stop(self, why: Stop) -> None:
        """Write: something is wrong here."""
        ...

    def wait(self, number: Ir) -> None:
        """Write: return to the driver, and go on here when called again."""
        ...
