"""Each program's original and port, built, run and compared.

    original    twice: what differs between the two counts for nothing
    port        twice, without contraction: prints the same; two runs that differ are a race
    fast        the port as nvcc builds it by default: prints the same but for rounding
    candidate   the port with captures: leaves the same behind after every region

The word on a program is that on the worst of them.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from building import EXACT, FAST, Builder
from logs import compare_logs
from running import Ran, run
from words import compare_files, compare_texts

__all__ = ["ORDER", "check_program"]

ORDER = (
    "same", "tolerance", "original fails", "unsteady", "differs", "hangs", "CUDA error", "crashes", "does not build",
)  # fmt: skip
_LIMIT_S, _DEVICE_LIMIT_S = 12.0, 60.0


def check_program(row: dict, builder: Builder, environments: list[dict[str, str]]) -> dict:
    """Return what is to be said of a program: its `word`, `where`, and a word for each of its builds."""
    started = time.perf_counter()
    words: dict[str, tuple[str, str]] = {}
    errors: dict[str, float] = {}
    seen = 0
    if "original" in row["builds"]:
        words |= _check_printed(row, builder, environments)
    if "candidate" in row["builds"] and words.get("port", ("same", ""))[0] != "original fails":
        words["captures"], errors["captures"], seen = _check_captured(row, builder, environments)
    worst = max(words, key=lambda name: ORDER.index(words[name][0]))
    return {
        "name": row["name"], "kind": row["kind"], "kernels": row["kernels"], "reordered": row["reordered"],
        "word": words[worst][0], "where": f"{worst}: {words[worst][1]}",
        "builds": {n: w for n, (w, _) in words.items()},
        "details": {n: d for n, (_, d) in words.items() if d}, "error": errors.get("captures", 0.0), "records": seen,
        "seconds": round(time.perf_counter() - started, 2),
    }  # fmt: skip


def _check_printed(row: dict, builder: Builder, environments: list[dict[str, str]]) -> dict[str, tuple[str, str]]:
    program, said = builder.build(row, "original", EXACT)
    if not program:
        return {"port": ("original fails", said)}
    plain: dict[str, str] = {}
    ran = [run([program, *row["run"]], plain, _LIMIT_S) for _ in environments[:2]]
    if ran[0].code is None or ran[0].code < 0 or ran[0].code != ran[1].code:
        return {"port": ("original fails", f"exit code {ran[0].code}")}
    words = {"port": _judge_port(row, builder, ran, EXACT)}
    if words["port"][0] != "does not build" and row["kind"] in ("example", "polybench", "large", "project", "case"):
        words["fast"] = _judge_port(row, builder, ran, FAST)
    return words


def _judge_port(row: dict, builder: Builder, expected: list[Ran], options: dict) -> tuple[str, str]:
    program, said = builder.build(row, "port", options)
    if not program:
        return "does not build", said
    first: Ran | None = None
    fate = "same", ""
    for number in range(1 if row["timed"] else 2):
        ran = run([program, *row["run"]], {}, _DEVICE_LIMIT_S)
        code = expected[0].code
        trouble = ran.trouble(code if code is not None else 0)
        if trouble[0]:
            return trouble
        for told in (
            compare_texts(expected[0].out, expected[1].out, ran.out),
            compare_files(expected[0].files, expected[1].files, ran.files),
        ):
            fate = max(fate, told, key=lambda word: ORDER.index(word[0]))
        if number and first is not None and compare_texts(first.out, expected[1].out, ran.out)[0] != "same":
            steady = compare_texts(expected[0].out, expected[1].out, expected[0].out)[0] == "same"
            if steady and fate[0] in ("same", "tolerance") and not row["reordered"]:
                fate = "unsteady", "two runs of the port differ"
        first = ran
    return fate


def _check_captured(
    row: dict, builder: Builder, environments: list[dict[str, str]]
) -> tuple[tuple[str, str], float, int]:
    reference, said = builder.build(row, "reference", EXACT)
    if not reference:
        return ("original fails", said), 0.0, 0
    skip = {"WS_SKIP": ",".join(map(str, row.get("skip", ())))}
    base, again = (run([reference, *row["run"]], {**e, **skip}, _LIMIT_S) for e in environments[:2])
    if base.code is None or base.code < 0:
        return ("original fails", f"with captures: exit code {base.code} {base.err[-200:]}"), 0.0, 0
    candidate, said = builder.build(row, "candidate", EXACT)
    if not candidate:
        return ("does not build", said), 0.0, 0
    ran = run([candidate, *row["run"]], {**environments[2], **skip}, _DEVICE_LIMIT_S)
    trouble = ran.trouble(base.code)
    if trouble[0]:
        return trouble, 0.0, 0
    fate, where, error, seen = compare_logs(base.log, again.log, ran.log)
    return (fate, where), error, seen


def work_folder() -> Path:
    """Return a new folder for builds."""
    return Path(tempfile.mkdtemp(prefix="gpu-"))
