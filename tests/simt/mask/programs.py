"""Programs for tests: the examples, those of the listings, and random ones.

A random program ends for every lane, and what a lane writes depends on that lane alone; so it is the same however many
lanes run together.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from warpsmith.base.source import SourceFile
from warpsmith.simt.mask.assembler import assemble
from warpsmith.simt.mask.nodes import MaskProgram
from warpsmith.simt.mask.resources import BoundView, ViewKey, image, words_of

EXAMPLES = Path(__file__).parents[3] / "examples" / "mask"


def example(name: str) -> MaskProgram:
    """Return a program of the examples."""
    return assemble(SourceFile.read(str(EXAMPLES / f"{name}.mask")))


def program(text: str) -> MaskProgram:
    """Return the program that a text is."""
    return assemble(SourceFile("test.mask", text))


def views_for(threads: int, seed: int = 0) -> Mapping[ViewKey, BoundView]:
    """Return what random programs and examples read and write: u0 a word a thread, u2 four,
    t0 64 words, t1 an image."""
    made = np.random.default_rng(seed)
    return {
        ("u", 0): words_of(np.zeros(threads, np.uint32)),
        ("t", 0): words_of(made.integers(0, 100, 64).astype(np.uint32)),
        ("t", 1): image(made.integers(0, 256, (5, 8, 4)).astype(np.uint8)),
        ("u", 1): image(np.zeros((8, 16, 4), np.uint8)),
        ("u", 2): words_of(np.zeros(4 * threads, np.uint32)),
    }


class _Writer:
    """Writes a random program line by line. r0: sums in .xy, floats in .zw; r1: tests; r2 up: counters of loops."""

    def __init__(self, seed: int, memory: bool, *, clocks: bool = False) -> None:
        self.made, self.memory, self.clocks = random.Random(seed), memory, clocks
        self.lines: list[str] = []
        self.labels = 0
        self.functions: list[list[str]] = []

    def label(self, word: str) -> str:
        self.labels += 1
        return f"{word}{self.labels}"

    def add(self, *lines: str) -> None:
        self.lines += lines

    def block(self, depth: int, loops: int) -> None:
        for _ in range(self.made.randint(1, 3)):
            kinds = ["compute", "compute", "access"] + (["if", "branch", "loop", "call"] if depth else [])
            kind = self.made.choice(kinds)
            if kind == "compute" or (kind == "access" and not self.memory):
                self.compute()
            elif kind == "access":
                self.access()
            elif kind == "if":
                join = self.label("JOIN")
                self.test()
                self.add(f"push_mask {join}", "mask_nz r1.x")
                self.block(depth - 1, loops)
                self.add("pop_mask", f"{join}:")
            elif kind == "branch":
                other, join = self.label("ELSE"), self.label("JOIN")
                self.test()
                self.add(f"br_push r1.x, {other}, {join}")
                self.block(depth - 1, loops)
                self.add("pop_mask", f"{other}:")
                self.block(depth - 1, loops)
                self.add("pop_mask", f"{join}:")
            elif kind == "loop":
                self.loop(depth, loops)
            else:
                self.call(depth)

    def loop(self, depth: int, loops: int) -> None:
        head, out, counter = self.label("HEAD"), self.label("OUT"), f"r{2 + loops}.x"
        self.add(f"and {counter}, r0.x, u({self.made.choice([1, 3])})", f"push_mask {out}", f"{head}:",
                 f"mask_nz {counter}", f"sub.u32 {counter}, {counter}, u(1)")  # fmt: skip
        if self.made.random() < 0.3:
            self.test()
            self.add("mask_nz r1.x")
        self.block(depth - 1, loops + 1)
        self.add(f"jmp {head}", f"{out}:")

    def call(self, depth: int) -> None:
        back, name = self.label("BACK"), self.label("FUNCTION")
        self.add(f"push_mask {back}", f"jmp {name}", f"{back}:")
        kept, self.lines = self.lines, [f"{name}:"]
        # a function uses counters of its own: it may be called from a loop
        self.block(0, 0)
        self.add("pop_mask")
        self.functions.append(self.lines)
        self.lines = kept

    def test(self) -> None:
        self.add(self.made.choice([
            f"and r1.x, r0.x, u({self.made.choice([1, 2, 4])})",
            f"lt.u32 r1.x, r0.x, u({self.made.randint(0, 40)})",
            "gt.u32 r1.x, r0.x, r0.y",
            "lt.f32 r1.x, r0.z, r0.w",
            f"lt.u32 r1.x, lane_id, u({self.made.randint(0, 9)})" if self.clocks else "and r1.x, thread_id, u(1)",
        ]))  # fmt: skip

    def compute(self) -> None:
        one = self.made
        a, b, c = (one.choice("xy") for _ in range(3))
        f, g, h = (one.choice("zw") for _ in range(3))
        self.add(one.choice([
            f"{one.choice(['add', 'sub', 'mul', 'div'])}.u32 r0.{a}, r0.{b}, r0.{c}",
            f"{one.choice(['add', 'sub', 'mul', 'div'])}.u32 r0.{a}, r0.{b}, u({one.randint(0, 9)})",
            f"mad.u32 r0.{a}, r0.{b}, u({one.randint(0, 9)}), thread_id",
            f"{one.choice(['and', 'or'])} r0.{a}, r0.{b}, r0.{c}",
            f"{one.choice(['add', 'sub', 'mul', 'div'])}.f32 r0.{f}, r0.{g}, r0.{h}",
            f"{one.choice(['mad.f32', 'lerp'])} r0.{f}, r0.{g}, r0.{h}, f({one.uniform(-2, 2):.3f})",
            f"{one.choice(['abs.f32', 'clamp'])} r0.{f}, r0.{g}",
            f"utof r0.{f}, r0.{a}",
            f"len r0.{f}, r0.zw",
            "norm r0.zw, r0.wz",
            f"{one.choice(['lt.f32', 'gt.f32'])} r0.{a}, r0.{f}, r0.{g}",
            "mov r0.xy, r0.yx",
            f"mov r0.{f}, f({one.choice(['inf', '-1e30', '0', '1e-40'])})",
            f"mov r0.{a}, clock" if self.clocks else f"mov r0.{a}, thread_id",
        ]))  # fmt: skip

    def access(self) -> None:
        kind = self.made.choice(["load", "load", "wide", "sample", "store", "pixel"])
        if kind == "load":
            self.add("and r1.y, r0.x, u(63)", "mul.u32 r1.y, r1.y, u(4)", "ld r0.y, t0, r1.y")
        elif kind == "wide":
            self.add("and r1.y, r0.y, u(28)", "mul.u32 r1.y, r1.y, u(4)", "ld r0.yx, t0.zx, r1.y")
        elif kind == "sample":
            self.add("and r1.z, thread_id, u(7)", "utof r1.zw, r1.z", "div.f32 r1.zw, r1.zw, f2(7, 3)",
                     "sample r0.wz, t1.yw, s0, r1.zw")  # fmt: skip
        elif kind == "store":
            self.add("mul.u32 r1.y, thread_id, u(4)", "st u0, r1.y, r0.x")
        else:
            self.add("and r1.y, thread_id, u(15)", "div.u32 r1.z, thread_id, u(16)", "and r1.z, r1.z, u(7)",
                     "st u1.y, r1.yz, r0.z")  # fmt: skip


def random_text(seed: int, *, memory: bool = True, clocks: bool = False) -> str:
    """Return the text of a random program; `clocks`: it may read the clock, and its lane."""
    writer = _Writer(seed, memory, clocks=clocks)
    writer.add("mov r0.x, thread_id", "mad.u32 r0.y, thread_id, u(7), u(3)", "utof r0.zw, r0.xy")
    writer.block(3, 0)
    writer.add("mul.u32 r1.yz, thread_id, u2(4, 16)", "st u0, r1.y, r0.x", "st u2, r1.z, r0", "ret")
    for function in writer.functions:
        writer.add(*function)
    return "".join(f"{line}\n" for line in writer.lines)
