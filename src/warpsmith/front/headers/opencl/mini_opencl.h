#pragma GCC system_header
/* What OpenCL C has without any include, beyond the parser's own table of built-in functions. */
#ifndef WARPSMITH_MINI_OPENCL_H
#define WARPSMITH_MINI_OPENCL_H

/* --- what the table asks for */
#define __opencl_c_named_address_space_builtins 1
#define __opencl_c_generic_address_space 1
#define __opencl_c_work_group_collective_functions 1
#define __opencl_c_atomic_order_acq_rel 1
#define __opencl_c_atomic_order_seq_cst 1
#define __opencl_c_atomic_scope_device 1
#define __opencl_c_atomic_scope_all_devices 1
#define __opencl_c_subgroups 1
#define __opencl_c_read_write_images 1
#define __opencl_c_3d_image_writes 1
#define __opencl_c_images 1
#define __opencl_c_int64 1
#define __opencl_c_fp64 1
#define __opencl_c_fp16 1
#define cl_khr_fp64 1
#define cl_khr_fp16 1
#define cl_khr_subgroups 1
#define cl_khr_int64_base_atomics 1
#define cl_khr_int64_extended_atomics 1
#define cl_khr_global_int32_base_atomics 1
#define cl_khr_local_int32_base_atomics 1
#define cl_khr_byte_addressable_store 1
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
#define WS_VECTORS(T) \
    typedef T T##2 __attribute__((ext_vector_type(2))); typedef T T##3 __attribute__((ext_vector_type(3))); \
    typedef T T##4 __attribute__((ext_vector_type(4))); typedef T T##8 __attribute__((ext_vector_type(8))); \
    typedef T T##16 __attribute__((ext_vector_type(16)));
WS_VECTORS(char)
WS_VECTORS(uchar)
WS_VECTORS(short)
WS_VECTORS(ushort)
WS_VECTORS(int)
WS_VECTORS(uint)
WS_VECTORS(long)
WS_VECTORS(ulong)
WS_VECTORS(float)
WS_VECTORS(double)
WS_VECTORS(half)
#undef WS_VECTORS

#ifndef NULL
#define NULL ((void *)0)
#endif

typedef uint cl_mem_fence_flags;
#define CLK_LOCAL_MEM_FENCE 0x01
#define CLK_GLOBAL_MEM_FENCE 0x02
#define CLK_IMAGE_MEM_FENCE 0x04
typedef enum memory_scope {
    memory_scope_work_item, memory_scope_work_group, memory_scope_device, memory_scope_all_svm_devices,
    memory_scope_sub_group
} memory_scope;
#define memory_scope_all_devices memory_scope_all_svm_devices
typedef enum memory_order {
    memory_order_relaxed = 0, memory_order_acquire = 2, memory_order_release = 3, memory_order_acq_rel = 4,
    memory_order_seq_cst = 5
} memory_order;
#define ATOMIC_VAR_INIT(x) (x)
#define ATOMIC_FLAG_INIT 0

#define CLK_ADDRESS_NONE 0
#define CLK_ADDRESS_CLAMP_TO_EDGE 2
#define CLK_ADDRESS_CLAMP 4
#define CLK_ADDRESS_REPEAT 6
#define CLK_ADDRESS_MIRRORED_REPEAT 8
#define CLK_NORMALIZED_COORDS_FALSE 0
#define CLK_NORMALIZED_COORDS_TRUE 1
#define CLK_FILTER_NEAREST 0x10
#define CLK_FILTER_LINEAR 0x20
#define CLK_R 0x10B0
#define CLK_RGBA 0x10B5
#define CLK_FLOAT 0x10DE
#define CLK_UNSIGNED_INT8 0x10DA

/* --- numbers */
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define CHAR_MAX SCHAR_MAX
#define CHAR_MIN SCHAR_MIN
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 0xffffffffU
#define LONG_MAX ((long)0x7fffffffffffffffL)
#define LONG_MIN (-0x7fffffffffffffffL - 1)
#define ULONG_MAX 0xffffffffffffffffUL
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_RADIX 2
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1.0p-126f
#define FLT_EPSILON 0x1.0p-23f
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define DBL_MAX 0x1.fffffffffffffp1023
#define DBL_MIN 0x1.0p-1022
#define DBL_EPSILON 0x1.0p-52
#define MAXFLOAT FLT_MAX
#define HUGE_VALF (__builtin_huge_valf())
#define HUGE_VAL (__builtin_huge_val())
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define M_E_F 2.71828182845904523536028747135266250f
#define M_LOG2E_F 1.44269504088896340735992468100189214f
#define M_LN2_F 0.693147180559945309417232121458176568f
#define M_PI_F 3.14159265358979323846264338327950288f
#define M_PI_2_F 1.57079632679489661923132169163975144f
#define M_PI_4_F 0.785398163397448309615660845819875721f
#define M_1_PI_F 0.318309886183790671537767526745028724f
#define M_2_PI_F 0.636619772367581343075535053490057448f
#define M_SQRT2_F 1.41421356237309504880168872420969808f
#define M_SQRT1_2_F 0.707106781186547524400844362104849039f
#define M_E 2.718281828459045235360287471352662498
#define M_LOG2E 1.442695040888963407359924681001892137
#define M_LN2 0.693147180559945309417232121458176568
#define M_LN10 2.302585092994045684017991454684364208
#define M_PI 3.141592653589793238462643383279502884
#define M_PI_2 1.570796326794896619231321691639751442
#define M_PI_4 0.785398163397448309615660845819875721
#define M_1_PI 0.318309886183790671537767526745028724
#define M_2_PI 0.636619772367581343075535053490057448
#define M_SQRT2 1.414213562373095048801688724209698079
#define M_SQRT1_2 0.707106781186547524400844362104849039

/* --- the bits of a value as another type */
#define WS_TO(T, F) T __attribute__((overloadable, const)) as_##T(F);
#define WS_BITS8(T) WS_TO(T, char) WS_TO(T, uchar)
WS_BITS8(char) WS_BITS8(uchar)
#undef WS_BITS8
#define WS_BITS16(T) WS_TO(T, char2) WS_TO(T, uchar2) WS_TO(T, short) WS_TO(T, ushort) WS_TO(T, half)
WS_BITS16(char2) WS_BITS16(uchar2) WS_BITS16(short) WS_BITS16(ushort) WS_BITS16(half)
#undef WS_BITS16
#define WS_BITS32(T) WS_TO(T, char3) WS_TO(T, char4) WS_TO(T, uchar3) WS_TO(T, uchar4) WS_TO(T, short2) \
    WS_TO(T, ushort2) WS_TO(T, half2) WS_TO(T, int) WS_TO(T, uint) WS_TO(T, float)
WS_BITS32(char3) WS_BITS32(char4) WS_BITS32(uchar3) WS_BITS32(uchar4) WS_BITS32(short2) WS_BITS32(ushort2)
WS_BITS32(half2) WS_BITS32(int) WS_BITS32(uint) WS_BITS32(float)
#undef WS_BITS32
#define WS_BITS64(T) WS_TO(T, char8) WS_TO(T, uchar8) WS_TO(T, short3) WS_TO(T, short4) WS_TO(T, ushort3) \
    WS_TO(T, ushort4) WS_TO(T, half3) WS_TO(T, half4) WS_TO(T, int2) WS_TO(T, uint2) WS_TO(T, float2) \
    WS_TO(T, long) WS_TO(T, ulong) WS_TO(T, double)
WS_BITS64(char8) WS_BITS64(uchar8) WS_BITS64(short3) WS_BITS64(short4) WS_BITS64(ushort3) WS_BITS64(ushort4)
WS_BITS64(half3) WS_BITS64(half4) WS_BITS64(int2) WS_BITS64(uint2) WS_BITS64(float2) WS_BITS64(long)
WS_BITS64(ulong) WS_BITS64(double)
#undef WS_BITS64
#define WS_BITS128(T) WS_TO(T, char16) WS_TO(T, uchar16) WS_TO(T, short8) WS_TO(T, ushort8) WS_TO(T, half8) \
    WS_TO(T, int3) WS_TO(T, int4) WS_TO(T, uint3) WS_TO(T, uint4) WS_TO(T, float3) WS_TO(T, float4) \
    WS_TO(T, long2) WS_TO(T, ulong2) WS_TO(T, double2)
WS_BITS128(char16) WS_BITS128(uchar16) WS_BITS128(short8) WS_BITS128(ushort8) WS_BITS128(half8)
WS_BITS128(int3) WS_BITS128(int4) WS_BITS128(uint3) WS_BITS128(uint4) WS_BITS128(float3) WS_BITS128(float4)
WS_BITS128(long2) WS_BITS128(ulong2) WS_BITS128(double2)
#undef WS_BITS128
#define WS_BITS256(T) WS_TO(T, short16) WS_TO(T, ushort16) WS_TO(T, half16) WS_TO(T, int8) WS_TO(T, uint8) \
    WS_TO(T, float8) WS_TO(T, long3) WS_TO(T, long4) WS_TO(T, ulong3) WS_TO(T, ulong4) WS_TO(T, double3) \
    WS_TO(T, double4)
WS_BITS256(short16) WS_BITS256(ushort16) WS_BITS256(half16) WS_BITS256(int8) WS_BITS256(uint8)
WS_BITS256(float8) WS_BITS256(long3) WS_BITS256(long4) WS_BITS256(ulong3) WS_BITS256(ulong4)
WS_BITS256(double3) WS_BITS256(double4)
#undef WS_BITS256
#define WS_BITS512(T) WS_TO(T, int16) WS_TO(T, uint16) WS_TO(T, float16) WS_TO(T, long8) WS_TO(T, ulong8) \
    WS_TO(T, double8)
WS_BITS512(int16) WS_BITS512(uint16) WS_BITS512(float16) WS_BITS512(long8) WS_BITS512(ulong8)
WS_BITS512(double8)
#undef WS_BITS512
#define WS_BITS1024(T) WS_TO(T, long16) WS_TO(T, ulong16) WS_TO(T, double16)
WS_BITS1024(long16) WS_BITS1024(ulong16) WS_BITS1024(double16)
#undef WS_BITS1024
#undef WS_TO

/* --- what the table lacks */
int printf(__constant const char *restrict format, ...);
uint get_sub_group_size(void);
uint get_max_sub_group_size(void);
uint get_num_sub_groups(void);
uint get_enqueued_num_sub_groups(void);
uint get_sub_group_id(void);
uint get_sub_group_local_id(void);
void __attribute__((overloadable)) sub_group_barrier(cl_mem_fence_flags);
void __attribute__((overloadable)) sub_group_barrier(cl_mem_fence_flags, memory_scope);
int sub_group_all(int);
int sub_group_any(int);
#define WS_GROUP(T) \
    T __attribute__((overloadable)) sub_group_broadcast(T, uint); \
    T __attribute__((overloadable)) sub_group_shuffle(T, uint); \
    T __attribute__((overloadable)) sub_group_shuffle_xor(T, uint); \
    T __attribute__((overloadable)) sub_group_shuffle_up(T, uint); \
    T __attribute__((overloadable)) sub_group_shuffle_down(T, uint); \
    T __attribute__((overloadable)) sub_group_reduce_add(T); \
    T __attribute__((overloadable)) sub_group_reduce_min(T); \
    T __attribute__((overloadable)) sub_group_reduce_max(T); \
    T __attribute__((overloadable)) sub_group_scan_inclusive_add(T); \
    T __attribute__((overloadable)) sub_group_scan_inclusive_min(T); \
    T __attribute__((overloadable)) sub_group_scan_inclusive_max(T); \
    T __attribute__((overloadable)) sub_group_scan_exclusive_add(T); \
    T __attribute__((overloadable)) sub_group_scan_exclusive_min(T); \
    T __attribute__((overloadable)) sub_group_scan_exclusive_max(T);
WS_GROUP(int) WS_GROUP(uint) WS_GROUP(long) WS_GROUP(ulong) WS_GROUP(float) WS_GROUP(double)
#undef WS_GROUP

#endif
