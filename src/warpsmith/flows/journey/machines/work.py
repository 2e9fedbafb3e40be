"""What a machine gets, and the launches of a version one after the other.

Invariant: a machine begins with the inputs, and each launch with what the one before it left; no array comes from
another machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from msgspec import Struct

from warpsmith.flows.journey.reasons import UnableError, reason_text
from warpsmith.flows.journey.versions import KernelCall, Version
from warpsmith.kernels.arguments import Array
from warpsmith.report.lowering.model import TargetColumn
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Function
from warpsmith.targets.mask.code import LaunchWord

__all__ = ["Held", "MachineWork", "RunCall", "by_calls", "launch_words", "placed"]

Held = Mapping[str, bytes]
"""What arrays hold, by the names of a kernel's parameters."""
RunCall = Callable[[KernelCall, Held], Held]


class MachineWork(Struct, frozen=True, eq=False):
    """All launches of a version on `arrays`; `texts`: what `lower` wrote, by kernel and target."""

    version: Version
    arrays: Mapping[str, Array]
    texts: Mapping[tuple[str, str], TargetColumn]

    def text(self, kernel: str, target: str) -> str:
        """Return a kernel's text for a target; raises UnableError where there is none."""
        column = self.texts[kernel, target]
        if column.listing is None:
            assert column.refused is not None
            raise UnableError(reason_text(column.refused))
        return column.listing.text

    def kernel(self, name: str) -> Function:
        """Return a kernel by its name."""
        found = self.version.unit.module.function(name)
        assert found is not None
        return found


def by_calls(work: MachineWork, prepare: Callable[[Function], RunCall]) -> Mapping[str, Array]:
    """Return what the launches leave in the arrays; `prepare` makes what runs the launches of one kernel."""
    runs = {kernel.name: prepare(kernel) for kernel in work.version.kernels}
    now = dict(work.arrays)
    for call in work.version.calls:
        left = runs[call.kernel](call, {parameter: now[name].tobytes() for parameter, name in call.arrays.items()})
        for parameter, name in call.arrays.items():
            if parameter in left:
                now[name] = np.frombuffer(left[parameter], now[name].dtype).reshape(now[name].shape).copy()
    return now


def placed(call: KernelCall, held: Held) -> tuple[LaunchMemory, dict[str, bytes]]:
    """Return memory with the arrays of a launch in it, and the bytes of all its arguments."""
    memory = LaunchMemory(checks=False)
    arguments = dict(call.launch.arguments)
    for name, data in held.items():
        arguments[name] = memory.allocate(name, data).address.to_bytes(8, "little")
    return memory, arguments


def launch_words(words: tuple[LaunchWord, ...], call: KernelCall) -> Iterator[int]:
    """Yield the words of a launch: sizes, and 32 bits each of arguments."""
    sizes = {"ntid": call.launch.block, "nctaid": call.launch.grid}
    for one in words:
        base, _, axis = one.name.partition(".")
        if axis:
            yield sizes[base]["xyz".index(axis)]
        else:
            data = call.launch.arguments[one.name][one.offset : one.offset + 4]
            yield int.from_bytes(data, "little")
