"""Places in the user's text at which lines can be added.

    #ifdef _OPENMP                          ◄── before the loop: above the pragma that binds to it, and above the
    #pragma omp parallel for                    conditional that the pragma stands in
    #endif
        for (…)
            …;   /* comment */
                                            ◄── after it: the next line

Invariant: between a place and its statement stand only blanks, comments and preprocessor lines, and whatever
conditional starts there ends before the statement does. Where other code stands on the line, the line is split.
A statement whose end stands in a conditional that it shares with its start ends behind that conditional.
Limits: a place inside a preprocessor line (a macro's text) is refused, as is a statement that cuts through a
conditional in another way.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.c_lexer import GAPS, Mark, Token, goes_on, marks
from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.tree.text.layout import indent_at, starts_line
from warpsmith.tree.text.lexical import PreprocessorLine, directives, tokens

__all__ = [
    "InsertionPoint", "binds", "bound_pragmas", "cut_conditionals", "cut_pragmas", "end_of", "is_balanced",
    "is_bound_by_openmp", "place_after", "place_at", "place_before", "place_between",
]  # fmt: skip

_IF = ("if", "ifdef", "ifndef")
# pragmas that are statements of their own or settings: the statement under them is not theirs
_ALONE = re.compile(
    r"#\s*pragma\s+((omp|acc)\s+(barrier|taskwait|taskyield|flush|threadprivate|declare|wait|update|enter|exit|init|"
    r"shutdown|routine|cache|end|cancel|depobj|requires|scan)\b|(GCC|clang)\s+(diagnostic|push|pop|optimize|target|"
    r"system_header|poison|visibility|pop_options|push_options)|pack\b|once\b|weak\b|message\b|scop\b|endscop\b|"
    r"STDC\b|warning\b|region\b|endregion\b)"
)
_OPENMP = re.compile(r"#\s*pragma\s+omp\s+(parallel|for|simd|target|teams|distribute|taskloop)\b")
_BRANCH = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|else)\b.*", re.DOTALL)


class InsertionPoint(Struct, frozen=True):
    """Where lines are added: at a line's start, or inside a line that is split (`splits`); `indent` is how deep;
    `above`: preprocessor lines stand between it and its statement; `inside`: among them the end of the conditional in
    which it stands."""

    offset: int
    indent: str
    splits: bool
    above: bool = False
    inside: bool = False


def place_before(
    file: SourceFile, first: Span, end: int, lower: int, left_out: Sequence[tuple[int, int]] = ()
) -> InsertionPoint:
    """Return the place before the statements [first.start, end), the last one that nothing of theirs stands before;
    `lower`: where the construct around them starts; `left_out`: code of another build, which is passed where a pragma
    under it would be cut off otherwise."""
    # what stands before `#if` is as compiled as the `#if` is
    opening = _is_opening(file.text[first.start : end])
    for passed in ((), left_out) if left_out else ((),):
        found = list(_directives(file, _floor(file, lower, first.start, passed), first.start))
        bound = _find_bound(file, found)
        for offset in (first.start, *(d.start for d in reversed(found))):
            if all(offset <= d.start for d in bound) and (opening or is_balanced(file.text[offset:end])):
                place = place_at(file, offset, indent_at(file, first.start))
                return replace(place, above=offset < first.start)
    message = "a preprocessor conditional starts or ends inside the region: nothing can be added to it"
    raise RefusedError(Finding("POR008", "error", message, first))


def end_of(file: SourceFile, start: int, end: int) -> int:
    """Return where the statements [start, end) end with the conditionals that their text opens and does not close:

        #ifdef REPEATED
            for (…) {
        #endif
                …
        #ifdef REPEATED
            }
        #endif                   ◄── here

    which is `end` where other code stands before that."""
    _, depth = cut_conditionals(file.text[start:end])
    if not depth:
        return end
    behind = file.text[end:]
    following = [d for d, _ in zip(directives(behind), range(depth), strict=False)]
    stop = following[-1].end if following else 0
    code = any(token.kind not in GAPS and not token.directive for token in tokens(behind[:stop]))
    closed = len(following) == depth and all(d.word == "endif" for d in following)
    return end + stop if closed and not code else end


@functools.lru_cache(maxsize=256)
def cut_conditionals(text: str) -> tuple[int, int]:
    """Return how many conditionals `text` closes that it has not opened, and how many it opens and does not close."""
    closed = opened = 0
    for directive in directives(text):
        if directive.word in _IF:
            opened += 1
        elif directive.word == "endif" and opened:
            opened -= 1
        elif directive.word == "endif":
            closed += 1
    return closed, opened


def place_at(file: SourceFile, offset: int, indent: str) -> InsertionPoint:
    """Return the place before what starts at `offset`: on a line of its own where it starts one."""
    _check_plain(file, offset)
    line = file.location(offset)[0]
    if starts_line(file, offset) and not (line > 1 and goes_on(file.line(line - 1))):
        return InsertionPoint(file.offset(line), indent, splits=False)
    # the blanks before it stay with it: no line of the user's shall end in blanks that did not
    return InsertionPoint(len(file.text[:offset].rstrip(" \t")), indent, splits=True)


def place_after(file: SourceFile, end: int) -> InsertionPoint:
    """Return the place after what ends at `end`, which is not the start of a conditional's branch: that may be the one
    that is not compiled."""
    line = file.text[_line_start(file, end) : end]
    if _BRANCH.fullmatch(line):
        message = "a branch of the preprocessor starts here: nothing can be added behind it"
        raise RefusedError(Finding("POR008", "error", message, Span(file, end - len(line.lstrip()), end)))
    stop = file.text.find("\n", end)
    rest = file.text[end : None if stop == -1 else stop]
    indent = indent_at(file, end)
    if stop != -1 and _is_blank(rest):
        return InsertionPoint(stop + 1, indent, splits=False)
    _check_plain(file, end)
    return InsertionPoint(end, indent, splits=True)


def place_between(file: SourceFile, lower: int, end: int, indent: str, *, early: bool) -> InsertionPoint:
    """Return a place between the last code behind `lower` and what starts at `end`: at the outermost conditional there,
    the first such place (`early`) or the last, and never between a pragma and what it binds to."""
    start = _floor(file, lower, end)
    found = list(_directives(file, start, end))
    bound = _find_bound(file, found)
    depth, options = 0, [(0, -1)]
    for number, directive in enumerate(found):
        depth += (directive.word in _IF) - (directive.word == "endif")
        options.append((depth, number))
    allowed = [(d, n) for d, n in options if n < 0 or all(found[n].end <= b.start for b in bound)]
    least = min(d for d, _ in allowed)
    chosen = [n for d, n in allowed if d == least]
    number = chosen[0] if early else chosen[-1]
    if number == len(found) - 1 and not early:
        return place_at(file, end, indent)
    if number < 0:
        return replace(place_after(file, start), indent=indent)
    stop = file.text.find("\n", found[number].end)
    return InsertionPoint(stop + 1, indent, splits=False)


def cut_pragmas(file: SourceFile, lower: int, start: int) -> list[Span]:
    """Return the pragmas that what starts at `start` belongs to, where the end of a conditional stands between: behind
    `lower`, after the last code there."""
    found = list(_directives(file, _floor(file, lower, start), start))
    last = max((d.start for d in found if d.word not in ("pragma", "define", "undef", "line")), default=-1)
    return [Span(file, d.start, d.end) for d in _find_bound(file, found) if d.start < last]


def bound_pragmas(
    file: SourceFile, lower: int, start: int, left_out: Sequence[tuple[int, int]]
) -> list[PreprocessorLine]:
    """Return the pragmas that what starts at `start` belongs to, behind `lower`, after the last code that is compiled:
    not `left_out`."""
    return _find_bound(file, list(_directives(file, _floor(file, lower, start, left_out), start)))


def binds(pragma: str) -> bool:
    """Whether a pragma belongs to the statement under it."""
    return not _ALONE.match(pragma)


def is_bound_by_openmp(file: SourceFile, start: int, end: int) -> bool:
    """Whether an `if` at `start` has what starts at `end` as its body: between them stand conditionals, and pragmas of
    OpenMP that belong to that statement, with which they are one. Compilers disagree about other pragmas there."""
    if any(t.kind not in GAPS and not t.directive for t in tokens(file.text[start:end])):
        return False
    found = [(d.word, file.text[start + d.start : start + d.end]) for d in directives(file.text[start:end])]
    return all(word in (*_IF, "endif") or (word == "pragma" and _is_openmp(line)) for word, line in found)


def _is_openmp(pragma: str) -> bool:
    return _OPENMP.match(pragma) is not None and binds(pragma)


def _is_opening(text: str) -> bool:
    """Whether `text` is one preprocessor line that opens a conditional."""
    first = next(directives(text), None)
    return first is not None and first.word in _IF and (first.start, first.end) == (0, len(text))


def _line_start(file: SourceFile, offset: int) -> int:
    """Return where the line of `offset` starts, lines spliced before it included."""
    line = file.location(offset)[0]
    while line > 1 and goes_on(file.line(line - 1)):
        line -= 1
    return file.offset(line)


def _find_bound(file: SourceFile, found: Sequence[PreprocessorLine]) -> list[PreprocessorLine]:
    """Return the pragmas that the next statement belongs to."""
    return [d for d in found if d.word == "pragma" and binds(file.text[d.start : d.end])]


def _is_blank(rest: str) -> bool:
    """Whether the rest of a line holds only blanks and comments that end on it."""
    if goes_on(rest):
        return False
    found = [t for t in tokens(rest) if t.kind not in ("blank", "newline")]
    whole = all(t.spelling.startswith("//") or t.spelling.endswith("*/") for t in found)
    return whole and all(t.kind == "comment" for t in found)


def _floor(file: SourceFile, lower: int, start: int, left_out: Sequence[tuple[int, int]] = ()) -> int:
    """Return the end of the last code before `start`, at or behind `lower`, that is not `left_out`."""
    text = file.text[lower:start]
    outside = [(a - lower, b - lower) for a, b in left_out]

    def is_code(token: Token | Mark, begin: int = 0) -> bool:
        passed = token.kind in GAPS or token.directive
        return not passed and not any(a <= begin + token.start < b for a, b in outside)

    # a few other tokens may stand behind the last of those that are found fast
    fast = next(filter(is_code, reversed(tuple(marks(text)))), None)
    begin = 0 if fast is None else fast.start
    last = next((t for t in reversed(tuple(tokens(text[begin:]))) if is_code(t, begin)), None)
    return lower if last is None else lower + begin + last.end


def _directives(file: SourceFile, start: int, end: int) -> Iterator[PreprocessorLine]:
    """Yield the preprocessor lines in [start, end), with offsets in the file."""
    # the first line of the piece is not a line's start: a `#` there is none of the preprocessor's
    for d in directives(file.text[start:end]):
        if starts_line(file, start + d.start):
            yield PreprocessorLine(d.word, start + d.start, start + d.end, d.depth, d.braces)


@functools.lru_cache(maxsize=256)
def is_balanced(text: str) -> bool:
    """Whether every conditional of the preprocessor that `text` opens is closed in it, and no other."""
    depth = 0
    for directive in directives(text):
        depth += (directive.word in _IF) - (directive.word == "endif")
        if depth < 0 or (depth == 0 and directive.word in ("else", "elif")):
            return False
    return depth == 0


def _check_plain(file: SourceFile, offset: int) -> None:
    """Refuse a place inside a preprocessor line, continued ones included."""
    if file.text[_line_start(file, offset) : offset].lstrip(" \t").startswith("#"):
        message = "the statement stands in a macro's text, to which nothing can be added"
        raise RefusedError(Finding("POR008", "error", message, Span(file, offset, offset)))
