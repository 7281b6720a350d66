// @ts-check
// The log: new lines are shown only while the end of the page is in view. A reader who is elsewhere keeps the
// lines that are read, and is told how many came meanwhile. Without this module, lines come when the page is loaded.

const lines = document.getElementById("lines");
const behind = /** @type {HTMLElement} */ (document.getElementById("behind"));
const NEAR_PX = 40;

const atEnd = () => window.innerHeight + window.scrollY >= document.body.scrollHeight - NEAR_PX;

/** Return how many rows of a new piece come after the last row that is shown; all, when that row is gone. @param {Element} fresh */
function newer(fresh) {
  const last = lines?.querySelector("tbody tr:last-child")?.textContent;
  const rows = [...fresh.querySelectorAll("tbody tr")];
  return rows.length - 1 - rows.findLastIndex((row) => row.textContent === last);
}

function look() {
  if (!lines?.hasAttribute("data-follow")) return;
  const held = lines.hasAttribute("data-held");
  lines.toggleAttribute("data-held", !atEnd());
  if (!held || !atEnd()) return;
  behind.hidden = true;
  document.dispatchEvent(new Event("stale"));
}

lines?.addEventListener("held", (event) => {
  const fresh = /** @type {CustomEvent<Element>} */ (event).detail, count = newer(fresh);
  const all = count === fresh.querySelectorAll("tbody tr").length ? " or more" : "";
  if (behind.firstElementChild) behind.firstElementChild.textContent = `${count}${all} newer ${count === 1 ? "line" : "lines"}: go to the end`;
  behind.hidden = count === 0;
});
document.addEventListener("scroll", look, { passive: true });
window.addEventListener("resize", look);
look();
