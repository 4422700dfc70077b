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

// In one line what most readers need: view, layer and head, wordpieces or words. The rest opens with "More", which says
// what of it is not as at the start.
function controls(board) {
  const { data, choice } = board;
  const pressed = (on) => ({ "aria-pressed": String(on) });
  const button = (text, on, act, title = "", id = "") =>
    make("button", { type: "button", textContent: text, title, on: { click: act }, aria: { ...pressed(on), "data-act": id || text } });
  const group = (name, ...buttons) => make("div", { className: "group", aria: { role: "group", "aria-label": name } }, ...buttons);
  const change = (part) => () => board.change(part());

  const views = group("View",
    button("All heads", choice.view === "model", change(() => ({ view: "model" })), "Every layer and head (key 1)", "model"),
    button("Lines", choice.view === "head", change(() => ({ view: "head" })), "Lines between tokens (key 2)", "head"),
    button("Heatmap", choice.view === "heatmap", change(() => ({ view: "heatmap" })), "Tokens × tokens with values (key 3)", "heatmap"));
  const units = group("Unit",
    button("Wordpieces", choice.unit === "pieces", change(() => ({ unit: "pieces" })), "", "pieces"),
    button("Words", choice.unit === "words", change(() => ({ unit: "words" })), "Sum over the pieces of a key, mean over the pieces of a query", "words"));
  const differences = differencesFromStart(board);
  const more = make("button", { type: "button", className: "more", textContent: differences.length ? `More · ${differences.join(", ")}` : "More",
    on: { click: () => board.setMore(!board.more) }, aria: { "aria-expanded": String(board.more), "data-act": "more" } });
  const bar = [views, pickers(board), units, more];
  return board.more ? [...bar, make("div", { className: "more-controls" }, ...moreControls(board, button, group, change))] : bar;
}

function differencesFromStart({ data, choice, switching }) {
  return [
    choice.hide.includes("special") && "[CLS] [SEP] hidden",
    choice.hide.includes("punctuation") && "punctuation hidden",
    data.segments.includes(1) && choice.edges.length < 4 && `only ${EDGES.filter(([edge]) => choice.edges.includes(edge)).map(([, name]) => name).join(" ") || "nothing"}`,
    choice.threshold > 0 && `at least ${percent(choice.threshold)}`,
    choice.off.length && `${choice.off.length} ${choice.off.length > 1 ? "heads" : "head"} off`,
    switching && "clicks switch off",
  ].filter(Boolean);
}

// Layer and head as two lists: they work by thumb and by keyboard, and where one layer at a time is drawn they step on.
function pickers(board) {
  const { data, choice } = board;
  const list = (name, id, options, current, act) => {
    const select = make("select", { on: { change: () => act(Number(select.value)) }, aria: { "data-act": id } },
      ...options.map(([value, text]) => make("option", { value, textContent: text, selected: value === current })));
    return make("label", { className: "picker" }, `${name} `, select);
  };
  const layers = Array.from({ length: data.everyLayer }, (_, layer) => [layer, String(layer + 1)]);
  const lists = [list("Layer", "layer", layers, choice.layer, (layer) => board.change({ layer }))];
  if (data.headCount > 1) {
    const heads = board.chosenHeads();
    const options = board.allHeads().map((head) => [head, String(head + 1)]);
    if (heads.length > 1) options.unshift([-1, heads.length === data.headCount ? "all" : heads.map((head) => head + 1).join(", ")]);
    lists.push(list("Head", "head-number", options, heads.length > 1 ? -1 : heads[0], (head) => head >= 0 && board.change({ heads: [head] })));
  }
  return make("div", { className: "pickers" }, ...lists);
}

function moreControls(board, button, group, change) {
  const { data, choice } = board;
  const toggle = (list, item) => list.includes(item) ? list.filter((other) => other !== item) : [...list, item];
  const parts = [group("Hide",
    button("hide [CLS] [SEP]", choice.hide.includes("special"), change(() => ({ hide: toggle(choice.hide, "special") })), "", "special"),
    button("hide punctuation", choice.hide.includes("punctuation"), change(() => ({ hide: toggle(choice.hide, "punctuation") })), "", "punctuation"))];
  if (data.segments.includes(1)) {
    parts.push(group("Between sentences", ...EDGES.map(([edge, name]) =>
      button(name, choice.edges.includes(edge), change(() => ({ edges: toggle(choice.edges, edge) })), `Show how ${name[0]} attends to ${name[2]}`, edge))));
  }
  const output = make("output", { textContent: percent(choice.threshold) });
  const slider = make("input", { type: "range", min: 0, max: 0.9, step: 0.01, value: choice.threshold,
    on: { input: () => { output.textContent = percent(Number(slider.value)); board.preview({ threshold: Number(slider.value) }); },
      change: () => board.change({ threshold: Number(slider.value) }) }, aria: { "data-act": "least" } });
  parts.push(make("label", { className: "threshold" }, "at least ", slider, output));
  if (data.switchable) {
    parts.push(group("Heads off",
      button("a click switches heads off", board.switching, () => board.setSwitching(!board.switching), "Pressed: a click on a head, or on a layer's number, switches it off or on; otherwise it chooses. The key o switches the chosen head.", "switch"),
      button("all but this one", false, () => board.allButOne(), "Switch off every other head of this layer", "allbut"),
      ...(choice.off.length ? [button("all on", false, () => board.change({ off: [] }), "", "allon")] : [])));
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
  if (!data.layers.includes(choice.layer)) return `${name}: fetching …`;
  const strongest = strongestPair(board);
  return strongest ? `${name}: ${strongest}` : name;
}

// The strongest pair of different words of the heads shown, the finding of a picture nobody points at.
function strongestPair(board) {
  const { weights, data } = board;
  const units = weights.visible, matrix = board.mean();
  let best = null;
  for (let u = 0; u < units.length; u++) for (let v = 0; v < units.length; v++) {
    const value = matrix[u * units.length + v];
    if (u !== v && units[u].word !== null && units[v].word !== null && (best === null || Math.abs(value) > Math.abs(best.value))) {
      best = { value, pair: `${units[u].label} → ${units[v].label}` };
    }
  }
  if (!best || best.value === 0) return "";
  const value = data.normalised ? percent(best.value) : `${data.signed && best.value > 0 ? "+" : ""}${figure(best.value)}`;
  return `of two words ${best.pair} is strongest, ${value}`;
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
  if (data.layers.length < data.everyLayer) {
    parts.push(`${data.size} tokens: of ${data.everyLayer} layers one at a time is drawn, now layer ${data.layers[0] + 1}. Choose another above, or press the arrow keys up and down.`);
  }
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
    const hint = make("p", { className: "hint", textContent: board.data.headCount > 1
      ? "Click a head, or move with the arrow keys; Enter or a double-click shows its lines. Shift-click adds heads, a click on a layer's number takes all of it."
      : "Click a layer, or move with the arrow keys; Enter or a double-click shows its lines. There is one picture for all heads of a layer." });
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
  const top = board.weights.top; // a full track is the end of the colour scale, 1 for attention
  return make("section", { aria: { "data-side": name } }, make("h2", {}, make("b", { textContent: token }), words),
    ...best.map(([label, value]) => make("div", { className: "bar" },
      make("span", { className: "name", textContent: label }),
      make("span", { className: "track" }, make("i", { style: `width:${Math.min(100, 100 * Math.abs(value) / top)}%;background:${value < 0 ? css(board.ink, -0.66) : css(board.ink, 0.66)}` })),
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
