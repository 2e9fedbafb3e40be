"""Text that watches: what is put in, where, and what files of a run tell."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from warpsmith.project.profile.watch import (
    AssumptionWatch,
    Observation,
    WatchedPlace,
    read_seen,
    watch_header,
    watched_text,
)


def watched(text: str, kind: str, *places: str, condition: str = "") -> str:
    """Return a text whose first loop is watched, the accesses given as their text, with `side` behind a colon."""
    spots = []
    for place in places:
        shown, _, side = place.partition(":")
        at = text.index(shown)
        spots.append(WatchedPlace(at, at + len(shown), int(side or 0)))
    watch = AssumptionWatch(kind, "a.c", text.index("for ("), condition, tuple(spots))  # type: ignore[arg-type]
    made, done = watched_text(text, "h.h", [(7, watch)])
    assert done == {7}
    return made.removeprefix('#include "h.h"\n#line 1\n')


def test_values_of_a_table() -> None:
    text = watched("for (i = 0; i < n; i++) b[p[i]] = a[i];", "values", "p[i]")
    assert text == "{WS_WATCH(7); for (i = 0; i < n; i++){ws_next(7); b[(*WS_VALUE(7, &(p[i])))] = a[i];}}"


def test_accesses_inside_each_other_close_in_order() -> None:
    text = watched("for (;;) b[p[i]]++;", "accesses", "b[p[i]]:1", "p[i]")
    assert text == "{WS_WATCH(7); for (;;){ws_next(7); (*WS_ACCESS(7, 1, &(b[(*WS_ACCESS(7, 0, &(p[i])))])))++;}}"


def test_a_condition_is_tested_where_the_loop_is_entered() -> None:
    text = watched("if (x) for (;;) s++;", "condition", condition="n % 2 == 0")
    assert text == "if (x) {ws_hold(7, (n % 2 == 0) != 0); WS_WATCH(7); for (;;){ws_next(7); s++;}}"


def test_the_block_stands_around_pragmas_and_lines_stay() -> None:
    text = watched("x;\n#pragma omp parallel for\nfor (;;) s++;\n", "condition", condition="n > 0")
    assert "WS_WATCH(7);\n#line 2\n#pragma omp parallel for\nfor (;;)" in text
    collapsed = watched(
        "#pragma omp parallel for collapse(2)\nfor (;;) for (;;) s++;\n", "condition", condition="n > 0"
    )
    assert "ws_next" not in collapsed, "nothing may stand between collapsed loops"


@pytest.mark.parametrize(
    "text",
    [
        "for (;;) {\n#pragma omp atomic\n a[i]++; }",
        "for (;;) {\n#ifdef X\n a[i]++; }\n#else\n b++; }\n#endif\n",
        "while (0) a[i]++;",
    ],
)
def test_what_cannot_be_changed_is_not_watched(text: str) -> None:
    start = text.find("for") if "for" in text else 3
    assert watched_text(text, "h.h", [(0, AssumptionWatch("condition", "a.c", start, "1"))]) == (text, frozenset())


def test_what_several_processes_have_seen(tmp_path: Path) -> None:
    rows = [(2, 10, 0, -1, -1, 0, 0, 0), (1, 5, 3, 4, 9, 17, 1, 0)], [(1, 6, 1, 2, 3, 8, 1, 2), (0,) * 8]
    for name, found in zip("ab", rows, strict=True):
        head = struct.pack("<q", 0x7774) + bytes(56)
        (tmp_path / name).write_bytes(head + b"".join(struct.pack("<8q", *row) for row in found))
    (tmp_path / "c").write_bytes(bytes(64 + 128))
    (tmp_path / "d").write_bytes(b"short")
    first, second = read_seen(sorted(tmp_path.iterdir()), 2)
    assert first == Observation(3, 16, 1, 2, 3, 8, 1, 2), "the witness is that of the process that has one"
    assert second == Observation(1, 5, 3, 4, 9, 17, 1, 0)


def test_the_header_names_the_folder() -> None:
    assert '#define WS_WATCH_FOLDER "/a\\"b"\n#define WS_WATCHES 3\n' in watch_header('/a"b', 3)
