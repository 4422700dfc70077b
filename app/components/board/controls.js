// The bar above the picture and the words beside it. Token text only ever goes into textContent.

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  const { on = {}, aria = {}, ...rest } = properties;
  Object.assign(element, rest);
  for (const [name, value] of Object.entries(aria)) element.setAttribute(name, value);
  for (const [name, handler] of Object.entries(on)) element.addEventListener(name, handler);
  element.append(...children);
  return element;
}

const EDGES = [["AA", "A→A"], ["AB", "A→B"], ["BA", "B→A"], ["BB", "B→B"]];

function controls(board) {
  const { data, choice } = board;
  const pressed = (on) => ({ "aria-pressed": String(on) });
  const button = (text, on, act, title = "", id = "") =>
    make("button", { type: "button", textContent: text, title, on: { click: act }, aria: { ...pressed(on), "data-act": id || text } });
  const group = (name, ...buttons) => make("div", { className: "group", aria: { role: "group", "aria-label": name } }, ...buttons);
  const toggle = (list, item) => list.includes(item) ? list.filter((other) => other !== item) : [...list, item];
  const change = (part) => () => board.change(part());

  const views = group("View",
    button("All heads", choice.view === "model", change(() => ({ view: "model" })), "Every layer and head (key 1)", "model"),
    button("Lines", choice.view === "head", change(() => ({ view: "head" })), "Lines between tokens (key 2)", "head"),
    button("Heatmap", choice.view === "heatmap", change(() => ({ view: "heatmap" })), "Tokens × tokens with values (key 3)", "heatmap"));
  const units = group("Unit",
    button("Wordpieces", choice.unit === "pieces", change(() => ({ unit: "pieces" })), "", "pieces"),
    button("Whole words", choice.unit === "words", change(() => ({ unit: "words" })), "Sum over the pieces of a key, mean over the pieces of a query", "words"));
  const hide = group("Hide",
    button("hide [CLS] [SEP]", choice.hide.includes("special"), change(() => ({ hide: toggle(choice.hide, "special") })), "", "special"),
    button("hide punctuation", choice.hide.includes("punctuation"), change(() => ({ hide: toggle(choice.hide, "punctuation") })), "", "punctuation"));
  const parts = [views, units, hide];
  if (data.segments.includes(1)) {
    parts.push(group("Between sentences", ...EDGES.map(([edge, name]) =>
      button(name, choice.edges.includes(edge), change(() => ({ edges: toggle(choice.edges, edge) })), `Show how ${name[0]} attends to ${name[2]}`, edge))));
  }
  const output = make("output", { textContent: percent(choice.threshold) });
  const slider = make("input", { type: "range", min: 0, max: 0.9, step: 0.01, value: choice.threshold,
    on: { input: () => { output.textContent = percent(Number(slider.value)); board.preview({ threshold: Number(slider.value) }); },
      change: () => board.change({ threshold: Number(slider.value) }) } });
  parts.push(make("label", { className: "threshold" }, "at least ", slider, output));
  if (data.switchable) {
    parts.push(group("Clicking a head",
      button("choose", !board.switching, () => board.setSwitching(false), "A click on a head chooses it", "choose"),
      button("switch off", board.switching, () => board.setSwitching(true), "A click on a head or on a layer's number switches it off or on (key o)", "switch")));
    if (choice.off.length || board.switching) {
      parts.push(group("Heads off",
        button("all but this one", false, () => board.allButOne(), "Switch off every other head of this layer", "allbut"),
        button("all on", false, () => board.change({ off: [] }), "", "allon")));
    }
  }
  parts.push(group("Save", ...[["PNG", savePng], ["SVG", saveSvg], ["CSV", saveCsv]].map(([name, act]) =>
    make("button", { type: "button", textContent: name, title: `Save this view as ${name}`, on: { click: () => act(board) }, aria: { "data-act": name } }))));
  return parts;
}

function percent(share) {
  return `${Math.round(share * 100)} %`;
}

// What the picture shows, in words; read out by screen readers when it changes.
function caption(board) {
  const { choice, data, weights, hover } = board;
  if (choice.view === "model" && hover && hover.head !== null) return headTitle(board, hover.layer, hover.head);
  const heads = board.chosenHeads();
  const name = heads.length === 1 ? headTitle(board, choice.layer, heads[0])
    : `${board.layerName(choice.layer)}, heads ${heads.map((head) => head + 1).join(", ")}${choice.view === "heatmap" ? " (mean)" : ""}`;
  const active = board.active();
  if (active && active.query !== null && active.key !== null && weights.row(choice.layer) >= 0) {
    const value = board.mean()[active.query * weights.visible.length + active.key];
    return `${name}: ${weights.visible[active.query].label} → ${weights.visible[active.key].label} ${value.toFixed(3)}`;
  }
  return data.layers.includes(choice.layer) ? name : `${name}: fetching …`;
}

function headTitle(board, layer, head) {
  const row = board.weights.row(layer);
  const off = board.isOff(layer, head) ? ", switched off" : "";
  const note = !off && row >= 0 && board.data.notes ? board.data.notes[row][head] : "";
  return `${board.layerName(layer)}${board.data.headCount > 1 ? `, head ${head + 1}` : ""}${off}${note ? ` · ${note}` : ""}`;
}

// What was left out and rescaled, and how exact the numbers are.
function filterNotes(board) {
  const { data, choice, weights } = board;
  const parts = [];
  const hidden = weights.units.length - weights.visible.length;
  if (hidden && weights.rescaled) {
    const all = choice.view === "model";
    const rows = all ? data.layers.map((_, row) => row) : [weights.row(choice.layer)].filter((row) => row >= 0);
    const share = rows.length ? percent(weights.hiddenShare(rows, all ? board.allHeads() : board.chosenHeads())) : "";
    const weight = share ? ` On average ${share} of the weight of ${all ? "all heads" : "the heads shown"} went to them.` : "";
    parts.push(`${hidden} tokens are hidden; the remaining weights of each row are rescaled to sum to one.${weight}`);
  } else if (hidden) {
    parts.push(`${hidden} tokens are hidden; values are shown as they are, not rescaled.`);
  }
  if (choice.unit === "words") parts.push("Whole words: summed over the pieces of a key, averaged over the pieces of a query.");
  if (choice.edges.length < 4) parts.push("Some directions between the sentences are left out; nothing is rescaled for that.");
  if (choice.threshold > 0) parts.push(`Weaker than ${percent(choice.threshold)}${data.normalised ? "" : " of the largest value"} is not drawn.`);
  if (data.bits === 8) parts.push(`Values are exact to about ${(data.scale / (data.signed ? 127 : 255)).toFixed(3)}.`);
  return parts.join(" ");
}

// The row and the column of the token under the pointer, or pinned, with numbers; in the view of all heads, the
// strongest pairs of one.
function detail(board) {
  const { weights, choice, hover } = board;
  const units = weights.visible, count = units.length;
  if (choice.view === "model") {
    const target = hover && hover.head !== null ? hover : { layer: choice.layer, head: board.chosenHeads()[0] };
    const row = weights.row(target.layer);
    const hint = make("p", { className: "hint", textContent: "Click a head, or move with the arrow keys; Enter or a double-click shows its lines. Shift-click adds heads, a click on a layer's number takes all of it." });
    if (row < 0) return [hint];
    const matrix = weights.matrix(row, target.head);
    const pairs = Array.from(matrix, (value, i) => [`${units[Math.floor(i / count)].label} → ${units[i % count].label}`, value]);
    return [ranking(board, `Layer ${target.layer + 1}${board.data.headCount > 1 ? `, head ${target.head + 1}` : ""}`, ": strongest", pairs, "pairs"), hint];
  }
  const active = board.active();
  if (!active || weights.row(choice.layer) < 0) {
    return [make("p", { className: "hint", textContent: "Point at a token: what it attends to, and what attends to it. Click pins it, Esc lets go. Arrow keys change head and layer." })];
  }
  const matrix = board.mean();
  const query = active.query ?? active.key, key = active.key ?? active.query;
  const row = units.map((unit, v) => [unit.label, matrix[query * count + v]]);
  const column = units.map((unit, u) => [unit.label, matrix[u * count + key]]);
  return [ranking(board, units[query].label, " attends to", row, "row"),
    ranking(board, units[key].label, " is attended to by", column, "column")];
}

function legend(board) {
  const { ink, weights, data } = board;
  const steps = (stops) => stops.map((stop) => `rgb(${stop.join(",")})`);
  const colours = data.signed ? [...steps(ink.minus).reverse(), ...steps(ink.scale).slice(1)] : steps(ink.scale);
  const top = figure(weights.top);
  return [make("span", { textContent: data.signed ? `−${top}` : "0" }), make("i", { style: `background:linear-gradient(90deg,${colours.join(",")})` }),
    make("span", { textContent: `${data.signed ? "+" : ""}${top}, square-root scale` })];
}

function ranking(board, token, words, entries, name) {
  const best = entries.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 6);
  const largest = Math.max(...best.map(([, value]) => Math.abs(value)), 1e-9);
  return make("section", { aria: { "data-side": name } }, make("h2", {}, make("b", { textContent: token }), words),
    ...best.map(([label, value]) => make("div", { className: "bar" },
      make("span", { className: "name", textContent: label }),
      make("span", { className: "track" }, make("i", { style: `width:${100 * Math.abs(value) / largest}%;background:${value < 0 ? css(board.ink, -0.66) : css(board.ink, 0.66)}` })),
      make("span", { className: "number", textContent: value.toFixed(3) }))));
}

function chips(board) {
  const heads = board.chosenHeads();
  if (board.data.headCount === 1 || board.choice.view === "model") return [];
  return Array.from({ length: board.data.headCount }, (_, head) => make("button", { type: "button", textContent: String(head + 1),
    title: `Head ${head + 1}: click adds or removes it, double-click shows it alone`, style: `--head:${board.colour(head)}`,
    aria: { "aria-pressed": String(heads.includes(head)), "data-head": head },
    on: { click: () => board.toggleHead(head), dblclick: () => board.change({ heads: [head] }) } }));
}
