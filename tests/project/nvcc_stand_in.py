"""Stands in for nvcc in builds of patched projects: kernels become a library on the embedded emulation.

It takes what the generated rules give it: `nvcc [options] -shared -Xcompiler -fPIC -o OUT FILES.cu`. The emulation
knows the kernels of a program, not those of its libraries: OUT is a linker script that puts them into the program.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from warpsmith.run.emulated import build as emulated_build
from warpsmith.run.emulated.headers import FOREMOST
from warpsmith.run.native.cuda_text import rewrite_cuda
from warpsmith.run.native.tools import cxx_compiler

__all__ = ["install"]


def install(folder: Path) -> str:
    """Make `nvcc` in `folder`, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "nvcc"
    source = Path(emulated_build.__file__).parents[2]
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{source}" exec "{sys.executable}" "{__file__}" "$@"\n')
    script.chmod(0o755)
    return str(script)


def _main(arguments: list[str]) -> int:
    out = Path(arguments[arguments.index("-o") + 1]).absolute()
    sources = [Path(word) for word in arguments if word.endswith(".cu")]
    assert "-shared" in arguments
    compiler = cxx_compiler()
    include = str(emulated_build._home() / "include")
    foremost = [word for header in FOREMOST for word in ("-include", header)]
    checked = [
        *emulated_build._INSTRUMENTED,
        *foremost,
        *emulated_build._NO_ENTRY_EXIT[emulated_build._family(compiler)],
    ]
    made = out.with_name("stand_in")
    made.mkdir(exist_ok=True)
    objects = list(emulated_build._emulation(made))
    for number, source in enumerate(sources):
        placed = made / f"{number}_{source.name}"
        text = source.read_bytes().decode("latin-1")
        placed.write_bytes(rewrite_cuda(text).encode("latin-1"))
        # the run time of a port has no kernels: as in a real build no sanitizer hides the heap from it
        kind = [flag for flag in checked if "__global__" in text or not flag.startswith("-fsanitize")]
        objects.append(made / f"{number}.o")
        flags = [*emulated_build._COMMON, "-fPIC", "-std=gnu++17", *kind, "-I", include, "-I", str(source.parent)]
        subprocess.run([compiler, *flags, "-x", "c++", str(placed), "-o", str(objects[-1])], check=True)
    archive = made / "kernels.a"
    archive.unlink(missing_ok=True)
    subprocess.run(["ar", "rcs", str(archive), *map(str, objects)], check=True)
    out.write_text(f"GROUP({archive} -lstdc++ -lm -lpthread -ldl)\n")
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
