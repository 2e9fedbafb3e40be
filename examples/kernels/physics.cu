// Particles, rays, prices and fractals: much arithmetic for each thread.
//
// run: mandelbrot grid 2,2 block 16,4 out=i32*400 width=20|32 height=7|8 most=10|25
// run: black_scholes grid 2 block 32 call=f32*64 put=f32*64 price=f32*64:5..30 strike=f32*64:1..100 years=f32*64:0..10 n=64|50
// run: monte_carlo_pi grid 2 block 32 hits=i32*1:0..0 samples=5|9 seed=1|77
// run: n_body grid 1 block 32 force=f32*256 body=f32*256 n=20|32
// run: n_body_tiled grid 1 block 32 force=f32*256 body=f32*256 n=40|30
// run: lennard_jones grid 2 block 32 force=f32*64 x=f32*64:0..9 neighbors=i32*400:0..63 counts=i32*64:0..6 n=64|50 cut=2.5|100
// run: ray_sphere grid 2,2 block 16,4 image=f32*400 spheres=f32*12 count=3|1 width=20|32 height=7|8
// run: particles_aos grid 2 block 32 p=f32*448 dt=0.1 n=64|50
// run: particles_soa grid 2 block 32 x=f32*64 y=f32*64 z=f32*64 vx=f32*64 vy=f32*64 vz=f32*64 dt=0.1 n=64|50
// run: metropolis grid 1 block 64 spins=i32*64:0..1 seed=5|9 steps=3|5

__global__ void mandelbrot(int *out, int width, int height, int most) {
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    float cx = -2.0f + 3.0f * px / width, cy = -1.0f + 2.0f * py / height;
    float x = 0, y = 0;
    int i = 0;
    while (i < most && x * x + y * y < 4.0f) {
        float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        i++;
    }
    out[py * width + px] = i;
}

__device__ float normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float density = 0.39894228f * expf(-0.5f * d * d);
    return d > 0 ? 1.0f - density * tail : density * tail;
}

__global__ void black_scholes(float *call, float *put, const float *price, const float *strike, const float *years,
                              int n) {
    const float rate = 0.02f, volatility = 0.3f;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = price[i], k = strike[i], t = years[i] + 0.1f;
    float root = sqrtf(t);
    float d1 = (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    float d2 = d1 - volatility * root;
    float discounted = k * expf(-rate * t);
    call[i] = s * normal(d1) - discounted * normal(d2);
    put[i] = discounted * normal(-d2) - s * normal(-d1);
}

__device__ float uniform(unsigned &state) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) * (1.0f / 16777216.0f);
}

__global__ void monte_carlo_pi(int *hits, int samples, unsigned seed) {
    unsigned state = seed + 7919u * (blockIdx.x * blockDim.x + threadIdx.x);
    int mine = 0;
    for (int s = 0; s < samples; s++) { //~ uniform
        float x = uniform(state), y = uniform(state);
        if (x * x + y * y < 1.0f)
            mine++;
    }
    int total = __reduce_add_sync(0xffffffffu, mine);
    if (total > 0) //~ uniform
        if (threadIdx.x % 32 == 0)
            atomicAdd(hits, total);
}

__device__ float3 pull(float3 sum, float4 a, float4 b) {
    float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    float square = dx * dx + dy * dy + dz * dz + 0.01f;
    float inverse = rsqrtf(square);
    float s = b.w * inverse * inverse * inverse;
    sum.x += s * dx;
    sum.y += s * dy;
    sum.z += s * dz;
    return sum;
}

__global__ void n_body(float4 *force, const float4 *body, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 me = body[i];
    float3 sum = make_float3(0, 0, 0);
    for (int j = 0; j < n; j++) //~ uniform
        sum = pull(sum, me, body[j]);
    force[i] = make_float4(sum.x, sum.y, sum.z, 0);
}

__global__ void n_body_tiled(float4 *force, const float4 *body, int n) {
    __shared__ float4 tile[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = i < n ? body[i] : make_float4(0, 0, 0, 0);
    float3 sum = make_float3(0, 0, 0);
    for (int start = 0; start < n; start += blockDim.x) { //~ uniform
        int j = start + threadIdx.x;
        tile[threadIdx.x] = j < n ? body[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < blockDim.x; k++) //~ uniform
            sum = pull(sum, me, tile[k]);
        __syncthreads();
    }
    if (i < n)
        force[i] = make_float4(sum.x, sum.y, sum.z, 0);
}

__global__ void lennard_jones(float *force, const float *x, const int *neighbors, const int *counts, int n,
                              float cut) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < counts[i]; k++) {
        float d = x[neighbors[k * n + i]] - x[i];
        float square = d * d + 0.1f;
        if (square < cut) {
            float inverse = 1.0f / square;
            float sixth = inverse * inverse * inverse;
            sum += sixth * (sixth - 0.5f) * d * inverse;
        }
    }
    force[i] = sum;
}

struct Sphere {
    float x, y, z, radius;
};

__global__ void ray_sphere(float *image, const Sphere *spheres, int count, int width, int height) {
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    float dx = (px - 0.5f * width) / width, dy = (py - 0.5f * height) / height, dz = 1.0f;
    float length = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= length, dy *= length, dz *= length;
    float nearest = 1e30f;
    for (int s = 0; s < count; s++) { //~ uniform
        float ox = spheres[s].x, oy = spheres[s].y, oz = spheres[s].z + 3.0f;
        float along = ox * dx + oy * dy + oz * dz;
        float square = ox * ox + oy * oy + oz * oz - along * along;
        float radius = spheres[s].radius;
        if (square > radius * radius)
            continue;
        float distance = along - sqrtf(radius * radius - square);
        if (distance > 0 && distance < nearest)
            nearest = distance;
    }
    image[py * width + px] = nearest < 1e29f ? 1.0f / nearest : 0.0f;
}

struct Particle {
    float x, y, z, vx, vy, vz, mass;
};

__global__ void particles_aos(Particle *p, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        p[i].x += dt * p[i].vx;
        p[i].y += dt * p[i].vy;
        p[i].z += dt * p[i].vz;
        if (p[i].x < 0.0f)
            p[i].vx = -p[i].vx;
    }
}

__global__ void particles_soa(float *x, float *y, float *z, float *vx, float *vy, float *vz, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] += dt * vx[i];
        y[i] += dt * vy[i];
        z[i] += dt * vz[i];
        if (x[i] < 0.0f)
            vx[i] = -vx[i];
    }
}

__global__ void metropolis(int *spins, unsigned seed, int steps) {
    __shared__ int s[64];
    int t = threadIdx.x;
    unsigned state = seed ^ (t * 2654435761u);
    s[t] = spins[t] * 2 - 1;
    __syncthreads();
    for (int step = 0; step < steps; step++) { //~ uniform
        for (int color = 0; color < 2; color++) { //~ uniform
            if (t % 2 == color) {
                int field = s[(t + 1) % 64] + s[(t + 63) % 64];
                int change = 2 * s[t] * field;
                if (change <= 0 || uniform(state) < 0.3f)
                    s[t] = -s[t];
            }
            __syncthreads();
        }
    }
    spins[t] = s[t] > 0;
}
