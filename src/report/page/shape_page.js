// One shape: every contender on every clock, the plans, and the conditions of the races.

function drawFacts(into, facts) {
  const list = d3.select(into).append("dl");
  for (const [name, value] of facts) {
    if (value === null || value === "") continue;
    list.append("dt").text(name);
    list.append("dd").text(value);
  }
}

function drawShapeHead(into, shape) {
  const bar = d3.select(into).append("p").attr("class", "pager");
  bar.append("a").attr("href", "#shapes").text("all shapes");
  const before = shapes[shape.index - 1], after = shapes[shape.index + 1];
  if (before) link(bar.node(), `before: ${before.name}`, before.name);
  if (after) link(bar.node(), `next: ${after.name}`, after.name);
  d3.select(into).append("h2").text(shape.name);
  drawFacts(into, [
    ["class", shape.shapeClass],
    ["arithmetic", `${d3.format(".3s")(shape.flops).replace(/([a-zA-Z])$/, " $1")}FLOP`],
    ["operands and result", bytesText(shape.bytes)],
    ["arithmetic intensity", `${(shape.flops / shape.bytes).toFixed(1)} FLOP a byte`],
    ["floor", shape.floorNs === null ? `unknown for ${data.records.setting.device}` : timeText(shape.floorNs)],
  ]);
}

// Every row that was compared on this shape, a point with its interval.
function drawForest(place, mode, lines, domain) {
  const height = 24, isNarrow = place.clientWidth < 520;
  const chart = newChart(place, {
    height: lines.length * height + 52,
    margin: {top: 4, right: isNarrow ? 60 : 172, bottom: 48, left: 14 + 7 * Math.min(24, d3.max(lines, (line) => line.title.length))},
    label: `speed-ups on ${mode}`,
  });
  const x = d3.scaleLog().domain(domain).range([0, chart.width]);
  axisBelow(chart, x, {title: "speed-up", ticks: ratioTicks(x, 40), format: ratioTickText});
  lineAtOne(chart, {x});
  lines.forEach(({title, speedUp}, i) => {
    const y = (i + 0.5) * height;
    const line = chart.inner.append("g").attr("class", `forest ${verdictClass(speedUp)}`)
      .attr("data-tip", `${title}: ${speedUpText(speedUp)}\n${verdictText(speedUp)}`);
    line.append("text").attr("class", "row-name").attr("x", -9).attr("y", y).text(title);
    if (speedUp.interval)
      line.append("line").attr("x1", x(speedUp.interval[0])).attr("x2", x(speedUp.interval[1]))
        .attr("y1", y).attr("y2", y);
    line.append("circle").attr("cx", x(speedUp.ratio)).attr("cy", y).attr("r", 4);
    line.append("text").attr("class", "row-value").attr("x", chart.width + 8).attr("y", y)
      .text(ratioText(speedUp.ratio) + (speedUp.interval && !isNarrow ? ` (${intervalText(speedUp.interval)})` : ""));
  });
}

function comparedLines(mode, shape) {
  const {rows, same_layout: sameLayout} = data.modes[mode];
  const lines = Object.entries(rows).map(([title, columns]) => ({title, speedUp: speedUpIn(columns, shape)}));
  for (const [name, columns] of Object.entries(sameLayout))
    lines.push({title: `${name} (same layout)`, speedUp: speedUpIn(columns, shape)});
  return lines.filter((line) => line.speedUp !== null);
}

function drawComparisons(into, shape) {
  d3.select(into).append("h3").text("Speed-ups");
  if (!isCompared) return missing(into, `Nothing is compared: ${data.not_compared}.`);
  const byMode = modes.map((mode) => ({mode, lines: comparedLines(mode, shape)})).filter(({lines}) => lines.length > 0);
  if (byMode.length === 0)
    return missing(into, `On this shape ${isOfOurs ? "ours and a baseline" : "a contender and the reference"} were not timed in one race.`);
  note(into, isOfOurs ? "t_baseline / t_ours with its 95 % interval, a panel a clock; hollow: not clear."
                      : `t_${data.report.against} / t_contender with its 95 % interval, a panel a clock; hollow: not clear.`);
  const ends = byMode.flatMap(({lines}) => lines.flatMap(({speedUp}) => [speedUp.ratio, ...(speedUp.interval || [])]));
  const domain = ratioDomain(ends);
  const places = newPanels(into, byMode.map(({mode}) => modePanel(mode)));
  byMode.forEach(({mode, lines}, i) => drawForest(places[i], mode, lines, domain));
  const without = modes.filter((mode) => !byMode.some((one) => one.mode === mode));
  if (without.length > 0) missing(into, `Not compared on this shape: ${without.join(", ")}.`);
}

function timeCell(timing) {
  const [low, high] = timing.interval || [];
  return timing.interval ? `${timeText(timing.medianNs)} (${timeText(low)} to ${timeText(high)})` : timeText(timing.medianNs);
}

// A row a contender, a column a clock.
function drawRunTimes(into, run, shape) {
  const contenders = [...new Set(run.timings.map((timing) => timing.contender))];
  const clocks = data.known_modes.filter((mode) => run.timings.some((timing) => timing.mode === mode));
  const find = (contender, mode) => run.timings.find((t) => t.contender === contender && t.mode === mode);
  const columns = [{title: "contender", text: String, value: String}];
  for (const mode of clocks)
    columns.push({title: mode, isNumber: true,
                  value: (name) => find(name, mode) ? find(name, mode).medianNs : null,
                  text: (name) => find(name, mode) ? timeText(find(name, mode).medianNs) : "–",
                  draw: (cell, name) => {
                    const timing = find(name, mode);
                    cell.textContent = timing ? timeText(timing.medianNs) : "–";
                    if (timing) cell.dataset.tip = `${timeCell(timing)}\nmedian and its 95 % interval, ${plural(timing.samples, "sample")}`;
                    if (timing && timing.interval)
                      d3.select(cell).append("small").text(` ±${(50 * (timing.interval[1] - timing.interval[0]) / timing.medianNs).toFixed(1)} %`);
                  }});
  const clock = data.records.clock;
  const leading = (name) => find(name, clock);
  columns.push({title: `TFLOP/s, ${clock}`, isNumber: true, value: (name) => leading(name) ? -leading(name).medianNs : null,
                text: (name) => leading(name) ? (shape.flops / leading(name).medianNs / 1e3).toFixed(1) : "–"});
  if (shape.floorNs !== null)
    columns.push({title: "over the floor", isNumber: true, value: (name) => leading(name) ? leading(name).medianNs : null,
                  text: (name) => leading(name) ? (leading(name).medianNs / shape.floorNs).toFixed(2) : "–"});
  drawTable(into, {caption: "Times: medians, and half their 95 % interval", columns, rows: contenders});
}

function runTitle({role, layout}) {
  if (role === "baselines") return "The libraries, in a race of their own";
  return role === "ours" ? `Ours in ${layout}, and the race it ran in` : `Ours in ${layout}: the fastest in chains of calls`;
}

function drawRun(into, run, shape) {
  const place = d3.select(into).append("section").attr("class", "run").node();
  d3.select(place).append("h3").text(runTitle(run));
  if (run.subject !== null) d3.select(place).append("pre").text(run.subject);
  drawRunTimes(place, run, shape);
  drawFacts(place, [
    ["recorded", `${run.date}, campaign ${run.campaign}`],
    ["clock of the GPU", run.smClockMhz > 0 ? `${run.smClockMhz} MHz` : "not recorded"],
    ["power", run.powerWatts > 0 ? `${run.powerWatts} W` : "not recorded"],
    ["clocks held down by", run.clockLimits || "nothing that was seen"],
    ["settled windows", run.isSettled ? "yes" : "no"],
    ["discarded batches", String(run.discardedBatches)],
  ]);
  if (run.subject !== null)
    drawFacts(place, [
      ["registers a thread", String(run.registers)],
      ["machine code", `${countText(run.codeBytes)} bytes`],
      ["largest error", `${run.maxAbsError} (of the baselines: ${run.baselineMaxAbsError})`],
      ["relative error", String(run.relativeError)],
    ]);
  if (run.algorithms.length === 0) return;
  const details = d3.select(place).append("details");
  details.append("summary").text("what stood behind the baselines");
  details.append("ul").selectAll("li").data(run.algorithms).join("li").text(String);
}

// On the leading clock, as the search was; the library that is hardest to beat where it is known.
function searchReference(shape) {
  if (modes[0] !== data.records.clock) return null;
  const name = isCompared && isOfOurs ? view.row : "lt_auto_max";
  const ns = timeNs(data.records.clock, name, shape);
  return ns === null ? null : {name, ns};
}

function drawShapeSearches(into, shape) {
  const ofShape = searches.filter((search) => search.shape === shape && search.bests.length > 0);
  d3.select(into).append("h3").text("Search");
  if (ofShape.length === 0) return missing(into, "No candidate of ours was judged on this shape in these records.");
  for (const search of ofShape) {
    note(into, `${search.layout}: ${plural(search.candidates, "candidate")} in the ${data.history.protocol} protocol, ` +
      `best time ${timeText(finalBest(search))}`);
    if (search.candidates >= kFewestCandidates)
      drawSearch(d3.select(into).append("div").attr("class", "plot").node(), search, searchReference(shape));
  }
}

function drawShapePage(into, shape) {
  drawShapeHead(into, shape);
  drawComparisons(into, shape);
  for (const run of runsOf(shape)) drawRun(into, run, shape);
  drawShapeSearches(into, shape);
}
