// Graphs and trees: how far work differs from thread to thread is in the data.
//
// run: bfs_level grid 2 block 32 depth=i32*64:-1..1 rows=i32*65:steps0..5 columns=i32*400:0..49 again=i32*1:0..0 level=0|1 n=50|64
// run: bfs_frontier grid 2 block 32 next=i32*400 next_size=i32*1:0..0 depth=i32*64:-1..0 frontier=i32*64:0..49 rows=i32*65:steps0..5 columns=i32*400:0..49 level=1 size=40|64
// run: floyd_warshall grid 1,3 block 16,4 d=i32*256:1..50 k=0|5 n=12|16
// run: union_find_hook grid 2 block 32 parent=i32*64:up a=i32*64:0..63 b=i32*64:0..63 edges=64|40
// run: pointer_jump grid 2 block 32 parent=i32*64:0..20 changed=i32*1:0..0 n=64|50
// run: tree_search grid 2 block 32 found=i32*64 keys=i32*31:0..100 left=i32*31:0..30 right=i32*31:0..30 wanted=i32*64:0..100 n=64|50 deepest=5|9
// run: page_rank grid 2 block 32 next=f32*64 now=f32*64 rows=i32*65:steps0..5 columns=i32*400:0..63 degree=i32*64:1..6 n=50|64
// run: triangle_count grid 2 block 32 total=i32*1:0..0 rows=i32*65:steps0..5 columns=i32*400:0..49 n=50|33

__global__ void bfs_level(int *depth, const int *rows, const int *columns, int *again, int level, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && depth[v] == level) {
        for (int e = rows[v]; e < rows[v + 1]; e++) {
            int w = columns[e];
            if (depth[w] < 0) {
                depth[w] = level + 1;
                *again = 1;
            }
        }
    }
}

__global__ void bfs_frontier(int *next, int *next_size, int *depth, const int *frontier, const int *rows,
                             const int *columns, int level, int size) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x) {
        int v = frontier[i];
        int end = rows[v + 1];
        for (int e = rows[v]; e < end; e++) {
            int w = columns[e];
            if (atomicCAS(&depth[w], -1, level) == -1)
                next[atomicAdd(next_size, 1)] = w;
        }
    }
}

__global__ void floyd_warshall(int *d, int k, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n || i == k || j == k)
        return;
    int through = d[i * n + k] + d[k * n + j];
    if (through < d[i * n + j])
        d[i * n + j] = through;
}

__device__ int root(const int *parent, int v) {
    while (parent[v] != v)
        v = parent[v];
    return v;
}

__global__ void union_find_hook(int *parent, const int *a, const int *b, int edges) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges)
        return;
    int u = a[e], v = b[e];
    while (true) {
        u = root(parent, u);
        v = root(parent, v);
        if (u == v)
            break;
        int high = max(u, v), low = min(u, v);
        if (atomicCAS(&parent[high], high, low) == high)
            break;
    }
}

__global__ void pointer_jump(int *parent, int *changed, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) {
        int p = parent[v], g = parent[p];
        if (p != g) {
            parent[v] = g;
            *changed = 1;
        }
    }
}

__global__ void tree_search(int *found, const int *keys, const int *left, const int *right, const int *wanted, int n,
                            int deepest) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int node = 0, want = wanted[i];
    found[i] = -1;
    for (int depth = 0; depth < deepest; depth++) {
        int key = keys[node];
        if (key == want) {
            found[i] = node;
            break;
        }
        node = want < key ? left[node] : right[node];
    }
}

__global__ void page_rank(float *next, const float *now, const int *rows, const int *columns, const int *degree,
                          int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    float sum = 0;
    for (int e = rows[v]; e < rows[v + 1]; ++e)
        sum += now[columns[e]] / degree[columns[e]];
    next[v] = 0.15f / n + 0.85f * sum;
}

__global__ void triangle_count(int *total, const int *rows, const int *columns, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    int mine = 0;
    if (v < n) {
        for (int e = rows[v]; e < rows[v + 1]; e++) {
            int w = columns[e];
            int p = rows[v], q = rows[w];
            while (p < rows[v + 1] && q < rows[w + 1]) {
                int x = columns[p], y = columns[q];
                mine += x == y;
                p += x <= y;
                q += y <= x;
            }
        }
    }
    for (int offset = 16; offset > 0; offset >>= 1)
        mine += __shfl_down_sync(0xffffffffu, mine, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, mine);
}
