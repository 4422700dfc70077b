// Lessons: predict first; then the model answers, on the spot.

const VALUES = { share: (value) => `${(100 * value).toFixed(1)} %`, number: (value) => value.toFixed(0), cosine: (value) => value.toFixed(3), "": () => "" };

// A file sent by the app lies below /handout/: then the room counts what is predicted here. From a stick it works alone.
const VOTES = /^https?:$/.test(location.protocol) ? location.pathname.match(/^(.*\/handout)\/.+\.html$/)?.[1] : undefined;

class LessonsTab {
  constructor(page) {
    this.page = page;
    this.root = element("section");
    this.answers = new Map();
    this.counted = element("p", { className: "caption", aria: { role: "status" } });
  }

  // Tell the room, where there is one, and say whether it heard.
  async vote(lesson, question, option) {
    if (!VOTES) return;
    const heard = await fetch(`${VOTES}/vote`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ lesson, question, option }),
    }).then((answer) => answer.ok, () => false);
    this.counted.textContent = heard ? "The room has counted it." : "The room did not hear it: the server does not answer. Everything here works without it.";
  }

  async show(state) {
    const { lessons } = this.page.header;
    const name = Object.hasOwn(lessons, state.lesson) ? state.lesson : Object.keys(lessons)[0];
    const lesson = lessons[name];
    const place = Math.min(state.number, lesson.questions.length - 1);
    const predicted = lesson.questions.map((question, nth) => {
      const option = state.predicted[name]?.[nth] ?? null;
      return option !== null && option < question.options.length ? option : null;
    });
    const source = lesson.source ? ` After ${lesson.source}.` : "";
    const box = element("div", { className: "question" });
    this.course = element("p", { className: "caption" });
    this.root.replaceChildren(
      choice("Lesson", Object.entries(lessons).map(([key, { title }]) => [key, title]), name, (key) => this.page.change({ lesson: key, number: 0 })),
      caption(`${lesson.about} About ${lesson.minutes} minutes.${source}`),
      choice("Question", lesson.questions.map((_, nth) => [nth, String(nth + 1)]), place, (number) => this.page.change({ number })), box, this.course, this.counted);
    await this.question(box, name, lesson, place, predicted);
  }

  async question(box, name, lesson, place, predicted) {
    const question = lesson.questions[place];
    if (question.introduction) box.append(element("p", { textContent: question.introduction }));
    if (question.text && !["pieces", "sentence", "known"].includes(question.kind)) box.append(...sentences(question));
    box.append(element("h2", { textContent: question.prompt }));
    const tell = (option) => {
      this.vote(name, place, option);
      const list = predicted.map((other, nth) => nth === place ? option : other);
      this.page.change({ predicted: { ...this.page.state.predicted, [name]: list }, lesson: name, number: place });
    };
    if (predicted[place] === null) {
      this.ask(box, question, tell);
    } else {
      await this.tellAnswer(box, question, predicted[place]);
      const next = place + 1 < lesson.questions.length ? button("Next question", () => this.page.change({ number: place + 1, lesson: name }), { className: "primary" }) : null;
      box.append(element("div", { className: "row" }, next, this.link(question), button("Predict again", () => tell(null), { className: "plain" })));
    }
    await this.count(lesson, predicted);
  }

  ask(box, question, tell) {
    const send = button(question.kind === "known" ? "Show the answer" : "Ask the model", () => tell(Number(box.querySelector("input:checked").value)), { className: "primary", disabled: true });
    box.append(element("div", { className: "options", aria: { role: "radiogroup", "aria-label": "Your prediction" } }, ...question.options.map((option, nth) =>
      element("label", {}, element("input", { type: "radio", name: "option", value: String(nth), on: { change: () => { send.disabled = false; } } }), option))), send);
  }

  async tellAnswer(box, question, predicted) {
    const place = element("div", {}, caption("The model reads …"));
    box.append(place);
    let answer;
    try {
      answer = await this.answer(question);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      place.replaceChildren(element("p", { className: "problem", textContent: problem.message }));
      return;
    }
    const most = Math.max(1e-9, ...answer.values);
    const rows = question.options.map((option, nth) => {
      const marks = [nth === answer.best ? (answer.unit ? "the model" : "right") : "", nth === predicted ? "your prediction" : ""].filter(Boolean);
      return element("div", { className: `${nth === answer.best ? "best" : ""} ${nth === predicted ? "predicted" : ""}`, aria: { role: "listitem" } },
        element("i", { style: `width:${(100 * Math.max(0, answer.values[nth]) / most).toFixed(1)}%` }), element("span", { textContent: option }),
        element("em", { textContent: marks.join(" · ") }), element("b", { textContent: VALUES[answer.unit](answer.values[nth]) }));
    });
    place.replaceChildren(element("div", { className: "answers", aria: { role: "list" } }, ...rows), element("p", { className: "verdict", textContent: verdict(question, answer, predicted) }));
    if (question.after) place.append(element("p", { textContent: question.after }));
  }

  async answer(question) {
    const key = JSON.stringify(question);
    if (!this.answers.has(key)) this.answers.set(key, await this.page.client.ask("lesson", question, key));
    return this.answers.get(key);
  }

  // How many of the predictions so far the model agreed with.
  async count(lesson, predicted) {
    const course = this.course;
    const met = [];
    for (const [nth, option] of predicted.entries()) {
      if (option === null) continue;
      try {
        met.push((await this.answer(lesson.questions[nth])).best === option);
      } catch (problem) {
        if (!(problem instanceof Problem)) throw problem; // said where the question is shown
      }
    }
    const done = met.length === predicted.length ? " That was the last question." : "";
    course.textContent = met.length > 1 ? `You foresaw ${met.filter(Boolean).length} of ${met.length} answers of this lesson.${done}` : "";
  }

  // The tab to look for oneself, at what the question is about.
  link({ tab, text, second, layer, head, off }) {
    if (!tab || !text) return null;
    const place = tab === "attention" && head !== null ? { view: "head", layer, heads: [head] } : {};
    return button("Look for yourself", () => this.page.jump({ tab, a: text, b: second, marks: null, off, ...place }), { className: "plain" });
  }
}

function verdict(question, answer, predicted) {
  const best = question.options[answer.best];
  if (question.kind === "known") return predicted === answer.best ? "Right." : `Not quite: ${best}.`;
  const value = { share: VALUES.share(answer.values[answer.best]), number: `${VALUES.number(answer.values[answer.best])} pieces`, cosine: `cosine ${VALUES.cosine(answer.values[answer.best])}` }[answer.unit];
  const own = answer.own && answer.own.toLowerCase() !== best.toLowerCase() ? ` Of all words, its first guess is ${answer.own}.` : "";
  return `${predicted === answer.best ? "You foresaw it." : "The model says otherwise."} Of these it prefers ${best} (${value}).${own}`;
}

// The sentences that a question is about, large, with the hidden word as a blank.
function sentences({ text, second }) {
  const both = [text, second].filter(Boolean);
  return both.map((sentence, nth) => element("p", { className: "sentence" }, both.length > 1 ? element("small", { textContent: "AB"[nth] }) : null,
    ...sentence.split("[MASK]").flatMap((part, i) => i ? [element("span", { className: "blank", textContent: "?" }), part] : [part])));
}
