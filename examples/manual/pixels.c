/* Four planes of n samples as n pixels of four samples each. */
void interleave(int n, float *restrict pixel, const float *restrict plane)
{
    for (int p = 0; p < n; p++)
        for (int c = 0; c < 4; c++)
            pixel[4 * p + c] = plane[n * c + p];
}
