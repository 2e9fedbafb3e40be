"""Masks as JSON."""

from __future__ import annotations

import json

from tests.report.masks.reports import report_of
from warpsmith.base.findings import Finding
from warpsmith.report.masks.json import masks_json


def test_a_document_has_all_masks() -> None:
    found = json.loads(masks_json(report_of(70, Finding("ASM002", "error", "x"))))
    assert len(found["masks"]) == 70
    assert found["masks"][0] == {"line": 9, "text": "v_op0", "mask": "0x5"}
    assert found["findings"][0]["line"] is None
    assert found["outputs"][0]["changed"] == 2
