"""The declaration of a device variable in the user's text."""

from __future__ import annotations

import pytest

from warpsmith.emit.files import OutputFile
from warpsmith.run.emulated.declared import find_declared
from warpsmith.run.verification import Sources

TEXT = """
#define TILE __shared__ int hidden[4]
int tile; // __shared__ int tile
__constant__ float table[3], more[SIZE(
    4)];
__global__ void k(int *a) {
    __shared__ int other[2];
    tile = 1;
    __shared__ alignas(16) double tile[64];
    TILE;
}
"""


@pytest.mark.parametrize(
    ("space", "name", "line"),
    [
        ("__shared__", "tile", 9),
        ("__shared__", "other", 7),
        ("__constant__", "more", 4),
        ("__constant__", "tile", None),
        ("__shared__", "hidden", None),
        ("__shared__", "a", None),
    ],
)
def test_a_variable_is_found_behind_its_word(space: str, name: str, line: int | None) -> None:
    files = (OutputFile("host.cpp", "int main() {}"), OutputFile("k.cu", TEXT))
    span = find_declared(Sources(files), space, name)
    assert (None if span is None else (span.file.path, span.text, span.line)) == (line and ("k.cu", name, line))
