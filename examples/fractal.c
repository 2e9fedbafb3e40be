/* Escape time of z -> z*z + c for every pixel of an image: a loop of unknown length inside a parallel nest.
 *
 *     fractal [width [height]]      prints a small picture
 */
#include <stdio.h>
#include <stdlib.h>

#define MAX_ITERATIONS 200

/* Squared distance from the origin. */
static double norm2(double re, double im)
{
    return re * re + im * im;
}

void escape_time(int width, int height, int *image)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double c_re = -2.2 + 3.2 * x / width;
            double c_im = -1.3 + 2.6 * y / height;
            double re = 0.0, im = 0.0;
            int iteration = 0;
            while (iteration < MAX_ITERATIONS && norm2(re, im) <= 4.0) {
                double next = re * re - im * im + c_re;
                im = 2.0 * re * im + c_im;
                re = next;
                iteration++;
            }
            image[y * width + x] = iteration;
        }
}

int main(int argc, char **argv)
{
    int width = argc > 1 ? atoi(argv[1]) : 64;
    int height = argc > 2 ? atoi(argv[2]) : 24;
    int *image = malloc(sizeof(int) * width * height);
    if (image == NULL)
        return 1;

    escape_time(width, height, image);

    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++)
            putchar(" .:-=+*#%@"[image[y * width + x] * 9 / MAX_ITERATIONS]);
        putchar('\n');
    }
    free(image);
    return 0;
}
