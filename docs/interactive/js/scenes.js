// The three scenes: how their columns are made of the data, how the model is drawn, what is said.

const BEST = (text) => `<b class="best">${text}</b>`;
const OBJECTIVE = (text) => `<b class="objective">${text}</b>`;
const BOUND = (text) => `<b class="bound">${text}</b>`;

/** How a column is marked in the round after it has entered. */
const ENTERED = 'stroke="var(--best)" stroke-width="2.4"';

/** A count with its noun. */
const several = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Labels of charts that all scenes share. */
function captions(scene) {
  return {
    duals: (view) => {
      const used = [...view.duals].filter((value) => Math.abs(value) > 1e-9).length;
      return `Duals as bars: ${used} of ${view.duals.length} are not 0. The table below has their values.`;
    },
    worths: (view) => view.priced
      ? `What each of ${scene.n_columns} columns is worth: at most ${digits(Math.abs(view.worth[view.best]), 4)}; each costs 1.`
      : `${scene.n_columns} columns, not priced yet.`,
    gap: (view) => `Objective ${digits(view.now.objective)}, bound ${view.bound === null ? "none yet" : digits(view.bound)}, after ${view.round} rounds.`,
    model: (view) => scene.describe(view),
  };
}

/** ---- cutting stock ---- */

function cuttingStock(scene) {
  const { widths, capacity, patterns } = scene.data;
  const name = (j) => patterns[j].map((count, i) => (count ? `${count}×${widths[i]}` : "")).filter(Boolean).join(" + ");
  Object.assign(scene, {
    title: "Cutting stock",
    values: patterns.map((pattern) => Float64Array.from(pattern)),
    rowNames: widths.map((width) => `${width} cm`),
    rowColor: (row) => `var(--w${row})`,
    groups: [[0, patterns.length, `all ${patterns.length} patterns that fit into ${capacity} cm`]],
    column: name,
    unit: " rolls",
    below: "No plan, of any patterns, needs fewer rolls.",
    intro: `A mill cuts rolls of ${capacity} cm into the widths that customers order: ${widths.map((width, i) => `${scene.target[i]} pieces of ${width} cm`).join(", ")}.
      A <b>column</b> is a pattern, one way to cut a roll. How few rolls will do? Here there are ${patterns.length} patterns; with forty widths there would be millions.`,
    caption: "The plan: patterns so far, and how often each is cut",
    legend: "<b>Grey</b>: what is left of the roll. <b>Faded</b>: known, but no longer cut. <b>Violet frame</b>: the newest; <b>dashed</b>: the one that enters next.",
    dualCaption: "Duals: what one more piece costs <small>in rolls</small>",
    worthCaption: "What each pattern is worth <small>in rolls</small>",
    whatDual: "The price of a piece: by how much the number of rolls would rise if the customer asked for one piece more. The solver returns it with the plan.",
    whyColumn: "At these prices its pieces are worth more than the roll they are cut from, by most. To find it is a knapsack problem: fill one roll with the most valuable pieces. Nobody has to list the patterns for that.",
    describe: (view) => `Plan: ${view.now.coef.filter(([, weight]) => weight > 1e-9).map(([j, weight]) => `${digits(weight, 2)} rolls cut ${name(j)}`).join("; ")}.`,
    solved: (view) => {
      const dear = view.duals.indexOf(Math.max(...view.duals));
      const begin = view.round === 0
        ? `One pattern for each width, to begin with. The best plan with these needs ${OBJECTIVE(`${digits(view.now.objective)} rolls`)}.`
        : `${BEST(name(view.before.best))} has entered, and the plan is made anew: ${OBJECTIVE(`${digits(view.now.objective)} rolls`)} in place of ${digits(view.before.objective)}.`;
      return `${begin} With the plan come the duals: one more piece of ${widths[dear]} cm would cost ${digits(view.duals[dear], 3)} of a roll. Which pattern is worth more than a roll at these prices?`;
    },
    last: (view) => ` A part of a roll cannot be cut: at least ${Math.ceil(view.now.bound - 1e-6)} whole ones are needed.`,
    rows: widths.map((width) => `${width} cm`),
  });
  scene.model = (place, view) => drawPlan(place, scene, view);
}

/** Every pattern as a roll with its pieces; the one that may enter has a dashed frame. */
function drawPlan(place, scene, view) {
  const { widths, capacity, patterns } = scene.data;
  const rows = [...view.listed], entering = view.priced && !view.last ? view.best : -1;
  if (entering >= 0) rows.push(entering);
  const space = 10, left = 66, size = 30;
  chart(place, space * (size + 7) + 2, scene.says.model(view), (width) => {
    const unit = (width - left - 4) / capacity;
    let out = "";
    rows.forEach((j, i) => {
      const y = 4 + i * (size + 7), weight = view.coef[j], isNew = j === entering;
      const faded = !isNew && weight < 0.005 ? 0.35 : 1;
      const label = isNew ? "new" : `${digits(weight, 2)} ×`;
      out += word(left - 8, y + size / 2 + 4, label, `text-anchor="end" class="${isNew ? "best" : "strong"}" opacity="${faded}" data-weight="${j}"`);
      out += bar(left, y, capacity * unit, size, `rx="4" fill="var(--line)" opacity="${faded * 0.7}"`);
      let x = left;
      patterns[j].forEach((count, piece) => {
        for (let k = 0; k < count; k += 1) {
          out += bar(x + 0.7, y, widths[piece] * unit - 1.4, size, `rx="3" fill="var(--w${piece})" opacity="${faded}"`);
          out += word(x + (widths[piece] * unit) / 2, y + size / 2 + 4, widths[piece], `text-anchor="middle" class="piece" opacity="${faded}"`);
          x += widths[piece] * unit;
        }
      });
      if (j === view.entered) out += bar(left - 2, y - 2, capacity * unit + 4, size + 4, `rx="6" fill="none" ${ENTERED}`);
      if (isNew) out += bar(left - 2, y - 2, capacity * unit + 4, size + 4, 'rx="6" fill="none" stroke="var(--best)" stroke-width="2.2" stroke-dasharray="6 4"');
    });
    return out;
  });
}

/** ---- LPBoost in the plane ---- */

function lpboost(scene) {
  const { points, gammas, cost } = scene.data, count = points.length, sizes = ["wide", "narrow"];
  const centre = (j) => points[j % count], gamma = (j) => gammas[Math.floor(j / count)];
  const distance = ([x, y], [u, v]) => (x - u) ** 2 + (y - v) ** 2;
  const bump = (j, point) => Math.exp(-gamma(j) * distance(point, centre(j)));
  const name = (j) => `${sizes[Math.floor(j / count)]} bump at (${centre(j).map((value) => digits(value, 2)).join(", ")})`;
  const order = [...points.keys()].sort((a, b) => scene.target[a] - scene.target[b] || points[a][0] - points[b][0]);
  Object.assign(scene, {
    title: "LPBoost in the plane",
    values: Array.from({ length: scene.n_columns }, (_, j) => Float64Array.from(points, (point) => bump(j, point))),
    order, bump, centre, gamma,
    rowColor: (row) => (scene.target[row] > 0 ? "var(--positive)" : "var(--negative)"),
    groups: [[0, count, "wide bumps"], [count, 2 * count, "narrow bumps"]],
    column: name,
    unit: "",
    below: "No choice of weights, on any of the columns, gets below that.",
    intro: `Two classes of points. A <b>column</b> is a bump, wide or narrow, at one of the ${count} points: ${scene.n_columns} columns. The model is a weighted sum of bumps;
      its sign is the class. The objective is the sum of the |weights| and of the errors Σ max(0, 1 − y·f), so that each unit of a column costs 1 and has to earn it.`,
    caption: "The model and its boundary",
    legend: "<b>Colour</b>: output of the model, 0 on the thick line, ±1 on the thin ones. <b>Size</b> of a point: its dual. <b>Rings</b>: bumps in use, the newest violet. <b>Dashed circle</b>: the bump that enters next.",
    dualCaption: "Duals: how much each point asks for",
    worthCaption: "What each bump is worth <small>|Σ dual × height|</small>",
    whatDual: `How much, and which way, a point is still wrong: 0 for a point that is right by a margin of 1, ±${cost} for one inside the margin or on the wrong side, in between on the margin. In boosting these are the weights of the points.`,
    whyColumn: "It agrees best with what the points ask for: Σ dual × height is the slope of the errors along the bump. A slope steeper than 1 pays for the weight it costs. Two classes of one place cancel each other; a bump where one class asks alone is worth most.",
    describe: (view) => `Points of two classes and the model's boundary; ${wrong(view)} of ${count} points are on the wrong side.`,
    solved: (view) => {
      const asking = [...view.duals].filter((value) => Math.abs(value) > 1e-9).length;
      const begin = view.round === 0
        ? `No column yet: the model is 0 everywhere, every point is wrong by 1, and the objective is ${OBJECTIVE(digits(view.now.objective))}.`
        : `The ${BEST(name(view.before.best))} has entered, and <em>all</em> weights are chosen anew: ${OBJECTIVE(digits(view.now.objective))} in place of ${digits(view.before.objective)}, with ${several(view.now.coef.filter(([, weight]) => weight !== 0).length, "bump")} in use.`;
      return `${begin} ${asking} of ${count} points ask for a change (the large ones); on the wrong side: ${wrong(view) || "none"}. Which bump would serve them best?`;
    },
    last: (view) => ` Training points on the wrong side: ${wrong(view) || "none"}. How it does on new points is another question.`,
    rows: points.map((point, i) => `${scene.target[i] > 0 ? "blue" : "orange"} (${point.map((value) => digits(value, 2)).join(", ")})`),
  });
  const wrong = (view) => (view.round === 0 ? count : view.now.output.filter((value, i) => value * scene.target[i] <= 0).length);
  const xs = points.map(([x]) => x), ys = points.map(([, y]) => y), room = 0.35;
  scene.frame = [Math.min(...xs) - room, Math.max(...xs) + room, Math.min(...ys) - room, Math.max(...ys) + room];
  scene.model = (place, view) => drawPlane(place, scene, view);
}

/** The output of the model at the places of a grid, and its colours on a canvas. */
function drawPlane(place, scene, view) {
  const [left, right, low, high] = scene.frame, { points, cost } = scene.data;
  const width = Math.max(240, place.clientWidth), height = Math.round(width * (high - low) / (right - left));
  const nx = 112, ny = Math.round((nx * height) / width);
  const at = (i, k) => [left + ((right - left) * (i + 0.5)) / nx, high - ((high - low) * (k + 0.5)) / ny];
  const used = [...view.coef.keys()].filter((j) => Math.abs(view.coef[j]) > 1e-9);
  const grid = new Float64Array(nx * ny);
  for (let k = 0; k < ny; k += 1) {
    for (let i = 0; i < nx; i += 1) {
      const point = at(i, k);
      for (const j of used) grid[k * nx + i] += view.coef[j] * scene.bump(j, point);
    }
  }
  shade(place, grid, nx, ny, width, height);
  const px = ([x, y]) => [((x - left) / (right - left)) * width, ((high - y) / (high - low)) * height];
  chart(place, height, scene.says.model(view), () => {
    let out = "";
    for (const [level, look] of [[-1, 'stroke-width="1"'], [1, 'stroke-width="1"'], [0, 'stroke-width="2.6"']]) {
      out += `<path d="${contour(grid, nx, ny, level, width, height)}" fill="none" stroke="var(--text)" ${look} stroke-linecap="round"/>`;
    }
    for (const j of used) {
      const [x, y] = px(scene.centre(j));
      out += `<circle cx="${x}" cy="${y}" r="9.5" fill="none" ${j === view.entered ? ENTERED : 'stroke="var(--text)" stroke-opacity="0.55" stroke-width="1.2"'}/>`;
    }
    points.forEach((point, row) => {
      const [x, y] = px(point), radius = 3 + (3.6 * Math.abs(view.duals[row])) / cost, color = scene.rowColor(row);
      out += scene.target[row] > 0
        ? `<circle cx="${x}" cy="${y}" r="${radius}" fill="${color}" stroke="var(--ground)" stroke-width="1.2"/>`
        : bar(x - radius * 0.9, y - radius * 0.9, radius * 1.8, radius * 1.8, `fill="${color}" stroke="var(--ground)" stroke-width="1.2"`);
    });
    if (view.priced && !view.last) {
      const [x, y] = px(scene.centre(view.best)), reach = (width / (right - left)) / Math.sqrt(2 * scene.gamma(view.best));
      out += `<circle cx="${x}" cy="${y}" r="${reach}" fill="var(--best)" fill-opacity="0.13" stroke="var(--best)" stroke-width="2.4" stroke-dasharray="7 5"/>`;
      out += `<circle cx="${x}" cy="${y}" r="11" fill="none" stroke="var(--best)" stroke-width="3"/>`;
    }
    return `<svg x="0" y="0" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" overflow="hidden">${out}</svg>`;
  });
}

function shade(place, grid, nx, ny, width, height) {
  let canvas = place.querySelector("canvas");
  if (!canvas) {
    canvas = document.createElement("canvas");
    canvas.setAttribute("aria-hidden", "true");
    place.prepend(canvas);
  }
  [canvas.width, canvas.height] = [nx, ny];
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px`, left: 0, top: 0 });
  const look = getComputedStyle(document.documentElement), context = canvas.getContext("2d");
  const color = (name) => look.getPropertyValue(name).split(",").map(Number);
  const [positive, negative] = [color("--field-positive"), color("--field-negative")];
  const image = context.createImageData(nx, ny);
  grid.forEach((value, i) => {
    image.data.set(value > 0 ? positive : negative, 4 * i);
    image.data[4 * i + 3] = 110 * Math.min(1, Math.abs(value) / 1.6);
  });
  context.putImageData(image, 0, 0);
}

/** Marching squares: the lines on which the values of a grid have a level. */
function contour(grid, nx, ny, level, width, height) {
  const x = (i) => ((i + 0.5) * width) / nx, y = (k) => ((k + 0.5) * height) / ny;
  let out = "";
  for (let k = 0; k + 1 < ny; k += 1) {
    for (let i = 0; i + 1 < nx; i += 1) {
      const corners = [[i, k], [i + 1, k], [i + 1, k + 1], [i, k + 1]], cuts = [];
      corners.forEach(([a, b], n) => {
        const [c, d] = corners[(n + 1) % 4], u = grid[b * nx + a] - level, v = grid[d * nx + c] - level;
        if (u > 0 !== v > 0) {
          const share = u / (u - v);
          cuts.push([x(a + share * (c - a)), y(b + share * (d - b))]);
        }
      });
      for (let n = 0; n + 1 < cuts.length; n += 2) out += path([cuts[n], cuts[n + 1]]);
    }
  }
  return out;
}

/** ---- ℓ1 regression ---- */

function regression(scene) {
  const { t, centres, sizes, cost } = scene.data, kinds = [...new Set(sizes)], words = ["narrow", "medium", "wide"];
  const bump = (j, at) => Math.exp(-0.5 * ((at - centres[j]) / sizes[j]) ** 2);
  const name = (j) => `${words[kinds.indexOf(sizes[j])]} bump at ${digits(centres[j], 3)}`;
  const touched = (view) => [...view.duals].filter((value) => Math.abs(value) < cost - 1e-9).length;
  Object.assign(scene, {
    title: "ℓ₁ regression",
    values: Array.from({ length: scene.n_columns }, (_, j) => Float64Array.from(t, (at) => bump(j, at))),
    bump,
    rowColor: (row, value) => (value > 0 ? "var(--positive)" : "var(--negative)"),
    groups: kinds.map((size, i) => [sizes.indexOf(size), sizes.lastIndexOf(size) + 1, words[i]]),
    column: name,
    unit: "",
    below: "No choice of weights, on any of the columns, gets below that.",
    intro: `${t.length} measurements along a line, two of them far off. A <b>column</b> is a bump of one of three widths at some place: ${scene.n_columns} columns. The curve is a weighted sum of bumps;
      the objective is the sum of the |weights| and ${cost} for each unit of distance |y − f|. Both parts are ℓ₁: few bumps, and two wrong measurements that bend nothing.`,
    caption: "The model: a weighted sum of bumps",
    legend: "<b>Thick</b>: the model. <b>Thin</b>: its bumps, the newest violet. <b>Blue</b> measurements pull up, <b>orange</b> ones down; the curve passes through the <b>hollow</b> ones. <b>Dashed</b>: the bump that enters next, on a scale of its own.",
    dualCaption: "Duals: which way each measurement pulls",
    worthCaption: "What each bump is worth <small>|Σ dual × height|</small>",
    whatDual: `Which way a measurement pulls: ${cost} if it lies above the curve, −${cost} below it, however far, and in between if the curve passes through it. That is why a measurement far off has no more say than any other.`,
    whyColumn: "It has most measurements on its side that pull the same way: Σ dual × height is how fast the errors fall as the bump grows. Faster than 1 pays for the weight that it costs.",
    describe: (view) => `Measurements and the curve; it passes through ${touched(view)} of them.`,
    solved: (view) => {
      const begin = view.round === 0
        ? `No column yet: the curve is 0 everywhere, and the objective is ${OBJECTIVE(digits(view.now.objective))}. Every measurement pulls with its full ${cost}.`
        : `The ${BEST(name(view.before.best))} has entered, and <em>all</em> weights are chosen anew: ${OBJECTIVE(digits(view.now.objective))} in place of ${digits(view.before.objective)}. The curve now passes through ${several(touched(view), "measurement")}, with duals between the limits.`;
      return `${begin} Where do neighbours still pull the same way?`;
    },
    last: (view) => ` It uses ${view.now.coef.filter(([, weight]) => weight !== 0).length} bumps of ${scene.n_columns}.`,
    rows: t.map((at, i) => `t = ${digits(at, 3)}, y = ${digits(scene.target[i], 3)}`),
  });
  scene.model = (place, view) => drawCurve(place, scene, view);
}

function drawCurve(place, scene, view) {
  const { t, cost } = scene.data, low = Math.min(...scene.target) - 0.25, high = Math.max(...scene.target) + 0.25;
  const height = Math.max(280, Math.min(372, 0.78 * place.clientWidth)), left = 34, bottom = 24, fine = Array.from({ length: 201 }, (_, i) => i / 200);
  chart(place, height, scene.says.model(view), (width) => {
    const x = (at) => left + (width - left - 6) * at, y = (value) => (height - bottom) * (1 - (value - low) / (high - low));
    const used = [...view.coef.keys()].filter((j) => Math.abs(view.coef[j]) > 1e-9);
    const curve = (weights) => path(fine.map((at) => [x(at), y(weights.reduce((sum, [j, weight]) => sum + weight * scene.bump(j, at), 0))]));
    let out = line(left, y(0), width, y(0));
    for (const level of [-1, 0, 1, 2]) if (level > low && level < high) out += word(left - 8, y(level) + 4, digits(level, 0), 'text-anchor="end"');
    for (const at of [0, 0.5, 1]) out += word(x(at), height - 8, digits(at, 1), `text-anchor="${at === 1 ? "end" : "middle"}"`);
    for (const j of used) out += `<path d="${curve([[j, view.coef[j]]])}" fill="none" ${j === view.entered ? ENTERED : 'stroke="var(--known)" stroke-opacity="0.45" stroke-width="1"'}/>`;
    if (view.priced && !view.last) {
      const sign = Math.sign(view.worth[view.best]);
      out += `<path d="${curve([[view.best, 0.7 * sign]])}" fill="var(--best)" fill-opacity="0.12" stroke="var(--best)" stroke-width="2.4" stroke-dasharray="7 5"/>`;
    }
    out += `<path d="${curve(used.map((j) => [j, view.coef[j]]))}" fill="none" stroke="var(--text)" stroke-width="2.8" data-curve="model"/>`;
    t.forEach((at, row) => {
      const free = Math.abs(view.duals[row]) < cost - 1e-6;
      out += `<circle cx="${x(at).toFixed(1)}" cy="${y(scene.target[row]).toFixed(1)}" r="4.6" fill="${free ? "var(--ground)" : scene.rowColor(row, view.duals[row])}" stroke="${free ? "var(--text)" : "var(--ground)"}" stroke-width="${free ? 2 : 1}"/>`;
    });
    return out;
  });
}

/** Everything that charts need and that follows from a scene's data. */
function prepare(scene) {
  ({ cutting_stock: cuttingStock, lpboost, regression })[scene.name](scene);
  const sizes = scene.rounds.flatMap((round) => round.duals.map(Math.abs));
  scene.dualAxis = {
    order: scene.order ?? [...scene.target.keys()],
    most: scene.data.cost ?? Math.max(...sizes) * 1.12,
    two: Boolean(scene.data.cost),
  };
  scene.says = captions(scene);
  return scene;
}
