// @ts-check
// The picture of a model: zooms and moves it, leads from card to card by arrow keys, and shows what a card is
// related to. Without this module, the whole picture is there, and its cards are links.

/** @typedef {{ x: number, y: number, w: number }} View Left upper corner and width, in pixels of the picture. */

const STEP = 1.25, CLOSEST = 3, READABLE = 0.763, LARGEST = 1.25, LEAST_PX = 8, PAN = 120;
const SIZES = { "no-words": 10.5, "no-names": 13, "no-title": 17 };
const WAYS = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] });

const frame = document.getElementById("picture"), tools = document.getElementById("tools");
const large = Boolean(frame?.classList.contains("large"));
/** What is in view; null before anything was zoomed or moved. @type {View | null} */
let view = null;
/** @type {{ x: number, y: number } | null} */
let drag = null;

const picture = () => /** @type {SVGSVGElement | null} */ (frame?.querySelector(":scope > svg"));
const within = (/** @type {number} */ value, /** @type {number} */ least, /** @type {number} */ most) => Math.min(Math.max(value, least), most);

/** Return the size of the picture, and of its place on the page. @param {SVGSVGElement} svg */
function measure(svg) {
  const w = Number(svg.getAttribute("width")), h = Number(svg.getAttribute("height"));
  if (!large) svg.style.minWidth = `${w * READABLE}px`;
  else if (frame) svg.style.height = `${Math.min(Math.max(420, window.innerHeight - 290), h * within(frame.clientWidth / w, READABLE, LARGEST))}px`;
  const box = svg.getBoundingClientRect(), ratio = box.height / box.width;
  const wide = Math.max(w, h / ratio, box.width / LARGEST);
  return { w, h, box, ratio, whole: { x: (w - wide) / 2, y: (h - wide * ratio) / 2, w: wide } };
}

/** Return what is in view. @param {ReturnType<typeof measure>} size @returns {View} */
function shown({ w, h, box, ratio, whole }) {
  if (view || !large) return view ?? whole;
  const wide = Math.min(whole.w, box.width / READABLE);  // at first, the text can be read
  return { x: Math.min((w - wide) / 2, 0), y: Math.min((h - wide * ratio) / 2, 0), w: wide };
}

function draw() {
  const svg = picture();
  if (!svg || !frame) return;
  const size = measure(svg), now = shown(size);
  if (!size.box.width) return;  // not on the screen yet
  svg.setAttribute("viewBox", `${now.x} ${now.y} ${now.w} ${now.w * size.ratio}`);
  for (const [name, px] of Object.entries(SIZES)) svg.classList.toggle(name, (px * size.box.width) / now.w < LEAST_PX);
  frame.classList.toggle("closer", now.w < size.whole.w - 1);
}

/** Show another part; its middle stays in the picture. @param {View} next */
function go(next) {
  const svg = picture();
  if (!svg) return;
  const { w, h, ratio } = measure(svg), half = next.w / 2;
  view = { w: next.w, x: within(next.x, -half, w - half), y: within(next.y, -half * ratio, h - half * ratio) };
  draw();
}

/** Zoom around a point of the window; return false when nothing changes. @param {number} factor @param {{ clientX: number, clientY: number }} [at] */
function zoom(factor, at) {
  const svg = picture();
  if (!svg) return false;
  const size = measure(svg), { box, ratio } = size, now = shown(size);
  const w = within(now.w / factor, box.width / CLOSEST, Math.max(size.whole.w, now.w));
  const right = at ? (at.clientX - box.left) / box.width : 0.5, down = at ? (at.clientY - box.top) / box.height : 0.5;
  if (Math.abs(w - now.w) < 0.5) return false;
  go({ x: now.x + right * (now.w - w), y: now.y + down * (now.w - w) * ratio, w });
  return true;
}

/** Move the picture by pixels of the window. @param {number} x @param {number} y */
function move(x, y) {
  const svg = picture();
  if (!svg) return;
  const size = measure(svg), now = shown(size), each = now.w / size.box.width;
  go({ x: now.x - x * each, y: now.y - y * each, w: now.w });
}

function whole() {
  const svg = picture();
  if (svg) view = large ? measure(svg).whole : null;
  draw();
}

const DOES = /** @type {Record<string, () => unknown>} */ ({ larger: () => zoom(STEP), smaller: () => zoom(1 / STEP), left: () => move(PAN, 0), right: () => move(-PAN, 0), up: () => move(0, PAN), down: () => move(0, -PAN), whole, "+": () => zoom(STEP), "=": () => zoom(STEP), "-": () => zoom(1 / STEP), 0: whole });
const cardAt = (/** @type {EventTarget | null} */ place) => place instanceof Element ? /** @type {SVGGraphicsElement | null} */ (place.closest("#picture > svg > :is(a, g)")) : null;

/** Dim what is not related to a card. @param {Element | null} place */
function point(place) {
  const svg = picture(), card = place?.id ? place : null;
  for (const one of svg?.querySelectorAll(".near") ?? []) one.classList.remove("near");
  svg?.classList.toggle("dims", Boolean(card && svg.querySelector(".l, .h")));
  card?.classList.add("near");
  for (const line of card ? svg?.querySelectorAll(`.k${card.id.slice(1)}`) ?? [] : []) {
    line.classList.add("near");
    for (const end of line.classList) if (/^k\d/.test(end)) svg?.querySelector(`#c${end.slice(1)}`)?.classList.add("near");
  }
}

/** Return the middle and the box of a card, in pixels of the picture. @param {SVGGraphicsElement} card */
function place(card) {
  const box = card.getBBox(), moved = card.transform.baseVal.consolidate()?.matrix;
  const x = box.x + (moved?.e ?? 0), y = box.y + (moved?.f ?? 0);
  return { x, y, right: x + box.width, below: y + box.height, middle: [x + box.width / 2, y + box.height / 2] };
}

/** Bring a card with the focus into view. @param {SVGGraphicsElement} card */
function reveal(card) {
  const svg = picture();
  if (!svg || !(view || large)) return;
  const size = measure(svg), now = shown(size), tall = now.w * size.ratio, at = place(card);
  const inside = at.x >= now.x && at.y >= now.y && at.right <= now.x + now.w && at.below <= now.y + tall;
  if (!inside) go({ x: at.middle[0] - now.w / 2, y: at.middle[1] - tall / 2, w: now.w });
}

/** Focus the nearest card in a direction. @param {SVGGraphicsElement} from @param {[number, number]} way */
function step(from, [right, down]) {
  const [x, y] = place(from).middle;
  let best = null, least = Infinity;
  for (const card of /** @type {NodeListOf<SVGAElement>} */ (picture()?.querySelectorAll(":scope > a") ?? [])) {
    const [otherX, otherY] = place(card).middle;
    const along = (otherX - x) * right + (otherY - y) * down, across = Math.abs((otherX - x) * down + (otherY - y) * right);
    if (along > 1 && along + 2 * across < least) { best = card; least = along + 2 * across; }
  }
  best?.focus({ preventScroll: large });
}

if (frame && tools && picture()) {
  tools.hidden = false;
  frame.classList.toggle("zooms", large);
  tools.addEventListener("click", (event) => { if (event.target instanceof HTMLElement) DOES[event.target.dataset.do ?? ""]?.(); });
  frame.addEventListener("wheel", (event) => {
    if ((large || event.ctrlKey) && zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : event.ctrlKey ? 0.005 : 0.0015)), event)) event.preventDefault();
  }, { passive: false });
  frame.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const way = WAYS[event.key], card = cardAt(event.target), act = DOES[event.key];
    if (!way && !act || way && !card && !large && !view) return;
    event.preventDefault();
    if (!way) act(); else if (card) step(card, way); else move(-60 * way[0], -60 * way[1]);
  });
  frame.addEventListener("focusin", (event) => { const card = cardAt(event.target); point(card); if (card) reveal(card); });
  frame.addEventListener("focusout", () => point(null));
  frame.addEventListener("pointerover", (event) => { if (!drag) point(cardAt(event.target) ?? cardAt(document.activeElement)); });
  frame.addEventListener("pointerleave", () => point(cardAt(document.activeElement)));
  frame.addEventListener("dragstart", (event) => event.preventDefault());
  frame.addEventListener("pointerdown", (event) => { if (event.button === 0 && (view || large) && (event.pointerType !== "touch" || frame.classList.contains("closer"))) drag = { x: event.clientX, y: event.clientY }; });
  frame.addEventListener("pointermove", (event) => {
    if (!drag || !frame.classList.contains("moved") && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 5) return;
    if (!frame.classList.contains("moved")) { frame.classList.add("moved"); frame.setPointerCapture(event.pointerId); }
    move(event.clientX - drag.x, event.clientY - drag.y);
    drag = { x: event.clientX, y: event.clientY };
  });
  for (const end of ["pointerup", "pointercancel"]) frame.addEventListener(end, () => { drag = null; window.setTimeout(() => frame.classList.remove("moved")); });
  frame.addEventListener("click", (event) => { if (frame.classList.contains("moved")) event.preventDefault(); }, true);
  new MutationObserver(() => { draw(); point(cardAt(document.activeElement)); }).observe(frame, { childList: true });
  new ResizeObserver(draw).observe(frame);
}
