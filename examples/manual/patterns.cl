// Ways through a matrix of n x n numbers: work item x takes one number of each row y of its own way.

kernel void rows(global float *out, global const float *a, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    out[y * n + x] = a[y * n + x];
}

kernel void columns(global float *out, global const float *a, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    out[y * n + x] = a[x * n + y];
}

kernel void offset(global float *out, global const float *a, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    out[y * n + x] = a[(y + 1) * n + x + 1];
}

kernel void reversed(global float *out, global const float *a, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    out[y * n + x] = a[y * n + n - 1 - x];
}

kernel void triangle(global float *out, global const float *a, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x <= y)
        out[y * n + x] = a[y * n + x];
}

kernel void strided(global float *out, global const float *a, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    out[y * n + x] = a[y * n + 2 * x];
}
