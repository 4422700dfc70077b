// Words: the wordpieces that the model reads, with their numbers in the vocabulary.

class WordsTab {
  constructor(page) {
    this.page = page;
    this.root = element("section");
  }

  async show({ a, b }) {
    const { tokens, note } = await this.page.client.ask("words", { a, b });
    this.page.note(note);
    const pieces = tokens.filter((token) => token.word !== null);
    const words = new Set(pieces.map((token) => token.word)).size;
    const cut = new Set(pieces.filter((token) => token.text.startsWith("##")).map((token) => token.word)).size;
    const rows = () => [["position", "wordpiece", "id", "segment", "word"],
      ...tokens.map(({ position, text, id, segment, word }) => [position, text, id, "AB"[segment], word ?? ""])];
    this.root.replaceChildren(
      caption(`${pieces.length} wordpieces spell ${words} words and marks; ${["none is", "1 is"][cut] ?? `${cut} are`} cut into several, ` +
        `where ## goes on with the piece before. With [CLS] and [SEP] the model reads ${tokens.length} of at most ${this.page.header.tokenizer.maxLength}. ` +
        "Below each piece: its number in the vocabulary, its sentence and its position."),
      tokenChips(tokens, ({ id, segment, position }) => [String(id), `${"AB"[segment]} · ${position}`]),
      csvButton("wordpieces.csv", rows));
  }
}
