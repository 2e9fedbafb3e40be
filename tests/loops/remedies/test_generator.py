"""Generators that may skip ahead: which steps may be combined, and which are another sequence."""

from __future__ import annotations

import pytest

from tests.loops.remedies.proposals import edited
from warpsmith.loops.remedies.generator import skipping_generators

HEAD = """unsigned long long state;
unsigned *address(void);
void other(void);
void f(int n, int m, unsigned s, unsigned long long w, int k, unsigned *restrict a)
{
"""
UP = "for (int i = 0; i < n; i++) "


def made(loop: str) -> list[str]:
    return [" ".join(text.split()) for _, text in edited(skipping_generators, f"{HEAD}    {loop}\n}}\n")]


def test_each_iteration_starts_from_its_own_state() -> None:
    (text,) = made(UP + "{ s = s * 1664525u + 1013904223u; a[i] = s; }")
    assert "static unsigned int skip_s(unsigned int state, unsigned long long steps)" in text
    assert "factor = 1664525u, term = 1013904223u, all_factor = 1, all_term = 0;" in text
    assert "{ unsigned int s_i = skip_s(s, (unsigned long long)i); s_i = s_i * 1664525u" in text
    assert text.endswith("a[i] = s_i; } s = skip_s(s, (unsigned long long)(0 < n ? n : 0)); }")


@pytest.mark.parametrize(
    ("loop", "said"),
    [
        ("for (int i = m; i <= n; i++) { s = s * 3u + 1u; a[i] = s; }", "(m <= n ? n - m + 1 : 0)"),
        (UP + "{ s = 5u + 3u * s; a[i] = s; s = 5u + 3u * s; }", "(0 < n ? n : 0) * 2)"),
        (UP + "{ s = (s * 5u + 1u) & 1023u; a[i] = s; }", "return (all_factor * state + all_term) % 1024u;"),
        (UP + "{ s = (s * 5u + 1u) % 1024u; a[i] = s; }", "return (all_factor * state + all_term) % 1024u;"),
        (UP + "{ w = (w * 16807ull) % 2147483647ull; a[i] = w; }", "(all_factor * factor) % 2147483647ull;"),
        ("for (int i = n; i > 0; i--) { s = s * 3u + 1u; a[i] = s; }", "skip_s(s, (unsigned long long)(n - i));"),
        ("for (int i = n - 1; i >= m; --i) { s = s * 3u + 1u; a[i] = s; }", "((n - 1) >= m ? (n - 1) - m + 1 : 0)"),
        (
            "for (int i = 0; i < n; i += 2) { s = s * 3u + 1u; a[i] = s; s = s * 3u + 1u; }",
            "(unsigned long long)i / 2 * 2);",
        ),
        # all bits: the modulus of the type itself
        (UP + "{ w = (w * 5ull + 1ull) & 0xffffffffffffffffull; a[i] = w; }", "return all_factor * state + all_term;"),
        (UP + "{ s = (s * 5u + 1u) & 0xffffffffu; a[i] = s; }", "return all_factor * state + all_term;"),
    ],
)
def test_steps_that_may_be_combined(loop: str, said: str) -> None:
    (text,) = made(loop)
    assert said in text, text


@pytest.mark.parametrize(
    "loop",
    [
        UP + "{ k = k * 5 + 1; a[i] = k; }",
        UP + "{ s = s * 5u + (unsigned)i; a[i] = s; }",
        UP + "{ s = s * s + 1u; a[i] = s; }",
        UP + "{ s = s * 5u + 1u; if (a[i]) s = s * 7u + 1u; }",
        UP + "{ if (a[i]) s = s * 5u + 1u; a[i] = s; }",
        UP + "{ s = s * 5u + 1u; a[i] = s; s = s * 7u + 1u; }",
        UP + "{ s = (s * 5u + 1u) & 1000u; a[i] = s; }",
        # the product of two remainders may wrap
        UP + "{ w = (w * 16807ull) % 18446744073709551557ull; a[i] = w; }",
        UP + "{ s = s * 5ull + 1ull; a[i] = s; }",
        UP + "{ s = s * 5u + 1u; if (s == 7u) break; a[i] = s; }",
        UP + "{ a[i] = s; s *= 5u; }",
        # where it starts is something else behind the loop
        "for (int i = k; i < n; i++) { k = i; s = s * 5u + 1u; a[i] = s + k; }",
        "for (int i = (int)a[0]; i < n; i++) { s = s * 5u + 1u; a[i] = s; }",
        "unsigned *p = &s; " + UP + "{ s = s * 5u + 1u; a[i] = s + p[0]; }",
        UP + "{ state = state * 5u + 1u; a[i] = state; other(); }",
    ],
)
def test_another_sequence_is_no_generator(loop: str) -> None:
    assert not made(loop)
