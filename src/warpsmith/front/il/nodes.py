"""A program of AMD IL as data. The whole grammar on one screen:

    program      ::= ("il_ps_2_0" | "il_cs_2_0") declaration* instruction* "endmain" "end"
    declaration  ::= "dcl_output_generic" oN                                     what is written
                   | "dcl_input_position_interp(linear_noperspective)" v0.mask   where the thread is, from 0.5 on
                   | "dcl_resource_id(N)_type(1d|2d,unnorm)_fmtx(float)…"        what is fetched from
                   | "dcl_literal" lN, word, word, word, word                    four numbers
                   | "dcl_cb" cbN[size]                                          constants, four a register
                   | "dcl_num_thread_per_group" x [, y [, z]]                    of compute shaders
                   | "dcl_max_thread_per_group" n                                where launches say how many
                   | "dcl_raw_uav_id(N)"                                         memory that is addressed by bytes
                   | "dcl_lds_id(N)" bytes                                       memory of a group
                   | "dcl_indexed_temp_array" xN[size]                           registers of a thread by number
    instruction  ::= op [destination] [, source]*                                ops.py
    destination  ::= register ["." mask]          mask: of each component its letter (written), _ (left), 0 or 1
    source       ::= register ["." swizzle] ["_abs"] ["_neg(" letters ")"]       swizzle: x y z w, 0 (0.0), 1 (1.0)
    register     ::= rN | vN | oN | lN | cbN[i] | xN[i] | g[i] | mem0 | vAbsTid …    i: a number, rN.x, or their sum

Registers have four components of 32 bits and no type: ops say what bits mean. TRUE is 0xFFFFFFFF.

Source: the reference guide of AMD IL, version 2.4 (October 2011), has these names; programs of Stream SDK 1.x and the
listings of a tutorial on Brook+ and IL show how they are used. Where those leave a meaning open it is refused, or said.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from msgspec import Struct

from warpsmith.base.source import SourceFile, Span
from warpsmith.front.il.ops import IlOp

__all__ = [
    "BUILTIN_INPUTS", "WHOLE", "IlConstants", "IlDeclaration", "IlDestination", "IlIndex", "IlInput", "IlInstruction",
    "IlLds", "IlLiteral", "IlMostThreads", "IlOutput", "IlProgram", "IlRegister", "IlResource", "IlSource",
    "IlTemporaries", "IlThreads", "IlUav", "RegisterKind", "ShaderKind",
]  # fmt: skip

ShaderKind = Literal["ps", "cs"]
BuiltinInput = Literal[
    "vTidInGrp", "vTidInGrpFlat", "vAbsTid", "vAbsTidFlat", "vThreadGrpId", "vThreadGrpIdFlat",
]  # fmt: skip
BUILTIN_INPUTS: Final[tuple[BuiltinInput, ...]] = get_args(BuiltinInput)
"""Where a thread of a compute shader is: in its group, in all, which group; along three axes, or counted."""
RegisterKind = Literal["r", "v", "o", "l", "cb", "x", "g", "mem"] | BuiltinInput
WHOLE: Final = "xyzw"


class IlIndex(Struct, frozen=True):
    """`offset`, added to `component` ("x") of the register rN with the number `register` where there is one."""

    offset: int = 0
    register: int | None = None
    component: str = "x"


class IlRegister(Struct, frozen=True):
    """Four components. `number`: of cbN the buffer's; `index`: the element of cbN, xN and g."""

    kind: RegisterKind
    number: int = 0
    index: IlIndex | None = None


class IlSource(Struct, frozen=True):
    """What is read: for each of four places a letter of `swizzle`; then `absolute`, then the places in `negated`."""

    register: IlRegister
    swizzle: str = WHOLE
    absolute: bool = False
    negated: str = ""


class IlDestination(Struct, frozen=True):
    """What is written: at each of four places its letter (the result), `_` (nothing), `0` (0.0) or `1` (1.0)."""

    register: IlRegister
    mask: str = WHOLE

    @property
    def computed(self) -> str:
        """The components that get the result."""
        return "".join(letter for letter in self.mask if letter in WHOLE)


class IlInstruction(Struct, frozen=True):
    """One instruction. `zero`: what a division by zero gives; `places`: where its operands stand in the text."""

    op: IlOp
    destination: IlDestination | None = None
    sources: tuple[IlSource, ...] = ()
    saturate: bool = False
    zero: str = ""
    resource: int = 0
    sampler: int = 0
    span: Span | None = None
    places: tuple[Span, ...] = ()


# --- declarations


class IlOutput(Struct, frozen=True):
    """The register oN is written by the program."""

    number: int
    span: Span | None = None


class IlInput(Struct, frozen=True):
    """The register v0 is the place of the thread."""

    number: int
    mask: str
    span: Span | None = None


class IlResource(Struct, frozen=True):
    """A resource with `axes` axes that is read at coordinates that count elements (`unnorm`)."""

    number: int
    axes: int
    formats: tuple[str, str, str, str] = ("float", "float", "float", "float")
    span: Span | None = None


class IlLiteral(Struct, frozen=True):
    """The register lN is four words."""

    number: int
    words: tuple[int, int, int, int]
    span: Span | None = None


class IlConstants(Struct, frozen=True):
    """The constant buffer cbN has so many registers."""

    number: int
    size: int
    span: Span | None = None


class IlThreads(Struct, frozen=True):
    """Threads of a group of a compute shader."""

    sizes: tuple[int, int, int]
    span: Span | None = None


class IlMostThreads(Struct, frozen=True):
    """A group has so many threads at most; the launch says how many."""

    count: int
    span: Span | None = None


class IlUav(Struct, frozen=True):
    """An unordered access view of bytes: memory that threads read and write where they will."""

    number: int
    span: Span | None = None


class IlLds(Struct, frozen=True):
    """So many bytes of memory that a group shares."""

    number: int
    bytes: int
    span: Span | None = None


class IlTemporaries(Struct, frozen=True):
    """The array xN of so many registers, each thread's own."""

    number: int
    size: int
    span: Span | None = None


IlDeclaration = (
    IlOutput
    | IlInput
    | IlResource
    | IlLiteral
    | IlConstants
    | IlThreads
    | IlMostThreads
    | IlUav
    | IlLds
    | IlTemporaries
)


class IlProgram(Struct, frozen=True):
    """A whole program, in the order of its text."""

    kind: ShaderKind
    declarations: tuple[IlDeclaration, ...]
    instructions: tuple[IlInstruction, ...]
    file: SourceFile | None = None

    @property
    def outputs(self) -> dict[int, IlOutput]:
        """The outputs by number."""
        return {one.number: one for one in self.declarations if isinstance(one, IlOutput)}

    @property
    def resources(self) -> dict[int, IlResource]:
        """The resources by number."""
        return {one.number: one for one in self.declarations if isinstance(one, IlResource)}

    @property
    def literals(self) -> dict[int, IlLiteral]:
        """The literals by number."""
        return {one.number: one for one in self.declarations if isinstance(one, IlLiteral)}

    @property
    def constants(self) -> dict[int, IlConstants]:
        """The constant buffers by number."""
        return {one.number: one for one in self.declarations if isinstance(one, IlConstants)}

    @property
    def threads(self) -> tuple[int, int, int] | None:
        """Threads of a group, where it is said."""
        return next((one.sizes for one in self.declarations if isinstance(one, IlThreads)), None)

    @property
    def most_threads(self) -> int | None:
        """Threads that a group has at most, where it is said."""
        return next((one.count for one in self.declarations if isinstance(one, IlMostThreads)), None)

    @property
    def uavs(self) -> dict[int, IlUav]:
        """The unordered access views by number."""
        return {one.number: one for one in self.declarations if isinstance(one, IlUav)}

    @property
    def lds(self) -> dict[int, IlLds]:
        """The memories of a group by number."""
        return {one.number: one for one in self.declarations if isinstance(one, IlLds)}

    @property
    def temporaries(self) -> dict[int, IlTemporaries]:
        """The arrays of registers by number."""
        return {one.number: one for one in self.declarations if isinstance(one, IlTemporaries)}
