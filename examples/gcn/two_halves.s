; out[thread] = lane_id < 16 ? 1 : 2;    arguments: s12=x  s[2:3]=zeros:u32[64]
    v_mov_b32       v1, 0x400
    v_mad_u32_u24   v0, s12, v1, v0
    v_lshlrev_b32   v3, 2, v0
    v_and_b32       v1, 63, v0
    s_mov_b64       s[0:1], exec         ; save the mask
    v_cmpx_lt_u32   exec, v1, 16
    s_cbranch_execz ELSE
    v_mov_b32       v4, 1
ELSE:
    s_andn2_b64     exec, s[0:1], exec   ; the others
    s_cbranch_execz CONVERGE
    v_mov_b32       v4, 2
CONVERGE:
    s_mov_b64       exec, s[0:1]         ; restore it
    global_store_dword v3, v4, s[2:3]
    s_endpgm
