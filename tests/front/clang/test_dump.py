"""The worker's tables of one file: rows in order, declarations shared, macros, values."""

from __future__ import annotations

from pathlib import Path

from tests.front.conftest import parsed
from warpsmith.front.clang import kinds
from warpsmith.front.clang.process import parse_files
from warpsmith.front.clang.wire import ELSEWHERE, Dump
from warpsmith.front.inputs import parser_arguments

TEXT = """#include "own.h"
#include <stddef.h>
#define N 4
#define TWICE(x) ((x) * 2)
extern int later;
int prototype(int a, int b);
int later = N;
struct s { int k; };
#ifdef NEVER
int left;
#endif
int f(int n)
{
    int t[TWICE(N)];
#include "inside.h"
    return later + prototype(n, 'a') + offsetof(struct s, k) + sizeof t;
}
"""


def dumped(folder: Path) -> Dump:
    (folder / "own.h").write_text("static int from_header;\n")
    (folder / "inside.h").write_text("t[0] = 1;\n")
    context = parsed(folder, TEXT).context
    assert context is not None
    return context.dump


def test_declarations_of_one_thing_share_a_row(tmp_path: Path) -> None:
    dump = dumped(tmp_path)
    names = [declared[1] for declared in dump.declared]
    assert names.count("later") == 1 and names.count("f") == 1
    by_name = {declared[1]: declared for declared in dump.declared}
    assert by_name["later"][3] > kinds.LINKAGE_INTERNAL and by_name["later"][7] == "later"
    assert by_name["from_header"][3] == kinds.LINKAGE_INTERNAL and by_name["from_header"][7] == ""
    assert not by_name["f"][9]


def test_tops_are_the_users_in_order_and_prototypes_have_no_rows_below(tmp_path: Path) -> None:
    dump = dumped(tmp_path)
    depth, kind, start, _, flags, _, aux = dump.columns()
    assert [depth[row] for row, _ in dump.tops] == [0] * len(dump.tops)
    assert [file for _, file in dump.tops][:2] != [0, 0] and dump.user[dump.tops[0][1]]
    tops = [row for row, _ in dump.tops]
    prototype = next(row for row in tops if kind[row] == kinds.FUNCTION_DECL)
    assert depth[prototype + 1] == 0
    own = next(row for row in tops if kind[row] == kinds.FUNCTION_DECL and row != prototype)
    assert kind[own + 1] == kinds.PARM_DECL and start[own] == TEXT.index("int f(")
    assert [row > own for row in range(len(kind)) if flags[row] & ELSEWHERE].count(True) > 0
    values = [dump.values[aux[row]] for row in range(own, len(kind)) if kind[row] == kinds.CHARACTER]
    assert values == [97]
    assert 32 in [dump.values[aux[row]] for row in range(own, len(kind)) if kind[row] == kinds.SIZEOF]


def test_macros_headers_and_what_is_left_out(tmp_path: Path) -> None:
    dump = dumped(tmp_path)
    assert [name for name, file, *_ in dump.macro_definitions if file == 0] == ["N", "TWICE"]
    assert [name for name, file, *_ in dump.macro_uses if file == 0][:2] == ["N", "TWICE"]
    included = [Path(path).name for path in dump.includes]
    assert included[0] == "own.h" and "stddef.h" in included and "inside.h" in included
    (left_out,) = [(start, end) for file, start, end in dump.skipped if file == 0]
    assert "int left;" in TEXT[slice(*left_out)]


def test_limits_and_errors_leave_no_half_table(tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text("int f(int n) { return n + 1; }\n")
    small, wrong, seen, absent = parse_files(
        [
            (str(path), parser_arguments("c", ()), None, 3, False),
            (str(path), parser_arguments("c", ()), b"int f(int n) { return m; }\n", 1000, False),
            (str(path), parser_arguments("c", ()), None, 1000, True),
            (str(tmp_path / "absent.c"), parser_arguments("c", ()), b"int g(void) { return 1; }", 1000, False),
        ],
        60,
    )
    assert isinstance(small, Dump) and small.exceeded
    assert isinstance(wrong, Dump) and not wrong.nodes and wrong.diagnostics[0][0] == kinds.SEVERITY_ERROR
    assert wrong.diagnostics[0][3:] == (1, 22)
    assert isinstance(seen, Dump) and not seen.nodes and not seen.exceeded
    assert isinstance(absent, Dump) and [declared[1] for declared in absent.declared] == ["g"]
