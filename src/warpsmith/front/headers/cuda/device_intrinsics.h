/* What device code finds without any include, beyond mini_cuda.h: declarations only. */
#ifndef WARPSMITH_DEVICE_INTRINSICS_H
#define WARPSMITH_DEVICE_INTRINSICS_H

#define WS_D __device__
#define WS_ROUNDED(result, name, ...) \
    WS_D result name##_rn(__VA_ARGS__); WS_D result name##_rz(__VA_ARGS__); \
    WS_D result name##_ru(__VA_ARGS__); WS_D result name##_rd(__VA_ARGS__);

/* --- integers */
WS_D int __mul24(int, int);
WS_D unsigned int __umul24(unsigned int, unsigned int);
WS_D int mul24(int, int);
WS_D unsigned int umul24(unsigned int, unsigned int);
WS_D int __mulhi(int, int);
WS_D unsigned int __umulhi(unsigned int, unsigned int);
WS_D long long __mul64hi(long long, long long);
WS_D unsigned long long __umul64hi(unsigned long long, unsigned long long);
WS_D int __sad(int, int, unsigned int);
WS_D unsigned int __usad(unsigned int, unsigned int, unsigned int);
WS_D unsigned int __brev(unsigned int);
WS_D unsigned long long __brevll(unsigned long long);
WS_D int __ffsll(long long);
WS_D unsigned int __byte_perm(unsigned int, unsigned int, unsigned int);
WS_D unsigned int __funnelshift_l(unsigned int, unsigned int, unsigned int);
WS_D unsigned int __funnelshift_r(unsigned int, unsigned int, unsigned int);
WS_D unsigned int __funnelshift_lc(unsigned int, unsigned int, unsigned int);
WS_D unsigned int __funnelshift_rc(unsigned int, unsigned int, unsigned int);
WS_D int __hadd(int, int);
WS_D int __rhadd(int, int);
WS_D unsigned int __uhadd(unsigned int, unsigned int);
WS_D unsigned int __urhadd(unsigned int, unsigned int);
WS_D int __dp4a(int, int, int);
WS_D unsigned int __dp4a(unsigned int, unsigned int, unsigned int);
WS_D int __dp4a(char4, char4, int);
WS_D int __dp2a_lo(int, int, int);
WS_D int __dp2a_hi(int, int, int);
WS_D unsigned int umin(unsigned int, unsigned int);
WS_D unsigned int umax(unsigned int, unsigned int);
WS_D long long llmin(long long, long long);
WS_D long long llmax(long long, long long);
WS_D unsigned long long ullmin(unsigned long long, unsigned long long);
WS_D unsigned long long ullmax(unsigned long long, unsigned long long);
WS_D long abs(long);
WS_D long long abs(long long);
WS_D float abs(float);
WS_D double abs(double);
WS_D unsigned int __vadd2(unsigned int, unsigned int);
WS_D unsigned int __vadd4(unsigned int, unsigned int);
WS_D unsigned int __vsub4(unsigned int, unsigned int);
WS_D unsigned int __vmaxs2(unsigned int, unsigned int);
WS_D unsigned int __vmaxu4(unsigned int, unsigned int);
WS_D unsigned int __vminu4(unsigned int, unsigned int);
WS_D unsigned int __vabsdiffu4(unsigned int, unsigned int);
WS_D unsigned int __vcmpeq4(unsigned int, unsigned int);
WS_D unsigned int __vsadu4(unsigned int, unsigned int);
#define WS_ONE(name) WS_D unsigned int __v##name(unsigned int);
#define WS_TWO(name) WS_D unsigned int __v##name(unsigned int, unsigned int);
WS_ONE(abs2) WS_ONE(abs4) WS_ONE(absss2) WS_ONE(absss4) WS_ONE(neg2) WS_ONE(neg4) WS_ONE(negss2)
WS_ONE(negss4)
WS_TWO(absdiffs2) WS_TWO(absdiffs4) WS_TWO(absdiffu2) WS_TWO(addss2) WS_TWO(addss4) WS_TWO(addus2)
WS_TWO(addus4) WS_TWO(avgs2) WS_TWO(avgs4) WS_TWO(avgu2) WS_TWO(avgu4) WS_TWO(cmpeq2) WS_TWO(cmpges2)
WS_TWO(cmpges4) WS_TWO(cmpgeu2) WS_TWO(cmpgeu4) WS_TWO(cmpgts2) WS_TWO(cmpgts4) WS_TWO(cmpgtu2)
WS_TWO(cmpgtu4) WS_TWO(cmples2) WS_TWO(cmples4) WS_TWO(cmpleu2) WS_TWO(cmpleu4) WS_TWO(cmplts2)
WS_TWO(cmplts4) WS_TWO(cmpltu2) WS_TWO(cmpltu4) WS_TWO(cmpne2) WS_TWO(cmpne4) WS_TWO(haddu2) WS_TWO(haddu4)
WS_TWO(maxs4) WS_TWO(maxu2) WS_TWO(mins2) WS_TWO(mins4) WS_TWO(minu2) WS_TWO(sads2) WS_TWO(sads4)
WS_TWO(sadu2) WS_TWO(seteq2) WS_TWO(seteq4) WS_TWO(setges2) WS_TWO(setges4) WS_TWO(setgeu2) WS_TWO(setgeu4)
WS_TWO(setgts2) WS_TWO(setgts4) WS_TWO(setgtu2) WS_TWO(setgtu4) WS_TWO(setles2) WS_TWO(setles4)
WS_TWO(setleu2) WS_TWO(setleu4) WS_TWO(setlts2) WS_TWO(setlts4) WS_TWO(setltu2) WS_TWO(setltu4)
WS_TWO(setne2) WS_TWO(setne4) WS_TWO(sub2) WS_TWO(subss2) WS_TWO(subss4) WS_TWO(subus2) WS_TWO(subus4)
#undef WS_ONE
#undef WS_TWO

/* --- conversions */
WS_ROUNDED(int, __float2int, float)
WS_ROUNDED(unsigned int, __float2uint, float)
WS_ROUNDED(long long, __float2ll, float)
WS_ROUNDED(unsigned long long, __float2ull, float)
WS_ROUNDED(float, __int2float, int)
WS_ROUNDED(float, __uint2float, unsigned int)
WS_ROUNDED(float, __ll2float, long long)
WS_ROUNDED(float, __ull2float, unsigned long long)
WS_ROUNDED(int, __double2int, double)
WS_ROUNDED(unsigned int, __double2uint, double)
WS_ROUNDED(long long, __double2ll, double)
WS_ROUNDED(unsigned long long, __double2ull, double)
WS_ROUNDED(double, __ll2double, long long)
WS_ROUNDED(double, __ull2double, unsigned long long)
WS_ROUNDED(float, __double2float, double)
WS_D double __int2double_rn(int);
WS_D double __uint2double_rn(unsigned int);
WS_D int __double2hiint(double);
WS_D int __double2loint(double);
WS_D double __hiloint2double(int, int);

/* --- floating point */
WS_D float __fadd_rz(float, float);
WS_D float __fadd_ru(float, float);
WS_D float __fadd_rd(float, float);
WS_D float __fmul_rz(float, float);
WS_D float __fmul_ru(float, float);
WS_D float __fmul_rd(float, float);
WS_ROUNDED(float, __fsub, float, float)
WS_ROUNDED(float, __fdiv, float, float)
WS_ROUNDED(float, __frcp, float)
WS_D float __fsqrt_rz(float);
WS_D float __fsqrt_ru(float);
WS_D float __fsqrt_rd(float);
WS_D float __frsqrt_rn(float);
WS_D float __fmaf_rz(float, float, float);
WS_D float __fmaf_ru(float, float, float);
WS_D float __fmaf_rd(float, float, float);
WS_D double __dadd_rz(double, double);
WS_D double __dadd_ru(double, double);
WS_D double __dadd_rd(double, double);
WS_D double __dmul_rz(double, double);
WS_D double __dmul_ru(double, double);
WS_D double __dmul_rd(double, double);
WS_ROUNDED(double, __dsub, double, double)
WS_ROUNDED(double, __ddiv, double, double)
WS_ROUNDED(double, __drcp, double)
WS_D double __fma_rz(double, double, double);
WS_D double __fma_ru(double, double, double);
WS_D double __fma_rd(double, double, double);
WS_D float __log2f(float);
WS_D float __log10f(float);
WS_D float __exp10f(float);
WS_D float __tanf(float);
WS_D float __tanhf(float);
WS_ROUNDED(double, __dsqrt, double)
WS_D void __sincosf(float, float *, float *);
WS_D float __saturatef(float);
WS_D float fdividef(float, float);
WS_D double fdivide(double, double);
WS_D float fdivide(float, float);
#define WS_FLOATS(name) WS_D double name(double); WS_D float name(float); WS_D float name##f(float);
WS_FLOATS(rcbrt)
WS_FLOATS(tanpi)
WS_FLOATS(erfinv)
WS_FLOATS(erfcinv)
WS_FLOATS(erfcx)
WS_FLOATS(normcdf)
WS_FLOATS(normcdfinv)
WS_FLOATS(j0)
WS_FLOATS(j1)
WS_FLOATS(y0)
WS_FLOATS(y1)
#undef WS_FLOATS
WS_D double cyl_bessel_i0(double);
WS_D float cyl_bessel_i0f(float);
WS_D double cyl_bessel_i1(double);
WS_D float cyl_bessel_i1f(float);
WS_D double rnorm3d(double, double, double);
WS_D double rnorm4d(double, double, double, double);
WS_D double rhypot(double, double);
WS_D float rhypotf(float, float);
WS_D double norm3d(double, double, double);
WS_D float norm3df(float, float, float);
WS_D float rnorm3df(float, float, float);
WS_D double norm4d(double, double, double, double);
WS_D float norm4df(float, float, float, float);
WS_D float rnorm4df(float, float, float, float);
WS_D void sincos(float, float *, float *);
WS_D void sincospi(double, double *, double *);
WS_D void sincospif(float, float *, float *);
WS_D float modf(float, float *);
WS_D float frexp(float, int *);
WS_D long lround(float);
WS_D long lrint(float);
WS_D long long llround(float);
WS_D long long llroundf(float);
WS_D long long llrint(float);
WS_D long long llrintf(float);
WS_D int isnan(float);
WS_D int isinf(float);
WS_D int isfinite(float);
WS_D int signbit(float);
WS_D int __isnanf(float);
WS_D int __isinff(float);
WS_D int __finitef(float);
WS_D int __isnan(double);
WS_D int __isinf(double);
WS_D int __finite(double);
WS_D int __signbitf(float);
WS_D double nan(const char *);
WS_D float nanf(const char *);
WS_D float scalbn(float, int);
WS_D float scalblnf(float, long);
WS_D double pow(double, int);
WS_D float pow(float, int);
WS_D double pow(float, double);
WS_D double pow(double, float);
WS_D double pow(int, int);
WS_D double atan2(float, double);
WS_D double atan2(double, float);
WS_D double fmod(float, double);
WS_D double fmod(double, float);
WS_D double fmax(float, double);
WS_D double fmax(double, float);
WS_D double fmin(float, double);
WS_D double fmin(double, float);
#define WS_WHOLE(name) \
    WS_D double name(int); WS_D double name(unsigned int); WS_D double name(long); WS_D double name(unsigned long); \
    WS_D double name(long long); WS_D double name(unsigned long long);
WS_WHOLE(sqrt)
WS_WHOLE(exp)
WS_WHOLE(log)
WS_WHOLE(log2)
WS_WHOLE(log10)
WS_WHOLE(sin)
WS_WHOLE(cos)
WS_WHOLE(ceil)
WS_WHOLE(floor)
WS_WHOLE(fabs)
#undef WS_WHOLE
WS_D unsigned int min(unsigned int, int);
WS_D unsigned int min(int, unsigned int);
WS_D unsigned int max(unsigned int, int);
WS_D unsigned int max(int, unsigned int);
WS_D unsigned long min(unsigned long, long);
WS_D unsigned long min(long, unsigned long);
WS_D unsigned long max(unsigned long, long);
WS_D unsigned long max(long, unsigned long);
WS_D unsigned long long min(unsigned long long, long long);
WS_D unsigned long long min(long long, unsigned long long);
WS_D unsigned long long max(unsigned long long, long long);
WS_D unsigned long long max(long long, unsigned long long);
WS_D double min(float, double);
WS_D double min(double, float);
WS_D double max(float, double);
WS_D double max(double, float);

/* --- loads and stores with a place in the caches */
#define WS_LOAD(name) template <class T> WS_D T name(const T *address);
WS_LOAD(__ldca)
WS_LOAD(__ldcg)
WS_LOAD(__ldcs)
WS_LOAD(__ldcv)
WS_LOAD(__ldlu)
#undef WS_LOAD
#define WS_STORE(name) template <class T> WS_D void name(T *address, T value);
WS_STORE(__stwb)
WS_STORE(__stcg)
WS_STORE(__stcs)
WS_STORE(__stwt)
#undef WS_STORE

/* --- warps, clocks */
template <class T> WS_D T __shfl(T value, int lane, int width = 32);
template <class T> WS_D T __shfl_up(T value, unsigned delta, int width = 32);
template <class T> WS_D T __shfl_down(T value, unsigned delta, int width = 32);
template <class T> WS_D T __shfl_xor(T value, int lanes, int width = 32);
WS_D int __any(int predicate);
WS_D int __all(int predicate);
WS_D unsigned int __ballot(int predicate);
template <class T> WS_D unsigned int __match_any_sync(unsigned mask, T value);
template <class T> WS_D unsigned int __match_all_sync(unsigned mask, T value, int *predicate);
WS_D unsigned int __reduce_add_sync(unsigned mask, unsigned int value);
WS_D int __reduce_add_sync(unsigned mask, int value);
WS_D unsigned int __reduce_min_sync(unsigned mask, unsigned int value);
WS_D int __reduce_min_sync(unsigned mask, int value);
WS_D unsigned int __reduce_max_sync(unsigned mask, unsigned int value);
WS_D int __reduce_max_sync(unsigned mask, int value);
WS_D unsigned int __reduce_and_sync(unsigned mask, unsigned int value);
WS_D unsigned int __reduce_or_sync(unsigned mask, unsigned int value);
WS_D unsigned int __reduce_xor_sync(unsigned mask, unsigned int value);
WS_D void __nanosleep(unsigned int nanoseconds);
WS_D void __trap(void);
WS_D void __brkpt(void);
WS_D void __prof_trigger(int);
WS_D long clock(void);
WS_D unsigned long long __globaltimer(void);
WS_D unsigned int __isGlobal(const void *);
WS_D unsigned int __isShared(const void *);
WS_D unsigned int __isConstant(const void *);
WS_D unsigned int __isLocal(const void *);
WS_D size_t __cvta_generic_to_shared(const void *);
WS_D size_t __cvta_generic_to_global(const void *);
WS_D void *__cvta_shared_to_generic(size_t);
WS_D unsigned int __fns(unsigned mask, unsigned base, int offset);

/* --- atomics: more types, and those with another scope */
WS_D long long atomicAnd(long long *address, long long value);
WS_D long long atomicOr(long long *address, long long value);
WS_D long long atomicXor(long long *address, long long value);
WS_D long long atomicExch(long long *address, long long value);
WS_D double atomicExch(double *address, double value);
WS_D long long atomicCAS(long long *address, long long compare, long long value);
WS_D float2 atomicAdd(float2 *address, float2 value);
WS_D float4 atomicAdd(float4 *address, float4 value);
#define WS_SCOPED(name, T) WS_D T name##_block(T *address, T value); WS_D T name##_system(T *address, T value);
#define WS_INTEGERS(name) WS_SCOPED(name, int) WS_SCOPED(name, unsigned int) WS_SCOPED(name, unsigned long long)
WS_INTEGERS(atomicAdd)
WS_SCOPED(atomicAdd, float)
WS_SCOPED(atomicAdd, double)
WS_INTEGERS(atomicMin)
WS_INTEGERS(atomicMax)
WS_INTEGERS(atomicAnd)
WS_INTEGERS(atomicOr)
WS_INTEGERS(atomicXor)
WS_INTEGERS(atomicExch)
WS_SCOPED(atomicExch, float)
WS_SCOPED(atomicSub, int)
WS_SCOPED(atomicSub, unsigned int)
#undef WS_INTEGERS
#undef WS_SCOPED
WS_D unsigned int atomicInc_block(unsigned int *address, unsigned int value);
WS_D unsigned int atomicInc_system(unsigned int *address, unsigned int value);
WS_D unsigned int atomicDec_block(unsigned int *address, unsigned int value);
WS_D unsigned int atomicDec_system(unsigned int *address, unsigned int value);
WS_D int atomicCAS_block(int *address, int compare, int value);
WS_D unsigned int atomicCAS_block(unsigned int *address, unsigned int compare, unsigned int value);
WS_D int atomicCAS_system(int *address, int compare, int value);
WS_D unsigned int atomicCAS_system(unsigned int *address, unsigned int compare, unsigned int value);

/* --- textures and surfaces */
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
typedef unsigned long long CUdeviceptr;
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
WS_D inline void *operator new(size_t, void *place) noexcept { return place; }
WS_D inline void *operator new[](size_t, void *place) noexcept { return place; }
struct cudaArray;
typedef struct cudaArray *cudaArray_t;
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum cudaChannelFormatKind { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat };
struct cudaChannelFormatDesc { int x, y, z, w; enum cudaChannelFormatKind f; };
enum { cudaTextureType1D = 1, cudaTextureType2D = 2, cudaTextureType3D = 3, cudaTextureTypeCubemap = 12 };
struct textureReference {
    int normalized;
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureAddressMode addressMode[3];
    struct cudaChannelFormatDesc channelDesc;
};
template <class T, int dimensions = 1, enum cudaTextureReadMode mode = cudaReadModeElementType>
struct texture : textureReference {};
template <class T, int dimensions = 1> struct surface : textureReference {};
template <class T, cudaTextureReadMode mode> struct ws_fetched { typedef T type; };
template <> struct ws_fetched<unsigned char, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct ws_fetched<unsigned short, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct ws_fetched<char, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct ws_fetched<short, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct ws_fetched<uchar4, cudaReadModeNormalizedFloat> { typedef float4 type; };
#define WS_TEXTURE(name, dimensions, ...) \
    template <class T, cudaTextureReadMode mode> \
    WS_D typename ws_fetched<T, mode>::type name(texture<T, dimensions, mode>, __VA_ARGS__); \
    template <class T> WS_D T name(cudaTextureObject_t, __VA_ARGS__); \
    template <class T> WS_D void name(T *, cudaTextureObject_t, __VA_ARGS__);
WS_TEXTURE(tex1Dfetch, 1, int)
WS_TEXTURE(tex1D, 1, float)
WS_TEXTURE(tex2D, 2, float, float)
WS_TEXTURE(tex3D, 3, float, float, float)
WS_TEXTURE(tex1DLayered, 1, float, int)
WS_TEXTURE(tex2DLayered, 2, float, float, int)
WS_TEXTURE(texCubemap, 12, float, float, float)
WS_TEXTURE(tex2DLod, 2, float, float, float)
WS_TEXTURE(tex2DGrad, 2, float, float, float2, float2)
WS_TEXTURE(tex3DLod, 3, float, float, float, float)
#undef WS_TEXTURE
#define WS_SURFACE(name, dimensions, ...) \
    template <class T> WS_D T name##read(cudaSurfaceObject_t, __VA_ARGS__, \
        cudaSurfaceBoundaryMode = cudaBoundaryModeTrap); \
    template <class T> WS_D void name##read(T *, cudaSurfaceObject_t, __VA_ARGS__, \
        cudaSurfaceBoundaryMode = cudaBoundaryModeTrap); \
    template <class T> WS_D void name##write(T, cudaSurfaceObject_t, __VA_ARGS__, \
        cudaSurfaceBoundaryMode = cudaBoundaryModeTrap); \
    template <class T> WS_D T name##read(surface<void, dimensions>, __VA_ARGS__, \
        cudaSurfaceBoundaryMode = cudaBoundaryModeTrap); \
    template <class T> WS_D void name##write(T, surface<void, dimensions>, __VA_ARGS__, \
        cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
WS_SURFACE(surf1D, 1, int)
WS_SURFACE(surf2D, 2, int, int)
WS_SURFACE(surf3D, 3, int, int, int)
WS_SURFACE(surf2DLayered, 2, int, int, int)
#undef WS_SURFACE
#undef WS_ROUNDED
#undef WS_D

#endif
