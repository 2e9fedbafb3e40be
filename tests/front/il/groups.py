"""Compute shaders by the letter: groups of threads, views, the group's memory, fences.

Threads of a group run in turn, each up to the next fence that waits; then the next one. Like direct.py it knows nothing
of the reader, the kernel IR or its machines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from tests.front.il.direct import MASK, OPS, Direct, _signed

__all__ = ["Groups"]

_INPUT = re.compile(r"(v[A-Z]\w*?)(Flat)?(?:\.([xyzw]+))?$")
_ARRAY = re.compile(r"x(\d+)\[([^\]]+)\](?:\.([xyzw01_]+))?$")
_NUMBER = re.compile(r"\((\d+)\)")
_CHANGES: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b, "min": OPS["imin"], "max": OPS["imax"], "umin": min, "umax": max,
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "xchg": lambda a, b: b,
}  # fmt: skip


class Groups(Direct):
    """One program, run on `views` (bytes by number) and the constants cb0."""

    def __init__(self, text: str, views: Mapping[int, bytearray], constants: Sequence[int]) -> None:
        super().__init__(text[text.index("il_cs_2_0") :], {"cb0": constants}, {}, {})
        self.views = views
        found = re.search(r"^dcl_lds_id\(\d+\) (\d+)", text, re.MULTILINE)
        self.bytes = int(found[1]) if found else 0
        self.lds = bytearray()
        self.inputs: dict[str, list[int]] = {}

    def run_groups(self, grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
        """Run all groups, one after the other."""
        for number, group in enumerate(_places(grid)):
            self.lds = bytearray(self.bytes)
            threads = [self._thread(group, place, block, number) for place in _places(block)]
            while threads:
                threads = [one for one in threads if next(one, None) is not None]

    def _thread(
        self, group: tuple[int, int, int], place: tuple[int, int, int], block: tuple[int, int, int], number: int
    ) -> Iterator[str]:
        """Run a thread; yields at each fence that waits."""
        flat = (place[2] * block[1] + place[1]) * block[0] + place[0]
        absolute = [group[axis] * block[axis] + place[axis] for axis in range(3)]
        inputs = {
            "vTidInGrp": [*place, 0], "vThreadGrpId": [*group, 0], "vAbsTid": [*absolute, 0],
            "vTidInGrpFlat": [flat] * 4, "vThreadGrpIdFlat": [number] * 4,
            "vAbsTidFlat": [number * block[0] * block[1] * block[2] + flat] * 4,
        }  # fmt: skip
        registers: dict[str, list[int]] = {}
        at, steps = 0, 0
        while at < len(self.lines):
            self.registers, self.inputs = registers, inputs
            steps += 1
            assert steps < 100_000, "it does not end"
            name = self.lines[at][0]
            at = self._step(at)
            if name.startswith("fence_threads"):
                yield name

    def _read(self, text: str, kind: str) -> list[int]:
        array = _ARRAY.match(text)
        if array is not None:
            word = self.registers.get(f"x{array[1]}[{self._index(array[2])}]", [0, 0, 0, 0])
            letters = array[3] or "xyzw"
            return [word["xyzw".index(letter)] for letter in (letters + letters[-1] * 3)[:4]]
        found = _INPUT.match(text)
        if found is None:
            return super()._read(text, kind)
        swizzle = found[3] or "xyzw"
        words = self.inputs[found[1] + (found[2] or "")]
        return [words["xyzw".index(letter)] for letter in (swizzle + swizzle[-1] * 3)[:4]]

    def _assign(self, name: str, controls: str, operands: list[str]) -> None:
        if name.startswith("fence"):
            return
        array = _ARRAY.match(operands[0]) if operands else None
        if array is not None:
            # the element has the name of its number, which has no dot
            named = f"x{array[1]}[{self._index(array[2])}]"
            operands = [f"{named}.{array[3]}" if array[3] else named, *operands[1:]]
        if not name.startswith(("uav", "lds")):
            super()._assign(name, controls, operands)
            return
        found = _NUMBER.match(controls)
        assert found
        memory = self.lds if name.startswith("lds") else self.views[int(found[1])]
        if "store" in name:
            self._write_words(memory, operands)
        else:
            self._fetch_words(name, memory, operands)

    def _write_words(self, memory: bytearray, operands: list[str]) -> None:
        target, *sources = operands if len(operands) == 3 else ["mem0.x___", *operands]
        address, values = self._read(sources[0], "bits")[0], self._read(sources[1], "bits")
        for at, letter in enumerate(target.partition(".")[2] or "xyzw"):
            if letter != "_":
                _put(memory, address + 4 * at, values[at])

    def _fetch_words(self, name: str, memory: bytearray, operands: list[str]) -> None:
        target, *sources = operands
        address = self._read(sources[0], "bits")[0]
        register, _, mask = target.partition(".")
        new = list(self.registers.get(register, [0, 0, 0, 0]))
        for at, letter in enumerate(mask or "xyzw"):
            if letter != "_":
                new[at] = _get(memory, address + (4 * at if name.startswith("uav_raw") else 0))
        if "_cmp_xchg" in name:
            value, was = (self._read(one, "bits")[0] for one in sources[1:])
            _put(memory, address, value & MASK if _get(memory, address) == was & MASK else _get(memory, address))
        elif "_read_" in name:
            change = _CHANGES[name.split("_")[2]]
            _put(memory, address, change(_get(memory, address), self._read(sources[1], "bits")[0]) & MASK)
        self.registers[register] = new


def _places(sizes: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    return [(x, y, z) for z in range(sizes[2]) for y in range(sizes[1]) for x in range(sizes[0])]


def _get(memory: bytearray, address: int) -> int:
    assert 0 <= address <= len(memory) - 4 and address % 4 == 0, f"byte {_signed(address)} is no word"
    return int.from_bytes(memory[address : address + 4], "little")


def _put(memory: bytearray, address: int, word: int) -> None:
    _get(memory, address)
    memory[address : address + 4] = word.to_bytes(4, "little")
