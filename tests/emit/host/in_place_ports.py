"""Ports in place of small programs, as the tests need them: the user's file with additions, and what compilers say."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from warpsmith.emit.host.in_place import InPlace
from warpsmith.flows.port import PortOptions, port
from warpsmith.offload.plan import Plan

__all__ = ["Made", "assembled", "make", "preprocessed", "write"]


class Made:
    """A port in place of one file."""

    def __init__(self, plan: Plan, files: InPlace, original: bytes) -> None:
        self.plan = plan
        self.files = files
        self.original = original

    @property
    def text(self) -> str:
        """The user's file with what was added."""
        return self.files.changed[0].text


def make(source: bytes, folder: Path, name: str = "a.c") -> Made:
    """Port all loops of `source` in place, without the referee; the file lies in `folder`."""
    path = folder / name
    path.write_bytes(source)
    result = port([str(path)], PortOptions(root=str(folder), verify=False))
    plan = result.plan
    assert plan is not None
    return Made(plan, result.in_place or InPlace((), {}, ()), source)


def write(made: Made, folder: Path) -> None:
    """Write the project with the port in it."""
    for file in made.files.files:
        (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
        (folder / file.path).write_bytes(file.data())


def preprocessed(text: bytes, folder: Path, *options: str) -> list[bytes]:
    """Return the words that the preprocessor leaves."""
    command = ["gcc", "-E", "-P", "-x", "c", "-I", str(folder), *options, "-"]
    done = subprocess.run(command, input=text, capture_output=True, check=True, cwd=folder)
    return done.stdout.split()


def assembled(text: bytes, folder: Path, *options: str) -> bytes:
    """Return the object code of a C text; the name of its file is the same for all."""
    out = folder / "out.o"
    command = ["gcc", "-O2", "-w", "-x", "c", "-c", *options, "-o", str(out), "-"]
    subprocess.run(command, input=text, check=True, cwd=folder, env={**os.environ, "LC_ALL": "C"})
    return out.read_bytes()
