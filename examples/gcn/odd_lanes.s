; if (lane_id & 1) out[thread] = 1;      arguments: s12=x  s[2:3]=zeros:u32[64]
    v_mov_b32       v1, 0x400            ; threads of a group
    v_mad_u32_u24   v0, s12, v1, v0      ; thread
    v_lshlrev_b32   v3, 2, v0
    v_and_b32       v2, 1, v0
    s_mov_b64       s[0:1], exec         ; save the mask
    v_cmpx_ne_u32   exec, v2, 0
    s_cbranch_execz ELSE
    v_mov_b32       v4, 1
    global_store_dword v3, v4, s[2:3]
ELSE:
    s_mov_b64       exec, s[0:1]         ; restore it
    s_endpgm
