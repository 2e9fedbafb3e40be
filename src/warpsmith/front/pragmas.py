"""The text of an OpenMP or OpenACC pragma, read into its directive.

Continued lines and comments are blanks, `_Pragma("…")` is what its string says, and a macro of the file that stands in
a clause is what it is defined as (OpenMP 5.2, 3.1: directives are subject to macro replacement). A pragma of anybody
else is no directive. What is not understood is kept by its text and named: never guessed, never dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from warpsmith.base.c_lexer import NAME
from warpsmith.base.c_text import strip_code
from warpsmith.tree.text.directives import Clause, Directive, Family, ListItem, words_of

__all__ = ["read_directive"]

# words that are a clause behind these directives
_AS_CLAUSE: Final = {"ordered": ("for", "loop", "simd", "distribute"), "simd": ("ordered",), "update": ("atomic",)}
# directives whose parentheses are their own
_WITH_ARGUMENT: Final = frozenset({"critical", "flush", "threadprivate", "cache", "wait", "routine", "allocate"})
# where `device` and `host` carry no list
_SCALAR_DEVICE: Final = ("target", "teams")
_ITEM: Final = re.compile(rf"\s*({NAME})\s*((?:\[.*\])?)\s*", re.DOTALL)
_IDENTIFIER: Final = re.compile(NAME)
_PRAGMA: Final = re.compile(r"\s*(?:#|%:)\s*pragma\b")
_OPERATOR: Final = re.compile(r"_Pragma\s*\(\s*L?\"((?:\\.|[^\"\\])*)\"\s*\)", re.DOTALL)
_MOST_EXPANSIONS: Final = 20


def read_directive(text: str, macros: Mapping[str, str]) -> Directive | None:
    """Return the directive that `text` (from `#`, or a `_Pragma`) is; None for another compiler's pragma.

    `macros` are the bodies of object-like macros by name.
    """
    plain = _plain(text)
    words = plain.split(None, 1)
    if not words or words[0] not in ("omp", "acc"):
        return None
    family: Family = "omp" if words[0] == "omp" else "acc"
    rest = _expand_macros(words[1] if len(words) > 1 else "", family, macros)
    named, position = _directive_words(rest, family)
    clauses: list[Clause] = []
    unknown: list[str] = [] if named else [rest.strip()]
    for name, argument, shown in _pieces(rest[position:] if named else ""):
        clause = _clause(name, argument, shown, named)
        if clause is None:
            unknown.append(shown)
        else:
            clauses.append(clause)
    return Directive(family, named, tuple(clauses), tuple(unknown))


def _plain(text: str) -> str:
    """Return what stands behind `pragma`, on one line, without comments."""
    operator = _OPERATOR.fullmatch(text.strip())
    if operator is not None:
        return operator[1].replace('\\"', '"').replace("\\\\", "\\").strip()
    plain = strip_code(text)
    found = _PRAGMA.match(plain)
    return plain[found.end() :].strip() if found else plain


def _expand_macros(text: str, family: Family, macros: Mapping[str, str]) -> str:
    """Return `text` with the file's macros replaced, but for the words that the directive itself is made of."""
    reserved = words_of(family) | words_of("lists") | words_of("others")
    for _ in range(_MOST_EXPANSIONS):
        replaced = _IDENTIFIER.sub(
            lambda found: macros.get(found[0], found[0]) if found[0] not in reserved else found[0], text
        )
        if replaced == text:
            break
        text = replaced
    return text


def _directive_words(text: str, family: Family) -> tuple[tuple[str, ...], int]:
    """Return the words of the directive and where its clauses start."""
    found: list[str] = []
    position = 0
    while True:
        start = position
        while text[start : start + 1] in (" ", ",") and start < len(text):
            start += 1
        word = _IDENTIFIER.match(text, start)
        if word is None or word[0] not in words_of(family) or _is_clause(word[0], found):
            return tuple(found), position
        follows = text[word.end() :].lstrip()[:1]
        if follows == "(" and (word[0] not in _WITH_ARGUMENT or found):
            return tuple(found), position
        found.append(word[0])
        position = word.end()
        if word[0] in ("atomic", "critical", "flush", "threadprivate"):
            return tuple(found), position


def _is_clause(word: str, before: list[str]) -> bool:
    return any(other in before for other in _AS_CLAUSE.get(word, ()))


def _pieces(text: str) -> Iterator[tuple[str, str | None, str]]:
    """Yield (name, what stands in its parentheses or None, text) of every clause; a name is empty where there is
    none."""
    position = 0
    while position < len(text):
        if text[position] in " ,\t":
            position += 1
            continue
        word = _IDENTIFIER.match(text, position)
        name = word[0] if word is not None else ""
        end = word.end() if word is not None else position
        opening = end + len(text[end:]) - len(text[end:].lstrip())
        if text[opening : opening + 1] == "(":
            closing = _closing(text, opening)
            yield name, text[opening + 1 : closing], text[position : closing + 1]
            position = closing + 1
        else:
            end = max(end, position + 1)
            yield name, None, text[position:end]
            position = end


def _closing(text: str, opening: int) -> int:
    depth = 0
    for position in range(opening, len(text)):
        depth += (text[position] in "([{") - (text[position] in ")]}")
        if depth == 0:
            return position
    return len(text)


def _clause(name: str, argument: str | None, shown: str, words: tuple[str, ...]) -> Clause | None:
    """Return a clause, or None where it is not understood."""
    if not name and argument is not None and words and words[-1] in _WITH_ARGUMENT:
        return Clause("", shown, _items(argument) or (), argument=argument.strip())
    if name == "device" and any(word in words for word in _SCALAR_DEVICE):
        return Clause(name, shown, argument=(argument or "").strip())
    if name == "self" and words[:1] == ("update",) and argument is not None:
        return _with_list(name, argument, shown)
    if name == "update" and "atomic" in words:
        return Clause(name, shown)
    if name in words_of("lists"):
        return None if argument is None else _with_list(name, argument, shown)
    return Clause(name, shown, argument=(argument or "").strip()) if name in words_of("others") else None


def _with_list(name: str, argument: str, shown: str) -> Clause | None:
    operator, listed, modifier = "", argument, ""
    if name.endswith("reduction"):
        before, colon, after = argument.partition(":")
        if not colon:
            return None
        # a reduction's modifier stands in front of the operator: `inscan, +`
        *modifiers, operator = (part.strip() for part in before.split(","))
        if modifiers and modifiers != ["default"]:
            return None
        listed = after
    elif name in ("map", "to", "from", "copyin", "copyout", "create", "lastprivate", "linear", "aligned", "depend"):
        listed, modifier = _split_modifier(name, argument)
        if modifier == "conditional":
            return None
    found = _items(listed)
    return None if found is None else Clause(name, shown, found, operator, modifier)


def _split_modifier(name: str, argument: str) -> tuple[str, str]:
    """Return the list, and what stands in front of it (`tofrom:`) or behind it (`x : 2`)."""
    depth = 0
    for position, character in enumerate(argument):
        depth += (character in "([{") - (character in ")]}")
        if character == ":" and depth == 0:
            left, right = argument[:position], argument[position + 1 :]
            return (left, right.strip()) if name in ("linear", "aligned") else (right, left.strip())
    return argument, ""


def _items(text: str) -> tuple[ListItem, ...] | None:
    """Return the items of a list; None where one is no variable."""
    parts: list[str] = [""]
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    found = [_ITEM.fullmatch(part) for part in parts]
    return tuple(ListItem(m[1], m[2]) for m in found if m) if all(found) else None
