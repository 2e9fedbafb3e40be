"""Random programs of IL: every instruction, masks, swizzles, modifiers, constants, fetches, ifs and loops in each
other. All registers that are read were written; loops end."""

from __future__ import annotations

import random
import struct

from msgspec import Struct

__all__ = ["IlCase", "hand_cases", "random_case"]

_TWO = ["add", "sub", "mul", "mul_ieee", "min", "max", "lt", "ge", "eq", "ne"]
_INTEGER = [
    "iadd", "imul", "umul", "imin", "imax", "umin", "umax", "udiv", "umod", "ilt", "ige", "ieq", "ine", "ult", "uge",
    "ishl", "ishr", "ushr",
]  # fmt: skip
_BITS = ["and", "iand", "ior", "ixor"]
_ONE = ["flr", "frc", "round_z", "round_neginf", "sqrt_vec", "abs", "ftoi", "ftou"]
_NUMBERS = (0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 3.25, -7.5, 1e9, -1e20, float("inf"), float("nan"), 1e-40)


class IlCase(Struct, frozen=True):
    """A program with what it is launched on: `width` × `height` threads, as many texels."""

    text: str
    texels: list[int]
    constants: list[int]
    width: int
    height: int
    axes: int
    channels: int


class _Writer:
    def __init__(self, r: random.Random, *, divides: bool, flow: bool) -> None:
        self.r = r
        self.divides = divides
        self.flow = flow
        self.lines: list[str] = []
        self.loops = 0
        self.depth = 0

    def register(self) -> str:
        return f"r{self.r.randrange(6)}"

    def source(self, kind: str = "float") -> str:
        r = self.r
        name = r.choice([self.register()] * 6 + ["cb0[0]", "cb0[1]", "l0", "l1", "v0"])
        letters = "xy01" if name == "v0" else "xyzwxyzw01"
        swizzle = "".join(r.choice(letters) for _ in range(4))
        if r.random() < 0.2:
            swizzle = r.choice(letters)
        text = f"{name}.{swizzle}"
        if name != "v0" and r.random() < 0.15:
            text = name
        if kind == "float" and r.random() < 0.1:
            text += "_abs"
        if kind != "bits" and r.random() < 0.15:
            text += f"_neg({r.choice(['x', 'y', 'xy', 'yzw', 'xyzw'])})"
        return text

    def target(self) -> str:
        r = self.r
        mask = "".join(r.choice((letter, letter, "_")) for letter in "xyzw")
        if r.random() < 0.1:
            mask = "".join(r.choice((letter, "0", "1", "_")) for letter in "xyzw")
        if mask == "____":
            mask = "x___"
        name = r.choice([self.register()] * 9 + ["o0"])
        return name if r.random() < 0.2 and name != "o0" else f"{name}.{mask}"

    def statement(self) -> None:
        r = self.r
        sat = "_sat" if r.random() < 0.1 else ""
        pick = r.randrange(14)
        if pick < 3:
            name = r.choice(_TWO)
            sat = "" if name in ("lt", "ge", "eq", "ne") else sat
            self.put(f"{name}{sat} {self.target()}, {self.source()}, {self.source()}")
        elif pick < 6:
            self.put(f"{r.choice(_INTEGER)} {self.target()}, {self.source('integer')}, {self.source('integer')}")
        elif pick < 7:
            self.put(f"{r.choice(_BITS)} {self.target()}, {self.source('bits')}, {self.source('bits')}")
        elif pick < 8:
            self.put(f"{r.choice(_ONE)} {self.target()}, {self.source()}")
        elif pick < 9:
            self.put(f"{r.choice(['itof', 'utof', 'inegate'])} {self.target()}, {self.source('integer')}")
        elif pick < 10:
            name = r.choice(["mad", "cmov_logical", "mov", "inot", "imad", "umad"])
            kind = {"inot": "bits", "imad": "integer", "umad": "integer"}.get(name, "float")
            count = {"mov": 1, "inot": 1}.get(name, 3)
            self.put(f"{name} {self.target()}, {', '.join(self.source(kind) for _ in range(count))}")
        elif pick < 11 and self.divides:
            self.division()
        elif pick < 12:
            kind = r.choice(["sample_resource(0)_sampler(0)", "load_resource(0)"])
            self.put(
                f"{kind} {self.target()}, {self.source('float' if kind[0] == 's' else 'integer')}".replace("_abs", "")
            )
        elif self.flow and self.depth < 3:
            self.nested()
        else:
            self.put(f"iadd {self.register()}, {self.source('integer')}, {self.source('integer')}")

    def division(self) -> None:
        r = self.r
        zero = r.choice(["", "_zeroop(infinity)", "_zeroop(fltmax)"])
        name = r.choice(["div", "mod", "rcp", "rsq", "rsq_vec", "sqrt"])
        if name in ("div", "mod"):
            how = zero if name == "div" else ""
            self.put(f"{name}{how} {self.target()}, {self.source()}, {self.source()}")
        elif name == "rsq_vec":
            self.put(f"{name} {self.target()}, {self.source()}")
        else:
            how = "" if name == "sqrt" else zero
            self.put(f"{name}{how} {self.target()}, {self.register()}.{r.choice('xyzw')}")

    def nested(self) -> None:
        r = self.r
        self.depth += 1
        if r.random() < 0.6:
            self.put(f"if_{r.choice(['logicalnz', 'logicalz'])} {self.register()}.{r.choice('xyzw')}")
            self.body(3)
            if r.random() < 0.5:
                self.put("else")
                self.body(3)
            self.put("endif")
        else:
            self.loop()
        self.depth -= 1

    def loop(self) -> None:
        r = self.r
        counter = f"r{20 + self.loops}"
        self.loops += 1
        self.put(f"mov {counter}.x___, l1.x")
        self.put("whileloop")
        self.put(f"iadd {counter}.x___, {counter}.x, l1.y")
        self.put(f"ige {counter}._y__, {counter}.x, {r.choice(['l1.z', 'l1.w'])}")
        self.put(f"break_logicalnz {counter}.y")
        self.body(3)
        if r.random() < 0.5:
            form = r.choice(["break_logicalz", "break_logicalnz", "continue_logicalnz", "continue_logicalz"])
            self.put(f"{form} {self.register()}.{r.choice('xyzw')}")
            self.body(2)
        if r.random() < 0.2:
            self.put(f"if_logicalnz {self.register()}.x")
            self.body(1)
            self.put(r.choice(["break", "continue"]))
            self.put("endif")
        self.put("endloop")

    def body(self, most: int) -> None:
        for _ in range(self.r.randint(1, most)):
            self.statement()

    def put(self, line: str) -> None:
        self.lines.append(line)


def _words(r: random.Random, count: int) -> list[int]:
    choices = (
        lambda: r.choice(_NUMBERS),
        lambda: r.uniform(-20, 20),
        lambda: float(r.randrange(-8, 40)),
    )
    found: list[int] = []
    for _ in range(count):
        if r.random() < 0.4:
            found.append(r.choice([0, 1, 2, 3, 5, 7, 31, 32, 64, 0xFFFFFFFF, 0x80000000, r.getrandbits(32)]))
        else:
            found.append(struct.unpack("<I", struct.pack("<f", r.choice(choices)()))[0])
    return found


def random_case(seed: int, *, divides: bool = True, flow: bool = True, length: int = 14) -> IlCase:
    """Return a random program; `divides`: with divisions of floats, `flow`: with ifs and loops."""
    r = random.Random(seed)
    axes, channels = r.choice((1, 2)), r.choice((1, 2, 4))
    width, height = r.choice((3, 5, 8)), r.choice((1, 2, 3))
    writer = _Writer(r, divides=divides, flow=flow)
    for number in range(6):
        start = r.choice(["l0", "cb0[0]", "cb0[1]", "v0.xy01", "l0.wzyx"])
        writer.put(f"{r.choice(['mov', 'ftoi', 'mov'])} r{number}, {start}")
    writer.body(length)
    while len(writer.lines) < length:
        writer.statement()
    writer.put(f"{r.choice(['ixor', 'iadd'])} o0, r0, r{r.randrange(1, 6)}")
    literal = ", ".join(f"0x{word:08X}" for word in _words(r, 4))
    head = [
        "il_ps_2_0",
        "dcl_output_generic o0",
        f"dcl_resource_id(0)_type({axes}d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)",
        "dcl_input_position_interp(linear_noperspective) v0.xy__",
        f"dcl_literal l0, {literal}",
        "dcl_literal l1, 0x00000000, 0x00000001, 0x00000003, 0x00000005",
        "dcl_cb cb0[2]",
    ]
    text = "\n".join((*head, *writer.lines, "endmain", "end", ""))
    texels = _words(r, channels * width * (height if axes == 2 else 1))
    return IlCase(text, texels, _words(r, 8), width, height, axes, channels)


_HAND = (
    # (1 + 2^-12)^2 - (1 + 2^-11): 0 where the product is rounded
    "dcl_literal l0, 0x3F800800, 0xBF801000, 0x40000000, 0xFFC00000\nmad o0, l0.x, l0.x, l0.y",
    "dcl_literal l0, 0x40000000, 0xC0000000, 0x3F000000, 0x7FC00000\nadd_sat o0, l0, l0.0000",
    "dcl_literal l0, 0x00000021, 0x00000003, 0xFFFFFFFF, 0x80000001\nishl o0, l0.y, l0",
    "dcl_literal l0, 0x7FC00000, 0x3F800000, 0xBF800000, 0x00000000\nmin o0, l0.xyxz, l0.yxzy",
    "dcl_literal l0, 0x7FC00000, 0x3F800000, 0xBF800000, 0x00000000\nne o0, l0.xyxz, l0.yxxz",
    "dcl_literal l0, 0x3E800000, 0xBF800000, 0xC0000000, 0x00000000\nadd r0, v0.xyxy, l0.x\n"
    "sample_resource(0)_sampler(0) o0, r0",
    "dcl_literal l0, 0xBF800000, 0xC0000000, 0x3F800000, 0x40000000\nadd o0, l0_abs, l0_abs_neg(yz)",
    "dcl_literal l0, 0x00000000, 0x00000001, 0x00000005, 0x0000000A\nmov r0, l0.x\nmov r1, l0.y\nwhileloop\n"
    "iadd r0.x___, r0.x, l0.y\nige r0._y__, r0.x, l0.z\nbreak_logicalnz r0.y\ncontinue_logicalnz r1.x\n"
    "iadd r0.__z_, r0.z, l0.w\nendloop\nmov o0, r0",
)


def hand_cases() -> list[IlCase]:
    """Return small programs that show what few random ones do."""
    texels = list(range(0x3F800000, 0x3F800000 + 24 * 4))
    return [IlCase("\n".join((*_HEAD, text, "endmain", "end", "")), texels, [0] * 8, 4, 2, 2, 1) for text in _HAND]


_HEAD = (
    "il_ps_2_0",
    "dcl_output_generic o0",
    "dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)",
    "dcl_input_position_interp(linear_noperspective) v0.xy__",
)
