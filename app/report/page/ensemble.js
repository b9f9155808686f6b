// The page of an ensemble: means of its systems, and replica exchange.

/** "stages[0].integrator.temperature" is "temperature" where no other setting is called so. */
function settingName(name, all) {
  const last = (path) => path.split(".").at(-1);
  return words(all.filter((other) => last(other) === last(name)).length > 1 ? name : last(name));
}

const valueText = (value) => typeof value === "number" ? short(value, 6)
    : typeof value === "string" ? value : JSON.stringify(value);

function showEnsemble() {
  const e = data.ensemble;
  showMeansOfSystems(e);
  if (e.curves.length) showCurvesOfSystems(e);
  if (e.exchange) showExchange(e.exchange);
  if (e.gibbs) showGibbs(e.gibbs);
  showSystems(e);
}

/** Lines of one observable together: {file, name, unit, lines}. */
function observablesOf(e) {
  const list = [];
  for (const q of e.quantities) {
    let of = list.find((o) => o.file === q.file && o.name === q.name);
    if (!of) list.push(of = {file: q.file, name: q.name, unit: q.unit, lines: []});
    of.lines.push(q);
  }
  return list;
}

function showMeansOfSystems(e) {
  const s = section("Means");
  if (!e.quantities.length) {
    add(s, "p", "No table of a system has rows.", "note");
    return;
  }
  const systems = e.systems.length, groups = e.groups.length;
  const plainLines = e.quantities.filter((q) => !q.label);  // no components
  const level = plainLines.reduce((sum, q) => sum + q.level, 0);
  const known = plainLines.reduce((sum, q) => sum + q.systems, 0);
  const verdict = add(s, "p", `${level} of ${known} series of the systems are stationary.`,
                      level === known ? "good" : "");
  verdict.id = "verdict";
  add(s, "p", "Means of each system's last stage, without its equilibration, as the report of a " +
      "system has them." + (groups < systems
          ? " Of systems that differ in their seeds alone: the mean of their means, and its " +
            "standard error from how these differ."
          : " Standard errors by blocking."), "note");
  if (groups === 1) {
    const made = table(s, e.quantities.map((q) => [
      withUnit(q.name, q.unit) + (q.label ? ` ${q.label}` : ""),
      withError(q.mean[0], q.error[0]), String(q.systems), q.file]),
                       ["quantity", "mean ± standard error", "systems", "file"], [1, 2]);
    made.id = "means";
    return;
  }
  const settings = Object.keys(e.groups[0].values);
  const figures = make("div", null, "figures");
  const axes = e.axes.length ? e.axes : [{name: "system", x: e.groups.map((_, k) => k)}];
  const observables = observablesOf(e);
  const places = observables.map(() => add(figures, "figure"));
  const draw = (axis) => observables.forEach((o, k) => showAgainst(places[k], o, axis, settings));
  if (axes.length > 1) s.append(axisChoice(axes, settings, draw));
  draw(axes[0]);
  s.append(figures);
  const details = add(s, "details");
  add(details, "summary", "The same as a table");
  const made = table(details, e.groups.map((g, k) => [
    ...settings.map((name) => valueText(g.values[name])), String(g.systems.length),
    ...plainLines.map((q) => withError(q.mean[k], q.error[k]))]),
                     [...settings.map((name) => settingName(name, settings)), "systems",
                      ...plainLines.map((q) => withUnit(q.name, q.unit))],
                     [...Array(settings.length + 1 + plainLines.length).keys()]);
  made.id = "means";
}

function axisChoice(axes, settings, draw) {
  const row = make("p");
  row.append("against ");
  for (const axis of axes) {
    const button = add(row, "button", settingName(axis.name, settings), "key");
    button.addEventListener("click", () => draw(axis));
  }
  return row;
}

function showAgainst(figure, o, axis, settings) {
  figure.replaceChildren();
  const order = [...axis.x.keys()].sort((a, b) => axis.x[a] - axis.x[b]);
  const x = order.map((k) => axis.x[k]);
  const shared = new Set(x).size < x.length;  // other settings vary as well
  const positive = x.every((v) => v > 0);
  figure.append(chart({
    lines: o.lines.map((q) => ({label: q.label, x, y: order.map((k) => q.mean[k]),
                                e: order.map((k) => q.error[k])})),
    xLabel: axis.name === "system" ? "system" : settingName(axis.name, settings),
    yLabel: withUnit(o.name, o.unit), logX: positive && x.at(-1) / x[0] > 30, points: shared}));
  if (o.lines.length > 1) keys(figure, o.lines.map((q) => q.label));
}

/** Of many things a few, the first and the last among them. */
const someOf = (list, most) => list.length <= most ? list
    : [...Array(most).keys()].map((k) => list[Math.round(k * (list.length - 1) / (most - 1))]);

function showCurvesOfSystems(e) {
  const s = section("Curves");
  const settings = Object.keys(e.groups[0].values);
  const called = (g) => settings.map((name) => `${settingName(name, settings)} ${
      valueText(e.groups[g.group].values[name])}`).join(", ");
  add(s, "p", "Means over the systems that differ in their seeds alone; error bars from how " +
      "these differ, of a single system its own.", "note");
  const figures = add(s, "div", null, "figures");
  for (const c of e.curves) {
    const shown = someOf(c.groups, colors), figure = add(figures, "figure");
    const lag = c.axis.name === "lag_time";
    const positive = shown.every((g) => g.y.every((y, k) => y > 0 || !(g.x[k] > 0)));
    figure.append(chart({
      lines: shown.map((g) => ({label: called(g), x: g.x, y: g.y, e: g.e})), xLabel: axis(c.axis),
      yLabel: withUnit(c.name, c.unit), logX: lag, logY: lag && positive,
      points: c.axis.name === "|k|"}));
    if (shown.length > 1) keys(figure, shown.map(called));
    const systems = shown.map((g) => g.systems);
    const least = Math.min(...systems), most = Math.max(...systems);
    add(figure, "figcaption", [c.label, `${c.file}, means of ${
        least === most ? most : `${least} to ${most}`} systems`,
      shown.length < c.groups.length ? `${shown.length} of ${c.groups.length} settings` : "",
      c.left_out ? `${c.left_out} systems with other bins are left out` : ""]
      .filter((part) => part).join("; "));
  }
}

function showExchange(x) {
  const s = section("Replica exchange");
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const tried = sum(x.tried), accepted = sum(x.accepted);
  const text = add(s, "p", `${x.rows} times, every ${x.every} steps: ${accepted} of ${
      tried} exchanges of neighbours were accepted; ${x.round_trips} round trips of replicas ` +
      "from the first system to the last and back.");
  text.id = "exchange";
  const rate = x.tried.map((n, k) => n > 0 ? x.accepted[k] / n : null);
  const figures = add(s, "div", null, "figures");
  if (rate.length > 1) {
    const figure = add(figures, "figure");
    figure.append(chart({lines: [{label: "", x: [...rate.keys()], y: rate}],
                         xLabel: "first system of the pair", yLabel: "acceptance"}));
  }
  const figure = add(figures, "figure");
  figure.append(chart({lines: x.paths, xLabel: "step", yLabel: "system of the replica"}));
  keys(figure, x.paths.map((l) => l.label));
  const details = add(s, "details");
  add(details, "summary", "Acceptance of each pair");
  table(details, rate.map((r, k) => [`${k} and ${k + 1}`, String(x.tried[k]),
                                     String(x.accepted[k]), r === null ? "–" : r.toFixed(3)]),
        ["systems", "tried", "accepted", "acceptance"], [1, 2, 3]);
}

/** Two systems each that exchange particles and volume. */
function showGibbs(g) {
  const s = section("Gibbs ensemble");
  const said = ([tried, accepted]) =>
    tried > 0 ? `${accepted} of ${tried} (${short(accepted / tried, 3)})` : "–";
  if (g.pairs.length)
    table(s, g.pairs.map((p) => [p.systems.join(" and "), said(p.transfers), said(p.volumes)]),
          ["systems", "transfers accepted", "exchanges of volume accepted"], [1, 2]);
  const figures = add(s, "div", null, "figures");
  for (const kind of ["transfers", "volume", "activity"]) {
    const lines = g.columns.filter((c) => c.name.startsWith(`${kind}_`) &&
                                          !c.name.startsWith("volume_step_")).map((c) => c.line);
    if (!lines.length) continue;
    const figure = add(figures, "figure");
    figure.append(chart({lines, xLabel: "step",
                         yLabel: kind === "activity" ? kind : `${kind}, acceptance`}));
    if (lines.length > 1) keys(figure, lines.map((l) => l.label));
  }
}

function showSystems(e) {
  const s = section("Systems");
  for (const system of e.systems)
    if (system.error) add(s, "p", `System ${system.name} failed: ${system.error}`, "bad");
  const settings = [...new Set(e.systems.flatMap((system) => Object.keys(system.values)))];
  const details = add(s, "details");
  details.open = e.systems.length <= 40;
  add(details, "summary", `${e.systems.length} systems`);
  const made = table(details, e.systems.map((system) => [
    system.name, ...settings.map((name) => valueText(system.values[name])),
    system.state === "failed" ? {bad: true, text: "failed"} : system.state || "not ended", ""]),
                     ["system", ...settings.map((name) => settingName(name, settings)), "state",
                      ""], settings.map((_, k) => k + 1));
  e.systems.forEach((system, k) => {
    if (!system.report) return;
    const link = add([...made.rows[k + 1].cells].at(-1), "a", "report");
    link.href = `./${system.report.split("/").map(encodeURIComponent).join("/")}`;
  });
  if (e.systems.some((system) => !system.report))
    add(s, "p", "perrin report --systems makes the reports of all systems as well.", "note");
}
