// @ts-check
// Keeps a page up to date: after each change of the model the page is loaded again, and what differs
// in its pieces is replaced. A stream tells of changes; when other windows have too many streams, the page asks
// every three seconds. Without this module, the page is right whenever it is loaded.

const cut = /** @type {HTMLElement} */ (document.getElementById("cut"));
const trusted = "trustedTypes" in window ? window["trustedTypes"].createPolicy("pieces", { createHTML: (/** @type {string} */ text) => text }) : { createHTML: (/** @type {string} */ text) => text };
const QUIET_MS = 11_000, SILENT_MS = 15_000, TICK_MS = 2_500, FIRST_PAUSE_MS = 1_000, LONGEST_PAUSE_MS = 30_000, POLL_MS = 3_000;
const MOST_STREAMS = 4;  // of all windows: a browser opens six connections to a server, and pages need some

/** @type {EventSource | null} */
let stream = null;
/** Gives the place of this page's stream to another window. @type {((value?: unknown) => void) | null} */
let leave = null;
let asking = false, polls = false, loading = false, again = false, over = false, out = false;
/** When the server was last heard, by a clock that nobody sets, and as the reader's clock said it. */
let heard = performance.now(), live = new Date();
let pause = FIRST_PAUSE_MS, zero = Date.now() - heard;
/** @type {number | undefined} */
let timer;

function hear() {
  heard = performance.now();
  live = new Date();
  out = false;
  tell("");
}

/** Show a text above the page, and let it be read aloud. @param {string} text */
function tell(text) {
  if (text !== cut.textContent) document.dispatchEvent(new CustomEvent("told", { detail: text }));
  cut.textContent = text;
  cut.hidden = !text;
}

/** Show a text with a link. @param {string} text @param {string} href @param {string} label */
function lead(text, href, label) {
  if (cut.firstChild?.textContent === text) return;
  tell(text);
  cut.append(Object.assign(document.createElement("a"), { href, textContent: label }));
}

const SPANS = /** @type {[number, string][]} */ ([[86_400, "d"], [3_600, "h"], [60, "min"], [1, "s"]]);

/** Let the relative times of the page grow older. @param {number} now By the clock of the server, in seconds since 1970. */
function age(now) {
  for (const time of document.querySelectorAll("time[title]")) {
    const past = now - Date.parse(/** @type {HTMLTimeElement} */ (time).dateTime) / 1000, seconds = Math.abs(past);
    const [size, unit] = SPANS.find(([least]) => seconds >= least) ?? [1, ""], span = `${(seconds / size).toFixed()} ${unit}`;
    const told = !unit ? "now" : past > 0 ? `${span} ago` : `in ${span}`;
    if (time.textContent !== told) time.textContent = told;
  }
}

/** What the server sent of each piece: a page may mark the piece itself. @type {Map<string, string>} */
const sent = new Map([...document.querySelectorAll("[data-piece]")].map((piece) => [piece.id, piece.innerHTML]));

/** What tells a node from its neighbours; times grow older in all of them. @param {Node} node */
const key = (node) => node instanceof Element ? node.outerHTML.replace(/<time.*?<\/time>/gs, "") : `#${node.textContent?.trim()}`;

/** Make the children of an element those of another. Those that stay keep their selection, and can be clicked at any time. @param {Element} old @param {Element} fresh */
function patch(old, fresh) {
  const keys = new Map([...old.childNodes, ...fresh.childNodes].map((node) => [/** @type {Node} */ (node), key(node)]));
  const stay = new Set([...fresh.childNodes].map((node) => keys.get(node)));
  stay.delete("#");  // the blanks between rows are all equal
  /** @type {Map<string | undefined, ChildNode[]>} */
  const known = new Map();
  for (const node of old.childNodes) known.set(keys.get(node), [...known.get(keys.get(node)) ?? [], node]);
  known.delete("#");
  let at = old.firstChild;
  for (const next of [...fresh.childNodes]) {
    let same = known.get(keys.get(next))?.shift();
    while (same && at && at !== same && !stay.has(keys.get(at))) { const gone = at; at = at.nextSibling; gone.remove(); }
    if (!same && at?.nodeName === next.nodeName && !stay.has(keys.get(at))) same = at;
    if (same && same === at) at = at.nextSibling; else old.insertBefore(same ?? next, at);
    if (same) become(same, next);
  }
  while (at) { const gone = at; at = at.nextSibling; gone.remove(); }
}

/** @param {Node} old @param {Node} fresh */
function become(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (!(old instanceof Element && fresh instanceof Element)) { old.textContent = fresh.textContent; return; }
  for (const name of old.getAttributeNames()) if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  patch(old, fresh);
}

const named = (/** @type {Element} */ one) => one.getAttribute("href") ?? one.getAttribute("aria-label");

/** Change what differs; keep the focus and the scrolled places. @param {string} text */
function show(text) {
  const fresh = new DOMParser().parseFromString(trusted.createHTML(text), "text/html");
  document.body.dataset.notes = fresh.body.dataset.notes ?? "";
  for (const piece of document.querySelectorAll("[data-piece]")) {
    const next = fresh.getElementById(piece.id);
    if (!next || next.innerHTML === sent.get(piece.id)) continue;
    if (piece.hasAttribute("data-held")) { piece.dispatchEvent(new CustomEvent("held", { detail: next })); continue; }
    sent.set(piece.id, next.innerHTML);
    const focused = piece !== document.activeElement && piece.contains(document.activeElement) ? document.activeElement : null;
    const name = focused && named(focused), left = piece.scrollLeft;
    const atEnd = piece.hasAttribute("data-follow") && window.innerHeight + window.scrollY >= document.body.scrollHeight - 40;
    if (piece.id === "picture") piece.replaceChildren(...document.adoptNode(next).childNodes);  // its module marks it
    else patch(piece, next);
    piece.scrollLeft = left;
    if (focused && !(focused === document.activeElement && named(focused) === name)) {
      const same = [...piece.querySelectorAll("a, [tabindex]")].find((one) => named(one) === name);
      /** @type {HTMLElement} */ (same ?? document.getElementById("main")).focus({ preventScroll: true });
    }
    if (atEnd) window.scrollTo(0, document.body.scrollHeight);
  }
}

async function load() {
  if (loading) { again = true; return; }
  loading = true;
  try {
    do {
      again = false;
      const answer = await fetch(location.href, { headers: { Accept: "text/html", "X-Live": "1" }, signal: AbortSignal.timeout(LONGEST_PAUSE_MS) });
      if (answer.redirected) {  // the page goes on when another tab has logged in
        out = true;
        return lead("Your session is over. ", location.href, "Log in");
      }
      if (answer.status === 404 && answer.headers.has("Cross-Origin-Opener-Policy")) {  // not a proxy's own answer
        over = true;
        end();
        return lead("What this page showed no longer exists. ", "/ui/", "All models");
      }
      if (answer.status === 405) return;  // the answer to a form, which is not made anew
      if (!answer.ok) throw new Error(answer.statusText);  // a busy server: the change is not shown yet
      show(await answer.text());
      hear();
      pause = Math.min(pause, POLL_MS);
    } while (again);
  } catch {
    retry();
  } finally {
    loading = false;
  }
}

function end() {
  stream?.close();
  stream = null;
  leave?.();
  leave = null;
}

function retry() {
  end();
  if (over || document.hidden) return;
  window.clearTimeout(timer);
  timer = window.setTimeout(follow, pause);
}

/** Take one of the places for streams, until `leave` is called; return false when other windows have them all. */
async function take() {
  for (let place = 0; navigator.locks && place < MOST_STREAMS && !leave; place += 1)
    await new Promise((known) => {
      navigator.locks.request(`stream ${place}`, { ifAvailable: true }, (lock) => {
        const held = lock && new Promise((done) => { leave = done; });
        known(null);
        return held;
      }).catch(known);
    });
  return Boolean(leave || !navigator.locks);
}

async function follow() {
  if (stream || asking || over || document.hidden) return;
  asking = true;
  polls = !await take();
  asking = false;
  if (document.hidden) return end();
  if (polls) {
    await load();
    window.clearTimeout(timer);
    timer = window.setTimeout(follow, Math.max(pause, POLL_MS));
    return;
  }
  pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  stream = new EventSource(/** @type {string} */ (document.body.dataset.events));
  stream.onopen = () => { hear(); pause = FIRST_PAUSE_MS; };
  stream.addEventListener("alive", ({ data }) => { hear(); age(Number(data)); });
  stream.addEventListener("change", () => { hear(); void load(); });
  stream.onerror = () => { void load(); retry(); };
}

// A module that cannot go on with what is shown asks for the page anew.
document.addEventListener("stale", () => void load());
// A hidden page has no stream, as browsers open few connections to one server.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) end(); else { heard = performance.now(); void follow(); }
});
// A server that hangs says nothing, and does not close the connection either; nor does one from which a computer
// that slept was cut off. A proxy may keep the stream for itself: then the page asks.
window.setInterval(() => {
  const now = performance.now(), silent = now - heard, slept = Math.abs(Date.now() - now - zero) > SILENT_MS;
  zero = Date.now() - now;
  if (over || out || document.hidden) return;
  if (silent > SILENT_MS) tell(`Not live since ${live.toDateString() === new Date().toDateString() ? live.toLocaleTimeString() : live.toLocaleString()}: the server does not answer.`);
  if (stream && (silent > QUIET_MS || slept)) { void load(); retry(); }
}, TICK_MS);
void follow();
