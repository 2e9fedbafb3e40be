"""IL by the letter: a second interpreter, which knows nothing of the reader, the kernel IR or its machines.

It splits lines itself and executes them for one thread on registers that are lists of four words. `np.float32` rounds
every step. `reciprocals`: a / b is a · (1 / b), as hardware without a divider has it.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np

__all__ = ["Direct", "bits", "number"]

MASK = 0xFFFFFFFF
NAN = 0x7FFFFFFF
_LINE = re.compile(r"\s*([a-z_0-9]+)((?:\([^)]*\)(?:_\w+)?)*)\s*(.*?)\s*(?:;.*)?$")
_OPERAND = re.compile(r"([a-z]+?)(\d*)(?:\[([^\]]+)\])?(?:\.([xyzw01]+))?(_abs)?(?:_neg\(([xyzw]+)\))?$")
F = np.float32


def number(word: int) -> np.float32:
    """Return the float whose bits a word has."""
    return np.frombuffer(struct.pack("<I", word), dtype="<f4")[0]  # type: ignore[no-any-return]


def bits(value: float | np.float32) -> int:
    """Return the bits of a float; there is one NaN, that of PTX."""
    found = F(value)
    return NAN if np.isnan(found) else int(found.view(np.uint32))


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


def _whole(word: int, low: int, high: int) -> int:
    value = float(number(word))
    if math.isnan(value):
        return 0
    return (low if value < low else high if value > high else math.trunc(value)) & MASK


def _true(condition: object) -> int:
    return MASK if condition else 0


class Direct:
    """One program, run thread by thread on `memory`: words of t0, cb0 …, and sizes of resources by number."""

    def __init__(
        self,
        text: str,
        memory: Mapping[str, Sequence[int]],
        sizes: Mapping[int, tuple[int, ...]],
        channels: Mapping[str, int],
        *,
        reciprocals: bool = False,
    ) -> None:
        self.memory = memory
        self.sizes = sizes
        self.channels = channels
        self.reciprocals = reciprocals
        self.literals: dict[str, list[int]] = {}
        self.lines: list[tuple[str, str, list[str]]] = []
        for line in text.splitlines()[1:]:
            found = _LINE.match(line.split("//")[0])
            if not found or not found[1]:
                continue
            operands = [part.strip() for part in found[3].split(",")] if found[3] else []
            if found[1] == "dcl_literal":
                self.literals[operands[0]] = [int(word, 16) for word in operands[1:]]
            elif not found[1].startswith(("dcl_", "end_", "endmain")) and found[1] != "end":
                self.lines.append((found[1], found[2], operands))
        self.registers: dict[str, list[int]] = {}
        self.partners = self._pair()

    def _pair(self) -> dict[int, int]:
        """Return for each if, else and whileloop where its else or end is, and for each end of a loop its start."""
        found: dict[int, int] = {}
        stack: list[int] = []
        for at, (name, _, _) in enumerate(self.lines):
            if name.startswith("if_") or name == "whileloop":
                stack.append(at)
            elif name == "else":
                found[stack.pop()] = at
                stack.append(at)
            elif name in ("endif", "endloop"):
                start = stack.pop()
                found[start] = at
                if name == "endloop":
                    found[at] = start
        return found

    def run(self, x: int, y: int) -> dict[str, list[int]]:
        """Return the outputs of thread (x, y)."""
        self.registers = {"v0": [bits(x + 0.5), bits(y + 0.5), 0, 0]}
        at, steps = 0, 0
        while at < len(self.lines):
            steps += 1
            assert steps < 100_000, "it does not end"
            at = self._step(at)
        return {name: words for name, words in self.registers.items() if name.startswith("o")}

    def _step(self, at: int) -> int:
        name, controls, operands = self.lines[at]
        base = name
        if "_logical" in name and name != "cmov_logical":
            base, test = name.split("_logical")
            holds = (self._read(operands[0], "bits")[0] != 0) == (test == "nz")
        match base:
            case "if":
                return at + 1 if holds else self.partners[at] + 1
            case "else":
                return self.partners[at] + 1
            case "whileloop" | "endif":
                return at + 1
            case "endloop":
                return self.partners[at] + 1
            case "break" | "continue":
                if base != name and not holds:
                    return at + 1
                start = max(one for one, end in self.partners.items() if one < at < end and self._is_loop(one))
                return self.partners[start] + 1 if base == "break" else start + 1
            case _:
                self._assign(name, controls, operands)
                return at + 1

    def _is_loop(self, at: int) -> bool:
        return self.lines[at][0] == "whileloop"

    # --- operands

    def _read(self, text: str, kind: str) -> list[int]:
        found = _OPERAND.match(text)
        assert found, text
        name, count, index, swizzle, absolute, negated = found.groups()
        if index is not None:
            element = self._index(index)
            words = list(self.memory[f"{name}{count}"][4 * element : 4 * element + 4])
        elif name == "l":
            words = self.literals[f"l{count}"]
        else:
            words = self.registers.get(f"{name}{count}", [0, 0, 0, 0])
        swizzle = swizzle or "xyzw"
        swizzle = (swizzle + swizzle[-1] * 3)[:4]
        special = {"0": 0, "1": 0x3F800000}
        values = [special[one] if one in special else words["xyzw".index(one)] for one in swizzle]
        if absolute:
            values = [value & 0x7FFFFFFF for value in values]
        for letter in negated or "":
            at = "xyzw".index(letter)
            values[at] = -values[at] & MASK if kind == "integer" else values[at] ^ 0x80000000
        return values

    def _index(self, text: str) -> int:
        total = 0
        for part in text.split("+"):
            if part.strip().isdigit():
                total += int(part)
            else:
                register, letter = part.strip().split(".")
                total += _signed(self.registers[register]["xyzw".index(letter)])
        return total

    def _assign(self, name: str, controls: str, operands: list[str]) -> None:
        target, *sources = operands
        register, _, mask = target.partition(".")
        mask = mask or "xyzw"
        if len(mask) < 4:
            mask = "".join(letter if letter in mask else "_" for letter in "xyzw")
        saturate, base = name.endswith("_sat"), name.removesuffix("_sat")
        zeros = "infinity" in controls
        base = base.removesuffix("_zeroop")
        values = self._values(base, controls, sources, zeros=zeros)
        old = self.registers.get(register, [0, 0, 0, 0])
        new = list(old)
        for at, letter in enumerate(mask):
            if letter in "01":
                new[at] = 0x3F800000 if letter == "1" else 0
            elif letter != "_":
                new[at] = _saturated(values[at]) if saturate else values[at]
        self.registers[register] = new

    def _values(self, name: str, controls: str, sources: list[str], *, zeros: bool) -> list[int]:
        if name in ("sample_resource", "load_resource"):
            found = re.match(r"\((\d+)\)", controls)
            assert found
            place = self._read(sources[0], "float" if name.startswith("sample") else "integer")
            return self._fetch(int(found[1]), place, clamped=name.startswith("sample"))
        kind = "integer" if name in INTEGERS else "float"
        read = [self._read(source, kind) for source in sources]
        with np.errstate(all="ignore"):
            if name in ("div", "mod", "rcp", "rsq"):
                return [self._divide(name, [one[at] for one in read], zeros=zeros) for at in range(4)]
            return [OPS[name](*[one[at] for one in read]) & MASK for at in range(4)]

    def _divide(self, name: str, words: list[int], *, zeros: bool) -> int:
        a, b = (words[0], words[-1]) if name in ("div", "mod") else (0x3F800000, words[0])
        if name == "rsq":
            return bits(1.0 / math.sqrt(number(b)) if number(b) > 0 else _of_root(b, zeros=zeros))
        quotient = number(a) * (F(1) / number(b)) if self.reciprocals else number(a) / number(b)
        if name == "mod":
            return bits(number(a) - number(b) * np.trunc(quotient))
        if not zeros and number(b) == 0:
            return 0x7F7FFFFF | ((a ^ b) & 0x80000000)
        return bits(quotient)

    def _fetch(self, resource: int, place: list[int], *, clamped: bool) -> list[int]:
        sizes = self.sizes[resource]
        at: list[int] = []
        outside = False
        for word, size in zip(place, sizes, strict=False):
            if clamped:
                value = float(number(word))
                whole = 0 if math.isnan(value) else max(0, min(size - 1, value))
                at.append(math.floor(whole))
            else:
                outside = outside or word >= size
                at.append(min(word, size - 1))
        if outside:
            return [0, 0, 0, 0]
        element = at[0] + (at[1] * sizes[0] if len(sizes) > 1 else 0)
        channels = self.channels[f"t{resource}"]
        words = list(self.memory[f"t{resource}"][channels * element : channels * element + channels])
        return words + [0, 0, 0, 0x3F800000][channels:]


def _of_root(word: int, *, zeros: bool) -> float:
    value = number(word)
    if value == 0:
        return math.copysign(math.inf, 1) if zeros else 3.4028234663852886e38
    return math.nan


def _saturated(word: int) -> int:
    value = number(word)
    return bits(0.0) if not value > 0 else bits(1.0) if value >= 1 else word


def _float(function: Callable[..., object]) -> Callable[..., int]:
    return lambda *words: bits(function(*map(number, words)))  # type: ignore[arg-type]


def _fused(a: np.float32, b: np.float32, c: np.float32) -> float:
    """Return a · b + c, rounded once."""
    if not all(map(math.isfinite, (a, b, c))):
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    # of numbers of 24 digits double rounding is seen only where the sum lies between two floats: take the nearer one
    near = F(float(exact))
    around = (near, np.nextafter(near, F(-np.inf)), np.nextafter(near, F(np.inf)))
    if not exact or not all(map(np.isfinite, around)):
        return float(near if exact else F(a * b + c))
    return float(min(around, key=lambda one: (abs(Fraction(float(one)) - exact), int(one.view(np.uint32)) & 1)))


def _root(value: np.float32) -> np.float32:
    return np.sqrt(value) if value >= 0 else F(np.nan)


OPS: Mapping[str, Callable[..., int]] = {
    "add": _float(lambda a, b: a + b),
    "sub": _float(lambda a, b: a - b),
    "mul": _float(lambda a, b: a * b),
    "mul_ieee": _float(lambda a, b: a * b),
    "mad": _float(lambda a, b, c: F(a * b) + c),
    "min": lambda a, b: a if number(a) < number(b) else b,
    "max": lambda a, b: a if number(a) >= number(b) else b,
    "fma": _float(lambda a, b, c: _fused(a, b, c)),
    "abs": lambda a: a & 0x7FFFFFFF,
    "flr": _float(np.floor),
    "round_neginf": _float(np.floor),
    "round_z": _float(np.trunc),
    "round_posinf": _float(np.ceil),
    "round_nearest": _float(np.rint),
    "frc": _float(lambda a: a - np.floor(a)),
    "sin_vec": _float(lambda a: math.sin(a) if math.isfinite(a) else math.nan),
    "cos_vec": _float(lambda a: math.cos(a) if math.isfinite(a) else math.nan),
    "exp_vec": _float(lambda a: np.exp2(np.float64(a))),
    "log_vec": _float(lambda a: np.log2(np.float64(a))),
    "sqrt": _float(_root),
    "sqrt_vec": _float(_root),
    "rsq_vec": lambda a: bits(1.0 / math.sqrt(number(a)) if number(a) > 0 else _of_root(a, zeros=True)),
    "lt": lambda a, b: _true(number(a) < number(b)),
    "ge": lambda a, b: _true(number(a) >= number(b)),
    "eq": lambda a, b: _true(number(a) == number(b)),
    "ne": lambda a, b: _true(number(a) != number(b)),
    "ilt": lambda a, b: _true(_signed(a) < _signed(b)),
    "ige": lambda a, b: _true(_signed(a) >= _signed(b)),
    "ieq": lambda a, b: _true(a == b),
    "ine": lambda a, b: _true(a != b),
    "ult": lambda a, b: _true(a < b),
    "uge": lambda a, b: _true(a >= b),
    "ftoi": lambda a: _whole(a, -(1 << 31), (1 << 31) - 1),
    "ftou": lambda a: _whole(a, 0, MASK),
    "itof": lambda a: bits(F(_signed(a))),
    "utof": lambda a: bits(F(a)),
    "iadd": lambda a, b: a + b,
    "imul": lambda a, b: a * b,
    "umul": lambda a, b: a * b,
    "imul_high": lambda a, b: _signed(a) * _signed(b) >> 32,
    "umul_high": lambda a, b: a * b >> 32,
    "icbits": int.bit_count,
    "imad": lambda a, b, c: a * b + c,
    "umad": lambda a, b, c: a * b + c,
    "imin": lambda a, b: min(_signed(a), _signed(b)),
    "imax": lambda a, b: max(_signed(a), _signed(b)),
    "umin": min,
    "umax": max,
    "udiv": lambda a, b: a // b if b else MASK,
    "umod": lambda a, b: a % b if b else MASK,
    "inegate": lambda a: -a,
    "ishl": lambda a, b: a << (b & 31),
    "ishr": lambda a, b: _signed(a) >> (b & 31),
    "ushr": lambda a, b: a >> (b & 31),
    "and": lambda a, b: a & b,
    "iand": lambda a, b: a & b,
    "ior": lambda a, b: a | b,
    "ixor": lambda a, b: a ^ b,
    "inot": lambda a: ~a,
    "mov": lambda a: a,
    "cmov_logical": lambda a, b, c: b if a else c,
}
INTEGERS = frozenset(name for name in OPS if name[0] in "iu" and name not in ("iand", "ior", "ixor", "inot", "icbits"))
