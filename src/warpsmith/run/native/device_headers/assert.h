/* assert, for NVRTC: it has no folder of headers, and prints what failed by the function that CUDA's own assert calls.
   Like the C library's, it may be included again with another NDEBUG. */
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
extern "C" __device__ void __assertfail(const char *condition, const char *file, unsigned line, const char *function,
                                        unsigned long size) __attribute__((noreturn));
#define assert(condition) ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, __func__, sizeof(char)))
#endif
