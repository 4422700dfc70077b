// Products of matrices: the plain way, and a faster one in WebAssembly that is compared with it once and left alone where
// it is missing or differs. A matrix is {at, rows, columns, stretch, scalesAt}: int8 codes in memory, and a float32 scale for
// each stretch of a row.

const PAGE = 65536; // bytes

class PlainKernels {
  constructor(byteLength) {
    this.buffer = new ArrayBuffer(byteLength);
  }

  bytes() {
    return new Uint8Array(this.buffer);
  }

  // One row of a matrix as numbers, (columns,).
  row(matrix, row, numbers = new Float32Array(matrix.columns)) {
    const { at, columns, stretch, scalesAt } = matrix;
    const codes = new Int8Array(this.buffer, at + row * columns, columns);
    const scales = new Float32Array(this.buffer, scalesAt + row * columns / stretch * 4, columns / stretch);
    for (let k = 0; k < columns; k++) numbers[k] = codes[k] * scales[Math.floor(k / stretch)];
    return numbers;
  }

  // x Wᵀ + b: (seq, in), (out, in), (out,) -> (seq, out)
  linear(x, matrix, bias) {
    const { rows: outputs, columns } = matrix;
    const length = x.length / columns;
    const y = new Float32Array(length * outputs), weights = new Float32Array(columns);
    for (let n = 0; n < outputs; n++) {
      this.row(matrix, n, weights);
      for (let t = 0; t < length; t++) y[t * outputs + n] = dot(x, t * columns, weights, 0, columns) + bias[n];
    }
    return y;
  }

  // x wᵀ, both of ordinary numbers: (rows, columns), (others, columns) -> (rows, others)
  product(x, w, columns) {
    const rows = x.length / columns, others = w.length / columns;
    const y = new Float32Array(rows * others);
    for (let t = 0; t < rows; t++) {
      for (let n = 0; n < others; n++) y[t * others + n] = dot(x, t * columns, w, n * columns, columns);
    }
    return y;
  }
}

function dot(x, from, w, start, columns) {
  let a = 0, b = 0, c = 0, d = 0, k = 0;
  for (; k + 4 <= columns; k += 4) {
    a += x[from + k] * w[start + k];
    b += x[from + k + 1] * w[start + k + 1];
    c += x[from + k + 2] * w[start + k + 2];
    d += x[from + k + 3] * w[start + k + 3];
  }
  for (; k < columns; k++) a += x[from + k] * w[start + k];
  return a + b + (c + d);
}

// Rows filled up with zeros to a multiple of sixteen, which changes no sum: (rows, columns) -> (rows, more)
function padded(x, columns) {
  const rows = x.length / columns, more = Math.ceil(columns / 16) * 16;
  const y = new Float32Array(rows * more);
  for (let row = 0; row < rows; row++) y.set(x.subarray(row * columns, (row + 1) * columns), row * more);
  return y;
}

// The same by `assembler.js`: codes are widened two rows at a time, and stay near the processor while all of x goes by.
class SimdKernels extends PlainKernels {
  constructor(byteLength, fused) {
    super(0);
    this.weightBytes = Math.ceil(byteLength / PAGE) * PAGE;
    this.memory = new WebAssembly.Memory({ initial: this.weightBytes / PAGE + 16 });
    this.buffer = this.memory.buffer;
    const module = new WebAssembly.Module(assemble([widenFunction(), multiplyFunction(fused)]));
    this.functions = new WebAssembly.Instance(module, { m: { m: this.memory } }).exports;
    this.name = fused ? "WebAssembly, 128 bits, multiply-add" : "WebAssembly, 128 bits";
  }

  linear(x, matrix, bias) {
    const { at, rows: outputs, columns, stretch, scalesAt } = matrix;
    if (columns % 16) return super.linear(x, matrix, bias);
    const { widen } = this.functions;
    const fill = (w, n) => {
      for (let row = n; row < Math.min(n + 2, outputs); row++) {
        const out = w + (row - n) * columns * 4;
        widen(at + row * columns, scalesAt + row * columns / stretch * 4, out, out + columns * 4, stretch * 4);
      }
    };
    return this.multiplied(x, columns, outputs, fill, bias);
  }

  product(x, w, columns) {
    if (columns % 16) return this.product(padded(x, columns), padded(w, columns), Math.ceil(columns / 16) * 16);
    const fill = (at, n) => new Float32Array(this.buffer, at, 2 * columns).set(w.subarray(n * columns, (n + 2) * columns));
    return this.multiplied(x, columns, w.length / columns, fill, null);
  }

  // (rows, columns) × two rows of the other matrix at a time, which `fill(address, n)` puts into memory.
  multiplied(x, columns, outputs, fill, bias) {
    const rows = x.length / columns, blocks = Math.ceil(rows / 4);
    const stride = outputs + outputs % 2;
    const w = this.weightBytes, xAt = w + 2 * columns * 4, yAt = xAt + 4 * blocks * columns * 4;
    this.reserve(yAt + 4 * blocks * stride * 4);
    new Float32Array(this.buffer, xAt, x.length).set(x);
    const { multiply } = this.functions;
    for (let n = 0; n < outputs; n += 2) {
      fill(w, n);
      multiply(xAt, blocks, columns * 4, w, yAt + n * 4, stride * 4, bias ? bias[n] : 0, bias && n + 1 < outputs ? bias[n + 1] : 0);
    }
    if (stride === outputs) return new Float32Array(this.buffer, yAt, rows * outputs).slice();
    const y = new Float32Array(rows * outputs);
    for (let t = 0; t < rows; t++) y.set(new Float32Array(this.buffer, yAt + t * stride * 4, outputs), t * outputs);
    return y;
  }

  reserve(end) {
    const missing = end - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / PAGE));
    this.buffer = this.memory.buffer; // the old one is gone once the memory has grown
  }
}

// The fastest kernels that this browser has and that give what the plain ones give.
function chooseKernels(byteLength, plain = false) {
  if (!plain && typeof WebAssembly === "object") {
    for (const fused of [true, false]) {
      try {
        if (agrees(new SimdKernels(PAGE, fused))) return new SimdKernels(byteLength, fused);
      } catch (error) {
        if (!(error instanceof WebAssembly.CompileError)) throw error; // no such instructions here
      }
    }
  }
  const kernels = new PlainKernels(byteLength);
  kernels.name = "plain JavaScript";
  return kernels;
}

// Whether kernels give what the plain ones give, one row or many, for an odd number of outputs and an even one.
function agrees(kernels) {
  const plain = new PlainKernels(PAGE);
  for (const [rows, columns, outputs, stretch] of [[1, 32, 7, 32], [5, 32, 8, 16], [18, 96, 34, 32], [3, 20, 5, 20]]) {
    const matrix = { at: 0, rows: outputs, columns, stretch, scalesAt: outputs * columns };
    const scales = Float32Array.from({ length: outputs * columns / stretch }, (_, n) => 0.001 + n / 9000);
    const codes = Uint8Array.from({ length: outputs * columns }, (_, i) => (i * 89 + (i >> 3)) % 255 - 127);
    const x = Float32Array.from({ length: rows * columns }, (_, i) => Math.sin(i));
    const bias = Float32Array.from({ length: outputs }, (_, n) => n / 10);
    for (const each of [kernels, plain]) {
      each.bytes().set(codes);
      new Float32Array(each.buffer, matrix.scalesAt, scales.length).set(scales);
    }
    const pairs = [[kernels.linear(x, matrix, bias), plain.linear(x, matrix, bias)],
      [kernels.product(x, x, columns), plain.product(x, x, columns)]];
    if (!pairs.every(([fast, slow]) => fast.every((value, i) => Math.abs(value - slow[i]) <= 1e-4))) return false;
  }
  return true;
}
