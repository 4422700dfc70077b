// The worker: the page stays awake while the model computes. It is told the model, then its weights piece by piece, and
// from then on questions, which it answers in turn.

let laboratory = null, kernels = null, header = null, inflater = null, lettersRead = 0;

const handlers = {
  model(message) {
    header = message.header;
    kernels = chooseKernels(header.byteLength, message.plain);
    laboratory = new Laboratory(null, new WordPiece(header.tokenizer), header.config);
    const stream = new DecompressionStream("deflate-raw");
    inflater = stream.writable.getWriter();
    inflate(stream.readable.getReader());
  },

  // letters of `weights.py`, five for four bytes
  weights({ text }) {
    const bytes = decodeLetters(text, header.alphabet);
    const rest = header.compressedLength - lettersRead / 5 * 4; // zeros fill the last four bytes
    lettersRead += text.length;
    inflater.write(bytes.subarray(0, rest));
    if (lettersRead >= header.letters) inflater.close();
  },

  ask({ id, name, request }) {
    const started = performance.now();
    try {
      const answer = laboratory[name](request);
      postMessage({ id, answer, milliseconds: performance.now() - started });
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      postMessage({ id, problem: error.message });
    }
  },
};

// The weights into the memory of the kernels as they come, and then a model.
async function inflate(reader) {
  let written = 0;
  for (let part; !(part = await reader.read()).done; written += part.value.length) kernels.bytes().set(part.value, written);
  laboratory.bert = new Bert(header.config, header.tensors, kernels);
  postMessage({ ready: true, kernels: kernels.name });
}

function decodeLetters(text, alphabet) {
  const digit = new Uint8Array(128);
  for (let i = 0; i < alphabet.length; i++) digit[alphabet.charCodeAt(i)] = i;
  const bytes = new Uint8Array(text.length / 5 * 4);
  for (let i = 0, at = 0; i < text.length; i += 5) {
    let number = 0;
    for (let place = 0; place < 5; place++) number = number * 85 + digit[text.charCodeAt(i + place)];
    bytes[at++] = number;
    bytes[at++] = number >>> 8;
    bytes[at++] = number >>> 16;
    bytes[at++] = number >>> 24;
  }
  return bytes;
}

onmessage = ({ data }) => handlers[data.kind](data);
