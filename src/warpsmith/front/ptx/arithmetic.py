"""Instructions that compute: arithmetic, logic, comparison, selection, conversion (PTX ISA 9.0, 9.7.1 to 9.7.9).

Every handler takes an instruction apart and emits ops; `Ptx` is what it sees of one: `add.rn.ftz.f32 %f3, %f1, %f2`
has base `add`, modifiers {rn, ftz}, type `f32`, operands (%f3, %f1, %f2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from warpsmith.front.ptx.model import FUNDAMENTAL
from warpsmith.front.ptx.registers import PtxError, Registers
from warpsmith.ssa.builder import constant
from warpsmith.ssa.nodes import Convert, Detail, Float, Operand, Rounding
from warpsmith.ssa.ops import OPS, Shape
from warpsmith.ssa.types import F32, I1, I32, I64, Type, integer

__all__ = ["ARITHMETIC", "Handler", "Ptx"]


class Ptx(Struct, frozen=True):
    """One instruction, taken apart; `types` are all types of its mnemonic, in order."""

    base: str
    parts: tuple[str, ...]
    types: tuple[str, ...]
    operands: tuple[str, ...]

    @property
    def type(self) -> Type:
        """The type that it works on, the last one that it names."""
        return FUNDAMENTAL[self.name]

    @property
    def name(self) -> str:
        """The name of that type."""
        if not self.types:
            raise PtxError(f"{'.'.join(self.parts)} names no type")
        return self.types[-1]

    @property
    def letter(self) -> str:
        """s, u, b, f or p."""
        return "b" if self.name in ("bf16", "bf16x2", "tf32") else self.name[0]

    @property
    def signed(self) -> bool:
        """Whether its type is a signed integer."""
        return self.letter == "s"

    def has(self, modifier: str) -> bool:
        """Whether its mnemonic has `modifier`."""
        return modifier in self.parts

    def takes(self, count: int) -> tuple[str, ...]:
        """Return the operands; raises PtxError where they are not `count`."""
        if len(self.operands) > count:
            raise PtxError(f"{'.'.join(self.parts)} has {len(self.operands)} operands and takes {count}")
        return self.needs(count)

    def needs(self, count: int) -> tuple[str, ...]:
        """Return the operands; raises PtxError where there are fewer than `count`."""
        if len(self.operands) < count:
            raise PtxError(f"{'.'.join(self.parts)} has {len(self.operands)} operands and needs {count}")
        return self.operands


Handler = Callable[[Registers, Ptx], None]

_ROUNDINGS: dict[str, Rounding] = {"rn": "nearest", "rz": "zero", "rm": "down", "rp": "up", "rna": "away"}
_TO_INTEGER: dict[str, Rounding] = {"rni": "nearest", "rzi": "zero", "rmi": "down", "rpi": "up"}


def _float(i: Ptx) -> Float:
    rounding: Rounding = next((_ROUNDINGS[part] for part in i.parts if part in _ROUNDINGS), "")
    return Float(rounding, i.has("ftz"), i.has("sat"), i.has("approx") or i.has("full"))


def _is_modeled(i: Ptx) -> bool:
    """Whether its type is one number: not a pair, not bf16."""
    return i.name in FUNDAMENTAL and i.name not in ("bf16", "bf16x2", "f16x2", "tf32", "u16x2", "s16x2", "f32x2")


_TAKES: Final[dict[Shape, int]] = {"unary": 1, "binary": 2, "shift": 2, "ternary": 3}


def _plain(op: str, floating: str = "", unsigned: str = "") -> Handler:
    """Return the handler of an instruction with one result: `op`, or what stands for it on other types."""

    def handler(r: Registers, i: Ptx) -> None:
        chosen = floating if i.letter == "f" else unsigned if unsigned and i.letter in "ub" else op
        target, *sources = i.takes(1 + _TAKES[OPS[chosen].shape])
        if not _is_modeled(i):
            return lanewise(r, i)
        detail: Detail | None = _float(i) if i.letter == "f" else None
        values = tuple(r.read(s, i.type, signed=i.signed) for s in sources)
        return r.write(target, r.builder.emit(chosen, values, i.type, detail), signed=i.signed)

    return handler


def lanewise(r: Registers, i: Ptx) -> None:
    """Translate an instruction that computes lane by lane, but what, we do not model."""
    target, *sources = i.needs(1)
    targets = [t for t in target.split("|") if t.strip() != "_"]
    types = tuple(r.types.get(t.strip(), I32) for t in targets)
    values = tuple(r.read(s, _own_type(r, s)) for s in sources)
    for name, value in zip(targets, r.builder.emit_many("lanewise", values, types), strict=True):
        r.write(name, value)


def _own_type(r: Registers, text: str) -> Type:
    name = text.strip().lstrip("!")
    return r.types.get(name, I1 if text.strip().startswith("!") else F32 if name[:2] in ("0f", "0F") else I64)


def _add(r: Registers, i: Ptx) -> None:
    if i.has("cc") or i.base in ("addc", "subc"):
        return _carry(r, i)
    if i.has("sat") and i.letter == "s":
        return _plain("saddsat" if i.base == "add" else "ssubsat")(r, i)
    return _plain(i.base, f"f{i.base}")(r, i)


def _carry(r: Registers, i: Ptx) -> None:
    """Translate add.cc, addc, sub.cc, subc, and the sum of mad.cc and madc; the carry is a register of its own."""
    target, left, right = i.needs(3)[:3]
    _with_carry(r, i, target, (r.read(left, i.type), r.read(right, i.type)), i.base.startswith("add"))


def _with_carry(r: Registers, i: Ptx, target: str, sources: tuple[Operand, ...], adds: bool) -> None:
    if i.base.endswith("c"):
        sources = (*sources, r.builder.read("CC.CF", I1))
    total, carry = r.builder.emit_many("add_carry" if adds else "sub_borrow", sources, (i.type, I1))
    r.write(target, total)
    if i.has("cc"):
        r.builder.write("CC.CF", carry)


def _product(r: Registers, i: Ptx, left: str, right: str) -> tuple[Operand, Type]:
    """Return the product of a mul or mad, in its type (twice as wide for .wide)."""
    sign = "s" if i.signed else "u"
    values = (r.read(left, i.type, signed=i.signed), r.read(right, i.type, signed=i.signed))
    if i.has("wide"):
        type = integer(2 * i.type.bits)
        return r.builder.emit(f"{sign}mulwide", values, type), type
    op = f"{sign}mulhi" if i.has("hi") else "mul"
    return r.builder.emit(op, values, i.type), i.type


def _mul(r: Registers, i: Ptx) -> None:
    if i.letter == "f" or not _is_modeled(i):
        return _plain("mul", "fmul")(r, i)
    target, left, right = i.needs(3)[:3]
    product, _ = _product(r, i, left, right)
    return r.write(target, product, signed=i.signed)


def _mad(r: Registers, i: Ptx) -> None:
    if i.letter == "f" or not _is_modeled(i):
        return _plain("ffma", "ffma")(r, i)
    target, left, right, more = i.needs(4)[:4]
    product, type = _product(r, i, left, right)
    added = r.read(more, type, signed=i.signed)
    if i.has("cc") or i.base == "madc":
        return _with_carry(r, i, target, (product, added), adds=True)
    if i.has("sat"):
        return r.write(target, r.builder.emit("saddsat", (product, added), type))
    return r.write(target, r.builder.emit("add", (product, added), type), signed=i.signed)


def _minimum(r: Registers, i: Ptx) -> None:
    if i.letter == "f" and i.has("NaN"):
        return _plain(i.base, f"f{i.base}_nan")(r, i)
    if len(i.operands) > 3 or i.has("xorsign"):
        return lanewise(r, i)
    return _plain(f"s{i.base}", f"f{i.base}", f"u{i.base}")(r, i)


def _shift(r: Registers, i: Ptx) -> None:
    target, value, amount = i.needs(3)[:3]
    op = "shl" if i.base == "shl" else "ashr" if i.signed else "lshr"
    operands = (r.read(value, i.type, signed=i.signed), r.read(amount, I32))
    r.write(target, r.builder.emit(op, operands, i.type), signed=i.signed)


_INTEGER_TESTS = {
    "eq": "eq", "ne": "ne", "lo": "ult", "ls": "ule", "hi": "ugt", "hs": "uge",
}  # fmt: skip
_FLOAT_TESTS = {
    **{name: f"fo{name}" for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    **{f"{name}u": f"fu{name}" for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "num": "ordered",
    "nan": "unordered",
}


def _compare(r: Registers, i: Ptx, left: str, right: str) -> Operand:
    """Return the predicate of a comparison."""
    test = next((part for part in i.parts[1:] if part in _FLOAT_TESTS or part in _INTEGER_TESTS), None)
    if test is None:
        raise PtxError(f"{'.'.join(i.parts)} names no comparison")
    if i.letter == "f":
        op = _FLOAT_TESTS[test]
    else:
        op = _INTEGER_TESTS.get(test, f"{'s' if i.signed else 'u'}{test}")
    values = (r.read(left, i.type, signed=i.signed), r.read(right, i.type, signed=i.signed))
    return r.builder.emit(op, values, I1, _float(i) if i.letter == "f" and i.has("ftz") else None)


def _setp(r: Registers, i: Ptx) -> None:
    targets, left, right, *more = i.needs(3)
    if not _is_modeled(i):
        return lanewise(r, i)
    found = _compare(r, i, left, right)
    first, _, second = targets.partition("|")
    negated = r.builder.emit("not", (found,), I1) if second else found
    for name, value in ((first, found), (second, negated)):
        if name.strip():
            r.write(name, _combine(r, i, value, more))
    return None


def _combine(r: Registers, i: Ptx, value: Operand, more: list[str]) -> Operand:
    op = next((part for part in i.parts[2:] if part in ("and", "or", "xor")), None)
    return r.builder.emit(op, (value, r.read(more[0], I1)), I1) if op and more else value


def _set(r: Registers, i: Ptx) -> None:
    target, left, right, *more = i.needs(3)
    if not _is_modeled(i) or len(i.types) != 2:
        return lanewise(r, i)
    found = _combine(r, i, _compare(r, i, left, right), more)
    made = FUNDAMENTAL[i.types[0]]
    yes = constant(I32, 0x3F800000 if made == F32 else -1)
    chosen = r.builder.emit("select", (found, yes, constant(I32, 0)), I32)
    return r.write(target, r.cast(chosen, made))


def _selp(r: Registers, i: Ptx) -> None:
    target, yes, no, condition = i.needs(4)[:4]
    type = i.type
    operands = (r.read(condition, I1), r.read(yes, type), r.read(no, type))
    r.write(target, r.builder.emit("select", operands, type))


def _slct(r: Registers, i: Ptx) -> None:
    target, yes, no, value = i.needs(4)[:4]
    type, tested = FUNDAMENTAL[i.types[0]], i.type
    test = "foge" if tested.kind == "float" else "sge"
    condition = r.builder.emit(test, (r.read(value, tested), constant(tested, 0)), I1)
    r.write(target, r.builder.emit("select", (condition, r.read(yes, type), r.read(no, type)), type))


def _not(r: Registers, i: Ptx) -> None:
    target, value = i.needs(2)[:2]
    if i.base == "not":
        return r.write(target, r.builder.emit("not", (r.read(value, i.type),), i.type))
    zero = r.builder.emit("eq", (r.read(value, i.type), constant(i.type, 0)), I1)
    return r.write(target, r.builder.emit("select", (zero, constant(i.type, 1), constant(i.type, 0)), i.type))


def _count(op: str) -> Handler:
    def handler(r: Registers, i: Ptx) -> None:
        target, value = i.needs(2)[:2]
        if i.has("shiftamt"):
            return lanewise(r, i)
        chosen = f"{'s' if i.signed else 'u'}find" if op == "find" else op
        return r.write(target, r.builder.emit(chosen, (r.read(value, i.type),), I32))

    return handler


def _bits(op: str, sizes: int) -> Handler:
    """Return the handler of bfe and bfi: `sizes` operands in the type, then a position and a length."""

    def handler(r: Registers, i: Ptx) -> None:
        target, *sources = i.needs(sizes + 3)
        values = [r.read(s, i.type) for s in sources[:sizes]] + [r.read(s, I32) for s in sources[sizes : sizes + 2]]
        chosen = f"{'s' if i.signed else 'u'}extract" if op == "extract" else op
        r.write(target, r.builder.emit(chosen, tuple(values), i.type))

    return handler


def _words(op: str, count: int) -> Handler:
    """Return the handler of an instruction on `count` 32-bit words."""

    def handler(r: Registers, i: Ptx) -> None:
        target, *sources = i.needs(count + 1)
        if i.base == "prmt" and len(i.parts) > 2:
            return lanewise(r, i)
        chosen = op
        if i.base == "shf":
            chosen = f"funnel_{'left' if i.has('l') else 'right'}{'_clamp' if i.has('clamp') else ''}"
        return r.write(target, r.builder.emit(chosen, tuple(r.read(s, I32) for s in sources[:count]), I32))

    return handler


def _cvt(r: Registers, i: Ptx) -> None:
    target, *sources = i.needs(2)
    simple = len(i.types) == 2 and len(sources) == 1 and all(t in _SIMPLE for t in i.types)
    if not simple:
        return lanewise(r, i)
    made, own = i.types
    to, origin = FUNDAMENTAL[made], FUNDAMENTAL[own]
    value = r.read(sources[0], origin, signed=own[0] == "s")
    return r.write(target, _convert(r, i, value, (to, made[0]), (origin, own[0])), signed=made[0] == "s")


_SIMPLE = frozenset(f"{letter}{bits}" for letter in "su" for bits in (8, 16, 32, 64)) | {"f16", "f32", "f64"}


def _convert(r: Registers, i: Ptx, value: Operand, to: tuple[Type, str], origin: tuple[Type, str]) -> Operand:
    """Return `value` converted; types come with the letter of their name."""
    (made, letter), (own, source) = to, origin
    rounding: Rounding = next(
        ((_ROUNDINGS | _TO_INTEGER)[p] for p in i.parts if p in _ROUNDINGS or p in _TO_INTEGER), ""
    )
    how = Convert(rounding, i.has("sat"))
    if letter == source == "f":
        if made.bits == own.bits:
            to_integer = any(part in _TO_INTEGER for part in i.parts)
            detail = Float(rounding, i.has("ftz"), i.has("sat"))
            return r.builder.emit("fround", (value,), made, detail) if to_integer or i.has("sat") else value
        return r.builder.emit("fext" if made.bits > own.bits else "ftrunc", (value,), made, how)
    if letter == "f":
        return r.builder.emit("sitof" if source == "s" else "uitof", (value,), made, how)
    if source == "f":
        return r.builder.emit("ftosi" if letter == "s" else "ftoui", (value,), made, how)
    if i.has("sat"):
        return r.builder.emit("lanewise", (value,), made)
    return r.cast(value, made, signed=source == "s")


def _unary(op: str) -> Handler:
    def handler(r: Registers, i: Ptx) -> None:
        return _plain(op, op)(r, i)

    return handler


def _testp(r: Registers, i: Ptx) -> None:
    target, value = i.needs(2)[:2]
    r.write(target, r.builder.emit(f"is_{i.parts[1]}", (r.read(value, i.type),), I1))


def _copysign(r: Registers, i: Ptx) -> None:
    target, sign, value = i.needs(3)[:3]
    r.write(target, r.builder.emit("copysign", (r.read(sign, i.type), r.read(value, i.type)), i.type))


def _dot(r: Registers, i: Ptx) -> None:
    target, left, right, more = i.needs(4)[:4]
    if len(set(i.types)) != 1 or i.base != "dp4a":
        return lanewise(r, i)
    values = tuple(r.read(s, I32) for s in (left, right, more))
    return r.write(target, r.builder.emit(f"{'s' if i.signed else 'u'}dot4", values, I32))


ARITHMETIC: Final[dict[str, Handler]] = {
    **dict.fromkeys(("add", "sub", "addc", "subc"), _add),
    "mul": _mul,
    **dict.fromkeys(("mad", "madc"), _mad),
    "fma": _plain("ffma", "ffma"),
    "div": _plain("sdiv", "fdiv", "udiv"),
    "rem": _plain("srem", "", "urem"),
    "abs": _plain("abs", "fabs"),
    "neg": _plain("neg", "fneg"),
    "sad": _plain("ssad", "", "usad"),
    **dict.fromkeys(("min", "max"), _minimum),
    **{name: _plain(name) for name in ("and", "or", "xor")},
    **dict.fromkeys(("not", "cnot"), _not),
    **dict.fromkeys(("shl", "shr"), _shift),
    "setp": _setp,
    "set": _set,
    "selp": _selp,
    "slct": _slct,
    "popc": _count("popcount"),
    "clz": _count("leading"),
    "bfind": _count("find"),
    "brev": _plain("reverse"),
    "bfe": _bits("extract", 1),
    "bfi": _bits("insert", 2),
    "prmt": _words("permute", 3),
    "shf": _words("", 3),
    "lop3": _words("logic3", 4),
    "cvt": _cvt,
    "copysign": _copysign,
    "testp": _testp,
    **{name: _unary(name) for name in ("sqrt", "rsqrt", "rcp", "sin", "cos", "tanh")},
    "ex2": _unary("exp2"),
    "lg2": _unary("log2"),
    **dict.fromkeys(("dp4a", "dp2a"), _dot),
    **dict.fromkeys(
        ("mul24", "mad24", "bmsk", "szext", "fns", "vset", "vadd", "vsub", "vabsdiff", "vmin", "vmax"), lanewise
    ),
    **dict.fromkeys(
        ("vshl", "vshr", "vmad", "vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2", "vset2"), lanewise
    ),
    **dict.fromkeys(("vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset4", "isspacep"), lanewise),
}
