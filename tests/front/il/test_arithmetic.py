"""What IL's instructions compute, at the edges: against numbers that are known."""

from __future__ import annotations

import struct

import pytest

from tests.front.il.running import IlRun, module_of, run_program

NAN, INFINITY, ONE, LARGEST = 0x7FC00000, 0x7F800000, 0x3F800000, 0x7F7FFFFF


def word(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def computed(op: str, *words: int) -> int:
    """Return what an instruction gives of words."""
    head = "il_ps_2_0\ndcl_output_generic o0\n"
    literals = "".join(f"dcl_literal l{n}, 0x{one:08X}, 0, 0, 0\n" for n, one in enumerate(words))
    sources = ", ".join(f"l{n}.x" for n in range(len(words)))
    module = module_of(f"{head}{literals}{op} o0.x___, {sources}\nendmain\nend\n")
    return run_program(module, IlRun({}, 1, block=(1, 1, 1)))["o0"][0]


@pytest.mark.parametrize(
    ("op", "words", "result"),
    [
        ("ftoi", (word(-2.9),), 0xFFFFFFFE),
        ("ftoi", (word(3e9),), 0x7FFFFFFF),
        ("ftoi", (NAN,), 0),
        ("ftou", (word(-2.9),), 0),
        ("ftou", (word(3e9),), 3_000_000_000),
        ("udiv", (7, 0), 0xFFFFFFFF),
        ("umod", (7, 0), 0xFFFFFFFF),
        ("udiv", (0xFFFFFFFF, 2), 0x7FFFFFFF),
        ("ishl", (1, 33), 2),
        ("ishr", (0x80000000, 31), 0xFFFFFFFF),
        ("ushr", (0x80000000, 31), 1),
        ("lt", (NAN, ONE), 0),
        ("ne", (NAN, NAN), 0xFFFFFFFF),
        ("ge", (word(-0.0), 0), 0xFFFFFFFF),
        ("min", (NAN, ONE), ONE),
        ("min", (ONE, NAN), NAN),
        ("max", (NAN, ONE), ONE),
        ("frc", (word(-0.25),), word(0.75)),
        ("flr", (word(-0.25),), word(-1.0)),
        ("round_z", (word(-1.75),), word(-1.0)),
        ("div", (ONE, 0), LARGEST),
        ("div", (ONE, word(-0.0)), LARGEST | 0x80000000),
        ("div_zeroop(infinity)", (ONE, 0), INFINITY),
        ("rcp", (0,), LARGEST),
        ("rcp_zeroop(infinity)", (word(4.0),), word(0.25)),
        ("rsq", (0,), LARGEST),
        ("rsq", (word(4.0),), word(0.5)),
        ("mod", (word(-7.5), word(2.0)), word(-1.5)),
        ("cmov_logical", (word(-0.0), 5, 6), 5),
        ("cmov_logical", (0, 5, 6), 6),
        ("itof", (0xFFFFFFFF,), word(-1.0)),
        ("utof", (0xFFFFFFFF,), word(4294967296.0)),
        ("add_sat", (ONE, ONE), ONE),
        ("mul_sat", (word(-2.0), ONE), 0),
        ("imad", (3, 0xFFFFFFFF, 10), 7),
        ("imul_high", (0xFFFFFFFF, 5), 0xFFFFFFFF),
        ("umul_high", (0xFFFFFFFF, 5), 4),
        ("icbits", (0xF0F0,), 8),
        ("round_nearest", (word(2.5),), word(2.0)),
        ("round_posinf", (word(-2.5),), word(-2.0)),
        ("exp_vec", (word(3.0),), word(8.0)),
        ("log_vec", (word(8.0),), word(3.0)),
        # (1 + 2^-12)^2 - (1 + 2^-11): 2^-24 where the product is not rounded
        ("fma", (0x3F800800, 0x3F800800, 0xBF801000), word(2.0**-24)),
        ("mad", (0x3F800800, 0x3F800800, 0xBF801000), 0),
        ("inegate", (5,), 0xFFFFFFFB),
        ("inot", (5,), 0xFFFFFFFA),
    ],
)
def test_at_the_edges(op: str, words: tuple[int, ...], result: int) -> None:
    assert f"{computed(op, *words):08x}" == f"{result:08x}"


def test_integers_are_negated_as_integers_and_floats_by_their_sign() -> None:
    head = "il_ps_2_0\ndcl_output_generic o0\ndcl_literal l0, 5, 0, 0, 0x80000000\n"
    for op, result in (("iadd", 0xFFFFFFFB), ("mov", 0x80000005)):
        more = ", l0.y" if op == "iadd" else ""
        module = module_of(f"{head}{op} o0.x___, l0.x_neg(x){more}\nendmain\nend\n")
        assert run_program(module, IlRun({}, 1, block=(1, 1, 1)))["o0"] == [result]
