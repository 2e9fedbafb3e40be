"""Memory of compute shaders: bundles leave what the text says."""

from __future__ import annotations

import random
import struct

import pytest

from tests.front.il.direct import bits
from tests.front.il.groups import Groups
from tests.front.il.running import parse
from tests.targets.r600.bundles import Bundles
from warpsmith.base.errors import RefusedError
from warpsmith.base.source import SourceFile
from warpsmith.front.il.nodes import IlProgram
from warpsmith.machine.vliw.slots import Generation
from warpsmith.targets.r600.analyze import compile_il
from warpsmith.targets.r600.arithmetic import R600
from warpsmith.targets.r600.assembly import print_r600
from warpsmith.targets.r600.operations import ConstantWord, NumberWord, Operation, PlaceWord, Values
from warpsmith.targets.r600.reading import read_r600
from warpsmith.targets.r600.views import place_of, word_of

HEAD = """\
il_cs_2_0
dcl_{}
dcl_raw_uav_id(0)
dcl_raw_uav_id(1)
dcl_cb cb0[1]
dcl_literal l0, 0x00000002, 0x40000000, 0x00000004, 0x00000010
"""
KNOWN = HEAD.format("num_thread_per_group 8")
OPEN = HEAD.format("max_thread_per_group 256")
_OPS = ("iadd", "imul", "ixor", "ior", "ilt", "umin", "imax", "ishr", "ushr", "ishl", "ieq", "add", "mul_ieee", "lt")


def random_text(seed: int) -> str:
    """Return a compute shader that reads, computes and writes words of its thread."""
    r = random.Random(seed)
    lines = ["ishl r0.x___, vAbsTid.x, l0.z", "iadd r1, cb0[0], vTidInGrp.xxxx"]
    lines += ["uav_raw_load_id(0) r2, r0.x", f"mov r3, r2.{''.join(r.choices('xyzw', k=4))}"]
    for _ in range(r.randrange(2, 9)):
        sources = [f"r{r.randrange(1, 4)}.{''.join(r.choices('xyzw', k=4))}" for _ in range(2)]
        mask = "".join(r.choice((letter, "_")) for letter in "xyzw").replace("____", "x___")
        lines.append(
            f"{r.choice(_OPS)} r{r.randrange(1, 4)}.{mask if mask != '____' else 'x___'}, {', '.join(sources)}"
        )
    lines += ["uav_raw_store_id(1) mem0.xy__, r0.x, r3.yx", f"iadd r4.x___, r0.x, l0.{r.choice('z')}"]
    lines += [f"uav_raw_store_id(1) mem0.{r.choice(('x___', 'xyz_', '_y__'))}, r4.x, r1"]
    return "\n".join(((KNOWN if seed % 2 else OPEN).rstrip(), *lines, "endmain", "end", ""))


def left(text: str, generation: Generation) -> tuple[bytes, bytes]:
    """Return what the bundles of a program and its lines leave in view 1."""
    r = random.Random(5)
    words = [r.choice((r.getrandbits(32), bits(r.uniform(-9, 9)), r.randrange(40))) for _ in range(80)]
    constants = [3, 0xFFFFFFFD, bits(1.5), 1 << 20]
    views = [{0: bytearray(struct.pack("<80I", *words)), 1: bytearray(4 * 80)} for _ in range(2)]
    Groups(text, views[0], constants).run_groups((2, 1, 1), (8, 1, 1))
    code = compile_il(parse(text), generation).code
    assert read_r600(SourceFile("p.r600", print_r600(code)), generation) == code
    machine = Bundles(code, {"cb0": constants, "cb15": [8, 1, 1, 0]}, {}, {}, views=views[1])
    for group in range(2):
        for place in range(8):
            machine.run_group((group, 0, 0), (place, 0, 0))
    return bytes(views[1][1]), bytes(views[0][1])


@pytest.mark.parametrize("generation", ["evergreen", "cayman"])
def test_bundles_leave_what_the_text_says(generation: Generation) -> None:
    for seed in range(30):
        found, wanted = left(random_text(seed), generation)
        assert found == wanted, seed


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("uav_raw_store_id(0) mem0, r0.x, r1\nuav_raw_load_id(1) r2, r0.x\n", "a read of a view behind a write"),
        ("uav_read_add_id(0) r2.x___, r0.x, r1.x\n", "uav_read_add_id is not counted"),
        ("fence_threads\n", "fence_threads is not counted"),
        ("sin_vec r0, r1\n", "sin_vec is not counted"),
        ("mov r0, vTidInGrpFlat.x\n", "vTidInGrpFlat is not counted"),
    ],
)
def test_what_is_not_counted_is_refused(body: str, message: str) -> None:
    with pytest.raises(RefusedError) as caught:
        compile_il(parse(f"{KNOWN}{body}endmain\nend\n"), "evergreen")
    assert message in caught.value.findings[0].message and caught.value.findings[0].span


def test_earlier_generations_have_no_views() -> None:
    with pytest.raises(RefusedError, match="r700 has no unordered access views"):
        compile_il(parse(random_text(1)), "r700")


def _r600() -> R600:
    return R600(Values(), "evergreen", "one-sided")


def test_where_a_thread_is() -> None:
    known, open_ = parse(f"{KNOWN}endmain\nend\n"), IlProgram("cs", (), ())
    assert place_of(_r600(), known, "vTidInGrp", "y") == PlaceWord("y")
    assert place_of(_r600(), known, "vThreadGrpId", "x") == PlaceWord("x", 1)
    assert place_of(_r600(), known, "vThreadGrpId", "w") == NumberWord(0)
    for program, size in ((known, NumberWord(8)), (open_, ConstantWord(15, 0, "x"))):
        made = place_of(_r600(), program, "vAbsTid", "x")
        assert isinstance(made, Operation) and made.name == "ADD_INT"
        product = made.operands[0].value
        assert isinstance(product, Operation) and product.operands[1].value == size
    assert place_of(_r600(), known, "vTidInGrpFlat", "x") is None


def test_bytes_as_words() -> None:
    assert word_of(_r600(), NumberWord(12)) == NumberWord(3)
    made = word_of(_r600(), PlaceWord("x"))
    assert isinstance(made, Operation) and made.name == "LSHR_INT"
