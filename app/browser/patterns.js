// A few words on each head, by the thresholds of Clark et al. (2019), as in probes/heads: what it mostly looks at.

const POSITIONAL = 0.5, SPECIAL_SHARE = 0.6, BROAD = 3.8 / Math.log(128); // of the largest entropy that is possible
const isMark = (text) => /^[\p{P}\p{S}]+$/u.test(text);

// Attention (heads, query, key) of each layer -> a label for each head: (layers, heads)
function headPatterns(attention, tokens, heads) {
  const length = tokens.length;
  const kinds = targetKinds(tokens);
  return attention.map((weights) => range(0, heads).map((head) => {
    const own = weights.subarray(head * length * length, (head + 1) * length * length);
    const shares = Object.fromEntries(Object.entries(kinds).map(([name, isKind]) => [name, shareOf(own, length, isKind)]));
    return patternName(shares, entropyOf(own) / length, Math.log2(length));
  }));
}

// Whether a key is of a kind, for a query.
function targetKinds(tokens) {
  const texts = tokens.map((token) => token.text), words = tokens.map((token) => token.word);
  const mark = tokens.map((token) => token.word !== null && isMark(token.text));
  return {
    previous: (query, key) => key === query - 1,
    next: (query, key) => key === query + 1,
    self: (query, key) => key === query,
    "[CLS]": (_, key) => texts[key] === "[CLS]",
    "[SEP]": (_, key) => texts[key] === "[SEP]",
    punctuation: (_, key) => mark[key],
    "special or punctuation": (_, key) => texts[key] === "[CLS]" || texts[key] === "[SEP]" || mark[key],
    "same word": (query, key) => key !== query && words[query] !== null && words[query] === words[key],
  };
}

// How much of its attention goes to a kind, over the queries for which there is such a key; NaN where there is none.
function shareOf(weights, length, isKind) {
  let share = 0, queries = 0;
  for (let query = 0; query < length; query++) {
    let possible = false;
    for (let key = 0; key < length; key++) {
      if (!isKind(query, key)) continue;
      possible = true;
      share += weights[query * length + key];
    }
    if (possible) queries++;
  }
  return share / queries;
}

// The entropy of all rows together, in bits.
function entropyOf(weights) {
  let bits = 0;
  for (const weight of weights) bits -= weight * Math.log2(Math.max(weight, 1e-30));
  return bits;
}

function patternName(shares, entropy, most) {
  const names = ["previous", "next"].filter((kind) => shares[kind] >= POSITIONAL).map((kind) => `${kind} token`);
  if (shares.self >= POSITIONAL) names.push("itself");
  names.push(...["[CLS]", "[SEP]", "punctuation"].filter((kind) => shares[kind] >= SPECIAL_SHARE));
  if (!names.length && shares["same word"] >= POSITIONAL) names.push("pieces of its word");
  if (!names.length && shares["special or punctuation"] >= SPECIAL_SHARE) names.push("special tokens and punctuation");
  if (!names.length && entropy >= BROAD * most) names.push("broad");
  return names.join(", ");
}
