"""Which slots of a bundle an operation may stand in, by generation.

    R600 R700 Evergreen   x y z w t: four that write their own component, and t, which writes any
    Cayman                x y z w: what only t could do takes three of them, or all four

Source: the table of operations of Mesa's optimizer of R600 code (its columns R600, R700, Evergreen, Cayman), and its
notes on Cayman. An operation that is not listed may stand anywhere.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

__all__ = ["GENERATIONS", "SLOTS", "Generation", "is_known", "slots_of", "width_of"]

Generation = Literal["r600", "r700", "evergreen", "cayman"]
GENERATIONS: Final[tuple[Generation, ...]] = get_args(Generation)
SLOTS: Final = "xyzwt"

_SHIFTS: Final = ("ASHR_INT", "LSHR_INT", "LSHL_INT")
_FUNCTIONS: Final = ("RECIP_IEEE", "RECIPSQRT_IEEE", "SQRT_IEEE", "EXP_IEEE", "LOG_IEEE")
_PRODUCTS: Final = ("MULLO_INT", "MULHI_INT", "MULLO_UINT", "MULHI_UINT")
_CONVERSIONS: Final = ("FLT_TO_UINT", "INT_TO_FLT", "UINT_TO_FLT")
_ANYWHERE: Final = (
    "ADD", "MUL_IEEE", "MULADD_IEEE", "MIN", "MAX", "FLOOR", "FRACT", "TRUNC", "CEIL", "RNDNE", "MOV",
    "SETE_DX10", "SETGT_DX10", "SETGE_DX10", "SETNE_DX10", "AND_INT", "OR_INT", "XOR_INT", "NOT_INT", "ADD_INT",
    "SUB_INT", "MAX_INT", "MIN_INT", "MAX_UINT", "MIN_UINT", "SETE_INT", "SETGT_INT", "SETGE_INT", "SETNE_INT",
    "SETGT_UINT", "SETGE_UINT", "CNDE_INT", "PRED_SETNE_INT",
)  # fmt: skip
_ONLY_T: Final[dict[Generation, tuple[str, ...]]] = {
    "r600": (*_FUNCTIONS, *_PRODUCTS, *_CONVERSIONS, "FLT_TO_INT", "RECIP_UINT", *_SHIFTS),
    "r700": (*_FUNCTIONS, *_PRODUCTS, *_CONVERSIONS, "FLT_TO_INT", "RECIP_UINT"),
    "evergreen": (*_FUNCTIONS, *_PRODUCTS, *_CONVERSIONS, "RECIP_UINT"),
    "cayman": (),
}


def is_known(name: str, generation: Generation) -> bool:
    """Whether a generation has an operation."""
    every = (*_ANYWHERE, *_FUNCTIONS, *_PRODUCTS, *_CONVERSIONS, *_SHIFTS, "FLT_TO_INT")
    return name in every or (name == "RECIP_UINT" and generation != "cayman")


def slots_of(name: str, generation: Generation) -> str:
    """Return the slots that an operation may stand in, x first.

    >>> slots_of("ASHR_INT", "r600"), slots_of("ASHR_INT", "r700"), slots_of("FLT_TO_INT", "evergreen")
    ('t', 'xyzwt', 'xyzw')
    """
    if generation == "cayman":
        return "xyzw"
    if name in _ONLY_T[generation]:
        return "t"
    return "xyzw" if name == "FLT_TO_INT" else SLOTS


def width_of(name: str, generation: Generation) -> int:
    """Return how many slots an operation takes.

    >>> width_of("MULLO_INT", "r700"), width_of("MULLO_INT", "cayman"), width_of("SQRT_IEEE", "cayman")
    (1, 4, 3)
    """
    if generation != "cayman":
        return 1
    return 4 if name in _PRODUCTS else 3 if name in _FUNCTIONS else 1
