// Attention: the board of the app, and what changes when heads are switched off.

const BOARD_STATE = ["view", "layer", "heads", "unit", "hide", "edges", "threshold", "pin", "off"];

class AttentionTab {
  constructor(page) {
    this.page = page;
    const { host, place } = shadowed(BOARD_STYLE);
    this.place = place;
    this.without = element("section", { className: "without" });
    this.root = element("section", {}, host, this.without);
    this.turn = 0;
  }

  async show(state) {
    const { a, b, off } = state;
    const trace = await this.page.client.ask("trace", { a, b, off: this.known(off) });
    this.page.note(trace.note);
    if (this.unmount) this.unmount();
    this.draw(this.page.state, trace);
    await this.showWithout(this.page.state);
  }

  known(off) {
    const { num_hidden_layers: layers, num_attention_heads: heads } = this.page.header.config;
    return off.filter(([layer, head]) => layer < layers && head < heads);
  }

  draw(state, trace) {
    const { num_hidden_layers: layers, num_attention_heads: heads } = this.page.header.config;
    const { tokens } = trace;
    if (state.jumped !== this.jumped) this.turn += 1; // the address was changed from outside: the board follows it
    this.jumped = state.jumped;
    const inside = (end) => end !== null && end < tokens.length ? end : null;
    const pin = state.pin && (inside(state.pin.query) ?? inside(state.pin.key)) !== null
      ? { query: inside(state.pin.query), key: inside(state.pin.key) } : null;
    const chosen = (state.heads ?? []).filter((head) => head < heads);
    const board = { ...Object.fromEntries(BOARD_STATE.map((name) => [name, state[name]])), pin, off: this.known(state.off),
      layer: state.layer !== null && state.layer < layers ? state.layer : trace.informative[0],
      heads: chosen.length ? chosen : [trace.informative[1]] };
    const length = tokens.length;
    const data = boardPayload(trace.attention, [layers, heads, length, length], {
      tokens: tokens.map((token) => token.text), segments: tokens.map((token) => token.segment), words: tokens.map((token) => token.word),
      layers: Array.from({ length: layers }, (_, layer) => layer), everyLayer: layers, notes: trace.patterns, quantity: "Attention",
      meaning: "Each row is how one token shares out its attention: its weights sum to one.",
      switchable: true, choice: board, turn: this.turn });
    this.unmount = mountBoard({ data, parentElement: this.place, setStateValue: (_, choice) => {
      const part = Object.fromEntries(BOARD_STATE.map((name) => [name, choice[name]]));
      this.page.change(part, JSON.stringify(part.off) !== JSON.stringify(this.page.state.off));
    } });
  }

  async showWithout({ a, b, off, watch }) {
    const heads = this.known(off);
    if (!heads.length) {
      this.without.replaceChildren(element("h2", { textContent: "Switch heads off (ablation)" }),
        caption("No head is switched off. Press “switch off” above the board and click heads, or a layer's number for a whole layer: here you see what that changes. The key o switches the chosen head."));
      return;
    }
    const { fit, words, position, gold, isNext } = await this.page.client.ask("ablation", { a, b, off: heads, position: watch });
    const parts = [element("h2", { textContent: "Switch heads off (ablation)" })];
    const names = [...heads].sort(([l1, h1], [l2, h2]) => l1 - l2 || h1 - h2).map(([layer, head]) => `${layer + 1}.${head + 1}`).join(", ");
    if (words) {
      const own = words.find(({ word }) => word === gold);
      const best = (when) => words.reduce((one, other) => other[when] > one[when] ? other : one);
      const [before, after] = [best("before"), best("after")];
      const select = element("select", { on: { change: () => this.page.change({ watch: Number(select.value) }) } },
        ...fit.map(([place, text]) => element("option", { value: place, textContent: `${place} · ${text}`, selected: place === position })));
      parts.push(caption(`Without ${heads.length === 1 ? "head" : "heads"} ${names} (layer.head) the first guess for “${gold}” ` +
        `${before.word === after.word ? `stays ${after.word}` : `turns from ${before.word} to ${after.word}`}; “${gold}” itself goes from ${percent(own.before)} to ${percent(own.after)}.`),
      element("label", { className: "field" }, "Word to hide and predict ", select),
      table(["word", "all heads", "without them"], words.map(({ word, before: one, after: two }) => [word, percent(one), percent(two)]), { className: "numbers" }),
      csvButton("heads-off.csv", () => [["word", "all heads", `without ${names}`], ...words.map(({ word, before: one, after: two }) => [word, one, two])]));
    }
    if (isNext) parts.push(caption(`P(IsNext), that B follows A: ${percent(isNext[1])} without them, ${percent(isNext[0])} with all heads.`));
    if (parts.length === 1) parts.push(caption(`Without ${names} (layer.head) nothing can be compared: this model ${fit.length ? "has no masked-word head, and no next-sentence head or no sentence B" : "finds no word here"}.`));
    this.without.replaceChildren(...parts);
  }

  // Other colours: the board reads them when it gets its values.
  async recolour() {
    await this.show(this.page.state);
  }
}
