// Figure 1: how the ratios to each baseline are spread, a panel a mode.

const kSpreadLine = 40;

// The families' faster layouts where there are any, else everybody.
function spreadRows(mode) {
  const rows = Object.keys(data.modes[mode].rows);
  const families = rows.filter((row) => row.endsWith("_max"));
  const chosen = families.length > 0 ? families : rows;
  const alone = rows.filter((row) => !/_(nn|tn|max)$/.test(row) && !chosen.includes(row));
  return [...chosen, ...alone];
}

function drawSpread(chart, x, y, ratios) {
  const sorted = ratios.map((ratio) => clamp(ratio, x.domain())).sort(d3.ascending);
  const at = (share) => x(d3.quantile(sorted, share));
  const bins = d3.histogram().domain([0, chart.width]).thresholds(d3.range(0, chart.width, 6))(sorted.map(x));
  const most = d3.max(bins, (bin) => bin.length);
  const half = (bin) => bin.length / most * kSpreadLine * 0.46;
  chart.inner.append("path").attr("class", "spread").attr("d", d3.area().curve(d3.curveBasis)
    .x((bin) => (bin.x0 + bin.x1) / 2).y0((bin) => y - half(bin)).y1((bin) => y + half(bin))(bins));
  chart.inner.append("line").attr("class", "whisker").attr("x1", at(0.05)).attr("x2", at(0.95)).attr("y1", y).attr("y2", y);
  chart.inner.append("rect").attr("class", "box").attr("x", at(0.25)).attr("width", Math.max(1, at(0.75) - at(0.25)))
    .attr("y", y - 5).attr("height", 10);
  chart.inner.append("line").attr("class", "median").attr("x1", at(0.5)).attr("x2", at(0.5)).attr("y1", y - 8).attr("y2", y + 8);
  chart.inner.append("path").attr("class", "mean").attr("transform", `translate(${x(clamp(d3.mean(ratios), x.domain()))},${y})`)
    .attr("d", d3.symbol().type(d3.symbolDiamond).size(48)());
}

function drawSpreadPanel(into, mode, domain) {
  const panel = d3.select(into).append("figure").attr("class", `panel mode-${mode}`);
  panel.append("figcaption").text(mode).attr("data-tip", kModeMeanings[mode]);
  const rows = spreadRows(mode);
  const place = panel.append("div").node();
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
    const speedUps = speedUpsOf(mode, row);
    const ratios = speedUps.map((s) => s.ratio);
    const wins = ratios.filter((ratio) => ratio > 1).length;
    const line = chart.inner.append("g").attr("data-tip", `${whoOver(row)}, ${mode}: ${plural(ratios.length, "shape")}\n` +
      `mean ${ratioText(d3.mean(ratios))}, median ${ratioText(d3.median(ratios))}, ` +
      `geometric mean ${ratioText(geometricMean(ratios))}\nlowest ${ratioText(d3.min(ratios))}, ` +
      `highest ${ratioText(d3.max(ratios))}, faster on ${wins}`);
    line.append("rect").attr("class", "catch").attr("x", -170).attr("y", y - kSpreadLine / 2)
      .attr("width", chart.width + 236).attr("height", kSpreadLine);
    line.append("text").attr("class", "row-name").attr("x", -9).attr("y", y).text(row);
    line.append("text").attr("class", "row-value").attr("x", chart.width + 8).attr("y", y).text(ratioText(d3.mean(ratios)));
    drawSpread({...chart, inner: line}, x, y, ratios);
  });
}

function drawDistribution(body) {
  if (!isCompared) return missing(body, `No speed-ups to draw: ${data.not_compared}.`);
  note(body, (isOfOurs ? "t_baseline / t_ours: ours over every baseline. " : `t_${data.report.against} / t_contender. `) +
    "Right of 1 is faster. The shape shows where the ratios lie, the bar holds their middle half, the line 5 to 95 %; " +
    "the tick is the median, the diamond and the number at the right the mean.");
  const all = modes.flatMap((mode) => spreadRows(mode).flatMap((row) => speedUpsOf(mode, row).map((s) => s.ratio)));
  const panels = d3.select(body).append("div").attr("class", "panels").node();
  for (const mode of modes) {
    if (spreadRows(mode).length === 0) missing(panels, `On ${mode} no two contenders were timed in one race.`);
    else drawSpreadPanel(panels, mode, ratioDomain(all));
  }
}
addSection("figure1", "Figure 1", drawDistribution);
