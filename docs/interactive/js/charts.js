// Charts as SVG text, drawn anew for every frame; sizes are CSS pixels, so that letters stay readable.

/** A number with a real minus sign. */
function digits(value, places = 4) {
  const text = value.toFixed(places);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

function percent(gap) {
  return `${(100 * gap).toFixed(2)} %`;
}

/** Put a chart into its place: `paint(width)` returns the content. */
function chart(place, height, label, paint) {
  const width = Math.max(240, place.clientWidth);
  let svg = place.querySelector("svg");
  if (!svg) {
    svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("role", "img");
    place.append(svg);
  }
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);
  svg.setAttribute("aria-label", label);
  svg.innerHTML = paint(width);
}

function line(x1, y1, x2, y2, attributes = 'class="axis"') {
  return `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" ${attributes}/>`;
}

function word(x, y, text, attributes = "") {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${text}</text>`;
}

function bar(x, y, width, height, attributes) {
  return `<rect x="${x.toFixed(2)}" y="${y.toFixed(3)}" width="${width.toFixed(2)}" height="${Math.max(0, height).toFixed(3)}" ${attributes}/>`;
}

function path(points) {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");
}

/** A bar for every dual, in the order of the scene; the box that holds them as dashed lines. */
function drawDuals(place, scene, view) {
  const { order, most, two } = scene.dualAxis;
  const height = 150, top = 8, bottom = scene.rowNames ? 24 : 12, left = 44;
  const zero = two ? (top + height - bottom) / 2 : height - bottom;
  const unit = (zero - top) / (most * 1.06);
  chart(place, height, scene.says.duals(view), (width) => {
    const step = (width - left) / order.length;
    let out = line(left, zero, width, zero);
    for (const level of two ? [most, -most] : []) {
      out += line(left, zero - unit * level, width, zero - unit * level, 'class="axis" stroke-dasharray="2 4"');
      out += word(left - 6, zero - unit * level + 4, digits(level, 1), 'text-anchor="end"');
    }
    out += word(left - 6, zero + 4, "0", 'text-anchor="end"');
    order.forEach((row, i) => {
      const value = view.duals[row], size = unit * Math.abs(value), thick = Math.min(54, step * 0.72);
      const x = left + (i + 0.5) * step - thick / 2;
      const color = scene.rowColor(row, value);
      out += bar(x, value > 0 ? zero - size : zero, thick, size, `fill="${color}" data-row="${row}" data-sign="${Math.sign(value)}"`);
      if (scene.rowNames) {
        out += word(x + thick / 2, height - 8, scene.rowNames[row], 'text-anchor="middle"');
        out += word(x + thick / 2, zero - size - 4, digits(value, 3), 'text-anchor="middle" class="strong"');
      }
    });
    return out;
  });
}

/** What every column there is is worth, and the line of what it costs. */
function drawWorths(place, scene, view) {
  const height = 170, top = 22, bottom = 24, left = 44, base = height - bottom;
  chart(place, height, scene.says.worths(view), (width) => {
    const count = scene.n_columns, step = (width - left) / count, unit = (base - top) / view.scale;
    const y = (value) => base - unit * value;
    let out = line(left, base, width, base) + word(left - 6, base + 4, "0", 'text-anchor="end"');
    for (let j = 0; j < count; j += 1) {
      const worth = Math.abs(view.worth[j]), best = view.priced && j === view.best;
      let color = worth > 1 + 1e-6 ? "var(--best)" : "var(--idle)", opacity = worth > 1 + 1e-6 ? 0.45 : 1;
      if (view.known.has(j)) [color, opacity] = ["var(--known)", 1];
      if (best && !view.last) [color, opacity] = ["var(--best)", 1];
      out += bar(left + j * step + step * 0.1, y(worth), step * 0.8, base - y(worth), `fill="${color}" fill-opacity="${opacity}" data-column="${j}"`);
    }
    out += line(left, y(1), width, y(1), 'class="limit"');
    out += word(left - 6, y(1) + 4, "cost 1", 'text-anchor="end" class="strong"');
    for (const [from, to, name] of scene.groups) {
      out += word(left + ((from + to) / 2) * step, height - 8, name, 'text-anchor="middle"');
      if (from > 0) out += line(left + from * step, base, left + from * step, base + 8);
    }
    if (view.priced) {
      const x = left + (view.best + 0.5) * step, level = y(Math.abs(view.worth[view.best]));
      const anchor = x > width - 120 ? "end" : x < left + 90 ? "start" : "middle";
      const text = view.last ? "none is worth more than it costs" : `worth ${digits(Math.abs(view.worth[view.best]), 3)}: enters`;
      const place = view.last ? (left + width) / 2 : x;
      out += word(place, Math.min(level, y(1)) - 8, text, `text-anchor="${view.last ? "middle" : anchor}" class="best"`);
      if (!view.last) out += `<circle cx="${x.toFixed(1)}" cy="${level.toFixed(1)}" r="4.5" fill="var(--best)"/>`;
    } else {
      out += word((left + width) / 2, y(1) - 12, "not priced yet", 'text-anchor="middle"');
    }
    return out;
  });
}

/** The objective falls, the bound rises, until they meet. */
function drawGap(place, scene, view) {
  const rounds = scene.rounds, height = place.clientWidth < 360 ? 215 : 165, top = 8, bottom = 26, left = 36, right = 12;
  const most = rounds[0].objective * 1.04, shown = rounds.slice(0, view.round + 1);
  const proven = rounds.slice(0, view.round + (view.priced ? 1 : 0));
  chart(place, height, scene.says.gap(view), (width) => {
    const x = (i) => left + ((width - left - right) * i) / (rounds.length - 1);
    const y = (value) => top + (height - top - bottom) * (1 - value / most);
    const upper = shown.map((round, i) => [x(i), y(round.objective)]);
    const lower = proven.map((round, i) => [x(i), y(round.bound)]);
    let out = line(left, y(0), width - right, y(0));
    const ticks = [0, most / 1.04 / 2, most / 1.04];
    for (const tick of ticks) out += word(left - 6, y(tick) + 4, digits(tick, most > 10 ? 0 : 1), 'text-anchor="end"');
    const every = Math.ceil((rounds.length * 26) / width);
    rounds.forEach((_, i) => {
      if (i % every === 0) out += word(x(i), height - 8, i, 'text-anchor="middle"');
    });
    if (lower.length) {
      const area = path([...upper.slice(0, lower.length), ...[...lower].reverse()]);
      out += `<path d="${area}Z" fill="var(--idle)" fill-opacity="0.28"/>`;
    }
    const curves = [[upper, "objective", "circle"], [lower, "bound", "square"]];
    for (const [points, name, mark] of curves) {
      if (!points.length) continue;
      out += `<path d="${path(points)}" fill="none" stroke="var(--${name})" stroke-width="2.4" data-curve="${name}"/>`;
      for (const [px, py] of points) {
        out += mark === "circle" ? `<circle cx="${px}" cy="${py}" r="3.6" fill="var(--${name})"/>` : bar(px - 3.2, py - 3.2, 6.4, 6.4, `fill="var(--${name})"`);
      }
    }
    const far = (points) => Math.min(points.at(-1)[0] + 8, width - 4);
    const end = view.round > rounds.length * 0.6 ? 'text-anchor="end"' : "";
    out += word(far(upper), Math.max(12, upper.at(-1)[1] - 7), width > 420 ? "objective: columns so far" : "objective", `class="objective" ${end}`);
    if (lower.length) {
      const [, py] = lower.at(-1);
      const below = Math.min(py + 17, y(0) - 5);
      out += word(far(lower), Math.max(below, upper.at(-1)[1] + 14), width > 420 ? "bound: all columns" : "bound", `class="bound" ${end}`);
    }
    return out;
  });
}
