"""Files read one by one: what each says of itself, and its loops as clang sees them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.front.conftest import parsed
from warpsmith.front import separate
from warpsmith.front.c import unit as unit_module
from warpsmith.front.c.counted.writes import Knowledge, writes_of
from warpsmith.front.clang.process import Failed
from warpsmith.front.clang.wire import Request
from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions
from warpsmith.front.separate import has_uncounted, parse_separately
from warpsmith.tree.effects.file import house_effects
from warpsmith.tree.nodes import For
from warpsmith.tree.walk import loops

TEXT = """#include "own.h"
#define TWICE(n) for (int i = 0; i < n; i++) { } for (int j = 0; j < n; j++) { }
#define ONCE(x) do { x; } while (0)
void f(int n) { TWICE(n) ONCE(n++); do n--; while (1); while (n) n--; }
int main(void) { int k; keep(&k); for (int i = 0; i < total; i++) known(); return 0; }
"""


def test_loops_are_those_that_run(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("extern int total; void known(void); void keep(int *);\n")
    made = parsed(tmp_path, TEXT)
    assert [(loop.form, loop.function, loop.number, loop.span.text[:5]) for loop in made.loops()] == [
        ("for", "f", 0, "TWICE"), ("for", "f", 1, "TWICE"), ("do", "f", 0, "do n-"), ("while", "f", 0, "while"),
        ("for", "main", 0, "for ("),
    ]  # fmt: skip
    assert made.has_main() and not made.warnings()
    assert [Path(path).name for path in made.read_files()] == ["case.c", "own.h"]
    (key,) = made.find_escaped(house_effects())
    assert key.endswith(":k")


def test_loops_are_counted_once_the_other_files_are_known(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("extern int total; void known(void); void keep(int *);\n")
    made = parsed(tmp_path, TEXT)
    first = made.unit(Knowledge(whole=True))
    before = {f.symbol.name: has_uncounted(f) for f in first.functions}
    assert before == {"f": False, "main": True}
    known = Knowledge({"known": writes_of([])}, whole=True)
    second = made.unit_again(known)
    assert {f.symbol.name: has_uncounted(f) for f in second.functions} == {"f": False, "main": False}
    assert first.functions[0] is second.functions[0]
    ((loop, _),) = loops(second.functions[1].body)
    assert isinstance(loop, For)


def test_a_file_that_cannot_be_read_is_an_answer_of_its_own(tmp_path: Path) -> None:
    good = tmp_path / "good.c"
    good.write_text("void g(int n) { while (n) n--; }\n")
    bad = tmp_path / "bad.c"
    bad.write_text("void g( {\n")
    answers = parse_separately([Source(str(tmp_path / "gone.c")), Source(str(bad)), Source(str(good))], FrontOptions())
    gone, wrong, right = answers
    assert gone.context is None and gone.given is None and "does not exist" in gone.findings[0].message
    assert wrong.context is None and wrong.given is not None and wrong.findings[0].rule == "INP001"
    assert right.context is not None and not right.findings and not right.has_main()
    assert (gone.loops(), gone.has_main(), gone.warnings()) == ((), False, ())
    assert gone.find_escaped(house_effects()) == frozenset() == gone.library(house_effects())


def test_each_file_has_its_own_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.c", "b.c"):
        (tmp_path / name).write_text("int x;\n")
    asked: list[tuple[int, float]] = []

    def parse(requests: Sequence[Request], timeout_s: float) -> list[Failed]:
        asked.append((len(requests), timeout_s))
        return [Failed("time-out")] * len(requests)

    monkeypatch.setattr(separate, "parse_files", parse)
    found = parse_separately([Source(str(tmp_path / name)) for name in ("a.c", "b.c")], FrontOptions(timeout_s=7.0))
    assert asked == [(1, 7.0)] * 2 and [one.findings[0].rule for one in found] == ["INP009"] * 2


def test_prototypes_of_headers_cost_a_tree_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = unit_module._defined

    def note(*given: object) -> object:
        asked.append(1)
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(unit_module, "_defined", note)
    found = []
    for count in (1, 50):
        prototypes = "".join(f"void known{k}(int n);\n" for k in range(count))
        inside = "static inline int twice(int n) { for (int i = 0; i < 2; i++) n += n; return n; }\n#undef GONE\n"
        (tmp_path / "own.h").write_text(f"{prototypes}struct pair {{ int a, b; }};\n{inside}")
        made = parsed(
            tmp_path, '#include "own.h"\n#define GONE 1\nvoid own(int n);\nint f(int n) { return twice(n); }\n'
        )
        asked.clear()
        tree = made.unit(Knowledge(whole=True))
        names = [function.symbol.name for function in tree.functions]
        found.append((len(asked), names, [text.name for text in tree.type_texts], len(made.loops()), len(tree.items)))
    assert found[0] == found[1] and found[0][1] == ["twice", "f"] and found[0][3] == 1
