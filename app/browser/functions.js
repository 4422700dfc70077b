// The functions that BERT is made of, as torch.nn.functional has them; one input at a time, so there is no batch axis.

// x + y, written over y
function add(x, y) {
  for (let i = 0; i < y.length; i++) y[i] += x[i];
  return y;
}

// x times a number, written over x
function scale(x, factor) {
  for (let i = 0; i < x.length; i++) x[i] *= factor;
  return x;
}

// (rows, columns) -> (columns, rows)
function transpose(x, columns) {
  const rows = x.length / columns;
  const y = new Float32Array(x.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) y[column * rows + row] = x[row * columns + column];
  }
  return y;
}

// Several arrays, one after the other.
function concatenate(arrays) {
  const all = new Float32Array(arrays.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of arrays) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

// Every row of (…, hidden) with mean 0 and variance 1, then scaled and moved by what was learned; written over x.
function layerNorm(x, gain, bias, epsilon) {
  const hidden = gain.length;
  for (let from = 0; from < x.length; from += hidden) {
    let mean = 0, variance = 0;
    for (let k = 0; k < hidden; k++) mean += x[from + k];
    mean /= hidden;
    for (let k = 0; k < hidden; k++) variance += (x[from + k] - mean) ** 2;
    const factor = 1 / Math.sqrt(variance / hidden + epsilon);
    for (let k = 0; k < hidden; k++) x[from + k] = (x[from + k] - mean) * factor * gain[k] + bias[k];
  }
  return x;
}

// Every row of (rows, columns) as a distribution; one-sided, row t has columns up to t ("left") or from t on ("right"). Written
// over x.
function softmax(x, columns, direction = "both") {
  for (let from = 0, t = 0; from < x.length; from += columns, t++) {
    const first = direction === "right" ? t : 0, last = direction === "left" ? t + 1 : columns;
    let largest = -Infinity, sum = 0;
    for (let k = first; k < last; k++) largest = Math.max(largest, x[from + k]);
    for (let k = 0; k < columns; k++) sum += x[from + k] = k < first || k >= last ? 0 : Math.exp(x[from + k] - largest);
    for (let k = 0; k < columns; k++) x[from + k] /= sum;
  }
  return x;
}

const NONLINEARITIES = { gelu, relu, gelu_new: tanhGelu, gelu_pytorch_tanh: tanhGelu };

// x Φ(x). The normal distribution Φ is its density integrated by Simpson's rule, once, at steps of 1/512; between them a
// straight line is off by less than 2e-7.
const STEPS = 512, REACH = 8;
const NORMAL = normalDistribution();

function normalDistribution() {
  const density = (x) => Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
  const table = new Float32Array(2 * REACH * STEPS + 2);
  for (let i = 1, below = 0; i < table.length; i++) {
    const x = (i - 1) / STEPS - REACH;
    below += (density(x) + 4 * density(x + 0.5 / STEPS) + density(x + 1 / STEPS)) / (6 * STEPS);
    table[i] = below;
  }
  return table;
}

function gelu(x) {
  for (let i = 0; i < x.length; i++) {
    const value = x[i];
    if (value >= REACH) continue;
    const at = (value + REACH) * STEPS;
    if (at <= 0) {
      x[i] = 0;
      continue;
    }
    const step = Math.floor(at), below = NORMAL[step];
    x[i] = value * (below + (at - step) * (NORMAL[step + 1] - below));
  }
  return x;
}

// The approximation of some checkpoints (Hendrycks & Gimpel, 2016).
function tanhGelu(x) {
  return x.map((value) => 0.5 * value * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (value + 0.044715 * value ** 3))));
}

function relu(x) {
  return x.map((value) => Math.max(0, value));
}
