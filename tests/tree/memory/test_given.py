"""The names of functions that give memory which host and device share."""

from __future__ import annotations

from pathlib import Path

from tests.offload.analyzed import analyzed
from warpsmith.tree.memory.given import MANAGED, is_managed
from warpsmith.tree.nodes import Name, replace
from warpsmith.tree.walk import walk


def test_each_has_the_name_of_another_and_its_type(tmp_path: Path) -> None:
    head = "#include <stdlib.h>\nvoid *f(int n) { void *p;\n"
    text = f"{head}return posix_memalign(&p, 64, n) ? malloc(n) : calloc(n, 2); }}"
    names = [part for part in walk(analyzed(text, tmp_path).function().body) if isinstance(part, Name)]
    called = [name for name in names if name.symbol.name in MANAGED]
    assert [name.symbol.name for name in called] == ["posix_memalign", "malloc", "calloc"]
    for name in called:
        symbol = MANAGED[name.symbol.name]
        assert symbol.name == f"ws_managed_{name.symbol.name}" and symbol.storage == name.symbol.storage
        assert not is_managed(name) and is_managed(replace(name, symbol=symbol))
    assert not any(is_managed(part) for part in walk(analyzed(text, tmp_path).function()))
