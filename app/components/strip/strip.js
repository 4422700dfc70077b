// A sentence as chips. Spans {start, stop, kind, word} say what was done to which pieces; a click changes them,
// draws them at once and sends them to Python. Text only ever enters the page through textContent.

const GLYPH = { mask: "[MASK]", ask: "to predict", replace: "replaced" };

export default function strip({ data, parentElement, setStateValue }) {
  const state = parentElement.stripState ?? (parentElement.stripState = { spans: data.spans, open: null });
  let root = parentElement.querySelector(".strip");
  if (!root) {
    root = document.createElement("div");
    root.className = "strip";
    parentElement.appendChild(root);
  }

  const units = groupPieces(data.chips, data.whole);
  const over = (unit) => state.spans.filter((span) => span.start < unit.stop && unit.start < span.stop);

  function change(unit, kind, word = "") {
    const before = over(unit);
    const rest = state.spans.filter((span) => !before.includes(span));
    state.spans = kind ? [...rest, { start: unit.start, stop: unit.stop, kind, word }] : rest;
    state.spans.sort((a, b) => a.start - b.start);
    setStateValue("spans", state.spans);
    draw();
  }

  function draw() {
    const focused = root.getRootNode().activeElement?.dataset?.focus;
    const row = element("div", "row");
    for (const unit of units) row.appendChild(chip(unit));
    const parts = [row];
    const unit = units.find((unit) => unit.start === state.open);
    if (unit) parts.push(menu(unit));
    parts.push(element("p", "hint", "Click a word to mask it, click again to restore it; ⋯ replaces it, or predicts it " +
      "while it stays unmasked."));
    root.replaceChildren(...parts);
    if (focused) root.querySelector(`[data-focus="${focused}"]`)?.focus();
  }

  function chip(unit) {
    if (unit.word === null) return element("span", "chip special", unit.pieces[0].text);
    const box = element("span", `chip ${unit.segment ? "b" : "a"}${unit.start === state.open ? " open" : ""}`);
    const marks = over(unit);
    const button = element("button");
    button.type = "button";
    button.dataset.focus = `chip-${unit.start}`;
    button.setAttribute("aria-pressed", String(marks.some((span) => span.kind === "mask")));
    button.setAttribute("aria-label", `${unit.text}${marks.map((span) => `, ${GLYPH[span.kind]} ${span.word}`).join("")}`);
    label(button, unit, marks);
    button.onclick = () => change(unit, marks.length ? null : "mask");
    const more = element("button", "more", "⋯");
    more.type = "button";
    more.dataset.focus = `more-${unit.start}`;
    more.setAttribute("aria-label", `More for ${unit.text}`);
    more.setAttribute("aria-expanded", String(unit.start === state.open));
    more.onclick = () => {
      state.open = state.open === unit.start ? null : unit.start;
      draw();
    };
    box.append(button, more);
    return box;
  }

  function label(button, unit, marks) {
    const whole = marks.find((span) => span.start <= unit.start && unit.stop <= span.stop);
    if (!whole) {
      for (const piece of unit.pieces) {
        const span = marks.find((mark) => mark.start <= piece.at && piece.at < mark.stop);
        const text = unit.pieces.length > 1 ? piece.text.replace(/^##/, "") : piece.text;
        button.append(span ? element("span", span.kind, span.kind === "mask" ? "[MASK]" : span.word || text) : text);
      }
    } else if (whole.kind === "replace") {
      button.append(element("span", "was", unit.text), element("span", "replace", whole.word));
    } else {
      button.append(element("span", whole.kind, whole.kind === "mask" ? "[MASK]" : unit.text));
    }
  }

  function menu(unit) {
    const bar = element("div", "menu");
    const kinds = over(unit).map((span) => span.kind);
    bar.append(element("b", "", unit.text));
    const choices = [["mask", "Mask"], ["ask", "Predict, unmasked"], [null, "Restore"]];
    for (const [kind, name] of choices) {
      const button = element("button", "", name);
      button.type = "button";
      if (kind) button.setAttribute("aria-pressed", String(kinds.includes(kind)));
      button.onclick = () => {
        state.open = null;
        change(unit, kind);
      };
      bar.append(button);
    }
    const form = element("form");
    const input = element("input");
    input.placeholder = "another word";
    input.maxLength = 60;
    input.setAttribute("aria-label", `Replace ${unit.text} by`);
    input.dataset.focus = "replace-by";
    const send = element("button", "", "Replace");
    send.type = "submit";
    form.append(input, send);
    form.onsubmit = (event) => {
      event.preventDefault();
      if (!input.value.trim()) return;
      state.open = null;
      change(unit, "replace", input.value.trim());
    };
    bar.append(form);
    bar.onkeydown = (event) => {
      if (event.key !== "Escape") return;
      state.open = null;
      draw();
    };
    return bar;
  }

  draw();
}

// pieces -> the units that one click takes: single pieces, or all pieces of a word
function groupPieces(chips, whole) {
  const units = [];
  chips.forEach((piece, at) => {
    const last = units[units.length - 1];
    if (whole && last && piece.word !== null && last.word === piece.word) {
      last.pieces.push({ text: piece.text, at });
      last.stop = at + 1;
      last.text += piece.text.replace(/^##/, "");
    } else {
      units.push({ start: at, stop: at + 1, word: piece.word, segment: piece.segment, text: piece.text,
        pieces: [{ text: piece.text, at }] });
    }
  });
  return units;
}

function element(tag, classes = "", text = "") {
  const node = document.createElement(tag);
  if (classes) node.className = classes;
  if (text) node.textContent = text;
  return node;
}
