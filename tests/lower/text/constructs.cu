// One small kernel for each construct, with the parameters of the random ones: `t` is the thread, `oi[t]` its answer.

//// unsigned comparison
unsigned u = in[t];
oi[t] = (u > 5u) * 2 + (in[t] > 5) + (-1 < (int)u) * 4 + (u < -1) * 8;

//// promotions
signed char q = (signed char)in[t];
unsigned short k = (unsigned short)in[t];
oi[t] = (q << 4) + (k >> 3) + ~k;

//// mixed widths
long long l = in[t];
unsigned u = 3000000000u;
oi[t] = (int)((l * u) >> 20);
ol[t] = l + u - (unsigned)in[t];

//// shifts
int a = in[t];
unsigned u = (unsigned)a;
oi[t] = (a >> 3) ^ (int)(u >> 3) ^ (a << 5);
ol[t] = ((long long)a << 33) >> 31;

//// division
int a = in[t];
oi[t] = a / 7 * 1000 + a % 7;
ol[t] = (unsigned)a / 7u + (unsigned)a % 7u;

//// floats to integers
float f = fin[t];
oi[t] = (int)f * 100 + (int)(unsigned char)(f < 0 ? -f : f);
od[t] = (int)f / 2.0;
of[t] = 1 / 3.0f;

//// booleans
bool b = in[t] & 4;
bool c = fin[t];
oi[t] = b + c + !b + (b == c) * 4 + (b ^ c) * 8;
b |= c;
oi[t] += b ? 16 : 32;

//// short circuits
int a = in[t], b = 0;
if (a > 0 && ++b > 0) b += 2;
if (a < -500 || (b += 10) > 20) b++;
int r = (a && (b++, 1)) * 100;
oi[t] = r + b;

//// conditional effects
int a = in[t], b = 1;
int c = a > 0 ? (b = 7, a) : b++;
oi[t] = c * 8 + b;
of[t] = a & 1 ? fin[t & 7] : 2;

//// comma and chains
int a, b, c;
a = b = (c = in[t], c + 1);
oi[t] = a * 3 + b + c;
a += b -= c *= 2;
oi[t] ^= a;

//// steps
int i = in[t];
int a = i++ * 2 + i;
a -= --i;
short h = 32767;
h++;
unsigned char c = 0;
c--;
oi[t] = a + h + c;

//// compound narrow
unsigned char c = 200;
c += in[t];
short h = 5;
h *= in[t];
h >>= 1;
c <<= 1;
oi[t] = c * 65536 + h;

//// for with break
int r = 0;
for (int i = 0; i < 10; i++) { if (i == (in[t] & 7)) break; if (i & 1) continue; r += i * 3 + 1; } oi[t] = r;

//// nested loops
int r = 0;
for (int i = 0; i < 4; i++) for (int j = i; j < 5; j++) { if (j == 3) break; r = r * 3 + i - j; } oi[t] = r;

//// while and do
int a = (in[t] & 31) + 1, r = 0;
while (a) { r += a & 1; a >>= 1; } do { r += 10; } while (r < 35);
oi[t] = r;

//// endless with break
int a = in[t] & 15, n0 = 0;
for (;;) { if (a == 1 || n0 > 9) break; a = a & 1 ? a * 3 + 1 : a / 2; n0++; } oi[t] = a + n0 * 100;

//// switch falls through
int r = 0;
switch (in[t] & 7) { case 0: r = 1; case 1: case 2: r += 2; break; case 5: { r = 9; break; } default: r = -1;
case 6: r += 5;
} oi[t] = r;

//// switch in a loop
int r = 0;
for (int i = 0; i < 5; i++) { switch ((in[t] + i) & 3) { case 0: continue; case 1: r++; break; default: r += 7;
} r *= 2;
} oi[t] = r;

//// early return
oi[t] = 1;
if (in[t] > 0) return;
oi[t] = 2;
if (fin[t] > 0) { oi[t] = 3; return; } of[t] = 4;

//// pointers
const int *p = in + t;
const int *e = in + 63;
int r = *p++;
r += p[-1] * 2;
if (p <= e) r += *(p - 1);
oi[t] = r;
ol[t] = e - p;

//// pointer to local
int a[5] = { 1, 2, 3 };
int *p = a;
for (int i = 0; i < 5; i++) *p++ += i;
p = &a[in[t] & 3];
*p = 50;
oi[t] = a[0] + a[1] * 3 + a[2] * 5 + a[3] * 7 + a[4];

//// address of a scalar
int a = in[t];
int *p = &a;
*p += 5;
int **q = &p;
**q *= 2;
oi[t] = a;

//// structures
Pair p = pair;
Pair r = p;
r.x += in[t];
r.z[t & 1] = 9;
p = r;
p.y *= 2;
Pair *s0 = &p;
s0->w = 3;
oi[t] = p.x + p.z[0] + p.z[1] * 5 + (int)p.w;
of[t] = p.y;

//// structures by value
Pair r = paired(pair, in[t] & 15);
Pair again = paired(paired(r, 2), 1);
oi[t] = r.x * 3 + again.x + again.z[1];
of[t] = again.y;

//// nested structures
Outer o = {};
o.in[1].b = in[t];
o.in[0] = o.in[1];
Inner *i = &o.in[0];
i->a = 7;
o.v.y = 2.5f;
oi[t] = (int)o.in[0].b + i->a + o.in[1].a;
of[t] = o.v.y + o.v.x;

//// unions
Bits m;
m.f = fin[t];
oi[t] = (int)(m.u >> 20);
m.i = in[t] & 0xffff;
of[t] = m.f;
oi[t] += m.i;

//// vectors
float4 w = make_float4(1, 2, fin[t], 4);
float2 v = { w.z, w.w };
w.x = v.y;
of[t] = w.x * 10 + v.x;
int2 k = make_int2(3, in[t]);
oi[t] = k.x * k.y;

//// vector access
const float4 *p = (const float4 *)fin;
float4 w = p[t & 7];
((float2 *)of)[t] = make_float2(w.x + w.w, w.y * w.z);

//// references
int a = in[t], b = 3;
swapped(a, b);
int &r = a;
r += 10;
const int &c = b + 1;
oi[t] = a * 100 + b + c;

//// calls with early returns
int a = in[t];
bump(&a, 3);
bump(&a, a & 7);
of[t] = weighted(fin[t], in[t]) + weighted(1.0f, -1);
oi[t] = a;

//// templates
oi[t] = scaled<2>(in[t]) + scaled<7>(in[t]) * 3 + twice(in[t]);
of[t] = twice(fin[t]);
od[t] = twice<double>(0.1);

//// constants
const int K = 4;
constexpr float H = 0.5f;
oi[t] = table[(t + K) & 7] + RED + BLUE + sizeof(Outer);
of[t] = H * weights[t & 3];

//// bits of numbers
float f = fin[t];
int i = __float_as_int(f);
oi[t] = i;
of[t] = __int_as_float(i & 0x7fffffff);
od[t] = __longlong_as_double(__double_as_longlong(f) & 0x7fffffffffffffffll);

//// integer intrinsics
int a = in[t];
unsigned u = a;
oi[t] = __popc(u) + __clz(a) * 64 + __ffs(a) * 4096;
ol[t] = __brev(u) + __mul24(a, 77) + __umulhi(u, 123456789u) + __popcll((long long)a << 7);

//// rounding
float f = fin[t] * 0.37f;
of[t] = floorf(f) * 4 + ceilf(f) + truncf(f) * 16 + rintf(f) * 64;
od[t] = sqrt(fabs((double)f)) + fmin((double)f, 1.0) + fmax((double)f, 2.0);

//// min and max
int a = in[t];
unsigned u = a;
oi[t] = min(a, 5) * 3 + max(a, -7) + (int)min(u, 9u);
of[t] = fminf(fin[t], 0.5f) + max(fin[t], 1.5f);
oi[t] ^= abs(a);

//// shared memory
__shared__ int s0[8];
__shared__ float m[2][9];
s0[t] = in[t];
m[t & 1][t] = fin[t];
__syncthreads();
oi[t] = s0[7 - t] + s0[t ^ 1];
of[t] = m[(t + 1) & 1][(t + 1) & 7];

//// shared through a pointer
__shared__ int s0[8];
int *p = s0 + t;
*p = in[t];
__syncthreads();
int r = 0;
for (p = s0; p < s0 + 8; p++) r = r * 3 + *p;
oi[t] = r;

//// pointer to either
__shared__ int s0[8];
s0[t] = in[t] * 2;
__syncthreads();
const int *p = in[t] > 0 ? s0 : in;
oi[t] = p[t] + p[7 - t];

//// dynamic shared memory
extern __shared__ float bytes[];
bytes[t] = fin[t];
int *more = (int *)(bytes + 8);
more[t] = in[t];
__syncthreads();
of[t] = bytes[t ^ 3];
oi[t] = more[7 - t];

//// atomics
__shared__ int s0;
if (t == 0) s0 = 5;
__syncthreads();
atomicAdd(&s0, in[t]);
atomicMin((int *)ou, in[t]);
atomicMax(&ou[1], (unsigned)in[t]);
atomicOr(&ou[2], 1u << t);
__syncthreads();
oi[t] = s0;

//// compare and swap
unsigned old = atomicAdd(&ou[3], 0u), seen;
do { seen = old; old = atomicCAS(&ou[3], seen, seen + (unsigned)t); } while (old != seen);
atomicExch(&ou[8 + t], 7u);
atomicInc(&ou[4], 5u);
atomicSub(&ou[5], 2u);

//// barriers that reduce
oi[t] = __syncthreads_count(in[t] > 0) * 100 + (__syncthreads_or(in[t] > 900) != 0) * 10 + (__syncthreads_and(in[t] > -3000) != 0);

//// local array by index
int a[6];
for (int i = 0; i < 6; i++) a[i] = in[(t + i) & 63];
for (int i = 1; i < 6; i++) { int k = a[i], j = i - 1; while (j >= 0 && a[j] > k) { a[j + 1] = a[j]; j--;
} a[j + 1] = k;
} oi[t] = a[0] + a[3] * 3 + a[5] * 7;

//// two-dimensional local
int a[3][4] = { { 1, 2 }, { 3 } };
a[t % 3][in[t] & 3] += 10;
int r = 0;
for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) r = r * 2 + a[i][j];
oi[t] = r;

//// kernel parameters
oi[t] = n + small + pair.x + pair.z[2] + pair.c;
n += t;
small++;
pair.x = n;
of[t] = s + pair.y;
ol[t] = small + pair.x + pair.w;

//// a global variable
atomicAdd(&total, 2u);
__syncthreads();
oi[t] = total > 0;

//// library functions
float f = fin[t];
of[t] = floorf(sinf(f) * 64 + expf(f * 0.01f) * 8 + powf(fabsf(f) + 1, 0.5f) * 4 + atan2f(f, 2.0f) * 16 + fmodf(f, 3.0f) * 8 + roundf(f));
od[t] = floor(log(fabs((double)f) + 1) * 1000 + cbrt((double)f) * 100);

//// lambda
int k = in[t];
auto add = [=](int x) { return x > 3 ? x + k : k; };
oi[t] = add(t) + add(9);

//// printf and assert
if (in[t] == 123456) printf("%d %f\n", t, fin[t]);
oi[t] = 4;

//// bit-fields
struct Packed { unsigned a : 3; int b : 5; unsigned c : 24; bool d : 1; long long e : 40; };
Packed p = {(unsigned)in[t] & 7, -3}, q = p;
p.c = in[t] * 1000;
p.b += in[t] & 3;
p.d = p.a > 2;
p.e = (long long)in[t] << 33;
q.a = in[t];
oi[t] = p.a + p.b * p.c + p.d * 7 + (q.a - 8 < 0) + sizeof(Packed);
ol[t] = p.e + q.c + q.b++;
ou[t] = p.a-- + ++p.b;

//// members that begin with something
Grown g, h, i;
Wrapped w;
Plain p = {4}, q{}, r = {1, {2}};
i.low = 3;
oi[t] = g.base + g.inner.x * 10 + g.more * 100 + h.more + w.held.x + w.grown.base + i.low;
ou[t] = p.a + p.inner.x + q.inner.x * 3 + q.a + r.inner.x * 5 + Plain().inner.x + Plain{}.inner.x;

//// closures as values
int k = in[t], sum = 0;
auto f = [=](int i) { return i * k + t; };
auto g = f;
auto add = [&sum, k](int i) { sum += i + k; return sum; };
k = 100;
oi[t] = f(3) + g(4) + applied(f, 3) + applied(add, 2) + sum;
ou[t] = applied([&](int i) { k += i; return in[i & 7]; }, 5) + k + applied([](int i) { return i * i; }, 4);
Pair held = {7, 2.5f};
ol[t] = applied([held, f](int i) { return held.x + f(i); }, 3);

//// jumps
int i = 0, sum = 0;
again:
if (i < 9) {
    sum += in[i & 7];
    i++;
    if (sum > 150 + t) goto out;
    goto again;
}
sum += 1000;
out:
oi[t] = sum;
for (int j = 0; j < 4; j++)
    for (int k = 0; k < 4; k++)
        if (j * k == t) goto found;
sum = -1;
found:
ou[t] = sum + i;

//// jumps into a loop
int i = in[t] & 3, sum = 0;
if (i > 1) goto middle;
while (i < 12) {
    i += 2;
middle:
    sum += i * t;
    i++;
}
oi[t] = sum + i;

//// conditions that declare
int left = 5, sum = 0;
while (int k = left--) sum += k * in[k & 7];
if (int k = in[t] & 1) sum += k; else sum -= k + 2;
switch (int k = in[t] & 3) { case 2: sum += k; break; case 4: sum -= k; default: sum++; }
oi[t] = sum;

//// constants of a class
Sized<int> z;
for (int i = 0; i < Sized<int>::size; i++) z.v[i] = i * z.scale + t;
oi[t] = z.v[t & 7] + Sized<float>::size + z.twice();

//// operators of the user
Vec a(1, fin[t]), b = {2.0f, 3.0f};
Vec c = 2.0f * (a + b);
c *= 3;
c[1] = c[0] + 1;
of[t] = c.x - c.y;
oi[t] = (c == c) + 2 * (a == b);

//// arrays of objects that a constructor makes
Count counts[4], square[2][3];
Counts inside, several[2];
for (int i = 0; i < 9; i++) counts[i & 3].add(in[i] & 7);
square[t & 1][t % 3].add(t);
inside.c[t % 3].add(t);
int sum = 0;
for (int i = 0; i < 4; i++) sum = 3 * sum + counts[i].n;
for (int i = 0; i < 6; i++) sum = 3 * sum + square[i / 3][i % 3].n;
oi[t] = sum + 7 * inside.c[0].n + 11 * inside.c[2].n + inside.last + several[1].c[2].n * several[t & 1].last;

//// references to converted values
const float &whole = in[t];
const unsigned char &low = in[t];
auto bound = [](const int &x) { return x * 2; };
Bound held(fin[t], in[t] & 1);
float row[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
put(fin, row[t & 1], 3);
of[t] = whole + halved(in[t]) + row[0][t & 3] + row[1][t & 3] + held.part;
oi[t] = low + bound(fin[t]) + held.whole;

//// several base classes of which one has members
Point a(fin[t]), b(1, 2, 3);
Point c = a + b;
c = c + b;
Marked m;
m.x = fin[t];
m.step = t;
of[t] = c.x + 2 * c.y + 4 * c.z + c.sum() + m.twice();
oi[t] = m.step + m.label();

//// references that change what they are bound to
int m = in[t] & 7, *p = &m;
unsigned char low = 250;
lift(m, 3);
lift<unsigned char>(low, 9);
follow(p);
oi[t] = m + low + *p;
