"""The listings of document 001 for AVX-512 as they are printed, and as corrected: a vector in place of 16, the test of
the third one, the operands of its andn."""

from __future__ import annotations

from typing import Final

__all__ = ["CORRECTED", "PRINTED"]

_ODD: Final = """
; if (lane_id & 1) {
    vpslld       zmm0 {k1}, zmm0, 31  ; zmm0[i] = zmm0[i] << 31
    kmovw        eax, k1              ; Save the execution mask
    vptestmd     k1 {k1}, zmm0, zmm0  ; k1[i] = zmm0[i] != 0
    kortestw     k1, k1
    je           ELSE                 ; Jmp if all exec bits are zero
"""
PRINTED: Final = {
    "odd_lanes": f"""
    ; Imagine zmm0 contains 16 lane_ids
{_ODD}
; // Do smth
    ; Now k1 contains the execution mask
ELSE:
; }}
    kmovw        k1, eax              ; Restore the execution mask
; // Do some more
    ret
""",
    "up_to_16": """
 ; Imagine zmm0 contains 16 lane_ids
    kmovw         eax, k1               ; Save the execution mask
    vpcmpltud     k1 {k1}, zmm0, 16     ; k1[i] = zmm0[i] < 16
    kortestw      k1, k1
    je            LOOP_END              ; Jmp if all exec bits are zero
    vpternlogd    zmm1 {k1}, zmm1, zmm1, 255   ; zmm1[i] = -1
; for (uint i = lane_id; i < 16; i++) {
LOOP_BEGIN:
; // Do smth
    vpsubd        zmm0 {k1}, zmm0, zmm1 ; zmm0[i] = zmm0[i] + 1
    vpcmpltud     k1 {k1}, zmm0, 16     ; masked k1[i] = zmm0[i] < 16
    kortestw      k1, k1
    jne           LOOP_BEGIN            ; Break if all exec bits are zero
LOOP_END:
; // }
    kmovw        k1, eax                ; Restore the execution mask
; // Do some more
    ret
""",
    "two_halves": f"""
 ; Imagine zmm0 contains 16 lane_ids
{_ODD}
THEN:
; // Do smth
; }} else {{
ELSE:
    kmovw        ebx, k1
    andn         ebx, eax, ebx
    kmovw        k1, ebx              ; mask = ~mask & old_mask
    kortestw     k1, k1
    je           CONVERGE             ; Jmp if all exec bits are zero
; // Do smth else
; }}
CONVERGE:
kmovw            k1, eax              ; Restore the execution mask
; // Do some more
    ret
""",
}
_CONSTANT: Final = "    mov ecx, 16\n    vpbroadcastd zmm2, ecx\n"
CORRECTED: Final = {
    "odd_lanes": PRINTED["odd_lanes"],
    "up_to_16": _CONSTANT + PRINTED["up_to_16"].replace("zmm0, 16", "zmm0, zmm2"),
    "two_halves": _CONSTANT
    + PRINTED["two_halves"]
    .replace("    vpslld       zmm0 {k1}, zmm0, 31", "    nop")
    .replace("vptestmd     k1 {k1}, zmm0, zmm0", "vpcmpltud k1 {k1}, zmm0, zmm2")
    .replace("andn         ebx, eax, ebx", "andn ebx, ebx, eax"),
}
