// WordPiece: text or a pair of texts -> an encoding, remembering where every piece came from. As model/tokenizer.py,
// with the tables of characters.py in place of the browser's own Unicode.

const SAME = 0, REMOVED = 1, SPACE = 2, APART = 3, REPLACED = 4, HANGUL = 5; // what becomes of a character
const LETTER = 0, WHITESPACE = 1, PUNCTUATION = 2; // where words end
const BLANK = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/; // nothing for Python's str.strip
const UNICODE = 0x110000;

class InputError extends Error {}

class WordPiece {
  constructor({ vocabulary, added, special, maxLength, maxWordLength, continuation, characters }) {
    this.ids = new Map();
    this.vocabulary = vocabulary.map((word, id) => {
      if (word !== null) this.ids.set(word, id);
      return word;
    });
    this.added = new Map(Object.entries(added));
    for (const [word, id] of this.added) this.vocabulary[id] = word;
    this.vocabulary = this.vocabulary.map((word) => word ?? this.vocabulary[special.unknown]);
    this.special = special;
    this.maxLength = maxLength;
    this.maxWordLength = maxWordLength;
    this.continuation = continuation;
    const longestFirst = [...this.added.keys()].sort((a, b) => b.length - a.length);
    this.addedWords = new RegExp(`(${longestFirst.map((word) => word.replace(/[^\w]/g, "\\$&")).join("|")})`);
    this.change = new Uint8Array(UNICODE);
    this.boundary = new Uint8Array(UNICODE);
    this.replaced = new Map(Object.entries(characters.replaced));
    if (characters.hangul) this.change.fill(HANGUL, 0xac00, 0xd7a4);
    for (const character of this.replaced.keys()) this.change[character.codePointAt(0)] = REPLACED;
    fillRuns(this.change, characters.removed, REMOVED);
    fillRuns(this.change, characters.space, SPACE);
    fillRuns(this.change, characters.apart, APART);
    fillRuns(this.boundary, characters.whitespace, WHITESPACE);
    fillRuns(this.boundary, characters.punctuation, PUNCTUATION);
  }

  // [CLS] A [SEP], or [CLS] A [SEP] B [SEP], the longer sentence cut first where they do not fit.
  encode(a, b = "") {
    const texts = BLANK.test(b) ? [a] : [a, b];
    if (BLANK.test(a)) throw new InputError("Sentence A is empty: type a few words.");
    const parts = texts.map((text) => this.pieces(text));
    if (parts.flat().every((piece) => piece.id === this.special.unknown)) {
      throw new InputError("The vocabulary of this model knows none of these characters: every word would be read as [UNK]. " +
        "Choose a model for this script, or other words.");
    }
    const lengths = parts.map((part) => part.length);
    const room = this.maxLength - 1 - parts.length;
    const total = () => lengths.reduce((sum, length) => sum + length, 0);
    while (total() > room) lengths[lengths.indexOf(Math.max(...lengths))] -= 1;
    const tokens = [{ text: "[CLS]", id: this.special.cls, segment: 0, position: 0, word: null, span: null }];
    let words = 0; // numbered over both sentences
    parts.forEach((part, segment) => {
      for (const piece of part.slice(0, lengths[segment])) {
        tokens.push({ ...piece, segment, position: tokens.length, word: words + piece.word });
      }
      words += part.length ? part[part.length - 1].word + 1 : 0;
      tokens.push({ text: "[SEP]", id: this.special.sep, segment, position: tokens.length, word: null, span: null });
    });
    const truncated = parts.map((part, segment) => part.length - lengths[segment]);
    return { tokens, texts, truncated, note: note(tokens, texts, truncated) };
  }

  pieceIds(text) {
    return this.pieces(text).map((piece) => piece.id);
  }

  // The wordpieces of a text, without [CLS] and [SEP]: text, id, number of the word, span of characters.
  pieces(text) {
    const pieces = [];
    let word = 0, from = 0;
    for (const part of text.split(this.addedWords)) {
      const characters = Array.from(part);
      if (this.added.has(part)) {
        pieces.push({ text: part, id: this.added.get(part), word: word++, span: [from, from + characters.length] });
      } else {
        for (const letters of this.words(this.normalised(characters, from))) pieces.push(...this.cut(letters, word++));
      }
      from += characters.length;
    }
    return pieces;
  }

  // Characters -> the letters that are left of them: [letter, place of its character].
  normalised(characters, from) {
    return characters.flatMap((character, place) => this.letters(character).map((letter) => [letter, from + place]));
  }

  letters(character) {
    const code = character.codePointAt(0);
    if (code >= 0xd800 && code < 0xe000) return ["?"]; // half a character: Python cannot write it either
    switch (this.change[code]) {
      case REMOVED: return [];
      case SPACE: return [" "];
      case APART: return [" ", character, " "];
      case REPLACED: return Array.from(this.replaced.get(character));
      case HANGUL: return Array.from(character.normalize("NFD"));
      default: return [character];
    }
  }

  // Letters -> words: whitespace ends one, punctuation is one.
  words(letters) {
    const words = [];
    let open = null;
    for (const letter of letters) {
      const boundary = this.boundary[letter[0].codePointAt(0)];
      if (boundary === LETTER) {
        if (open) open.push(letter);
        else words.push(open = [letter]);
      } else {
        if (boundary === PUNCTUATION) words.push([letter]);
        open = null;
      }
    }
    return words;
  }

  // One word -> the longest pieces of the vocabulary that spell it, from left to right; [UNK] where none do.
  cut(letters, word) {
    const span = (start, stop) => [letters[start][1], letters[stop - 1][1] + 1];
    const unknown = [{ text: "[UNK]", id: this.special.unknown, word, span: span(0, letters.length) }];
    if (letters.length > this.maxWordLength) return unknown;
    const pieces = [];
    for (let start = 0, stop; start < letters.length; start = stop) {
      let text;
      for (stop = letters.length; stop > start; stop--) {
        text = (start ? this.continuation : "") + letters.slice(start, stop).map(([letter]) => letter).join("");
        if (this.ids.has(text)) break;
      }
      if (stop === start) return unknown;
      pieces.push({ text, id: this.ids.get(text), word, span: span(start, stop) });
    }
    return pieces;
  }
}

// [first start, its length, gap to the next start, its length, …] -> a mark on each of these characters.
function fillRuns(table, runs, mark) {
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) {
    table.fill(mark, at + runs[i], at + runs[i] + runs[i + 1]);
    at += runs[i] + runs[i + 1];
  }
}

// What a reader must know about an input: what was cut, what is unknown; empty when all is well.
function note(tokens, texts, truncated) {
  const sentences = truncated.flatMap((count, segment) => count
    ? [`${count} wordpieces were cut from the end of sentence ${"AB"[segment]}: the model reads at most ${tokens.length} at once.`] : []);
  const unknown = tokens.filter((token) => token.text === "[UNK]" && token.span)
    .map((token) => Array.from(texts[token.segment]).slice(...token.span).join(""));
  if (unknown.length) sentences.push(`Not in the vocabulary, read as [UNK]: ${[...new Set(unknown)].join(", ")}.`);
  return sentences.join(" ");
}
