"""Names for generated text: free of what is taken, and found for every name that a user may give."""

from __future__ import annotations

import pytest

from warpsmith.emit.words import fresh, is_reserved


@pytest.mark.parametrize(
    ("wanted", "taken", "given"),
    [("grid", (), "grid"), ("grid", ("grid", "grid_"), "grid__"), ("new", (), "new_"), ("new", ("new_",), "new__"),
     ("__x", (), "x"), ("__x", ("x",), "x_"), ("__new", (), "new_"), ("____", (), "name"), ("__3", (), "my_3")],
)  # fmt: skip
def test_a_fresh_name_is_free_and_not_reserved(wanted: str, taken: tuple[str, ...], given: str) -> None:
    assert fresh(wanted, taken) == given
    assert not is_reserved(given) and given not in taken
