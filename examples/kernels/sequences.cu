// Strings, alignments and whole numbers.
//
// run: needleman_wunsch grid 1 block 16 score=i32*400 a=u8*17:0..3 b=u8*17:0..3 gap=1|2 n=16|11
// run: smith_waterman grid 1 block 32 best=i32*1:0..0 diagonals=i32*120:0..0 a=u8*32:0..3 b=u8*40:0..3 n=32|20 m=40|15
// run: lz_match grid 2 block 32 lengths=i32*64 distances=i32*64 text=u8*80:0..2 n=64|50 window=8|16
// run: string_search grid 2 block 32 found=i32*1:0..0 text=u8*80:0..1 pattern=u8*4:0..1 n=64|50 m=3|4
// run: gcd grid 2 block 32 out=i32*64 a=i32*64:0..500 b=i32*64:0..500 n=64|50
// run: edit_distance grid 1 block 32 out=i32*32 words=u8*320:0..3 query=u8*10:0..3 n=32|20
// run: sieve grid 2 block 32 composite=u8*300:0..0 limit=300|100
// run: collatz grid 2 block 32 steps=i32*64 n=50|64 most=20|60
// run: run_lengths grid 2 block 64 starts=i32*200 count=i32*1:0..0 data=i32*200:0..2 n=128|100
// run: n_queens grid 1 block 32 solutions=i32*32 n=5|4

__global__ void needleman_wunsch(int *score, const unsigned char *a, const unsigned char *b, int gap, int n) {
    __shared__ int s[17][17];
    int t = threadIdx.x;
    if (t == 0)
        s[0][0] = 0;
    s[0][t + 1] = -(t + 1) * gap;
    s[t + 1][0] = -(t + 1) * gap;
    __syncthreads();
    for (int d = 0; d < 2 * n - 1; d++) { //~ uniform
        int i = d - t;
        if (t < n && i >= 0 && i < n) {
            int match = s[i][t] + (a[i] == b[t] ? 2 : -1);
            s[i + 1][t + 1] = max(match, max(s[i][t + 1], s[i + 1][t]) - gap);
        }
        __syncthreads();
    }
    if (t < n)
        for (int i = 0; i < n; i++) //~ uniform
            score[i * n + t] = s[i + 1][t + 1];
}

__global__ void smith_waterman(int *best, int *diagonals, const unsigned char *a, const unsigned char *b, int n,
                               int m) {
    int i = threadIdx.x;
    int mine = 0;
    int *now = diagonals, *last = diagonals + 40, *before = diagonals + 80;
    for (int d = 0; d < n + m - 1; d++) { //~ uniform
        int j = d - i;
        int cell = 0;
        if (i < n && j >= 0 && j < m) {
            int corner = i > 0 && j > 0 ? before[i - 1] : 0;
            int up = i > 0 ? last[i - 1] : 0;
            int left = j > 0 ? last[i] : 0;
            cell = max(0, corner + (a[i] == b[j] ? 3 : -2));
            cell = max(cell, max(up, left) - 2);
            now[i] = cell;
            mine = max(mine, cell);
        }
        __syncthreads();
        int *old = before;
        before = last;
        last = now;
        now = old;
    }
    atomicMax(best, mine);
}

__global__ void lz_match(int *lengths, int *distances, const unsigned char *text, int n, int window) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int longest = 0, distance = 0;
    for (int back = 1; back <= window && back <= i; back++) {
        int length = 0;
        while (length < 15 && i + length < n && text[i + length] == text[i - back + length])
            length++;
        if (length > longest) {
            longest = length;
            distance = back;
        }
    }
    lengths[i] = longest;
    distances[i] = distance;
}

__global__ void string_search(int *found, const unsigned char *text, const unsigned char *pattern, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + m > n)
        return;
    int j = 0;
    for (; j < m; j++)
        if (text[i + j] != pattern[j])
            break;
    if (j == m)
        atomicAdd(found, 1);
}

__global__ void gcd(int *out, const int *a, const int *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i], y = b[i];
    while (y != 0) {
        int r = x % y;
        x = y;
        y = r;
    }
    out[i] = x;
}

__global__ void edit_distance(int *out, const unsigned char *words, const unsigned char *query, int n) {
    int w = threadIdx.x;
    if (w >= n)
        return;
    int row[11];
    for (int j = 0; j <= 10; j++) //~ uniform
        row[j] = j;
    for (int i = 1; i <= 10; i++) { //~ uniform
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= 10; j++) { //~ uniform
            int old = row[j];
            int change = corner + (words[w * 10 + i - 1] != query[j - 1]);
            row[j] = min(change, min(row[j], row[j - 1]) + 1);
            corner = old;
        }
    }
    out[w] = row[10];
}

__global__ void sieve(unsigned char *composite, int limit) {
    int p = blockIdx.x * blockDim.x + threadIdx.x + 2;
    if (p * p >= limit)
        return;
    for (int multiple = p * p; multiple < limit; multiple += p)
        composite[multiple] = 1;
}

__global__ void collatz(int *steps, int n, int most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned v = i + 1;
    int count = 0;
    while (v != 1 && count < most) {
        if (v % 2 == 0)
            v /= 2;
        else
            v = 3 * v + 1;
        count++;
    }
    steps[i] = count;
}

__global__ void run_lengths(int *starts, int *count, const int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool first = i < n && (i == 0 || data[i] != data[i - 1]);
    unsigned firsts = __ballot_sync(0xffffffffu, first);
    int lane = threadIdx.x & 31;
    int base = 0;
    if (lane == 0 && firsts != 0)
        base = atomicAdd(count, __popc(firsts));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (firsts != 0) //~ warp uniform, block divergent
        if (first)
            starts[base + __popc(firsts & ((1u << lane) - 1))] = i;
}

__global__ void n_queens(int *solutions, int n) {
    int t = threadIdx.x;
    int all = (1 << n) - 1;
    int columns[8], left[8], right[8], open[8];
    int count = 0;
    if (t < n) {
        int first = 1 << t;
        int depth = 1;
        columns[1] = first;
        left[1] = first << 1;
        right[1] = first >> 1;
        open[1] = all & ~(columns[1] | left[1] | right[1]);
        while (depth > 0) {
            if (open[depth] == 0) {
                depth--;
                continue;
            }
            int bit = open[depth] & -open[depth];
            open[depth] ^= bit;
            if (depth + 1 == n) {
                count++;
                continue;
            }
            columns[depth + 1] = columns[depth] | bit;
            left[depth + 1] = (left[depth] | bit) << 1;
            right[depth + 1] = (right[depth] | bit) >> 1;
            depth++;
            open[depth] = all & ~(columns[depth] | left[depth] | right[depth]);
        }
    }
    solutions[t] = count;
}
