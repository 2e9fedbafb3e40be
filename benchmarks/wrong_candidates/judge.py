"""What a program leaves behind, found without the referee: it is built with g++ and a CUDA of the judge's own.

    built     host text by gcc or g++ -O1, its heap recorded (shim/host.h); device text as C++, each `<<<…>>>` a call
    run       three times: threads ascending, descending, shuffled; memory that nobody wrote holds NaN, large, small
              numbers; streams run at once, late, or those that wait for nobody first (shim/device.cpp)
    compared  output, exit code, files, variables, blocks of the heap, arrays in frames, all in full (dumps.py)

What differs between runs of the original is left out: their automatic variables and their addresses differ, too. So is
memory that the correct port leaves as it pleases: where nobody reads an array again, a port need not bring it back. The
port's pool of device memory is off, as in the referee: memory that was given back is gone.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from benchmarks.wrong_candidates.dumps import Left, compare, read_dump
from benchmarks.wrong_candidates.frames import with_frames
from benchmarks.wrong_candidates.ports import Port
from benchmarks.wrong_candidates.programs import Program
from msgspec import Struct

__all__ = ["Judge", "Judgment", "device_text"]

_SHIM = Path(__file__).parent / "shim"
_LAUNCH = re.compile(r"([\w:]+(?:<[^<>;]*>)?)\s*<<<(.*?)>>>\s*\(\s*(\))?", re.S)
_HOST = (".c", ".cpp", ".cc")
_FLAGS = ("-O1", "-w", "-ffp-contract=off", "-fno-strict-aliasing", "-DWS_POOL=0")
_DEVICE = ("-std=gnu++17", *_FLAGS)
_RUNS = 3
_ELSEWHERE = "-Wl,-Ttext-segment=0x2000000"
_LONGER, _LEAST = 20, 10.0
# signals, and the shim's own word
_STOPPED = (-11, -6, -8, -7, 86)


class Judgment(Struct, frozen=True):
    """What a candidate is: `unbuildable`, `crashes` (or is stopped by the shim), `hangs`, `differs`, `rounding` (digits
    that sums in another order may change), `same`; `where`: the first thing that differs; `shows`: whether output,
    files or exit code do."""

    fate: str
    where: str = ""
    shows: bool = False


class Judge:
    """Judges candidates for one program."""

    def __init__(self, program: Program, shim: Path, port: Port) -> None:
        self._program = program
        self._shim = shim
        self._port = port
        self._objects = shim / program.name
        self._objects.mkdir(exist_ok=True)
        self._limit = 120.0

    @staticmethod
    def build_shim(folder: Path) -> Path:
        """Compile the shim's own text once, and its header for device text; return where."""
        shutil.copy(_SHIM / "cuda_runtime.h", folder)
        command = ["g++", *_DEVICE, "-x", "c++-header", "cuda_runtime.h", "-o", "cuda_runtime.h.gch"]
        subprocess.run(command, cwd=folder, check=True)
        for part in ("record", "device"):
            command = ["g++", "-std=c++17", "-O2", "-w", "-c", str(_SHIM / f"{part}.cpp"), "-o", f"{part}.o"]
            subprocess.run(command, cwd=folder, check=True)
        return folder

    def judge(self, candidate: Port) -> Judgment:
        """Judge one candidate."""
        expected, dead = self.original, self.dead
        worst = Judgment("same")
        for number, left in enumerate(self._runs(candidate, self._limit)):
            if isinstance(left, str):
                return Judgment("unbuildable", left)
            found = self._told(number, expected, left, dead)
            worst = max(worst, found, key=_rank)
            if worst.shows and worst.fate != "rounding":
                break
        return worst

    @cached_property
    def original(self) -> tuple[Left, ...]:
        """What runs of the original leave; raises ValueError where it cannot be built or run."""
        began = time.monotonic()
        one = list(self._runs({}, self._limit))
        other = list(self._runs({}, self._limit, "-ftrivial-auto-var-init=pattern", _ELSEWHERE))
        found = tuple(left for left in [*one, *other] if isinstance(left, Left))
        if len(found) < 2 * _RUNS:
            problem = next((left for left in [*one, *other] if isinstance(left, str)), "it does not end")
            raise ValueError(f"{self._program.name}: {problem}")
        self._limit = _LONGER * (time.monotonic() - began) / 2 + _LEAST
        return found

    @cached_property
    def dead(self) -> frozenset[str]:
        """The records that the correct port leaves as it pleases; raises ValueError where it is not correct."""
        dead: set[str] = set()
        for number, left in enumerate(self._runs(self._port, self._limit)):
            while True:
                if isinstance(left, str):
                    raise ValueError(f"{self._program.name}: its port: {left}")
                found = self._told(number, self.original, left, frozenset(dead))
                if found.fate in ("same", "rounding"):
                    break
                if found.shows or found.where in dead:
                    raise ValueError(f"{self._program.name}: its port {found.fate}: {found.where}")
                dead.add(found.where)
        return frozenset(dead)

    def _told(self, number: int, expected: tuple[Left, ...], left: Left | None, dead: frozenset[str]) -> Judgment:
        """Judge one run."""
        if left is None:
            return Judgment("hangs", f"run {number}", True)
        if left.exit_code in _STOPPED and left.exit_code != expected[0].exit_code:
            return Judgment("crashes", f"run {number}: {left.said}", True)
        return Judgment(*compare(expected, left, dead))

    def _runs(self, candidate: Port, limit: float, *flags: str) -> Iterator[Left | str | None]:
        """Build and run a candidate, or the original; yield what each run leaves, or what the compiler says."""
        with tempfile.TemporaryDirectory(prefix="judge-") as name:
            problem = self._build(Path(name), candidate, flags)
            if problem:
                yield problem
                return
            for number in range(_RUNS):
                yield self._run(Path(name), number, limit)

    def _build(self, folder: Path, candidate: Port, flags: tuple[str, ...]) -> str:
        """Build in `folder`; return what the compiler says, nothing where it is content."""
        program = self._program
        own = {f: (program.folder / f).read_text(errors="replace") for f in program.files}
        files = {**own, **candidate}
        for name, text in files.items():
            changed = device_text(text) if name.endswith(".cu") else with_frames(text) if name.endswith(_HOST) else text
            (folder / name).write_text(changed)
        units = [name for name in files if name.endswith((*_HOST, ".cu"))]
        compiled = tuple(flag for flag in flags if not flag.startswith("-Wl"))
        for name in units:
            said = self._object(folder, name, compiled or ("-ftrivial-auto-var-init=zero",))
            if said:
                return said
        objects = [f"{name}.o" for name in units]
        shim = [str(self._shim / f"{part}.o") for part in ("record", "device")]
        linked = ["-no-pie", *set(flags).difference(compiled), "-o", "program", "-lm", "-lpthread", "-lgomp"]
        said = _said(["g++", *objects, *shim, *linked], folder)
        if not said:
            self._list_variables(folder, [o for o in objects if not o.endswith(".cu.o")])
        return said

    def _object(self, folder: Path, name: str, flags: tuple[str, ...]) -> str:
        """Compile one file, or take the object that was made of the same text."""
        command = self._compile(name, flags)
        headers = "".join(path.read_text() for path in sorted(folder.glob("*.h")))
        text = "\0".join([*command, headers, (folder / name).read_text()])
        kept = self._objects / f"{hashlib.sha256(text.encode()).hexdigest()}.o"
        if not kept.exists():
            said = _said(command, folder)
            if said:
                return said
            shutil.copy(folder / f"{name}.o", kept.with_suffix(f".{os.getpid()}.{threading.get_ident()}"))
            kept.with_suffix(f".{os.getpid()}.{threading.get_ident()}").rename(kept)
        shutil.copy(kept, folder / f"{name}.o")
        return ""

    def _compile(self, name: str, flags: tuple[str, ...]) -> list[str]:
        include = ["-I.", f"-I{self._shim}", f"-I{self._program.folder}", "-c"]
        user = [o for o in self._program.options if not o.startswith("-std=") or ("++" in o) != name.endswith(".c")]
        if name.endswith(".cu"):
            first = ["-include", f"{self._shim}/cuda_runtime.h"]
            return ["g++", *_DEVICE, *first, *include, *user, "-x", "c++", name, "-o", f"{name}.o"]
        compiler = "gcc" if name.endswith(".c") else "g++"
        host = ["-include", str(_SHIM / "host.h"), *flags, *(["-fopenmp"] if self._is_parallel else [])]
        return [compiler, *_FLAGS, *include, *user, *host, name, "-o", f"{name}.o"]

    @cached_property
    def _is_parallel(self) -> bool:
        """Whether the program calls the run time of OpenMP: then it is compiled for it, and run with one thread."""
        return any("omp.h" in (self._program.folder / f).read_text(errors="replace") for f in self._program.files)

    def _list_variables(self, folder: Path, objects: list[str]) -> None:
        """Write down where the variables of the program's own host text are, those of one name left out."""
        names = {row[0] for row in _variables(folder, objects)}
        whole = _variables(folder, ["program"])
        single = [row for row in whole if row[0] in names and sum(row[0] == other[0] for other in whole) == 1]
        (folder / "variables").write_text("".join(f"{re.sub(r'[.]', '_', n)} {at} {size}\n" for n, at, size in single))

    def _run(self, folder: Path, number: int, limit: float) -> Left | None:
        """Run what was built, in a folder of its own; None where it does not end."""
        work = folder / f"run_{number}"
        if self._program.data:
            shutil.copytree(self._program.data, work)
        else:
            work.mkdir()
        dump = folder / f"dump_{number}"
        own = {"RUN": str(number), "DUMP": str(dump), "GLOBALS": str(folder / "variables")}
        named = {f"JUDGE_{name}": value for name, value in own.items()}
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **named}
        before = {path.name: path.read_bytes() for path in work.iterdir()}
        command = ["sh", "-c", f"ulimit -f 400000; ulimit -v 16000000; exec ../program {self._program.args}"]
        try:
            ran = subprocess.run(
                command, cwd=work, env=environment, capture_output=True, timeout=limit, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            return None
        files = {path.name: path.read_bytes() for path in work.iterdir()}
        written = {name: data for name, data in files.items() if before.get(name) != data}
        memory = read_dump(dump.read_bytes()) if dump.exists() else {}
        said = ran.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return Left(ran.stdout, ran.returncode, written, memory, "".join(said)[:120])


def device_text(text: str) -> str:
    """Write launches as calls of the shim."""
    return _LAUNCH.sub(lambda m: f"judge::Launch({m[2]})({m[1]}{')' if m[3] else ', '}", text)


def _rank(judgment: Judgment) -> tuple[int, bool]:
    return ("same", "rounding", "differs", "hangs", "crashes").index(judgment.fate), judgment.shows


def _said(command: list[str], folder: Path) -> str:
    """Run a compiler; return its first error."""
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=300)
    lines = [line for line in ran.stderr.splitlines() if "error" in line or "undefined" in line]
    return "" if ran.returncode == 0 else (lines or ["?"])[0][:200]


def _variables(folder: Path, files: list[str]) -> list[tuple[str, str, int]]:
    """Return name, address and size of the variables in objects or programs."""
    listed = subprocess.run(["nm", "-S", *files], cwd=folder, capture_output=True, text=True).stdout.splitlines()
    rows = [line.split() for line in listed]
    return [(r[3], r[0], int(r[1], 16)) for r in rows if len(r) == 4 and r[2] in "dDbBC" and int(r[1], 16) >= 2]
