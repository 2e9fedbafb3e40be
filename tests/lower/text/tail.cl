oi[g] = a; oi[g + 16] = b + c * h; oi[g + 32] = v.x ^ v.y; oi[g + 48] = w.z + v.w;
ou[g] = u + as_uint(z); ou[g + 16] = (uint)p.x + p.y;
ol[g] = l; od[g] = d;
of[g] = f; of[g + 16] = r; of[g + 32] = x.x + y.y; of[g + 48] = x.w * y.z;
