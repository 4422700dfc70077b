// The page: the bar with both sentences, the tabs, the colours, and the state that stands in the address.

const TITLES = {
  words: ["Words", "wordpieces and their numbers", WordsTab],
  attention: ["Attention", "every head", AttentionTab],
  mask: ["Mask", "hide words, see the guesses", MaskTab],
  next: ["Next sentence", "does B follow A?", NextSentenceTab],
  layers: ["Layer by layer", "the logit lens", LayersTab],
  directions: ["Left to right", "with half of the sentence out of sight", DirectionsTab],
  lessons: ["Lessons", "predict first, then the model answers", LessonsTab],
};
const PAUSE = 250; // milliseconds without a key before a text is read

class Page {
  constructor() {
    this.header = JSON.parse(document.getElementById("model").textContent);
    this.pending = null; // what was typed and not read yet
    const [first] = this.header.examples;
    this.defaults = { a: first.a, b: first.b };
    this.state = readAddress(location.hash, this.defaults);
    this.problem = element("p", { className: "problem", hidden: true, aria: { role: "alert" } });
    this.place = document.querySelector(".tab");
    this.place.before(this.problem);
    this.drawHeader();
    this.drawBar();
    this.client = new Client(this.header, (progress) => this.showProgress(progress));
    this.tabs = Object.fromEntries(Object.entries(TITLES).map(([name, [, , Tab]]) => [name, new Tab(this)]));
    addEventListener("hashchange", () => this.jump(readAddress(location.hash, this.defaults), false));
    this.render();
  }

  // State changes here; `draw` is false where what is on screen has changed by itself already.
  change(part, draw = true) {
    this.state = { ...this.state, ...part };
    history.replaceState(null, "", writeAddress(this.state));
    if (draw) this.render();
  }

  changeSoon(part) {
    this.pending = { ...this.pending, ...part };
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      const whole = this.pending;
      this.pending = null;
      this.change(whole);
    }, PAUSE);
  }

  // Somewhere else altogether: components forget what they have kept.
  jump(part, write = true) {
    this.state = { ...this.state, ...part, jumped: (this.state.jumped ?? 0) + 1 };
    if (write) history.pushState(null, "", writeAddress(this.state));
    this.fields.forEach((field, name) => { field.value = this.state[name]; });
    this.render();
    document.querySelector("header").scrollIntoView();
  }

  async render() {
    const name = this.state.tab;
    const tab = this.tabs[name];
    this.drawTabs(name);
    if (this.place.firstChild !== tab.root) {
      this.place.replaceChildren(tab.root);
      this.note("");
      this.fail("");
    }
    this.place.id = "tab-panel";
    this.place.setAttribute("role", "tabpanel");
    this.place.setAttribute("aria-label", TITLES[name][0]);
    this.place.setAttribute("aria-busy", "true");
    try {
      await tab.show(this.state);
      if (this.tabs[this.state.tab] !== tab) return;
      this.fail("");
      this.place.setAttribute("aria-busy", "false");
      document.body.dataset.drawn = String(Number(document.body.dataset.drawn ?? 0) + 1);
    } catch (error) {
      if (error instanceof StaleQuestion || this.tabs[this.state.tab] !== tab) return;
      if (!(error instanceof Problem)) throw error;
      this.fail(error.message);
      this.place.setAttribute("aria-busy", "false");
    }
  }

  fail(message) {
    this.problem.textContent = message;
    this.problem.hidden = !message;
    this.place.hidden = Boolean(message);
  }

  note(text) {
    document.querySelector(".input-note").textContent = text;
  }

  drawHeader() {
    const { name, config } = this.header;
    document.querySelector("h1").replaceChildren(name, element("small", { textContent:
      `BERT in one file: ${config.num_hidden_layers} layers of ${config.num_attention_heads} heads, weights rounded to 8 bits, computed in your browser` }));
    const dark = () => document.documentElement.dataset.theme === "dark";
    const theme = button("", () => this.setTheme(dark() ? "light" : "dark"), { className: "theme" });
    this.themeButton = theme;
    this.card = element("details", { className: "card" }, element("summary", { textContent: "About" }), element("div"));
    document.querySelector(".tools").append(this.card, theme);
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    this.drawCard();
  }

  drawCard() {
    const { card, config, byteLength, version } = this.header;
    const count = (number) => number.toLocaleString("en");
    const lines = [`${config.num_hidden_layers} layers (L), hidden size ${config.hidden_size} (H), ${config.num_attention_heads} heads (A), ${(card.parameters / 1e6).toFixed(1)} M parameters.`,
      `Weights are rounded to 8 bits (int8), ${(byteLength / 1e6).toFixed(1)} MB of them: numbers differ a little from those of the model itself.`];
    if (card.rounding) {
      const { masks, same_first: same, largest_change: largest, correct } = card.rounding;
      lines.push(`Of ${count(masks)} masked words in sentences written for this project, ${(100 * same / masks).toFixed(1)} % get the same first guess as before rounding; the guess is right for ` +
        `${(100 * correct[1] / masks).toFixed(1)} %, before rounding for ${(100 * correct[0] / masks).toFixed(1)} %. No probability moved by more than ${(100 * largest).toFixed(1)} points.`);
    } else {
      lines.push("How much rounding changes was not measured for this file.");
    }
    if (this.client?.kernels) lines.push(`Products of matrices here: ${this.client.kernels}. Ready ${(this.readyAfter / 1000).toFixed(1)} s after the page began to read.`);
    lines.push(...card.notes, `Made with Bertscope ${version}.`, "Nothing you type leaves this page: it may not reach any network.");
    this.card.lastChild.replaceChildren(...lines.map((line) => element("p", { textContent: line })));
  }

  setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    const other = theme === "dark" ? "light" : "dark";
    this.themeButton.textContent = theme === "dark" ? "☀" : "☾";
    this.themeButton.title = `${other} colours`;
    this.themeButton.setAttribute("aria-label", `Switch to ${other} colours`);
    const tab = this.tabs?.[this.state.tab];
    if (tab?.recolour && this.readyAfter) this.render();
  }

  drawBar() {
    this.fields = new Map();
    const field = (name, label, placeholder) => {
      const area = element("textarea", { rows: 1, value: this.state[name], placeholder, spellcheck: false, maxLength: 20000, aria: { "aria-label": label },
        on: { input: () => this.changeSoon({ [name]: area.value, marks: null, pin: null, blank: null, watch: null }) } });
      this.fields.set(name, area);
      return element("label", { className: "sentence-field" }, element("span", { textContent: label }), area);
    };
    const examples = element("details", { className: "examples" }, element("summary", { textContent: "Examples" }), element("div", {},
      ...this.header.examples.map(({ title, shows, a, b }) => button(title, () => {
        examples.open = false;
        this.jump({ a, b, marks: null, pin: null, blank: null, watch: null });
      }, { title: shows, className: "plain" }))));
    document.querySelector("main > .bar").append(field("a", "Sentence A", ""), field("b", "Sentence B", "none: one sentence is the input"), examples);
    addEventListener("click", (event) => {
      for (const menu of [examples, this.card]) if (!menu.contains(event.target)) menu.open = false;
    });
    addEventListener("keydown", (event) => {
      if (event.key === "Escape") examples.open = this.card.open = false;
    });
  }

  drawTabs(current) {
    const list = document.querySelector("nav");
    const names = Object.keys(TITLES);
    if (!list.children.length) {
      list.append(...names.map((name) => button(TITLES[name][0], () => this.change({ tab: name }), { title: TITLES[name][1], id: `tab-${name}`, aria: { role: "tab", "aria-controls": "tab-panel" } })));
      list.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = names[(names.indexOf(this.state.tab) + step + names.length) % names.length];
        this.change({ tab: next });
        document.getElementById(`tab-${next}`).focus();
        event.preventDefault();
      });
    }
    for (const tab of list.children) {
      const chosen = tab.id === `tab-${current}`;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      if (chosen && list.scrollWidth > list.clientWidth) tab.scrollIntoView({ block: "nearest", inline: "center" });
    }
  }

  showProgress({ share = 0, ready = false, error = "" }) {
    const place = document.querySelector(".loading");
    if (error) {
      place.replaceChildren(element("p", { className: "problem", textContent: `${this.readyAfter ? "The model stopped" : "The model could not be read"}: ${error}` }));
    } else if (ready) {
      this.readyAfter = performance.now();
      document.body.dataset.ready = "true";
      place.replaceChildren();
      this.drawCard();
    } else if (!this.readyAfter) {
      const text = share < 1 ? `Reading the weights: ${Math.floor(100 * share)} %` : "Unpacking the weights …";
      if (!this.progressBar) place.replaceChildren(this.progressText = element("p"), this.progressBar = element("progress", { max: 1 }));
      this.progressText.textContent = text;
      this.progressBar.value = share;
    }
  }
}

const page = new Page();
