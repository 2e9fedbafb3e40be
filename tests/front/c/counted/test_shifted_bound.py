"""Loops that compare what lies ahead of their counter: counted as the user's condition would, or not at all."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.front.conftest import Load, function
from warpsmith.tree.nodes import For, While
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.walk import loops

SHIFTED = [
    ("int", "int", "i + 1 < n", 1, "i++"),
    ("int", "int", "n > 2 + i", 0, "i += 3"),
    ("int", "int", "i - 1 >= n", 9, "i--"),
    ("int", "int", "i + 1 <= n", -4, "i++"),
    ("short", "int", "i + 3 < n", 0, "i++"),
    ("size_t", "size_t", "i + 1 < n", 1, "i++"),
    ("size_t", "size_t", "i + 2 <= n", 0, "i++"),
    ("size_t", "size_t", "i + 1 <= n", 0, "i++"),
    ("unsigned", "unsigned", "3 + i < n", 2, "i++"),
    ("long", "long", "i + 4 < n", 0, "++i"),
    ("int", "size_t", "i + 1 < n", 0, "i++"),
]


SIZES = {
    "int": ("-2147483647 - 1", "-1", "0", "1", "2", "5", "11"),
    "size_t": ("0", "1", "2", "3", "11"),
    "unsigned": ("0", "2", "3", "4", "11"),
    "long": ("-9223372036854775807 - 1", "-3", "0", "4", "11"),
}


def test_a_comparison_ahead_of_the_counter_is_one_of_the_counter(load: Load, tmp_path: Path) -> None:
    lines = ["#include <stddef.h>", "int main(void) {", "int found;"]
    for number, (counter, size, condition, start, advance) in enumerate(SHIFTED):
        loop = f"for ({counter} i = {start}; {condition}; {advance})"
        loaded = load(f"#include <stddef.h>\nvoid f({size} n, int *a) {{ {loop} a[0] = i; }}\n")
        made = next(iter(loops(function(loaded).body)))[0]
        assert isinstance(made, For), (loop, made.reason)
        bound = f"i {made.relation} ({print_expr(made.bound)})"
        for value in SIZES[size]:
            same = f"for ({counter} i = {start}; {bound}; {advance})"
            count = f"n = ({size})({value}); int a = 0, b = 0; {loop} if (++a > 99) break; {same} if (++b > 99) break;"
            lines.append(f"{{ {size} {count} found = a != b; }} if (found) return {number + 1};")
    source = tmp_path / "count.c"
    source.write_text("\n".join([*lines, "return 0; }"]))
    subprocess.run(["gcc", "-w", "-O1", "-o", str(tmp_path / "count"), str(source)], check=True)
    assert subprocess.run([str(tmp_path / "count")], check=False).returncode == 0


@pytest.mark.parametrize(
    "head",
    [
        "size_t i = n; i + 1 < n; i++",  # may start where the sum wraps
        "unsigned i = 4294967290u; i + 10u < 32u; i++",  # has wrapped at the start
        "size_t i = 18446744073709551615u; i + 2 <= n; i++",
        "size_t i = 1; i + 1 < n; i += 2",  # may jump over the end of its type
        "size_t i = 1; i - 1 < n; i++",  # wraps at once for 0
        "size_t i = 0; i + w < n; i++",
        "int i = 0; i + i < n; i++",
        "size_t i = 0; i + 1 != n; i++",
    ],
)
def test_a_comparison_whose_sum_may_wrap_is_none_of_the_counter(load: Load, head: str) -> None:
    loaded = load(f"#include <stddef.h>\nvoid f(size_t n, size_t w, int *a) {{ for ({head}) a[i] = 1; }}\n")
    assert isinstance(next(iter(loops(function(loaded).body)))[0], While)


@pytest.mark.parametrize(
    ("head", "relation", "bound"),
    [
        ("int i = 0; i + 1 < k; i++", "<", "(long long)k - 1"),
        ("int i = 0; i - 1 <= k; i++", "<=", "(long long)k + 1"),
        ("int i = 9; k < i + j; i--", ">", "(long long)k - j"),
        ("size_t i = 0; i + 3 < n; i++", "<", "n >= 3 ? n - 3 : 0"),
        ("size_t i = 0; i + 3 <= n; i++", "<", "n >= 2 ? n - 2 : 0"),
        ("size_t i = 0; i + 1 <= n; i++", "<", "n"),
        ("size_t i = 18446744073709551613u; i + 2 < n; i++", "<", "n >= 2 ? n - 2 : 0"),
    ],
)
def test_the_bound_is_what_lies_as_far_behind(load: Load, head: str, relation: str, bound: str) -> None:
    loaded = load(f"#include <stddef.h>\nvoid f(size_t n, int k, int j, int *a) {{ for ({head}) a[i] = 1; }}\n")
    loop = next(iter(loops(function(loaded).body)))[0]
    assert isinstance(loop, For)
    assert (loop.relation, print_expr(loop.bound)) == (relation, bound)


@pytest.mark.parametrize(
    "head",
    [
        "size_t i = 0; i + 1 > n; i++",  # counts up to no bound
        "size_t i = 0; i + 0 < n; i--",
        "size_t i = n; i + 1 < n; i++",
        "size_t i = 18446744073709551614u; i + 2 < n; i++",
        "int i = 0; i + l < n; i++",
        "float i = 0; i + 1 < k; i++",
        "int i = 0; i * 2 < k; i++",
        "int i = 0; i + 1 < k + i; i++",
    ],
)
def test_where_the_sum_may_wrap_or_is_none_there_is_no_bound(load: Load, head: str) -> None:
    loaded = load(f"#include <stddef.h>\nvoid f(size_t n, int k, long l, int *a) {{ for ({head}) a[0] = 1; }}\n")
    assert isinstance(next(iter(loops(function(loaded).body)))[0], While)
