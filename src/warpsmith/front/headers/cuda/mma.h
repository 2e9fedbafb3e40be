#pragma GCC system_header
/* Matrix fragments of tensor cores: opaque objects, declared functions. */
#ifndef WARPSMITH_MMA_H
#define WARPSMITH_MMA_H
#include "cuda_fp16.h"
#include "cuda_bf16.h"

namespace nvcuda {
namespace wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
struct u4;
struct s4;
struct b1;
}
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
}
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}
template <class T> struct ws_element { typedef T type; };
template <> struct ws_element<precision::tf32> { typedef float type; };
template <class Use, int m, int n, int k, class T, class Layout = void> struct fragment {
    static constexpr int num_elements = 8;
    typename ws_element<T>::type x[8];
};
template <class Fragment, class T> __device__ void fill_fragment(Fragment &, const T &);
template <class Fragment, class T> __device__ void load_matrix_sync(Fragment &, const T *, unsigned);
template <class Fragment, class T> __device__ void load_matrix_sync(Fragment &, const T *, unsigned, layout_t);
template <class Fragment, class T> __device__ void store_matrix_sync(T *, const Fragment &, unsigned, layout_t);
template <class D, class A, class B, class C> __device__ void mma_sync(D &, const A &, const B &, const C &, bool = false);
__device__ float __float_to_tf32(float);
}
}

#endif
