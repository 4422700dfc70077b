// What Python sent: four bytes with the length of a JSON header, the header, then the values as one run of
// unsigned integers. A value v is stored as the square root of v / scale, so small weights keep their digits.

function decode(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const body = bytes.slice(4 + length);
  const codes = header.bits === 16 ? new Uint16Array(body.buffer) : body;
  const [layers, heads, size] = header.shape;
  return { ...header, codes, value: valueTable(header), layerCount: layers, headCount: heads, size };
}

function valueTable({ bits, signed, scale }) {
  const last = 2 ** bits - 1;
  const zero = signed ? (last - 1) / 2 : 0;
  const reach = signed ? zero : last;
  return Float32Array.from({ length: last + 1 }, (_, code) => {
    const root = (code - zero) / reach;
    return Math.sign(root) * root * root * scale;
  });
}

// In a file of its own the board finds its bytes as text.
function fromBase64(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}
