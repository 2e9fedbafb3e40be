"""The accesses of a kernel in a report: text, JSON by the schema, page."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

from tests.analysis.patterns.samples import spaces
from warpsmith.report.accesses.json import space_json
from warpsmith.report.accesses.kernel import kernel_spaces
from warpsmith.report.accesses.text import space_lines
from warpsmith.report.json_parts import schema

_TILE = """__shared__ float tile[8][16];
for (int k = 0; k < n; k++) {
    tile[threadIdx.y][threadIdx.x] = x[k * n + threadIdx.x];
    __syncthreads();
    y[threadIdx.x] += tile[threadIdx.x / 2][k];
    __syncthreads();
}"""


def test_words(tmp_path: Path) -> None:
    (entry,) = kernel_spaces(spaces(_TILE, tmp_path), "one", (16, 8, 1), lambda text: text.replace("tid.", "t"))
    lines = "\n".join(space_lines(entry))
    assert (
        "indices ty, tx/2, tx%2, loop k of line 2 (outermost first), rank 4; kernel one, blocks of 16 x 8 x 1" in lines
    )
    assert "used again along k (0, 0, 0, 1): nothing keeps it: another reference to the array" in lines
    assert "used again along ty (1, 0, 0, 0): a shared tile, or L1" in lines
    assert "2 sectors a request, 2 would do" in lines
    assert "of the banks" in lines


def test_json(tmp_path: Path) -> None:
    (entry,) = kernel_spaces(spaces(_TILE, tmp_path), "one", (16, 8, 1), str)
    made = json.loads(json.dumps(space_json(entry)))
    whole = schema()
    jsonschema.validate(made, {"$ref": "#/$defs/access_space", "$defs": whole["$defs"]})
    assert made["mapping"] == ["y", "x", "x", "thread"]
    stored = next(r for r in made["references"] if r["text"].startswith("tile") and r["writes"])
    assert stored["reuse"] == [{"direction": [0, 0, 0, 1], "lands": "none"}]
