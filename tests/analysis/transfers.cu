// Host code that copies and allocates in loops. `// MEM013 proven` or `// MEM013 conditional` where the rule speaks;
// `// differs`: in the run below, what is copied there, or how much, is not the same each time.
__constant__ float factors[4];
__device__ float state[8];
__global__ void scale(const float *a, float *b) { b[threadIdx.x] = a[threadIdx.x] * factors[threadIdx.x % 4]; }
__global__ void grow(float *a) { a[threadIdx.x] += 1; }
__global__ void shift(const float *a) { state[threadIdx.x] += a[threadIdx.x]; }
struct Pair { const float *in; float *out; };
__global__ void both(Pair p) { p.out[threadIdx.x] = p.in[threadIdx.x] + 1; }

const size_t bytes = 8 * sizeof(float);
float *everywhere;
void touch(float *a) { a[0] += 1; }
void elsewhere() { if (everywhere) everywhere[1] += 1; }

void copies_in_what_stays(const float *h, int steps)
{
    float *d, *e;
    cudaMalloc(&d, bytes);
    cudaMalloc(&e, bytes);
    for (int t = 0; t < steps; t++) {
        cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice);  // MEM013 proven
        scale<<<1, 8>>>(d, e);
    }
}

void copies_in_under_a_macro(const float *h, int steps)
{
    float *d, *e;
    cudaMalloc(&d, bytes);
    cudaMalloc(&e, bytes);
    while (steps-- > 0) {
        CHECK(cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice));  // MEM013 proven
        scale<<<1, 8>>>(d, e);
    }
}

void copies_constants_in(int steps)
{
    float table[4] = {1, 2, 3, 4};
    for (int t = 0; t < steps; t++)
        cudaMemcpyToSymbol(factors, table, sizeof table);  // MEM013 proven
}

void copies_a_part_in(const float *h, int steps, int from)
{
    float *d;
    cudaMalloc(&d, bytes);
    for (int t = 0; t < steps; t++) {
        cudaMemcpy(d + from, &h[from], 4 * sizeof(float), cudaMemcpyHostToDevice);  // MEM013 proven
        shift<<<1, 8>>>(d);
    }
}

void copies_in_beside_a_call(float *h, int steps)
{
    float *d, *e;
    cudaMalloc(&d, bytes);
    cudaMalloc(&e, bytes);
    for (int t = 0; t < steps; t++) {
        cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice);  // MEM013 conditional
        scale<<<1, 8>>>(d, e);
        elsewhere();
    }
}

void copies_in_beside_another_pointer(float *h, float *log, int steps)
{
    float *d, *e;
    cudaMalloc(&d, bytes);
    cudaMalloc(&e, bytes);
    for (int t = 0; t < steps; t++) {
        cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice);  // MEM013 conditional
        scale<<<1, 8>>>(d, e);
        log[t] = t;
    }
}

void a_copy_in_with_another_name(const float *h, int steps)
{
    float *d, *q;
    cudaMalloc(&d, bytes);
    q = d;
    for (int t = 0; t < steps; t++) {
        cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice);  // MEM013 conditional
        grow<<<1, 8>>>(q);
    }
}

void allocates(int steps)
{
    for (int t = 0; t < steps; t++) {
        float *d;
        cudaMalloc(&d, bytes);  // MEM013 proven
        grow<<<1, 8>>>(d);
        cudaFree(d);
    }
}

void allocates_outside_of_the_loop_s_scope(int steps, int n)
{
    float *d;
    for (int t = 0; t < steps; t++) {
        if (cudaMalloc((void **)&d, n * sizeof(float)) != cudaSuccess)  // MEM013 proven
            break;
        grow<<<1, 8>>>(d);
        cudaFree(d);
    }
}

void copies_out_unread(float *h, int steps)
{
    float *d;
    cudaMalloc(&d, bytes);
    for (int t = 0; t < steps; t++) {
        grow<<<1, 8>>>(d);
        cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost);  // MEM013 proven
    }
}

void copies_out_beside_a_call(float *h, int steps)
{
    float *d;
    cudaMalloc(&d, bytes);
    for (int t = 0; t < steps; t++) {
        grow<<<1, 8>>>(d);
        cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost);  // MEM013 conditional
        elsewhere();
    }
}

// --- near misses

void a_kernel_writes_it(const float *h, int steps)
{
    float *d;
    cudaMalloc(&d, bytes);
    for (int t = 0; t < steps; t++) {
        cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice);  // differs
        grow<<<1, 8>>>(d);
    }
}

void a_kernel_writes_it_in_a_record(const float *h, int steps)
{
    float *d;
    cudaMalloc(&d, bytes);
    Pair p = {d, d};
    for (int t = 0; t < steps; t++) {
        cudaMemcpy(p.out, h, bytes, cudaMemcpyHostToDevice);  // differs
        both<<<1, 8>>>(p);
    }
}

void the_host_changes_it(float *h, int steps)
{
    float *d, *e;
    cudaMalloc(&d, bytes);
    cudaMalloc(&e, bytes);
    for (int t = 0; t < steps; t++) {
        h[t] = t + 100;
        cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice);  // differs
        scale<<<1, 8>>>(d, e);
    }
}

void a_function_changes_it(float *h, int steps)
{
    float *d, *e;
    cudaMalloc(&d, bytes);
    cudaMalloc(&e, bytes);
    for (int t = 0; t < steps; t++) {
        touch(h);
        cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice);  // differs
        scale<<<1, 8>>>(d, e);
    }
}

void a_reference_changes_it(int steps)
{
    float *d, *e;
    float table[8] = {0};
    cudaMalloc(&d, bytes);
    cudaMalloc(&e, bytes);
    float &first = table[0];
    float(&all)[8] = table;
    for (int t = 0; t < steps; t++) {
        first = t;
        all[1] = t;
        cudaMemcpy(d, table, bytes, cudaMemcpyHostToDevice);  // differs
        scale<<<1, 8>>>(d, e);
    }
}

void a_size_is_reached_by_a_pointer(const float *h, int steps)
{
    float *d;
    size_t size = bytes, *q = &size, &r = size;
    cudaMalloc(&d, bytes);
    for (int t = 0; t < steps; t++) {
        cudaMemcpy(d, h, size, cudaMemcpyHostToDevice);  // differs
        shift<<<1, 8>>>(d);
        *q = 4 + 4 * t;
        r += 4;
    }
}

void it_comes_back_in_between(float *h, int steps)
{
    float *d, *e;
    cudaMalloc(&d, bytes);
    cudaMalloc(&e, bytes);
    for (int t = 0; t < steps; t++) {
        cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice);  // differs
        scale<<<1, 8>>>(d, e);
        cudaMemcpy(h, e, bytes, cudaMemcpyDeviceToHost);
    }
}

void a_flag_is_reset(int steps)
{
    float over = 0, *d;
    cudaMalloc(&d, sizeof(float) * 8);
    do {
        over = steps;
        cudaMemcpy(d, &over, sizeof(float), cudaMemcpyHostToDevice);  // differs
        cudaMemcpy(&over, d, sizeof(float), cudaMemcpyDeviceToHost);
    } while (over > 0 && steps-- > 0);
}

void another_part_each_time(const float *h, int steps)
{
    float *d;
    cudaMalloc(&d, bytes);
    for (int t = 0; t < steps; t++) {
        cudaMemcpy(d, h + t, 4 * sizeof(float), cudaMemcpyHostToDevice);  // differs
        shift<<<1, 8>>>(d);
    }
}

void buffers_change_places(float *h, float *g, int steps)
{
    float *d, *e;
    cudaMalloc(&d, bytes);
    cudaMalloc(&e, bytes);
    for (int t = 0; t < steps; t++) {
        cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice);  // differs
        scale<<<1, 8>>>(d, e);
        float *s = h;
        h = g;
        g = s;
    }
}

void once_only(const float *h, int steps)
{
    float *d;
    cudaMalloc(&d, bytes);
    for (int t = 0; t < steps; t++) {
        if (t == 0)
            cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice);
        shift<<<1, 8>>>(d);
    }
}

void cleared_in_between(const float *h, int steps)
{
    float *d;
    cudaMalloc(&d, bytes);
    for (int t = 0; t < steps; t++) {
        cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice);  // differs
        shift<<<1, 8>>>(d);
        cudaMemset(d, 0, bytes);
    }
}

void grows_each_time(int steps)
{
    for (int t = 1; t <= steps; t++) {
        float *d;
        cudaMalloc(&d, t * bytes);  // differs
        grow<<<1, 8>>>(d);
        cudaFree(d);
    }
}

void one_for_each(float **d, int steps)
{
    for (int t = 0; t < steps; t++)
        cudaMalloc(&d[t], bytes);
}

void read_in_the_loop(float *h, int steps)
{
    float *d, sum = 0;
    cudaMalloc(&d, bytes);
    for (int t = 0; t < steps; t++) {
        grow<<<1, 8>>>(d);
        cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost);  // differs
        sum += h[0];
    }
    h[0] = sum;
}

void tested_in_the_loop(float *h, int steps)
{
    float *d;
    cudaMalloc(&d, bytes);
    do {
        grow<<<1, 8>>>(d);
        cudaMemcpy(h, d, sizeof(float), cudaMemcpyDeviceToHost);  // differs
    } while (h[0] < steps);
}

void another_place_each_time(float *h, int steps)
{
    float *d;
    cudaMalloc(&d, bytes);
    for (int t = 0; t < steps; t++) {
        grow<<<1, 8>>>(d);
        cudaMemcpy(h + t, d, sizeof(float), cudaMemcpyDeviceToHost);  // differs
    }
}

void in_a_closure(float *h, int steps)
{
    float *d;
    cudaMalloc(&d, bytes);
    auto change = [&] { h[0] += 1; };
    for (int t = 0; t < steps; t++) {
        change();
        cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice);  // differs
        shift<<<1, 8>>>(d);
    }
}
