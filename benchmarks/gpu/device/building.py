"""Programs built with gcc and nvcc.

A file of kernels is compiled once for all builds that have it with the same options: originals and ports with captures
share their kernels with those without.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import threading
from pathlib import Path

__all__ = ["EXACT", "FAST", "NATIVE", "Builder"]

EXACT = {
    "host": ["-O1", "-g1", "-w", "-fno-strict-aliasing", "-ffp-contract=off", "-ftrivial-auto-var-init=pattern"],
    "device": ["-O3", "-lineinfo", "-fmad=false", "-Xcompiler=-ffp-contract=off,-ftrivial-auto-var-init=pattern"],
}
"""What is compared bit for bit: no contraction anywhere, and memory that nobody writes has one content."""
FAST = {"host": EXACT["host"], "device": ["-O3"]}
"""nvcc as it is called when nobody thinks about it: a product and a sum become one operation."""
NATIVE = {"host": ["-O3", "-march=native", "-w"], "device": ["-O3"]}
"""What is timed."""
_LIMIT_S = 200
# captures ask the port's run time where its data are, which it tells where copies are counted
_ASKED = "#define WS_TELL_COPY(to_device, bytes, file, line) ((void)0)\n"


class Builder:
    """Builds below `work` for the GPU architecture `arch`."""

    def __init__(self, source: Path, work: Path, arch: str) -> None:
        self._source = source
        self._work = work
        self._arch = arch
        self._kernels: dict[str, tuple[threading.Lock, list[str]]] = {}
        self._lock = threading.Lock()
        self.warnings: dict[str, str] = {}
        (work / "kernels").mkdir(parents=True, exist_ok=True)
        self._asked = work / "asked.h"
        self._asked.write_text(_ASKED)
        for name in ("plain", "harness"):
            runtime = ["gcc", "-c", "-w", "-O1", "-g1", "ws_runtime.c", "-o", str(work / f"{name}.o")]
            subprocess.run(runtime, cwd=source / "runtime" / name, check=True)

    def build(self, row: dict, name: str, options: dict, extra: tuple[str, ...] = ()) -> tuple[str, str]:
        """Build one of a program's builds; return the program's path, or nothing and what the compiler says.
        `extra`: objects that are linked as well."""
        made = row["builds"][name]
        where = self._source / "programs" / row["name"] / name
        target = self._work / "builds" / row["name"] / f"{name}-{_digest(str(options) + str(extra))}"
        target.mkdir(parents=True, exist_ok=True)
        openmp = ["-fopenmp"] if made["openmp"] else []
        captured = name in ("reference", "candidate")
        asked = ["-include", str(self._asked)] if captured else []
        objects, cuda = list(extra), False
        for number, (unit, arguments) in enumerate(sorted(made["units"].items())):
            if unit.endswith(".cu"):
                cuda = True
                found, said = self._kernel(where / unit, [*options["device"], *asked, *arguments])
            else:
                found = str(target / f"{number}.o")
                compiler = "gcc" if unit.endswith(".c") else "g++"
                command = [compiler, "-c", *options["host"], *openmp, *arguments, unit, "-o", found]
                said = _said(command, where)
            if said:
                return "", said
            objects.append(found)
        if captured:
            objects.append(str(self._work / f"{'harness' if row['harness'] else 'plain'}.o"))
        program = str(target / "program")
        linker = ["nvcc", f"-arch={self._arch}", *(f"-Xcompiler={o}" for o in openmp)] if cuda else ["g++", *openmp]
        said = _said([*linker, *objects, "-o", program, "-lm", "-lpthread"], where)
        return ("", said) if said else (program, "")

    def _kernel(self, path: Path, options: list[str]) -> tuple[str, str]:
        """Compile a file of kernels; return the object and what the compiler says where it fails."""
        key = _digest(path.read_text() + str(options))
        with self._lock:
            lock, done = self._kernels.setdefault(key, (threading.Lock(), []))
        with lock:
            if not done:
                target = str(self._work / "kernels" / f"{key}.o")
                command = ["nvcc", f"-arch={self._arch}", *options, "-c", str(path), "-o", target]
                ran = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S)
                said = (ran.stdout + ran.stderr).strip()
                if said and not ran.returncode:
                    self.warnings[str(path.relative_to(self._source))] = said[:2000]
                done += [target, said[:2000] or "nvcc failed" if ran.returncode else ""]
        return done[0], done[1]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _said(command: list[str], folder: Path) -> str:
    """Run a compiler; return what it says where it fails."""
    environment = {**os.environ, "LC_ALL": "C"}
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, timeout=_LIMIT_S)
    return (ran.stderr.strip() or f"{command[0]} failed")[:2000] if ran.returncode else ""
