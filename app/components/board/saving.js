// Files written in the browser from the current view, all of it, not only the visible part.

function saveSvg(board) {
  const layout = board.layout();
  const pen = new SvgPen(Math.ceil(layout.width), Math.ceil(layout.height), board.ink);
  VIEWS[board.choice.view].draw(pen, board, layout);
  save(new Blob([pen.toString()], { type: "image/svg+xml" }), board, "svg");
}

function savePng(board) {
  const layout = board.layout();
  const density = Math.min(2, 16000 / Math.max(layout.width, layout.height));
  const canvas = document.createElement("canvas");
  const pen = new CanvasPen(canvas, layout.width, layout.height, density, board.ink);
  VIEWS[board.choice.view].draw(pen, board, layout);
  canvas.toBlob((blob) => save(blob, board, "png"));
}

function saveCsv(board) {
  const { weights, data, choice } = board;
  const quote = (text) => `"${text.replaceAll('"', '""')}"`;
  const rows = ["layer,head,query_position,query,key_position,key,value"];
  const all = choice.view === "model";
  const units = weights.visible, count = units.length;
  data.layers.forEach((layer, row) => {
    if (!all && layer !== choice.layer) return;
    for (const head of all ? board.allHeads() : board.chosenHeads()) {
      const matrix = weights.matrix(row, head);
      for (let u = 0; u < count; u++) for (let v = 0; v < count; v++) {
        rows.push(`${layer + 1},${data.headCount > 1 ? head + 1 : "all"},${units[u].members[0]},${quote(units[u].label)},${units[v].members[0]},${quote(units[v].label)},${matrix[u * count + v].toFixed(5)}`);
      }
    }
  });
  save(new Blob([rows.join("\n"), "\n"], { type: "text/csv" }), board, "csv");
}

function save(blob, board, ending) {
  const { choice } = board;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  const heads = board.chosenHeads().map((head) => head + 1).join("-");
  link.download = `attention-${choice.view}${choice.view === "model" ? "" : `-layer-${choice.layer + 1}-head-${heads}`}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
