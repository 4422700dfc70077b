// WebAssembly written by hand: the two inner loops of a product of matrices, 128 bits at a time.
// Instructions by name -> the bytes of a module, for the few that these loops need.

const I32 = 0x7f, F32 = 0x7d, V128 = 0x7b;
const op = {
  get: (local) => [0x20, local], set: (local) => [0x21, local], tee: (local) => [0x22, local],
  i32: (value) => [0x41, ...signed(value)],
  add: [0x6a], sub: [0x6b], below: [0x49],
  loop: (...body) => [0x03, 0x40, ...body.flat(Infinity), 0x0b], again: [0x0d, 0],
  addF32: [0x92], storeF32: (offset = 0) => [0x38, 2, ...unsigned(offset)],
  load: (offset = 0) => [0xfd, 0, 4, ...unsigned(offset)], store: (offset = 0) => [0xfd, 11, 4, ...unsigned(offset)],
  loadBytes: [0xfd, 1, 3, 0], // eight int8 -> eight int16
  low: [0xfd, ...unsigned(0xa7)], high: [0xfd, ...unsigned(0xa8)], // four of eight int16 -> four int32
  toFloats: [0xfd, ...unsigned(0xfa)], loadSplat: [0xfd, 9, 2, 0], lane: (lane) => [0xfd, 31, lane],
  addFloats: [0xfd, ...unsigned(0xe4)], mulFloats: [0xfd, ...unsigned(0xe6)],
  multiplyAdd: [0xfd, ...unsigned(0x105)], // in one step, where the processor has it (relaxed SIMD)
  zeros: [0xfd, 12, ...new Array(16).fill(0)],
};

function unsigned(value) {
  const bytes = [];
  do {
    bytes.push((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
    value >>>= 7;
  } while (value);
  return bytes;
}

function signed(value) {
  const bytes = [];
  for (;;) {
    const byte = value & 0x7f;
    value >>= 7;
    if ((value === 0 && !(byte & 0x40)) || (value === -1 && byte & 0x40)) return [...bytes, byte];
    bytes.push(byte | 0x80);
  }
}

const list = (items) => [...unsigned(items.length), ...items.flat(Infinity)];
const text = (name) => list(Array.from(name, (letter) => letter.charCodeAt(0)));
const section = (id, bytes) => [id, ...unsigned(bytes.length), ...bytes];

// functions: [name, types of the parameters, types of the locals, body]; the memory comes from outside, as "m" "m".
function assemble(functions) {
  const types = functions.map(([, parameters]) => [0x60, ...list(parameters), 0]);
  const bodies = functions.map(([, , locals, body]) => {
    const code = [...list(locals.map((type) => [1, type])), ...body.flat(Infinity), 0x0b];
    return [...unsigned(code.length), ...code];
  });
  return Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, list(types)),
    ...section(2, list([[...text("m"), ...text("m"), 2, 0, 1]])),
    ...section(3, list(functions.map((_, index) => [index]))),
    ...section(7, list(functions.map(([name], index) => [...text(name), 0, index]))),
    ...section(10, list(bodies))]);
}

// widen(codes, scales, out, outEnd, stretchBytes): int8 codes × the scale of their stretch -> float32, eight at a time.
function widenFunction() {
  const { get, set, tee, i32, add, below, loop, again, loadBytes, loadSplat, low, high, toFloats, mulFloats, store } = op;
  const [codes, scales, out, end, stretchBytes, stretchEnd, eight, scale] = [0, 1, 2, 3, 4, 5, 6, 7];
  return ["widen", [I32, I32, I32, I32, I32], [I32, V128, V128], [
    loop(
      get(scales), loadSplat, set(scale),
      get(out), get(stretchBytes), add, set(stretchEnd),
      loop(
        get(out), get(codes), loadBytes, tee(eight), low, toFloats, get(scale), mulFloats, store(0),
        get(out), get(eight), high, toFloats, get(scale), mulFloats, store(16),
        get(codes), i32(8), add, set(codes),
        get(out), i32(32), add, tee(out), get(stretchEnd), below, again),
      get(scales), i32(4), add, set(scales),
      get(out), get(end), below, again),
  ]];
}

// multiply(x, blocks, rowBytes, w, y, stride, bias0, bias1): (4 × blocks, columns) · (2, columns)ᵀ + bias -> two columns of y.
// Four rows by two at a time, so that eight sums stay in registers; columns are a multiple of sixteen.
function multiplyFunction(fused) {
  const { get, set, tee, i32, add, sub, below, loop, again, load, lane, addF32, storeF32, zeros } = op;
  const [x, blocks, rowBytes, w, y, stride, bias0, bias1] = [0, 1, 2, 3, 4, 5, 6, 7];
  const row = [8, 9, 10, 11], weight = [12, 13], end = 14, out = 15, sum = [16, 17, 18, 19, 20, 21, 22, 23], wide = [24, 25], four = 26;
  const accumulate = (target, other) => fused
    ? [get(four), get(other), get(target), op.multiplyAdd, set(target)]
    : [get(target), get(four), get(other), op.mulFloats, op.addFloats, set(target)];
  const step = (offset) => [
    weight.map((pointer, n) => [get(pointer), load(offset), set(wide[n])]),
    row.map((pointer, t) => [get(pointer), load(offset), set(four), wide.map((values, n) => accumulate(sum[2 * t + n], values))]),
  ];
  const total = (vector, bias) => [get(vector), lane(0), get(vector), lane(1), addF32, get(vector), lane(2), get(vector), lane(3), addF32, addF32, get(bias), addF32];
  return ["multiply", [I32, I32, I32, I32, I32, I32, F32, F32], [...new Array(8).fill(I32), ...new Array(11).fill(V128)], [
    get(y), set(out),
    loop(
      get(x), set(row[0]),
      [1, 2, 3].map((t) => [get(row[t - 1]), get(rowBytes), add, set(row[t])]),
      get(w), set(weight[0]), get(w), get(rowBytes), add, tee(weight[1]), set(end),
      sum.map((vector) => [zeros, set(vector)]),
      loop(
        [0, 16, 32, 48].map(step),
        [...row, weight[1]].map((pointer) => [get(pointer), i32(64), add, set(pointer)]),
        get(weight[0]), i32(64), add, tee(weight[0]), get(end), below, again),
      row.map((_, t) => [
        get(out), total(sum[2 * t], bias0), storeF32(0),
        get(out), total(sum[2 * t + 1], bias1), storeF32(4),
        get(out), get(stride), add, set(out)]),
      get(row[3]), set(x), // the last row was read to its end: the next block begins there
      get(blocks), i32(1), sub, tee(blocks), again),
  ]];
}
