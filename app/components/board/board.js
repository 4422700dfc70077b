// The board itself: one state, one canvas, everything drawn from the values that came in one piece.

class Board {
  constructor(parent) {
    this.root = make("div", { className: "board" });
    this.bar = make("div", { className: "bar-of-controls" });
    this.title = make("p", { className: "caption", aria: { "aria-live": "polite" } });
    this.scale = make("div", { className: "legend", aria: { "aria-hidden": "true" } });
    this.heads = make("div", { className: "chips", aria: { role: "group", "aria-label": "Heads" } });
    this.canvas = make("canvas");
    this.spacer = make("div", { className: "spacer" }, this.canvas);
    this.stage = make("div", { className: "stage", tabIndex: 0, aria: { role: "application" } }, this.spacer);
    this.panel = make("div", { className: "panel" });
    this.note = make("p", { className: "note" });
    this.root.append(this.bar, make("div", { className: "head-line" }, this.title, this.scale), this.heads, make("div", { className: "middle" }, this.stage, this.panel), this.note);
    parent.append(this.root);
    this.root.board = this;
    this.hover = null;
    this.switching = false;
    this.more = false;
    this.listen();
  }

  receive(data, send) {
    this.send = send;
    this.ink = inkOf(this.root);
    if (data.stamp !== this.data?.stamp) {
      const first = !this.data;
      if (first || data.turn !== this.data.turn) this.choice = data.choice;
      this.data = data;
      this.hover = null;
    }
    this.refresh();
  }

  // The state changes here, is drawn at once, and sent to Python a moment later.
  change(part) {
    this.preview(part);
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.send({ ...this.choice, turn: this.data.turn }), 120);
  }

  preview(part) {
    const layerOnly = Object.keys(part).every((name) => ["layer", "heads", "pin", "view", "off"].includes(name));
    this.choice = { ...this.choice, ...part };
    this.hover = null;
    if (layerOnly && this.weights) {
      this.weights.choice = this.choice;
      this.show();
    } else {
      this.refresh();
    }
  }

  refresh() {
    this.weights = new Weights(this.data, this.choice);
    this.tiles = null;
    this.show();
  }

  show() {
    const focused = this.root.getRootNode().activeElement?.dataset?.act;
    if (focused !== "least") this.bar.replaceChildren(...controls(this)); // a slider that is being dragged stays
    if (focused) this.bar.querySelector(`[data-act="${CSS.escape(focused)}"]`)?.focus();
    this.scale.replaceChildren(...legend(this));
    this.heads.replaceChildren(...chips(this));
    this.root.dataset.view = this.choice.view;
    this.stage.setAttribute("aria-label", `${this.data.quantity}: ${caption(this)}. Arrow keys change head and layer.`);
    this.drawNow();
  }

  thumbnails() {
    this.tiles ??= thumbnails(this);
    return this.tiles;
  }

  layout() {
    return VIEWS[this.choice.view].layout(this, Math.max(280, this.stage.clientWidth));
  }

  drawNow() {
    const started = performance.now();
    const view = VIEWS[this.choice.view];
    const layout = this.layout();
    const ready = this.choice.view === "model" || this.weights.row(this.choice.layer) >= 0;
    const tall = this.choice.view === "head";
    const visible = tall ? Math.min(layout.height, 740) : layout.height;
    this.stage.style.maxHeight = tall ? "742px" : "none";
    this.spacer.style.height = `${layout.height}px`;
    this.spacer.style.width = `${layout.width}px`;
    this.canvas.style.width = `${layout.width}px`;
    this.canvas.style.height = `${visible}px`;
    const from = tall ? Math.min(this.stage.scrollTop, layout.height - visible) : 0;
    const pen = new CanvasPen(this.canvas, layout.width, visible, Math.min(2, devicePixelRatio || 1), this.ink);
    if (ready) view.draw(pen, this, layout, from, from + visible);
    this.title.textContent = caption(this);
    this.note.textContent = [this.data.meaning, filterNotes(this)].filter(Boolean).join(" ");
    this.panel.replaceChildren(...detail(this));
    this.root.dataset.drawn = String(Number(this.root.dataset.drawn ?? 0) + 1);
    this.root.dataset.milliseconds = (performance.now() - started).toFixed(1);
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.drawNow());
  }

  mean() {
    return this.weights.mean(this.weights.row(this.choice.layer), this.chosenHeads());
  }

  chosenHeads() {
    const known = this.choice.heads.filter((head) => head < this.data.headCount);
    return known.length ? known : [0];
  }

  allHeads() {
    return Array.from({ length: this.data.headCount }, (_, head) => head);
  }

  // The pair of units under the pointer, or else the pinned one.
  active() {
    const { pin } = this.choice;
    if (this.hover && this.choice.view !== "model") return this.hover;
    if (!pin) return null;
    const unit = (token) => token === null ? null : this.weights.unitOf(token);
    const [query, key] = [unit(pin.query), unit(pin.key)];
    return query === -1 || key === -1 ? null : { query, key };
  }

  isOff(layer, head) {
    return this.choice.off.some(([l, h]) => l === layer && h === head);
  }

  headName(head) {
    return this.data.headCount === 1 ? "all" : String(head + 1);
  }

  layerName(layer) {
    return `Layer ${layer + 1}`;
  }

  colour(head) {
    return this.data.headCount === 1 ? HEAD_COLOURS[0] : HEAD_COLOURS[head % HEAD_COLOURS.length];
  }

  toggleHead(head) {
    const current = this.chosenHeads();
    const heads = current.includes(head) ? current.filter((other) => other !== head) : [...current, head].sort((a, b) => a - b);
    if (heads.length) this.change({ heads });
  }

  setSwitching(on) {
    this.switching = on;
    this.change(on ? { view: "model" } : {});
  }

  setMore(open) {
    this.more = open;
    this.show();
  }

  switchHeads(layer, heads) {
    const off = heads.every((head) => this.isOff(layer, head));
    const rest = this.choice.off.filter(([l, h]) => l !== layer || !heads.includes(h));
    this.change({ off: off ? rest : [...rest, ...heads.map((head) => [layer, head])] });
  }

  allButOne() {
    const [chosen] = this.chosenHeads();
    const rest = this.choice.off.filter(([layer]) => layer !== this.choice.layer);
    const others = this.allHeads().filter((head) => head !== chosen);
    this.change({ off: [...rest, ...others.map((head) => [this.choice.layer, head])] });
  }

  // The point of a head, token or pair on the page, for tests and for anybody who scripts the board.
  pointOf(target) {
    const [x, y] = VIEWS[this.choice.view].centre(this, this.layout(), target);
    const box = this.canvas.getBoundingClientRect();
    return [box.left + x, box.top + y - (this.choice.view === "head" ? this.stage.scrollTop : 0)];
  }

  under(event) {
    const box = this.canvas.getBoundingClientRect();
    const y = event.clientY - box.top + (this.choice.view === "head" ? this.stage.scrollTop : 0);
    return VIEWS[this.choice.view].hit(this, this.layout(), event.clientX - box.left, y);
  }

  onClick(event) {
    const target = this.under(event);
    if (!target) return;
    if (this.choice.view !== "model") {
      const token = (unit) => unit === null ? null : this.weights.visible[unit].members[0];
      const pin = { query: token(target.query), key: token(target.key) };
      this.change({ pin: JSON.stringify(pin) === JSON.stringify(this.choice.pin) ? null : pin });
      return;
    }
    const { layer, head } = target;
    if (this.switching) this.switchHeads(layer, head === null ? this.allHeads() : [head]);
    else if (head === null) this.change({ layer, heads: this.allHeads() });
    else if (event.shiftKey && layer === this.choice.layer) this.toggleHead(head);
    else this.change({ layer, heads: [head] });
  }

  onKey(event) {
    const { choice, data } = this;
    const [head] = this.chosenHeads();
    const layers = data.everyLayer;
    const step = (by) => ({ layer: (choice.layer + by + layers) % layers });
    const moves = {
      ArrowLeft: () => ({ heads: [(head - 1 + data.headCount) % data.headCount] }),
      ArrowRight: () => ({ heads: [(head + 1) % data.headCount] }),
      ArrowUp: () => step(-1),
      ArrowDown: () => step(1),
      Enter: () => ({ view: choice.view === "model" ? "head" : "model" }),
      Escape: () => ({ pin: null }),
      1: () => ({ view: "model" }),
      2: () => ({ view: "head" }),
      3: () => ({ view: "heatmap" }),
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "o" && data.switchable) this.switchHeads(choice.layer, this.chosenHeads());
    else if (moves[event.key]) this.change(moves[event.key]());
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  listen() {
    const onMove = (event) => {
      const target = event.type === "pointerleave" || event.pointerType === "touch" ? null : this.under(event);
      if (JSON.stringify(target) === JSON.stringify(this.hover)) return;
      this.hover = target;
      this.canvas.style.cursor = target ? "pointer" : "default";
      this.draw();
    };
    this.canvas.addEventListener("pointermove", onMove);
    this.canvas.addEventListener("pointerleave", onMove);
    this.canvas.addEventListener("click", (event) => this.onClick(event));
    this.canvas.addEventListener("dblclick", () => { if (this.choice.view === "model" && !this.switching) this.change({ view: "head" }); });
    this.stage.addEventListener("keydown", (event) => this.onKey(event));
    this.stage.addEventListener("scroll", () => { if (this.choice.view === "head") this.draw(); });
    this.watcher = new ResizeObserver(() => {
      if (this.data && this.stage.clientWidth !== this.lastWidth) {
        this.lastWidth = this.stage.clientWidth;
        this.draw();
      }
    });
  }
}

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const bytes = data instanceof Uint8Array ? data : fromBase64(data);
  const board = (parentElement.board ??= new Board(parentElement));
  const mount = (board.mount = Symbol("mount"));
  board.watcher.observe(board.stage);
  board.receive(decode(bytes), (choice) => setStateValue("choice", choice));
  return () => {
    if (board.mount === mount) board.watcher.disconnect(); // an older mount must not take the observer from a newer one
  };
}
