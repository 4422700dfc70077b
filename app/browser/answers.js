// Every question that the page asks of a model, by name. A request is plain data and so is its answer.

const REMEMBERED = 6; // forward passes
const LENS_LENGTH = 100, LENS_REACH = 12; // tokens: a score for every word, at every layer and position, takes its time

class Laboratory {
  constructor(bert, tokenizer, config) {
    this.bert = bert; // null until the weights have come: wordpieces need none
    this.tokenizer = tokenizer;
    this.config = config;
    this.passes = new Map();
  }

  // tokens, texts, note
  words({ a, b }) {
    return this.tokenizer.encode(a, b);
  }

  // Attention (layers, heads, query, key), P(IsNext), and a head worth showing first.
  trace({ a, b, off = [] }) {
    const encoding = this.tokenizer.encode(a, b);
    const { attention, states } = this.pass(encoding.tokens, { off });
    return { ...encoding, attention: concatenate(attention), isNext: this.bert.nsp ? this.bert.isNext(states) : null,
      informative: mostInformative(attention, encoding.tokens, this.config.num_attention_heads),
      patterns: headPatterns(attention, encoding.tokens, this.config.num_attention_heads) };
  }

  // Hidden states (layers + 1, seq, hidden).
  hidden({ a, b, off = [], direction = "both" }) {
    return concatenate(this.pass(this.tokenizer.encode(a, b).tokens, { off, direction }).hidden);
  }

  // Guesses at every asked position, and how the word that stood there and the reader's own do.
  fill({ a, b, marks, k = 6, word = "" }) {
    const query = this.query(a, b, marks);
    const { unmasked, ...input } = query;
    const positions = query.targets.flatMap(({ start, stop }) => range(start, stop));
    const predicted = this.predictions(query.tokens, positions);
    const blanks = query.targets.map((target) => {
      const words = [["original", this.joinPieces(target.goldIds)], ["yours", word]].filter(([, text]) => text.trim());
      return { ...target, original: words[0]?.[0] === "original" ? words[0][1] : "",
        pieces: range(target.start, target.stop).map((position, place) => ({
          position, gold: target.goldIds.length ? this.tokenizer.vocabulary[target.goldIds[place]] : null,
          guesses: this.topK(predicted[positions.indexOf(position)], k) })),
        scores: words.map(([whose, text]) => ({ whose, ...this.wordScoreOrProblem(query, target, text) })) };
    });
    return { ...input, blanks };
  }

  // The two outputs of the next-sentence head.
  pair({ a, b }) {
    this.require("nsp");
    for (const [name, text] of [["A", a], ["B", b]]) {
      if (BLANK.test(text)) throw new InputError(`Sentence ${name} is empty: next-sentence prediction needs two sentences.`);
    }
    const encoding = this.tokenizer.encode(a, b);
    const logits = [...this.bert.nspLogits(this.pass(encoding.tokens).states)];
    const isNext = 1 / (1 + Math.exp(logits[1] - logits[0]));
    return { ...encoding, logits, isNext, notNext: 1 - isNext };
  }

  // The masked-word head's reading of every layer (logit lens) at every position, of a long input at those near a blank.
  lens({ a, b, marks }) {
    const { tokens, unmasked, targets } = this.query(a, b, marks);
    const near = ({ position }) => targets.some(({ start, stop }) => start - LENS_REACH <= position && position < stop + LENS_REACH);
    const positions = (tokens.length > LENS_LENGTH ? tokens.filter(near) : tokens).map(({ position }) => position);
    const { mask } = this.tokenizer.special;
    const gold = positions.map((position) => unmasked[position].id === mask ? null : unmasked[position].id); // nobody knows the word of a [MASK]
    const layers = this.pass(tokens).hidden.map((states) => this.reading(this.bert.at(states, positions), gold));
    return { tokens, targets, positions, layers };
  }

  // One blank seen from the left, from the right, from both apart and from both at once.
  directions({ a, b, marks, position = null, k = 6 }) {
    const query = this.query(a, b, marks);
    const asked = query.targets.flatMap(({ start, stop, goldIds }) => range(start, stop).map((place, nth) => [place, goldIds[nth] ?? null]));
    const [place, gold] = asked.find(([candidate]) => candidate === position) ?? asked[0];
    const [left, right, both] = ["left", "right", "both"].map((direction) => this.predictions(query.tokens, [place], { direction })[0]);
    const averaged = left.map((probability, id) => (probability + right[id]) / 2);
    const word = gold ?? argmax(both, this.tokenizer.vocabulary.length);
    const rows = Object.entries({ left, right, averaged, both }).map(([name, predicted]) =>
      ({ name, guesses: this.topK(predicted, k), probability: predicted[word], rank: rankOf(predicted, word) }));
    const blanks = asked.map(([position, id]) => ({ position, word: id === null ? "[MASK]" : this.tokenizer.vocabulary[id] }));
    return { tokens: query.tokens, blanks, position: place,
      word: this.tokenizer.vocabulary[word], isGold: gold !== null, rows };
  }

  // One masked word and P(IsNext) with all heads and without some.
  ablation({ a, b, off, position = null, k = 7 }) {
    const { tokens, texts } = this.tokenizer.encode(a, b);
    const fit = tokens.filter((token) => token.text === "[MASK]" || (token.word !== null && /^[\p{L}\p{N}]/u.test(token.text)));
    const answer = { fit: fit.map((token) => [token.position, token.text]), words: null, isNext: null };
    if (this.bert.mlm && fit.length) {
      const chosen = fit.find((token) => token.position === position) ?? fit.find((token) => token.text === "[MASK]") ?? fit[fit.length >> 1];
      const masked = replaceAt(tokens, [chosen.position], this.tokenizer.special.mask);
      const [before, after] = [[], off].map((heads) => this.predictions(masked, [chosen.position], { off: heads })[0]);
      const gold = chosen.text === "[MASK]" ? argmax(before, before.length) : chosen.id;
      const best = this.topK(before.map((probability, id) => Math.max(probability, after[id])), k).map(({ id }) => id);
      if (!best.includes(gold)) best.push(gold);
      Object.assign(answer, { position: chosen.position, gold: this.tokenizer.vocabulary[gold],
        words: best.map((id) => ({ word: this.tokenizer.vocabulary[id], before: before[id], after: after[id] })) });
    }
    if (this.bert.nsp && texts.length === 2) {
      answer.isNext = [[], off].map((heads) => this.bert.isNext(this.pass(tokens, { off: heads }).states));
    }
    return answer;
  }

  lesson(question) {
    return LESSONS[question.kind](this, question);
  }

  // Everything one input becomes: states after the last layer, hidden of every layer, attention of every layer.
  pass(tokens, { off = [], direction = "both" } = {}) {
    const [ids, segments] = [tokens.map((token) => token.id), tokens.map((token) => token.segment)];
    const key = JSON.stringify([ids, segments, [...off].sort(), direction]);
    if (!this.passes.has(key)) {
      const result = { hidden: [], attention: [] };
      result.states = this.bert.forward({ ids, segments }, new Edits({ off, direction }),
        (name, layer, value) => { result[name][layer] = value; });
      if (this.passes.size >= REMEMBERED) this.passes.delete(this.passes.keys().next().value);
      this.passes.set(key, result);
    }
    return this.passes.get(key);
  }

  // P(word) at some positions: one (vocabulary,) each.
  predictions(tokens, positions, edits = {}) {
    this.require("mlm");
    const probabilities = this.bert.wordProbabilities(this.bert.at(this.pass(tokens, edits).states, positions));
    return rows(probabilities, this.config.vocab_size);
  }

  // What the head makes of each of some states: its best word, how sure it is, and how the true word does.
  reading(states, gold) {
    const size = this.config.hidden_size, batch = 16; // a score for every word takes room
    const words = [];
    for (let from = 0; from * size < states.length; from += batch) {
      const part = this.bert.wordProbabilities(states.subarray(from * size, (from + batch) * size));
      rows(part, this.config.vocab_size).forEach((predicted, nth) => {
        const best = argmax(predicted, predicted.length), id = gold[from + nth];
        words.push({ word: this.tokenizer.vocabulary[best] ?? "[UNK]", probability: predicted[best],
          goldProbability: id === null ? null : predicted[id], goldRank: id === null ? null : rankOf(predicted, id) });
      });
    }
    return words;
  }

  // An input with the reader's marks applied, before and after masking, and the places asked for.
  query(a, b, marks) {
    this.require("mlm");
    const { mask } = this.tokenizer.special;
    const { tokens, note, texts } = this.tokenizer.encode(a, b);
    const valid = validSpans(tokens, marks);
    const written = tokens.filter((token) => token.id === mask && !valid.some(({ start, stop }) => start <= token.position && token.position < stop))
      .map(({ position }) => ({ start: position, stop: position + 1, kind: "mask" }));
    let unmasked = tokens, moved = 0;
    const targets = [];
    for (const { start, stop, kind, word } of [...valid, ...written].sort((one, other) => one.start - other.start)) {
      const [from, to] = [start + moved, stop + moved];
      if (kind === "replace") {
        const ids = this.toPieceIds(word);
        unmasked = this.replaceSpan(unmasked, from, to, ids);
        moved += ids.length - (to - from);
      } else {
        const goldIds = tokens.slice(start, stop).map((token) => token.id);
        targets.push({ start: from, stop: to, visible: kind === "ask", goldIds: goldIds.includes(mask) ? [] : goldIds });
      }
    }
    if (!targets.length) throw new InputError("No word is chosen: mask one, or write [MASK] where one is missing.");
    const hidden = targets.filter((target) => !target.visible).flatMap(({ start, stop }) => range(start, stop));
    const masked = replaceAt(unmasked, hidden, mask);
    if (masked.every((token) => token.word === null || token.id === mask)) {
      throw new InputError("Every word is masked, so nothing is left to predict from: leave at least one.");
    }
    return { unmasked, tokens: masked, targets, note, texts };
  }

  // A word that cannot be compared takes nothing from the guesses.
  wordScoreOrProblem(query, target, word) {
    try {
      return this.wordScore(query, target, word);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return { word, problem: error.message };
    }
  }

  // How a word does in a blank: by its own number of masks, each piece predicted with those before it filled in.
  wordScore(query, { start, stop, visible }, word) {
    const ids = this.toPieceIds(word), { mask } = this.tokenizer.special;
    let predicted;
    if (visible && ids.length !== stop - start) {
      throw new InputError(`${word} is spelled with ${ids.length} wordpieces, the kept word with ${stop - start}: ` +
        "mask the word instead of keeping it to compare them.");
    } else if (visible) {
      predicted = this.predictions(query.tokens, range(start, stop));
    } else {
      predicted = ids.map((_, done) => {
        const pieces = ids.map((id, place) => place < done ? id : mask);
        return this.predictions(this.replaceSpan(query.tokens, start, stop, pieces), [start + done])[0];
      });
    }
    const each = ids.map((id, place) => predicted[place][id]);
    return { word: word.trim(), pieces: ids.map((id) => this.tokenizer.vocabulary[id]), each,
      probability: each.reduce((product, probability) => product * probability, 1), rank: ids.length === 1 ? rankOf(predicted[0], ids[0]) : null };
  }

  // Pseudo-log-likelihood in nats: every piece masked in turn, with the later pieces of its word (Kauf & Ivanova, 2023).
  score(text) {
    const { mask, pad } = this.tokenizer.special;
    const { tokens } = this.tokenizer.encode(text);
    const scored = tokens.filter((token) => token.word !== null && token.id !== mask && token.id !== pad);
    if (!scored.length) throw new InputError("Every word is masked: a sentence is scored by its words.");
    return scored.reduce((sum, token) => {
      const hidden = tokens.filter((other) => other.word === token.word && other.position >= token.position).map((other) => other.position);
      return sum + Math.log(this.predictions(replaceAt(tokens, hidden, mask), [token.position])[0][token.id]);
    }, 0);
  }

  topK(predicted, k) {
    const ids = [];
    for (let id = 0; id < this.tokenizer.vocabulary.length; id++) {
      if (ids.length === k && predicted[id] <= predicted[ids[k - 1]]) continue;
      const place = ids.findIndex((other) => predicted[id] > predicted[other]);
      ids.splice(place < 0 ? ids.length : place, 0, id);
      if (ids.length > k) ids.pop();
    }
    return ids.map((id) => ({ id, word: this.tokenizer.vocabulary[id], probability: predicted[id] }));
  }

  toPieceIds(word) {
    const ids = this.tokenizer.pieceIds(word);
    const special = new Set(Object.values(this.tokenizer.special));
    if (!ids.length || ids.some((id) => special.has(id))) {
      throw new InputError(`“${word.trim()}” cannot be spelled with this model's vocabulary: type another word.`);
    }
    return ids;
  }

  joinPieces(ids) {
    return ids.map((id, place) => place ? this.tokenizer.vocabulary[id].replace(/^##/, "") : this.tokenizer.vocabulary[id]).join("");
  }

  // The same input with other pieces in place of those from start up to stop; later positions move along.
  replaceSpan(tokens, start, stop, ids) {
    const fresh = ids.map((id) => ({ ...tokens[start], id, text: this.tokenizer.vocabulary[id] }));
    return [...tokens.slice(0, start), ...fresh, ...tokens.slice(stop)].map((token, position) => ({ ...token, position }));
  }

  require(head) {
    if (this.bert[head]) return;
    throw new InputError(head === "mlm" ? "This model has no masked-word head, so it cannot predict words."
      : "This model has no next-sentence head, so it cannot judge pairs.");
  }
}

// The marks that lie on words of this input and not on one another; an old link may carry others.
function validSpans(tokens, marks) {
  const valid = [];
  for (const mark of [...marks].sort((one, other) => one.start - other.start)) {
    const inside = mark.start > 0 && mark.start < mark.stop && mark.stop < tokens.length && ["mask", "ask", "replace"].includes(mark.kind);
    const free = !valid.length || valid[valid.length - 1].stop <= mark.start;
    if (inside && free && tokens.slice(mark.start, mark.stop).every((token) => token.word !== null)) valid.push(mark);
  }
  return valid;
}

function replaceAt(tokens, positions, id) {
  const chosen = new Set(positions);
  return tokens.map((token) => chosen.has(token.position) ? { ...token, id, text: "[MASK]" } : token);
}

// The layer and head with the strongest links to words beyond the neighbours.
function mostInformative(attention, tokens, heads) {
  const length = tokens.length;
  const isWord = tokens.map((token) => token.word !== null && !isMark(token.text));
  let best = [0, 0], sharpest = -1;
  attention.forEach((weights, layer) => {
    for (let head = 0; head < heads; head++) {
      let total = 0;
      for (let query = 0; query < length; query++) {
        let largest = 0;
        for (let key = 0; isWord[query] && key < length; key++) {
          if (isWord[key] && Math.abs(tokens[query].word - tokens[key].word) > 1) largest = Math.max(largest, weights[(head * length + query) * length + key]);
        }
        total += largest;
      }
      if (total > sharpest) [best, sharpest] = [[layer, head], total];
    }
  });
  return best;
}

function range(start, stop) {
  return Array.from({ length: stop - start }, (_, i) => start + i);
}

function rows(values, columns) {
  return range(0, values.length / columns).map((row) => values.subarray(row * columns, (row + 1) * columns));
}

function argmax(values, count) {
  let best = 0;
  for (let i = 1; i < count; i++) if (values[i] > values[best]) best = i;
  return best;
}

// The place of one word in a prediction, 0 is the most probable.
function rankOf(predicted, id) {
  let rank = 0;
  for (let other = 0; other < predicted.length; other++) if (predicted[other] > predicted[id]) rank++;
  return rank;
}
