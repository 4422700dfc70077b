// Layer by layer: what the masked-word head would say, were each layer the last (logit lens).

class LayersTab {
  constructor(page) {
    this.page = page;
    this.strip = new MarkedStrip(page);
    this.answer = element("div");
    this.root = element("section", {}, this.strip.root, this.answer);
  }

  async show(state) {
    const marks = await this.strip.show(state);
    const { tokens, targets, positions, layers } = await this.page.client.ask("lens", { a: state.a, b: state.b, marks });
    const asked = new Set(targets.flatMap(({ start, stop }) => Array.from({ length: stop - start }, (_, i) => start + i)));
    const names = layers.map((_, layer) => layer ? `layer ${layer}` : "embeddings");
    const cell = (token, layer) => {
      const { word, probability, goldRank } = layers[layer][positions.indexOf(token.position)];
      return element("td", { textContent: word, title: `${names[layer]}: ${word} ${percent(probability)}${goldRank === null ? "" : `; the true word has rank ${goldRank + 1}`}`,
        style: `background: color-mix(in srgb, var(--lens) ${Math.round(75 * probability)}%, transparent)` });
    };
    const read = positions.map((position) => tokens[position]);
    const body = read.map((token) => element("tr", { className: asked.has(token.position) ? "asked" : "" },
      element("th", { textContent: token.text }), ...names.map((_, layer) => cell(token, layer))));
    const { vocabulary } = this.page.header.tokenizer;
    const findings = targets.flatMap(({ start, goldIds }) => goldIds.length ? goldIds.map((id, i) => finding(vocabulary[id], layers, positions.indexOf(start + i)))
      : [firstGuesses(layers, positions.indexOf(start))]);
    this.answer.replaceChildren(
      caption(`From the embeddings to the last layer ${findings.join("; ")}. A guess among all words would have rank ${(this.page.header.config.vocab_size / 2).toLocaleString("en")} on average. ` +
        "Each cell is the best word of one layer read through the model's own head; stronger colour is surer, orange frames what was asked." +
        (read.length < tokens.length ? ` The input is long: the ${read.length} tokens around the blanks are read.` : "")),
      element("div", { className: "lens scroll" }, element("table", {}, element("thead", {}, element("tr", {}, element("th"), ...names.map((name) => element("th", { textContent: name })))), element("tbody", {}, ...body))),
      csvButton("layers.csv", () => [["position", "token", "layer", "word", "probability", "true word's probability", "true word's rank"],
        ...read.flatMap(({ position, text }, nth) => layers.map((layer, index) => [position, text, index, layer[nth].word, layer[nth].probability, layer[nth].goldProbability, layer[nth].goldRank === null ? null : layer[nth].goldRank + 1]))]));
  }
}

// How a word that stood in a blank fares, layer by layer.
function finding(word, layers, place) {
  return `“${word}”, which stood there, has rank ${layers.map((layer) => (layer[place].goldRank + 1).toLocaleString("en")).join(", ")}`;
}

// What the layers say where nobody knows the word.
function firstGuesses(layers, place) {
  return `the blank is read as ${layers.map((layer) => layer[place].word).join(", ")}`;
}
