"""What the C library's functions do, as a table of data: pure mathematics, memory, text, input and output.

A name that the program defines itself is not the library's. No function of the table keeps a pointer that it was given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["LibraryFunction", "library_function"]


@dataclass(frozen=True, slots=True)
class LibraryFunction:
    """`reads`, `writes`: the pointer arguments (from 0) read or written through; `reads_rest`, `writes_rest`: all from
    this one on. `fills`: what it writes it certainly writes whole and does not read. `io`: the world sees it or it
    depends on the world (also hidden state: rand, time). `device`: CUDA has it under the same name. `returns`: fresh
    memory, its argument 0, a pointer that is not known, or a plain value."""

    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    reads_rest: int | None = None
    writes_rest: int | None = None
    fills: bool = False
    io: bool = False
    allocates: bool = False
    device: bool = False
    returns: Literal["value", "fresh", "argument", "pointer"] = "value"
    reason: str = ""

    def reads_argument(self, index: int) -> bool:
        """Whether it reads through argument `index`."""
        return index in self.reads or (self.reads_rest is not None and index >= self.reads_rest)

    def writes_argument(self, index: int) -> bool:
        """Whether it writes through argument `index`."""
        return index in self.writes or (self.writes_rest is not None and index >= self.writes_rest)


_MATH = LibraryFunction(device=True)
_PURE = LibraryFunction()

# With their f and l forms; the l forms work on long double, which is refused by its type.
_MATH_NAMES = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "ilogb",
    "ldexp",
    "lgamma",
    "llrint",
    "llround",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "lrint",
    "lround",
    "nearbyint",
    "nextafter",
    "pow",
    "remainder",
    "rint",
    "round",
    "scalbln",
    "scalbn",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
]
_INTEGER_NAMES = ["abs", "labs", "llabs"]
_CLASSIFY_NAMES = ["isnan", "isinf", "isfinite", "isnormal", "signbit", "isunordered", "isless", "isgreater"]
_BUILTIN_ONLY = [
    "__builtin_expect",
    "__builtin_huge_val",
    "__builtin_huge_valf",
    "__builtin_inf",
    "__builtin_inff",
    "__builtin_nan",
    "__builtin_nanf",
    "__builtin_isinf_sign",
    "__builtin_popcount",
    "__builtin_clz",
    "__builtin_ctz",
]
_CHARACTER_NAMES = [
    "isalnum",
    "isalpha",
    "isblank",
    "iscntrl",
    "isdigit",
    "isgraph",
    "islower",
    "isprint",
    "ispunct",
    "isspace",
    "isupper",
    "isxdigit",
    "tolower",
    "toupper",
]

_PRINT = LibraryFunction(reads_rest=0, io=True, reason="writes output")
_PRINT_FILE = LibraryFunction(reads_rest=0, writes=(0,), io=True, reason="writes output")
_SCAN = LibraryFunction(reads=(0,), writes_rest=1, io=True, reason="reads input")
_SCAN_FROM = LibraryFunction(reads=(0, 1), writes_rest=2, io=True, reason="reads input")
_FILE = LibraryFunction(reads_rest=0, writes=(0,), io=True, returns="pointer", reason="works on a file")
_WORLD = LibraryFunction(writes_rest=0, io=True, returns="pointer", reason="depends on the outside world")
_HIDDEN = LibraryFunction(reads_rest=0, writes_rest=0, io=True, reason="keeps hidden state")
_EXIT = LibraryFunction(reads_rest=0, io=True, reason="may end the program")
_ALLOCATE = LibraryFunction(allocates=True, returns="fresh", reason="allocates memory")
_MEASURE = LibraryFunction(reads_rest=0)
_FIND = LibraryFunction(reads_rest=0, returns="argument")

_TABLE: dict[str, LibraryFunction] = {
    **{f"{name}{suffix}": _MATH for name in _MATH_NAMES for suffix in ("", "f", "l")},
    **dict.fromkeys([*_INTEGER_NAMES, *_CLASSIFY_NAMES, *_BUILTIN_ONLY], _MATH),
    **dict.fromkeys([*_CHARACTER_NAMES, "imaxabs", "__isnan", "__isnanf", "__isinf", "__isinff", "__finite"], _PURE),
    **dict.fromkeys(["sincos", "sincosf"], LibraryFunction(writes=(1, 2), fills=True, device=True)),
    **dict.fromkeys(["frexp", "frexpf", "modf", "modff"], LibraryFunction(writes=(1,), fills=True, device=True)),
    **dict.fromkeys(["remquo", "remquof"], LibraryFunction(writes=(2,), fills=True, device=True)),
    **dict.fromkeys(["printf", "vprintf", "puts", "putchar", "perror"], _PRINT),
    **dict.fromkeys(["fprintf", "vfprintf", "putc", "fputc"], _PRINT_FILE),
    **dict.fromkeys(["fputs", "fwrite"], LibraryFunction(reads_rest=0, writes=(1, 3), io=True, reason="writes output")),
    **dict.fromkeys(["sprintf", "vsprintf", "snprintf", "vsnprintf"], LibraryFunction(reads_rest=1, writes=(0,))),
    **dict.fromkeys(["scanf", "__isoc99_scanf", "__isoc23_scanf"], _SCAN),
    **dict.fromkeys(["fscanf", "__isoc99_fscanf", "__isoc23_fscanf"], _SCAN_FROM),
    **dict.fromkeys(["sscanf", "__isoc99_sscanf", "__isoc23_sscanf"], LibraryFunction(reads=(0, 1), writes_rest=2)),
    "fread": LibraryFunction(reads=(3,), writes=(0, 3), io=True, reason="reads input"),
    **dict.fromkeys(
        ["fgets", "gets"], LibraryFunction(reads=(2,), writes=(0, 2), io=True, returns="argument", reason="reads input")
    ),
    **dict.fromkeys(
        [
            "getchar",
            "getc",
            "fgetc",
            "ungetc",
            "feof",
            "ferror",
            "clearerr",
            "fflush",
            "fclose",
            "rewind",
            "fseek",
            "ftell",
            "fopen",
            "freopen",
            "tmpfile",
            "remove",
            "rename",
            "setvbuf",
            "setbuf",
        ],
        _FILE,
    ),
    **dict.fromkeys(
        [
            "clock",
            "time",
            "gettimeofday",
            "clock_gettime",
            "omp_get_wtime",
            "omp_get_thread_num",
            "omp_get_num_threads",
            "omp_get_max_threads",
            "getrusage",
            "times",
            "getenv",
            "sleep",
            "usleep",
            "nanosleep",
            "localtime",
            "gmtime",
            "ctime",
            "difftime",
        ],
        _WORLD,
    ),
    **dict.fromkeys(
        [
            "rand",
            "srand",
            "random",
            "srandom",
            "rand_r",
            "drand48",
            "erand48",
            "lrand48",
            "mrand48",
            "srand48",
            "strtok",
        ],
        _HIDDEN,
    ),
    **dict.fromkeys(
        ["exit", "_exit", "_Exit", "abort", "quick_exit", "__assert_fail", "__builtin_unreachable", "__builtin_trap"],
        _EXIT,
    ),
    **dict.fromkeys(["malloc", "calloc", "aligned_alloc", "valloc", "memalign"], _ALLOCATE),
    **dict.fromkeys(
        ["strdup", "strndup"], LibraryFunction(reads=(0,), allocates=True, returns="fresh", reason="allocates memory")
    ),
    "realloc": LibraryFunction(reads=(0,), writes=(0,), allocates=True, returns="fresh", reason="allocates memory"),
    "posix_memalign": LibraryFunction(writes=(0,), fills=True, allocates=True, reason="allocates memory"),
    "free": LibraryFunction(writes=(0,), allocates=True, reason="frees memory"),
    **dict.fromkeys(
        ["memcpy", "memmove", "strncpy", "strcpy", "__builtin_memcpy", "__builtin_memmove"],
        LibraryFunction(reads=(1,), writes=(0,), returns="argument"),
    ),
    **dict.fromkeys(["memset", "__builtin_memset"], LibraryFunction(writes=(0,), returns="argument")),
    **dict.fromkeys(["strcat", "strncat"], LibraryFunction(reads=(0, 1), writes=(0,), returns="argument")),
    **dict.fromkeys(
        ["strlen", "strcmp", "strncmp", "strcasecmp", "memcmp", "atoi", "atol", "atoll", "atof", "strspn", "strcspn"],
        _MEASURE,
    ),
    **dict.fromkeys(["strchr", "strrchr", "strstr", "memchr", "strpbrk"], _FIND),
    **dict.fromkeys(
        ["strtol", "strtoul", "strtoll", "strtoull", "strtod", "strtof"], LibraryFunction(reads=(0,), writes=(1,))
    ),
}


def library_function(name: str) -> LibraryFunction | None:
    """Return what the library function `name` does, or None if it is not in the table.

    >>> library_function("sqrtf").device, library_function("printf").io
    (True, True)
    """
    known = _TABLE.get(name)
    if known is None and name.startswith("__builtin_"):
        known = _TABLE.get(name.removeprefix("__builtin_"))
    return known
