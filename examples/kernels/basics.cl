// The usual kernels in OpenCL C.
//
// run: cl_saxpy grid 2 block 32 y=f32*64 x=f32*64 a=2.5 n=64|50
// run: cl_transpose grid 2,2 block 16,16 out=f32*1100 in=f32*1100 n=32|17
// run: cl_reduce grid 2 block 64 out=f32*4 in=f32*200 n=128|100
// run: cl_stencil grid 2,2 block 16,4 out=f32*400 in=f32*400 n=17|8
// run: cl_histogram grid 2 block 64 bins=i32*16:0..0 data=i32*300:0..15 n=300|100
// run: cl_matmul grid 2,2 block 8,8 c=f32*400 a=f32*400 b=f32*400 n=16|13
// run: cl_bitonic grid 2 block 32 data=i32*64 j=1|2|8 k=2|8|16
// run: cl_spmv grid 2 block 32 y=f32*64 rows=i32*65:steps0..5 columns=i32*400:0..63 values=f32*400 x=f32*64 n=64|50
// run: cl_mandelbrot grid 2,2 block 16,4 out=i32*400 width=20|32 height=7|8 most=10|25
// run: cl_forces grid 1 block 32 force=f32*256 body=f32*256 n=20|32

__kernel void cl_saxpy(__global float *y, __global const float *x, float a, int n) {
    int i = get_global_id(0);
    if (i < n) //~ divergent
        y[i] += a * x[i];
}

__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void cl_transpose(__global float *out, __global const float *in, int n) {
    __local float tile[16][17];
    int x = get_global_id(0), y = get_global_id(1);
    if (x < n && y < n)
        tile[get_local_id(1)][get_local_id(0)] = in[y * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * 16 + get_local_id(0);
    y = get_group_id(0) * 16 + get_local_id(1);
    if (x < n && y < n)
        out[y * n + x] = tile[get_local_id(0)][get_local_id(1)];
}

__kernel void cl_reduce(__global float *out, __global const float *in, int n) {
    __local float sums[64];
    int t = get_local_id(0), i = get_global_id(0);
    sums[t] = i < n ? in[i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s >>= 1) { //~ uniform
        if (t < s)
            sums[t] += sums[t + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) //~ divergent
        out[get_group_id(0)] = sums[0];
}

__kernel void cl_stencil(__global float *out, __global const float *in, int n) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        out[y * n + x] = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

__kernel void cl_histogram(__global int *bins, __global const int *data, int n) {
    __local int mine[16];
    int t = get_local_id(0);
    if (t < 16)
        mine[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&mine[data[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < 16)
        atomic_add(&bins[t], mine[t]);
}

__kernel void cl_matmul(__global float *c, __global const float *a, __global const float *b, int n) {
    __local float as[8][8], bs[8][8];
    int tx = get_local_id(0), ty = get_local_id(1);
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int start = 0; start < n; start += 8) { //~ uniform
        as[ty][tx] = row < n && start + tx < n ? a[row * n + start + tx] : 0;
        bs[ty][tx] = start + ty < n && column < n ? b[(start + ty) * n + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 8; k++) //~ uniform
            sum = mad(as[ty][k], bs[k][tx], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < n && column < n)
        c[row * n + column] = sum;
}

__kernel void cl_bitonic(__global int *data, int j, int k) {
    uint i = get_global_id(0), other = i ^ j;
    if (other > i) {
        int a = data[i], b = data[other];
        int up = (i & k) == 0;
        data[i] = up ? min(a, b) : max(a, b);
        data[other] = up ? max(a, b) : min(a, b);
    }
}

__kernel void cl_spmv(__global float *y, __global const int *rows, __global const int *columns,
                      __global const float *values, __global const float *x, int n) {
    int row = get_global_id(0);
    if (row >= n)
        return;
    float sum = 0;
    for (int j = rows[row]; j < rows[row + 1]; j++) //~ divergent
        sum += values[j] * x[columns[j]];
    y[row] = sum;
}

__kernel void cl_mandelbrot(__global int *out, int width, int height, int most) {
    int px = get_global_id(0), py = get_global_id(1);
    if (px >= width || py >= height)
        return;
    float2 c = (float2)(-2.0f + 3.0f * px / width, -1.0f + 2.0f * py / height);
    float2 z = (float2)(0.0f, 0.0f);
    int i = 0;
    for (; i < most && dot(z, z) < 4.0f; i++)
        z = (float2)(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + c;
    out[py * width + px] = i;
}

__kernel void cl_forces(__global float4 *force, __global const float4 *body, int n) {
    int i = get_global_id(0);
    if (i >= n)
        return;
    float4 me = body[i];
    float3 sum = (float3)(0.0f);
    for (int j = 0; j < n; j++) { //~ uniform
        float3 d = body[j].xyz - me.xyz;
        float inverse = rsqrt(dot(d, d) + 0.01f);
        sum += d * (body[j].w * inverse * inverse * inverse);
    }
    force[i] = (float4)(sum, 0.0f);
}
