// Numbers and tokens for the board, in the form of app/components/board/payload.py: a JSON header, then 16-bit codes that
// are square roots, so that a weight of 0.001 keeps as many digits as one of 0.9.

let boardStamps = 0;

function boardPayload(values, shape, header) {
  const signed = values.some((value) => value < 0);
  const scale = signed ? values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) || 1 : 1;
  const last = 65535, zero = signed ? (last - 1) / 2 : 0, reach = signed ? zero : last;
  const codes = new Uint16Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    codes[i] = Math.round(Math.sign(value) * Math.sqrt(Math.abs(value) / scale) * reach) + zero;
  }
  const stamp = `${++boardStamps}`;
  const head = new TextEncoder().encode(JSON.stringify({ ...header, shape, bits: 16, signed, scale, normalised: !signed, stamp }));
  const padded = Math.ceil(head.length / 4) * 4;
  const bytes = new Uint8Array(4 + padded + codes.byteLength);
  new DataView(bytes.buffer).setUint32(0, padded, true);
  bytes.fill(32, 4, 4 + padded);
  bytes.set(head, 4);
  bytes.set(new Uint8Array(codes.buffer), 4 + padded);
  return bytes;
}
