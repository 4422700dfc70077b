// Streamlit says on its outermost element whether its websocket is open, and tries again and again when it is not.
const STATE = "data-test-connection-state";
const OPEN = "CONNECTED";
const SAID = 4000; // milliseconds that "back again" stays
const TRIES = 1500; // milliseconds between two looks at the door

async function answers(address) {
  try {
    // of another port nothing can be read, only that something answered
    await fetch(`${address}/_stcore/health`, { mode: "no-cors", cache: "no-store" });
    return true;
  } catch {
    return false;
  }
}

export default function ({ data, parentElement }) {
  let note = parentElement.querySelector(".line");
  if (!note) {
    note = document.createElement("div");
    note.className = "line";
    note.setAttribute("role", "status");
    note.hidden = true;
    parentElement.appendChild(note);
  }
  const app = document.querySelector("[data-testid=stApp]");
  const door = data.door ? `${location.protocol}//${location.hostname}:${data.door}` : null;
  let cut = false;
  let timer = 0;

  async function leave() {
    // this process may be gone while the others live: the door knows one that does
    if (cut && door && !(await answers(location.origin)) && (await answers(door))) {
      location.replace(door + location.pathname + location.search + location.hash);
    }
  }

  function look() {
    const open = app.getAttribute(STATE) === OPEN;
    if (!open && !cut) {
      cut = true;
      note.className = "line";
      note.textContent = "Cut off from the server. What you see stays; the page comes back by itself.";
      note.hidden = false;
      timer = setInterval(leave, TRIES);
    } else if (open && cut) {
      cut = false;
      clearInterval(timer);
      note.className = "line back";
      note.textContent = "Back again.";
      setTimeout(() => (note.hidden = !cut), SAID);
    }
  }

  const observer = new MutationObserver(look);
  observer.observe(app, { attributes: true, attributeFilter: [STATE] });
  look();
  return () => {
    observer.disconnect();
    clearInterval(timer);
  };
}
