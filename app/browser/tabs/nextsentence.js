// Next sentence: both outputs of the head, by name.

class NextSentenceTab {
  constructor(page) {
    this.page = page;
    this.root = element("section");
  }

  async show({ a, b }) {
    const { tokens, note, logits, isNext, notNext } = await this.page.client.ask("pair", { a, b });
    this.page.note(note);
    const follows = logits[0] >= logits[1];
    this.root.replaceChildren(
      element("h2", { textContent: `${follows ? "IsNext" : "NotNext"}: the model says that B ${follows ? "follows" : "does not follow"} A` }),
      bars([{ word: "IsNext (output 0): B follows A", probability: isNext, marked: false }, { word: "NotNext (output 1): it does not", probability: notNext, marked: false }], "Both outputs"),
      caption(`P(IsNext) is ${isNext.toFixed(4)}, P(NotNext) ${notNext.toFixed(4)}; one half would be a head that knows nothing. ` +
        `Their scores before the softmax are ${logits[0].toFixed(2)} and ${logits[1].toFixed(2)}. The head reads only the last state of [CLS].`),
      button("Swap A and B", () => this.page.change({ a: this.page.state.b, b: this.page.state.a, marks: null }), { className: "plain" }),
      tokenChips(tokens, ({ segment, position }) => [`${"AB"[segment]} · ${position}`]),
      csvButton("next-sentence.csv", () => [["output", "meaning", "score", "probability"], [0, "IsNext", logits[0], isNext], [1, "NotNext", logits[1], notNext]]));
  }
}
