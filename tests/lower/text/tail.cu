  oi[t] = a ^ (b * 3) ^ (c << 3) ^ (int)(u + v) ^ q ^ (k << 5) ^ sh ^ local[0] ^ (local[1] << 2) ^ local[3] ^ p.x ^ p.z[2];
  of[t] = f + g * 2.0f + p.y + o.v.x + w.z; ol[t] = l + o.in[1].b + p.w; od[t] = d;
}
