/* Each number is counted down to zero. */
void dec2zero(int n, int *v)
{
    for (int i = 0; i < n; i++)
        while (v[i] > 0)
            v[i]--;
}
