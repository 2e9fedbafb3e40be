"""The wording of statements about a kernel, in terms of the language that it is written in.

of the IR                 CUDA            OpenCL                 PTX
tid.x  ctaid.x            threadIdx.x     get_local_id(0)        %tid.x
tile.2                    tile            tile                   tile.2     (a second `tile` of the file)
%xor                      a value         a value                %xor
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.analysis.resources.diagrams import Diagram
from warpsmith.analysis.rules.finding import EvidenceTable, KernelFinding, Why
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.report.analysis.model import AccessEntry, AnalyzedKernel, BranchEntry
from warpsmith.ssa.ops import OPS

__all__ = ["Wording"]

_REGISTER: Final = re.compile(r"(?<![\w.])%?(?P<name>tid|ctaid|ntid|nctaid)\.(?P<axis>[xyz])\b")
_CUDA: Final = {"tid": "threadIdx", "ctaid": "blockIdx", "ntid": "blockDim", "nctaid": "gridDim"}
_OPENCL: Final = {"tid": "local_id", "ctaid": "group_id", "ntid": "local_size", "nctaid": "num_groups"}
_VALUE: Final = re.compile(r"%(?P<name>[A-Za-z_][\w.]*)")
_NUMBERED: Final = re.compile(r"(?P<name>.+)\.\d+$")


class Wording(Struct, frozen=True):
    """The words for one kernel; `symbols`: variables whose name in the IR is not the user's."""

    language: Literal["cuda", "opencl", "ptx"]
    symbols: Mapping[str, str]

    @classmethod
    def of(cls, language: Literal["cuda", "opencl", "ptx"], facts: KernelFacts) -> Wording:
        """Return the words for a kernel."""
        named = (*facts.function.symbols, *facts.module.symbols)
        numbered = {symbol.name: match["name"] for symbol in named if (match := _NUMBERED.match(symbol.name))}
        return cls(language, {} if language == "ptx" else numbered)

    def text(self, said: str) -> str:
        """Return a text in the user's words."""
        said = _REGISTER.sub(self._register, said)
        if self.language == "ptx":
            return said
        for name, own in self.symbols.items():
            said = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", own, said)
        return _VALUE.sub(_value, said)

    def texts(self, said: tuple[str, ...]) -> tuple[str, ...]:
        """Return several of them."""
        return tuple(map(self.text, said))

    def finding(self, one: KernelFinding) -> KernelFinding:
        """Return a finding in the user's words."""
        return replace(
            one,
            message=self.text(one.message),
            subject=self.text(one.subject),
            label=self.text(one.label),
            assumptions=self.texts(one.assumptions),
            why=tuple(Why(self.text(step.text), step.span) for step in one.why),
            related=tuple(replace(note, text=self.text(note.text)) for note in one.related),
            evidence=tuple(
                EvidenceTable(self.text(table.title), table.columns, tuple(map(self.texts, table.rows)))
                for table in one.evidence
            ),
            help=self.texts(one.help),
            cause=self.text(one.cause),
        )

    def kernel(self, one: AnalyzedKernel) -> AnalyzedKernel:
        """Return a kernel with its freedom of races in the user's words."""
        freedom = replace(one.freedom, why=self.text(one.freedom.why), assumptions=self.texts(one.freedom.assumptions))
        return replace(one, freedom=freedom)

    def access(self, one: AccessEntry) -> AccessEntry:
        """Return an access in the user's words."""
        return replace(
            one,
            variable=self.text(one.variable),
            index=self.text(one.index),
            assumptions=self.texts(one.assumptions),
            blocked=self.text(one.blocked),
        )

    def branch(self, one: BranchEntry) -> BranchEntry:
        """Return a branch in the user's words."""
        return replace(one, why=tuple((self.text(text), span) for text, span in one.why))

    def diagram(self, one: Diagram) -> Diagram:
        """Return a picture in the user's words."""
        return replace(one, nodes=tuple(replace(node, title=self.text(node.title)) for node in one.nodes))

    def _register(self, found: re.Match[str]) -> str:
        name, axis = found["name"], found["axis"]
        match self.language:
            case "cuda":
                return f"{_CUDA[name]}.{axis}"
            case "opencl":
                return f"get_{_OPENCL[name]}({'xyz'.index(axis)})"
            case _:
                return f"%{name}.{axis}"


def _value(found: re.Match[str]) -> str:
    """Return the name of the user's variable that a value is of; one that has none is `a value`."""
    name = found["name"].partition(".")[0]
    return "a value" if name == "value" or name in OPS else f"`{name}`"
