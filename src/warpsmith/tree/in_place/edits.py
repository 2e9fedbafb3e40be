"""The port inside the user's own file: additions for builds that define WARPSMITH, the user's lines as they were.

        WARPSMITH_ONLY(if (!ws_f_1(a, n)))
        for (…) …                                the user's loop, byte for byte
    #ifdef WARPSMITH
        if (ws_on() && guards) { ported } else
    #endif
        for (…) …

An offload region with host code between its kernels is not written twice: a flag is set where it is entered, and what
is added asks for it.

    #ifdef WARPSMITH
        const int ws_gpu = ws_on() && guards;
        double *A_gpu = 0;
        if (ws_gpu) { A_gpu = acquire; copy }
    #endif
        for (k …) {                              the user's
    #ifdef WARPSMITH
            if (ws_gpu) { launch } else
    #endif
            for (i …) …                          the user's
        }

Invariant: taking the added text out again gives the user's bytes but for line ends where a line had to be split; what
the preprocessor leaves without WARPSMITH are the user's tokens. Every `if … else` that is added has braces where an
`else` or a pragma of the user's could bind to it.

Limits: nothing is added inside a macro's text or arguments, nor where a conditional of the user's starts or ends inside
a statement; that is refused. Pragmas that share a conditional with other code: beside.py. An offload region that
rewrites a declaration is written out a second time, in the ported branch.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from warpsmith.base.c_lexer import GAPS
from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Edit, SourceFile, Span, apply_edits
from warpsmith.tree.in_place.calls import call_additions
from warpsmith.tree.in_place.inserted import inserted_additions
from warpsmith.tree.in_place.instances import by_text
from warpsmith.tree.in_place.offload_regions import region_additions
from warpsmith.tree.in_place.versioned import InPlaceWords, InsertedText, InsertionError, Versioned, WithCalls
from warpsmith.tree.in_place.writer import InPlaceWriter, takes_any_arguments
from warpsmith.tree.nodes import Member, Stmt
from warpsmith.tree.printing.patch import include_offset, openers_in
from warpsmith.tree.program import Unit
from warpsmith.tree.text.additions import MACRO, ONLY, Addition, as_edits, wrap_in_ifdef, wrap_includes
from warpsmith.tree.text.layout import line_end
from warpsmith.tree.text.lexical import tokens
from warpsmith.tree.text.openers import Opener, opener_insertions
from warpsmith.tree.text.spacing import join_pieces
from warpsmith.tree.walk import walk

__all__ = ["Heads", "find_openers", "in_place_text"]


class Heads(Struct, frozen=True):
    """Lines of the preprocessor: `includes` stand after the file's own, `first` before all else. `opened`: what one of
    them makes known of the private members of classes that stand in other files."""

    includes: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    opened: tuple[Opener, ...] = ()


def in_place_text(
    unit: Unit,
    versions: Sequence[Versioned],
    inserted: Sequence[InsertedText],
    words: InPlaceWords,
    heads: Heads,
    *,
    called: Sequence[WithCalls] = (),
) -> str:
    """Return the text of `unit` with `versions` of its statements, what is `inserted` between them and `heads` added;
    `called`: functions that neither is about.

    Raises RefusedError where something cannot be added, InsertionError where that is `inserted`.
    """
    if not versions and not inserted and not called:
        return unit.file.text
    writer = InPlaceWriter(unit, words)
    own = next((name for name in (MACRO, ONLY) if name in writer.taken), None)
    if own is not None:
        message = f"the file has a macro {own} of its own, which a build for the GPU defines"
        places = (*(v.written[0].span for v in versions), *(i.node.span for i in inserted))
        place = next(iter(places), None) or called[0].function.body.statements[0].span
        raise RefusedError(Finding("POR008", "error", message, place))
    added = [one for new in inserted for one in _insert_additions(writer, new, versions)]
    offload_regions = [one for group in by_text(versions) for one in region_additions(writer, group, versions)]
    added = [*(one for one in added if not one.closes), *offload_regions, *(one for one in added if one.closes)]
    added += [one for function in called for one in call_additions(writer, function)]
    added += [check for made in writer.checks.values() for check in made]
    edits = as_edits(unit.file, added, lines=takes_any_arguments(unit.arguments))
    includes = wrap_includes if any(ONLY in edit.text for edit in edits) else wrap_in_ifdef
    first = min(edit.span.start for edit in edits)
    offset, top = include_offset(unit.file, _function_start(unit, first)), _top(unit.file)
    together = (*heads.first, *heads.includes) if top == offset else heads.includes
    made = [_lines(unit.file, offset, includes(together))]
    made += [_lines(unit.file, top, wrap_in_ifdef(heads.first))] if heads.first and top != offset else []
    openers = _openers(unit, edits, find_openers(unit, versions, called), heads.opened)
    return apply_edits(unit.file, [*edits, *made, *openers], join_pieces)


def _lines(file: SourceFile, offset: int, text: str) -> Edit:
    """Return the edit that adds a text of whole lines at `offset`, where a line starts or the file ends."""
    before = "" if not offset or file.text[:offset].endswith("\n") or offset == 3 else "\n"
    return Edit(Span(file, offset, offset), (before + text).replace("\n", line_end(file.text)))


def _top(file: SourceFile) -> int:
    """Return where the first line of code or of the preprocessor starts."""
    mark = 3 if file.text.startswith("\xef\xbb\xbf") else 0
    first = next((t.start + mark for t in tokens(file.text[mark:]) if t.kind not in GAPS), mark)
    line = max(mark, file.text.rfind("\n", 0, first) + 1)
    return line if not file.text[line:first].strip() else mark


def _insert_additions(writer: InPlaceWriter, new: InsertedText, versions: Sequence[Versioned]) -> list[Addition]:
    try:
        return list(inserted_additions(writer, new, versions))
    except RefusedError as error:
        raise InsertionError(new.function, *error.findings) from error


def find_openers(unit: Unit, versions: Sequence[Versioned], called: Sequence[WithCalls]) -> tuple[Opener, ...]:
    """Return what may be needed to name private members in the text of a unit with its port."""
    new: list[Stmt] = [stmt for v in versions for stmt in (*v.ported, *v.before)]
    new += [one.text.body for one in called]
    ported = (part for stmt in new for part in walk(stmt) if isinstance(part, Member))
    found = (part.opener for part in ported if part.opener is not None)
    return tuple(dict.fromkeys((*openers_in(unit), *found)))


def _openers(unit: Unit, edits: Sequence[Edit], openers: Sequence[Opener], opened: Sequence[Opener]) -> list[Edit]:
    """Return what makes private members known that the additions name, those left out that an included file opens."""
    places: dict[int, list[str]] = {}
    for place, lines in opener_insertions(unit.file, edits, openers, guarded=True, opened=opened):
        places.setdefault(place, []).extend(lines)
    end = line_end(unit.file.text)
    return [Edit(Span(unit.file, p, p), wrap_in_ifdef(lines).replace("\n", end)) for p, lines in places.items()]


def _function_start(unit: Unit, offset: int) -> int:
    """Return where the top-level item around `offset` starts."""
    return max((item.span.start for item in unit.items if item.span.start <= offset), default=0)
