; out[thread] = lane_id < 16 ? (lane_id & 1 ? 1 : 3) : 2, by the stack of forks in s0 to s23
; arguments: s12=x  s[28:29]=zeros:u32[64]
    v_mov_b32       v1, 0x400
    v_mad_u32_u24   v0, s12, v1, v0
    v_lshlrev_b32   v3, 2, v0
    v_and_b32       v1, 63, v0
    v_and_b32       v2, 1, v0
    s_mov_b64       s[30:31], exec
    s_getreg_b32    s24, hwreg(HW_REG_MODE, 29, 3)   ; how high the stack is
    v_cmp_gt_u32    s[26:27], 16, v1
    s_cbranch_i_fork s[26:27], BELOW
    v_mov_b32       v4, 2                ; 48 lanes: the larger part waits
    s_branch        JOIN
BELOW:
    s_getreg_b32    s25, hwreg(HW_REG_MODE, 29, 3)
    v_cmp_ne_u32    vcc, 0, v2
    s_cbranch_i_fork vcc, ODD
    v_mov_b32       v4, 3
    s_branch        INNER
ODD:
    v_mov_b32       v4, 1
INNER:
    s_cbranch_join  s25                  ; to the other arm first, on at the second time
    s_mov_b64       exec, s[26:27]       ; a join leaves the mask of the arm that came last
JOIN:
    s_cbranch_join  s24
    s_mov_b64       exec, s[30:31]
    global_store_dword v3, v4, s[28:29]
    s_endpgm
