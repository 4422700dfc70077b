// The tensors of a packed model, as weights.py wrote them into the memory of the kernels: {name: [byte offset, *shape]}, by
// Hugging Face's names. A matrix is int8 codes with a scale for each stretch of a row, a vector is float32.

const ALIGNMENT = 16, STRETCH = 64; // as in weights.py: bytes between tensors; weights of a row that share a scale

class Weights {
  constructor(tensors, kernels) {
    this.tensors = tensors;
    this.kernels = kernels;
  }

  has(name) {
    return Object.hasOwn(this.tensors, name);
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

  // ids -> their rows of a table: (seq,) -> (seq, hidden)
  embedding(name) {
    const table = this.matrix(`${name}.weight`);
    return (ids) => concatenate(ids.map((id) => this.kernels.row(table, id)));
  }

  // (seq, in) -> (seq, out)
  linear(name) {
    const [weight, bias] = [this.matrix(`${name}.weight`), this.vector(`${name}.bias`)];
    return (x) => this.kernels.linear(x, weight, bias);
  }

  // (seq, hidden) -> same
  norm(name, epsilon) {
    const [gain, bias] = [this.vector(`${name}.weight`), this.vector(`${name}.bias`)];
    return (x) => layerNorm(x, gain, bias, epsilon);
  }
}
