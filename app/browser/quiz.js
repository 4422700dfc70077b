// Lessons: what the model says to a question, a value for each option, as in probes/lessons.py.

const LESSONS = {
  // P(option) behind the mask
  word(laboratory, { text, second, options, off, direction }) {
    const ids = options.map((option) => laboratory.toPieceIds(option));
    const long = options.find((_, i) => ids[i].length > 1);
    if (long) throw new InputError(`This question needs a model that knows “${long}” as one wordpiece.`);
    checkHeads(laboratory, off);
    const { tokens } = laboratory.tokenizer.encode(text, second);
    const mask = tokens.find((token) => token.id === laboratory.tokenizer.special.mask);
    const predicted = laboratory.predictions(tokens, [mask.position], { off, direction })[0];
    return measured(ids.map(([id]) => predicted[id]), "share", laboratory.topK(predicted, 1)[0].word);
  },

  // how the model would bet if one of the options were the sentence
  sentence(laboratory, { options }) {
    laboratory.require("mlm");
    const scores = options.map((option) => laboratory.score(option));
    const shares = scores.map((score) => Math.exp(score - Math.max(...scores)));
    const sum = shares.reduce((one, other) => one + other, 0);
    return measured(shares.map((share) => share / sum), "share");
  },

  // P(IsNext) of each option as sentence B
  follows(laboratory, { text, options }) {
    return measured(options.map((option) => laboratory.pair({ a: text, b: option }).isNext), "share");
  },

  // P(IsNext) and P(NotNext)
  pair(laboratory, { text, second }) {
    const { isNext, notNext } = laboratory.pair({ a: text, b: second });
    return measured([isNext, notNext], "share");
  },

  // how much of a word's attention in one head goes to each option
  looks(laboratory, { text, second, word, layer, head, options }) {
    checkHeads(laboratory, [[layer, head]]);
    const { tokens } = laboratory.tokenizer.encode(text, second);
    const length = tokens.length, weights = laboratory.pass(tokens).attention[layer].subarray(head * length * length);
    const units = wholeWords(tokens);
    const [query] = placesOf(laboratory, units, word);
    const share = (unit) => unit.members.reduce((sum, key) =>
      sum + query.members.reduce((total, row) => total + weights[row * length + key], 0) / query.members.length, 0);
    return measured(options.map((option) => placesOf(laboratory, units, option).reduce((sum, unit) => sum + share(unit), 0)), "share");
  },

  // into how many wordpieces each option is cut
  pieces(laboratory, { options }) {
    return measured(options.map((option) => laboratory.toPieceIds(option).length), "number");
  },

  // cosine of the word's state in the text and in each option
  near(laboratory, { text, word, layer, options }) {
    const last = laboratory.config.num_hidden_layers;
    if ((layer ?? last) > last) throw new InputError(`This question is about layer ${layer}; the model has ${last}.`);
    const [here, ...there] = [text, ...options].map((sentence) => stateOf(laboratory, sentence, word, layer ?? last));
    return measured(there.map((state) => state.reduce((sum, value, k) => sum + value * here[k], 0)), "cosine");
  },

  // one for the option that is right
  known(laboratory, { options, answer }) {
    return measured(options.map((option) => Number(option === answer)), "");
  },
};

function measured(values, unit, own = "") {
  return { values, unit, own, best: argmax(values, values.length) };
}

// [CLS], [SEP] and whole words, with the positions of their pieces.
function wholeWords(tokens) {
  const units = [];
  for (const token of tokens) {
    const last = units[units.length - 1];
    if (last && token.word !== null && token.word === last.word) {
      last.members.push(token.position);
      last.text += token.text.replace(/^##/, "");
    } else {
      units.push({ word: token.word, text: token.text, members: [token.position] });
    }
  }
  return units;
}

// Where a word stands among the words of a text, spelled as the model spells it; somewhere it must.
function placesOf(laboratory, units, word) {
  const ids = laboratory.tokenizer.pieceIds(word);
  const spelled = ids.includes(laboratory.tokenizer.special.unknown) ? "" : laboratory.joinPieces(ids);
  const exact = units.filter((unit) => unit.text === spelled);
  const found = exact.length ? exact : units.filter((unit) => unit.text.toLowerCase() === spelled.toLowerCase());
  if (!found.length) throw new InputError(`“${word}” is not a word that this model finds in the text.`);
  return found;
}

// The mean state of a word's pieces in a text, of length one: (hidden,)
function stateOf(laboratory, text, word, layer) {
  const { tokens } = laboratory.tokenizer.encode(text);
  const [{ members }] = placesOf(laboratory, wholeWords(tokens), word);
  const size = laboratory.config.hidden_size, states = laboratory.pass(tokens).hidden[layer];
  const sum = range(0, size).map((k) => members.reduce((total, position) => total + states[position * size + k], 0));
  const norm = Math.hypot(...sum);
  return sum.map((value) => value / norm);
}

function checkHeads(laboratory, heads) {
  const { num_hidden_layers: layers, num_attention_heads: count } = laboratory.config;
  for (const [layer, head] of heads) {
    if (layer >= layers || head >= count) {
      throw new InputError(`This question is about layer ${layer + 1}, head ${head + 1}; the model has ${layers} layers of ${count} heads.`);
    }
  }
}
