"""The report on programs of IL as JSON."""

from __future__ import annotations

import json

from tests.front.il.listings import TRANSLATED
from tests.front.il.running import parse
from warpsmith.front.il.defects import find_defects
from warpsmith.machine.vliw.gpus import vliw_gpu
from warpsmith.report.vliw.json import vliw_json
from warpsmith.report.vliw.model import VliwReport, VliwRow
from warpsmith.targets.il.optimize import optimize_il
from warpsmith.targets.r600.analyze import analyze_il
from warpsmith.targets.r600.segments import IlSegment


def test_figures_and_findings_are_there() -> None:
    program = parse(TRANSLATED)
    row = VliwRow(
        "p.il", "about", find_defects(program), analyze_il(program, [vliw_gpu("hd3870")]), optimize_il(program)
    )
    found = json.loads(vliw_json(VliwReport((row, VliwRow("q.il", "", ())))))
    assert found["schema"] == "warpsmith-report/1" and found["command"] == "analyze" and len(found["diagnostics"]) == 2
    first, second = found["programs"]
    assert first["generations"]["r600"]["bundles"] == 22 and first["generations"]["r600"]["division"] == "one-sided"
    assert first["gpus"][0]["cycles"] == 5.5 and "generations" not in second
    segments = {"r600": (IlSegment(7, 9, 3, 2, 1),)}
    loop = VliwRow("r.il", "about", (), segments=segments)  # type: ignore[arg-type]
    (third,) = json.loads(vliw_json(VliwReport((loop,))))["programs"]
    assert third["segments"] == {"r600": [{"first": 7, "last": 9, "bundles": 3, "bound": 2, "fetches": 1}]}
    assert first["shorter"]["done"][0]["line"] == 36 and first["shorter"]["offered"][0]["bundles"] == 20
