"""`tests/cases/*.c` and `*.cpp`: programs that carry their own expectation.

    RUN: port [options]                    how the case is run; the file itself is the input
    EXPECT: ID CATEGORY ported|host REASON one line for every loop, in order
    VERIFY: pass|fail|skipped              what the referee says (absent: nothing was run)

After a change, `WARPSMITH_UPDATE=1 pytest tests/test_cases.py` rewrites the EXPECT and VERIFY lines; look at the
difference before it is committed.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.sampling import one_in
from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

CASES = sorted(p for p in (Path(__file__).parent / "cases").iterdir() if p.suffix in (".c", ".cpp"))
HEADER = re.compile(r"/\*(.*?)\*/", re.DOTALL)


def _lines(text: str, key: str) -> list[str]:
    head = HEADER.match(text)
    assert head is not None, "a case starts with a comment"
    found = re.findall(rf"^ \* {key}: (.*)$", head[1], re.MULTILINE)
    return [line.strip() for line in found]


def _actual(document: dict[str, list[dict[str, object]]]) -> list[str]:
    lines = []
    for loop in document.get("loops", []):
        reasons = loop["reasons"]
        assert isinstance(reasons, list)
        why = " ".join(str(reasons[0]["text"]).split()) if reasons else "-"
        where = "ported" if loop["ported"] else "host"
        # a kernel's name may not stand in the file that is ported: the kernel would get another one
        why = re.sub(r"\bws_\w+_k\d+\w*", "a kernel", why)
        lines.append(f"{loop['id']} {loop['category']} {where}: {why}")
    return lines


@pytest.mark.parametrize("path", one_in(17, CASES), ids=lambda path: path.stem)
def test_case(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = path.read_text()
    (run,) = _lines(text, "RUN")
    command, *options = run.split()
    run_guarded(warpsmith, [command, str(path), "--json", *options])
    document = json.loads(capsys.readouterr().out)
    assert document["status"] != "error", document["diagnostics"]
    actual = _actual(document)
    verify = [str(document["verify"]["status"])] if "verify" in document else []
    if os.environ.get("WARPSMITH_UPDATE"):
        _update(path, text, actual, verify)
    text = path.read_text()
    assert actual == _lines(text, "EXPECT")
    assert verify == _lines(text, "VERIFY"), document["verify"]


def _update(path: Path, text: str, actual: list[str], verify: list[str]) -> None:
    head, rest = text.split("*/", 1)
    kept = [line for line in head.splitlines() if not re.match(r" \* (EXPECT|VERIFY): ", line) and line.strip()]
    kept += [f" * EXPECT: {line}" for line in actual] + [f" * VERIFY: {line}" for line in verify]
    path.write_text("\n".join(kept) + "\n */" + rest)
