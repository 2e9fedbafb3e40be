"""A source text whose loops count themselves; every line stays the line that it was.

    for (i = 0; i < n; i++)           {WS_LOOP(7, 0); for (i = 0; i < n; i++){++ws_s7.n;
        a[i] = 0;                         a[i] = 0;}}

    #pragma omp parallel for          {WS_LOOP(8, WS_UP(0, n, 1));
    for (i = 0; i < n; i++)           #line 12
        a[i] = 0;                     #pragma omp parallel for
                                      for (i = 0; i < n; i++)
                                          a[i] = 0;}

Invariant: what the program computes and prints does not change. A loop that OpenMP shares between threads is counted by
arithmetic at its entry, where the standard says that its bounds are fixed; every other one counts its iterations. The
counter is a variable of the block, so return, goto and break end it as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import pairwise
from typing import Final

from msgspec import Struct

from warpsmith.project.profile.loop_text import MACRO_BEFORE, LoopText, find_loops, tokens_of

__all__ = [
    "SLOTS", "Insert", "Instrumented", "MeasuredLoop", "Uncounted", "apply_inserts", "instrument", "runtime_header",
]  # fmt: skip

SLOTS: Final = 64
"""How many threads have counters of their own."""

_ASSOCIATED: Final = re.compile(r"\b(for|simd|distribute|taskloop|loop)\b")
# signs that make evaluating an expression once more another thing, or that need care
_CHANGES: Final = frozenset(
    ("=", "++", "--", ",", "{", "?", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
)
_DEPTH: Final = re.compile(r"\b(?:collapse|ordered)\s*\(\s*(\d+)\s*\)")
_MATH: Final = re.compile(
    r"(?:if|switch|return|sizeof|f?(?:abs|max|min|mod|ma)|sqrt|cbrt|a?(?:sin|cos|tan)h?|exp2?|log(?:2|10)?|pow|floor|ceil"
    r"|round|hypot)f?\Z"
)


class Uncounted(Struct, frozen=True):
    """A loop that is not counted, by its line, and why."""

    line: int
    reason: str


class MeasuredLoop(Struct, frozen=True):
    """A loop that is counted: where it stands, and the number of the loop around it that lasts at least as long (-1:
    there is none, or threads share it and their times are added up)."""

    line: int
    column: int
    around: int


class Instrumented(Struct, frozen=True):
    """The text with counters; `loops` have the numbers from `first` on."""

    text: str
    loops: tuple[MeasuredLoop, ...]
    uncounted: tuple[Uncounted, ...]


class _Way(Struct, frozen=True):
    """How a loop is counted: `trips` is the arithmetic ("": each iteration counts itself), `team`: its first thread
    enters for all, `outside`: the block stands around its pragmas, `steps`: threads count their own iterations."""

    trips: str = ""
    team: bool = False
    outside: bool = True
    steps: bool = False


def runtime_header(folder: str, loops: int) -> str:
    """Return the header in front of every instrumented file; the counters of `loops` loops go to files in `folder`."""
    quoted = folder.replace("\\", "\\\\").replace('"', '\\"')
    text = files("warpsmith.project.profile").joinpath("profile_runtime.h").read_text("utf-8")
    return f'#define WS_FOLDER "{quoted}"\n#define WS_LOOPS {max(1, loops)}\n#define WS_SLOTS {SLOTS}\n{text}'


def instrument(text: str, header: str, first: int) -> Instrumented:
    """Return `text` with its loops counted under the numbers from `first` on; `header` is the path to include."""
    loops = find_loops(text)
    counted: list[tuple[LoopText, _Way]] = []
    uncounted: list[Uncounted] = []
    within = _within_pragmas(loops)
    for loop in loops:
        reason = loop.refused or within.get(loop.start, "")
        way = _way(text, loop) if not reason else None
        if way is None:
            uncounted.append(
                Uncounted(loop.line, reason or "it is collapsed with others, and its bounds are no plain expressions")
            )
        else:
            counted.append((loop, way))
    edits = [edit for number, (loop, way) in enumerate(counted, first) for edit in _edits(text, loop, way, number)]
    start = 3 if text.startswith("\xef\xbb\xbf") else 0
    made = apply_inserts(text, edits)
    if counted:
        made = f'{made[:start]}#include "{header}"\n#line 1\n{made[start:]}'
    places = tuple(
        MeasuredLoop(loop.line, loop.column, _around(counted, number, first))
        for number, (loop, _) in enumerate(counted)
    )
    return Instrumented(made, places, tuple(uncounted))


def _around(counted: Sequence[tuple[LoopText, _Way]], number: int, first: int) -> int:
    loop = counted[number][0]
    for at in range(number - 1, -1, -1):
        outer, way = counted[at]
        if outer.end >= loop.end:
            return -1 if way.trips or way.steps else first + at
    return -1


def _within_pragmas(loops: Sequence[LoopText]) -> dict[int, str]:
    """Return the loops, by their start, that a pragma on a loop around them keeps from being counted, and why."""
    reasons: dict[int, str] = {}
    for loop in loops:
        inner = [other for other in loops if loop.start < other.start and other.end <= loop.end]
        if any(re.match(r"acc\b", p) or re.match(r"omp\b.*\btarget\b", p) for p in loop.pragmas):
            reasons.update((other.start, "it stands in a region for a device") for other in inner)
        nest = inner if loop.refused == MACRO_BEFORE else []
        while nest:
            nest = _children(nest)
            reasons[nest[0].start] = "it may be collapsed into the loop around it"
            nest = [o for o in nest if nest[0].start < o.start and o.end <= nest[0].end]
        for directive in _omp(loop):
            for _ in range(max([0, *(int(n) - 1 for n in _DEPTH.findall(directive))])):
                inner = _children(inner)
                reasons.update((o.start, "it is collapsed into the loop around it") for o in inner[:1])
                inner = [o for o in inner if inner and inner[0].start < o.start and o.end <= inner[0].end]
    return reasons


def _children(loops: list[LoopText]) -> list[LoopText]:
    """Return the list with its first loop in front, which is the outermost of the nest."""
    return sorted(loops, key=lambda loop: loop.start)


def _omp(loop: LoopText) -> list[str]:
    return [p for p in loop.pragmas if p.startswith("omp ") and _ASSOCIATED.search(_plain(p))]


def _plain(pragma: str) -> str:
    """Return the directive's own words: clauses may have a `for` or `simd` in them (`if(simd: …)`)."""
    return re.sub(r"\([^()]*(?:\([^()]*\)[^()]*)*\)", " ", pragma)


def _way(text: str, loop: LoopText) -> _Way | None:
    """Return how a loop is counted, None where it cannot be."""
    shared = _omp(loop)
    if not shared:
        # A pragma that is for the statement and not for its iterations: the block stands behind it.
        return _Way(outside=not any(p.startswith("omp ") for p in loop.pragmas))
    every = " ".join(_plain(p) for p in loop.pragmas if p.startswith("omp "))
    team = not re.search(r"\b(parallel|taskloop|distribute|loop)\b", every) and re.search(r"\bfor\b", every) is not None
    trips = _trips(text[loop.header[0] + 1 : loop.header[1] - 1]) if loop.kind == "for" else None
    if trips is None and re.match(r"simd\b", _plain(shared[-1])[4:]) and len(loop.pragmas) == 1:
        return _Way()
    collapsed = any(int(depth) > 1 for pragma in loop.pragmas for depth in _DEPTH.findall(pragma))
    if trips is None and collapsed:
        return None
    return _Way(trips or "", team, steps=trips is None)


def _trips(header: str) -> str | None:
    """Return the number of iterations of `v = from; v < to; v += by` as an expression, None for other headers."""
    parts = _split(header)
    if parts is None or "\n#" in header:
        return None
    begin = re.fullmatch(r"\s*(?:[\w$\s:<>,*&]+?[\s*&])??([A-Za-z_$][\w$]*)\s*=\s*(.*\S)\s*", parts[0], re.DOTALL)
    end = re.fullmatch(r"\s*(.*?\S)\s*(<=|>=|!=|<(?!<)|>(?!>))\s*(.*\S)\s*", parts[1], re.DOTALL)
    if begin is None or end is None or not _calm(begin[2]):
        return None
    name, lower = begin[1], begin[2]
    step = _step(parts[2], name)
    relation, bound = (end[2], end[3]) if end[1].strip() == name else (_mirror_relation(end[2]), end[1])
    if step is None or not _calm(bound) or _has(bound, name) or _has(lower, name):
        return None
    if end[1].strip() != name and end[3].strip() != name:
        return None
    up = relation in ("<", "<=")
    if relation == "!=":
        return f"WS_NOT(({lower}), ({bound}), ({step[1]}))"
    if up != (step[0] == "+"):
        return None
    ends = (lower, bound) if up else (bound, lower)
    return f"{'WS_UP_TO' if '=' in relation else 'WS_UP'}(({ends[0]}), ({ends[1]}), ({step[1]}))"


def _split(header: str) -> list[str] | None:
    """Return the three parts of a `for` header."""
    cuts, depth = [-1], 0
    for token in tokens_of(header):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.text, 0)
        if token.text == ";" and depth == 0:
            cuts.append(token.start)
    if len(cuts) != 3:
        return None
    cuts.append(len(header))
    return [" ".join(t.text for t in tokens_of(header[a + 1 : b])) for a, b in pairwise(cuts)]


def _calm(expression: str) -> bool:
    """Whether evaluating an expression once more changes nothing: no calls, no assignments."""
    tokens = tokens_of(expression)
    for before, token in zip([None, *tokens], tokens, strict=False):
        called = token.text == "(" and before is not None and (before.kind == "word" or before.text in (")", "]", ">"))
        if called and before is not None and before.text != "sizeof":
            return False
        if token.text in _CHANGES:
            return False
    return bool(tokens)


def _has(expression: str, name: str) -> bool:
    """Whether an expression names a variable."""
    return any(token.kind == "word" and token.text == name for token in tokens_of(expression))


def _step(advance: str, name: str) -> tuple[str, str] | None:
    """Return direction and size of `name++`, `name -= 2`, `name = name + s`."""
    words = advance.replace(" ", "")
    if words in (f"{name}++", f"++{name}"):
        return "+", "1"
    if words in (f"{name}--", f"--{name}"):
        return "-", "1"
    own = re.escape(name)
    for pattern, sign in ((rf"{own}([+-])=(.+)", 1), (rf"{own}={own}([+-])(.+)", 1), (rf"{own}=(.+)(\+){own}", 2)):
        found = re.fullmatch(pattern, words)
        if found is not None:
            size = found[3 - sign]
            return (found[sign], size) if _calm(size) and not _has(size, name) else None
    return None


def _mirror_relation(relation: str) -> str:
    return {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(relation, relation)


class Insert(Struct, frozen=True):
    """Text put in at an offset; at one place, what closes stands first, the innermost first."""

    at: int
    order: tuple[int, int]
    text: str


def _edits(text: str, loop: LoopText, way: _Way, number: int) -> Iterator[Insert]:
    macro = "WS_TEAM" if way.team else "WS_LOOP"
    outer = not way.trips and not way.steps and _holds_more(text[loop.body[0] : loop.body[1]])
    enter = f"{{WS_OUTER({number});" if outer else f"{{{macro}({number}, {way.trips or '0'});"
    count = f"{{++ws_s{number}o.s.n;" if outer else f"{{++ws_s{number}.n;"
    outside = way.outside and loop.before < loop.start
    count = f"{{ws_step({number});" if way.steps else count
    if outside:
        line = text.rfind("\n", 0, loop.before) + 1
        resume = text.count("\n", 0, line) + 1
        yield Insert(line, (1, loop.start), f"{enter}\n#line {resume}\n")
    else:
        yield Insert(loop.start, (1, loop.start), enter + " ")
    if not way.trips:
        yield Insert(loop.body[0], (1, loop.start), count + (" " if loop.kind == "do" else ""))
        yield Insert(loop.body[1], (0, -loop.start * 2), "}")
    yield Insert(loop.end, (0, -loop.start * 2 + 1), "}")


def _holds_more(body: str) -> bool:
    """Whether a loop's body has loops, or calls of other functions than those of mathematics."""
    tokens = tokens_of(body)
    called = (a.text for a, b in pairwise(tokens) if a.kind == "word" and b.text == "(")
    return any(not _MATH.match(name) for name in called) or any(t.text == "do" for t in tokens)


def apply_inserts(text: str, edits: Sequence[Insert]) -> str:
    """Return the text with all that is to be put in."""
    pieces: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda e: (e.at, e.order)):
        pieces += [text[position : edit.at], edit.text]
        position = edit.at
    return "".join([*pieces, text[position:]])
