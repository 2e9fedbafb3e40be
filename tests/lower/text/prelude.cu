struct Pair { int x; float y; short z[3]; unsigned char c; unsigned w; };
struct Inner { short a; long long b; };
struct Outer { char tag; Inner in[2]; float2 v; };
union Bits { float f; unsigned u; int i; };
enum Color { RED = 2, GREEN = 5, BLUE };
__constant__ int table[8] = { 3, -1, 4, 1, -5, 9, 2, 6 };
__constant__ float weights[4] = { 0.5f, -1.25f, 2.0f, 3.5f };
__device__ unsigned total;
__device__ inline float bounded(float x) { return fminf(fmaxf(x, -1000.0f), 1000.0f); }
__device__ inline double held(double x) { return x > 1e6 ? 1e6 : x < -1e6 ? -1e6 : x; }
__device__ int mixed(int a, unsigned b, short c) { return a * 3 + (int)(b >> 2) - c; }
__device__ float weighted(float x, int i) { if (i < 0) return -x; return x * weights[i & 3]; }
__device__ void swapped(int &a, int &b) { int t = a; a = b; b = t; }
__device__ void bump(int *p, int by) { *p += by; if (*p > 500) { *p = *p % 100; return; } (*p)++; }
__device__ Pair paired(Pair p, int k) { p.x += k; p.z[k & 1] = (short)(p.x ^ k); p.y = bounded(p.y * 0.5f + k); return p; }
__device__ int summed(const int *p, int count) { int r = 0; for (int i = 0; i < count; ++i) r += p[i] ^ i; return r; }
__device__ bool odd(int x) { return x & 1; }
template <class T> __device__ T twice(T x) { return x + x; }
template <int K> __device__ int scaled(int x) { if (K > 2) return x * K; return x - K; }
struct Begun { int x = 7; float y; };
struct Base { int base; __device__ Base() : base(3) {} };
struct Grown : Base { Begun inner; int more = 5, low; };
struct Wrapped { Begun held; Grown grown; };
struct Plain { int a = 9; Begun inner; };
template <class T> struct Sized { static constexpr int size = 8; static constexpr T scale = T(2); T v[size]; __device__ T twice() const { return v[1] * scale; } };
struct Count { int n, step; __device__ Count() : n(5), step(2) { n += step; } __device__ void add(int x) { n += x * step; } };
struct Counts { Count c[3]; int last = 4; };
struct Vec {
  float x, y;
  __device__ Vec(float x, float y) : x(x), y(y) {}
  __device__ Vec operator+(const Vec &o) const { return {x + o.x, y + o.y}; }
  __device__ Vec &operator*=(float s) { x *= s; y *= s; return *this; }
  __device__ float &operator[](int i) { return i ? y : x; }
  __device__ friend bool operator==(const Vec &a, const Vec &b) { return a.x == b.x && a.y == b.y; }
};
__device__ inline Vec operator*(float s, Vec v) { return {s * v.x, s * v.y}; }
template <class F> __device__ int applied(F f, int n) { int s = 0; for (int i = 0; i < n; i++) s += f(i); return s; }

__device__ float halved(const float &x) { return x / 2; }
__device__ void put(const float *const &from, float *const &to, const short &count) {
    for (int i = 0; i < count; i++) to[i] = from[i];
}
struct Bound {
    const int &whole;
    double part;
    __device__ Bound(const int &a, const double &b) : whole(kept), part(b / 4) { kept = a; }
    int kept;
};

template <class T, int L, class S> struct Curious {
    __device__ T *at() { return ((S *)this)->at(); }
    __device__ const T *at() const { return static_cast<const S *>(this)->at(); }
    __device__ void set(const T &a) { T *p = at(); for (int i = 0; i < L; i++) p[i] = a; }
    __device__ T sum() const { T s = 0; for (int i = 0; i < L; i++) s += at()[i]; return s; }
    template <class V> __device__ S operator+(const Curious<T, L, V> &v) const {
        S r;
        for (int i = 0; i < L; i++) r.at()[i] = at()[i] + v.at()[i];
        return r;
    }
};
struct Triple { float x, y, z; };
struct Point : Curious<float, 3, Point>, Triple {
    __device__ Point() {}
    __device__ explicit Point(float a) { set(a); }
    __device__ Point(float a, float b, float c) { x = a; y = b; z = c; }
    __device__ float *at() { return &x; }
    __device__ const float *at() const { return &x; }
};
struct Label { __device__ int label() const { return 5; } };
struct One { float x; __device__ float twice() const { return 2 * x; } };
struct Marked : One, Label { int step; };
template <class T> __device__ void lift(T &x, const T &by) { x += by; }
__device__ int forty = 40;
__device__ void follow(int *&p) { *p += 2; p = &forty; }
