// One way of drawing, two kinds of paper: the canvas on screen and an SVG file.

const HEAD_COLOURS = ["#1098ad", "#e8710a", "#7048e8", "#2f9e44", "#d6336c", "#2f6fd0", "#96705b", "#e03131",
  "#5c7f00", "#ae3ec9", "#52667a", "#00857a"];
const INK = {
  light: { paper: "#fcfcfa", text: "#17212b", faint: "#5d6873", grid: "#cdd6d6", accent: "#e8590c",
    scale: [[252, 252, 250], [150, 208, 219], [16, 130, 160], [6, 56, 78]],
    minus: [[252, 252, 250], [250, 190, 128], [222, 95, 10], [118, 42, 2]] },
  dark: { paper: "#11181d", text: "#e9eef0", faint: "#a7b3ba", grid: "#3a4952", accent: "#ffa94d",
    scale: [[25, 34, 41], [18, 92, 108], [40, 176, 198], [208, 248, 252]],
    minus: [[25, 34, 41], [128, 62, 14], [236, 128, 40], [255, 226, 190]] },
};

function inkOf(element) {
  const style = getComputedStyle(element);
  const paper = style.getPropertyValue("--st-background-color").trim();
  const dark = paper ? luminance(paper) < 0.4 : matchMedia("(prefers-color-scheme: dark)").matches;
  const ink = { ...INK[dark ? "dark" : "light"], dark };
  if (paper) ink.paper = paper;
  ink.text = style.getPropertyValue("--st-text-color").trim() || ink.text;
  ink.font = style.getPropertyValue("--st-font").trim() || "system-ui, sans-serif";
  ink.palette = Uint32Array.from({ length: 511 }, (_, i) => packColour(i < 255 ? ink.minus : ink.scale, Math.abs(i - 255) / 255));
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

function packColour(stops, t) {
  const [red, green, blue] = blend(stops, t);
  return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
}

function css(ink, tone) {
  return `rgb(${blend(tone < 0 ? ink.minus : ink.scale, Math.abs(tone)).join(",")})`;
}

const ruler = document.createElement("canvas").getContext("2d");

function truncate(text, width, size, font) {
  ruler.font = `${size}px ${font}`;
  if (ruler.measureText(text).width <= width) return text;
  let start = text;
  while (start.length > 1 && ruler.measureText(`${start}…`).width > width) start = start.slice(0, -1);
  return `${start}…`;
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
    this.parts = [`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escapeXml(ink.font)}">`];
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
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" font-size="${size}" fill="${colour}" text-anchor="${anchor}" dominant-baseline="central"${bold ? ' font-weight="600"' : ""}${rotate}>${escapeXml(text)}</text>`);
  }

  image(canvas, sx, sy, sw, sh, x, y, width, height) {
    const tile = document.createElement("canvas");
    [tile.width, tile.height] = [sw, sh];
    tile.getContext("2d").drawImage(canvas, sx, sy, sw, sh, 0, 0, sw, sh);
    this.parts.push(`<image href="${tile.toDataURL()}" x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" preserveAspectRatio="none" image-rendering="pixelated"/>`);
  }

  toString() {
    return `${this.parts.join("\n")}\n</svg>\n`;
  }
}

function short(number) {
  return Math.round(number * 100) / 100;
}

function escapeXml(text) {
  const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (sign) => names[sign]);
}
