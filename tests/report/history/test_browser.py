"""A history of a million clocks opens and zooms at once in headless Chromium."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.simt.mask.programs import EXAMPLES
from warpsmith.base.source import SourceFile
from warpsmith.flows.clocks.simulate import ClockOptions, simulate_clocks
from warpsmith.report.history.html import history_html

CHROMIUM = shutil.which("chromium")
MEASURE = """
{ const opened = performance.now(), took = [];
for (let n = 0; n < 12; n++) {
  const begun = performance.now();
  if (n < 6) zoom(.5, (first + last) / 2); else show(first + (last - first) / 8, last + (last - first) / 8);
  took.push(performance.now() - begun);
}
document.title = `opened ${Math.round(opened)} slowest ${Math.round(Math.max(...took))}`; }
"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_a_million_clocks_open_in_two_seconds_and_redraw_in_50_ms(tmp_path: Path) -> None:
    counts = ("u0=zeros:u32[32]", "t0=const:u32[32]=125000")
    file = SourceFile.read(str(EXAMPLES / "counted.mask"))
    history = simulate_clocks(file, ClockOptions("example", 32, arguments=counts)).history
    assert history.clocks >= 1_000_000
    before, end, after = history_html(history).rpartition("</script>")
    page = tmp_path / "history.html"
    page.write_text(before + MEASURE + end + after, "utf-8")
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()]
    told = []
    for _ in range(3):  # the best of three: others may use this computer
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        found = re.search(r"opened (\d+) slowest (\d+)", done.stdout)
        assert found is not None
        told.append((int(found[1]), int(found[2])))
    assert min(opened for opened, _ in told) <= 2000 and min(slowest for _, slowest in told) <= 50, told
