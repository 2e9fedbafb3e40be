; for (uint i = lane_id; i < 16; i++) out[thread]++;      arguments: s12=x  s[2:3]=zeros:u32[64]
    v_mov_b32       v1, 0x400
    v_mad_u32_u24   v0, s12, v1, v0
    v_lshlrev_b32   v3, 2, v0
    v_and_b32       v1, 63, v0
    v_mov_b32       v4, 0
    s_mov_b64       s[0:1], exec         ; save the mask
    v_mov_b32       v2, v1
    v_cmp_le_u32    vcc, 16, v1
    s_andn2_b64     exec, exec, vcc
    s_cbranch_execz LOOP_END
LOOP_BEGIN:
    v_add_u32       v4, 1, v4
    v_add_u32       v2, 1, v2
    v_cmp_le_u32    vcc, 16, v2
    s_andn2_b64     exec, exec, vcc      ; lanes that are done leave
    s_cbranch_execnz LOOP_BEGIN
LOOP_END:
    s_mov_b64       exec, s[0:1]         ; restore it
    global_store_dword v3, v4, s[2:3]
    s_endpgm
