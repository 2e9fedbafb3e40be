"""Whole programs that nobody here wrote: ported, built and run apart from the referee, and compared by what they print.

    original      cc -O0 and cc -O2; where they differ, or do not end, the program has no meaning to compare with
    port          planned and written without the referee, built for the emulation, run under its three schedules

The judge shares the emulation with the referee, and nothing else: no captures, no masks, no tolerance.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from warpsmith.base.errors import WarpsmithError
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.sources import sources_of
from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions
from warpsmith.run.emulated_build import build_emulated, run_emulated
from warpsmith.run.tools import Limits

__all__ = ["BAD", "Outcome", "Word", "judge", "together"]

Word = Literal["same", "kept", "meaningless", "refused", "wrong", "unbuilt", "crashed", "late", "rejected"]
"""`kept`: no loop was ported; `meaningless`: there is nothing to compare with; `refused`: the input is, with a finding;
`rejected`: the referee's word against a port."""

BAD: tuple[Word, ...] = ("wrong", "unbuilt", "crashed", "late", "rejected", "refused")
_SCHEDULES = (0, 1, 2)
_ORIGINAL_S, _LIMITS = 5.0, Limits(seconds=60.0)


@dataclass(frozen=True)
class Outcome:
    """What became of a program: `kernels` that its port launches, and what there is to say."""

    word: Word
    kernels: int = 0
    detail: str = ""


def together(programs: Sequence[str], folder: Path) -> list[Path]:
    """Write programs whose only function with external linkage is `int main(void)` as one program, a file each."""
    paths = []
    for number, text in enumerate(programs):
        paths.append(folder / f"p{number}.c")
        paths[-1].write_text(text.replace("int main (void)", f"int main{number}(void)"))
    calls = "".join(f"int main{n}(void);\n" for n in range(len(programs)))
    body = "".join(f"    code |= main{n}();\n" for n in range(len(programs)))
    paths.append(folder / "driver.c")
    paths[-1].write_text(f"{calls}int main(void)\n{{\n    int code = 0;\n{body}    return code;\n}}\n")
    return paths


def judge(
    paths: Sequence[Path], *, arguments: Sequence[str] = (), referee: bool = False, limit_s: int = 300
) -> Outcome:
    """Port the program in `paths` and compare what it prints; `referee`: it judges the port first."""
    wanted = _printed(paths, arguments)
    if wanted is None:
        return Outcome("meaningless")
    try:
        with _limited(limit_s):
            options = PortOptions(front=FrontOptions(arguments=tuple(arguments)), verify=referee)
            result = port([Source(str(path)) for path in paths], options)
    except TimeoutError as error:
        return Outcome("late", detail=str(error))
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
    if result.verification is not None and result.verification.status == "fail":
        return Outcome("rejected", kernels, "\n".join(reason.message for reason in result.verification.reasons))
    return _compared(result, wanted, kernels)


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


@contextlib.contextmanager
def _limited(seconds: int) -> Iterator[None]:
    def late(_: int, __: object) -> None:
        raise TimeoutError(f"not ported within {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


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
