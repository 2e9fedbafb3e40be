/* Only the pragma says that no place occurs twice; every thread has its own t.
 * RUN: port
 * EXPECT: fill/i parallel ported: no carried dependence (proven)
 * EXPECT: spread/i parallel-after ported: parallel after privatize=spread/i,variable=t
 * EXPECT: spread/i/k parallel ported: no carried dependence (proven)
 * EXPECT: main/i reduction ported: an associative update (+: s) is the only carried dependence
 * VERIFY: pass
 */
static double table[64];
static int places[50];
void fill(void)
{
    for (int i = 0; i < 50; i++)
        places[i] = i * 7 % 64;
}
void spread(void)
{
    double t[3], u;
#pragma omp parallel for private(t, u) schedule(static)
    for (int i = 0; i < 50; i++) {
        u = 0.5 * i;
        for (int k = 0; k < 3; k++)
            t[k] = u * k;
        table[places[i]] = t[0] + t[i % 3];
    }
}
int main(void)
{
    double s = 0;
    fill();
    spread();
    for (int i = 0; i < 64; i++)
        s += table[i];
    return s > 1e9;
}
