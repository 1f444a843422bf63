// Figure 3: the ratio by log2(m n k), every shape a dot, and the mean of each bucket as the paper draws it.

function bucketsOf(mode) {
  const figure = data.report.figures.figure_3[mode];
  return figure === undefined || figure[view.row] === undefined ? [] : figure[view.row];
}

// Fewer shapes than on another clock: such means are not of the same shapes.
function isPartOfBucket(bucket) {
  const sameBucket = modes.flatMap((mode) => bucketsOf(mode).filter((other) => other.log2_low === bucket.log2_low));
  return bucket.shapes < d3.max(sameBucket, (other) => other.shapes);
}

// Half the width of a bucket off its edges.
const bucketMiddle = (bucket) => (bucket.log2_low + bucket.log2_high) / 2;

function drawBuckets(chart, x, y, mode, isChosen) {
  const buckets = bucketsOf(mode);
  const at = (bucket) => [x(bucketMiddle(bucket)), y(bucket.mean)];
  const group = chart.inner.append("g").attr("class", `buckets mode-${mode}`).classed("chosen", isChosen);
  group.append("path").attr("d", d3.line()(buckets.map(at)));
  group.selectAll("circle").data(buckets).join("circle").attr("r", isChosen ? 4.5 : 3).classed("part", isPartOfBucket)
    .attr("cx", (bucket) => at(bucket)[0]).attr("cy", (bucket) => at(bucket)[1])
    .attr("data-tip", (bucket) => `${mode}, log2(m n k) from ${bucket.log2_low} to ${bucket.log2_high}: ` +
      `${plural(bucket.shapes, "shape")}\nmean ${ratioText(bucket.mean)}, median ${ratioText(bucket.median)}, ` +
      `geometric mean ${ratioText(bucket.geomean)}`);
  if (!isChosen) return;
  const every = Math.ceil(34 / (x(2) - x(0)));
  group.selectAll("text").data(buckets.filter((bucket, i) => i % every === 0)).join("text").attr("x", (bucket) => at(bucket)[0])
    .attr("y", (bucket) => at(bucket)[1] - 11).text((bucket) => bucket.mean.toFixed(2));
}

function drawBySize(body) {
  if (!isCompared) return missing(body, `No speed-ups to draw: ${data.not_compared}.`);
  const speedUps = speedUpsOf(view.mode, view.row);
  if (speedUps.length === 0) return missing(body, lackOfRowText());
  note(body, `${whoOver(view.row)} on ${view.mode}: a dot a shape, the line joins the means of buckets of two; ` +
    "dashed lines are the other clocks, a hollow circle is a bucket of which a clock has only some shapes. A click on a dot " +
    "opens the shape.");
  drawLegend(body, [
    ...modes.filter((mode) => bucketsOf(mode).length > 0)
      .map((mode) => ({text: `mean, ${mode}`, className: `swatch line mode-${mode}${mode === view.mode ? "" : " dashed"}`})),
    {text: "a faster shape", className: "swatch dot faster"}, {text: "a slower one", className: "swatch dot slower"}]);
  const place = d3.select(body).append("div").attr("class", "plot").node();
  const chart = newChart(place, {height: 400, margin: {top: 16, right: 16, bottom: 48, left: 60},
                                 label: "speed-up by log2(m n k)"});
  const buckets = modes.flatMap(bucketsOf);
  const y = d3.scaleLog().domain(ratioDomain([...speedUps.map((s) => s.ratio), ...buckets.map((bucket) => bucket.mean)]))
    .range([chart.height, 0]);
  const low = Math.min(Math.floor(d3.min(speedUps, (s) => s.shape.log2) / 2) * 2, d3.min(buckets, (bucket) => bucket.log2_low));
  const high = Math.max(Math.floor(d3.max(speedUps, (s) => s.shape.log2) / 2) * 2 + 2,
                        d3.max(buckets, (bucket) => bucket.log2_high));
  const x = d3.scaleLinear().domain([low, high]).range([0, chart.width]);
  axisBelow(chart, x, {title: "log2(m n k)", ticks: d3.range(low, high + 1, chart.width < 420 ? 4 : 2)});
  axisLeft(chart, y, {title: "speed-up", ticks: ratioTicks(y, 26), format: ratioTickText, offset: 48});
  lineAtOne(chart, {y});
  drawDots(chart, speedUps.map((s) => ({
    x: x(s.shape.log2), y: y(s.ratio), shape: s.shape,
    className: s.ratio >= 1 ? "faster" : "slower",
    tip: `${s.shape.name} (${s.shape.shapeClass}), ${view.mode}\n${speedUpText(s)}`,
  })), "", 2.6);
  for (const mode of modes) if (mode !== view.mode) drawBuckets(chart, x, y, mode, false);
  drawBuckets(chart, x, y, view.mode, true);
}
addSection("figure3", "Figure 3", drawBySize, true);
