"""ARI: arithmetic that is slower than it need be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from warpsmith.analysis.memory.bounds import in_launch
from warpsmith.analysis.resources.unrolled import find_numbers
from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.rules.origins import is_compiled, origin
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.analysis.vocabulary import CUDA
from warpsmith.base.findings import Certainty
from warpsmith.ssa.nodes import Constant, Float, Instruction, Operand, Phi, Text, Value, terminator_operands
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.semantics.patterns import number_of
from warpsmith.ssa.types import F32, F64, I32

__all__ = ["arithmetic"]

_DIVISIONS: Final = ("sdiv", "udiv", "srem", "urem")
_OPS_OF_FAST: Final = ("fdiv", "sqrt", "rcp")


def arithmetic(facts: KernelFacts) -> Iterator[KernelFinding]:
    """Yield what is to be said of a kernel's arithmetic, one thing a place."""
    reported: set[tuple[str, object]] = set()
    numbers = find_numbers(facts.function, facts.warp_level.graph)
    for block, i in facts.function.instructions():
        if block.name not in facts.warp_level.graph.successors or i in numbers:
            continue
        for found in _of(facts, block.name, i):
            key = (found.rule, found.span or id(i))
            if key not in reported:
                reported.add(key)
                yield found


def _of(facts: KernelFacts, block: str, i: Instruction) -> Iterator[KernelFinding]:
    if i.op in _DIVISIONS:
        yield from _division(facts, block, i)
    if i.op == "ftrunc" and i.result.type == F32:
        yield from _double(facts, i)
    named = _function(i)
    powers = list(_power(facts, i)) if named == "pow" else []
    yield from powers
    if not powers and (named is not None or i.op in _OPS_OF_FAST):
        yield from _slow(facts, block, i, named or i.op)
    if OPS[i.op].cost in ("divide", "special") and OPS[i.op].pure:
        yield from _same_for_all(facts, i)


def _finding(
    facts: KernelFacts, i: Instruction, rule: str, message: str, helps: tuple[str, ...], *,
    assumptions: tuple[str, ...] = (),
) -> KernelFinding:  # fmt: skip
    text = "" if i.span is None else " ".join(i.span.text.split())
    certainty: Certainty = "conditional" if assumptions else "proven"
    return KernelFinding(
        rule,
        message,
        certainty,
        facts.kernel,
        i.span,
        f"{i.op} {text}",
        assumptions=assumptions,
        help=helps,
        impact=0.5,
    )


def _in_loop(facts: KernelFacts, block: str) -> bool:
    return bool(facts.warp_level.graph.cycles_around(block))


# --- integers


def _keeps_sign(facts: KernelFacts, remainder: Instruction) -> bool:
    """Whether a remainder stays one with a sign: the compiler has not seen it yet, and will not see by the index in its
    block, by how it is counted, or by the type that it was widened from, that it is never negative."""
    if is_compiled(facts) or _is_compared_with_zero(facts, remainder) or _is_counted_up(facts, remainder.operands[0]):
        return False
    grid = facts.shape.grid if not origin(facts, remainder.operands[0]).of_block else None
    simpler, assumed = in_launch(facts.function, facts.block, grid)
    known = simpler.get(remainder)
    return known is None or known.op == "srem" or bool(assumed)


def _is_compared_with_zero(facts: KernelFacts, remainder: Instruction) -> bool:
    """Whether only `x % n == 0` and `x % n != 0` ask for a remainder: compilers write a mask for that, whatever the
    sign."""
    asked = [i for _, i in facts.function.instructions() if remainder.result in i.operands]
    kept = (
        operand
        for block in facts.function.blocks
        for operand in (
            *(operand for phi in block.phis for _, operand in phi.incoming),
            *terminator_operands(block.terminator),
        )
    )
    return (
        bool(asked)
        and all(i.op in ("eq", "ne") and any(map(_is_zero, i.operands)) for i in asked)
        and remainder.result not in kept
    )


def _is_counted_up(facts: KernelFacts, operand: Operand) -> bool:
    """Whether a number starts at one that is not negative, and only such are added; sums with a sign do not wrap."""
    pending, seen = [operand], set[Operand]()
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        if isinstance(one, Constant):
            if one.bits >> (one.type.bits - 1):
                return False
            continue
        made = facts.warp_level.definitions.get(one) if isinstance(one, Value) else None
        if isinstance(made, Phi):
            pending += (incoming for _, incoming in made.incoming)
        elif isinstance(made, Instruction) and made.op == "add":
            pending += made.operands
        else:
            return False
    return True


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Constant) and operand.bits == 0


def _division(facts: KernelFacts, block: str, i: Instruction) -> Iterator[KernelFinding]:
    value, divisor = i.operands
    word = "/" if i.op.endswith("div") else "%"
    if isinstance(divisor, Constant):
        number = divisor.bits
        if i.op == "srem" and number > 1 and number & (number - 1) == 0 and _keeps_sign(facts, i):
            yield _finding(
                facts, i, "ARI001", f"signed % {number}: the sign costs instructions that a mask does not",
                (f"x & {number - 1} where x is never negative, or make x unsigned",),
            )  # fmt: skip
        return
    moves = _in_loop(facts, block) and not _is_fixed_in_loop(facts, value, block)
    if moves and _is_fixed_in_loop(facts, divisor, block):
        yield _finding(
            facts, i, "ARI002", f"integer {word} by a number that only the run tells, in a loop: tens of instructions",
            ("divide once before the loop, or multiply by a reciprocal worked out there (fast division)",
             "a divisor that the compiler knows costs a multiplication and a shift"),
        )  # fmt: skip
    if i.result.type.bits == 64 and all(_is_widened(facts, operand) for operand in (value, divisor)):
        yield _finding(
            facts, i, "ARI006", f"64-bit {word} of two numbers that have 32 bits: several times as slow",
            ("do it in 32 bits, and widen the result",),
        )  # fmt: skip


def _is_fixed_in_loop(facts: KernelFacts, operand: Operand, block: str) -> bool:
    """Whether an operand does not change while the innermost loop around `block` runs."""
    inner = facts.warp_level.graph.cycles_around(block)[-1]
    pending, seen = [operand], set[Value]()
    while pending:
        one = pending.pop()
        if not isinstance(one, Value) or one in seen or facts.warp_level.homes[one] not in inner.blocks:
            continue
        seen.add(one)
        made = facts.warp_level.definitions[one]
        if isinstance(made, Phi) or not OPS[made.op].pure:
            return False
        pending += made.operands
    return True


def _is_widened(facts: KernelFacts, operand: Operand) -> bool:
    if isinstance(operand, Constant):
        return operand.bits < 1 << 31
    made = facts.warp_level.definitions.get(operand) if isinstance(operand, Value) else None
    return isinstance(made, Instruction) and made.op in ("sext", "zext") and made.operands[0].type == I32


# --- floating point


def _double(facts: KernelFacts, i: Instruction) -> Iterator[KernelFinding]:
    """Yield ARI003 where a float is widened, reckoned with as a double, and narrowed again."""
    made = _maker(facts, i.operands[0])
    if made is None or made.op == "fext" or made.result.type != F64:
        return
    if not _from_floats(facts, made):
        return
    place = made if made.span is not None else i
    yield _finding(
        facts, place, "ARI003", "float values are widened to double here, and the result is narrowed to float again",
        ("write the literal as a float (2.0f), and call the float function (sqrtf)",
         "double runs at 1/2 to 1/64 of the rate of float, depending on the GPU"),
    )  # fmt: skip


def _maker(facts: KernelFacts, operand: Operand) -> Instruction | None:
    made = facts.warp_level.definitions.get(operand) if isinstance(operand, Value) else None
    return made if isinstance(made, Instruction) else None


def _from_floats(facts: KernelFacts, made: Instruction) -> bool:
    """Whether a double is worked out of widened floats, integers and constants only, at least one of them a float."""
    pending, seen = list(made.operands), set[Value]()
    floats = 0
    while pending:
        operand = pending.pop()
        if isinstance(operand, Constant):
            continue
        step = _maker(facts, operand)
        if step is None or len(seen) > 64:
            return False
        if step.op == "fext":
            floats += 1
        elif step.op in ("sitof", "uitof"):
            continue
        elif not OPS[step.op].pure or step.result.type != F64:
            return False
        elif step.result not in seen:
            seen.add(step.result)
            pending += step.operands
    return floats > 0


def _function(i: Instruction) -> str | None:
    """Return the name of the mathematical function that an op without a meaning of its own stands for."""
    if i.op not in ("lanewise", "call"):
        return None
    text = i.detail.text if isinstance(i.detail, Text) else getattr(i.detail, "name", "")
    name = text.split("(")[0].split()[-1] if text.strip() else ""
    name = name.removeprefix("__nv_")
    name = name.removesuffix("f") if i.results and i.results[0].type == F32 else name
    return name if name in CUDA.fast and name not in _OPS_OF_FAST else None


def _is_exact_product(i: Instruction) -> bool:
    """Whether a division is by a power of two: compilers multiply by its inverse, which is as exact."""
    divisor = i.operands[1] if i.op == "fdiv" else None
    if not isinstance(divisor, Constant):
        return False
    number = number_of(divisor.bits, divisor.type)
    return math.isfinite(number) and abs(math.frexp(number)[0]) == 0.5


def _power(facts: KernelFacts, i: Instruction) -> Iterator[KernelFinding]:
    exponent = i.operands[1] if len(i.operands) > 1 else None
    if not isinstance(exponent, Constant) or exponent.type not in (F32, F64):
        return
    number = number_of(exponent.bits, exponent.type)
    product = {2.0: "x * x", 3.0: "x * x * x", 4.0: "(x * x) * (x * x)", 0.5: "sqrt(x)", -1.0: "1 / x"}.get(number)
    if product is not None:
        yield _finding(facts, i, "ARI004", f"pow(x, {number:g}): {product} does the same in a few instructions",
                       (f"write {product}",))  # fmt: skip


def _slow(facts: KernelFacts, block: str, i: Instruction, name: str) -> Iterator[KernelFinding]:
    # in source, who names a rounding (__fsqrt_rn) has chosen it; in PTX every instruction has one
    chosen = isinstance(i.detail, Float) and (i.detail.approximate or (i.detail.rounding and not is_compiled(facts)))
    if chosen or not _in_loop(facts, block) or (i.results and i.results[0].type != F32) or _is_exact_product(i):
        return
    if origin(facts, *i.operands).of_launch and not origin(facts, *i.operands).loop:
        # a compiler takes it out of the loop
        return
    yield _finding(
        facts, i, "ARI005", f"{'a division' if name in ('fdiv', 'rcp') else name} in full accuracy, in a loop",
        (f"where about 2 ulp, and less for large arguments, will do: {facts.words.fast[name]}",),
        assumptions=("the accuracy of the fast form is enough",),
    )  # fmt: skip


# --- the same everywhere


def _same_for_all(facts: KernelFacts, i: Instruction) -> Iterator[KernelFinding]:
    values = [operand for operand in i.operands if isinstance(operand, Value)]
    by_number = OPS[i.op].domain == "integer" and isinstance(i.operands[-1], Constant)
    if not values or by_number or _is_exact_product(i):
        return
    made_of = origin(facts, *values)
    if not made_of.of_launch or made_of.loop or not (made_of.parameters or made_of.registers):
        return
    yield _finding(
        facts, i, "ARI007", "every thread works out the same number, from the arguments of the launch alone",
        ("work it out on the host and pass it as an argument",),
    )  # fmt: skip
