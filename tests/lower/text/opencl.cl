constant int table[8] = {1, 2, 3, 5, 8, 13, 21, 34};
constant int4 weights[2] = {(int4)(1), (int4)(1, 2, 3, 4)};
constant float2 factors = (float2)(0.5f, 0.25f);
int twice(int x) { return 2 * x; }
float length_of(float2 v) { return sqrt(v.x * v.x + v.y * v.y); }
float2 turned(float2 v) { v = (float2)(-v.y, v.x); return v.yx; }
void swapped(global int *a, global int *b) { int t = *a; *a = *b; *b = t; }
//// places
oi[g] = (int)(get_global_id(0) * 7 + get_local_id(0) + get_group_id(0) * 100 + get_global_id(2));
ou[g] = (uint)(get_local_size(0) + 10 * get_num_groups(0) + 1000 * get_global_size(0) + get_global_size(1));
ol[g] = (long)get_global_offset(0) + get_work_dim() * 0;
//// swizzles that are read
float4 v = vload4(g, fin);
of[g] = v.x + v.w * v.s1 - v.z;
float2 a = v.xy, b = v.hi, c = v.even, d = v.s31;
of[g + 16] = a.y * b.x - c.s1 + d.lo;
od[g] = v.wzyx.y + v.odd.x;
int8 w = vload8(g & 3, in);
oi[g] = w.s7 + w.lo.hi.x * 3 + w.odd.s2 + w.s0123.w;
//// swizzles that are written
int4 v = (int4)(1, 2, 3, t);
v.xz = v.yw;
v.w += in[g];
v.lo *= 3;
v.s13 = (int2)(v.x, 9) - v.s20;
v.even++;
oi[g] = v.x; oi[g + 16] = v.y; oi[g + 32] = v.z; oi[g + 48] = v.w;
float3 f = (float3)(fin[g], 1.5f, 2.0f);
f.zyx = f;
f.x -= 1.0f;
of[g] = f.x; of[g + 16] = f.y + f.z;
//// vectors as literals
int4 a = (int4)(5), b = (int4)((int2)(t, 2), (int2)(3)), c = (int4)(1, (int2)(t, t + 1), 8);
short8 p = (short8)((short4)(1, 2, 3, 4), (short2)(5, 6), (short)t, 8);
oi[g] = a.w + b.x * b.z + c.y * c.z + p.s6 * p.s3;
//// arithmetic of vectors
int4 a = vload4(g & 7, in), b = a.wzyx + 3;
int4 c = a * b - (a & 7) * 2, d = (a ^ b) | (a >> 1);
c = -c + ~d;
c <<= (int4)(1, 2, 33, 4);
d = d / ((b & 7) + 1) + a % ((b & 3) + 2);
oi[g] = c.x + c.z; oi[g + 16] = c.y ^ c.w; oi[g + 32] = d.x + d.y; oi[g + 48] = d.z - d.w;
uchar4 u = convert_uchar4(a) * (uchar)17 + (uchar4)(250);
ou[g] = u.x | u.y << 8 | (uint)u.z << 16 | (uint)u.w << 24;
//// comparisons of vectors
int4 a = vload4(g & 7, in), b = (int4)(40);
int4 less = a < b, same = a == a.yxwz;
float4 f = vload4(g, fin);
int4 above = f > 0.25f, not = !a;
oi[g] = less.x + 2 * less.y + 4 * same.z; oi[g + 16] = above.x * 3 + above.w + not.y; oi[g + 32] = any(less) + 2 * all(a >= 0);
short4 p = convert_short4(a) > (short4)(30);
ou[g] = (uint)p.x; ol[g] = as_long(p);
//// logic and choice of vectors
int4 a = vload4(g & 7, in), b = a - 50;
int4 both = (a > 20) && (b < 10), either = (a > 90) || (b == 3);
int4 chosen = a > b.wxyz ? a : b;
oi[g] = both.x + 2 * both.y + 4 * either.z + 8 * either.w; oi[g + 16] = chosen.x + chosen.y * chosen.z; oi[g + 32] = chosen.w;
//// select
int4 a = vload4(g & 7, in), b = a * 3;
int4 m = (int4)(-1, 0, 1, INT_MIN);
int4 c = select(a, b, m);
oi[g] = c.x; oi[g + 16] = c.y + c.z; oi[g + 32] = c.w; oi[g + 48] = select(3, 4, in[g] & 1);
float4 f = vload4(g, fin);
float4 h = select(f, -f, f > 0.0f);
of[g] = h.x; of[g + 16] = h.y; of[g + 32] = bitselect(f.x, f.y, 3.5f);
ou[g] = bitselect(0xF0F0F0F0u, (uint)in[g], 0x00FFFF00u);
ol[g] = select((long)t, (long)in[g], (long)(t > 3));
//// bits of another type
float4 f = vload4(g, fin);
int4 i = as_int4(f);
uint2 u = as_uint2((double)fin[g]);
oi[g] = i.x ^ i.w; ou[g] = u.x + u.y; of[g] = as_float(0x3f800000 + t); oi[g + 16] = as_int((short2)(1, t)); oi[g + 32] = as_int(as_char4(in[g] * 77777).wzyx);
ol[g] = as_long(as_int2((long)in[g] << 30).yx); od[g] = as_double(as_ulong(1.5) + t);
uchar8 c = as_uchar8(vload2(g, in));
ou[g + 16] = c.s0 + c.s4 * 256 + c.s7;
//// conversions between integers
int a = in[g] * 1000 - 20000;
oi[g] = convert_char_sat(a); oi[g + 16] = convert_uchar_sat(a); oi[g + 32] = convert_short_sat(a); oi[g + 48] = convert_ushort_sat(a);
ou[g] = convert_uint_sat(a); ou[g + 16] = convert_uchar(a); ol[g] = convert_long_sat((ulong)a); ol[g + 16] = convert_int_sat((long)a << 20);
ou[g + 32] = convert_uint_sat((long)a << 20); ol[g + 32] = convert_ulong_sat(a); ol[g + 48] = convert_char_sat((ulong)a);
char4 c = convert_char4_sat(vload4(g & 7, in) * 5 - 300);
ou[g + 48] = as_uint(c);
//// conversions of numbers to integers
float f = fin[g] * 300.0f + 0.5f * t;
oi[g] = convert_int(f); oi[g + 16] = convert_int_rte(f); oi[g + 32] = convert_int_rtp(f); oi[g + 48] = convert_int_rtn(f);
ou[g] = convert_uchar_sat(f); ou[g + 16] = convert_uchar_sat_rte(f); ou[g + 32] = convert_ushort_sat_rtz(f * 300); ou[g + 48] = convert_uint_sat_rtp(f);
ol[g] = convert_char_sat(f); ol[g + 16] = convert_short_sat_rtn(f * 200); ol[g + 32] = convert_int_sat(f * 1e8f); ol[g + 48] = convert_long_sat_rte((double)f * 1e17);
//// conversions of vectors
float4 f = vload4(g, fin) * 400.0f + 0.5f;
uchar4 a = convert_uchar4_sat_rte(f);
int4 b = convert_int4_rtn(f);
oi[g] = as_int(a); oi[g + 16] = b.x + b.y + b.z + b.w;
float4 h = convert_float4(b) + convert_float4(a);
of[g] = h.x + h.w;
double2 d = convert_double2(f.xy);
od[g] = d.x * d.y;
of[g + 16] = convert_float_rtp(d.x * 1.0000001); of[g + 32] = convert_float_rtn(in[g] * 16777217); of[g + 48] = convert_float_rtz((long)in[g] * 1234567890123L);
long2 l = convert_long2(f.zw);
ol[g] = l.x - l.y;
//// mad24 and mul24
oi[g] = mul24(in[g] - 50, t); oi[g + 16] = mad24(in[g] - 50, in[g + 1], 7); ou[g] = mul24((uint)in[g], 77u); ou[g + 16] = mad24((uint)in[g], 5u, (uint)t);
int4 v = mad24(vload4(g & 7, in), (int4)(3), (int4)(t));
oi[g + 32] = v.x + v.w;
//// integers
int a = in[g] * 30000001, b = in[g + 1] * 20000003;
uint u = (uint)a, v = (uint)b;
oi[g] = mul_hi(a, b); oi[g + 16] = mad_hi(a, b, 5); ou[g] = mul_hi(u, v); ou[g + 16] = abs(a) + abs_diff(a, b);
oi[g + 32] = add_sat(a, b); oi[g + 48] = sub_sat(a, -b); ou[g + 32] = add_sat(u, v); ou[g + 48] = sub_sat(u, v);
ol[g] = rotate(a, 5) + rotate(b, t); ol[g + 16] = clz(a >> t) + popcount(b); ol[g + 32] = hadd(a, b) ^ rhadd(u, v); ol[g + 48] = upsample(a, v);
//// integers of other widths
char a = (char)(in[g] * 7); short b = (short)(in[g] * 999); long c = (long)a * 0x123456789abcL;
oi[g] = clz(a) + popcount(b) * 100; oi[g + 16] = rotate(a, (char)3) + rotate(b, (short)t); oi[g + 32] = add_sat(a, (char)100); oi[g + 48] = mul_hi(b, (short)12345);
ol[g] = mul_hi(c, c); ol[g + 16] = clz(c); ol[g + 32] = mad_sat(a, (char)2, (char)9); ol[g + 48] = upsample(a, (uchar)t);
ou[g] = upsample((ushort)b, (ushort)t); ou[g + 16] = abs_diff(a, (char)-100); ou[g + 32] = hadd((uchar)a, (uchar)201); ou[g + 48] = mad_sat(in[g] * 65536, 65536, 77);
//// smallest and largest
int4 v = vload4(g & 7, in);
int4 a = min(v, 40), b = max(v, (int4)(10, 50, 30, 90)), c = clamp(v, 20, 60);
oi[g] = a.x + b.y; oi[g + 16] = c.z * c.w; oi[g + 32] = min(in[g], t); ou[g] = max((uint)in[g], 50u); ou[g + 16] = clamp(in[g], 3, 40);
float4 f = vload4(g, fin);
float4 h = fmin(f, 0.25f) + fmax(f.wzyx, f), k = clamp(f, -0.5f, 0.5f);
of[g] = h.x - h.y; of[g + 16] = k.z; of[g + 32] = min(fin[g], 0.1f); of[g + 48] = step(0.3f, fin[g]);
//// numbers
float f = fin[g], h = fin[g + 1] + 2.0f;
of[g] = fma(f, h, 1.5f); of[g + 16] = sqrt(h) + fabs(f); of[g + 32] = floor(f * 10) + ceil(h) + trunc(f * 7) + rint(f * 9); of[g + 48] = copysign(h, f);
od[g] = fma((double)f, (double)h, 0.125); od[g + 16] = fmod(h, 0.75f); od[g + 32] = round(f * 8.5f); od[g + 48] = sign(f) + f / h;
oi[g] = isnan(f) + 2 * isinf(h / 0.0f) + 4 * isfinite(f) + 8 * signbit(f); oi[g + 16] = isless(f, h) + 2 * isgreater(f, h) + 4 * isequal(f, f) + 8 * islessgreater(f, h) + 16 * isordered(f, h); oi[g + 32] = ilogb(h);
//// numbers of vectors
float4 f = vload4(g, fin);
float4 h = fabs(f) + floor(f * 4.0f), k = mad(f, (float4)(2.0f), h);
int4 i = isless(f, h) + isnan(f);
of[g] = h.x + h.w; of[g + 16] = k.y; of[g + 32] = dot(f, h); oi[g] = i.x + i.y; oi[g + 16] = signbit(f).z;
float3 p = f.xyz, q = h.xyz;
float3 c = cross(p, q);
of[g + 48] = c.x + c.y * c.z;
//// numbers made of others
float f = fin[g], h = fin[g + 1];
of[g] = mix(f, h, 0.25f); of[g + 16] = fdim(f, h); of[g + 32] = maxmag(f, h) + minmag(f, h); of[g + 48] = ldexp(f, t - 3);
od[g] = nextafter((double)f, 2.0); od[g + 16] = smoothstep(-0.5f, 0.5f, f);
//// through pointers
float whole; int exponent;
float part = modf(fin[g] * 20, &whole), below, fraction = fract(fin[g] * 5, &below);
of[g] = below;
oi[g] = (int)whole; of[g + 16] = part; of[g + 32] = fraction; od[g] = frexp(fin[g] * 9 + 20, &exponent); oi[g + 16] = exponent;
//// loads and stores of vectors
vstore4(vload4(g & 7, in).wzyx, g, oi);
vstore2(convert_float2(vload2(g, in)), g, of + 1);
vstore3((uint3)(t, g, 3), g, ou);
char bytes[16];
for (int i = 0; i < 16; i++) bytes[i] = (char)(i * t);
char4 c = vload4(1, bytes); char3 e = vload3(2, bytes);
ol[g] = as_int(c) + e.z;
//// halves in memory
local short room[64];
local half *parts = (local half *)room;
vstore_half(fin[g], t, parts);
vstore_half_rtz(fin[g] * 3.001f, t + 8, parts);
vstore_half4(vload4(g, fin), t, parts + 16);
barrier(CLK_LOCAL_MEM_FENCE);
of[g] = vload_half(t ^ 1, parts) + vload_half((t ^ 1) + 8, parts); of[g + 16] = vload_half4(t ^ 3, parts + 16).z;
//// vectors behind pointers
local int4 tile[8];
tile[t] = vload4(g & 7, in);
barrier(CLK_LOCAL_MEM_FENCE);
int4 v = tile[7 - t];
local int *flat = (local int *)tile;
oi[g] = v.x + v.y; oi[g + 16] = flat[t * 4 + 3] - tile[t].w + tile[(t + 1) & 7].s2;
barrier(CLK_LOCAL_MEM_FENCE);
tile[t].y = t;
barrier(CLK_LOCAL_MEM_FENCE);
oi[g + 32] = tile[t ^ 1].y + tile[t].hi.x;
//// vectors by number
int4 v = vload4(g & 7, in);
v[t & 3] = 5;
oi[g] = v[0] + v[(t + 1) & 3];
//// shuffles
uint4 m = (uint4)(3, t, 2, 9);
int4 a = vload4(g & 7, in), b = a + 100;
int4 c = shuffle(a, m), d = shuffle2(a, b, m);
int2 e = shuffle(a, (uint2)(2, 1));
oi[g] = c.x + c.y; oi[g + 16] = c.z + c.w; oi[g + 32] = d.w + d.y; oi[g + 48] = e.x - e.y;
//// atomics of old
local int sums[4];
if (t < 4) sums[t] = 0;
barrier(CLK_LOCAL_MEM_FENCE);
atomic_add(&sums[t & 3], in[g]); atomic_max(&ou[0], (uint)in[g]); atomic_or(&sums[3], 1 << 20);
atomic_inc(&oi[50]); atomic_sub(&oi[51], t); atomic_xor(&ou[51], 1u << t);
barrier(CLK_LOCAL_MEM_FENCE);
oi[g] = sums[t & 3];
//// control
int sum = 0;
for (int i = 0; i < n; i++) {
    if (in[i] % 3 == t % 3) continue;
    switch (in[i] & 3) { case 0: sum += i; break; case 1: sum -= 2; case 2: sum ^= i; break; default: sum += 100; }
    if (sum > 500) break;
}
do { sum = sum * 3 + t; } while (sum < 0);
oi[g] = sum; oi[g + 16] = t > 3 && in[g] > 40 || !in[t];
//// structs and unions
typedef struct { char tag; float4 place; int2 pair[2]; } Body;
typedef union { int i; float f; uchar bytes[4]; } Bits;
Body b = {1, (float4)(1, 2, 3, t), {{1, 2}, {3, t}}};
Bits u; u.f = fin[g];
Body c = b; c.pair[1].x += in[g]; c.place.yz = fin[g];
oi[g] = c.pair[1].x * b.pair[1].y + sizeof(Body); of[g] = c.place.y * b.place.w; ou[g] = (uint)u.i + u.bytes[3];
//// constants of the file
oi[g] = table[(t + 3) & 7] * weights[1].s2; of[g] = factors.y * fin[g];
//// functions
oi[g] = twice(in[g]) + (int)length_of((float2)(3.0f, 4.0f)); of[g] = turned(vload2(g, fin)).x; swapped(&oi[g], &oi[g + 16]);
//// booleans and conversions
bool b = in[g] > 50; uchar c = 200; char d = (char)c;
oi[g] = b + (c + 100) + d; oi[g + 16] = (bool)fin[g] + (bool)0.0f; ou[g] = (uint)-1 >> t; ol[g] = (long)(uint)-1 + (int)(c << 24); oi[g + 32] = (short)(in[g] * 12345); oi[g + 48] = -7 / 2 + -7 % 3 + (1 << (t & 31));
ou[g + 16] = (uint)(uchar)(in[g] * 3) - 1u;
//// tests
oi[g] = any((int2)(in[g], -t)) + 2 * all((char4)(-1, -2, (char)in[g], -1)) + 4 * isnormal(fin[g]) + 8 * isunordered(fin[g], NAN);
//// lengths
float2 v = vload2(g, fin);
of[g] = fast_length((float2)(3.0f, 4.0f)); of[g + 16] = length((float2)(6.0f, 8.0f)); of[g + 32] = distance((float2)(1.0f, 2.0f), (float2)(4.0f, 6.0f)); of[g + 48] = normalize((float2)(0.0f, 2.0f)).y;
//// sizes of unsigned numbers
oi[g] = abs((uint)(in[g] - 90)) >> 3; oi[g + 16] = abs((uchar)(in[g] * 5)); ou[g] = abs((uchar4)(200, (uchar)t, 3, 4)).x + abs((char4)(-128)).y; ol[g] = abs(0xffffffffffffff00ul - t) >> 4;
//// numbers that stand for vectors
float4 v = 2, w = fin[g]; int2 p = 1.9f; uchar4 u = 300;
v += 1; w = g > 3 ? w : 0.5f; p.x += t;
of[g] = v.x + w.w; of[g + 16] = v.z * w.y; oi[g] = p.x * 10 + p.y + u.z;
v = s; of[g + 32] = v.w;
