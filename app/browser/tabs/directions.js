// Left, right or both: the same blank with half of the sentence out of sight (directionality).

const SIDES = {
  left: ["Left only", "as GPT reads"], right: ["Right only", "its mirror image"],
  averaged: ["Both, apart", "the mean of the two, as ELMo joins them"], both: ["Both at once", "as BERT reads"],
};

class DirectionsTab {
  constructor(page) {
    this.page = page;
    this.strip = new MarkedStrip(page);
    this.answer = element("div");
    this.root = element("section", {}, this.strip.root, this.answer);
  }

  async show(state) {
    const marks = await this.strip.show(state);
    const { blanks, position, word, isGold, rows } = await this.page.client.ask("directions", { a: state.a, b: state.b, marks, position: state.blank });
    const of = Object.fromEntries(rows.map((row) => [row.name, row]));
    const pills = blanks.length > 1 ? element("div", { className: "field" }, "Blank ",
      choice("Blank", blanks.map((blank, nth) => [blank.position, `${nth + 1}: ${blank.word}`]), position, (blank) => this.page.change({ blank }))) : null;
    this.answer.replaceChildren(...[pills,
      caption(`“${word}”${isGold ? ", the true word," : ", BERT's own guess,"} gets ${percent(of.both.probability)} with both sides in sight, ` +
        `${percent(of.left.probability)} from the left alone and ${percent(of.right.probability)} from the right. One-sided sight holds for every position in every layer. ` +
        "This model learned with both sides, so half of its sight serves it worse than a model that learned that way."),
      element("div", { className: "blanks" }, ...rows.map(({ name, guesses, probability, rank }) => element("div", {},
        element("h2", { textContent: SIDES[name][0] }), caption(`${SIDES[name][1]}; ${word} has rank ${(rank + 1).toLocaleString("en")}, ${percent(probability)}`),
        bars(guesses.map((guess) => ({ ...guess, marked: guess.word === word })), SIDES[name][0])))),
      csvButton("directions.csv", () => [["sight", "word", "probability"], ...rows.flatMap(({ name, guesses }) => guesses.map((guess) => [name, guess.word, guess.probability]))]),
    ].filter(Boolean));
  }
}
