// Steps: round k solved, round k priced, round k + 1 solved, …; the rest of the page follows from the step.

const STEP_SECONDS = { solve: 1.9, price: 2.4 };
const MOVE_SECONDS = 0.55;
const NAMES = ["cutting_stock", "lpboost", "regression"];
const find = (id) => document.getElementById(id);
const scenes = NAMES.map((name) => prepare(JSON.parse(find(`scene-${name}`).textContent)));
const still = matchMedia("(prefers-reduced-motion: reduce)");
const page = { scene: scenes[0], step: 0, shown: null, frame: 0, timer: 0 };

/** All that is drawn at a step. */
function viewOf(scene, step) {
  const round = Math.floor(step / 2), priced = step % 2 === 1, now = scene.rounds[round];
  const duals = Float64Array.from(now.duals), coef = new Float64Array(scene.n_columns);
  for (const [j, weight] of now.coef) coef[j] = weight;
  const worths = scene.values.map((column) => column.reduce((sum, value, i) => sum + value * duals[i], 0));
  const most = Math.max(...worths.map(Math.abs));
  const proven = priced ? now : scene.rounds[round - 1];
  return {
    round, priced, now, duals, coef,
    before: scene.rounds[round - 1],
    last: priced && round === scene.rounds.length - 1,
    best: now.best,
    entered: priced || round === 0 ? -1 : scene.rounds[round - 1].best,
    listed: now.coef.map(([j]) => j),
    known: new Set(now.coef.map(([j]) => j)),
    worth: priced ? Float64Array.from(worths) : new Float64Array(scene.n_columns),
    scale: Math.max(1.5, 1.12 * most),
    bound: proven ? proven.bound : null,
  };
}

/** A view on the way from one to another. */
function between(from, to, share) {
  const mix = (a, b) => b.map((value, i) => a[i] + share * (value - a[i]));
  return {
    ...to,
    duals: mix(from.duals, to.duals), coef: mix(from.coef, to.coef), worth: mix(from.worth, to.worth),
    scale: from.scale + share * (to.scale - from.scale),
  };
}

function draw(view) {
  const { scene } = page, place = (id) => find(id).querySelector(".chart");
  scene.model(place("model"), view);
  drawDuals(place("duals"), scene, view);
  drawWorths(place("worths"), scene, view);
  drawGap(place("gap"), scene, view);
  page.shown = view;
}

/** What happens in a step, in words. */
function textOf(scene, view) {
  const { now, round } = view, head = `<b>Round ${round}.</b>`;
  if (!view.priced) return `${head} ${scene.solved(view)}`;
  if (view.last) {
    return `${head} All ${scene.n_columns} columns are priced, and ${BEST("none is worth more than the 1 that it costs")}. So none can help, whether it was ever generated or not:
      ${OBJECTIVE(digits(now.objective))}${scene.unit} is the optimum over all columns, found with ${now.coef.length} of them, and the bound is ${BOUND(digits(now.bound))}.${scene.last(view)}`;
  }
  const worth = Math.abs(now.worth), sign = now.worth < 0 ? ", with a negative weight" : "";
  const here = now.objective / worth;
  const kept = now.bound > here + 1e-6 ? `; an earlier round proved ${BOUND(digits(now.bound))}, which stays` : "";
  const proof = now.bound > here + 1e-6 ? digits(here) : BOUND(digits(here));
  return `${head} All ${scene.n_columns} columns are priced at these duals. The best, ${BEST(scene.column(now.best))}, is worth ${BEST(digits(worth))} and costs 1: it enters${sign}.
    The bound: objective ÷ worth = ${digits(now.objective)} ÷ ${digits(worth)} = ${proof}${kept}. ${scene.below}`;
}

function boundText(scene, view) {
  const { now } = view;
  const numbers = view.priced ? ` Here: ${digits(now.objective)} ÷ ${digits(Math.max(1, Math.abs(now.worth)))} = ${digits(now.objective / Math.max(1, Math.abs(now.worth)))}.` : "";
  return `Divide all duals by the worth of the best column. Now no column is worth more than it costs, and for such duals theory says: the problem with <em>all</em> columns cannot cost less than they add up to, which is objective ÷ worth.${numbers} The best bound so far is kept; when the best column is worth just 1, bound and objective meet.`;
}

function write(view) {
  const { scene } = page, { now } = view;
  find("text").innerHTML = textOf(scene, view);
  find("objective").textContent = digits(now.objective);
  find("bound").textContent = view.bound === null ? "none yet" : digits(view.bound);
  find("gap-value").textContent = view.bound === null ? "–" : percent(view.priced ? now.gap : (now.objective - view.bound) / now.objective);
  find("seal").hidden = !view.last;
  find("what-dual").textContent = scene.whatDual;
  find("why-column").textContent = scene.whyColumn;
  find("what-bound").innerHTML = boundText(scene, view);
  find("next").textContent = view.last ? "Start again" : view.priced ? "Let the best enter" : "Price the columns";
  find("first").disabled = find("back").disabled = page.step === 0;
  find("slider").value = page.step;
  find("place").textContent = `Step ${page.step + 1} of ${2 * scene.rounds.length}`;
  find("slider").setAttribute("aria-valuetext", `round ${view.round}, ${view.priced ? "columns priced" : "solved"}`);
  for (const item of document.querySelectorAll("#loop li")) {
    const now = view.priced ? ["price"] : view.round ? ["enter", "solve"] : ["solve"];
    item.classList.toggle("now", now.includes(item.dataset.phase));
  }
  [...find("rounds").tBodies[0].rows].forEach((row, i) => row.classList.toggle("now", i === view.round));
  writeNumbers(view);
}

function table(place, caption, head, rows) {
  const cell = (value, i, tag) => `<${tag}${tag === "th" ? ' scope="col"' : ""} class="${i === head.length - 1 ? "words" : ""}">${value}</${tag}>`;
  const row = (values, tag) => `<tr>${values.map((value, i) => cell(value, i, tag)).join("")}</tr>`;
  place.innerHTML = `<caption>${caption}</caption><thead>${row(head, "th")}</thead><tbody>${rows.map((values) => row(values, "td")).join("")}</tbody>`;
}

function writeRounds() {
  const { scene } = page, end = scene.rounds.length - 1;
  table(find("rounds"), "A row for each round: solved, then priced.",
    ["round", "columns", "in use", "objective", "bound", "gap", "worth of the best", "what enters"],
    scene.rounds.map((round, i) => [
      i, round.coef.length, round.coef.filter(([, weight]) => Math.abs(weight) > 1e-9).length, digits(round.objective), digits(round.bound),
      percent(round.gap), digits(Math.abs(round.worth)), i === end ? "nothing: optimal" : scene.column(round.best),
    ]));
}

function writeNumbers(view) {
  const { scene } = page;
  table(find("dual-table"), "Duals", ["row", "dual"], scene.rows.map((name, i) => [name, digits(view.now.duals[i], 6)]));
  table(find("coef-table"), "Coefficients", ["column", "coefficient"], view.now.coef.map(([j, weight]) => [scene.column(j), digits(weight, 6)]));
}

/** Go to a step; what moves, moves for half a second, unless the reader wants no motion. */
function go(step, { animate = true } = {}) {
  page.step = Math.max(0, Math.min(2 * page.scene.rounds.length - 1, step));
  const from = page.shown, to = viewOf(page.scene, page.step), begin = performance.now();
  cancelAnimationFrame(page.frame);
  write(to);
  remember();
  if (!from || !animate || still.matches) { draw(to); return; }
  const frame = (time) => {
    const linear = Math.min(1, Math.max(0, time - begin) / (1000 * MOVE_SECONDS));
    draw(linear < 1 ? between(from, to, linear * linear * (3 - 2 * linear)) : to);
    if (linear < 1) page.frame = requestAnimationFrame(frame);
  };
  page.frame = requestAnimationFrame(frame);
}

function forward() {
  const end = page.step === 2 * page.scene.rounds.length - 1;
  go(end ? 0 : page.step + 1);
}

function play(on) {
  clearTimeout(page.timer);
  page.timer = 0;
  find("play").textContent = on ? "Pause" : "Play";
  find("play").setAttribute("aria-pressed", String(on));
  if (!on) return;
  const tick = () => {
    if (page.step === 2 * page.scene.rounds.length - 1) { play(false); return; }
    go(page.step + 1);
    page.timer = setTimeout(tick, 1000 * STEP_SECONDS[page.step % 2 ? "price" : "solve"]);
  };
  if (page.step === 2 * page.scene.rounds.length - 1) go(0, { animate: false });
  page.timer = setTimeout(tick, 400);
}

function choose(scene, step = 0) {
  play(false);
  Object.assign(page, { scene, shown: null });
  for (const place of document.querySelectorAll(".chart")) place.replaceChildren();
  find("intro").innerHTML = scene.intro;
  find("model").querySelector("figcaption").innerHTML = scene.caption;
  find("model").querySelector(".legend").innerHTML = scene.legend;
  find("duals").querySelector("figcaption").innerHTML = scene.dualCaption;
  find("worths").querySelector("figcaption").innerHTML = scene.worthCaption;
  find("slider").max = 2 * scene.rounds.length - 1;
  find(`choose-${scene.name}`).checked = true;
  writeRounds();
  go(step, { animate: false });
}

/** The address names scene and step, so that a step can be linked. */
function remember() {
  try { history.replaceState(null, "", `#${page.scene.name}/${page.step + 1}`); } catch { /* some file viewers forbid it */ }
}

function fromAddress() {
  const [name, step] = location.hash.slice(1).split("/");
  const scene = scenes.find((one) => one.name === name) ?? scenes[0];
  choose(scene, Math.max(0, Math.floor(Number(step) || 1) - 1));
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.length > 1 && event.target.closest("input, .scroll")) return; // arrows are theirs
  const acts = {
    ArrowRight: () => { play(false); go(page.step + 1); },
    ArrowLeft: () => { play(false); go(page.step - 1); },
    Home: () => { play(false); go(0); },
    End: () => { play(false); go(2 * page.scene.rounds.length - 1); },
    p: () => play(!page.timer),
    1: () => choose(scenes[0]), 2: () => choose(scenes[1]), 3: () => choose(scenes[2]),
  };
  const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

/** Light or dark: what was chosen on the site, else what the system says. */
function theme() {
  let chosen = "auto";
  try { chosen = localStorage.getItem("mode") ?? "auto"; } catch { /* no storage for files */ }
  const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

function begin() {
  theme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { theme(); draw(page.shown); });
  scenes.forEach((scene) => {
    const label = document.createElement("label");
    label.innerHTML = `<input type="radio" name="scene" id="choose-${scene.name}">${scene.title}`;
    label.firstChild.addEventListener("change", () => choose(scene));
    find("scenes").append(label);
  });
  find("first").addEventListener("click", () => { play(false); go(0); });
  find("back").addEventListener("click", () => { play(false); go(page.step - 1); });
  find("next").addEventListener("click", () => { play(false); forward(); });
  find("play").addEventListener("click", () => play(!page.timer));
  find("slider").addEventListener("input", (event) => { play(false); go(Number(event.target.value)); });
  document.addEventListener("keydown", keys);
  addEventListener("hashchange", fromAddress);
  new ResizeObserver(() => { if (page.shown) draw(page.shown); }).observe(find("stage"));
  fromAddress();
}

begin();
