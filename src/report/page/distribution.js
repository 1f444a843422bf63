// Figure 1: how the ratios to each baseline are spread, a panel a mode.

const kSpreadLine = 40;

// The families' faster layouts where there are any, else everybody.
function spreadRows(mode) {
  const rows = Object.keys(data.modes[mode].rows);
  const families = rows.filter((row) => row.endsWith("_max"));
  const chosen = families.length > 0 ? families : rows;
  const alone = rows.filter((row) => !/_(nn|tn|col-row|col-col|max)$/.test(row) && !chosen.includes(row));
  return [...chosen, ...alone];
}

// How many lie near each place, smoothed; the most is nearly half a line.
function densityOf(places, width) {
  const step = 6, weights = [1, 2, 3, 4, 3, 2, 1];
  const bins = d3.histogram().domain([-3 * step, width + 3 * step]).thresholds(d3.range(-3 * step, width + 3 * step, step))(places);
  const smooth = bins.map((bin, i) => d3.sum(weights, (weight, j) => weight * (bins[i + j - 3] || []).length));
  const most = d3.max(smooth);
  return bins.map((bin, i) => ({x: (bin.x0 + bin.x1) / 2, half: smooth[i] / most * kSpreadLine * 0.46}));
}

function drawSpread(chart, x, y, ratios) {
  const sorted = ratios.slice().sort(d3.ascending);
  const at = (share) => x(d3.quantile(sorted, share));
  chart.inner.append("path").attr("class", "spread").attr("d", d3.area().curve(d3.curveBasis)
    .x((step) => step.x).y0((step) => y - step.half).y1((step) => y + step.half)(densityOf(sorted.map(x), chart.width)));
  chart.inner.append("line").attr("class", "whisker").attr("x1", at(0.05)).attr("x2", at(0.95)).attr("y1", y).attr("y2", y);
  chart.inner.append("rect").attr("class", "box").attr("x", at(0.25)).attr("width", Math.max(1, at(0.75) - at(0.25)))
    .attr("y", y - 5).attr("height", 10);
  chart.inner.append("line").attr("class", "median").attr("x1", at(0.5)).attr("x2", at(0.5)).attr("y1", y - 8).attr("y2", y + 8);
  chart.inner.append("path").attr("class", "mean").attr("transform", `translate(${x(d3.mean(ratios))},${y})`)
    .attr("d", d3.symbol().type(d3.symbolDiamond).size(48)());
}

function drawSpreadPanel(place, mode, domain) {
  const rows = spreadRows(mode);
  const longest = d3.max(rows, (row) => row.length);
  const chart = newChart(place, {
    height: rows.length * kSpreadLine + 52,
    margin: {top: 4, right: 66, bottom: 48, left: Math.min(170, 14 + longest * 7)},
    label: `spread of the ratios on the ${mode} clock`,
  });
  const x = d3.scaleLog().domain(domain).range([0, chart.width]);
  axisBelow(chart, x, {title: "speed-up", ticks: ratioTicks(x, 44), format: ratioTickText});
  lineAtOne(chart, {x});
  rows.forEach((row, i) => {
    const y = (i + 0.5) * kSpreadLine;
    const ratios = speedUpsOf(mode, row).map((s) => s.ratio), statistics = statisticsOf(mode, row);
    const line = chart.inner.append("g").attr("data-tip", `${whoOver(row)}, ${mode}: ${plural(ratios.length, "shape")}\n` +
      `mean ${ratioText(statistics.mean)}, median ${ratioText(statistics.median)}, ` +
      `geometric mean ${ratioText(statistics.geomean)}\nlowest ${ratioText(statistics.min)}, ` +
      `highest ${ratioText(d3.max(ratios))}, faster on ${countText(statistics.wins)}`);
    line.append("rect").attr("class", "catch").attr("x", -170).attr("y", y - kSpreadLine / 2)
      .attr("width", chart.width + 236).attr("height", kSpreadLine);
    line.append("text").attr("class", "row-name").attr("x", -9).attr("y", y).text(row);
    const isOfAll = ratios.length === shapes.length;
    line.append("text").attr("class", "row-value").attr("x", chart.width + 8).attr("y", isOfAll ? y : y - 6)
      .text(ratioText(statistics.mean));
    if (!isOfAll)
      line.append("text").attr("class", "row-value part").attr("x", chart.width + 8).attr("y", y + 8)
        .text(`of ${countText(ratios.length)}`);
    drawSpread({...chart, inner: line}, x, y, ratios);
  });
}

function drawDistribution(body) {
  if (!isCompared) return missing(body, `No speed-ups to draw: ${data.not_compared}.`);
  note(body, (isOfOurs ? "t_baseline / t_ours: ours over every baseline. " : `t_${data.report.against} / t_contender. `) +
    "Right of 1 is faster. The shape shows where the ratios lie, the bar holds their middle half, the line 5 to 95 %; " +
    "the tick is the median, the diamond and the number at the right the mean; where a row has not all shapes their number " +
    "stands below it, and rows of other shapes are no order.");
  const all = modes.flatMap((mode) => spreadRows(mode).flatMap((row) => speedUpsOf(mode, row).map((s) => s.ratio)));
  const drawn = modes.filter((mode) => spreadRows(mode).length > 0);
  const places = newPanels(body, drawn.map(modePanel));
  drawn.forEach((mode, i) => drawSpreadPanel(places[i], mode, ratioDomain(all)));
  const lacking = modes.filter((mode) => !drawn.includes(mode));
  if (lacking.length > 0) missing(body, lackText(lacking));
}
addSection("figure1", "Figure 1", drawDistribution);
