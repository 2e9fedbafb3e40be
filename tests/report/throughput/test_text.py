"""Threads a second as text."""

from __future__ import annotations

from tests.report.throughput.rows import REPORT
from warpsmith.report.throughput.text import throughput_text


def test_a_table_for_each_kernel_and_what_it_rests_on() -> None:
    first, second, third = throughput_text(REPORT).split("\n\n")
    lines = first.splitlines()
    assert lines[0] == "k.cu: copy: 4,096 blocks of 256 threads (nobody says so: --grid)"
    assert lines[1].split() == [
        "GPU",
        "arch",
        "registers",
        "SASS",
        "loads",
        "cycles/warp",
        "M",
        "threads/s",
        "what",
        "decides",
    ]
    assert lines[2].split() == ["H100", "SXM", "sm_90", "12", "20", "1", "22.19", "from", "376,875", "memory"]
    assert lines[3].split()[:7] == ["GeForce", "RTX", "4090", "sm_89?", "12*", "-", "-"]
    assert "  * registers are estimated: ptxas is not installed" in lines
    assert any(line.startswith("  from: at least") and "what is loaded in line 3" in line for line in lines)
    assert any("nobody has confirmed" in line for line in lines)
    assert "not known: it lacks the argument n (line 2): --arg NAME=NUMBER says it" in second and "from:" not in second
    assert "bytes that a thread spills, which are not in the times: H100 SXM 16" in second
    assert third == "none.cu: not read"
