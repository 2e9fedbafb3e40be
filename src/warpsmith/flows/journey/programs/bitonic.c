/* Bitonic sort of n numbers, n a power of two: runs of `run` numbers are merged, upward and downward in turn. */
void bitonic(int n, int *x)
{
    for (int run = 2; run <= n; run *= 2)
        for (int apart = run / 2; apart > 0; apart /= 2)
            for (int i = 0; i < n; i++) {
                int other = i ^ apart;
                if (other > i) {
                    int up = (i & run) == 0;
                    if ((up && x[i] > x[other]) || (!up && x[i] < x[other])) {
                        int held = x[i];
                        x[i] = x[other];
                        x[other] = held;
                    }
                }
            }
}
