"""Which argument an address starts from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.targets.mask.kernel_text import kernel_of
from warpsmith.targets.mask.addresses import MIXED, bases_of


@pytest.mark.parametrize(
    ("body", "base"),
    [
        ("a[i] = 1;", "a"),
        ("a[n * i - 3] = 1;", "a"),
        ("int *p = a; for (int k = 0; k < n; k++) { *p = k; p += 2; }", "a"),
        ("int *p = i & 1 ? a + 1 : a + n; *p = 1;", "a"),
        ("int *p = i & 1 ? a : (int *)b; *p = 1;", MIXED),
    ],
)
def test_an_address_has_a_base(tmp_path: Path, body: str, base: str) -> None:
    function = kernel_of(tmp_path, body)
    bases = bases_of(function)
    stores = [i.operands[0] for _, i in function.instructions() if i.op == "store"]
    assert {bases[one] for one in stores} == {base}  # type: ignore[index]
