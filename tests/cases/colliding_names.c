/* The user has our names already, and names that CUDA and C++ have.
 * RUN: port
 * EXPECT: class/this parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
int ws_check = 3, ws_device_acquire = 4;

void class(int n, double *restrict A_gpu, const double *restrict A)
{
    int threadIdx = n, blockDim = ws_check, new = 1;
    for (int this = 0; this < n; this++)
        A_gpu[this] = A[this] * new + threadIdx + blockDim;
}
