// The page, from the data of the run. All text goes in as text, never as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");

function make(name, text, className) {
  const node = document.createElement(name);
  if (text !== undefined && text !== null) node.textContent = text;
  if (className) node.className = className;
  return node;
}
const add = (parent, name, text, className) => {
  const node = make(name, text, className);
  parent.append(node);
  return node;
};
const section = (title) => {
  const node = add(page, "section");
  add(node, "h2", title);
  return node;
};
function table(parent, rows, head, numeric = []) {
  const t = add(add(parent, "div", null, "scroll"), "table");
  const line = (cells, kind) => {
    const tr = add(t, "tr");
    cells.forEach((cell, k) => {
      const td = add(tr, kind, cell, numeric.includes(k) ? "n" : "");
      if (cell && cell.bad) {
        td.textContent = cell.text;
        td.classList.add("bad");
      }
    });
  };
  if (head) line(head, "th");
  rows.forEach((cells) => line(cells, "td"));
  return t;
}

const run = data.runs[0] || {};
let job = {};
try {
  job = JSON.parse(run.job || "{}");
} catch (error) {
  job = {};
}
const reduced = data.runs.length > 0 && (!job.units || job.units === "lj");
const words = (name) => name.replaceAll("_", " ");
const withUnit = (name, unit) => words(name) + (unit ? ` / ${unit}` : "");
const plain = ["bin", "step", "cycles", "histories", "cosine"];
const axis = (a) => withUnit(a.name, a.unit) +
    (!a.unit && reduced && !plain.includes(a.name) ? " (reduced units)" : "");
const counted = {metropolis: "cycles", neutron_slab: "histories"};
const clockOf = (o) => o.clock.name === "step"
    ? {name: counted[((data.stages || [])[0] || {}).type] || "step", unit: ""} : o.clock;

/** "0.7123 ± 0.0012": the error to two digits, the value to the same place. */
function withError(value, error) {
  if (value === null) return "–";
  if (!error) return short(value, 7);
  const digits = 1 - Math.floor(Math.log10(error)), whole = 10 ** -digits;
  if (digits > 12 || Math.abs(value) >= 1e9) return `${short(value, 7)} ± ${short(error, 2)}`;
  const rounded = (x) => Math.round(x / whole) * whole;
  if (digits < 0) return `${rounded(value)} ± ${rounded(error)}`;
  return `${value.toFixed(digits)} ± ${error.toFixed(digits)}`;
}

function showRun() {
  add(page, "h1", job.title || data.folder);
  const standing = add(page, "p", data.standing.text, data.standing.state === "complete" ? "good"
                                                      : data.standing.state === "unknown" ? ""
                                                                                          : "bad");
  standing.id = "standing";
  const s = section("What ran");
  const frame = data.trajectories[0];
  const rows = [["folder", data.folder]];
  if (job.author && job.author !== "N/A") rows.push(["author", job.author]);
  if (frame)
    rows.push(["system", `${frame.particles} particles (${
        frame.types.map((t) => `${t.count} ${t.name}`).join(", ")})`]);
  const types = (list) => (list || []).map((f) => f.type).filter(Boolean).join(", ");
  if (types(job.forces)) rows.push(["forces", types(job.forces)]);
  for (const [name, key] of [["seed", "seed"], ["device", "device"], ["precision", "precision"],
                             ["Perrin", "version"], ["plug-ins", "plugins"]])
    if (run[key]) rows.push([name, run[key]]);
  if (data.runs.length) rows.push(["units", reduced ? "reduced" : JSON.stringify(job.units)]);
  if (run.earlier)
    rows.push(["resumed", `${run.earlier} times with a changed job or on another machine`]);
  table(s, rows);
  if (data.stages.some((t) => t.begin !== null))
    table(s, data.stages.map((t) => [t.name, t.type, t.begin === null ? "" : String(t.begin),
                                     t.steps === null ? "" : String(t.steps)]),
          ["stage", "type", "first step", "steps"], [2, 3]);
  for (const t of data.stages)
    if (t.remark) add(s, "p", `Stage ${t.name}: ${t.remark}.`, "bad");
  for (const other of data.runs.slice(1)) {
    const known = [other.seed && `seed ${other.seed}`, other.version, other.device].filter(Boolean);
    add(s, "p", `Files of another run: ${other.files.join(", ")} (${
        known.join(", ")}).`, "bad");
  }
  if (!data.runs.length)
    add(s, "p", "No file in this folder records its job.", "note");
}

function showResults() {
  const all = data.observables.filter((o) => o.results.length);
  if (!all.length) return;
  const s = section("Results");
  for (const o of all) {
    const clock = clockOf(o).name;
    add(s, "p", `${o.file}: after ${o.last_step} ${clock === "time" ? "steps" : clock}`, "note");
    table(s, o.results.map((r) => [withUnit(r.name, r.unit), withError(r.value, r.error)]),
          ["quantity", "value ± standard error"], [1]);
  }
}

/** Every line of every series: {o, q, line, name}. */
const allLines = () => data.observables.flatMap((o) => o.series.flatMap((q) => q.lines.map(
    (line) => ({o, q, line, name: words(q.name) + (line.label ? ` ${line.label}` : "")}))))
    .filter((l) => l.line.statistics);

function showStatistics() {
  const lines = allLines();
  if (!lines.length) return;
  const s = section("Means");
  // Not the components of vectors and tensors: thermo's momentum is rounding alone.
  const judged = lines.filter((l) => l.line.statistics.verdict !== "constant" &&
                                     !["x", "y", "z"].includes((l.line.label || " ")[0]));
  const level = judged.filter((l) => l.line.statistics.level);
  const verdict = add(s, "p", judged.length === level.length
      ? "All series are stationary; the equilibration time was detected automatically."
      : `${level.length} of ${judged.length} series are stationary; not: ${
          judged.filter((l) => !l.line.statistics.level).map((l) => l.name).join(", ")}.`,
                      judged.length === level.length ? "good" : "bad");
  verdict.id = "verdict";
  const files = new Set(lines.map((l) => l.o.file)).size;
  const rows = lines.map(({o, q, line, name}) => {
    const t = line.statistics, bad = !t.level;
    return [withUnit(name, q.unit), withError(t.mean, t.error), q.stage, String(t.start_step),
            String(t.rows - t.start), short(t.inefficiency, 3), short(t.independent, 3),
            bad ? {bad, text: t.verdict} : t.verdict].concat(files > 1 ? [o.file] : []);
  });
  const made = table(s, rows, ["quantity", "mean ± standard error", "stage", "from step", "rows",
                               "statistical inefficiency", "effective samples", "verdict"]
                         .concat(files > 1 ? ["file"] : []), [1, 3, 4, 5, 6]);
  made.id = "means";
  add(s, "p", "Means of the last stage that has rows. The equilibration time (from step) " +
      "maximises the number of effective samples (Chodera, J. Chem. Theory Comput. 12, 1799 " +
      "(2016)), after initial rows that are more than 5 standard deviations from the second half " +
      "have been discarded. Mean and standard error are those of the remaining rows, by blocking " +
      "(Flyvbjerg, Petersen, J. Chem. Phys. 91, 461 (1989)). A series drifts if its first tenth " +
      "and its second half differ by more than 3 standard errors (Geweke, in Bayesian " +
      "Statistics 4 (1992), 169). Stationary does not mean equilibrated: slow degrees of freedom " +
      "may not have relaxed.", "note");
  showBlocking(s, lines);
}

function showBlocking(s, lines) {
  const shown = lines.filter((l) => l.line.statistics.errors.length > 2 &&
                                    l.line.statistics.errors[0] > 0 && !l.line.label);
  if (!shown.length) return;
  const details = add(s, "details");
  add(details, "summary", "Standard error against block length");
  const figure = add(add(details, "div", null, "figures"), "figure");
  figure.append(chart({
    lines: shown.map(({line, name}) => ({
      label: name, x: line.statistics.errors.map((_, k) => 2 ** k),
      y: line.statistics.errors.map((e) => e / line.statistics.errors[0])})),
    xLabel: "block length / rows", yLabel: "error / error of single rows", logX: true}));
  keys(figure, shown.map((l) => l.name));
}

function keys(figure, names) {
  const caption = add(figure, "figcaption");
  names.forEach((name, k) => {
    const key = add(caption, "span", null, "key");
    add(key, "i").style.background = `var(--c${k % colors})`;
    key.append(name);
  });
}

/** What is not drawn, and has no mean, since it is no number (NaN, infinite) in the file. */
function showNoNumbers(s, o) {
  const none = o.no_numbers.filter((q) => q.rows >= o.rows).map((q) => words(q.name));
  const some = o.no_numbers.filter((q) => q.rows < o.rows)
      .map((q) => `${words(q.name)} (${q.rows} of ${o.rows} rows)`);
  if (some.length)
    add(s, "p", `Rows that are no numbers are left out, and no means are taken over stages with ` +
        `such rows: ${some.join(", ")}.`, "bad");
  if (none.length) add(s, "p", `No row is a number: ${none.join(", ")}.`, "note");
}

function showObservables() {
  for (const o of data.observables) {
    if (!o.series.length && !o.curves.length && !o.no_numbers.length) continue;
    const s = section(o.file), figures = make("div", null, "figures");
    add(s, "p", `${o.rows} rows. Series of more than 600 rows: min/max envelope of 300 bins. ` +
        "Dashed lines: means over the rows used, and first steps of stages.",
        "note");
    showNoNumbers(s, o);
    for (const c of o.curves) showCurve(figures, c);
    const places = o.series.map(() => add(figures, "figure"));
    const draw = (whole) => o.series.forEach((q, k) => showSeries(places[k], o, q, whole));
    draw(false);
    if (o.series.some((q) => q.lines.some((l) => l.last_stage))) s.append(stageChoice(o, draw));
    s.append(figures);
  }
}

/** A button that draws all stages, or the last one alone, whose range others would hide. */
function stageChoice(o, draw) {
  const button = make("button", null, "key");
  let whole = true;
  const turn = () => {
    whole = !whole;
    button.textContent = whole ? `show stage ${o.stage} alone` : "show all stages";
    draw(whole);
  };
  button.addEventListener("click", turn);
  turn();
  return button;
}

function showSeries(figure, o, q, whole) {
  figure.replaceChildren();
  const lines = q.lines.map((l) => ({...l, ...(whole ? {} : l.last_stage),
      mean: q.lines.length > 1 || !l.statistics ? null
          : {from: l.statistics.start_x, value: l.statistics.mean}}));
  figure.append(chart({lines, marks: o.marks, xLabel: axis(clockOf(o)),
                       yLabel: withUnit(q.name, q.unit)}));
  if (q.lines.length > 1) keys(figure, q.lines.map((l) => l.label));
}

function showCurve(figures, c) {
  const figure = add(figures, "figure");
  const positive = c.lines.every((l) => l.y.every((y, k) => y > 0 || !(l.x[k] > 0)));
  const lag = c.axis.name === "lag_time";
  figure.append(chart({lines: c.lines, xLabel: axis(c.axis), yLabel: withUnit(c.name, c.unit),
                       logX: lag, logY: lag && positive, points: c.axis.name === "|k|"}));
  if (c.lines.length > 1) keys(figure, c.lines.map((l) => l.label));
  add(figure, "figcaption", c.what + (c.hidden ? `; ${c.hidden} more curves are not drawn` : ""));
}

function showFrame(t) {
  const s = section(`${[t.file, ...t.also].join(", ")}: ${
      t.frame + 1 === t.frames ? "last" : "last complete"} frame`);
  const all = t.view.shown === t.particles;
  const time = t.time === null || t.time === t.step
      ? "" : `, time ${short(t.time, 7)}${t.units.time ? ` ${t.units.time}` : ""}`;
  add(s, "p", `Frame ${t.frame + 1} of ${t.frames}: step ${t.step}${time}. ${
      all ? `All ${t.particles} particles`
          : `${t.view.shown} of ${t.particles} particles, ${
                t.view.molecules ? "whole molecules " : ""}chosen at random`}${
      t.bonds ? `; ${t.bonds} bonds (bonds across periodic boundaries are not drawn)` : ""}. Box ${
      t.view.edges.map((e, k) => short(Math.hypot(...e), 6)).slice(0, t.view.dimension)
          .join(" × ")}${t.units.length ? ` ${t.units.length}` : ""}. ` +
      "Drag to rotate, scroll to zoom.", "note");
  if (t.skipped) add(s, "p", `A later frame cannot be read: ${t.skipped}`, "bad");
  const figure = add(s, "figure"), canvas = add(figure, "canvas"), row = add(figure, "div");
  const view = new FrameView(canvas, t.view);
  const solvent = t.types.filter((type) => type.solvent).map((type) => type.name);
  if (solvent.length)
    add(s, "p", `Not drawn at first, as solvent (no bonds, more than half of the particles): ${
        solvent.join(", ")}.`, "note");
  t.types.forEach((type, k) => {
    const key = add(row, "button", null, "key");
    add(key, "i").style.background = `var(--c${k % colors})`;
    key.append(`${type.name} (${type.count})`);
    if (type.solvent) view.hidden.add(k);
    key.classList.toggle("off", view.hidden.has(k));
    key.addEventListener("click", () => {
      if (view.hidden.has(k)) view.hidden.delete(k);
      else view.hidden.add(k);
      key.classList.toggle("off", view.hidden.has(k));
      view.later();
    });
  });
  const size = make("input");
  Object.assign(size, {type: "range", min: 0.2, max: 2, step: 0.05, value: 1, title: "size"});
  size.addEventListener("input", () => {
    view.scale = Number(size.value);
    view.later();
  });
  const again = make("button", "reset", "key");
  again.addEventListener("click", () => {
    view.reset();
    view.later();
  });
  if (view.molecule) row.append(colorChoice(view, t), " ");
  row.append(size, " ", again);
  view.draw();
}

/** Chains of one type are told apart by molecule, others by type; a button changes it. */
function colorChoice(view, t) {
  const button = make("button", null, "key");
  const turn = () => {
    view.byMolecule = !view.byMolecule;
    button.textContent = view.byMolecule ? "colour by type" : "colour by molecule";
    view.later();
  };
  view.byMolecule = t.types.filter((type) => type.count > 0 && !type.solvent).length > 1;
  button.addEventListener("click", turn);
  turn();
  return button;
}

function showTimings() {
  const t = data.timings;
  if (!t && data.wall_time === null) return;
  const s = section("Time");
  if (!t) {
    add(s, "p", `${short(data.wall_time, 4)} s from opening the trajectory to its last frame. ` +
        "The timings of the parts of a step are in checkpoints and in perrin.log.");
    return;
  }
  const parts = ["neighbors", "forces", "integration", "output"].map((name) => [name, t[name]]);
  parts.push(["other", Math.max(0, t.total - parts.reduce((sum, p) => sum + p[1], 0))]);
  const made = table(s, parts.map(([name, seconds]) =>
      [name, `${seconds.toFixed(3)} s`, `${(100 * seconds / t.total).toFixed(1)} %`, ""]),
                     ["", "", "", ""], [1, 2]);
  parts.forEach(([, seconds], k) => {
    add(made.rows[k + 1].cells[3], "span", null, "bar").style.width =
        `${Math.round(240 * seconds / t.total)}px`;
  });
  const speed = t.total > 0 ? t.steps / t.total : 0;
  add(s, "p", `${t.steps} steps in ${short(t.total, 5)} s since the last start: ${
      short(speed, 5)} steps/s, ${
      short(1e-6 * speed * t.particles, 4)} million particle steps/s (from ${t.file}).`);
}

function showFiles() {
  const s = section("Files");
  table(s, data.files.map((f) => [f.name, f.bytes < 1e6 ? `${(f.bytes / 1e3).toFixed(1)} kB`
                                                        : `${(f.bytes / 1e6).toFixed(1)} MB`,
                                  f.problem ? {bad: true, text: `${f.kind} ${f.problem}`}
                                            : f.kind]),
        ["file", "size", ""], [1]);
  if (!data.trajectories.length && !data.ensemble)
    add(s, "p", "No trajectory, so no frame is shown.", "note");
  if (run.job) {
    const details = add(s, "details");
    add(details, "summary", data.ensemble ? "The job" : "The job, with all defaults");
    add(details, "pre", Object.keys(job).length ? JSON.stringify(job, null, 2) : run.job);
  }
  add(s, "p", `Written by perrin report (${data.version}), ${
      new Date(1000 * data.made).toISOString().replace("T", " ").slice(0, 16)} UTC, from the ` +
      (data.ensemble ? "files of all systems." : "files in this folder without its subfolders."),
      "note");
}

document.title = `${job.title || data.folder}: Perrin`;
showRun();
if (data.ensemble) {
  showEnsemble();
} else {
  showResults();
  data.trajectories.forEach(showFrame);
  showStatistics();
  showObservables();
  showTimings();
}
showFiles();
page.dataset.done = "yes";
