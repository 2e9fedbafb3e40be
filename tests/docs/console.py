"""Runs what README and the manual show: each `console` block of a page, in order, in one folder of the page's own.

    ```console
    $ warpsmith port examples/lu.c -o gpu       run here, as the command line runs it
    examples/lu.c: 7 loops in 2 functions       must be printed, to the letter
    …                                           any number of lines
    $ sed -n '/^void/,/^}/p' gpu/lu.c           anything but a plain `warpsmith …` is run by bash
    ```

The folder holds a copy of `examples/` and of `benchmarks/polybench/`; `cd` holds for what follows. Seconds are shown
as 0.41 s, the folder as /home/me/project. What a page shows of its pictures (`pictures/NAME.svg`) must be what its
commands have written (`NAME.svg`).
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct, field

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

__all__ = ["ANY", "Example", "Page", "examples_in", "matches", "pictures_in", "shown_again"]

ANY = "…"
_BLOCK = re.compile(r"^```console\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_PICTURE = re.compile(r"\((?:[\w./-]*/)?pictures/(?P<name>[\w.-]+\.svg)\)")
_SECONDS = re.compile(r"\(\d+\.\d\d s\)")
_OURS = f'warpsmith() {{ "{sys.executable}" -m warpsmith "$@"; }}\npython() {{ "{sys.executable}" "$@"; }}\n'
_SHELL = set("|><;&*`$(")


class Example(Struct, frozen=True):
    """One command of a page (lines that end in a backslash go on), and the text that stands below it."""

    command: str
    shown: str
    start: int
    end: int


class Page(Struct):
    """Runs the commands of one page, one after the other. `read` returns what was printed since the last call: to
    standard output, and to standard error."""

    folder: Path
    read: Callable[[], tuple[str, str]]
    code: int = field(default=0)

    def run(self, command: str) -> str:
        """Return what the command prints, errors too."""
        command = command.replace("\\\n", " ")
        if command == "echo $?":
            return f"{self.code}\n"
        words = shlex.split(command)
        if words[0] == "cd" and len(words) == 2:
            os.chdir(words[1])
            return ""
        ours, rest = _piped(command)
        if words[0] != "warpsmith" or _SHELL & set(_masked(ours)):
            return self._plain(self._bash(command, ""))
        self.code = run_guarded(warpsmith, shlex.split(ours)[1:])
        out, err = self.read()
        return self._plain(err + self._bash(rest, out) if rest else out + err)

    def _bash(self, command: str, given: str) -> str:
        done = subprocess.run(
            ["bash", "-c", _OURS + command],
            env=os.environ | {"COLUMNS": "100"},
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.code = done.returncode
        return done.stdout

    def _plain(self, text: str) -> str:
        """Return what does not change from run to run."""
        text = _SECONDS.sub("(0.41 s)", text).replace(str(self.folder), "/home/me/project")
        return text + "\n" if text and not text.endswith("\n") else text


def _masked(command: str) -> str:
    """Return what of a command the shell looks into; the rest as dots, so that places are the same."""
    return re.sub(r"'[^']*'", lambda quoted: "." * len(quoted[0]), command)


def _piped(command: str) -> tuple[str, str]:
    """Return the first command of a pipe, and the others (nothing: it is no pipe)."""
    at = _masked(command).find("|")
    return (command, "") if at < 0 else (command[:at], command[at + 1 :].strip())


def examples_in(text: str) -> Iterator[Example]:
    """Yield the commands of a page, with where in its text their output stands."""
    for block in _BLOCK.finditer(text):
        at = block.start("text")
        lines = block["text"].splitlines(keepends=True)
        starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
        assert starts[:1] == [0], f"a console block does not begin with a command:\n{block['text']}"
        for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
            last = next(i for i in range(start, stop) if not lines[i].endswith("\\\n"))
            command = "".join(lines[start : last + 1])[2:].rstrip("\n")
            begin = at + sum(map(len, lines[: last + 1]))
            shown = "".join(lines[last + 1 : stop])
            yield Example(command, shown, begin, begin + len(shown))


def matches(shown: str, printed: str) -> bool:
    """Whether `printed` is what is shown; a line that is only dots stands for any lines."""
    parts = [re.escape(part) for part in re.split(rf"(?m)^{ANY}\n", shown)]
    return re.fullmatch("(?:.*\n)*".join(parts), printed) is not None


def shown_again(text: str, printed: list[str]) -> str:
    """Return the page with what was printed; what matches already stays as it is, with its dots."""
    for example, output in reversed(list(zip(examples_in(text), printed, strict=True))):
        if not matches(example.shown, output):
            text = text[: example.start] + output + text[example.end :]
    return text


def pictures_in(text: str) -> list[str]:
    """Return the names of the pictures that a page shows."""
    return [match["name"] for match in _PICTURE.finditer(text)]
