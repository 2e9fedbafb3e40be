"""The emulation's headers, parsed once: what g++ made of them is kept and taken in place of their text.

    ws_headers.h        #include "ws_instrumented.h", "cuda_runtime.h", <mutex> …: what kernels of ours begin with
    ws_headers.h.gch    what g++ made of it; it takes it where the options fit, else it reads the text

A header of the system that has changed since is seen by its size and time; then the text is read as well.
Source: GCC manual, "Using Precompiled Headers".
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Final

from warpsmith.run.native.kept import kept_folder
from warpsmith.run.native.tools import RunLimits, run_limited

__all__ = ["FOREMOST", "header_words"]

FOREMOST: Final = ("ws_instrumented.h", "cuda_runtime.h")
"""What every unit of device code includes before its own first line."""
_LIBRARY: Final = (("algorithm", "map", "mutex", "vector"), ("mutex",))
"""Headers of the C++ library that the run time of a port includes, with the table of what is present and without."""
_NAME: Final = "ws_headers.h"
_INPUTS: Final = "inputs"
_ONE_AT_A_TIME = Lock()


def header_words(command: Sequence[str], home: Path, text: str, directory: Path, limits: RunLimits) -> tuple[str, ...]:
    """Return the options that include what is foremost in a unit with this `text`; `command` is the compiler with all
    its other options, `home` the folder of the headers, `directory` that of the build."""
    plain = tuple(word for name in FOREMOST for word in ("-include", name))
    library = next((names for names in _LIBRARY if all(_include(name) in text for name in names)), None)
    if library is None:
        return plain
    header = "".join(f'#include "{name}"\n' for name in FOREMOST) + "".join(map(_include, library))
    content = [shlex.join(command[1:]).encode(), header.encode()]
    content += (path.read_bytes() for path in sorted(home.rglob("*.h")))

    def make(folder: Path) -> None:
        (folder / _NAME).write_text(header)
        made = [*command, "-x", "c++-header", "-MD", "-MF", "found", _NAME, "-o", f"{_NAME}.gch"]
        ran = run_limited(made, folder, environment={"LC_ALL": "C"}, limits=limits)
        if ran.exit_code != 0:
            (folder / f"{_NAME}.gch").unlink(missing_ok=True)
        found = (folder / "found").read_text() if ran.exit_code == 0 else ""
        read = shlex.split(found.replace("\\\n", " ").partition(":")[2])
        (folder / _INPUTS).write_text("".join(f"{_stamp(path)} {path}\n" for path in read if Path(path).is_absolute()))

    with _ONE_AT_A_TIME:  # the units of a program are compiled side by side, in one folder
        folder = kept_folder("emulation-headers", command[0], content, directory, make)
    return ("-include", str(folder / _NAME)) if _holds(folder) else plain


def _include(name: str) -> str:
    return f"#include <{name}>\n"


@lru_cache(maxsize=16)
def _holds(folder: Path) -> bool:
    """Whether there is a precompiled header, and every header that it was made of is as it was."""
    if not (folder / f"{_NAME}.gch").is_file():
        return False
    pairs = (line.partition(" ") for line in (folder / _INPUTS).read_text().splitlines())
    return all(_stamp(path) == stamp for stamp, _, path in pairs)


def _stamp(path: str) -> str:
    try:
        state = Path(path).stat()
    except OSError:
        return "gone"
    return f"{state.st_size}/{state.st_mtime_ns}"
