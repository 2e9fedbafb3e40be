"""Text of machines, one behind the other."""

from __future__ import annotations

from tests.report.lowering.samples import GCN, REFUSED, sample
from warpsmith.report.lowering.text import lowering_text

LISTING = "k:\n    ; k<b>.cu:3: a < b;\n        v_cmp_lt_u32 vcc, v0, v1\n    ; k<b>.cu:4: }\n        s_endpgm\n"


def test_one_target_is_its_text() -> None:
    assert lowering_text(sample(GCN)) == LISTING


def test_of_several_each_has_its_name_and_what_is_refused_its_line() -> None:
    made = lowering_text(sample(REFUSED, GCN))
    assert made == f"; k: mask\n; k<b>.cu:3:5: no shared memory\n\n; k: gcn gfx900\n{LISTING}"
