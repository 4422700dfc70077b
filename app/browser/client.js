// The page's side of the worker: weights go in as the browser reads them from the file, questions go out one at a time.

class StaleQuestion extends Error {}
class Problem extends Error {}

class Client {
  constructor(header, progress) {
    if (typeof DecompressionStream === "undefined") {
      progress({ error: "this browser is too old to unpack it. Any browser of 2023 or later does." });
      return;
    }
    const source = new Blob([WORKER_SOURCE], { type: "text/javascript" });
    this.worker = new Worker(URL.createObjectURL(source));
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = (event) => this.failed(event.message);
    this.header = header;
    this.progress = progress;
    this.waiting = new Map(); // slot -> the newest question of a tab
    this.sent = null;
    this.numbers = 0;
    this.ready = new Promise((resolve) => { this.becomeReady = resolve; });
    const { config, tensors, byteLength, compressedLength, letters, alphabet, tokenizer } = header;
    this.worker.postMessage({ kind: "model", header: { config, tensors, byteLength, compressedLength, letters, alphabet, tokenizer } });
    this.letters = 0;
    this.feed();
  }

  // Hand over every piece of the weights that the parser has finished, and come back for the rest.
  feed() {
    const complete = document.readyState !== "loading";
    for (const piece of document.querySelectorAll("script.weights")) {
      if (!complete && !piece.nextElementSibling) break; // its text may still grow
      this.letters += piece.textContent.length;
      this.worker.postMessage({ kind: "weights", text: piece.textContent });
      piece.remove();
    }
    this.progress({ share: this.letters / this.header.letters });
    if (!complete || document.querySelector("script.weights")) setTimeout(() => this.feed(), 30);
    else if (this.letters < this.header.letters) this.progress({ error: "the file is not complete, its end is missing. Copy or load it again." });
  }

  // A mistake of ours, or no memory left: it is said, and whoever waits is told.
  failed(message) {
    this.progress({ error: message });
    this.sent?.reject(new Problem(message));
    this.sent = null;
    this.next();
  }

  receive(data) {
    if (data.ready) {
      this.kernels = data.kernels;
      this.becomeReady();
      this.progress({ ready: true });
      return;
    }
    const { resolve, reject } = this.sent;
    this.sent = null;
    this.milliseconds = data.milliseconds;
    if (data.problem !== undefined) reject(new Problem(data.problem));
    else resolve(data.answer);
    this.next();
  }

  // An answer; of several questions from one slot only the newest is asked, the others end as stale.
  async ask(name, request, slot = name) {
    if (name !== "words") await this.ready;
    return new Promise((resolve, reject) => {
      this.waiting.get(slot)?.reject(new StaleQuestion());
      this.waiting.set(slot, { name, request, resolve, reject });
      this.next();
    });
  }

  next() {
    if (this.sent || !this.waiting.size) return;
    const [slot, question] = this.waiting.entries().next().value;
    this.waiting.delete(slot);
    this.sent = question;
    this.worker.postMessage({ kind: "ask", id: ++this.numbers, name: question.name, request: question.request });
  }
}
