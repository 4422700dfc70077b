// From the stored values to the matrix on screen: wordpieces or whole words, hidden tokens, renormalised rows,
// directions between the two sentences.

const PUNCTUATION = /^[\p{P}\p{S}]+$/u;

class Weights {
  constructor(data, choice) {
    this.data = data;
    this.choice = choice;
    this.matrices = new Map();
    this.units = unitsOf(data, choice.unit);
    this.visible = this.units.filter((unit) => !isHidden(unit, choice.hide));
    if (!this.visible.length) this.visible = this.units;
    this.rescaled = data.normalised && this.visible.length < this.units.length;
    this.top = data.normalised ? 1 : Math.max(data.scale, 1e-12);
    this.hiddenWeight = new Map();
  }

  // The row of the payload that holds a layer, or -1 while Python has not sent it.
  row(layer) {
    return this.data.layers.indexOf(layer);
  }

  // One head's weights among the visible units, Float32Array of size × size.
  matrix(row, head) {
    const key = row * this.data.headCount + head;
    if (!this.matrices.has(key)) this.matrices.set(key, this.computeMatrix(key));
    return this.matrices.get(key);
  }

  computeMatrix(key) {
    const { codes, value, size } = this.data;
    const base = key * size * size;
    const units = this.visible;
    const count = units.length;
    const matrix = new Float32Array(count * count);
    const whole = count === size && this.choice.unit === "pieces";
    if (whole) {
      for (let i = 0; i < matrix.length; i++) matrix[i] = value[codes[base + i]];
    } else {
      units.forEach((query, u) => units.forEach((key, v) => {
        let sum = 0;
        for (const i of query.members) for (const j of key.members) sum += value[codes[base + i * size + j]];
        matrix[u * count + v] = sum / query.members.length;
      }));
    }
    if (this.rescaled) {
      let hiddenSum = 0;
      for (let u = 0; u < count; u++) {
        const rowOf = matrix.subarray(u * count, (u + 1) * count);
        const sum = rowOf.reduce((a, b) => a + b, 0);
        hiddenSum += 1 - sum;
        if (sum > 1e-6) for (let v = 0; v < count; v++) rowOf[v] /= sum;
      }
      this.hiddenWeight.set(key, hiddenSum / count);
    }
    const allowed = this.choice.edges;
    if (allowed.length < 4) {
      for (let u = 0; u < count; u++) for (let v = 0; v < count; v++) {
        const edge = "AB"[units[u].segment] + "AB"[units[v].segment];
        if (!allowed.includes(edge)) matrix[u * count + v] = 0;
      }
    }
    return matrix;
  }

  // The mean share of a row's weight that went to hidden units, over these heads of these rows of the payload.
  hiddenShare(rows, heads) {
    const shares = rows.flatMap((row) => heads.map((head) => {
      this.matrix(row, head);
      return this.hiddenWeight.get(row * this.data.headCount + head);
    }));
    return shares.reduce((sum, share) => sum + share, 0) / shares.length;
  }

  // The mean of several heads, what the heatmap shows when more than one is chosen.
  mean(row, heads) {
    if (heads.length === 1) return this.matrix(row, heads[0]);
    const matrices = heads.map((head) => this.matrix(row, head));
    return Float32Array.from(matrices[0], (_, i) => matrices.reduce((sum, matrix) => sum + matrix[i], 0) / matrices.length);
  }

  unitOf(token) {
    return this.visible.findIndex((unit) => unit.members.includes(token));
  }

  // How strongly a value is drawn, -1 to 1; the square root lets weak weights be seen.
  tone(value) {
    return Math.sign(value) * Math.sqrt(Math.min(1, Math.abs(value) / this.top));
  }

  passes(value) {
    return Math.abs(value) >= this.choice.threshold * this.top;
  }
}

function unitsOf(data, unit) {
  const units = [];
  data.tokens.forEach((text, i) => {
    const word = data.words[i];
    const last = units[units.length - 1];
    if (unit === "words" && word !== null && last && last.word === word) {
      last.members.push(i);
      last.label += text.replace(/^##/, "");
    } else {
      units.push({ label: text, members: [i], word, segment: data.segments[i] });
    }
  });
  return units;
}

function isHidden(unit, hide) {
  if (unit.word === null) return hide.includes("special");
  return hide.includes("punctuation") && PUNCTUATION.test(unit.label);
}
