"""compute-sanitizer's four tools on ported programs.

memcheck    accesses outside allocations, errors of the API      racecheck   shared memory without a barrier between
initcheck   device memory that is read and was never written     synccheck   barriers that not all threads reach
"""

from __future__ import annotations

import re
import time

from building import EXACT, Builder
from running import run

__all__ = ["sanitize_program"]

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
_LIMIT_S = 120.0
_SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard")
_FOUND = 86
# nothing is sent to the device: no kernel runs in this program
_IDLE = "terminated before first instrumented API call"


def sanitize_program(row: dict, builder: Builder) -> dict:
    """Return what each tool finds in the program's port."""
    started = time.perf_counter()
    name = "port" if "port" in row["builds"] else "candidate"
    program, said = builder.build(row, name, EXACT)
    answer = {"name": row["name"], "kind": row["kind"]}
    if not program:
        return {**answer, "word": "does not build", "where": said[:300]}
    tools: dict[str, dict] = {}
    for tool in TOOLS:
        command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", str(_FOUND), "--print-limit", "5"]
        ran = run([*command, program, *row["run"]], {"WS_SKIP": ",".join(map(str, row.get("skip", ())))}, _LIMIT_S)
        text = ran.out.decode(errors="replace") + ran.err
        lines = [line for line in text.splitlines() if line.startswith("=========")]
        counts = [int(a or b) for a, b in _SUMMARY.findall("\n".join(lines))]
        word = (
            "late"
            if ran.code is None
            else "clean"
            if _IDLE in text
            else "no answer"
            if not counts
            else "found"
            if counts[-1]
            else "clean"
        )
        tools[tool] = {"word": word, "count": counts[-1] if counts else -1}
        if word != "clean":
            tools[tool]["said"] = "\n".join(lines[:24] or [text[-500:]])
    word = next((w for w in ("found", "no answer", "late") if any(t["word"] == w for t in tools.values())), "clean")
    where = "; ".join(
        f"{tool}: {told.get('said', '')[:400]}" for tool, told in tools.items() if told["word"] != "clean"
    )
    return {**answer, "word": word, "where": where, "tools": tools, "seconds": round(time.perf_counter() - started, 2)}
