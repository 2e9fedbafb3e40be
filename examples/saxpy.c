/* y = a * x + y, the smallest loop worth a kernel. There is no main here: the referee calls the function itself. */

void saxpy(int n, float a, const float *restrict x, float *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}
