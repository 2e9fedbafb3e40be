"""Macros and conditions, beside what the preprocessor of gcc makes of the same texts."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable

import pytest

from warpsmith.base.source import SourceFile
from warpsmith.front.brook import macros
from warpsmith.front.brook.macros import Macros
from warpsmith.front.brook.tokens import BrookTextError, split_words


def ours(text: str) -> list[str]:
    """Return the words of a text, without its end."""
    return [word.text for word in split_words(SourceFile("k.br", text))[:-1]]


def of_gcc(text: str) -> list[str]:
    """Return the words of what gcc's preprocessor leaves of a text."""
    done = subprocess.run(["gcc", "-E", "-P", "-w", "-"], input=text, capture_output=True, text=True, check=True)
    return [word.text for word in split_words(SourceFile("k.br", done.stdout))[:-1]]


@pytest.mark.parametrize(
    "text",
    [
        "#define SQ(x) ((x) * (x))\nSQ(a + b) SQ SQ (c)",
        "#define F(x, y) y x\n#define G(x) F(x, x) G(x)\nG(F(1, 2)) F((a, b), c)",
        "#define f() 3\n#define g(x) x\nf() g(f()) g() f",
        "#define N 2\n#define M(x) x N\n#undef N\nM(N)\n#define N 4\nM(N) M\n(\n5\n)",
        "#ifdef A\na\n#else\nb\n#endif\n#define A\n#ifdef A\nc\n#endif\n#ifndef A\nd\n#endif",
        "#define V 3\n#if V > 2 && defined(V)\na\n#elif V\nb\n#endif\n#if !defined V || -7 / 2 != -3\nd\n#endif",
        "#if 0\n#if 1\na\n#else\nb\n#endif\n#error no\n#elif B\nc\n#elif 2 - 1 - 1 == 0\nd\n#elif 1\ne\n#endif",
        "#define M(x) (x % 4 + 0x10)\n#if M(-7) == 13 && M(3) == (0x13)\nyes\n#endif",
    ],
)
def test_words_are_those_of_gcc(text: str) -> None:
    assert ours(text) == of_gcc(text)


def random_text(seed: int) -> str:
    """Return a text with macros that use each other, and conditions on them."""
    draw = random.Random(seed)
    names = ["A", "B", "F", "G", "H"]
    lines: list[str] = []

    def words(depth: int, more: tuple[str, ...] = ()) -> str:
        found = []
        for _ in range(draw.randrange(1, 5)):
            if depth and draw.random() < 0.4:
                found.append(f"{draw.choice('FGH')}({words(depth - 1, more)}, {words(depth - 1, more)})")
            else:
                found.append(draw.choice(("A", "B", "z", "7", "+", *more)))
        return " ".join(found)

    for _ in range(14):
        name = draw.choice(names)
        match draw.randrange(5):
            case 0 | 1:
                head = f"{name}(x, y)" if name in "FGH" else name
                lines.append(f"#undef {name}\n#define {head} {words(1, ('x', 'y') if name in 'FGH' else ())}")
            case 2:
                asked = f"#if defined({name}) && {draw.randrange(-2, 3)}"
                test = draw.choice((f"#ifdef {name}", f"#ifndef {name}", asked))
                lines.append(f"{test}\n{words(2)}\n#else\n{words(1)}\n#endif")
            case 3:
                a, b, c = (draw.randrange(-9, 10) or 3 for _ in range(3))
                lines.append(f"#if {a} {draw.choice('+-*/%<')} {b} == {c}\nq\n#elif {a} / {b} > {c}\nr\n#endif")
            case _:
                lines.append(words(2))
    return "\n".join(lines)


def differing(seeds: range) -> int | None:
    """Return the first text of which gcc makes other words; None where there is none."""
    for seed in seeds:
        text = random_text(seed)
        try:
            found: list[str] | None = ours(text)
        except BrookTextError:
            found = None
        if found != of_gcc(text):
            return seed
    return None


def test_random_texts_are_read_as_gcc_reads_them() -> None:
    assert differing(range(60)) is None


_arguments = macros._arguments


def _hides_nothing(real: Callable[..., list[macros._Hidden]]) -> Callable[..., list[macros._Hidden]]:
    return lambda *given: [macros._Hidden(one.word) for one in real(*given)]


def _rounded_down(a: int, b: int) -> int:
    return a // b if b else 0


BUGS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "arguments are not expanded": lambda patch: patch.setattr(
        Macros, "_given", lambda self, names, arguments, word, depth: dict(zip(names, arguments, strict=False))
    ),
    "a macro stands for itself": lambda patch: patch.setattr(macros, "_body", _hides_nothing(macros._body)),
    "what a name came from is forgotten at ')'": lambda patch: patch.setattr(
        macros, "_arguments", lambda waiting, name: (_arguments(waiting, name)[0], frozenset())
    ),
    "all parts are read": lambda patch: patch.setattr(Macros, "reads", True),
    "quotients are rounded down": lambda patch: patch.setitem(macros._LEVELS[5], "/", _rounded_down),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_seen(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    BUGS[bug](monkeypatch)
    assert differing(range(60)) is not None


def test_words_of_arguments_keep_their_places() -> None:
    text = "#define SQ(x) x * x\na = SQ(\n  bb);"
    (first, second) = (word for word in split_words(SourceFile("k.br", text)) if word.text == "bb")
    assert (first.span.line, second.span.text) == (3, "bb")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("#if 1\nx", 1, "#if has no #endif"),
        ("x\n#endif", 2, "#endif without #if"),
        ("#ifdef\n#endif", 1, "#ifdef names no macro"),
        ("#if 1 +\n#endif", 1, "the end of the line cannot stand here"),
        ("#if a b\n#endif", 1, "'b' cannot stand here"),
        ("#if 1.5\n#endif", 1, "'1.5' cannot stand here"),
        ("#if (1\n#endif", 1, "the end of the line cannot stand here"),
        (f"#if {'!' * 100}1\n#endif", 1, "'!' cannot stand here"),
        ("#error it is wrong", 1, "#error it is wrong"),
        ("#define F(a) a\nF(1, 2)", 2, "the macro F takes 1 arguments, and here is 2"),
        ("#define F(a) a\nF(1", 2, "the arguments of the macro F have no end"),
        ("#define F(a", 1, "'a' is no parameter of a macro"),
        ("#define F(", 1, "'(' is not closed"),
        ("#define F(a) #a", 1, "'#' in macros is not read here"),
        ("#line 4", 1, "#line is not read here"),
    ],
)
def test_a_mistake_is_told_at_its_place(text: str, line: int, said: str) -> None:
    with pytest.raises(BrookTextError) as caught:
        ours(text)
    assert caught.value.finding.message == said
    assert caught.value.finding.span is not None and caught.value.finding.span.line == line
