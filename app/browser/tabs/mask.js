// Mask: hide words on the strip, and see what the model puts there.

// The strip for the sentences, and what is marked on it; three tabs have one, of the same marks.
class MarkedStrip {
  constructor(page) {
    this.page = page;
    this.root = element("div");
  }

  async show(state) {
    const { tokens, note } = await this.page.client.ask("words", { a: state.a, b: state.b });
    this.page.note(note);
    const marks = this.page.state.marks ?? defaultMarks(tokens);
    const key = JSON.stringify([tokens.map((token) => token.text), state.click, state.jumped]);
    if (key !== this.key || JSON.stringify(marks) !== this.drawn) {
      const { host, place } = shadowed(STRIP_STYLE);
      mountStrip({ parentElement: place, data: { whole: state.click === "words", spans: marks,
        chips: tokens.map(({ text, word, segment }) => ({ text, word, segment })) },
      setStateValue: (_, spans) => {
        this.drawn = JSON.stringify(spans);
        this.page.change({ marks: [...spans] });
      } });
      const unit = choice("One click takes", [["words", "whole words"], ["pieces", "wordpieces"]], state.click, (click) => this.page.change({ click }));
      this.root.replaceChildren(element("div", { className: "field" }, "One click takes ", unit), host);
      this.key = key;
      this.drawn = JSON.stringify(marks);
    }
    return marks;
  }
}

// A word to begin with: the last of sentence A that is longer than a letter; none where the text has [MASK] itself.
function defaultMarks(tokens) {
  if (tokens.some((token) => token.text === "[MASK]")) return [];
  const words = tokens.filter((token) => token.segment === 0 && token.word !== null && /^\p{L}{2,}$/u.test(token.text));
  if (!words.length) return [];
  const places = tokens.filter((token) => token.word === words[words.length - 1].word).map((token) => token.position);
  return [{ start: places[0], stop: places[places.length - 1] + 1, kind: "mask", word: "" }];
}

class MaskTab {
  constructor(page) {
    this.page = page;
    this.strip = new MarkedStrip(page);
    this.input = element("input", { placeholder: "any word", maxLength: 60, autocomplete: "off", on: { input: () => page.changeSoon({ candidate: this.input.value }) } });
    this.answer = element("div");
    this.root = element("section", {}, this.strip.root, element("label", { className: "field" }, "How likely is a word of your own? ", this.input), this.answer);
  }

  async show(state) {
    const marks = await this.strip.show(state);
    if (this.input.value !== state.candidate) this.input.value = state.candidate;
    let answer;
    try {
      answer = await this.page.client.ask("fill", { a: state.a, b: state.b, marks, word: state.candidate });
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.answer.replaceChildren(element("p", { className: "problem", textContent: problem.message }));
      return;
    }
    this.answer.replaceChildren(element("div", { className: "blanks" }, ...answer.blanks.map((blank, nth) => this.blank(blank, nth))),
      ...this.scores(answer.blanks), csvButton("guesses.csv", () => [["blank", "position", "word", "probability"],
        ...answer.blanks.flatMap((blank, nth) => blank.pieces.flatMap(({ position, guesses }) => guesses.map(({ word, probability }) => [nth + 1, position, word, probability])))]));
  }

  blank(blank, nth) {
    const [first] = blank.pieces[0].guesses;
    const stood = blank.original ? `; ${blank.original} stood there${blank.visible ? ", and the model still sees it" : ""}` : "";
    return element("div", {}, element("h2", { textContent: `Blank ${nth + 1}` }), caption(`First guess ${first.word}, ${percent(first.probability)}${stood}.`),
      ...blank.pieces.map(({ gold, guesses }, place) => element("div", {},
        blank.pieces.length > 1 ? caption(`Piece ${place + 1} of ${blank.pieces.length}`) : null,
        bars(guesses.map(({ word, probability }) => ({ word, probability, marked: word === gold })), `Guesses for blank ${nth + 1}`))));
  }

  scores(blanks) {
    const scores = blanks.flatMap((blank, nth) => blank.scores.map((score) => ({ nth, ...score })));
    const problems = [...new Set(scores.flatMap(({ problem }) => problem ?? []))];
    const rows = scores.filter(({ problem }) => !problem).map(({ nth, whose, word, rank, probability, pieces, each }) =>
      [String(nth + 1), whose, word, rank === null ? "–" : (rank + 1).toLocaleString("en"), percent(probability), pieces.map((piece, i) => `${piece} ${percent(each[i])}`).join(" × ")]);
    return [...problems.map((problem) => element("p", { className: "problem", textContent: problem })), ...rows.length ? [table(["blank", "whose", "word", "rank", "probability", "pieces"], rows, { className: "scores" }),
      caption("A word of several wordpieces gets as many masks as pieces; its probability is the product over them, each predicted with those before it filled in.")] : []];
  }
}
