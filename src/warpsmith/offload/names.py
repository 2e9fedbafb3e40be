"""Names that cannot collide with anything of the user's.

Invariant: a fresh name differs from every identifier-like word in the text of every unit (comments and strings
included: too many words taken does no harm), from every name that headers gave a symbol in the tree, from every name
made before, and from every word that C, C++ or CUDA own.
"""

from __future__ import annotations

from collections.abc import Iterable

from warpsmith.base.c_text import words_anywhere
from warpsmith.tree.program import Program
from warpsmith.tree.text.lexical import name_from
from warpsmith.tree.walk import names

__all__ = ["Names", "is_keyword", "is_reserved", "on_device"]


_CXX = """
alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool break case catch
char char8_t char16_t char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern false float for
friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected
public register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch
template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
while xor xor_eq restrict inline typeof std main
"""
_CUDA = """
threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 assert printf malloc free memcpy memset clock clock64
float1 float2 float3 float4 double1 double2 double3 double4 int1 int2 int3 int4 uint1 uint2 uint4 long1 long2 char1
char2 char3 char4 short1 short2 short3 short4 half half2 rsqrt rsqrtf norm3d norm4d rnorm3d erfcx normcdf cospi
sinpi sincos sincospi exp10 min max umin umax llmin llmax ullmin ullmax atomicAdd atomicSub atomicExch atomicMin
atomicMax atomicInc atomicDec atomicCAS atomicAnd atomicOr atomicXor tex1D tex2D tex3D surf1Dread mul24 umul24
mulhi umulhi mul64hi umul64hi saturate signbit isnan isinf isfinite
"""
_KEYWORDS = frozenset(_CXX.split())
_OWNED = _KEYWORDS | frozenset(_CUDA.split())
_CUDA_PREFIXES = ("cuda", "cu_")


def on_device(name: str) -> str:
    """Return what the pointer to an array's copy on the device is called: `A_gpu`. `ws_gpu` is what a port calls the
    state of a function."""
    return "ws_array_gpu" if name == "ws" else f"{name}_gpu"


def is_keyword(name: str) -> bool:
    """Whether `name` may not even name a member in device code."""
    return name in _KEYWORDS


def is_reserved(name: str) -> bool:
    """Whether `name` may not name a variable of device code: a word of C++ or CUDA, or one for the implementation."""
    return name in _OWNED or name.startswith(("__", *_CUDA_PREFIXES))


class Names:
    """The supply of new names for one port. It only ever grows."""

    def __init__(self, program: Program) -> None:
        self._taken: set[str] = set()
        for unit in program.units:
            self._taken.update(words_anywhere(unit.file.text))
            self._taken.update(n.symbol.name for f in unit.functions for n in names(f))
            self._taken.update(word for text in unit.type_texts for word in (text.name, *text.needs))

    def scope(self) -> Names:
        """Return a supply that starts from the names taken so far: two functions may both have an `A_gpu`."""
        inner = Names.__new__(Names)
        inner._taken = set(self._taken)
        return inner

    def reserve(self, taken: Iterable[str]) -> None:
        """Take names that a scope has given and that must not be given again."""
        self._taken.update(taken)

    def is_taken(self, name: str) -> bool:
        """Whether somebody already uses `name`."""
        return name in self._taken or is_reserved(name)

    def fresh(self, wanted: str) -> str:
        """Return `wanted`, else `wanted2` (`k1_2` after a digit), and so on; the name is taken from then on.

        What begins as the names of the compiler or of CUDA do (`__x`, `cudaData`), where no number helps, gets another
        beginning.
        """
        wanted = name_from(wanted, _CUDA_PREFIXES)
        name, number = wanted, 1
        while self.is_taken(name):
            number += 1
            name = f"{wanted}{'_' if wanted[-1].isdigit() else ''}{number}"
        self._taken.add(name)
        return name
