// How long kernels and copies take on the device, as CUPTI sees them, on the program's standard error.
#include <cstdio>
#include <cstdlib>
#include <cupti.h>

static double kernels, copies;
static unsigned long long launches, moves;

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *records)
{
    *size = 8 << 20;
    *buffer = static_cast<uint8_t *>(aligned_alloc(8, *size));
    *records = 0;
}

static void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
    CUpti_Activity *record = nullptr;
    while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        // the first members of these records are the same in all their versions
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
            const auto *kernel = reinterpret_cast<const CUpti_ActivityKernel9 *>(record);
            kernels += 1e-9 * double(kernel->end - kernel->start);
            launches++;
        } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
            const auto *copy = reinterpret_cast<const CUpti_ActivityMemcpy5 *>(record);
            copies += 1e-9 * double(copy->end - copy->start);
            moves++;
        }
    }
    free(buffer);
}

static void say()
{
    cuptiActivityFlushAll(1);
    fprintf(stderr, "\nactivity %.9f %llu %.9f %llu\n", kernels, launches, copies, moves);
}

__attribute__((constructor)) static void begin()
{
    cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
    atexit(say);
}
