from __future__ import annotations

import re

import pytest

from warpsmith.project.profile.instrument import instrument


def made(text: str) -> str:
    return instrument(text, "h.h", 0).text


def test_one_line_loop() -> None:
    text = made("for (i = 0; i < n; i++) a[i] = 0;")
    assert text.endswith("{WS_LOOP(0, 0); for (i = 0; i < n; i++){++ws_s0.n; a[i] = 0;}}")


def test_nested_loops_close_in_order() -> None:
    text = made("for (i) for (j) s++;").split("#line 1\n")[1]
    assert text == "{WS_OUTER(0); for (i){++ws_s0o.s.n; {WS_LOOP(1, 0); for (j){++ws_s1.n; s++;}}}}"


@pytest.mark.parametrize(
    ("header", "trips"),
    [
        ("i = 0; i < n; i++", "WS_UP((0), (n), (1))"),
        ("int i = a + 1; i <= n - 1; ++i", "WS_UP_TO((a + 1), (n - 1), (1))"),
        ("i = n - 1; i >= 0; i--", "WS_UP_TO((0), (n - 1), (1))"),
        ("size_t i = n; i > 0; i -= 2", "WS_UP((0), (n), (2))"),
        ("i = 0; n > i; i = i + s", "WS_UP((0), (n), (s))"),
        ("i = 0; i != n; i = 2 + i", "WS_NOT((0), (n), (2))"),
        ("const double *p = a; p < a + n; p++", "WS_UP((a), (a + n), (1))"),
        ("T$ i$1 = $a; i$1 < n$i; i$1++", "WS_UP(($a), (n$i), (1))"),
        ("i = 0; i < $i; i++", "WS_UP((0), ($i), (1))"),
    ],
)
def test_loops_that_threads_share_are_counted_by_arithmetic(header: str, trips: str) -> None:
    text = made(f"#pragma omp parallel for\nfor ({header}) x();")
    assert f"{{WS_LOOP(0, {trips.replace(' ', ' ')});\n#line 1\n#pragma omp parallel for\nfor ({header}) x();}}" in text


@pytest.mark.parametrize(
    "header",
    [
        "i = next(); i < n; i++",
        "i = 0; i < size(); i++",
        "i = 0; i < n; i *= 2",
        "i = 0; i < (n <<= k); i++",
        "auto &x : v",
    ],
)
def test_what_arithmetic_cannot_count_is_counted_by_its_threads(header: str) -> None:
    text = made(f"#pragma omp parallel for\nfor ({header}) x();")
    assert f"for ({header}){{ws_step(0); x();}}}}" in text and "WS_LOOP(0, 0);" in text
    given = instrument(f"#pragma omp parallel for collapse(2)\nfor ({header}) for (j = 0; j < m; j++) x();", "h.h", 0)
    assert not given.loops and "no plain expressions" in given.uncounted[0].reason


def test_collapsed_loops_are_counted_at_the_outer() -> None:
    given = instrument(
        "#pragma omp for collapse(2)\nfor (i = 0; i < n; i++)\nfor (j = 0; j < m; j++)\nfor (k) x();", "h.h", 0
    )
    assert [loop.line for loop in given.loops] == [2, 4] and "collapsed" in given.uncounted[0].reason
    assert "WS_TEAM(0" in given.text


def test_a_block_stands_behind_a_pragma_that_is_for_the_statement() -> None:
    assert "#pragma omp single\n{WS_LOOP(0, 0); for (i)" in made("#pragma omp single\nfor (i) s++;")
    assert "#pragma omp critical\n{WS_" in made("#pragma omp critical\nwhile (i) s++;")


def test_loops_of_device_regions_are_left_alone() -> None:
    given = instrument(
        "#pragma omp target teams distribute parallel for\nfor (i = 0; i < n; i++) for (j) x();", "h.h", 0
    )
    assert len(given.loops) == 1 and "device" in given.uncounted[0].reason


@pytest.mark.parametrize(
    "before", ["SHARED", "SHARED(static)", '_Pragma("omp for collapse(2)")', "SHARED\n#pragma omp simd"]
)
def test_what_a_macro_may_share_keeps_its_loops_together(before: str) -> None:
    given = instrument(f"{before}\nfor (i = 0; i < n; i++) for (j = 0; j < n; j++) {{ x(); while (k) y(); }}", "h.h", 0)
    assert len(given.loops) == 0 and "macro" in given.uncounted[0].reason
    assert f"{before}\nfor (i = 0; i < n; i++) for (j = 0; j < n; j++) {{ x(); while (k) y(); }}" in given.text


@pytest.mark.parametrize("before", ["if (m)", "else", "do", "x();", "x = (n);", "for (k)", "}", "a:", "case 3:"])
def test_what_the_language_has_before_a_loop_is_no_macro(before: str) -> None:
    assert "macro" not in " ".join(
        u.reason for u in instrument(f"{before} for (i = 0; i < n; i++) x();", "", 0).uncounted
    )


def test_every_line_keeps_its_number() -> None:
    text = "// a\n#pragma omp parallel for\nfor (i = 0; i < n; i++)\n  for (j) {\n    x();\n  }\nAFTER\n"
    number = 0
    seen: dict[int, str] = {}
    for line in made(text).splitlines():
        found = re.match(r"#line (\d+)", line)
        if found:
            number = int(found[1])
            continue
        seen.setdefault(number, "")
        seen[number] += line
        number += 1
    for number, line in enumerate(text.splitlines(), 1):
        kept = [word for word in line.split() if word not in ("{", "}")]
        assert all(word in seen[number] for word in kept), (number, line, seen)


def test_what_is_put_in_is_all_that_changes() -> None:
    text = "int f() {\r\n\tfor (;;) { break; } /* \xe9 */\r\n do x(); while (y);\r\n}\r\n"
    changed = made(text)
    for pattern in (
        r'#include "h.h"\n#line 1\n',
        r"\{WS_\w+\([^;]*\);( |\n#line \d+\n)",
        r"\{\+\+ws_s\d+(o\.s)?\.n; ?",
    ):
        changed = re.sub(pattern, "", changed)
    assert changed.replace("}", "").replace(" ", "") == text.replace("}", "").replace(" ", "")


def test_a_text_without_loops_is_not_touched() -> None:
    assert made("int x;\n") == "int x;\n"
