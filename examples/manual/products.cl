// C = A B for n x n numbers, with A, B and C in different memories: L is local, P is private, nothing is global.

#define MOST 64

kernel void original(global float *c, global const float *a, global const float *b, int n)
{
    int j = get_global_id(0), i = get_global_id(1);
    c[i * n + j] = 0.0f;
    for (int k = 0; k < n; k++)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
}

// group i has row i of A
kernel void al(global float *c, global const float *a, global const float *b, int n)
{
    local float row[MOST];
    int j = get_local_id(0), i = get_group_id(0);
    row[j] = a[i * n + j];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += row[k] * b[k * n + j];
    c[i * n + j] = sum;
}

// group j has column j of B
kernel void bl(global float *c, global const float *a, global const float *b, int n)
{
    local float column[MOST];
    int i = get_local_id(0), j = get_group_id(0);
    column[i] = b[i * n + j];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[i * n + k] * column[k];
    c[i * n + j] = sum;
}

// as al, and row i of C is added up in local memory
kernel void alcl(global float *c, global const float *a, global const float *b, int n)
{
    local float row[MOST], result[MOST];
    int j = get_local_id(0), i = get_group_id(0);
    row[j] = a[i * n + j];
    result[j] = 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < n; k++)
        result[j] += row[k] * b[k * n + j];
    c[i * n + j] = result[j];
}

// work item j keeps column j of B, and goes through the rows of A
kernel void albp(global float *c, global const float *a, global const float *b, int n)
{
    local float row[MOST];
    float column[MOST];
    int j = get_local_id(0);
    for (int k = 0; k < n; k++)
        column[k] = b[k * n + j];
    for (int i = 0; i < n; i++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        row[j] = a[i * n + j];
        barrier(CLK_LOCAL_MEM_FENCE);
        float sum = 0.0f;
        for (int k = 0; k < n; k++)
            sum += row[k] * column[k];
        c[i * n + j] = sum;
    }
}

// work item i keeps row i of A, and goes through the columns of B
kernel void apbl(global float *c, global const float *a, global const float *b, int n)
{
    local float column[MOST];
    float row[MOST];
    int i = get_local_id(0);
    for (int k = 0; k < n; k++)
        row[k] = a[i * n + k];
    for (int j = 0; j < n; j++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        column[i] = b[i * n + j];
        barrier(CLK_LOCAL_MEM_FENCE);
        float sum = 0.0f;
        for (int k = 0; k < n; k++)
            sum += row[k] * column[k];
        c[i * n + j] = sum;
    }
}

// a group has eight rows of A and eight columns of B, a piece of eight at a time
kernel void albl(global float *c, global const float *a, global const float *b, int n)
{
    local float rows[8][8], columns[8][8];
    int x = get_local_id(0), y = get_local_id(1), j = get_global_id(0), i = get_global_id(1);
    float sum = 0.0f;
    for (int start = 0; start < n; start += 8) {
        rows[y][x] = a[i * n + start + x];
        columns[y][x] = b[(start + y) * n + j];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 8; k++)
            sum += rows[y][k] * columns[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[i * n + j] = sum;
}
