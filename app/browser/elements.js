// The few elements that the page is made of. Text only ever goes into textContent.

function element(tag, properties = {}, ...children) {
  const { on = {}, aria = {}, ...rest } = properties;
  const made = Object.assign(document.createElement(tag), rest);
  for (const [name, value] of Object.entries(aria)) made.setAttribute(name, value);
  for (const [name, handler] of Object.entries(on)) made.addEventListener(name, handler);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function button(text, click, properties = {}) {
  return element("button", { type: "button", textContent: text, on: { click }, ...properties });
}

// One of several values, as buttons in a row.
function choice(name, options, value, change) {
  return element("div", { className: "choice", aria: { role: "group", "aria-label": name } },
    ...options.map(([key, text]) => button(text, () => change(key), { aria: { "aria-pressed": String(key === value), "data-value": key } })));
}

// A probability as people read it: 12 %, 1.4 %, 0.03 %, 2e-7.
function percent(share) {
  if (share < 1e-6) return share === 0 ? "0 %" : share.toExponential(0);
  const value = 100 * share;
  if (share >= 0.0995) return `${value.toFixed(0)} %`;
  return share >= 0.0095 ? `${value.toFixed(1)} %` : `${Number(value.toPrecision(1))} %`;
}

// Words with a bar each: [{word, probability, marked}]
function bars(rows, label) {
  const largest = Math.max(...rows.map((row) => row.probability), 1e-9);
  return element("div", { className: "bars", aria: { role: "list", "aria-label": label } },
    ...rows.map(({ word, probability, marked }) => element("div", { className: marked ? "marked" : "", aria: { role: "listitem" } },
      element("i", { style: `width:${(100 * probability / largest).toFixed(1)}%` }),
      element("span", { textContent: word }), element("b", { textContent: percent(probability) }))));
}

// The packed input, one chip a wordpiece, with the lines that `below` says of it.
function tokenChips(tokens, below = () => []) {
  return element("div", { className: "chips" }, ...tokens.map((token) => {
    const kinds = ["chip", token.segment ? "b" : "a", token.word === null ? "special" : "", token.text.startsWith("##") ? "continues" : ""];
    return element("span", { className: kinds.join(" ") }, element("b", { textContent: token.text }),
      ...below(token).map((line) => element("small", { textContent: line })));
  }));
}

function caption(text) {
  return element("p", { className: "caption", textContent: text });
}

function table(header, rows, properties = {}) {
  const cells = (tag, values) => values.map((value) => value instanceof Node ? element(tag, {}, value) : element(tag, { textContent: value }));
  return element("div", { className: "scroll" }, element("table", properties, element("thead", {}, element("tr", {}, ...cells("th", header))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells("td", row))))));
}

// A component of the app in a shadow of its own, so that its style and the page's do not meet.
function shadowed(style) {
  const host = element("div");
  const place = element("div");
  host.attachShadow({ mode: "open" }).append(element("style", { textContent: style }), place);
  return { host, place };
}

function save(name, type, ...parts) {
  const link = element("a", { href: URL.createObjectURL(new Blob(parts, { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// A button that saves rows as a CSV file; a spreadsheet must not take a word for a formula.
function csvButton(name, rows) {
  const cell = (value) => {
    const text = String(value ?? "");
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return `"${safe.replaceAll('"', '""')}"`;
  };
  return button("CSV", () => save(name, "text/csv", rows().map((row) => row.map(cell).join(",")).join("\n"), "\n"), { title: `Save as ${name}`, className: "save" });
}
