// What is looked at, in the fragment of the address: a link opens the same view. Layers, heads and positions count from 1
// there, as on screen; what is as at the start is left out.

const START = {
  tab: "words", a: "", b: "", marks: null, click: "words", candidate: "", blank: null, watch: null,
  view: "model", layer: null, heads: null, unit: "pieces", hide: [], edges: ["AA", "AB", "BA", "BB"], threshold: 0, pin: null, off: [],
  lesson: "", number: 0, predicted: {},
};
const KNOWN = { view: ["model", "head", "heatmap"], unit: ["pieces", "words"], click: ["words", "pieces"] };
const LISTS = { hide: ["special", "punctuation"], edges: ["AA", "AB", "BA", "BB"] };

function readAddress(fragment, defaults) {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const state = { ...START, ...defaults };
  for (const name of ["a", "b", "tab", "candidate", "lesson"]) if (given.has(name)) state[name] = given.get(name);
  if (!Object.hasOwn(TITLES, state.tab)) state.tab = START.tab;
  for (const [name, known] of Object.entries(KNOWN)) if (known.includes(given.get(name))) state[name] = given.get(name);
  for (const [name, known] of Object.entries(LISTS)) if (given.has(name)) state[name] = known.filter((word) => given.get(name).split("-").includes(word));
  const numbers = (text) => (text ?? "").split("-").filter((word) => /^[1-9]\d{0,3}$/.test(word)).map((word) => Number(word) - 1);
  const first = (name) => numbers(given.get(name))[0] ?? null;
  state.layer = first("layer");
  state.heads = given.has("heads") && numbers(given.get("heads")).length ? numbers(given.get("heads")) : null;
  state.blank = first("blank");
  state.watch = first("watch");
  state.number = first("number") ?? 0;
  if (/^\d{1,2}$/.test(given.get("least"))) state.threshold = Math.min(90, Number(given.get("least"))) / 100;
  const ends = (given.get("pin") ?? "").split("~").map((end) => numbers(end)[0] ?? null);
  state.pin = ends.length === 2 && ends.some((end) => end !== null) ? { query: ends[0], key: ends[1] } : null;
  state.off = (given.get("off") ?? "").split("-").map((pair) => numbers(pair.replace(".", "-"))).filter((pair) => pair.length === 2);
  state.marks = given.has("marks") ? readMarks(given.get("marks")) : null;
  state.predicted = Object.create(null); // by names that anybody may have written
  for (const part of (given.get("predicted") ?? "").split(".")) {
    const [, name, signs] = /^([\w-]+)~([\d_]*)$/.exec(part) ?? [];
    if (name) state.predicted[name] = [...signs].map((sign) => sign === "_" ? null : Number(sign));
  }
  return state;
}

function writeAddress(state) {
  const dashed = (list) => list.map((number) => number + 1).join("-");
  const values = {
    tab: state.tab, a: state.a, b: state.b,
    marks: state.marks === null ? null : writeMarks(state.marks),
    click: state.click === START.click ? null : state.click,
    candidate: state.candidate || null,
    blank: state.blank === null ? null : state.blank + 1,
    watch: state.watch === null ? null : state.watch + 1,
    view: state.view === START.view ? null : state.view,
    layer: state.layer === null ? null : state.layer + 1,
    heads: state.heads === null ? null : dashed(state.heads),
    unit: state.unit === START.unit ? null : state.unit,
    hide: state.hide.join("-") || null,
    edges: state.edges.length === START.edges.length ? null : state.edges.join("-"),
    least: state.threshold ? Math.round(state.threshold * 100) : null,
    pin: state.pin && [state.pin.query, state.pin.key].map((end) => end === null ? "" : end + 1).join("~"),
    off: state.off.map(([layer, head]) => `${layer + 1}.${head + 1}`).join("-") || null,
    lesson: state.lesson || null,
    number: state.number ? state.number + 1 : null,
    predicted: Object.entries(state.predicted).filter(([, list]) => list.some((option) => option !== null))
      .map(([name, list]) => `${name}~${list.map((option) => option ?? "_").join("")}`).join(".") || null,
  };
  return `#${new URLSearchParams(Object.entries(values).filter(([, value]) => value !== null && value !== undefined))}`;
}

// 3-4m.7-8rdog: the pieces from 3 up to 4 are masked, those from 7 up to 8 replaced by "dog".
const KINDS = { m: "mask", a: "ask", r: "replace" };

function writeMarks(marks) {
  return marks.map(({ start, stop, kind, word = "" }) => `${start}-${stop}${kind[0]}${encodeURIComponent(word).replaceAll(".", "%2E")}`).join(".");
}

function readMarks(text) {
  return text.split(".").flatMap((part) => {
    const [, start, stop, sign, word] = /^(\d{1,4})-(\d{1,4})([mar])(.*)$/s.exec(part) ?? [];
    try {
      return sign ? [{ start: Number(start), stop: Number(stop), kind: KINDS[sign], word: decodeURIComponent(word) }] : [];
    } catch {
      return []; // a broken percent sign
    }
  });
}
