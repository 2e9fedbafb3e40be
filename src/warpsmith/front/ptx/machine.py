"""Instructions that touch memory or other lanes: ld st atom, bar, membar, vote, shfl … (PTX ISA 9.0, 9.7.8 on).

What we do not model becomes the op `unmodeled`, with every register that it may write as a result.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from warpsmith.front.ptx.arithmetic import Handler, Ptx
from warpsmith.front.ptx.registers import PtxError, Registers
from warpsmith.ssa.builder import constant
from warpsmith.ssa.nodes import ASYNCHRONOUS, Barrier, Exchange, Fence, Memory, Operand, Space, Text
from warpsmith.ssa.types import I1, I32, I64, Type, integer

__all__ = ["MACHINE", "elements", "memory_operand", "opaque"]

_SPACES: Final[dict[str, Space]] = {
    "global": "global", "shared": "shared", "local": "local", "const": "constant", "param": "param",
}  # fmt: skip
_ADDRESS: Final = re.compile(r"\[\s*([^\]+]+?)\s*(?:\+\s*(-?\w+))?\s*\]$")
_NUMBER: Final = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)$")


def memory_operand(text: str) -> tuple[str, int]:
    """Return base and offset of `[base+offset]`; raises PtxError for anything else."""
    found = _ADDRESS.match(text.strip())
    if found is None:
        raise PtxError(f"{text} is not an address")
    return found.group(1), int(found.group(2) or "0", 0)


def elements(text: str) -> list[str]:
    """Return the registers of `{%f1, %f2}`, or the one that stands alone."""
    text = text.strip()
    return [part.strip() for part in text.strip("{}").split(",")] if text.startswith("{") else [text]


def _space(i: Ptx) -> Space:
    named = (part.partition("::")[0] for part in i.parts[1:])
    return next((_SPACES[part] for part in named if part in _SPACES), "generic")


def _place(r: Registers, text: str, space: Space) -> tuple[Operand, int]:
    """Return the address operand and the offset behind it."""
    base, offset = memory_operand(text)
    if base in r.types:
        own = r.types[base]
        return r.read(base, I32 if own.bits == 32 else I64), offset
    if _NUMBER.match(base):
        return constant(I64, int(base, 0)), offset
    return r.address(base, I64), offset


_SCOPES: Final[dict[str, Literal["block", "device", "system"]]] = {
    "cta": "block", "gpu": "device", "gl": "device", "cluster": "device", "sys": "system",
}  # fmt: skip


def _how(i: Ptx, offset: int, width: int) -> Memory:
    """Return the detail of an access of `width` elements: PTX demands that it is aligned to its size."""
    order: Literal["", "volatile", "relaxed", "acquire", "release", "acq_rel"] = ""
    for name in ("volatile", "relaxed", "acquire", "release", "acq_rel"):
        if i.has(name):
            order = name
    scope: Literal["", "block", "device", "system"] = next((_SCOPES[p] for p in i.parts if p in _SCOPES), "")
    cached: Literal["", "read only", "streaming"] = (
        "read only" if i.has("nc") or i.base == "ldu" else "streaming" if i.has("cs") else ""
    )
    size = i.type.bytes * width
    return Memory(_space(i), offset, size, order, cached, scope)


def _load(r: Registers, i: Ptx) -> None:
    target, address = i.needs(2)[:2]
    names = elements(target)
    place, offset = _place(r, address, _space(i))
    values = r.builder.emit_many("load", (place,), (i.type,) * len(names), _how(i, offset, len(names)))
    for name, value in zip(names, values, strict=True):
        r.write(name, value, signed=i.signed)


def _store(r: Registers, i: Ptx) -> None:
    address, source = i.needs(2)[:2]
    values = tuple(r.read(name, i.type) for name in elements(source))
    place, offset = _place(r, address, _space(i))
    r.builder.emit_many("store", (place, *values), (), _how(i, offset, len(values)))


_COPIED: Final[tuple[Space, Space]] = ("shared", "global")


def _copy(r: Registers, i: Ptx) -> None:
    """Translate `cp.async` of 4, 8 or 16 bytes to a load and a store, and say that it may be made later."""
    how = i.parts[1:3]
    if how in (("async", "commit_group"), ("async", "wait_group"), ("async", "wait_all")):
        return None
    operands = i.operands
    sizes = [int(text, 0) for text in operands[2:] if _NUMBER.match(text.strip())]
    shared = any(part.startswith("shared") for part in i.parts[3:])
    plain = how in (("async", "ca"), ("async", "cg")) and shared and not i.has("cache_hint")
    if not plain or len(sizes) != len(operands) - 2 or not sizes or set(sizes) - {4, 8, 16} or len(set(sizes)) > 1:
        return translate_unmodeled(r, i)
    size = sizes[0]
    (to, above), (source, offset) = (_place(r, text, space) for text, space in zip(operands, _COPIED, strict=False))
    read, write = Memory("global", offset, size), Memory("shared", above, size)
    values = r.builder.emit_many("load", (source,), (I32,) * (size // 4), read)
    r.builder.emit_many("store", (to, *values), (), write)
    r.lacking[ASYNCHRONOUS] = None
    r.builder.emit_many("unmodeled", (), (), Text(ASYNCHRONOUS))
    return None


_ATOMICS = {"exch": "exchange", "cas": "compare", "inc": "inc", "dec": "dec", "and": "and", "or": "or", "xor": "xor"}


def _atomic(r: Registers, i: Ptx) -> None:
    operands = list(i.needs(2))
    target = operands.pop(0) if i.base == "atom" else "_"
    op = next((part for part in i.parts[1:] if part in ("add", "min", "max", *_ATOMICS)), None)
    scalar = all(not text.strip().startswith("{") for text in operands)
    if op is None or not scalar or i.name in ("f16x2", "bf16x2", "bf16", "f16", "b128"):
        return translate_unmodeled(r, i)
    if op in ("min", "max"):
        op = f"{'s' if i.signed else 'u'}{op}"
    elif op == "add" and i.letter == "f":
        op = "fadd"
    place, offset = _place(r, operands[0], _space(i))
    values = tuple(r.read(text, i.type) for text in operands[1:])
    types = (i.type,) if i.base == "atom" else ()
    found = r.builder.emit_many(f"atomic_{_ATOMICS.get(op, op)}", (place, *values), types, _how(i, offset, 1))
    for value in found:
        r.write(target, value, signed=i.signed)
    return None


def _barrier(r: Registers, i: Ptx) -> None:
    if i.has("warp"):
        mask = tuple(r.read(text, I32) for text in i.operands[:1])
        r.builder.emit_many("warp_barrier", mask, ())
    elif i.has("cluster"):
        translate_unmodeled(r, i)
    elif i.has("red"):
        _reducing_barrier(r, i)
    else:
        numbers = tuple(r.read(text, I32) for text in i.operands) or (constant(I32, 0),)
        r.builder.emit_many("barrier", numbers, (), Barrier(waits=not i.has("arrive")))


def _reducing_barrier(r: Registers, i: Ptx) -> None:
    target, *numbers, condition = i.needs(3)
    reduces: Literal["and", "or", "count"] = "and" if i.has("and") else "or" if i.has("or") else "count"
    operands = (*(r.read(text, I32) for text in numbers), r.read(condition, I1))
    made = I32 if reduces == "count" else I1
    r.write(target, r.builder.emit("barrier", operands, made, Barrier(reduces=reduces)))


def _fence(r: Registers, i: Ptx) -> None:
    if i.has("proxy") or i.has("mbarrier_init"):
        return translate_unmodeled(r, i)
    block = i.has("cta")
    scope: Literal["block", "device", "system"] = "block" if block else "system" if i.has("sys") else "device"
    r.builder.emit_many("fence", (), (), Fence(scope))
    return None


def _vote(r: Registers, i: Ptx) -> None:
    target, condition, *mask = i.needs(2)
    how = next((part for part in i.parts if part in ("all", "any", "uni", "ballot")), "all")
    operands = (r.read(condition, I1), *(r.read(text, I32) for text in mask))
    made = I32 if how == "ballot" else I1
    r.write(target, r.builder.emit("vote", operands, made, Exchange(how, bool(mask))))


def _shuffle(r: Registers, i: Ptx) -> None:
    target, value, lane, clamp, *mask = i.needs(4)
    how = next((part for part in i.parts if part in ("up", "down", "bfly", "idx")), "idx")
    operands = (r.read(value, i.type), *(r.read(text, I32) for text in (lane, clamp, *mask)))
    _with_predicate(r, target, "shuffle", operands, (i.type, Exchange(how, bool(mask))))


def _match(r: Registers, i: Ptx) -> None:
    target, value, mask = i.needs(3)[:3]
    operands = (r.read(value, i.type), r.read(mask, I32))
    _with_predicate(r, target, "match", operands, (I32, Exchange("all" if i.has("all") else "any")))


def _with_predicate(
    r: Registers, target: str, op: str, operands: tuple[Operand, ...], made: tuple[Type, Exchange]
) -> None:
    """Emit an op whose target is `%r1` or `%r1|%p1`."""
    first, bar, second = target.partition("|")
    value, *flag = r.builder.emit_many(op, operands, (made[0], I1) if bar else (made[0],), made[1])
    r.write(first, value)
    if flag:
        r.write(second, flag[0])


def _reduce(r: Registers, i: Ptx) -> None:
    target, value, mask = i.needs(3)[:3]
    how = next((part for part in i.parts if part in ("add", "min", "max", "and", "or", "xor")), None)
    if how is None or i.letter == "f":
        return translate_unmodeled(r, i)
    sign = i.name[0] if how in ("min", "max") else ""
    operands = (r.read(value, I32), r.read(mask, I32))
    return r.write(target, r.builder.emit("reduce", operands, I32, Exchange(f"{sign}{how}")))


def _active(r: Registers, i: Ptx) -> None:
    r.write(i.needs(1)[0], r.builder.emit("active", (), I32))


def _mov(r: Registers, i: Ptx) -> None:
    target, source = i.needs(2)[:2]
    if source.strip().startswith("{"):
        return _pack(r, i, target, elements(source))
    if target.strip().startswith("{"):
        return _unpack(r, i, elements(target), source)
    return r.write(target, r.read(source, i.type))


def _pack(r: Registers, i: Ptx, target: str, parts: list[str]) -> None:
    """Put parts together, the first one lowest."""
    part, whole = integer(i.type.bits // len(parts)), integer(i.type.bits)
    total: Operand = constant(whole, 0)
    for number, text in enumerate(parts):
        wide = r.cast(r.read(text, part), whole)
        moved = r.builder.emit("shl", (wide, constant(I32, number * part.bits)), whole) if number else wide
        total = r.builder.emit("or", (total, moved), whole) if number else moved
    r.write(target, total)


def _unpack(r: Registers, i: Ptx, targets: list[str], source: str) -> None:
    part, whole = integer(i.type.bits // len(targets)), integer(i.type.bits)
    value = r.read(source, whole)
    for number, text in enumerate(targets):
        moved = r.builder.emit("lshr", (value, constant(I32, number * part.bits)), whole) if number else value
        r.write(text, r.cast(moved, part))


def _cvta(r: Registers, i: Ptx) -> None:
    target, source = i.needs(2)[:2]
    op = "from_generic" if i.has("to") else "to_generic"
    r.write(target, r.builder.emit(op, (r.read(source, I64),), I64, Text(_space(i))))


def nothing(r: Registers, i: Ptx) -> None:
    """Translate an instruction that changes no value: a hint, a pause."""


_REGISTER: Final = re.compile(r"%[\w$]+")


def translate_unmodeled(r: Registers, i: Ptx) -> None:
    """Translate what we do not model: what stands first is written, unless it is an address; all else is read."""
    r.lacking[f"{i.base}.{i.name}" if i.base in ("atom", "red") else i.base] = None
    opaque(r, i, "unmodeled")


def _translate_fetch(r: Registers, i: Ptx) -> None:
    """Translate a fetch from a texture: which no thread changes, so that it is a function of what it reads."""
    opaque(r, i, "lanewise")


def opaque(r: Registers, i: Ptx, op: str) -> None:
    """Translate an instruction to an op of which no more is known than what it reads and writes."""
    operands = list(i.operands)
    written = _registers(r, operands[:1]) if operands and not operands[0].strip().startswith("[") else []
    read = _registers(r, operands[1:] if written else operands)
    values = tuple(r.builder.read(name, r.types[name]) for name in read)
    types = tuple(r.types[name] for name in written)
    found = r.builder.emit_many(op, values, types, Text(f"{'.'.join(i.parts)} {', '.join(operands)}"))
    for name, value in zip(written, found, strict=True):
        r.write(name, value)


def _registers(r: Registers, texts: list[str]) -> list[str]:
    return [name for text in texts for name in _REGISTER.findall(text) if name in r.types]


MACHINE: Final[dict[str, Handler]] = {
    **dict.fromkeys(("ld", "ldu"), _load),
    "st": _store,
    **dict.fromkeys(("atom", "red"), _atomic),
    "cp": _copy,
    **dict.fromkeys(("bar", "barrier"), _barrier),
    **dict.fromkeys(("membar", "fence"), _fence),
    "vote": _vote,
    "shfl": _shuffle,
    "match": _match,
    "redux": _reduce,
    "activemask": _active,
    "mov": _mov,
    "cvta": _cvta,
    **dict.fromkeys(("prefetch", "prefetchu", "nanosleep", "pmevent", "brkpt", "discard", "applypriority"), nothing),
    **dict.fromkeys(("setmaxnreg", "griddepcontrol"), nothing),
    **dict.fromkeys(("tex", "tld4", "txq", "suq"), _translate_fetch),
    **dict.fromkeys(("suld", "sust", "sured", "wmma", "mma", "wgmma", "ldmatrix"), translate_unmodeled),
    **dict.fromkeys(
        ("stmatrix", "movmatrix", "mbarrier", "elect", "createpolicy", "istypep", "mapa"), translate_unmodeled
    ),
    **dict.fromkeys(
        ("getctarank", "multimem", "alloca", "stacksave", "stackrestore", "tcgen05", "tensormap"), translate_unmodeled
    ),
}
