// Where the times lie under what the device can do: rate over arithmetic intensity, and time over the floor.

// Ours (or the contender) and the library beside it, as far as they were timed on this clock.
function rooflineSeries() {
  const names = isCompared ? [isOfOurs ? "ours_max" : view.row, isOfOurs ? view.row : data.report.against]
                           : Object.keys(data.modes[view.mode].times).filter((name) => name.endsWith("_max")).slice(0, 2);
  const titles = names.map((name) => name === "ours_max" ? "ours" : name);
  return names.map((name, i) => ({
    title: titles[i],
    className: i === 0 ? "first" : "second",
    points: shapes.map((shape) => ({shape, ns: timeNs(view.mode, name, shape)})).filter((point) => point.ns !== null),
  }));
}

function timeTip(series, {shape, ns}) {
  const floor = shape.floorNs === null ? "" : `, ${(ns / shape.floorNs).toFixed(2)} times the floor`;
  return `${shape.name} (${shape.shapeClass}), ${series.title} on ${view.mode}\n` +
    `${timeText(ns)}, ${(shape.flops / ns / 1e3).toFixed(1)} TFLOP/s${floor}\n` +
    `${(shape.flops / shape.bytes).toFixed(1)} FLOP a byte`;
}

function drawRoof(chart, x, y, ceilings) {
  const [low, high] = x.domain();
  const roofs = [
    {name: `memory, ${ceilings.memory_tbs} TB/s`, tbs: ceilings.memory_tbs, className: "memory"},
    {name: `L2, ${ceilings.l2_tbs} TB/s`, tbs: ceilings.l2_tbs, className: "l2"},
  ];
  const peak = ceilings.half_tflops;
  const place = chart.inner.append("g").attr("class", "roofs");
  for (const {name, tbs, className} of roofs) {
    const knee = peak / tbs;
    place.append("path").attr("class", className)
      .attr("d", d3.line()([[x(low), y(low * tbs)], [x(knee), y(peak)], [x(high), y(peak)]]));
    const slope = Math.atan2(y(knee * tbs) - y(low * tbs), x(knee) - x(low)) * 180 / Math.PI;
    const from = low * 1.25;
    place.append("text").attr("transform",
      `translate(${x(from)},${y(from * tbs)}) rotate(${slope}) translate(0,${className === "l2" ? -6 : 13})`).text(name);
  }
  place.append("text").attr("x", chart.width - 4).attr("y", y(peak) - 6).attr("text-anchor", "end")
    .text(`arithmetic, ${peak} TFLOP/s`);
}

function drawRates(place, series, ceilings) {
  const chart = newChart(place, {
    height: 400, margin: {top: 16, right: 12, bottom: 48, left: 62}, label: "roofline"});
  const intensity = (point) => point.shape.flops / point.shape.bytes;
  const rate = (point) => point.shape.flops / point.ns / 1e3;
  const points = series.flatMap((s) => s.points);
  const [lowX, highX] = d3.extent(points, intensity), [lowY, highY] = d3.extent(points, rate);
  const x = d3.scaleLog().domain([lowX / 1.3, Math.max(highX * 1.3, ceilings ? ceilings.half_tflops / ceilings.memory_tbs * 2 : 0)])
    .range([0, chart.width]);
  const y = d3.scaleLog().domain([lowY / 1.5, Math.max(highY, ceilings ? ceilings.half_tflops : 0) * 1.5])
    .range([chart.height, 0]).clamp(true);
  axisBelow(chart, x, {title: "arithmetic intensity, FLOP a byte", ticks: roundTicks(x), format: countText});
  axisLeft(chart, y, {title: "TFLOP/s", ticks: roundTicks(y), format: countText, offset: 48});
  for (const one of series.slice().reverse())
    drawDots(chart, one.points.map((point) => ({
      x: x(intensity(point)), y: y(rate(point)), shape: point.shape, tip: timeTip(one, point),
    })), one.className, 2.6);
  if (ceilings) drawRoof(chart, x, y, ceilings);  // on top: its words cross the dots
}

function drawOverFloor(place, series) {
  const points = series.flatMap((s) => s.points);
  const overFloor = (point) => point.ns / point.shape.floorNs;
  const chart = newChart(place, {
    height: 400, margin: {top: 16, right: 12, bottom: 48, left: 58}, label: "time over the floor"});
  const x = d3.scaleLinear().domain(d3.extent(points, (point) => point.shape.log2)).nice().range([0, chart.width]);
  const y = d3.scaleLog().domain([Math.min(0.95, d3.min(points, overFloor)), d3.max(points, overFloor) * 1.1])
    .range([chart.height, 0]);
  const [low, high] = x.domain();
  axisBelow(chart, x, {title: "log2(m n k)", ticks: d3.range(Math.ceil(low / 2) * 2, high + 1, chart.width < 420 ? 4 : 2)});
  axisLeft(chart, y, {title: "time over the floor", ticks: ratioTicks(y, 26), format: ratioTickText, offset: 46});
  lineAtOne(chart, {y});
  for (const one of series.slice().reverse())
    drawDots(chart, one.points.map((point) => ({
      x: x(point.shape.log2), y: y(overFloor(point)), shape: point.shape, tip: timeTip(one, point),
    })), one.className, 2.6);
}

function drawRoofline(body) {
  const series = rooflineSeries().filter((one) => one.points.length > 0);
  if (series.length === 0) return missing(body, `Nobody of these was timed on ${view.mode}.`);
  note(body, `Times on ${view.mode}. The floor is the largest of three: arithmetic at the device's rate, every operand ` +
    "once through L2 where all fit (else through memory), and 1 µs for a launch. A correct kernel does not come below " +
    "it by much.");
  drawLegend(body, series.map((one) => ({text: one.title, className: `swatch dot ${one.className}`})));
  const titles = ["Rate over arithmetic intensity", "Time over the floor, by size"];
  const places = newPanels(body, titles.slice(0, data.ceilings ? 2 : 1).map((title) => ({title})));
  drawRates(places[0], series, data.ceilings);
  if (data.ceilings) drawOverFloor(places[1], series);
  else missing(body, `What ${data.records.setting.device} can do at most is not known to this program: no roofs and no floor.`);
}
addSection("roofline", "Roofline", drawRoofline, true);
