/* Each element is a struct; the loop touches two members of it.
 * RUN: port
 * EXPECT: drift/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
struct particle {
    double x, v;
    int alive;
};

void drift(int n, double dt, struct particle *p)
{
    for (int i = 0; i < n; i++)
        p[i].x += dt * p[i].v;
}
