; if (lane_id < 16) … else …        zmm0: numbers of lanes, k1: the mask
    mov          ecx, 16
    vpbroadcastd zmm2, ecx
    kmovw        eax, k1              ; save the mask
    vpcmpltud    k1 {k1}, zmm0, zmm2  ; lanes below 16
    kortestw     k1, k1
    je           ELSE
    vpternlogd   zmm3 {k1}, zmm3, zmm3, 255
ELSE:
    kmovw        ebx, k1
    andn         ebx, ebx, eax        ; the others: ~ebx & eax
    kmovw        k1, ebx
    kortestw     k1, k1
    je           CONVERGE
    vpxord       zmm3 {k1}, zmm3, zmm3
CONVERGE:
    kmovw        k1, eax              ; restore the mask
    ret
