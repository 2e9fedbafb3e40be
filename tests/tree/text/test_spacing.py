"""Printed text has the tokens that were meant. clang's lexer is the judge: it knows nothing of ours."""

from __future__ import annotations

import importlib
import itertools
import random
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpsmith.base.source import SourceFile, Span
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Binary, Conditional, Expr, Function, Index, Literal, Member, Name, Node, Unary, replace
from warpsmith.tree.printing.patch import Patcher
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.text.spacing import fuses, join_pieces
from warpsmith.tree.types import INT, Pointer, Symbol
from warpsmith.tree.walk import rebuild

HERE = Span(SourceFile("none.c", ""), 0, 0)
PLAIN = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&&", "||")
TOKENS = (
    *PLAIN, "=", "+=", "-=", "*=", "/=", "<<=", "->", ".", "...", "++", "--", "!", "~", "?", ":", "::", ";", ",", "(",
    ")", "[", "]", "{", "}", "#", "##", "x", "e", "L", "u8", "R", "_", "0", "1", "0xE", "1e", "1.", ".5", "1.5f", "10u",
    '"s"', "'c'", "for", "$a",
)  # fmt: skip


cindex: Any = importlib.import_module("clang.cindex")


@lru_cache(maxsize=1)
def _index() -> Any:
    return cindex.Index.create()


def lexed(lines: list[str], suffix: str = "cpp") -> list[list[str]]:
    """Return the tokens of each line, all read at once, as clang sees them; comments are none."""
    path = f"lexed.{suffix}"
    options = ["-std=gnu++17"] if suffix == "cpp" else ["-std=gnu17"]
    unit = _index().parse(path, options, unsaved_files=[(path, "\n".join(lines) + "\n")])
    found: list[list[str]] = [[] for _ in lines]
    for token in unit.get_tokens(extent=unit.cursor.extent):
        if token.kind is not cindex.TokenKind.COMMENT:
            found[token.location.line - 1].append(token.spelling)
    return found


@pytest.mark.parametrize("suffix", ["c", "cpp"])
def test_two_tokens_side_by_side_stay_two(suffix: str) -> None:
    pairs = list(itertools.product(TOKENS, repeat=2))
    written = [join_pieces(pair) for pair in pairs]
    wrong = [
        (pair, text, got)
        for pair, text, got in zip(pairs, written, lexed([f"{text} ;" for text in written], suffix), strict=True)
        if tuple(got[:-1]) != pair and pair[0] != "1e"
    ]
    assert not wrong


def test_what_would_stay_apart_gets_no_blank() -> None:
    for left, right in [
        ("a", "+"),
        ("a", "("),
        ("[", "i"),
        ("]", "/"),
        ("*", "p"),
        ("1", "+"),
        ("x", "="),
        ("a1", "."),
    ]:
        assert not fuses(left, right), (left, right)


def test_a_rule_less_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for pair in ("/*", "--", "->", "<:"):
        known = frozenset(("/*", "--", "->", "<:")) - {pair}
        monkeypatch.setattr("warpsmith.tree.text.spacing._PAIRS", known)
        (got,) = lexed([join_pieces(pair) + " ;"])
        assert got[:-1] != list(pair)


# --- expressions: what is drawn is a tree and the tokens that it has, but for parentheses

Drawn = tuple[Expr, list[str]]


def _name(text: str) -> Name:
    return Name(span=HERE, type=INT, symbol=Symbol(text, text, INT, "local"))


def _leaf(text: str) -> Drawn:
    if text.lstrip("-.")[0].isdigit():
        return Literal(span=HERE, type=INT, text=text, value=1), ["-", text[1:]] if text[0] == "-" else [text]
    return _name(text), [text]


def _unary(op: str, inner: Drawn) -> Drawn:
    sign = op.strip("x")
    made = [*inner[1], sign] if op.startswith("x") else [sign, *inner[1]]
    return Unary(span=HERE, type=INT, op=op, operand=inner[0]), made


def _binary(op: str, left: Drawn, right: Drawn) -> Drawn:
    return Binary(span=HERE, type=INT, op=op, left=left[0], right=right[0]), [*left[1], op, *right[1]]


def _conditional(a: Drawn, b: Drawn, c: Drawn) -> Drawn:
    node = Conditional(span=HERE, type=INT, condition=a[0], then=b[0], other=c[0])
    return node, [*a[1], "?", *b[1], ":", *c[1]]


def _index_of(base: Drawn, index: Drawn) -> Drawn:
    return Index(span=HERE, type=INT, base=base[0], index=index[0]), [*base[1], "[", *index[1], "]"]


def _member(base: Drawn, arrow: bool) -> Drawn:
    made = [*base[1], "->" if arrow else ".", "m"]
    return Member(span=HERE, type=INT, base=base[0], field="m", arrow=arrow), made


_LEAVES = st.sampled_from(["a", "b1", "e", "L", "u8", "-1", "2", "0xE", ".5", "1.e5f", "-.5"]).map(_leaf)
_UNARY = st.sampled_from(["-", "+", "!", "~", "*", "&", "++x", "--x", "x++", "x--"])


def _grown(inner: st.SearchStrategy[Drawn]) -> st.SearchStrategy[Drawn]:
    return st.one_of(
        st.builds(_unary, _UNARY, inner),
        st.builds(_binary, st.sampled_from(PLAIN), inner, inner),
        st.builds(_conditional, inner, inner, inner),
        st.builds(_index_of, inner, inner),
        st.builds(_member, inner, st.booleans()),
    )


EXPRESSIONS: st.SearchStrategy[Drawn] = st.recursive(_LEAVES, _grown, max_leaves=12)


def _bare(tokens: list[str]) -> list[str]:
    return [token for token in tokens if token not in ("(", ")")]


@settings(max_examples=15, deadline=None)
@given(st.lists(EXPRESSIONS, min_size=20, max_size=40))
def test_a_random_expression_is_printed_with_its_tokens(drawn: list[Drawn]) -> None:
    texts = [print_expr(expr) for expr, _ in drawn]
    for text, got, (_, wanted) in zip(texts, lexed(texts), drawn, strict=True):
        assert _bare(got) == wanted, text


# --- the user's own text, as dense as it can be, in which something else comes to stand

_OPERANDS = ("a", "b", "c", "d")
_DENSE = [f"r=a{x}b{y}c{z}d[i]" for x in PLAIN for y in ("/", "-", "&") for z in ("<", "+", "*")]


def _into(chosen: dict[str, Expr]) -> Callable[[Node], Node]:
    def change(node: Node) -> Node:
        return chosen[node.symbol.name] if isinstance(node, Name) and node.symbol.name in chosen else node

    return change


def _dense_program(folder: Path) -> Function:
    body = "\n".join(f"{text};" for text in _DENSE)
    path = folder / "dense.c"
    path.write_text(f"void f(int r,int a,int b,int c,int*d,int i){{\n{body}\n}}\n")
    program = load_program([str(path)], FrontOptions()).program
    ((_, function),) = program.functions()
    return function


def _pointed(name: str) -> Drawn:
    pointer = Name(span=HERE, type=Pointer(INT), symbol=Symbol(name, name, Pointer(INT), "local"))
    return Unary(span=HERE, type=INT, op="*", operand=pointer), ["*", name]


def test_what_comes_into_the_users_text_stays_apart_from_it(tmp_path: Path) -> None:
    function = _dense_program(tmp_path)
    patcher = Patcher((function,))
    rng = random.Random(1)
    new: list[Drawn] = [
        _pointed("p"), _unary("-", _leaf("p")), _unary("&", _leaf("p")), _unary("++x", _leaf("p")), _leaf("-1"),
        _unary("x--", _leaf("p")), _leaf(".5"), _leaf("0xE"), _unary("+", _leaf("p")), _leaf("q"),
    ]  # fmt: skip
    texts: list[str] = []
    wanted: list[list[str]] = []
    originals = lexed([f"{text};" for text in _DENSE])
    for statement, original in zip(function.body.statements, originals, strict=True):
        chosen = {name: rng.choice(new) for name in _OPERANDS[:3]}
        changed = rebuild(statement, _into({name: drawn[0] for name, drawn in chosen.items()}))
        (line,) = patcher.printer.stmt(changed)
        texts.append(line[1])
        wanted.append([part for token in original for part in (chosen[token][1] if token in chosen else [token])])
    for text, got, tokens in zip(texts, lexed(texts), wanted, strict=True):
        assert _bare(got) == tokens, text
    assert any("/ *p" in text for text in texts)


def test_a_name_that_becomes_a_pointed_to_value_opens_no_comment(tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text("double v[9],w[9],s;void f(int i){v[i]=w[i]/s;}\n")
    ((_, function),) = load_program([str(path)], FrontOptions()).program.functions()
    made = rebuild(function.body.statements[0], _into({"s": _pointed("s_gpu")[0]}))
    assert Patcher((function,)).printer.stmt(made) == [(0, "v[i]=w[i]/ *s_gpu;")]


def test_what_an_edit_leaves_alone_is_the_same_node(tmp_path: Path) -> None:
    function = _dense_program(tmp_path)
    first = function.body.statements[0]
    assert Patcher((function,)).printer.stmt(replace(first)) == [(0, f"{_DENSE[0]};")]
