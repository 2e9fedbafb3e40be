  __shared__ int tile[64]; __shared__ float grid[8][33]; extern __shared__ int dyn[];
  int t = threadIdx.x + threadIdx.y * blockDim.x, last = blockDim.x * blockDim.y - 1;
  int a = in[t], b = t * 3 - 7, c = n; unsigned u = (unsigned)in[(t + 9) & 63], v = 17u + t;
  long long l = (long long)a * 70000; signed char q = (signed char)a; unsigned short k = (unsigned short)b; short sh = -5;
  float f = fin[t], g = s; double d = fin[t] * 3.0; Pair p = pair; p.x += t; Bits m; m.u = 3;
  Outer o = {}; o.in[1].b = a; o.v = make_float2(f, 2.0f); int local[4] = { a, 5, t }; float4 w = make_float4(1, 2, f, s);
  tile[t] = 0; dyn[t] = 0; __syncthreads();
