"""Reading a recipe: the steps that it lists, or what is wrong with it, with the place.

    recipe = 1                          the format's version
    inputs = ["heat.c"]                 for information
    assume = ["n >= 1"]                 what the user asserted

    [[step]]
    name = "interchange"
    loop = "heat/i"

Invariant: whatever the bytes are, the answer is a Recipe or findings that point into them: the first _MOST_FINDINGS
wrong places, not only the first.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.catalogue import ArgumentsError, make
from warpsmith.recipes.layout import RecipeEntry, RecipeTable, tables, values
from warpsmith.recipes.listed import ListedStep

__all__ = ["FORMAT", "LARGEST", "Recipe", "read_recipe", "recipe_of"]

FORMAT = 1
LARGEST = 1_000_000
_LONGEST_TEXT = 1000
_MOST_FINDINGS = 20
_TOP_KEYS = ("recipe", "inputs", "assume")


class Recipe(Struct, frozen=True):
    """What a recipe says; `inputs` are the names of the files that it was made for."""

    file: SourceFile
    steps: tuple[ListedStep, ...]
    assumptions: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()


def read_recipe(path: str) -> Recipe:
    """Return the recipe in the file `path`; raises UsageError (RCP001, RCP002, STP004) with all wrong places."""
    place = Path(path)
    try:
        if place.is_dir():
            raise UsageError(_unusable(f"{path} is a directory"))
        if place.stat().st_size > LARGEST:
            raise UsageError(_unusable(f"{path} has {place.stat().st_size} bytes; a recipe has at most {LARGEST}"))
        file = SourceFile.read(path)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(_unusable(f"the recipe {path} cannot be read: {why.lower()}")) from error
    return recipe_of(file)


def recipe_of(file: SourceFile) -> Recipe:
    """Return the recipe that a file's text holds; raises UsageError as `read_recipe` does."""
    _check_text(file)
    top, *steps = tables(file)
    known = values(file)
    findings = [*_version(file, top, known), *_top_level(top, known), *_headers(steps)]
    if findings:
        raise UsageError(*findings[:_MOST_FINDINGS])
    listed: list[ListedStep] = []
    for table, given in zip(steps, _tables_of(known), strict=True):
        made = _step(table, given)
        if isinstance(made, ListedStep):
            listed.append(made)
        else:
            findings += made
        if len(findings) >= _MOST_FINDINGS:
            break
    if findings:
        raise UsageError(*findings[:_MOST_FINDINGS])
    return Recipe(file, tuple(listed), _texts(known, "assume"), _texts(known, "inputs"))


def _check_text(file: SourceFile) -> None:
    """Raise where the bytes are no text at all."""
    if len(file.text) > LARGEST:
        raise UsageError(_unusable(f"{file.path} has {len(file.text)} bytes; a recipe has at most {LARGEST}"))
    if not file.text.strip():
        raise UsageError(_unusable(f"{file.path} is empty", Span(file, 0, 0)))
    try:
        file.data().decode("utf-8")
    except UnicodeDecodeError as error:
        span = Span(file, error.start, error.start + 1)
        raise UsageError(_unusable(f"{file.path} is no text in UTF-8", span)) from error
    zero = file.text.find("\0")
    if zero >= 0:
        raise UsageError(_unusable(f"{file.path} is no text: it has a zero byte", Span(file, zero, zero + 1)))


def _unusable(message: str, span: Span | None = None) -> Finding:
    return Finding("RCP001", "error", message, span, ("`warpsmith port FILE --save-recipe RECIPE` writes one",))


def _version(file: SourceFile, top: RecipeTable, known: dict[str, object]) -> Iterator[Finding]:
    given = known.get("recipe")
    entry = top.entry("recipe")
    if entry is None:
        start = top.entries[0].place if top.entries else Span(file, 0, 0)
        help = f"its first line is `recipe = {FORMAT}`"
        yield Finding("RCP001", "error", "this is no recipe: the version of its format is missing", start, (help,))
    elif isinstance(given, bool) or not isinstance(given, int):
        yield Finding("RCP002", "error", "recipe is a whole number: the version of the format", entry.value)
    elif given != FORMAT:
        text = f"the recipe has format {_short(str(given))}; this warpsmith reads {FORMAT}"
        yield Finding("RCP001", "error", text, entry.value, ("a newer warpsmith may read it",))


def _top_level(top: RecipeTable, known: dict[str, object]) -> Iterator[Finding]:
    for entry in top.entries:
        if entry.key == "step":
            help = 'write each step as [[step]] with lines such as name = "tile"'
            yield Finding("RCP002", "error", "steps are tables", entry.place, (help,))
        elif entry.key not in _TOP_KEYS:
            helps = (*_near(entry.key, _TOP_KEYS), "keys of a step stand below its [[step]]")
            yield _report_unknown(f"a recipe has no key {_quote_word(entry.key)}", entry.place, helps)
        elif entry.key != "recipe":
            yield from _wrong_texts(entry, known[entry.key])


def _wrong_texts(entry: RecipeEntry, value: object) -> Iterator[Finding]:
    if not isinstance(value, list):
        yield Finding("RCP002", "error", f"{entry.key} is a list of texts", entry.value)
        return
    for item, span in zip(value, entry.items, strict=True):
        if not isinstance(item, str):
            yield Finding("RCP002", "error", f"{entry.key} is a list of texts", span)
        else:
            yield from _too_long(item, span)


def _too_long(text: str, span: Span) -> Iterator[Finding]:
    if len(text) > _LONGEST_TEXT:
        short = Span(span.file, span.start, span.start + 40)
        yield Finding("RCP002", "error", f"a text of {len(text)} characters; at most {_LONGEST_TEXT}", short)


def _headers(found: Iterable[RecipeTable]) -> Iterator[Finding]:
    for table in found:
        if table.header is None or (table.name == "step" and table.array):
            continue
        if table.name == "step":
            yield Finding("RCP002", "error", "write [[step]]: there may be many", table.header)
        else:
            helps = (*_near(table.name, ("step",)), "a recipe has [[step]] tables only")
            yield _report_unknown(f"a recipe has no table {_quote_word(table.name)}", table.header, helps)


def _tables_of(known: dict[str, object]) -> tuple[dict[str, object], ...]:
    found = known.get("step", ())
    return tuple(found) if isinstance(found, list) else ()


def _step(table: RecipeTable, given: dict[str, object]) -> ListedStep | tuple[Finding, ...]:
    """Return the step of one table, or what is wrong with it."""
    header = table.header
    assert header is not None
    long = [finding for entry in table.entries for finding in _long_values(entry, given[entry.key])]
    if long:
        return tuple(long)
    named = table.entry("name")
    if named is None:
        return (Finding("RCP002", "error", "the step has no name", header, ('for example name = "interchange"',)),)
    name = given["name"]
    if not isinstance(name, str):
        return (Finding("RCP002", "error", "name is a text", named.value),)
    arguments = {key: _decode_texts(value) for key, value in given.items() if key != "name"}
    try:
        return ListedStep(make(name, arguments), named.value)
    except ArgumentsError as error:
        return tuple(_place_error(error, table, header, finding) for finding in error.findings)


def _place_error(error: ArgumentsError, table: RecipeTable, header: Span, finding: Finding) -> Finding:
    """Return a finding about a step's arguments at the key or value that is to blame."""
    entry = table.entry(error.key) if error.key is not None else None
    span = header if entry is None else entry.place if error.unknown else entry.value
    helps = finding.help
    if error.unknown and error.key in _TOP_KEYS:
        helps = (f"{error.key} stands before the first [[step]]", *helps)
    return Finding(finding.rule, finding.severity, finding.message, span, helps)


def _long_values(entry: RecipeEntry, value: object) -> Iterator[Finding]:
    if isinstance(value, str):
        yield from _too_long(value, entry.value)
    elif isinstance(value, list):
        for item, span in zip(value, entry.items, strict=True):
            if isinstance(item, str):
                yield from _too_long(item, span)


def _decode_texts(value: object) -> object:
    """Return texts as source text is held: one character a byte."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("latin-1")
    return [_decode_texts(item) for item in value] if isinstance(value, list) else value


def _texts(known: dict[str, object], key: str) -> tuple[str, ...]:
    found = known.get(key, [])
    return tuple(str(_decode_texts(item)) for item in found) if isinstance(found, list) else ()


def _report_unknown(message: str, span: Span, helps: tuple[str, ...]) -> Finding:
    return Finding("RCP002", "error", message, span, helps)


def _near(word: str, known: tuple[str, ...]) -> tuple[str, ...]:
    near = difflib.get_close_matches(word[:100], known, n=1, cutoff=0.5)
    return (f"did you mean {near[0]}?",) if near else ()


def _quote_word(word: str) -> str:
    return repr(_short(word))


def _short(word: str) -> str:
    return word if len(word) <= 60 else word[:57] + "..."
