// BERT, the whole of it: embeddings, attention, layer, encoder, masked-word head, next-sentence head, as in model/bert.py.
//
// Devlin et al. (2019); Vaswani et al. (2017) for the layer. Axes are always named, in this order: heads, query, key, hidden.
// There is one input at a time, so no batch; an array is a Float32Array, its last axis contiguous.

// The activations of a forward pass. `record(name, layer, value)` is called with
//   hidden      [0] is the normalised sum of the embeddings, [l] the output of the l-th layer: (seq, hidden)
//   attention   after the softmax: (heads, query, key)
// Layers count from 0; `hidden` has one more.

// The sum of token, segment and position embedding, normalised. Devlin et al. (2019), figure 2.
class Embeddings {
  constructor(weights, config) {
    this.token = weights.embedding("bert.embeddings.word_embeddings");
    this.segment = weights.embedding("bert.embeddings.token_type_embeddings");
    this.position = weights.embedding("bert.embeddings.position_embeddings");
    this.norm = weights.norm("bert.embeddings.LayerNorm", config.layer_norm_eps);
  }

  forward({ ids, segments }) {
    const [token, segment] = [this.token(ids), this.segment(segments)]; // (seq, hidden)
    const position = this.position([...ids.keys()]);
    return this.norm(add(token, add(segment, position)));
  }
}

// Scaled dot-product attention of several heads: (seq, hidden) -> same. Vaswani et al. (2017), 3.2.
class SelfAttention {
  constructor(weights, config, layer) {
    const name = `bert.encoder.layer.${layer}.attention`;
    [this.layer, this.heads] = [layer, config.num_attention_heads];
    this.headSize = config.hidden_size / config.num_attention_heads;
    this.query = weights.linear(`${name}.self.query`);
    this.key = weights.linear(`${name}.self.key`);
    this.value = weights.linear(`${name}.self.value`);
    this.output = weights.linear(`${name}.output.dense`);
    this.kernels = weights.kernels;
  }

  // What attention adds to the residual stream: (seq, hidden) -> (query, hidden)
  forward(x, edits, record) {
    return this.output(this.context(x, edits, record));
  }

  // Attention-weighted values, the heads side by side: (seq, hidden) -> (query, hidden)
  context(x, edits, record) {
    const [query, key, value] = [this.query, this.key, this.value].map((project) => this.splitHeads(project(x)));
    const length = x.length / (this.heads * this.headSize);
    const attention = [], context = [];
    for (let head = 0; head < this.heads; head++) {
      const scores = this.kernels.product(scale(query[head], 1 / Math.sqrt(this.headSize)), key[head], this.headSize); // (query, key)
      attention[head] = softmax(scores, length, edits.direction);
      context[head] = this.kernels.product(attention[head], transpose(value[head], this.headSize), length); // (query, head_size)
      scale(context[head], edits.gate(this.layer, head)); // 0 switches a head off
    }
    record("attention", this.layer, concatenate(attention)); // (heads, query, key)
    return this.joinHeads(context);
  }

  // (seq, heads × head_size) -> for each head, (seq, head_size)
  splitHeads(x) {
    const { heads, headSize } = this, length = x.length / (heads * headSize);
    return Array.from({ length: heads }, (_, head) => {
      const part = new Float32Array(length * headSize);
      for (let t = 0; t < length; t++) {
        for (let d = 0; d < headSize; d++) part[t * headSize + d] = x[(t * heads + head) * headSize + d];
      }
      return part;
    });
  }

  // and back
  joinHeads(parts) {
    const { heads, headSize } = this, length = parts[0].length / headSize;
    const x = new Float32Array(length * heads * headSize);
    parts.forEach((part, head) => {
      for (let t = 0; t < length; t++) {
        for (let d = 0; d < headSize; d++) x[(t * heads + head) * headSize + d] = part[t * headSize + d];
      }
    });
    return x;
  }
}

// Self-attention, then a feed-forward network, each added to its input and normalised after (post-norm).
class Layer {
  constructor(weights, config, layer) {
    const name = `bert.encoder.layer.${layer}`;
    this.attention = new SelfAttention(weights, config, layer);
    this.attentionNorm = weights.norm(`${name}.attention.output.LayerNorm`, config.layer_norm_eps);
    this.up = weights.linear(`${name}.intermediate.dense`);
    this.down = weights.linear(`${name}.output.dense`);
    this.norm = weights.norm(`${name}.output.LayerNorm`, config.layer_norm_eps);
    this.activation = NONLINEARITIES[config.hidden_act];
  }

  forward(x, edits, record) {
    x = this.attentionNorm(add(x, this.attention.forward(x, edits, record)));
    const neurons = this.activation(this.up(x)); // (seq, intermediate)
    return this.norm(add(x, this.down(neurons)));
  }
}

// Logits over the vocabulary by the tied embedding matrix: (states, hidden) -> (states, vocabulary)
class MLMHead {
  constructor(weights, config) {
    this.dense = weights.linear("cls.predictions.transform.dense");
    this.norm = weights.norm("cls.predictions.transform.LayerNorm", config.layer_norm_eps);
    this.embeddings = weights.matrix("bert.embeddings.word_embeddings.weight");
    this.bias = weights.vector("cls.predictions.bias");
    this.activation = NONLINEARITIES[config.hidden_act];
    this.kernels = weights.kernels;
  }

  forward(states) {
    return this.kernels.linear(this.norm(this.activation(this.dense(states))), this.embeddings, this.bias);
  }
}

// Logits of the pooled [CLS], (1, hidden) -> (1, 2): output 0 is IsNext, output 1 is NotNext.
class NSPHead {
  constructor(weights) {
    this.pooler = weights.linear("bert.pooler.dense");
    this.classifier = weights.linear("cls.seq_relationship");
  }

  forward(clsState) {
    return this.classifier(this.pooler(clsState).map(Math.tanh));
  }
}

// The encoder with the masked-word and the next-sentence head, or those of them its checkpoint has.
class Bert {
  constructor(config, tensors, kernels) {
    const weights = new Weights(tensors, kernels);
    this.config = config;
    this.embeddings = new Embeddings(weights, config);
    this.layers = Array.from({ length: config.num_hidden_layers }, (_, layer) => new Layer(weights, config, layer));
    this.mlm = weights.has("cls.predictions.bias") ? new MLMHead(weights, config) : null;
    this.nsp = weights.has("cls.seq_relationship.weight") ? new NSPHead(weights) : null;
  }

  // Hidden states after the last layer, (seq, hidden); `record` gets the activations on the way.
  forward(input, edits = new Edits(), record = () => {}) {
    let x = this.embeddings.forward(input);
    record("hidden", 0, x);
    this.layers.forEach((layer, index) => {
      x = layer.forward(x, edits, record);
      record("hidden", index + 1, x);
    });
    return x;
  }

  // The states at some positions: (seq, hidden) -> (positions, hidden)
  at(states, positions) {
    const hidden = this.config.hidden_size;
    return concatenate(positions.map((position) => states.subarray(position * hidden, (position + 1) * hidden)));
  }

  // Logits over the vocabulary: (states, hidden) -> (states, vocabulary)
  mlmLogits(states) {
    return this.mlm.forward(states);
  }

  // Logits of IsNext and NotNext, from the state of [CLS]: (seq, hidden) -> (2,)
  nspLogits(states) {
    return this.nsp.forward(this.at(states, [0]));
  }

  // Each row a distribution over the words: (states, hidden) -> (states, vocabulary)
  wordProbabilities(states) {
    return softmax(this.mlmLogits(states), this.config.vocab_size);
  }

  // P(IsNext): (seq, hidden) -> a number
  isNext(states) {
    return softmax(this.nspLogits(states), 2)[0];
  }
}

// Interventions as arguments of the forward pass, as in model/interventions.py: heads whose context is multiplied by 0, and
// the side to which every position may look.
class Edits {
  constructor({ off = [], direction = "both" } = {}) {
    this.off = new Set(off.map(([layer, head]) => `${layer}.${head}`));
    this.direction = direction;
  }

  gate(layer, head) {
    return this.off.has(`${layer}.${head}`) ? 0 : 1;
  }
}
