"""Programs of networks, transforms and sieves, right ones and wrong turns of them: ports do what they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.random_programs.partner_programs import SIZES, render_partners
from tests.random_programs.test_views import Views, run_both
from warpsmith.poly.dependences import index_maps


@pytest.mark.slow
@pytest.mark.parametrize("programs", [3, 120])
def test_ports_print_what_the_programs_print(programs: int, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    views = Views()
    for seed in range(programs):
        run_both(render_partners(seed), tmp_path / f"program{seed}", views, SIZES)
    with capsys.disabled():
        print(f"\n{views}")
    assert not views.wrong, "\n\n".join(views.wrong[:3])
    assert views.launched >= 0.7 * views.kernels


@pytest.mark.slow
def test_a_wrong_law_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    law = index_maps.MASKED
    alone = "(e1 != e2 and e1 - 2 y1 != e2 - 2 y2 and e2 != e1 + m1 - 2 y1 and e1 != e2 + m2 - 2 y2)"
    assert alone in law.fact
    wrong = index_maps.Law(law.names, law.fact.replace(alone, "e1 + 1 < e1"))
    monkeypatch.setattr(index_maps, "MASKED", wrong)
    views = Views()
    for seed in range(120):
        run_both(render_partners(seed), tmp_path / f"program{seed}", views, SIZES)
        if views.wrong:
            return
    raise AssertionError("no program tells that a map was taken for one that has a single value")
