"use strict";
const data = JSON.parse(document.getElementById("data").dataset.history);
const canvas = document.getElementById("picture"), pen = canvas.getContext("2d");
const GUTTER = 130, GAP = 6, BAR = 12, CACHE = 24, AXIS = 20;
const KINDS = ["active", "masked", "stalled", "ready", "empty"];
const STATE_KINDS = [4, 0, 2, 2, 3]; // empty, active, memory, dependency, ready
const masks = data.masks.map(text => BigInt("0x" + text));
const counts = masks.map(mask => { let n = 0; for (let m = mask; m; m &= m - 1n) n++; return n; });
const lane = Math.max(1, Math.min(6, Math.floor(160 / data.width)));
let first = data.shown[0], last = Math.max(first + 1, Math.min(data.shown[1], data.clocks));

// sums up to each run: lane clocks by kind
for (const slot of data.slots) {
  const runs = slot.start.length;
  slot.sums = KINDS.map(() => new Float64Array(runs + 1));
  for (let n = 0; n < runs; n++) {
    const end = n + 1 < runs ? slot.start[n + 1] : data.clocks, length = end - slot.start[n];
    const kind = STATE_KINDS[slot.state[n]], on = kind === 4 ? data.width : counts[slot.mask[n]];
    for (let k = 0; k < 5; k++) slot.sums[k][n + 1] = slot.sums[k][n];
    slot.sums[kind][n + 1] += on * length;
    slot.sums[1][n + 1] += (data.width - on) * length;
  }
}

// the last run that begins at or before a clock
function find(starts, clock) {
  let low = 0, high = starts.length - 1;
  while (low < high) { const middle = (low + high + 1) >> 1; if (starts[middle] <= clock) low = middle; else high = middle - 1; }
  return low;
}
function sumUpTo(slot, kind, clock) {
  if (clock <= slot.start[0]) return 0;
  if (clock >= data.clocks) return slot.sums[kind][slot.start.length];
  const n = find(slot.start, clock), end = n + 1 < slot.start.length ? slot.start[n + 1] : data.clocks;
  const share = (clock - slot.start[n]) / Math.max(1, end - slot.start[n]);
  return slot.sums[kind][n] + share * (slot.sums[kind][n + 1] - slot.sums[kind][n]);
}
const patterns = {};
for (const [name, [fill, pattern, ink]] of Object.entries(data.paints)) {
  const tile = document.createElement("canvas"); tile.width = tile.height = 6;
  const p = tile.getContext("2d"); p.fillStyle = fill; p.fillRect(0, 0, 6, 6); p.fillStyle = ink;
  if (pattern === "rising") for (let n = 0; n < 6; n++) p.fillRect(n, 5 - n, 1, 1);
  if (pattern === "dots") p.fillRect(2, 2, 2, 2);
  if (pattern === "level") p.fillRect(0, 3, 6, 1);
  patterns[name] = pen.createPattern(tile, "repeat");
}
function box(kind, x, y, wide, high) { pen.fillStyle = patterns[kind]; pen.fillRect(x, y, wide, high); }

function drawLanes(slot, y, scale) {
  for (let n = find(slot.start, first); n < slot.start.length && slot.start[n] < last; n++) {
    const end = n + 1 < slot.start.length ? slot.start[n + 1] : data.clocks;
    const left = GUTTER + (Math.max(slot.start[n], first) - first) * scale, right = GUTTER + (Math.min(end, last) - first) * scale;
    const kind = STATE_KINDS[slot.state[n]];
    if (kind === 4) { box("empty", left, y, right - left, data.width * lane); continue; }
    const mask = masks[slot.mask[n]];
    for (let l = 0; l < data.width;) {
      const on = mask >> BigInt(l) & 1n; let m = l;
      while (m < data.width && (mask >> BigInt(m) & 1n) === on) m++;
      box(on ? KINDS[kind] : "masked", left, y + l * lane, right - left, (m - l) * lane);
      l = m;
    }
  }
}
// a pixel is no room for a pattern: plain colors, one after the other, so that little changes from box to box
function drawShares(slot, y, scale, wide) {
  const high = data.width * lane, at = new Float64Array(wide).fill(y);
  for (let k = 0; k < 5; k++) {
    pen.fillStyle = data.paints[KINDS[k]][0];
    let before = sumUpTo(slot, k, first);
    for (let x = 0; x < wide; x++) {
      const from = first + x / scale, to = Math.min(data.clocks, first + (x + 1) / scale);
      if (to <= from) break;
      const now = sumUpTo(slot, k, to), part = high * (now - before) / (data.width * (to - from));
      before = now;
      if (part > 0) { pen.fillRect(GUTTER + x, at[x], 1, part); at[x] += part; }
    }
  }
}
function drawAlu(bar, y, scale) {
  box("empty", GUTTER, y, canvas.clientWidth - GUTTER, BAR);
  let drawn = -1;
  for (let n = Math.max(0, find(bar.start, first)); n < bar.start.length && bar.start[n] < last; n++) {
    const left = GUTTER + (Math.max(bar.start[n], first) - first) * scale, right = GUTTER + (Math.min(bar.end[n], last) - first) * scale;
    if (right <= drawn) {
      // all that ends in this pixel is passed over at once
      n = Math.max(n, find(bar.start, first + (drawn - GUTTER) / scale) - 1);
      continue;
    }
    box("slot" + bar.slot[n] % 8, left, y, Math.max(right - left, .5), BAR);
    drawn = Math.ceil(right);
  }
}
// events of a pixel, as high as the most that a pixel has
function drawCache(bar, y, scale, wide) {
  box("frame", GUTTER, y, wide, CACHE);
  const kinds = ["evictions", "misses", "hits"], sums = kinds.map(() => new Float64Array(wide + 1));
  let most = 1;
  for (let n = find(bar.clock, first); n < bar.clock.length && bar.clock[n] < last; n++) {
    const x = Math.floor((bar.clock[n] - first) * scale);
    if (x < 0 || x > wide) continue;
    kinds.forEach((kind, k) => { sums[k][x] += bar[kind][n]; });
    most = Math.max(most, sums[0][x] + sums[1][x] + sums[2][x]);
  }
  for (let x = 0; x <= wide; x++) {
    let at = y + CACHE;
    kinds.forEach((kind, k) => {
      const high = CACHE * sums[k][x] / most; at -= high;
      if (high) box(kind, GUTTER + x, at, Math.max(1, scale), high);
    });
  }
}
function draw() {
  const wide = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
  const high = data.slots.length * (data.width * lane + GAP) + data.alus.length * (BAR + GAP) +
    data.caches.length * (CACHE + GAP) + AXIS;
  canvas.style.height = high + "px"; canvas.width = wide * ratio; canvas.height = high * ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const scale = (wide - GUTTER) / (last - first);
  let y = 0;
  pen.font = "12px system-ui, sans-serif";
  const name = (text, at) => { pen.fillStyle = getComputedStyle(document.body).color; pen.fillText(text, 4, at); };
  for (const slot of data.slots) {
    if (scale >= 1) drawLanes(slot, y, scale); else drawShares(slot, y, scale, wide - GUTTER);
    name(slot.name, y + data.width * lane / 2 + 4); slot.y = y; y += data.width * lane + GAP;
  }
  for (const bar of data.alus) { drawAlu(bar, y, scale); name(bar.name, y + 10); y += BAR + GAP; }
  for (const bar of data.caches) { drawCache(bar, y, scale, Math.floor(wide - GUTTER)); name(bar.name, y + 16); y += CACHE + GAP; }
  let step = 1; while (step * scale < 70) step *= String(step)[0] === "2" ? 2.5 : 2;
  for (let clock = Math.ceil(first / step) * step; clock <= last; clock += step) {
    pen.fillStyle = getComputedStyle(document.body).color; pen.fillText(String(clock), GUTTER + (clock - first) * scale, high - 5);
  }
}
function show(from, to) {
  const size = Math.max(10, Math.min(data.clocks, to - from));
  first = Math.max(0, Math.min(from, data.clocks - size)); last = Math.max(first + 1, first + size); draw();
}
function zoom(factor, at) { show(at - (at - first) * factor, at + (last - at) * factor); }
const clockAt = event => first + (event.offsetX - GUTTER) / (canvas.clientWidth - GUTTER) * (last - first);
canvas.addEventListener("wheel", event => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : .8, clockAt(event)); }, {passive: false});
let held = null;
canvas.addEventListener("pointerdown", event => { held = event.offsetX; canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener("pointerup", () => { held = null; });
canvas.addEventListener("pointermove", event => {
  if (held !== null) {
    const moved = (event.offsetX - held) / (canvas.clientWidth - GUTTER) * (last - first);
    held = event.offsetX; show(first - moved, last - moved); return;
  }
  const clock = Math.floor(clockAt(event)), slot = data.slots.find(s => event.offsetY >= s.y && event.offsetY < s.y + data.width * lane);
  if (!slot || clock < 0 || clock >= data.clocks) return;
  const n = find(slot.start, clock), words = ["no " + data.words.warp, "active", "waits for memory", "waits for a result", "ready, not issued"];
  const [line, text] = slot.index[n] < 0 ? ["", ""] : data.lines[slot.index[n]];
  document.getElementById("told").textContent = `clock ${clock}, ${slot.name}: ${words[slot.state[n]]}` +
    (slot.index[n] < 0 ? "" : `, ${data.words.warp} ${slot.wave[n]}, ${data.words.lane} ${Math.floor((event.offsetY - slot.y) / lane)} of mask 0x${data.masks[slot.mask[n]]}, line ${line}: ${text}`);
});
canvas.addEventListener("keydown", event => act(event.key));
function act(key) {
  const middle = (first + last) / 2, move = (last - first) / 8;
  if (key === "+" || key === "=") zoom(.5, middle); else if (key === "-") zoom(2, middle); else if (key === "0") show(0, data.clocks);
  else if (key === "ArrowLeft") show(first - move, last - move); else if (key === "ArrowRight") show(first + move, last + move);
}
for (const [id, key] of [["in", "+"], ["out", "-"], ["all", "0"]]) document.getElementById(id).addEventListener("click", () => act(key));
window.addEventListener("resize", draw);
draw();
