/* generators in loops that count down, or by more than one */
void from_the_end(int n, double *restrict a, unsigned long long s)
{
    for (int i = n - 1; i >= 0; i--) {
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        a[i] = (double)(s >> 12);
    }
}

unsigned two_of_each(int n, double *restrict a, double *restrict b, unsigned s)
{
    for (int i = 1; i < n; i += 2) {
        s = 69069u * s + 5u;
        a[i] = s;
        s = 69069u * s + 5u;
        b[i] = s;
    }
    return s;
}

unsigned down_by_three(int n, double *restrict a, unsigned s)
{
    for (int i = n; i > 2; i -= 3) {
        a[i - 1] = s;
        s = (s * 1103515245u + 12345u) & 0x7fffffffu;
    }
    return s;
}

/* the first value of the counter is gone behind the loop, or the draws are of no fixed number */
unsigned start_is_lost(int n, int m, double *restrict a, unsigned s)
{
    for (int i = m; i < n; i++) {
        m = i;
        s = 69069u * s + 5u;
        a[m] = s;
    }
    return s;
}

unsigned drawn_again(int n, double *restrict a, unsigned s)
{
    for (int i = n - 1; i >= 0; i--) {
        s = 69069u * s + 5u;
        if (s < 9999u)
            s = 69069u * s + 5u;
        a[i] = s;
    }
    return s;
}
