"""Names for generated text: free of what is taken, and found for every name that a user may give."""

from __future__ import annotations

import pytest

from warpsmith.emit.words import declare_captures, fresh, is_reserved


@pytest.mark.parametrize(
    ("wanted", "taken", "given"),
    [("grid", (), "grid"), ("grid", ("grid", "grid_"), "grid__"), ("new", (), "new_"), ("new", ("new_",), "new__"),
     ("__x", (), "x"), ("__x", ("x",), "x_"), ("__new", (), "new_"), ("____", (), "name"), ("__3", (), "my_3")],
)  # fmt: skip
def test_a_fresh_name_is_free_and_not_reserved(wanted: str, taken: tuple[str, ...], given: str) -> None:
    assert fresh(wanted, taken) == given
    assert not is_reserved(given) and given not in taken


def test_each_capture_has_a_declaration_of_its_own() -> None:
    declared = [line for line in declare_captures(cxx=True).split(";") if line]
    assert len(declared) == 5 and all(line.strip().startswith('extern "C" void ws_capture') for line in declared)
    assert declare_captures(cxx=False) == declare_captures(cxx=True).replace('extern "C" ', "")
