// One way of drawing, two kinds of paper: the canvas on screen and an SVG file.

const HEAD_COLOURS = ["#2f7ed8", "#e8710a", "#1a9850", "#d6336c", "#7b4fd6", "#0f9fb5", "#a86a00", "#c03d3d",
  "#5b8c00", "#b5179e", "#52667a", "#00857a"];
const INK = {
  light: { paper: "#ffffff", text: "#22262e", faint: "#6a7280", grid: "#d5dae1", accent: "#c2410c",
    scale: [[255, 255, 255], [158, 202, 232], [49, 120, 190], [8, 40, 100]],
    minus: [[255, 255, 255], [250, 186, 120], [222, 95, 10], [118, 42, 2]] },
  dark: { paper: "#0e1117", text: "#f2f4f8", faint: "#a7b0bd", grid: "#39414d", accent: "#ffb454",
    scale: [[24, 29, 38], [28, 84, 140], [72, 160, 228], [214, 240, 255]],
    minus: [[24, 29, 38], [128, 62, 14], [236, 128, 40], [255, 226, 190]] },
};

function inkOf(element) {
  const style = getComputedStyle(element);
  const paper = style.getPropertyValue("--st-background-color").trim();
  const dark = paper ? luminance(paper) < 0.4 : matchMedia("(prefers-color-scheme: dark)").matches;
  const ink = { ...INK[dark ? "dark" : "light"], dark };
  if (paper) ink.paper = paper;
  ink.text = style.getPropertyValue("--st-text-color").trim() || ink.text;
  ink.font = style.getPropertyValue("--st-font").trim() || "system-ui, sans-serif";
  ink.palette = Uint32Array.from({ length: 511 }, (_, i) => packed(i < 255 ? ink.minus : ink.scale, Math.abs(i - 255) / 255));
  return ink;
}

function luminance(colour) {
  const context = document.createElement("canvas").getContext("2d");
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
  return (0.3 * red + 0.59 * green + 0.11 * blue) / 255;
}

function blend(stops, t) {
  const at = Math.min(t, 0.9999) * (stops.length - 1);
  const [from, to] = [stops[Math.floor(at)], stops[Math.floor(at) + 1]];
  return from.map((part, i) => Math.round(part + (to[i] - part) * (at % 1)));
}

function packed(stops, t) {
  const [red, green, blue] = blend(stops, t);
  return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
}

function css(ink, tone) {
  return `rgb(${blend(tone < 0 ? ink.minus : ink.scale, Math.abs(tone)).join(",")})`;
}

const ruler = document.createElement("canvas").getContext("2d");

function fitted(text, width, size, font) {
  ruler.font = `${size}px ${font}`;
  if (ruler.measureText(text).width <= width) return text;
  let kept = text;
  while (kept.length > 1 && ruler.measureText(`${kept}…`).width > width) kept = kept.slice(0, -1);
  return `${kept}…`;
}

class CanvasPen {
  constructor(canvas, width, height, density, ink) {
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
    this.context = canvas.getContext("2d");
    this.context.scale(density, density);
    this.context.imageSmoothingEnabled = false;
    this.context.textBaseline = "middle";
    this.ink = ink;
    this.context.fillStyle = ink.paper;
    this.context.fillRect(0, 0, width, height);
  }

  rect(x, y, width, height, colour, alpha = 1) {
    this.context.globalAlpha = alpha;
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, width, height);
  }

  frame(x, y, width, height, colour, weight = 1) {
    this.context.globalAlpha = 1;
    this.context.strokeStyle = colour;
    this.context.lineWidth = weight;
    this.context.strokeRect(x, y, width, height);
  }

  // segments: [x1, y1, x2, y2, ...] in one stroke
  lines(segments, colour, weight, alpha) {
    const context = this.context;
    context.globalAlpha = alpha;
    context.strokeStyle = colour;
    context.lineWidth = weight;
    context.beginPath();
    for (let i = 0; i < segments.length; i += 4) {
      context.moveTo(segments[i], segments[i + 1]);
      context.lineTo(segments[i + 2], segments[i + 3]);
    }
    context.stroke();
  }

  text(text, x, y, { size = 15, colour = this.ink.text, align = "left", bold = false, turn = 0 } = {}) {
    const context = this.context;
    context.globalAlpha = 1;
    context.fillStyle = colour;
    context.textAlign = align;
    context.font = `${bold ? "600 " : ""}${size}px ${this.ink.font}`;
    context.save();
    context.translate(x, y);
    context.rotate(turn);
    context.fillText(text, 0, 0);
    context.restore();
  }

  image(canvas, sx, sy, sw, sh, x, y, width, height) {
    this.context.globalAlpha = 1;
    this.context.drawImage(canvas, sx, sy, sw, sh, x, y, width, height);
  }
}

class SvgPen {
  constructor(width, height, ink) {
    this.ink = ink;
    this.parts = [`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escaped(ink.font)}">`];
    this.rect(0, 0, width, height, ink.paper);
  }

  rect(x, y, width, height, colour, alpha = 1) {
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${colour}" opacity="${short(alpha)}"/>`);
  }

  frame(x, y, width, height, colour, weight = 1) {
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="none" stroke="${colour}" stroke-width="${weight}"/>`);
  }

  lines(segments, colour, weight, alpha) {
    let path = "";
    for (let i = 0; i < segments.length; i += 4) {
      path += `M${short(segments[i])} ${short(segments[i + 1])}L${short(segments[i + 2])} ${short(segments[i + 3])}`;
    }
    this.parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="${weight}" opacity="${short(alpha)}"/>`);
  }

  text(text, x, y, { size = 15, colour = this.ink.text, align = "left", bold = false, turn = 0 } = {}) {
    const anchor = { left: "start", right: "end", center: "middle" }[align];
    const rotate = turn ? ` transform="rotate(${turn * 180 / Math.PI} ${short(x)} ${short(y)})"` : "";
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" font-size="${size}" fill="${colour}" text-anchor="${anchor}" dominant-baseline="central"${bold ? ' font-weight="600"' : ""}${rotate}>${escaped(text)}</text>`);
  }

  image(canvas, sx, sy, sw, sh, x, y, width, height) {
    const cut = document.createElement("canvas");
    [cut.width, cut.height] = [sw, sh];
    cut.getContext("2d").drawImage(canvas, sx, sy, sw, sh, 0, 0, sw, sh);
    this.parts.push(`<image href="${cut.toDataURL()}" x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" preserveAspectRatio="none" image-rendering="pixelated"/>`);
  }

  finished() {
    return `${this.parts.join("\n")}\n</svg>\n`;
  }
}

function short(number) {
  return Math.round(number * 100) / 100;
}

function escaped(text) {
  const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (sign) => names[sign]);
}
