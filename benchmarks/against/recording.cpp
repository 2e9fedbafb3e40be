/* Writes each launch of a host program, with its arguments, to the file that LAUNCHES names, one a line:
 *     KERNEL GRID_X GRID_Y GRID_Z BLOCK_X BLOCK_Y BLOCK_Z ARGUMENT...
 * An argument is `i:NUMBER`, `f:NUMBER`, or `p:BYTES`, the bytes from where a pointer points to the end of its
 * allocation. Linked beside polybench/counting.cpp, which is the rest of the runtime: nothing executes kernels.
 */
#include "recording.h"

#include <cstdio>
#include <cstdlib>

extern "C" long long ws_bytes_behind(const void *place);

namespace {

FILE *file()
{
    static FILE *opened = fopen(getenv("LAUNCHES"), "w");
    if (opened == nullptr)
        abort();
    return opened;
}

} // namespace

namespace recording {

void begin(const char *kernel, dim3 grid, dim3 block)
{
    fprintf(file(), "%s %u %u %u %u %u %u", kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z);
}

void put(long long number) { fprintf(file(), " i:%lld", number); }
void put(double number) { fprintf(file(), " f:%.17g", number); }
void put(const void *place) { fprintf(file(), " p:%lld", ws_bytes_behind(place)); }
void end() { fputc('\n', file()); }

} // namespace recording
