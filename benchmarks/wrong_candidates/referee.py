"""The referee, asked about many candidates for one program.

That is what `warpsmith verify ORIGINAL -- CANDIDATE` does, with the original built and run once for all of them.
"""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

from benchmarks.wrong_candidates.ports import Port
from benchmarks.wrong_candidates.programs import Program

from warpsmith.emit.files import OutputFile
from warpsmith.flows.porting.device_code import host_uses
from warpsmith.run.referee.referee import judge_program
from warpsmith.run.referee.reference import ReferenceProgram
from warpsmith.run.verification import Sources, VerifyOptions

__all__ = ["Referee"]


class Referee:
    """The referee of candidates for `program`; builds below `folder`."""

    def __init__(self, program: Program, folder: Path, limit: float) -> None:
        self._program = program
        self._folder = folder
        self._own = {name: (program.folder / name).read_text("latin-1") for name in program.files}
        data = str(program.data) if program.data else None
        self._options = VerifyOptions(run_args=tuple(program.args.split()), run_dir=data, timeout_s=limit)
        self._reference = ReferenceProgram(self._sources({}), self._options, folder / "original")
        self._lock = threading.Lock()
        self._asked = 0

    def ask(self, candidate: Port) -> tuple[str, str]:
        """Return the referee's word, and what it says first."""
        sources = self._sources(candidate)
        misplaced = host_uses(sources)
        if misplaced:
            return "fail", f"{misplaced[0].rule} {misplaced[0].message}"
        with self._lock:
            self._asked += 1
            work = self._folder / str(self._asked)
            verification = judge_program(self._reference, sources, self._options, work)
            shutil.rmtree(work, ignore_errors=True)
        first = next(iter(verification.reasons), None)
        return verification.status, f"{first.rule} {first.message}"[:300] if first else ""

    def _sources(self, candidate: Port) -> Sources:
        files = tuple(OutputFile(name, text) for name, text in {**self._own, **candidate}.items())
        return Sources(files, self._program.options, str(self._program.folder))
