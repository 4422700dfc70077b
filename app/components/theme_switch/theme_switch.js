// Streamlit reads "Light" or "Dark" from localStorage, by address, when a page is loaded.
const KEY = (path) => `stActiveTheme-${path}-v2`;

// Streamlit adds an entry to the history whenever the address changes. Here a page is one entry, however much is chosen
// on it, so that Back goes to the page before.
if (!history.pushState.ofPages) {
  const push = history.pushState.bind(history);
  history.pushState = (state, unused, url) => {
    const samePage = new URL(url ?? "", location.href).pathname === location.pathname;
    return samePage ? history.replaceState(state, unused, url) : push(state, unused, url);
  };
  history.pushState.ofPages = true;
}

export default function ({ data, parentElement }) {
  let button = parentElement.querySelector("button");
  if (!button) {
    button = document.createElement("button");
    button.type = "button";
    parentElement.appendChild(button);
  }
  const next = data.dark ? "Light" : "Dark";
  button.textContent = data.dark ? "☀" : "☾";
  button.title = `${next} colours`;
  button.setAttribute("aria-label", `Switch to ${next.toLowerCase()} colours`);
  button.onclick = () => {
    const here = window.location.pathname;
    const root = here.slice(0, here.lastIndexOf("/") + 1);
    for (const path of ["", ...data.addresses]) localStorage.setItem(KEY(root + path), JSON.stringify(next));
    localStorage.setItem(KEY(here), JSON.stringify(next));
    window.location.reload();
  };
}
