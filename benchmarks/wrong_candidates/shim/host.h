/* Included before the program's host text: its heap goes through the judge, which records every block.

   JUDGE_STACK is put into the text, at the end of a function, for each array that lies in its frame. */
#ifndef JUDGE_HOST_H
#define JUDGE_HOST_H
#ifdef __cplusplus
#include <cstdlib>
#include <cstring>
#else
#include <stdlib.h>
#include <string.h>
#endif
#include <malloc.h>
#ifdef __cplusplus
extern "C" {
#endif
void *judge_malloc(size_t);
void *judge_calloc(size_t, size_t);
void *judge_realloc(void *, size_t);
void *judge_memalign(size_t, size_t);
int judge_posix_memalign(void **, size_t, size_t);
void judge_free(void *);
void judge_stack(const char *, const void *, size_t);
#ifdef __cplusplus
}
namespace std {
using ::judge_calloc;
using ::judge_free;
using ::judge_malloc;
using ::judge_memalign;
using ::judge_realloc;
} // namespace std
#endif
#define malloc judge_malloc
#define calloc judge_calloc
#define realloc judge_realloc
#define memalign judge_memalign
#define aligned_alloc judge_memalign
#define posix_memalign judge_posix_memalign
#define free judge_free
#define JUDGE_STACK(name, array) judge_stack(name, (const void *)(array), sizeof(array))
#endif
