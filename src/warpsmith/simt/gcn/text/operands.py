"""Operands of GCN, read from their texts, and the modifiers behind the last one.

v_fma_f32 v0, -v1, |v2|, 1.0 clamp            registers, a sign, an absolute value, a number; one modifier
global_load_dword v1, v[2:3], off offset:16   two registers, a word; a modifier with a value
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.simt.assembly import AssemblyError, AssemblyWord
from warpsmith.simt.gcn.nodes import SPECIAL, GcnNumber, GcnOperand, GcnRegisters, GcnSymbol, GcnWord, RegisterKind

__all__ = ["MODIFIERS", "read_gcn_operand", "split_modifiers"]

_REGISTER: Final = re.compile(r"(v|s|a|acc|ttmp)(?:(\d+)|\[(\d+)(?::(\d+))?\])(?:\.l)?")
_KINDS: Final[dict[str, RegisterKind]] = {"v": "v", "s": "s", "a": "a", "acc": "a", "ttmp": "s"}
_COUNTS: Final = {"v": 256, "s": 106, "a": 256, "ttmp": 12}
_TRAP: Final = 110
_INTEGER: Final = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)")
_FRACTION: Final = re.compile(r"-?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\d*\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)")
_SYMBOL: Final = re.compile(r"([A-Za-z_.$][\w.$]*)(?:@([\w@]+))?(?:\+(\d+))?")
_AROUND: Final = re.compile(r"(neg|abs|sext)\((.*)\)|\|(.*)\|")
_LONGEST_SIGNED: Final = 64
"""Letters of a register with its signs: what is longer is none, and signs in signs have no end."""
_WORDS: Final = re.compile(
    r"off|src_(?:scc|vccz|execz|lds_direct|(?:shared|private)_(?:base|limit)(?:_lo|_hi)?)|scc|vccz|execz|idxen"
    r"|(?:hwreg|sendmsg)\(.*\)"
)
_VALUE: Final = r"(?:\[[^\]]*\]|[\w.\-]+)"
MODIFIERS: Final = (
    *("offset", "offset0", "offset1", "glc", "slc", "dlc", "sc0", "sc1", "nt", "gds", "lds", "offen", "idxen", "tfe"),
    *("clamp", "mul", "div", "op_sel", "op_sel_hi", "neg_lo", "neg_hi", "scale_offset", "nv", "th", "scope"),
    *("quad_perm", "row_shl", "row_shr", "row_ror", "row_mirror", "row_half_mirror", "row_bcast", "row_newbcast"),
    *("row_share", "row_xmask", "wave_shl", "wave_shr", "wave_rol", "wave_ror", "row_mask", "bank_mask", "bound_ctrl"),
    *("fi", "dpp8", "dst_sel", "dst_unused", "src0_sel", "src1_sel"),
)
_MODIFIER: Final = re.compile(r"\s+(" + "|".join(sorted(MODIFIERS, key=len, reverse=True)) + rf")(?::({_VALUE}))?$")


def split_modifiers(words: Sequence[AssemblyWord]) -> tuple[list[AssemblyWord], dict[str, str]]:
    """Return the operands of a line without what stands behind the last one, and that."""
    kept, found = list(words), dict[str, str]()
    while kept and (match := _MODIFIER.search(" " + kept[-1].text)):
        last = kept.pop()
        text = last.text[: max(0, match.start() - 1)].strip()
        found[match[1]] = match[2] or ""
        if text:
            kept.append(AssemblyWord(text, Span(last.span.file, last.span.start, last.span.start + len(text))))
        else:
            break
    return kept, found


def read_gcn_operand(word: AssemblyWord) -> GcnOperand:
    """Return the operand that a text is; raises AssemblyError."""
    text = word.text
    signed = len(text) <= _LONGEST_SIGNED
    around = _AROUND.fullmatch(text) if signed else None
    if around is not None:
        inner = read_gcn_operand(AssemblyWord((around[2] or around[3] or "").strip(), word.span))
        return _changed(inner, "absolute" if around[1] is None else _FLAGS[around[1]], word)
    if signed and text.startswith("-") and not _INTEGER.fullmatch(text) and not _FRACTION.fullmatch(text):
        return _changed(read_gcn_operand(AssemblyWord(text[1:].strip(), word.span)), "negative", word)
    return next(_readings(word), None) or _none(word)


_FLAGS: Final = {"neg": "negative", "abs": "absolute", "sext": "extended"}


def _readings(word: AssemblyWord) -> Iterator[GcnOperand]:
    """Yield what a text may be, the first of which it is."""
    text = word.text
    if text in SPECIAL:
        yield GcnRegisters("s", *SPECIAL[text])
    found = _REGISTER.fullmatch(text)
    if found is not None:
        yield _registers(found, word)
    if _INTEGER.fullmatch(text):
        yield GcnNumber(int(text, 0) if "x" in text.lower() else int(text))
    if _FRACTION.fullmatch(text):
        yield GcnNumber(float(text))
    if _WORDS.fullmatch(text):
        yield GcnWord(text)
    name = _SYMBOL.fullmatch(text)
    if name is not None:
        yield GcnSymbol(name[1], name[2] or "", int(name[3] or 0))


def _registers(found: re.Match[str], word: AssemblyWord) -> GcnRegisters:
    family = "a" if found[1] == "acc" else found[1]
    first = int(found[2] or found[3])
    last = int(found[4]) if found[4] else first
    if last < first or last >= _COUNTS[family]:
        what = "runs backward" if last < first else f"goes beyond {family}{_COUNTS[family] - 1}"
        raise AssemblyError(word.span, f"'{word.text}' {what}", f"expected registers such as {family}[0:1]")
    return GcnRegisters(_KINDS[found[1]], first + (_TRAP if family == "ttmp" else 0), last - first + 1)


def _changed(operand: GcnOperand, flag: str, word: AssemblyWord) -> GcnOperand:
    plain = isinstance(operand, GcnRegisters) or (isinstance(operand, GcnNumber) and flag != "extended")
    if not plain or getattr(operand, flag) or (flag == "absolute" and getattr(operand, "negative", False)):
        raise AssemblyError(word.span, f"'{word.text}' is no operand", "expected -v1, |v1| or -|v1| of a register")
    return replace(operand, **{flag: True})


def _none(word: AssemblyWord) -> GcnOperand:
    raise AssemblyError(
        word.span, f"'{word.text}' is no operand", "expected a register (v1, s[2:3], vcc), a number, or a label"
    )
