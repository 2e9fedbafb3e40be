template <class T> static void shown(const T *data, int count) {
  const unsigned char *p = (const unsigned char *)data;
  for (size_t i = 0; i < count * sizeof(T); i++) printf("%02x", p[i]);
  printf(" ");
}
template <class K> static void run(K kernel, dim3 block) {
  int in[64], oi[64]; float fin[64], of[64]; unsigned ou[64]; long long ol[64]; double od[64];
  unsigned x = 12345;
  for (int i = 0; i < 64; i++) {
    x = x * 1664525u + 1013904223u; in[i] = (int)(x >> 20) - 2000;
    x = x * 1664525u + 1013904223u; fin[i] = (float)((int)(x >> 22) - 500) / 8.0f;
    oi[i] = 0; of[i] = 0; ou[i] = 0; ol[i] = 0; od[i] = 0;
  }
  void *d[7]; void *h[7] = { in, fin, oi, of, ou, ol, od }; size_t sizes[7] = { 256, 256, 256, 256, 256, 512, 512 };
  for (int i = 0; i < 7; i++) { cudaMalloc(&d[i], sizes[i]); cudaMemcpy(d[i], h[i], sizes[i], cudaMemcpyHostToDevice); }
  Pair pair = { 11, 2.5f, { 1, -2, 300 }, 200, 77u };
  kernel<<<1, block, 256>>>((int *)d[0], (float *)d[1], (int *)d[2], (float *)d[3], (unsigned *)d[4], (long long *)d[5],
                            (double *)d[6], 13, 1.75f, 250, pair);
  for (int i = 0; i < 7; i++) { cudaMemcpy(h[i], d[i], sizes[i], cudaMemcpyDeviceToHost); cudaFree(d[i]); }
  shown(oi, 64); shown(of, 64); shown(ou, 64); shown(ol, 64); shown(od, 64); printf("\n");
}
