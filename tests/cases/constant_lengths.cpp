/* Arrays of an iteration whose lengths are constants of C++: in a kernel such a constant is a parameter, which gives no
 * length, so the number stands there. A length that only a run knows stays on the host, however often it is the same.
 * RUN: port
 * EXPECT: mirror/k parallel ported: no carried dependence (proven)
 * EXPECT: mirror/k/i parallel ported: no carried dependence (proven)
 * EXPECT: mirror/k/i/j parallel ported: no carried dependence (proven)
 * EXPECT: mirror/k/i#2 parallel ported: no carried dependence (proven)
 * EXPECT: varied/k parallel host: the length of the local array 'part' is not a constant
 * EXPECT: varied/k/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
void mirror(double *a)
{
    const int width = 8, half = width / 2;
    for (int k = 0; k < 4; k++) {
        double part[width][half], last[3];
        for (int i = 0; i < width; i++)
            for (int j = 0; j < half; j++)
                part[i][j] = i * k + j + sizeof(part) / sizeof(double);
        last[1] = k;
        for (int i = 0; i < width; i++)
            a[k * width + i] = part[width - i - 1][1] + last[1];
    }
}

void varied(int n, double *a)
{
    const int width = n + 1;
    for (int k = 0; k < 4; k++) {
        double part[width];
        for (int i = 0; i < width; i++)
            part[i] = i + k;
        a[k] = part[n];
    }
}
