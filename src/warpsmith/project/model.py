"""The nouns of a project.

Project        = root, commands, links
CompileCommand = one translation unit as its build compiles it
LinkCommand    = one program or library, with what it is made of

A file may be compiled more than once (for two programs, with other flags): then it has several commands.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.base.findings import Finding

__all__ = ["CompileCommand", "LinkCommand", "Project"]


class CompileCommand(Struct, frozen=True):
    """One translation unit. `file`, `output` and the folders in `arguments` are absolute; `arguments` are all of the
    compiler's but for the input, the output, `-c`, and what is for the linker or names dependency files; an option and
    its value are one word (`-I/p/inc`). `language` is c, c++ or cuda (None: another one, or by suffix). `output` is
    the program itself where one call compiles and links."""

    file: str
    directory: str
    compiler: str
    arguments: tuple[str, ...]
    output: str | None = None
    language: str | None = None


class LinkCommand(Struct, frozen=True):
    """One link step: absolute paths of the result and of the objects, sources and archives that go in."""

    output: str
    inputs: tuple[str, ...]
    directory: str
    compiler: str
    arguments: tuple[str, ...] = ()


class Project(Struct, frozen=True):
    """Everything below `root` that its build compiles. `links` is empty where they are not known (a plain database);
    `findings` tell what of the build could not be used."""

    root: str
    commands: tuple[CompileCommand, ...]
    links: tuple[LinkCommand, ...] = ()
    findings: tuple[Finding, ...] = ()

    def target(self, output: str) -> Iterator[CompileCommand]:
        """Yield the compile commands of what goes into the program `output`, through archives as well."""
        made = {link.output: link for link in self.links}
        pending, seen = [output], set[str]()
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending += made[name].inputs if name in made else ()
        yield from (c for c in self.commands if (c.file if c.output is None else c.output) in seen)
