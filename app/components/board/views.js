// The three views. Each has a size, draws itself with a pen, and knows what lies under a point.

const TILE = 64;
const ABOVE = 330; // pixels of a window above the picture: pages, sentences, title, controls

// How tall a picture may be to be seen whole without scrolling.
function room() {
  return Math.max(300, (globalThis.innerHeight || 900) - ABOVE);
}

// All layers × heads, each cell a thumbnail of tokens × tokens.
const modelView = {
  layout(board, width) {
    const { layerCount, headCount } = board.data;
    const left = 34, top = 30;
    const cell = Math.max(22, Math.min(112, (width - left - 2) / headCount, Math.max(26, (room() - top) / layerCount)));
    return { left, top, cell, gap: cell > 40 ? 5 : 3, width: left + cell * headCount + 2, height: top + cell * layerCount + 2 };
  },

  draw(pen, board, layout) {
    const { left, top, cell, gap } = layout;
    const { data, ink, choice } = board;
    const side = board.thumbnails().side;
    const inner = cell - gap;
    for (let head = 0; head < data.headCount; head++) {
      pen.text(board.headName(head), left + head * cell + inner / 2, top - 14, { align: "center", size: 14, colour: ink.faint });
    }
    data.layers.forEach((layer, row) => {
      const y = top + row * cell;
      pen.text(String(layer + 1), left - 10, y + inner / 2, { align: "right", size: 14, colour: ink.faint });
      for (let head = 0; head < data.headCount; head++) {
        const x = left + head * cell;
        pen.image(board.thumbnails().canvas, head * side, row * side, side, side, x, y, inner, inner);
        if (board.isOff(layer, head)) {
          pen.rect(x, y, inner, inner, ink.paper, 0.72);
          pen.lines([x + 4, y + 4, x + inner - 4, y + inner - 4, x + inner - 4, y + 4, x + 4, y + inner - 4], ink.accent, 2.5, 1);
        }
        const chosen = layer === choice.layer && board.chosenHeads().includes(head);
        const under = board.hover && board.hover.layer === layer && board.hover.head === head;
        pen.frame(x, y, inner, inner, chosen ? ink.accent : under ? ink.text : ink.grid, chosen ? 3 : under ? 2 : 1);
      }
    });
  },

  hit(board, layout, x, y) {
    const { left, top, cell } = layout;
    const head = Math.floor((x - left) / cell), row = Math.floor((y - top) / cell);
    if (row < 0 || row >= board.data.layerCount || head >= board.data.headCount) return null;
    return { layer: board.data.layers[row], head: x < left ? null : head };
  },

  centre(board, layout, { layer, head }) {
    return [layout.left + (head + 0.4) * layout.cell, layout.top + (board.data.layers.indexOf(layer) + 0.4) * layout.cell];
  },
};

// Lines from each token (query) to the tokens it attends to (keys), one colour a head.
const headView = {
  layout(board, width) {
    const row = Math.max(19, Math.min(27, (room() - 40) / board.weights.visible.length));
    const wide = Math.min(width, 900);
    return { row, top: 34, width: wide, height: 40 + row * board.weights.visible.length, side: Math.min(190, wide * 0.31) };
  },

  draw(pen, board, layout, from = 0, to = Infinity) {
    const { weights, ink } = board;
    const { row, top, side, width } = layout;
    const units = weights.visible, count = units.length;
    const active = board.active();
    const heads = board.chosenHeads();
    const at = weights.row(board.choice.layer);
    const y = (unit) => top + unit * row + row / 2 - from;
    const inView = (unit) => y(unit) > -row && y(unit) < to - from + row;
    const matrices = heads.map((head) => weights.matrix(at, head));

    matrices.forEach((matrix, index) => {
      const levels = new Map();
      const floor = active ? 0.004 : count > 150 ? 0.06 : 0.015;
      for (let u = 0; u < count; u++) {
        if (active && active.query !== null && active.query !== u) continue;
        for (let v = 0; v < count; v++) {
          if (active && active.key !== null && active.key !== v) continue;
          const value = matrix[u * count + v], share = Math.abs(value) / weights.top;
          if (share < floor || !weights.passes(value) || (!inView(u) && !inView(v) && (u < v ? y(v) < 0 || y(u) > to - from : y(u) < 0 || y(v) > to - from))) continue;
          const level = Math.ceil(Math.min(1, share) * 24) * Math.sign(value);
          if (!levels.has(level)) levels.set(level, []);
          levels.get(level).push(side, y(u), width - side, y(v));
        }
      }
      for (const [level, segments] of levels) {
        const share = Math.abs(level) / 24;
        const colour = level < 0 ? css(ink, -0.66) : board.colour(heads[index]);
        pen.lines(segments, colour, 1 + 2.5 * share, Math.min(0.95, 0.08 + 0.9 * share ** (active ? 0.5 : 0.75)));
      }
    });

    pen.rect(0, 0, width, top - 4, ink.paper);
    pen.text("from (query)", side - 12, 14, { align: "right", size: 14, colour: ink.faint });
    pen.text("to (key)", width - side + 12, 14, { size: 14, colour: ink.faint });
    units.forEach((unit, u) => {
      if (!inView(u) || y(u) < top - 12) return;
      strips(u, "query", 0);
      strips(u, "key", width - side + 6);
      const available = (end) => side - 16 - (active && active[end] === null ? 38 : 0);
      pen.text(truncate(unit.label, available("query"), 15, ink.font), side - 12, y(u), { align: "right", bold: active?.query === u });
      pen.text(truncate(unit.label, available("key"), 15, ink.font), width - side + 12, y(u), { bold: active?.key === u });
    });

    // behind the tokens of the other side, how much each head gives them; the number is the mean over the chosen heads
    function strips(unit, end, x) {
      if (!active) return;
      const fixed = end === "key" ? active.query : active.key;
      if (fixed === null) return;
      let sum = 0;
      matrices.forEach((matrix, index) => {
        const value = end === "key" ? matrix[fixed * count + unit] : matrix[unit * count + fixed];
        const part = (side - 6) / matrices.length;
        sum += value;
        const colour = value < 0 ? css(ink, -0.66) : board.colour(heads[index]);
        pen.rect(x + index * part, y(unit) - row / 2 + 1, part, row - 2, colour, 0.5 * Math.abs(weights.tone(value)));
      });
      const mean = sum / matrices.length;
      if (Math.abs(mean) < 0.005 * weights.top) return;
      const far = end === "key" ? width - 4 : 4;
      pen.text(figure(mean), far, y(unit), { align: end === "key" ? "right" : "left", size: 14 });
    }
  },

  hit(board, layout, x, y) {
    const unit = Math.floor((y - layout.top) / layout.row);
    if (unit < 0 || unit >= board.weights.visible.length) return null;
    if (x < layout.side + 20) return { query: unit, key: null };
    if (x > layout.width - layout.side - 20) return { query: null, key: unit };
    return null;
  },

  centre(board, layout, { query, key }) {
    const unit = query ?? key;
    return [key === null || key === undefined ? layout.side - 30 : layout.width - layout.side + 30, layout.top + (unit + 0.5) * layout.row];
  },
};

// Tokens × tokens of one head, or of the mean of the chosen ones: rows are queries, columns keys.
const heatmapView = {
  layout(board, width) {
    const count = board.weights.visible.length;
    const left = Math.min(150, width * 0.27), top = 112;
    const cell = Math.max(1.2, Math.min(46, (width - left - 8) / count, Math.max(17, (room() - top) / count)));
    return { left, top, cell, width: Math.max(left + cell * count + 4, Math.min(width, 420)), height: top + cell * count + 4 };
  },

  draw(pen, board, layout) {
    const { left, top, cell } = layout;
    const { weights, ink } = board;
    const units = weights.visible, count = units.length;
    const matrix = board.mean();
    if (count <= 64) {
      const gap = cell > 14 ? 1 : 0;
      for (let u = 0; u < count; u++) for (let v = 0; v < count; v++) {
        const value = matrix[u * count + v];
        const tone = weights.passes(value) ? weights.tone(value) : 0;
        pen.rect(left + v * cell, top + u * cell, cell - gap, cell - gap, css(ink, tone));
        if (cell >= 38 && Math.abs(value) >= 0.01 * weights.top && weights.passes(value)) {
          const light = ink.dark === Math.abs(tone) < 0.62;
          pen.text(figure(value), left + (v + 0.5) * cell, top + (u + 0.5) * cell, { align: "center", size: 14, colour: light ? "#f6f8fb" : "#161a20" });
        }
      }
    } else {
      const image = paint(matrix, count, count, (value) => weights.passes(value) ? weights.tone(value) : 0, ink);
      pen.image(image, 0, 0, count, count, left, top, cell * count, cell * count);
    }
    pen.frame(left - 0.5, top - 0.5, cell * count, cell * count, ink.grid);
    const step = Math.max(1, Math.ceil(15 / cell)), size = cell < 18 ? 14 : 15;
    const active = board.active();
    units.forEach((unit, u) => {
      const isQuery = active?.query === u, isKey = active?.key === u;
      const free = (end) => u % step === 0 && (typeof active?.[end] !== "number" || Math.abs(active[end] - u) >= step);
      if (free("query") || isQuery) {
        pen.text(truncate(unit.label, left - 14, size, ink.font), left - 8, top + (u + 0.5) * cell, { align: "right", bold: isQuery, size });
      }
      if (free("key") || isKey) {
        pen.text(truncate(unit.label, top - 14, size, ink.font), left + (u + 0.5) * cell, top - 8, { turn: -Math.PI / 2, bold: isKey, size });
      }
      if (isQuery) pen.frame(left, top + u * cell - 0.5, cell * count, cell, ink.accent, 2);
      if (isKey) pen.frame(left + u * cell - 0.5, top, cell, cell * count, ink.accent, 2);
    });
  },

  hit(board, layout, x, y) {
    const count = board.weights.visible.length;
    const key = Math.floor((x - layout.left) / layout.cell), query = Math.floor((y - layout.top) / layout.cell);
    if (key >= count || query >= count || (key < 0 && query < 0)) return null;
    return { query: query < 0 ? null : query, key: key < 0 ? null : key };
  },

  centre(board, layout, { query, key }) {
    return [layout.left + (key + 0.5) * layout.cell, layout.top + (query + 0.5) * layout.cell];
  },
};

const VIEWS = { model: modelView, head: headView, heatmap: heatmapView };

function figure(value) {
  return Math.abs(value) < 10 ? value.toFixed(2) : value.toFixed(1);
}

// A matrix as an image of one pixel a cell.
function paint(matrix, width, height, tone, ink) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) pixels[i] = ink.palette[255 + Math.round(tone(matrix[i]) * 255)];
  context.putImageData(image, 0, 0);
  return canvas;
}

// Every head's thumbnail on one canvas; a long input is shown by the strongest weight of each patch.
function thumbnails(board) {
  const { data, weights, ink } = board;
  const count = weights.visible.length, side = Math.min(TILE, count);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [side * data.headCount, side * data.layerCount];
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  const bin = Uint16Array.from({ length: count }, (_, i) => Math.floor(i * side / count));
  const strongest = new Float32Array(side * side);
  for (let row = 0; row < data.layerCount; row++) for (let head = 0; head < data.headCount; head++) {
    const matrix = weights.matrix(row, head);
    strongest.fill(0);
    for (let u = 0; u < count; u++) for (let v = 0; v < count; v++) {
      const value = matrix[u * count + v], at = bin[u] * side + bin[v];
      if (Math.abs(value) > Math.abs(strongest[at]) && weights.passes(value)) strongest[at] = value;
    }
    for (let u = 0; u < side; u++) for (let v = 0; v < side; v++) {
      pixels[(row * side + u) * canvas.width + head * side + v] = ink.palette[255 + Math.round(weights.tone(strongest[u * side + v]) * 255)];
    }
  }
  context.putImageData(image, 0, 0);
  return { canvas, side };
}
