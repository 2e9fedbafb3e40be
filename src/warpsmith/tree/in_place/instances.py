"""The port of a template in its own text: every instance that is ported has a branch, all others run the user's loop.

    #ifdef WARPSMITH
        {
            bool ws_done = false;
            if constexpr (std::is_same<T, float>::value) {
                ws_done = ws_convert_1(n, to.data());        or, where that cannot be said elsewhere:
                if (ws_on() && guards) { …ported…; ws_done = true; }
            } else if constexpr (std::is_same<T, unsigned char>::value) {
                …
            }
            if (!ws_done) {
    #endif
        for (…) …                                the user's, byte for byte
    #ifdef WARPSMITH
            }
        }
    #endif

Invariant: a branch whose condition does not hold is discarded by the compiler and never given its types, so that what
it says of other types is no error; of one instance's conditions no other instance fulfils all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.tree.in_place.versioned import Versioned
from warpsmith.tree.in_place.writer import InPlaceWriter, deeper
from warpsmith.tree.in_place.written_twice import check_twice
from warpsmith.tree.nodes import Block
from warpsmith.tree.text.additions import Addition
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.walk import walk

__all__ = ["by_text", "instances"]


def by_text(versions: Iterable[Versioned]) -> list[list[Versioned]]:
    """Return versions of one text together, those of a function that alone has its text each for itself.

    Raises RefusedError where two instances would change overlapping parts of one text.
    """
    groups: list[list[Versioned]] = []
    for version in versions:
        mine = next((g for g in groups if version.instance and g[0].instance and _meet(g[0], version)), None)
        if mine is None:
            groups.append([version])
        elif _place(mine[0]) != _place(version):
            message = "instances of this template would be ported in different parts of it"
            raise RefusedError(Finding("POR008", "error", message, version.written[0].span))
        else:
            mine.append(version)
    return groups


def _place(version: Versioned) -> tuple[int, int]:
    return version.written[0].span.start, version.written[-1].span.end


def _meet(one: Versioned, other: Versioned) -> bool:
    (start, end), (low, high) = _place(one), _place(other)
    return one.function.span.file is other.function.span.file and start < high and low < end


def instances(writer: InPlaceWriter, versions: Sequence[Versioned]) -> list[Addition]:
    """Return the additions for the instances of one text."""
    first, flag = versions[0], f"{writer.words.flag}_done"
    run, unit = first.written, writer.indentation
    start, last = writer.before(run, first.function.body), writer.after(run)
    writer.check_whole(run, start)
    called = all(v.call is not None and not any(v.fallback) for v in versions)
    if called and writer.is_one(run, start) and _may_declare(first):
        return [writer.opens(start, run, _calls(writer, versions))]
    lines = ["{", f"{unit}bool {flag} = false;"]
    for version in versions:
        check_twice(version, kept=False)
        lead = f"{unit}if constexpr (" if version is first else f"{unit}}} else if constexpr ("
        lines.append(f"{lead}{' && '.join(version.instance)}) {{")
        lines += deeper(deeper(_of_instance(writer, version, flag), unit), unit)
    # what the fallback of one needs is right for all: it makes the two copies of data equal
    before, after = next((v.fallback for v in versions if any(v.fallback)), ((), ()))
    lines += [f"{unit}}}", f"{unit}if (!{flag}) {{", *writer.texts(before, unit * 2)]
    opening = Addition(start, tuple(lines), run[0].span.start, run[-1].span.end + 1, closes=False)
    ending = (*writer.texts(after, unit * 2), f"{unit}}}", "}")
    closing = Addition(last, ending, run[0].span.start - 1, run[-1].span.end, closes=True)
    return [opening, closing]


def _may_declare(version: Versioned) -> bool:
    """Whether a variable can be declared in front of what is written: it stands in braces, not as the body of an `if`
    or behind a label, and no jump passes it."""
    body, stmt = version.function.body, version.written[0]
    blocks = (part for part in walk(body) if isinstance(part, Block) and part.span.text.startswith("{"))
    inside = any(one is stmt for block in blocks for one in block.statements)
    return inside and "goto" not in identifiers(body.span.text)


def _calls(writer: InPlaceWriter, versions: Sequence[Versioned]) -> list[str]:
    """Return a line for the call of each instance, and the choice in front of the user's statement."""
    flag = f"{writer.flag(versions[0].function.symbol.name)}_done"
    lines = [f"bool {flag} = false;"]
    for version in versions:
        (call,) = _of_instance(writer, version, flag)
        lines += [f"if constexpr ({' && '.join(version.instance)})", call]
    return [*lines, f"if (!{flag})"]


def _of_instance(writer: InPlaceWriter, version: Versioned, flag: str) -> list[str]:
    """Return the lines of one instance, which set the flag where its port has run."""
    if version.call is not None:
        return [f"{flag} = {writer.patcher.printer.expr(version.call)};"]
    unit = writer.indentation
    lines = [*writer.texts(version.before), f"if ({writer.write_test(version)}) {{"]
    return [*lines, *writer.texts(version.ported, unit), f"{unit}{flag} = true;", "}"]
