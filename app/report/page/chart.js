// A figure: lines in one plane, with axes, as SVG. No library, no network.
const colors = 8;
const svgNode = (name, attributes, text) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  return node;
};

function short(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(digits - 1).replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(digits)));
}

/** 1, 2 or 5 times a power of ten; some six of them. Logarithmic: powers of ten. */
function ticks(low, high, log) {
  const list = [];
  if (log) {
    const every = Math.max(1, Math.ceil((high - low) / 6));
    for (let k = Math.ceil(low - 1e-9); k <= high + 1e-9; k += every) list.push(k);
    if (list.length > 1) return list;
    return [low, high];
  }
  const raw = (high - low) / 5, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= raw) || 10);
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k)
    list.push(k * step);
  return list;
}

/** Least and greatest of all numbers, with room; of logarithms where log. */
function span(lists, log) {
  let low = Infinity, high = -Infinity;
  for (const list of lists)
    for (const v of list) {
      if (v === null || (log && v <= 0)) continue;
      const x = log ? Math.log10(v) : v;
      low = Math.min(low, x);
      high = Math.max(high, x);
    }
  if (low > high) return [0, 1];
  if (high - low <= 1e-12 * Math.max(Math.abs(low), Math.abs(high))) {
    const room = low === 0 ? 1 : Math.abs(low) * 0.05;
    return [low - room, high + room];
  }
  return [low, high];
}

/**
 * options: lines [{label, x, y, e?, mean?: {from, value}}], xLabel, yLabel, logX, logY,
 * marks [{name, x}], points: draw points, no lines.
 */
function chart(options) {
  const w = 480, h = 290, left = 70, right = 24, top = 12, bottom = 42;
  const svg = svgNode("svg", {viewBox: `0 0 ${w} ${h}`, role: "img",
                              "aria-label": `${options.yLabel} against ${options.xLabel}`});
  const {logX, logY} = options;
  const [x0, x1] = span(options.lines.map((l) => l.x), logX);
  let [y0, y1] = span(options.lines.map((l) => l.y), logY);
  const room = 0.06 * (y1 - y0);
  y0 -= room;
  y1 += room;
  const px = (x) => left + ((logX ? Math.log10(x) : x) - x0) / (x1 - x0) * (w - left - right);
  const py = (y) => h - bottom - ((logY ? Math.log10(y) : y) - y0) / (y1 - y0) * (h - top - bottom);
  const good = (x, y) => x !== null && y !== null && !(logX && x <= 0) && !(logY && y <= 0);
  axes(svg, {w, h, left, right, top, bottom, x0, x1, y0, y1}, options);
  let end = -Infinity, row = 0;  // of the last name: the next is below it where there is no room
  for (const mark of options.marks || []) {
    const x = px(mark.x);
    if (!(x >= left - 1 && x <= w - right + 1)) continue;
    row = x < end ? row + 1 : 0;
    end = Math.max(end, x + 6 * mark.name.length + 6);
    svg.append(svgNode("line", {class: "mark", x1: x, x2: x, y1: top, y2: h - bottom}));
    svg.append(svgNode("text", {x: x + 3, y: top + 9 + 11 * row, "font-size": 10}, mark.name));
  }
  options.lines.forEach((line, k) => {
    const color = `var(--c${k % colors})`;
    let path = "", pen = false;
    for (let i = 0; i < line.x.length; ++i) {
      if (!good(line.x[i], line.y[i])) {
        pen = false;
        continue;
      }
      const x = px(line.x[i]).toFixed(1), y = py(line.y[i]).toFixed(1);
      path += options.points ? `M${x} ${y}h0` : `${pen ? "L" : "M"}${x} ${y}`;
      pen = true;
      if (!line.e || !line.e[i]) continue;
      const e = line.e[i], low = line.y[i] - e, y1b = py(line.y[i] + e);
      const y2 = logY && low <= 0 ? h - bottom : Math.min(py(low), h - bottom);
      if (y2 - y1b > 2)
        svg.append(svgNode("line", {x1: x, x2: x, y1: y1b, y2, style: `stroke: ${color}`,
                                    opacity: 0.5}));
    }
    svg.append(svgNode("path", {d: path, fill: "none", "stroke-linejoin": "round",
                                "stroke-linecap": "round", style: `stroke: ${color}`,
                                "stroke-width": options.points ? 4 : 1.3}));
    if (line.mean && good(line.mean.from, line.mean.value))
      svg.append(svgNode("line", {class: "mean", x1: px(line.mean.from), x2: w - right,
                                  y1: py(line.mean.value), y2: py(line.mean.value)}));
  });
  return readable(svg, options, {px, py, good, w, left, top});
}

function axes(svg, frame, options) {
  const {w, h, left, right, top, bottom, x0, x1, y0, y1} = frame;
  const text = (value, log) => log ? short(10 ** value, 3) : short(value, 5);
  for (const x of ticks(x0, x1, options.logX)) {
    const at = left + (x - x0) / (x1 - x0) * (w - left - right);
    svg.append(svgNode("line", {class: "grid", x1: at, x2: at, y1: top, y2: h - bottom}));
    svg.append(svgNode("text", {x: at, y: h - bottom + 15, "text-anchor": "middle"},
                       text(x, options.logX)));
  }
  for (const y of ticks(y0, y1, options.logY)) {
    const at = h - bottom - (y - y0) / (y1 - y0) * (h - top - bottom);
    svg.append(svgNode("line", {class: "grid", x1: left, x2: w - right, y1: at, y2: at}));
    svg.append(svgNode("text", {x: left - 5, y: at + 4, "text-anchor": "end"},
                       text(y, options.logY)));
  }
  svg.append(svgNode("path", {class: "axis", d: `M${left} ${top}V${h - bottom}H${w - right}`}));
  svg.append(svgNode("text", {x: (left + w - right) / 2, y: h - 8, "text-anchor": "middle"},
                     options.xLabel));
  const middle = (top + h - bottom) / 2;
  svg.append(svgNode("text", {x: 12, y: middle, "text-anchor": "middle",
                              transform: `rotate(-90 12 ${middle})`}, options.yLabel));
}

/** The point nearest to the pointer, as numbers. */
function readable(svg, options, {px, py, good, w, left, top}) {
  const dot = svgNode("circle", {r: 3.5, fill: "none", class: "axis", visibility: "hidden"});
  const label = svgNode("text", {x: w - 26, y: top + 22, "text-anchor": "end"});
  svg.append(dot, label);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), scale = w / box.width;
    const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
    let best = null, least = 900;
    for (const line of options.lines)
      line.x.forEach((lx, i) => {
        if (!good(lx, line.y[i])) return;
        const d = (px(lx) - x) ** 2 + (py(line.y[i]) - y) ** 2;
        if (d < least) [best, least] = [[lx, line.y[i], line.label, (line.e || [])[i]], d];
      });
    dot.setAttribute("visibility", best ? "visible" : "hidden");
    label.textContent = best ? `${best[2]} ${short(best[0], 6)}, ${
        best[3] ? withError(best[1], best[3]) : short(best[1], 6)}` : "";
    if (!best) return;
    dot.setAttribute("cx", px(best[0]));
    dot.setAttribute("cy", py(best[1]));
  });
  return svg;
}
