"""ARI: divisions, doubles, powers, slow functions, what is the same for all threads."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.analysis.test_kernel import ROW, told
from warpsmith.analysis.rules.arithmetic import arithmetic
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.base.source import SourceFile

LOOP = """
  jump head
head:
  %k:i32 = phi start 0:i32 head %l
  %l:i32 = add %k 1:i32
  %f:f32 = sitof %k
BODY
  %more:i1 = slt %l %n
  branch %more head done
done:"""


def compiled(facts: KernelFacts) -> KernelFacts:
    """Return the facts of a kernel that a compiler has been over."""
    return replace(facts, function=replace(facts.function, listing=SourceFile("k.ptx", "")))


def rules(body: str, *, loop: bool = False, ptx: bool = False) -> list[str]:
    facts = told(LOOP.replace("BODY", body) if loop else body, ROW)
    return [found.rule for found in arithmetic(compiled(facts) if ptx else facts)]


def test_a_signed_remainder_of_a_power_of_two() -> None:
    assert rules("  %e:i32 = srem %i 8:i32") == ["ARI001"]
    for other in ("srem %i 12:i32", "srem %i 1:i32", "urem %i 8:i32", "sdiv %i 8:i32"):
        assert rules(f"  %e:i32 = {other}") == []
    assert rules("  %e:i32 = srem %i 8:i32", ptx=True) == []


def test_whether_a_remainder_is_zero_is_a_mask_for_compilers() -> None:
    rest = "  %e:i32 = srem %i 8:i32\n  %z:i1 = "
    assert rules(f"{rest}eq %e 0:i32") == rules(f"{rest}ne 0:i32 %e") == []
    for asked in ("eq %e 1:i32", "slt %e 0:i32", "eq %e 0:i32\n  %f:i32 = add %e 1:i32"):
        assert rules(rest + asked) == ["ARI001"]


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("  %e:i32 = sdiv %l %n", ["ARI002"]),
        ("  %e:i32 = urem %l %n", ["ARI002"]),
        ("  %d:i32 = add %n 1:i32\n  %e:i32 = sdiv %l %d", ["ARI002"]),
        ("  %e:i32 = sdiv %l %k", []),
        ("  %d:i32 = add %n %k\n  %e:i32 = sdiv %l %d", []),
        ("  %d:i32 = load [global +0 align 4] %a\n  %e:i32 = sdiv %l %d", []),
        ("  %e:i32 = sdiv %l 7:i32", []),
    ],
)
def test_a_division_by_what_stays_the_same_in_a_loop(op: str, expected: list[str]) -> None:
    assert rules(op, loop=True) == expected


def test_a_division_by_an_argument_outside_of_a_loop_is_told_only_where_all_do_the_same() -> None:
    assert rules("  %e:i32 = sdiv %i %n") == []
    assert rules("  %e:i32 = sdiv 1000:i32 %n") == ["ARI007"]
    assert rules("  %e:i32 = sdiv %n 7:i32") == []
    assert rules("  %e:i32 = sdiv %w %n") == ["ARI007"]
    assert rules("  %e:i32 = sdiv %b %n") == []
    assert rules("  %d:f32 = sitof %n\n  %e:f32 = sqrt %d") == ["ARI007"]


def test_64_bits_for_numbers_of_32() -> None:
    wide = "  %c:i64 = sext %i\n  %d:i64 = sext %n\n"
    assert rules(f"{wide}  %e:i64 = sdiv %c %d") == ["ARI006"]
    assert rules(f"{wide}  %e:i64 = sdiv 5:i64 %d") == ["ARI006", "ARI007"]
    assert rules(f"{wide}  %e:i64 = sdiv {1 << 31}:i64 %d") == ["ARI007"]
    assert rules(f"{wide}  %e:i64 = sdiv %a %d") == ["ARI007"]


def test_a_float_that_goes_by_way_of_a_double() -> None:
    start = "  %f:f32 = sitof %i\n  %g:f64 = fext %f\n"
    assert rules(f"{start}  %h:f64 = fmul %g 0x4000000000000000:f64\n  %e:f32 = ftrunc %h") == ["ARI003"]
    assert rules(f"{start}  %j:f64 = sitof %n\n  %h:f64 = fadd %g %j\n  %e:f32 = ftrunc %h") == ["ARI003"]
    # a plain copy, and a double that was one
    assert rules(f"{start}  %e:f32 = ftrunc %g") == []
    assert rules("  %g:f64 = load [global +0 align 8] %a\n  %h:f64 = fmul %g %g\n  %e:f32 = ftrunc %h") == []
    assert rules("  %g:f64 = sitof %i\n  %h:f64 = fmul %g %g\n  %e:f32 = ftrunc %h") == []


@pytest.mark.parametrize(
    ("exponent", "product"),
    [("0x40000000", "x * x"), ("0x40400000", "x * x * x"), ("0x3f000000", "sqrt(x)"), ("0xbf800000", "1 / x")],
)
def test_a_power_that_is_a_product(exponent: str, product: str) -> None:
    facts = told(f"  %f:f32 = sitof %i\n  %e:f32 = lanewise ['powf'] %f {exponent}:f32", ROW)
    (found,) = arithmetic(facts)
    assert (found.rule, found.help) == ("ARI004", (f"write {product}",))


def test_other_powers_are_slow_functions() -> None:
    power = "  %e:f32 = lanewise ['powf'] %f 0x40200000:f32"
    assert rules(f"  %f:f32 = sitof %i\n{power}") == []
    assert rules(power, loop=True) == ["ARI005"]


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("  %e:f32 = fdiv %f 0x40200000:f32", ["ARI005"]),
        # by 2 and by -0.5: a product
        ("  %e:f32 = fdiv %f 0x40000000:f32", []),
        ("  %e:f32 = fdiv %f 0xbf000000:f32", []),
        ("  %e:f32 = fdiv [approximate] %f 0x40200000:f32", []),
        ("  %e:f32 = fdiv [nearest] %f 0x40200000:f32", []),
        ("  %e:f32 = sqrt %f", ["ARI005"]),
        ("  %e:f32 = lanewise ['expf'] %f", ["ARI005"]),
        ("  %e:f32 = lanewise ['__nv_expf'] %f", ["ARI005"]),
        ("  %e:f32 = lanewise ['mystery'] %f", []),
        ("  %g:f64 = fext %f\n  %e:f64 = sqrt %g", []),
    ],
)
def test_full_accuracy_in_a_loop(op: str, expected: list[str]) -> None:
    assert rules(op, loop=True) == expected


def test_in_ptx_every_division_has_a_rounding() -> None:
    assert rules("  %e:f32 = fdiv [nearest] %f 0x40200000:f32", loop=True, ptx=True) == ["ARI005"]


def test_code_that_nobody_comes_to_is_not_judged() -> None:
    assert rules("  jump end\nlost:\n  %e:i32 = srem %i 8:i32\n  jump end\nend:") == []


def test_the_fast_form_is_conditional() -> None:
    (found,) = arithmetic(told(LOOP.replace("BODY", "  %e:f32 = fdiv %f 0x40200000:f32"), ROW))
    assert (found.certainty, found.assumptions) == ("conditional", ("the accuracy of the fast form is enough",))
