// A bitonic network sorts the numbers of a block in shared memory; three ways to write its comparison.
//
// In stage `size`, runs of `size` numbers are merged, every second one downward; `step` is how far partners are apart.

__device__ void swap(int &a, int &b)
{
    int old = a;
    a = b;
    b = old;
}

// each direction has a comparison of its own
__global__ void branches(int *data)
{
    extern __shared__ int key[];
    unsigned t = threadIdx.x;
    key[t] = data[t];
    __syncthreads();
    for (unsigned size = 2; size <= blockDim.x; size *= 2)
        for (unsigned step = size / 2; step > 0; step /= 2) {
            unsigned partner = t ^ step;
            if (partner > t) {
                if ((t & size) == 0) {
                    if (key[t] > key[partner])
                        swap(key[t], key[partner]);
                } else {
                    if (key[t] < key[partner])
                        swap(key[t], key[partner]);
                }
            }
            __syncthreads();
        }
    data[t] = key[t];
}

// the direction chooses the operands, and one comparison is left
__global__ void operands(int *data)
{
    extern __shared__ int key[];
    unsigned t = threadIdx.x;
    key[t] = data[t];
    __syncthreads();
    for (unsigned size = 2; size <= blockDim.x; size *= 2)
        for (unsigned step = size / 2; step > 0; step /= 2) {
            unsigned partner = t ^ step;
            if (partner > t) {
                unsigned low, high;
                if ((t & size) == 0) {
                    low = t;
                    high = partner;
                } else {
                    low = partner;
                    high = t;
                }
                if (key[low] > key[high])
                    swap(key[low], key[high]);
            }
            __syncthreads();
        }
    data[t] = key[t];
}

// the operands are selected without a branch
__global__ void selects(int *data)
{
    extern __shared__ int key[];
    unsigned t = threadIdx.x;
    key[t] = data[t];
    __syncthreads();
    for (unsigned size = 2; size <= blockDim.x; size *= 2)
        for (unsigned step = size / 2; step > 0; step /= 2) {
            unsigned partner = t ^ step;
            if (partner > t) {
                bool up = (t & size) == 0;
                unsigned low = up ? t : partner;
                unsigned high = up ? partner : t;
                if (key[low] > key[high])
                    swap(key[low], key[high]);
            }
            __syncthreads();
        }
    data[t] = key[t];
}
