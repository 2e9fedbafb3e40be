"""AMD's text through an assembler that is here, in a process of its own: llvm-mc, the newest of the system's."""

from __future__ import annotations

import re
import shutil
import subprocess

__all__ = ["assembler_of", "refused_by_assembler"]

_SINCE = {"gfx900": 17, "gfx90a": 17, "gfx942": 17, "gfx1030": 14, "gfx1100": 16}
"""The LLVM that knows each architecture, and takes what a newer one writes for it: to 15, `v_writelane_b32` on gfx900
reads one scalar register at most, m0 among them."""


def assembler_of(architecture: str) -> str | None:
    """Return an llvm-mc that knows an architecture; None where there is none."""
    names = [*(f"llvm-mc-{version}" for version in range(30, 13, -1)), "llvm-mc"]
    found = (shutil.which(name) for name in names)
    return next((one for one in found if one is not None and _version(one) >= _SINCE[architecture]), None)


def refused_by_assembler(text: str, architecture: str) -> str:
    """Return what the assembler has against a text, "" where it takes it. Directives that describe the kernel to a
    loader change from version to version, and are left out."""
    assembler = assembler_of(architecture)
    assert assembler is not None
    code = "\n".join(line for line in text.split(".section", 1)[0].splitlines() if ".amdhsa_code_object" not in line)
    command = [assembler, "--triple=amdgcn-amd-amdhsa", f"--mcpu={architecture}", "-filetype=obj", "-o", "/dev/null"]
    done = subprocess.run(command, input=code, text=True, capture_output=True, check=False)
    return done.stderr if done.returncode else ""


def _version(command: str) -> int:
    said = subprocess.run([command, "--version"], text=True, capture_output=True, check=False).stdout
    found = re.search(r"LLVM version (\d+)", said)
    return int(found[1]) if found is not None else 0
