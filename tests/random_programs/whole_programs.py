"""Whole programs that nobody here wrote: ported, built and run apart from the referee, and compared by what they print.

    original      cc -O0 and cc -O2; where they differ, or do not end, the program has no meaning to compare with
    port          planned and written without the referee, built for the emulation, run under its three schedules

The judge shares the emulation with the referee, and nothing else: no captures, no masks, no tolerance.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from tests.random_programs.apart import Ended, apart
from warpsmith.base.errors import WarpsmithError
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.porting.sources import sources_of
from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions
from warpsmith.run.emulated.build import build_emulated, run_emulated
from warpsmith.run.native.tools import RunLimits

__all__ = ["BAD", "Outcome", "Word", "judge", "together"]

Word = Literal["same", "kept", "meaningless", "refused", "wrong", "unbuilt", "crashed", "late", "rejected", "unjudged"]
"""`kept`: no loop was ported; `meaningless`: there is nothing to compare with; `refused`: the input is, with a finding;
`rejected`: the referee's word against a port; `unjudged`: the referee finds nothing to compare the port with."""

BAD: tuple[Word, ...] = ("wrong", "unbuilt", "crashed", "late", "rejected", "refused", "unjudged")
_SCHEDULES = (0, 1, 2)
_ORIGINAL_S, _LIMITS = 5.0, RunLimits(seconds=60.0)


class Outcome(Struct, frozen=True):
    """What became of a program: `kernels` that its port launches, and what there is to say; `seconds` of wall time;
    `verdict`: the referee's status, where it was asked."""

    word: Word
    kernels: int = 0
    detail: str = ""
    seconds: float = 0.0
    verdict: str = ""


def together(programs: Sequence[str], folder: Path) -> Path:
    """Write programs of Csmith as one: what they define at file scope gets names of its own."""
    parts = [_with_own_names(text, number) for number, text in enumerate(programs)]
    calls = "".join(f"    code |= main_{number}();\n" for number in range(len(programs)))
    path = folder / "programs.c"
    path.write_text("\n".join([*parts, f"int main(void)\n{{\n    int code = 0;\n{calls}    return code;\n}}\n"]))
    return path


def _with_own_names(text: str, number: int) -> str:
    named = re.sub(r"\b(func_|g_|S|U)(\d+)\b", rf"\g<1>{number}_\2", text)
    return named.replace("int main (void)", f"static int main_{number}(void)")


def judge(
    paths: Sequence[Path], *, arguments: Sequence[str] = (), referee: bool = False, limit_s: float = 300.0
) -> Outcome:
    """Port the program in `paths` and compare what it prints; `referee`: it judges the port first. All of it takes no
    longer than `limit_s`."""
    started = time.monotonic()
    found = apart(lambda: _judged(paths, arguments, referee=referee), limit_s)
    if isinstance(found, Ended):
        found = Outcome("late" if found.late else "crashed", detail=found.detail)
    return replace(found, seconds=time.monotonic() - started)


def _judged(paths: Sequence[Path], arguments: Sequence[str], *, referee: bool) -> Outcome:
    wanted = _printed(paths, arguments)
    if wanted is None:
        return Outcome("meaningless")
    options = PortOptions(front=FrontOptions(arguments=tuple(arguments)), verify=referee)
    try:
        result = port([Source(str(path)) for path in paths], options)
    except WarpsmithError as error:
        return Outcome("refused", detail=str(error))
    except Exception:
        return Outcome("crashed", detail=traceback.format_exc())
    unread = [finding.message for finding in result.diagnostics if finding.severity == "error"]
    if unread:
        return Outcome("refused", detail="\n".join(unread))
    if result.ported is None or not result.files:
        return Outcome("kept")
    kernels = len(result.ported.plan.fragments)
    said = result.verification
    if said is not None and said.status in ("fail", "skipped"):
        word: Word = "rejected" if said.status == "fail" else "unjudged"
        return Outcome(word, kernels, "\n".join(reason.message for reason in said.reasons), verdict=said.status)
    return replace(_compared(result, wanted, kernels), verdict=said.status if said is not None else "")


def _compared(result: PortResult, wanted: tuple[int, bytes], kernels: int) -> Outcome:
    assert result.ported is not None
    sources = sources_of(result.ported.program, result.files, captured=False)
    with tempfile.TemporaryDirectory() as folder:
        built = build_emulated(sources, Path(folder))
        if built.finding is not None:
            return Outcome("unbuilt", kernels, built.finding.message)
        for schedule in _SCHEDULES:
            run = run_emulated(built, schedule, limits=_LIMITS)
            said = [race.text for race in (*run.seen.races, *run.seen.silent_races)]
            said += [failure.message for failure in run.seen.failures]
            if said or (run.ran.exit_code, run.ran.stdout) != wanted:
                said += [f"schedule {schedule}: exit {run.ran.exit_code} for {wanted[0]}", run.ran.stdout.decode()]
                return Outcome("wrong", kernels, "\n".join(said))
    return Outcome("same", kernels)


def _printed(paths: Sequence[Path], arguments: Sequence[str]) -> tuple[int, bytes] | None:
    """Return the exit code and the output of a program; None where it does not end, or not always in the same way."""
    compiler = shutil.which("gcc") or "cc"
    answers = set()
    with tempfile.TemporaryDirectory() as folder:
        for flag in ("-O0", "-O2"):
            program = str(Path(folder, "program"))
            command = [compiler, "-w", flag, "-ffp-contract=off", *arguments, *map(str, paths), "-o", program, "-lm"]
            subprocess.run(command, check=True, capture_output=True)
            try:
                ran = subprocess.run([program], capture_output=True, timeout=_ORIGINAL_S, check=False)
            except subprocess.TimeoutExpired:
                return None
            answers.add((ran.returncode, ran.stdout))
    return answers.pop() if len(answers) == 1 else None
