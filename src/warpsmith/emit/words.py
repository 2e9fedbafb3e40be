"""The names that generated text uses, and those that it must keep away from.

Invariant: every support name starts with one prefix: `ws`, or `ws1` where some unit's text has a word that starts so.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from msgspec import Struct

from warpsmith.base.identity import Identity
from warpsmith.tree.program import Program
from warpsmith.tree.text.lexical import identifiers, name_from

__all__ = ["Support", "choose_support", "declare_captures", "fresh", "is_overloaded", "is_reserved"]

_CAPTURES = (
    "void ws_capture(const char *region, const char *name, const void *object, long long declared_bytes, int kind, "
    "int element_size, long long lower, long long upper, const void *device);",
    "void ws_capture_padding(const char *gaps);",
    "void ws_capture_block(void);",
    "void ws_capture_ahead(void);",
    "void ws_capture_rows(const char *region, const char *name, const long long *starts, int kind, int element_size, "
    "const char *gaps, const void *device, int only_ahead);",
)

_CXX = """alignas alignof and and_eq asm auto bitand bitor bool catch char16_t char32_t char8_t class compl concept
    const_cast consteval constexpr constinit co_await co_return co_yield decltype delete dynamic_cast explicit export
    false friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
    reinterpret_cast requires static_assert static_cast template this thread_local throw true try typeid typename using
    virtual wchar_t xor xor_eq"""
_CUDA = """threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 assert printf malloc free memcpy memset clock clock64
    abs labs llabs min max fmin fmax fminf fmaxf umin umax llmin llmax ullmin ullmax saturate norm norm3d norm4d rnorm
    rnorm3d rnorm4d normf rsqrt rsqrtf rcbrt rhypot sincos sincospi sinpi cospi exp10 erfcx erfinv erfcinv normcdf
    normcdfinv j0 j1 jn y0 y1 yn cyl_bessel_i0 cyl_bessel_i1 mul24 umul24 mulhi umulhi mul64hi umul64hi signbit isnan
    isinf isfinite int2float float2int"""
_MATH = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor
    fma fmod frexp gamma hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan
    nearbyint nextafter pow remainder remquo rint round scalbln scalbn significand sin sinh sqrt tan tanh tgamma trunc
    drem pow10 div ldiv rand random index"""
_VECTORS = [f"{t}{n}" for t in ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong",
                                "ulonglong", "float", "double") for n in (1, 2, 3, 4)]  # fmt: skip
_RESERVED = frozenset([*_CXX.split(), *_CUDA.split(), *_MATH.split(), *(f"{m}f" for m in _MATH.split()), *_VECTORS])

_OVERLOADED = frozenset((*_MATH.split(), "abs", "labs", "llabs", "fmin", "fmax"))


def declare_captures(*, cxx: bool) -> str:
    """Return the line that declares what records objects.

    Each function has a declaration of its own: nvcc takes a list of functions apart, and repeats `extern "C"` inside.
    """
    return " ".join(f'extern "C" {line}' if cxx else line for line in _CAPTURES)


class Support(Struct, frozen=True):
    """The support names; `prefix` is `ws`, `ws1`, …"""

    prefix: str

    @property
    def acquire(self) -> str:
        """Function that hands out device memory."""
        return f"{self.prefix}_device_acquire"

    @property
    def release(self) -> str:
        """Function that takes device memory back."""
        return f"{self.prefix}_device_release"

    @property
    def to_device(self) -> str:
        """Function that copies from the host."""
        return f"{self.prefix}_copy_to_device"

    @property
    def to_host(self) -> str:
        """Function that copies to the host."""
        return f"{self.prefix}_copy_to_host"

    @property
    def begin_to_device(self) -> str:
        """Function that begins a copy from the host, which goes on beside other work."""
        return f"{self.prefix}_begin_copy_to_device"

    @property
    def begin_to_host(self) -> str:
        """Function that begins a copy to the host, which goes on beside other work."""
        return f"{self.prefix}_begin_copy_to_host"

    def wait(self, *, by_host: bool) -> str:
        """Function behind which kernels, or host code as well, come after the copies of a buffer that have begun."""
        return f"{self.prefix}_{'host' if by_host else 'kernels'}_wait"

    @property
    def enter(self) -> str:
        """Function that gives the device address of a host range, entering it in the present table."""
        return f"{self.prefix}_data_enter"

    @property
    def exit(self) -> str:
        """Function that ends what `enter` began."""
        return f"{self.prefix}_data_exit"

    @property
    def enter_rows(self) -> str:
        """Function that does so for the blocks that rows lie in, and gives the device address of the first row."""
        return f"{self.prefix}_rows_enter"

    @property
    def exit_rows(self) -> str:
        """Function that ends what `enter_rows` began."""
        return f"{self.prefix}_rows_exit"

    @property
    def table(self) -> str:
        """Function that gives the table of where entered rows start on the device."""
        return f"{self.prefix}_rows_table"

    def suspension(self, *, ends: bool) -> str:
        """Function that begins or ends a suspension of all data regions."""
        return f"{self.prefix}_data_{'resume' if ends else 'suspend'}"

    @property
    def all_to_host(self) -> str:
        """Function that brings all to the host, where code runs that is for the host alone."""
        return f"{self.prefix}_data_to_host"

    def data_region(self, *, opens: bool) -> str:
        """Function that begins or ends a data region."""
        return f"{self.prefix}_data_{'begin' if opens else 'end'}"

    def update(self, *, to_device: bool) -> str:
        """Function that makes one copy of a host range valid, where it is present."""
        return f"{self.prefix}_update_{'device' if to_device else 'host'}"

    def update_all(self, *, to_device: bool) -> str:
        """Function that does so for everything that is present."""
        return f"{self.update(to_device=to_device)}_all"

    def update_block(self, *, to_device: bool) -> str:
        """Function that does so for the block of memory that holds an address."""
        return f"{self.update(to_device=to_device)}_block"

    @property
    def copy(self) -> str:
        """Macro: a new range starts with the host's bytes."""
        return f"{self.prefix.upper()}_COPY"

    @property
    def keep(self) -> str:
        """Macro: the range may stay on the device while a data region lasts."""
        return f"{self.prefix.upper()}_KEEP"

    @property
    def allocation(self) -> str:
        """Flag of `enter`: the range is a whole block of the heap."""
        return f"{self.prefix.upper()}_ALLOCATION"

    @property
    def change(self) -> str:
        """Flag of `enter`: kernels may write the range before its exit."""
        return f"{self.prefix.upper()}_CHANGE"

    @property
    def watched(self) -> str:
        """Flag of `enter`: the range may only be kept where its death is seen."""
        return f"{self.prefix.upper()}_WATCH"

    @property
    def watch(self) -> str:
        """Function that says whether the death of memory is seen, and has it reported from then on."""
        return f"{self.prefix}_unit_watch"

    @property
    def dies(self) -> str:
        """Function that is notified of a block of memory that dies, or moves."""
        return f"{self.prefix}_data_dies"

    @property
    def guard(self) -> str:
        """Class of C++: a data region that ends where its block is left."""
        return f"{self.prefix}_data_region"

    @property
    def lasts(self) -> str:
        """Function that registers an object on the stack that outlives the data region."""
        return f"{self.prefix}_data_outlives"

    @property
    def callers(self) -> str:
        """Function that registers where the stack of the callers begins, which outlives the data region."""
        return f"{self.prefix}_data_callers"

    @property
    def frame(self) -> str:
        """Macro for the frame of the function that it stands in."""
        return f"{self.prefix.upper()}_FRAME"

    @property
    def on(self) -> str:
        """Function that says whether the device is in use (ports in place only)."""
        return f"{self.prefix}_on"

    @property
    def apart(self) -> str:
        """Function that says whether two pieces of memory have no byte in common."""
        return f"{self.prefix}_apart"

    @property
    def here(self) -> str:
        """Macro for the place of a call."""
        return f"{self.prefix.upper()}_HERE"

    @property
    def check(self) -> str:
        """Macro that checks a CUDA call."""
        return f"{self.prefix.upper()}_CHECK"


def choose_support(program: Program) -> Support:
    """Return support names that no unit's text can collide with; launchers keep the names that they have."""
    return _known_support(Identity(program))


# kernels are tried before the port is written, and written again for the referee
@functools.lru_cache(maxsize=8)
def _known_support(of: Identity[Program]) -> Support:
    program = of.value
    words = {word.lower() for unit in program.units for word in identifiers(unit.file.text)}
    words |= {word.lower() for unit in program.units for text in unit.type_texts for word in (text.name, *text.needs)}
    number = 0
    while any(word.startswith(f"ws{number or ''}_") for word in words):
        number += 1
    return Support(f"ws{number or ''}")


def is_overloaded(name: str) -> bool:
    """Whether C++ has several functions where C's headers have one of this name, and chooses by the arguments."""
    return name in _OVERLOADED


def is_reserved(name: str) -> bool:
    """Whether device code may not declare `name`: a word of C++, or a name that CUDA or its headers already give."""
    return name in _RESERVED or name.startswith("__")


def fresh(wanted: str, taken: Iterable[str]) -> str:
    """Return `wanted` without a reserved beginning, where no ending helps, with underscores added until it is not in
    `taken`."""
    used = set(taken)
    wanted = name_from(wanted)
    while wanted in used or is_reserved(wanted):
        wanted += "_"
    return wanted
