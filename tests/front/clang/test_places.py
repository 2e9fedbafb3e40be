"""Which file a place is in, and at which byte: also where a header is read twice and where macros are."""

from __future__ import annotations

from pathlib import Path

from tests.front.conftest import parsed
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import BEGINS_IN_MACRO, ENDS_IN_MACRO


def test_files_are_numbered_once_and_only_the_users_are_theirs(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "own.h").write_text("#ifdef OTHER\nstatic int other;\n#else\nstatic int one;\n#endif\n")
    (tmp_path / "empty.h").write_text("#include <stddef.h>\n")
    text = '#include "empty.h"\n#include "./sub/.//own.h"\n#define OTHER\n#include "sub/own.h"\nint last;\n'
    context = parsed(tmp_path, text).context
    assert context is not None
    dump = context.dump
    named = {Path(path).name: user for path, user in zip(dump.files, dump.user, strict=True) if path}
    assert named["case.c"] and named["own.h"] and named["empty.h"] and not named.get("stddef.h")
    assert dump.files[0].endswith("case.c") and not any("/./" in path or ".//" in path for path in dump.files)
    own = next(n for n, path in enumerate(dump.files) if path.endswith("own.h"))
    places = {d[1]: (d[5], d[6]) for d in dump.declared}
    assert places["other"] == (own, 24) and places["one"] == (own, 48) and places["last"] == (0, text.index("last"))
    assert {dump.files[file] for file, _, _ in dump.skipped} == {dump.files[own]}


def test_rows_of_a_macro_are_at_its_use(tmp_path: Path) -> None:
    text = "#define ADD(a, b) a + b\n#define TAIL + 1\nint f(int x) { int y = ADD(x, 2); return x TAIL; }\n"
    context = parsed(tmp_path, text).context
    assert context is not None
    table = context.table
    found = {
        (text[table.start[row] : table.range(row, context.text(0).uses)[1]], table.flags[row])
        for row, kind in enumerate(table.kind)
        if kind == kinds.BINARY
    }
    assert found == {("ADD(x, 2)", BEGINS_IN_MACRO | ENDS_IN_MACRO), ("x TAIL", 0)}
