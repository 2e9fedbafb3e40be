; out[i] = table[index[i]] where index[i] >= 0        rdi: index, rsi: table, rdx: out
    vmovdqu32    zmm1, [rdi]
    vpxord       zmm2, zmm2, zmm2
    vpcmpnltd    k1 {k1}, zmm1, zmm2
    kmovw        k2, k1               ; a gather leaves its mask empty
    vpgatherdd   zmm3 {k2}, [rsi + 4*zmm1]
    vmovdqu32    [rdx] {k1}, zmm3
    ret
