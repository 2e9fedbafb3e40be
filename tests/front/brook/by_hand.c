/* What the kernels of examples/brook compute, written in C: one call for all elements. */
#include <math.h>

static float modulo(float a, float b) { return a - b * truncf(a / b); }

void sort_pass(const float *input, float *output, float width, float distance, float period, int n)
{
    for (int i = 0; i < n; i++) {
        float here = (float)i;
        float side = modulo(here, period) < distance ? 1.0f : -1.0f;
        float way = modulo(floorf(here / width), 2.0f) == 0.0f ? 1.0f : -1.0f;
        float one = input[i], other = input[(int)floorf(here + side * distance)];
        output[i] = side == way ? (one < other ? one : other) : (one > other ? one : other);
    }
}

void multiply(const float *a, const float *b, float *c, int n, int height, int width)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float sum = 0.0f;
            for (int k = 0; k < n; k++)
                sum += a[y * n + k] * b[k * width + x];
            c[y * width + x] = sum;
        }
}

void spread(const float *plate, float *next, int rows, int columns)
{
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) {
            const float *at = plate + y * columns + x;
            int edge = x == 0 || y == 0 || x == columns - 1 || y == rows - 1;
            next[y * columns + x] = edge ? *at : 0.25f * (at[-columns] + at[columns] + at[-1] + at[1]);
        }
}

void add(const float *a, float *total, int height, int width, int rows, int columns)
{
    int down = height / rows, across = width / columns;
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) {
            const float *at = a + y * down * width + x * across;
            float sum = at[0];
            for (int k = 1; k < down * across; k++)
                sum += at[k / across * width + k % across];
            total[y * columns + x] = sum;
        }
}

void mandelbrot(const float *corner, const float *step, int most, int *steps, int height, int width)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float cr = corner[0] + step[0] * (float)x, ci = corner[1] + step[1] * (float)y, r = 0, i = 0;
            int count = 0;
            while (count < most && r * r + i * i <= 4.0f) {
                float next = r * r - i * i + cr;
                i = r * i + i * r + ci;
                r = next;
                count++;
            }
            steps[y * width + x] = count;
        }
}

static float between(float a) { return fminf(fmaxf(a, 0.0f), 1.0f); }
static float part(float a) { return a - floorf(a); }

void shade(const float *color, const float *light, float weight, float *bright, float *two, int *bits, int n)
{
    for (int i = 0; i < n; i++) {
        const float *c = color + 4 * i, *lamp = light + 3 * i;
        float whole[4], rest[4];
        int b[4];
        for (int k = 0; k < 4; k++) {
            whole[k] = floorf(c[k] / weight);
            rest[k] = c[k] - whole[k] * weight;
        }
        for (int k = 0; k < 3; k++)
            bright[4 * i + k] = between(c[2 - k] * lamp[k] + rest[3]);
        bright[4 * i + 3] = fmaxf(c[3], lamp[1]) - (c[0] + 0.5f * (rest[0] - c[0]));
        two[2 * i] = c[0] * lamp[0] + c[1] * lamp[1] + c[2] * lamp[2];
        two[2 * i + 1] = c[0] < c[1] ? modulo(c[0], 0.25f) : -part(c[1]);
        for (int k = 0; k < 4; k++)
            b[k] = (int)(whole[k] * 8.0f);
        b[0] ^= 1;
        b[1] ^= 2;
        b[2] ^= i;
        b[3] ^= 4;
        bits[4 * i] = b[0] * 4;
        bits[4 * i + 1] = b[2];
        bits[4 * i + 2] = b[1];
        bits[4 * i + 3] = b[3];
    }
}
