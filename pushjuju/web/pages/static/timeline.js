// @ts-check
// The timeline: bars of runs that are under way grow until the page has news of them, and dragging over the
// picture shows the runs of a time alone. Without this module, the bars are as long as the runs were when the
// page was made, and the squares of earlier hours lead to other times.

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

const LEAST = 8;  // of the picture's units: a shorter drag is a click
let from = NaN;

/** @type {(event: PointerEvent) => number} */
function place(event) {
  const svg = /** @type {SVGSVGElement} */ (frame?.querySelector("svg"));
  return new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM()?.inverse()).x;
}

/** @type {(x: number, pieces: number[][]) => number} Seconds since 1970; rests are cut out of the axis. */
function moment(x, pieces) {
  const [left, start, right, end] = pieces.findLast(([begin]) => begin <= x) ?? pieces[0];
  return start + (end - start) * Math.min(Math.max((x - left) / (right - left || 1), 0), 1);
}

/** @type {(event: PointerEvent) => void} */
function choose(event) {
  const box = frame?.querySelector("[data-axis]");
  if (!(box instanceof SVGRectElement)) return;
  const to = place(event), done = event.type !== "pointermove";
  box.setAttribute("x", String(Math.min(from, to)));
  box.setAttribute("width", done ? "0" : String(Math.abs(to - from)));
  if (!done) return;
  const [first, last] = [from, to].sort((one, other) => one - other);
  from = NaN;
  if (event.type !== "pointerup" || last - first < LEAST) return;
  const pieces = (box.dataset.axis ?? "").split(" ").map((piece) => piece.split(",").map(Number));
  const address = new URL(location.href);
  address.searchParams.delete("since");
  address.searchParams.set("from", new Date(Math.floor(moment(first, pieces)) * 1000).toISOString());
  address.searchParams.set("to", new Date(Math.ceil(moment(last, pieces)) * 1000).toISOString());
  location.assign(address);
}

function choosing() {
  frame?.addEventListener("pointerdown", (event) => {
    if (event.button || event.pointerType === "touch" || /** @type {Element} */ (event.target).closest("a")) return;
    event.preventDefault();  // else the texts of the picture would be selected
    frame.setPointerCapture(event.pointerId);
    from = place(event);
  });
  for (const kind of /** @type {const} */ (["pointermove", "pointerup", "pointercancel"])) {
    frame?.addEventListener(kind, (event) => Number.isNaN(from) || choose(event));
  }
}

if (frame) {
  choosing();
  find();
  new MutationObserver(find).observe(frame, { childList: true });
  grow();
}
