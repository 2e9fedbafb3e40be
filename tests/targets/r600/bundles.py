"""R600 programs are executed: bundles read before they write, fetches and exports are as IL's.

It knows the text's data (code.py) and nothing of how they were made. RECIP_UINT is 2^32 / d, rounded down and then
wrong by `error`: what hardware gives is not known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tests.front.il.direct import MASK, OPS, bits, number
from warpsmith.targets.r600.code import (
    AluClause,
    AluLine,
    AluSource,
    ExportLine,
    Gpr,
    Kc,
    R600Code,
    StoreLine,
    TexClause,
    TexLine,
)

__all__ = ["Bundles"]

F = np.float32


class Bundles:
    """One program, run thread by thread."""

    def __init__(
        self,
        code: R600Code,
        memory: Mapping[str, Sequence[int]],
        sizes: Mapping[int, tuple[int, ...]],
        channels: Mapping[str, int],
        error: int = 0,
        *,
        views: Mapping[int, bytearray] | None = None,
    ) -> None:
        self.views = views or {}
        self.code = code
        self.memory = memory
        self.sizes = sizes
        self.channels = channels
        self.error = error
        self.registers: dict[tuple[int, str], int] = {}

    def run(self, x: int, y: int) -> dict[str, list[int]]:
        """Return what thread (x, y) writes; what it does not is 0."""
        self.registers = {(0, "x"): bits(x + 0.5), (0, "y"): bits(y + 0.5)}
        self._clauses()
        exports = [one for one in self.code.exports if isinstance(one, ExportLine)]
        return {f"o{one.number}": self._swizzled(one.register, one.swizzle) for one in exports}

    def run_group(self, group: tuple[int, int, int], place: tuple[int, int, int]) -> None:
        """Run a thread of a compute shader."""
        self.registers = {
            (register, letter): word
            for register, words in enumerate((place, group))
            for letter, word in zip("xyz", words, strict=True)
        }
        self._clauses()
        for one in self.code.exports:
            assert isinstance(one, StoreLine)
            first = 4 * self.registers[(one.address, "x")]
            for at, letter in enumerate("xyzw"):
                if letter in one.mask:
                    word = self.registers[(one.register, letter)].to_bytes(4, "little")
                    assert first + 4 * at + 4 <= len(self.views[one.view])
                    self.views[one.view][first + 4 * at : first + 4 * at + 4] = word

    def _clauses(self) -> None:
        for clause in self.code.clauses:
            if isinstance(clause, TexClause):
                for line in clause.lines:
                    self._fetch_words(line) if line.name == "VFETCH" else self._fetch(line)
            else:
                self._bundles(clause)

    def _fetch_words(self, line: TexLine) -> None:
        first = self._swizzled(line.source, line.swizzle)[0]
        for at, letter in enumerate("xyzw"):
            if letter in line.mask:
                word = self.views[line.resource][first + 4 * at : first + 4 * at + 4]
                assert len(word) == 4
                self.registers[(line.register, letter)] = int.from_bytes(word, "little")

    def _bundles(self, clause: AluClause) -> None:
        for bundle in clause.bundles:
            results = [(line.target, self._compute(line)) for line in bundle.lines]
            assert len({target for target, _ in results}) == len(results), "a component is written twice"
            for target, value in results:
                self.registers[(target.register, target.component)] = value

    def _swizzled(self, register: int, swizzle: str) -> list[int]:
        special = {"0": 0, "1": 0x3F800000, "_": 0}
        return [special[one] if one in special else self.registers[(register, one)] for one in swizzle]

    def _read(self, source: AluSource) -> int:
        place = source.place
        if isinstance(place, Gpr):
            word = self.registers[(place.register, place.component)]
        elif isinstance(place, Kc):
            word = self.memory[f"cb{place.buffer}"][4 * place.element + "xyzw".index(place.component)]
        else:
            word = place.bits
        word = word & 0x7FFFFFFF if source.absolute else word
        return word ^ 0x80000000 if source.negate else word

    def _compute(self, line: AluLine) -> int:
        words = [self._read(source) for source in line.sources]
        with np.errstate(all="ignore"):
            if line.name == "RECIP_UINT":
                divisor = words[0]
                word = min(MASK, max(0, (1 << 32) // divisor + self.error)) if divisor else MASK
            else:
                word = COMPUTED[line.name](*words) & MASK
        if not line.clamp:
            return word
        value = number(word)
        return bits(0.0) if not value > 0 else bits(1.0) if value >= 1 else word

    def _fetch(self, line: TexLine) -> None:
        place = self._swizzled(line.source, line.swizzle)
        sizes, channels = self.sizes[line.resource], self.channels[f"t{line.resource}"]
        at: list[int] = []
        outside = False
        for word, size in zip(place, sizes, strict=False):
            if line.name == "SAMPLE":
                value = float(number(word))
                at.append(math.floor(0 if math.isnan(value) else max(0, min(size - 1, value))))
            else:
                outside = outside or word >= size
                at.append(min(word, size - 1))
        element = at[0] + (at[1] * sizes[0] if len(sizes) > 1 else 0)
        words = list(self.memory[f"t{line.resource}"][channels * element : channels * element + channels])
        found = [0, 0, 0, 0] if outside else words + [0, 0, 0, 0x3F800000][channels:]
        for letter, word in zip("xyzw", found, strict=True):
            if letter in line.mask:
                self.registers[(line.register, letter)] = word


def _reciprocal(word: int) -> int:
    return bits(F(1) / number(word))


COMPUTED: Mapping[str, Callable[..., int]] = {
    "ADD": OPS["add"], "MUL_IEEE": OPS["mul"], "MULADD_IEEE": OPS["mad"], "MIN": OPS["min"], "MAX": OPS["max"],
    "FLOOR": OPS["flr"], "FRACT": OPS["frc"], "TRUNC": OPS["round_z"], "CEIL": OPS["round_posinf"],
    "RNDNE": OPS["round_nearest"], "EXP_IEEE": OPS["exp_vec"], "LOG_IEEE": OPS["log_vec"],
    "MULHI_INT": OPS["imul_high"],
    "MOV": OPS["mov"], "SETE_DX10": OPS["eq"],
    "SETGT_DX10": lambda a, b: OPS["lt"](b, a), "SETGE_DX10": OPS["ge"], "SETNE_DX10": OPS["ne"],
    "AND_INT": OPS["and"], "OR_INT": OPS["ior"], "XOR_INT": OPS["ixor"], "NOT_INT": OPS["inot"],
    "ADD_INT": OPS["iadd"], "SUB_INT": lambda a, b: a - b, "MAX_INT": OPS["imax"], "MIN_INT": OPS["imin"],
    "MAX_UINT": max, "MIN_UINT": min, "SETE_INT": OPS["ieq"], "SETNE_INT": OPS["ine"],
    "SETGT_INT": lambda a, b: OPS["ilt"](b, a), "SETGE_INT": OPS["ige"], "SETGT_UINT": lambda a, b: OPS["ult"](b, a),
    "SETGE_UINT": OPS["uge"], "CNDE_INT": lambda a, b, c: b if a == 0 else c, "ASHR_INT": OPS["ishr"],
    "LSHR_INT": OPS["ushr"], "LSHL_INT": OPS["ishl"], "MULLO_INT": OPS["imul"], "MULLO_UINT": OPS["umul"],
    "MULHI_UINT": lambda a, b: a * b >> 32, "RECIP_IEEE": _reciprocal, "RECIPSQRT_IEEE": OPS["rsq_vec"],
    "SQRT_IEEE": OPS["sqrt"], "FLT_TO_INT": OPS["ftoi"], "FLT_TO_UINT": OPS["ftou"], "INT_TO_FLT": OPS["itof"],
    "UINT_TO_FLT": OPS["utof"],
}  # fmt: skip
