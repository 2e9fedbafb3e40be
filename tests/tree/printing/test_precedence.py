"""Where parentheses stand."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from tests.tree.printing.test_printer import HERE, A, B, C, assign, binary, name, number, unary
from warpsmith.tree.nodes import (
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    Index,
    Literal,
    MacroUse,
    Member,
    Unary,
)
from warpsmith.tree.printing.printer import print_expr, print_type
from warpsmith.tree.types import (
    CHAR,
    DOUBLE,
    INT,
)
from warpsmith.tree.walk import walk


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (binary("*", binary("+", A, B), C), "(a + b) * c"),
        (binary("-", A, binary("-", B, C)), "a - (b - c)"),
        (binary("-", binary("-", A, B), C), "a - b - c"),
        (binary("+", A, binary("+", B, C)), "a + (b + c)"),
        (binary("||", binary("&&", A, B), C), "(a && b) || c"),
        (binary("<<", binary("+", A, B), C), "(a + b) << c"),
        (binary("&", binary("==", A, B), C), "(a == b) & c"),
        (binary("<", binary("<", A, B), C), "(a < b) < c"),
        (binary("==", unary("!", A), B), "(!a) == b"),
        (unary("-", unary("-", A)), "-(-a)"),
        (unary("-", number(-1)), "-(-1)"),
        (unary("-", unary("--x", A)), "-(--a)"),
        (unary("&", unary("*", A)), "&*a"),
        (unary("*", unary("x++", A)), "*a++"),
        (unary("x++", unary("*", A)), "(*a)++"),
        (binary("-", A, number(-1)), "a - -1"),
        (binary("/", A, unary("*", B)), "a / *b"),
        (assign(A, assign(B, C)), "a = b = c"),
        (binary("+", assign(A, B), C), "(a = b) + c"),
        (Conditional(span=HERE, type=INT, condition=assign(A, B), then=assign(A, B), other=assign(A, C)),
         "(a = b) ? a = b : (a = c)"),
        (Call(span=HERE, type=INT, function=name("f"), arguments=(binary(",", A, B), C)), "f((a, b), c)"),
        (Index(span=HERE, type=INT, base=binary("+", A, B), index=binary(",", A, B)), "(a + b)[a, b]"),
        (Member(span=HERE, type=INT, base=unary("*", A), field="x", arrow=False), "(*a).x"),
        (Member(span=HERE, type=INT, base=A, field="x", arrow=True), "a->x"),
        (Cast(span=HERE, type=DOUBLE, operand=binary("+", A, B)), "(double)(a + b)"),
        (MacroUse(span=HERE, type=INT, name="M", expansion=binary("+", A, B)), "a + b"),
    ],
)  # fmt: skip
def test_expressions_have_the_parentheses_they_need(expr: Expr, text: str) -> None:
    assert print_expr(expr) == text


OPERATORS = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&&", "||", ","]


def _random_expr(rng: random.Random, depth: int) -> Expr:
    if depth == 0 or rng.random() < 0.1:
        leaves: list[Expr] = [A, B, C, number(rng.randrange(-3, 5))]
        return rng.choice(leaves)
    kind = rng.randrange(8)

    def part() -> Expr:
        return _random_expr(rng, depth - 1)

    if kind == 0:
        return unary(rng.choice(["-", "~", "!", "+"]), part())
    if kind == 1:
        return Conditional(span=HERE, type=INT, condition=part(), then=part(), other=part())
    if kind == 2:
        return Cast(span=HERE, type=rng.choice([INT, CHAR]), operand=part())
    return binary(rng.choice(OPERATORS), part(), part())


def _everywhere(expr: Expr) -> str:
    """The same expression with parentheses around every part: the reference."""
    match expr:
        case Unary():
            return f"({expr.op}{_everywhere(expr.operand)})"
        case Binary():
            return f"({_everywhere(expr.left)} {expr.op} {_everywhere(expr.right)})"
        case Conditional():
            return f"({_everywhere(expr.condition)} ? {_everywhere(expr.then)} : {_everywhere(expr.other)})"
        case Cast():
            return f"(({print_type(expr.type)}){_everywhere(expr.operand)})"
        case Literal():
            return f"({expr.text})"
        case _:
            return print_expr(expr)


def test_random_expressions_keep_their_value(tmp_path: Path) -> None:
    rng = random.Random(7)
    # Shifts and divisions by the wrong number are undefined: every operand is folded into a safe one by the reference,
    # so only the shape of the text is compared, by gcc's own constant-free evaluation with wrapping arithmetic.
    exprs = [_random_expr(rng, 4) for _ in range(400)]
    safe = [e for e in exprs if not any(isinstance(n, Binary) and n.op in ("/", "%", "<<", ">>") for n in walk(e))]
    checks = "\n".join(
        f"    if ((long)({print_expr(e)}) != (long)({_everywhere(e)})) bad = {i + 1};" for i, e in enumerate(safe)
    )
    assert len(safe) > 100
    source = tmp_path / "values.c"
    source.write_text(f"int check(int a, int b, int c) {{\n    int bad = 0;\n{checks}\n    return bad;\n}}\n"
                      "int main(void) { return check(3, -5, 7) || check(0, 1, 2); }\n")  # fmt: skip
    subprocess.run(["gcc", "-w", "-O0", "-fwrapv", source, "-o", tmp_path / "values"], check=True)
    assert subprocess.run([tmp_path / "values"], check=False).returncode == 0


def test_random_expressions_draw_no_parentheses_warning(tmp_path: Path) -> None:
    rng = random.Random(8)
    lines = "\n".join(f"    r += ({print_expr(_random_expr(rng, 4))});" for _ in range(200))
    source = tmp_path / "warnings.c"
    source.write_text(f"int f(int a, int b, int c) {{\n    int r = 0;\n{lines}\n    return r;\n}}\n")
    done = subprocess.run(
        ["gcc", "-w", "-Wparentheses", "-Wlogical-not-parentheses", "-Werror", "-fsyntax-only", source],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "parentheses" not in done.stderr, done.stderr
