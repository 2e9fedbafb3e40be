// Two conditions with one else: on a stack of masks, the lanes that fail the first do not wait for those that fail the
// second.
__global__ void both(const int *a, const int *b, int *out)
{
    int i = threadIdx.x;
    if (a[i] > 0 && b[i] > 0) {
        out[i] = a[i] * b[i];
    } else {
        int sum = a[i] + b[i];
        out[i] = sum * sum + 3 * sum + 1;
    }
}
