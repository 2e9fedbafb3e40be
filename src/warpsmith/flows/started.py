"""A launch with its arguments in memory, ready to be run, as often as one likes.

place_launch(unit, kernel, ("n=64", "a=zeros:f32[n]"), block=(64, 1, 1))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from warpsmith.kernels.arguments import Argument, arguments_for
from warpsmith.kernels.chosen import launch_of
from warpsmith.kernels.units import Domain, KernelUnit
from warpsmith.simt.launch import Dim, Launch, Textures
from warpsmith.simt.layout import ROW, MemoryPart, shared_layout
from warpsmith.simt.memory import Buffer, LaunchMemory
from warpsmith.simt.textures import OUTSIDE, Outside, Texture, fetches
from warpsmith.ssa.nodes import Function

__all__ = ["StartedLaunch", "place_launch"]


class StartedLaunch(Struct, frozen=True):
    """A launch with its arguments in memory: `buffers` by their names, `shared` bytes of dynamic shared memory, `end`:
    behind what lies in shared memory without arguments."""

    launch: Launch
    memory: LaunchMemory
    buffers: Mapping[str, Buffer]
    arguments: Sequence[Argument]
    shared: int
    end: int

    @property
    def dynamic(self) -> int:
        """Bytes of dynamic shared memory that no argument is."""
        return self.shared - sum(part.end - part.start for part in self.launch.parts)

    def place_again(self) -> LaunchMemory:
        """Return memory of its own with the arguments as they were, at the same addresses."""
        return self.placed(checks=False)[0]

    def placed(self, *, checks: bool) -> tuple[LaunchMemory, Mapping[str, Buffer]]:
        """Return the same, and the buffers by their names; `checks`: races and unset memory are looked for."""
        memory = LaunchMemory(checks=checks)
        return memory, _place_arguments(self.arguments, memory, self.end)[0]


def place_launch(
    unit: KernelUnit,
    kernel: Function,
    texts: Sequence[str],
    block: Dim | None = None,
    grid: Dim | None = None,
    *,
    shared: int = 0,
    checks: bool = True,
    width: int = 32,
) -> StartedLaunch:
    """Return how a kernel is launched, with arguments as people write them; `shared`: bytes of dynamic shared memory;
    `checks`: races and unset memory are looked for; `width`: lanes of a warp.

    Raises UsageError where what was asked for makes no sense.
    """
    whole = grid is None and kernel.name in unit.domains
    block, grid, shared = launch_of(unit, kernel, block, grid, shared)
    arguments = arguments_for(texts, unit, kernel, f"--block {','.join(map(str, block))}")
    if whole:
        grid = _cover(unit.domains[kernel.name], arguments, block)
    memory, end = LaunchMemory(checks=checks), shared_layout(unit.module, kernel.name).end
    buffers, packed, parts = _place_arguments(arguments, memory, end + shared)
    added = max((part.end - end for part in parts), default=shared)
    launch = Launch(grid, block, packed, added, parts, width, textures=_textures(arguments))
    asked = shared + sum(part.end - part.start for part in parts)
    return StartedLaunch(launch, memory, buffers, arguments, asked, end + shared)


def _cover(domain: Domain, arguments: Iterable[Argument], block: Dim) -> Dim:
    """Return a grid whose threads are all elements of a domain, or more."""
    given = {one.name: int.from_bytes(one.bytes, "little", signed=True) for one in arguments if one.bytes is not None}
    x, y, *z = (-(-max(1, given[name]) // threads) for name, threads in zip(domain.sizes, block, strict=False))
    return x, y, z[0] if z else 1


def _place_arguments(
    arguments: Iterable[Argument], memory: LaunchMemory, end: int
) -> tuple[dict[str, Buffer], dict[str, bytes], tuple[MemoryPart, ...]]:
    """Put the arguments into memory; shared memory that arguments ask for comes behind byte `end`. Returns buffers, the
    bytes of the parameters, and the parts of shared memory that are arguments."""
    buffers: dict[str, Buffer] = {}
    packed: dict[str, bytes] = {}
    parts: list[MemoryPart] = []
    for one in arguments:
        if one.bytes is not None:
            packed[one.name] = one.bytes
        elif one.array is not None:
            buffers[one.name] = memory.allocate(one.name, one.array.tobytes(), known=one.known)
            packed[one.name] = buffers[one.name].address.to_bytes(8, "little")
        else:
            start = -(-max((part.end + ROW for part in parts), default=end) // ROW) * ROW
            packed[one.name] = start.to_bytes(8, "little")
            parts.append(MemoryPart(one.name, start, start + one.local))
    return buffers, packed, tuple(parts)


def _textures(arguments: Iterable[Argument]) -> Textures | None:
    """Return what fetches from the textures among arguments give, None where there is none."""
    found: dict[int, Texture] = {}
    for one in arguments:
        if one.texture is not None and one.bytes is not None:
            words = one.texture.words
            how: Outside = next((word for word in OUTSIDE if word in words), "clamp")
            read = Texture(one.texture.texels, one.texture.axes, "linear" in words, how, "normalized" in words)
            found[int.from_bytes(one.bytes, "little")] = read
    return fetches(found) if found else None
