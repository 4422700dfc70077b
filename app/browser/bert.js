// BERT, the whole of it, as in model/bert.py: embeddings, attention, layer, encoder, masked-word head, next-sentence head.
// Devlin et al. (2019). Numbers are Float32Arrays of which the last axis is contiguous; axes are named, in this order:
// heads, query, key (or seq), hidden. Weights go by Hugging Face's names.

const ALIGNMENT = 16, STRETCH = 64; // as in weights.py: bytes between tensors; weights of a row that share a scale
const BERT = "bert", MLM = "cls.predictions", NSP = "cls.seq_relationship";

// The tensors of a packed model: {name: [byte offset, *shape]} in the memory of the kernels.
class Weights {
  constructor(tensors, kernels) {
    this.tensors = tensors;
    this.kernels = kernels;
  }

  has(name) {
    return name in this.tensors;
  }

  vector(name) {
    const [at, size] = this.tensors[name];
    return new Float32Array(this.kernels.buffer, at, size).slice();
  }

  matrix(name) {
    const [at, rows, columns] = this.tensors[name];
    const scalesAt = at + Math.ceil(rows * columns / ALIGNMENT) * ALIGNMENT;
    return { at, rows, columns, stretch: columns % STRETCH ? columns : STRETCH, scalesAt };
  }

  linear(name) {
    const [weight, bias] = [this.matrix(`${name}.weight`), this.vector(`${name}.bias`)];
    return (x) => this.kernels.linear(x, weight, bias);
  }

  norm(name, epsilon) {
    const [gain, bias] = [this.vector(`${name}.weight`), this.vector(`${name}.bias`)];
    return (x) => layerNorm(x, gain, bias, epsilon);
  }
}

// The input of BERT: the sum of what a token is, which segment it is in and where it stands.
class Embeddings {
  constructor(weights, config) {
    const table = (name) => weights.matrix(`${BERT}.embeddings.${name}_embeddings.weight`);
    [this.token, this.segment, this.position] = [table("word"), table("token_type"), table("position")];
    this.norm = weights.norm(`${BERT}.embeddings.LayerNorm`, config.layer_norm_eps);
    this.kernels = weights.kernels;
  }

  forward({ ids, segments }) {
    const row = (table, index) => this.kernels.row(table, index);
    const hidden = this.token.columns;
    const x = new Float32Array(ids.length * hidden); // (seq, hidden)
    ids.forEach((id, position) => {
      const [token, segment, place] = [row(this.token, id), row(this.segment, segments[position]), row(this.position, position)];
      for (let k = 0; k < hidden; k++) x[position * hidden + k] = token[k] + segment[k] + place[k];
    });
    return this.norm(x);
  }
}

// Every position asks, with a query, all positions, by their keys, for a mix of their values.
class SelfAttention {
  constructor(weights, config, layer) {
    const part = (name) => weights.linear(`${BERT}.encoder.layer.${layer}.attention.${name}`);
    [this.query, this.key, this.value, this.output] = [part("self.query"), part("self.key"), part("self.value"), part("output.dense")];
    this.heads = config.num_attention_heads;
    this.headSize = config.hidden_size / config.num_attention_heads;
    this.kernels = weights.kernels;
    this.layer = layer;
  }

  // What attention adds to every state, (query, hidden).
  forward(x, edits, record) {
    const [query, key, value] = [this.query(x), this.key(x), this.value(x)];
    const length = x.length / (this.heads * this.headSize);
    const attention = new Float32Array(this.heads * length * length); // (heads, query, key)
    const context = new Float32Array(x.length); // (query, heads, head_size)
    for (let head = 0; head < this.heads; head++) {
      const scores = this.kernels.product(this.part(query, head, 1 / Math.sqrt(this.headSize)), this.part(key, head), this.headSize);
      const weights = softmax(scores, length, edits.direction);
      attention.set(weights, head * length * length);
      if (edits.isOff(this.layer, head)) continue; // what it mixes counts as zero
      this.join(context, this.mix(weights, value, head, length), head);
    }
    record("attention", this.layer, attention);
    return this.output(context);
  }

  // One head's part of (seq, heads × head_size), times a factor: (seq, head_size)
  part(x, head, factor = 1) {
    const { heads, headSize } = this;
    const part = new Float32Array(x.length / heads);
    for (let i = 0; i < part.length; i++) part[i] = factor * x[(Math.floor(i / headSize) * heads + head) * headSize + i % headSize];
    return part;
  }

  // The values of one head mixed by attention: (query, key), (key, heads × head_size) -> (query, head_size)
  mix(attention, value, head, length) {
    const padded = Math.ceil(length / 16) * 16; // zeros change no sum, and the kernels like sixteens
    const weights = new Float32Array(length * padded), values = new Float32Array(this.headSize * padded); // transposed
    for (let t = 0; t < length; t++) weights.set(attention.subarray(t * length, (t + 1) * length), t * padded);
    for (let t = 0; t < length; t++) {
      for (let d = 0; d < this.headSize; d++) values[d * padded + t] = value[(t * this.heads + head) * this.headSize + d];
    }
    return this.kernels.product(weights, values, padded);
  }

  join(context, part, head) {
    for (let t = 0; t * this.headSize < part.length; t++) {
      context.set(part.subarray(t * this.headSize, (t + 1) * this.headSize), (t * this.heads + head) * this.headSize);
    }
  }
}

// Attention, then a feed-forward network at each position; each added to its input and normalised after.
class Layer {
  constructor(weights, config, layer) {
    const name = `${BERT}.encoder.layer.${layer}`;
    this.attention = new SelfAttention(weights, config, layer);
    this.attentionNorm = weights.norm(`${name}.attention.output.LayerNorm`, config.layer_norm_eps);
    this.up = weights.linear(`${name}.intermediate.dense`);
    this.down = weights.linear(`${name}.output.dense`);
    this.norm = weights.norm(`${name}.output.LayerNorm`, config.layer_norm_eps);
    this.activation = ACTIVATION[config.hidden_act];
  }

  forward(x, edits, record) {
    x = this.attentionNorm(add(x, this.attention.forward(x, edits, record)));
    const neurons = this.activation(this.up(x)); // (seq, intermediate)
    return this.norm(add(x, this.down(neurons)));
  }
}

// A state -> a score for every word of the vocabulary, by the tied embedding matrix.
class MLMHead {
  constructor(weights, config, words) {
    this.dense = weights.linear(`${MLM}.transform.dense`);
    this.norm = weights.norm(`${MLM}.transform.LayerNorm`, config.layer_norm_eps);
    this.bias = weights.vector(`${MLM}.bias`);
    this.activation = ACTIVATION[config.hidden_act];
    this.logits = (states) => weights.kernels.linear(states, words, this.bias);
  }

  forward(states) {
    return this.logits(this.norm(this.activation(this.dense(states)))); // (states, vocabulary)
  }
}

// The state of [CLS] -> two scores: output 0 is IsNext, output 1 is NotNext.
class NSPHead {
  constructor(weights) {
    this.pooler = weights.linear(`${BERT}.pooler.dense`);
    this.classifier = weights.linear(NSP);
  }

  forward(first) {
    return this.classifier(this.pooler(first).map(Math.tanh));
  }
}

// What to change on the way through the model: heads that count as zero, and the side that a position may look to.
class Edits {
  constructor({ off = [], direction = "both" } = {}) {
    this.off = new Set(off.map(([layer, head]) => `${layer}.${head}`));
    this.direction = direction;
  }

  isOff(layer, head) {
    return this.off.has(`${layer}.${head}`);
  }
}

// A bidirectional encoder with the two heads it was pre-trained with, or those of them it has.
class Bert {
  constructor(config, tensors, kernels) {
    const weights = new Weights(tensors, kernels);
    this.config = config;
    this.embeddings = new Embeddings(weights, config);
    this.layers = Array.from({ length: config.num_hidden_layers }, (_, layer) => new Layer(weights, config, layer));
    this.mlm = weights.has(`${MLM}.bias`) ? new MLMHead(weights, config, this.embeddings.token) : null;
    this.nsp = weights.has(`${NSP}.weight`) ? new NSPHead(weights) : null;
  }

  // The state of every token after the last layer, (seq, hidden); `record(name, layer, value)` is shown the rest:
  // hidden[0] is the normalised sum of the embeddings, hidden[l] the output of layer l; attention counts from 0.
  forward(input, edits = new Edits(), record = () => {}) {
    let x = this.embeddings.forward(input);
    record("hidden", 0, x);
    this.layers.forEach((layer, index) => {
      x = layer.forward(x, edits, record);
      record("hidden", index + 1, x);
    });
    return x;
  }

  // (seq, hidden) -> the states at some positions, (positions, hidden)
  at(states, positions) {
    const hidden = this.config.hidden_size;
    const chosen = new Float32Array(positions.length * hidden);
    positions.forEach((position, i) => chosen.set(states.subarray(position * hidden, (position + 1) * hidden), i * hidden));
    return chosen;
  }

  // (states, hidden) -> (states, vocabulary), each row a distribution
  wordProbabilities(states) {
    return softmax(this.mlm.forward(states), this.config.vocab_size);
  }

  // P(IsNext) from the states of a sequence.
  isNext(states) {
    return softmax(this.nsp.forward(this.at(states, [0])), 2)[0];
  }
}

function add(x, y) {
  for (let i = 0; i < y.length; i++) y[i] += x[i];
  return y;
}

// Every row of (…, hidden) with mean 0 and variance 1, then scaled and moved by what was learned.
function layerNorm(x, gain, bias, epsilon) {
  const hidden = gain.length;
  for (let from = 0; from < x.length; from += hidden) {
    let mean = 0, variance = 0;
    for (let k = 0; k < hidden; k++) mean += x[from + k];
    mean /= hidden;
    for (let k = 0; k < hidden; k++) variance += (x[from + k] - mean) ** 2;
    const scale = 1 / Math.sqrt(variance / hidden + epsilon);
    for (let k = 0; k < hidden; k++) x[from + k] = (x[from + k] - mean) * scale * gain[k] + bias[k];
  }
  return x;
}

// Every row of (rows, columns) as a distribution; one-sided, row t has columns up to t ("left") or from t on ("right").
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

const ACTIVATION = { gelu, relu, gelu_new: tanhGelu, gelu_pytorch_tanh: tanhGelu };

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

function tanhGelu(x) {
  return x.map((value) => 0.5 * value * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (value + 0.044715 * value ** 3))));
}

function relu(x) {
  return x.map((value) => Math.max(0, value));
}
