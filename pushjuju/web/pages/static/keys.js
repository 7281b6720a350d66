// @ts-check
// Keys of every page, and what changes elsewhere: / goes to the field that searches, ? shows the keys, and
// a unit that comes into error is told to those who hear the page, at most every ten seconds.

const PAUSE_MS = 10_000;
const help = /** @type {HTMLDialogElement} */ (document.getElementById("keys"));
const button = /** @type {HTMLButtonElement} */ (document.getElementById("show-keys"));
const single = /** @type {HTMLInputElement} */ (document.getElementById("single-keys"));
const news = /** @type {HTMLElement} */ (document.getElementById("news"));

button.hidden = false;
button.addEventListener("click", () => help.showModal());
single.checked = localStorage.getItem("single-keys") !== "off";
single.addEventListener("change", () => localStorage.setItem("single-keys", single.checked ? "on" : "off"));

document.addEventListener("keydown", (event) => {
  const typing = event.target instanceof Element && event.target.closest("input:not([type=checkbox]), textarea, select");
  if (typing || help.open || !single.checked || event.ctrlKey || event.altKey || event.metaKey) return;
  const field = /** @type {HTMLInputElement | null} */ (document.querySelector("[role=search] :is([name=find], [name=near], [name=text])"));
  if (event.key === "/" && field) {
    event.preventDefault();
    field.focus();
    field.select();
  } else if (event.key === "?") {
    event.preventDefault();
    help.showModal();
  }
});

const notes = () => (document.body.dataset.notes ?? "").split("\n").filter(Boolean);
let known = notes(), told = -Infinity;
/** @type {string[]} */
let waiting = [];
let banner = "";
/** @type {number | undefined} */
let timer;

new MutationObserver(() => {
  const present = notes();
  waiting = [...waiting, ...present.filter((note) => !known.includes(note))].filter((note) => present.includes(note));
  known = present;
  soon();
}).observe(document.body, { attributeFilter: ["data-notes"] });
// The banner of the page, which is shown anyway, shares the region that is read aloud.
document.addEventListener("told", (event) => {
  banner = /** @type {CustomEvent<string>} */ (event).detail;
  soon();
});

function soon() {
  if (waiting.length || banner) timer ??= window.setTimeout(tell, Math.max(0, told + PAUSE_MS - performance.now()));
}

function tell() {
  timer = undefined;
  const texts = banner ? [banner, ...waiting] : waiting;
  if (!texts.length) return;
  news.textContent = texts[0] + (texts.length > 1 ? `, and ${texts.length - 1} more` : "");
  waiting = [];
  banner = "";
  told = performance.now();
}
