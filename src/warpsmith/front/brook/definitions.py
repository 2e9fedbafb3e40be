"""What a text of Brook+ defines, before any body is read: heads of functions, and where their bodies are.

kernel void f(float a<>, float g[][], out float o<>, float s) { … }      reduce void r(float a<>, reduce float s<>)
kernel float h(float x) { … }      void host(float a[], int n) { … }     prototypes are passed over
iter float i<>                     an in stream that host code makes

What C has and is not read here (`char *`, structs, variables outside of functions) is left aside where no kernel is
concerned: it is told when host code comes to it (`BrookDefinitions.aside`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.front.brook.cursor import BrookCursor
from warpsmith.front.brook.kinds import HOST_TYPE_NAMES
from warpsmith.front.brook.nodes import BrookDefinition, BrookParameter, ParameterKind
from warpsmith.front.brook.tokens import BrookTextError, BrookWord
from warpsmith.tree.types import VOID, Pointer, Type

__all__ = ["MOST_TOLD", "BrookDefinitions", "find_definitions"]

MOST_TOLD: Final = 20
_WORDS: Final = ("static", "inline", "extern", "const")
_OF_C: Final = frozenset((
    "char", "short", "long", "signed", "struct", "union", "enum", "typedef", "volatile", "register", "size_t", "time_t",
    "FILE", "clock_t",
))  # fmt: skip
"""Words that begin definitions of C which kernels have nothing to do with."""
_MOST_AXES: Final = 3


class BrookDefinitions(Struct):
    """What is defined, by its name; what is `wrong` outside of bodies; `aside`: what host code has that is not read, by
    its name."""

    found: dict[str, BrookDefinition] = field(default_factory=dict)
    wrong: list[Finding] = field(default_factory=list)
    aside: dict[str, Finding] = field(default_factory=dict)


def find_definitions(cursor: BrookCursor, kinds: Mapping[str, Type]) -> BrookDefinitions:
    """Return what is defined."""
    made = BrookDefinitions()
    known = _OF_C | kinds.keys()
    while cursor.word.kind != "end" and len(made.wrong) < MOST_TOLD:
        start = cursor.at
        try:
            one = _definition(cursor, kinds)
            if one is not None and one.name in made.found:
                word = cursor.words[start]
                raise BrookTextError(one.span, f"'{one.name}' is defined twice", f"near {word.shown}")
            if one is not None:
                made.found[one.name] = one
        except BrookTextError as error:
            if _is_of_host(cursor.words, start, known):
                named = _skip_c(cursor, start)
                made.aside.setdefault(named.text, error.finding)
                known |= {named.text} if cursor.words[start].text == "typedef" else set()
            else:
                made.wrong.append(error.finding)
                _recover(cursor, start)
    for name in _asking(cursor.words, made.found):
        made.found[name] = replace(made.found[name], asks_place=True)
    return made


def _asking(words: Sequence[BrookWord], found: Mapping[str, BrookDefinition]) -> Set[str]:
    """Return what asks where a thread is, or names what does."""
    named = {name: {word.text for word in words[one.first : one.last]} for name, one in found.items()}
    asking = {name for name, inside in named.items() if inside & {"instance", "indexof"}}
    while more := {name for name, inside in named.items() if inside & asking} - asking:
        asking |= more
    return asking


def _is_of_host(words: Sequence[BrookWord], start: int, known: Set[str]) -> bool:
    """Whether a definition begins as one of host code that C has: by a type, with no kernel in it."""
    at = start
    while words[at].text in _WORDS:
        at += 1
    return words[at].text in known and words[at].kind == "word"


def _skip_c(cursor: BrookCursor, start: int) -> BrookWord:
    """Go behind a definition of C: its body, or its semicolon; return the word that is its name."""
    cursor.at = start
    named = cursor.word
    typedef = cursor.stands("typedef")
    while cursor.word.kind != "end":
        word = cursor.word
        ahead = cursor.ahead()
        if word.kind == "word" and (
            ahead.text == ";" if typedef else named is cursor.words[start] and ahead.text in "(=[;,"
        ):
            named = word
        if word.kind == "sign" and word.text == "{":
            body = cursor.words[cursor.at - 1].text == ")"
            _skip_braces(cursor, told=True)
            if body:
                return named
            continue
        if cursor.take().text == ";":
            return named
    return named


def _recover(cursor: BrookCursor, start: int) -> None:
    """Go behind the next thing that ends outside of braces."""
    cursor.at = max(cursor.at, start + 1)
    while cursor.word.kind != "end":
        if cursor.stands("{"):
            _skip_braces(cursor, told=True)
            return
        if cursor.take().text in (";", "}"):
            return


def _skip_braces(cursor: BrookCursor, *, told: bool = False) -> None:
    """Go behind the brace that closes the one here; raises BrookTextError where there is none, unless it was `told`."""
    first, depth = cursor.word, 0
    while True:
        word = cursor.take()
        if word.kind == "end":
            if told:
                return
            raise BrookTextError(first.span, "this block has no end", "expected '}' before the end of the text")
        if word.kind == "sign" and word.text in "{}":
            depth += 1 if word.text == "{" else -1
            if not depth:
                return


def _definition(cursor: BrookCursor, kinds: Mapping[str, Type]) -> BrookDefinition | None:
    if cursor.accepts(";"):
        return None
    while cursor.accepts(*_WORDS):
        pass
    form: Literal["kernel", "reduce", "function"]
    form = "kernel" if cursor.accepts("kernel") else "reduce" if cursor.accepts("reduce") else "function"
    first = cursor.word
    kinds = {**kinds, **HOST_TYPE_NAMES} if form == "function" else kinds
    result = _type(cursor, kinds, "'kernel', 'reduce' or a type: every definition begins with one")
    pointer = bool(cursor.stands("*"))
    while cursor.accepts("*"):
        result = Pointer(result)
    name = cursor.expect_name("the name of a function")
    if not cursor.stands("("):
        if form == "function" and cursor.stands("=", ";", "[", "<", ","):
            raise BrookTextError(
                name.span, f"'{name.text}' is a variable outside of functions", "give it as a parameter"
            )
        raise cursor.unexpected(f"'(' behind the name of a {form}")
    if pointer and form != "function":
        raise BrookTextError(first.span, f"a {form} returns no pointer", "write to an out stream")
    parameters = _parameters(cursor, kinds, form)
    span = cursor.since(first)
    if cursor.accepts(";"):
        return None
    if not cursor.stands("{"):
        raise cursor.unexpected("'{' before the body, or ';'")
    at = cursor.at
    _skip_braces(cursor)
    made = BrookDefinition(form, name.text, result, parameters, span, at, cursor.at, _placed(cursor, at))
    _check(made, name)
    return replace(made, span=name.span)


def _placed(cursor: BrookCursor, start: int) -> frozenset[str]:
    """Return what stands behind `indexof` in the body that ends here."""
    body = cursor.words[start : cursor.at]
    asked = [at for at, word in enumerate(body) if word.text == "indexof"]
    return frozenset(word.text for at in asked for word in body[at + 1 : at + 3] if word.kind == "word")


def _check(made: BrookDefinition, name: BrookWord) -> None:
    reduced = [one for one in made.parameters if one.kind == "reduce"]
    if made.form == "reduce":
        streams = [one for one in made.parameters if one.kind == "stream"]
        if (
            len(reduced) != 1
            or len(streams) != 1
            or any(one.kind in ("out", "place", "scatter") for one in made.parameters)
        ):
            helps = f"reduce void {made.name}(float a<>, reduce float r<>)"
            raise BrookTextError(name.span, f"{made.name} reduces one in stream to one reduce parameter", helps)
    elif reduced:
        raise BrookTextError(reduced[0].span, "a reduce parameter stands in a kernel", "write reduce void …")
    if made.starts and made.result != VOID:
        raise BrookTextError(name.span, f"{made.name} has out streams, and returns a value", "make it void")


def _type(cursor: BrookCursor, kinds: Mapping[str, Type], expected: str) -> Type:
    word = cursor.word
    if word.kind != "word":
        raise cursor.unexpected(expected)
    if word.text not in kinds:
        helps = "expected " + expected
        raise BrookTextError(word.span, f"{word.shown} is no type of Brook+", helps)
    cursor.take()
    if word.text == "unsigned":
        cursor.accepts("int")
    return kinds[word.text]


def _parameters(cursor: BrookCursor, kinds: Mapping[str, Type], form: str) -> tuple[BrookParameter, ...]:
    cursor.expect("(", "before the parameters")
    found: list[BrookParameter] = []
    if cursor.stands("void") and cursor.ahead().text == ")":
        cursor.take()
    while not cursor.stands(")"):
        if found:
            cursor.expect(",", "or ')' behind a parameter")
        one = _parameter(cursor, kinds, form)
        if any(one.name == other.name for other in found):
            raise BrookTextError(one.span, f"two parameters are called '{one.name}'", "give one another name")
        found.append(one)
    cursor.take()
    return tuple(found)


def _parameter(cursor: BrookCursor, kinds: Mapping[str, Type], form: str) -> BrookParameter:
    first = cursor.word
    kind = _qualifier(cursor)
    type = _type(cursor, kinds, "a parameter: float a<>, float g[], out float o<>, float s")
    if type == VOID:
        raise BrookTextError(first.span, "a parameter has no type void", "float, int, float4 …")
    pointer = form == "function" and cursor.stands("*")
    while form == "function" and cursor.accepts("*"):
        type = Pointer(type)
    name = cursor.expect_name("the name of a parameter")
    if cursor.stands("<"):
        _skip_extents(cursor)
        kind = kind if kind != "constant" else "stream"
        return BrookParameter(name.text, kind, type, name.span)
    axes = 0
    while cursor.stands("["):
        _skip_subscript(cursor)
        axes += 1
    return BrookParameter(name.text, _with_axes(name, kind, axes), type, name.span, axes, pointer)


def _qualifier(cursor: BrookCursor) -> ParameterKind:
    """Read what stands before the type of a parameter."""
    first = cursor.word
    kind: ParameterKind = "constant"
    if first.text == "vout":
        helps = "write to an out stream where each thread has its own place"
        raise BrookTextError(first.span, "'vout' streams are not read here: threads push as much as they like", helps)
    if first.text == "iter" and cursor.ahead().kind == "word":
        cursor.take()
        return "stream"
    if first.text in ("out", "reduce") and cursor.ahead().kind == "word":
        kind = "out" if cursor.take().text == "out" else "reduce"
    cursor.accepts("const")
    return kind


def _with_axes(name: BrookWord, kind: ParameterKind, axes: int) -> ParameterKind:
    """Return what a parameter with so many subscripts is; raises BrookTextError where it cannot have them."""
    if axes > _MOST_AXES:
        raise BrookTextError(name.span, f"'{name.text}' has {axes} axes, and gathers have three at most here")
    if axes:
        if kind == "reduce":
            raise BrookTextError(name.span, f"'{name.text}' is reduced, and has subscripts", "reduce float r<>")
        return "scatter" if kind == "out" else "gather"
    return "place" if kind == "out" else kind


def _skip_extents(cursor: BrookCursor) -> None:
    """Go behind `<…>`: what stands there says nothing that the stream does not."""
    first = cursor.take()
    while not cursor.accepts(">"):
        if cursor.word.kind == "end" or cursor.stands("{", ";"):
            raise BrookTextError(first.span, "'<' is not closed", "expected '>': float a<>")
        cursor.take()


def _skip_subscript(cursor: BrookCursor) -> None:
    first = cursor.take()
    while not cursor.accepts("]"):
        if cursor.word.kind == "end" or cursor.stands("{", ";"):
            raise BrookTextError(first.span, "'[' is not closed", "expected ']': float g[]")
        cursor.take()
