// @ts-check
// The timeline: bars of runs that are under way grow until the page has news of them. Without this module,
// the bars are as long as the runs were when the page was made.

const frame = document.getElementById("picture");
const OFTEN_MS = 250, SELDOM_MS = 1000, ASK_MS = 10_000;
const still = window.matchMedia("(prefers-reduced-motion: reduce)");

/** @typedef {{ bar: SVGRectElement, wide: number, pace: number, most: number }} Growing In pixels, and pixels a second. */

/** @type {Growing[]} */
let growing = [];
let since = performance.now(), asked = 0;

function find() {
  since = performance.now();
  growing = [.../** @type {NodeListOf<SVGRectElement>} */ (frame?.querySelectorAll("[data-pace]") ?? [])].map((bar) => ({
    bar, wide: Number(bar.getAttribute("width")), pace: Number(bar.dataset.pace), most: Number(bar.dataset.most),
  }));
}

function grow() {
  const now = performance.now();
  for (const { bar, wide, pace, most } of growing) {
    const next = wide + pace * (now - since) / 1000;
    bar.setAttribute("width", Math.min(next, most).toFixed(1));
    if (next >= most && now - asked > ASK_MS) {  // no room is left: the server draws another axis
      asked = now;
      document.dispatchEvent(new Event("stale"));
    }
  }
  window.setTimeout(grow, still.matches ? SELDOM_MS : OFTEN_MS);
}

if (frame) {
  find();
  new MutationObserver(find).observe(frame, { childList: true });
  grow();
}
