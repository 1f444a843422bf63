// The ratio of every shape: a map over (m, n) for each k. A cell leads to its shape's page.

const kManyMaps = 24;
const kLimits = [1.05, 1.1, 1.25, 1.5, 2, 3, 4, 8];

// The ratio at which a colour is full: nineteen in twenty cells lie within.
function colourLimit(speedUps) {
  const distances = speedUps.map((s) => Math.abs(Math.log(s.ratio))).sort(d3.ascending);
  const wanted = Math.exp(d3.quantile(distances, 0.95));
  return kLimits.find((limit) => limit >= wanted) || kLimits[kLimits.length - 1];
}

// Small differences from 1 get more than their share of the colour, or a loss of 5 % beside gains of 80 % were invisible.
function colourOf(ratio, limit) {
  const strength = Math.min(1, Math.abs(Math.log(ratio)) / Math.log(limit)) ** 0.65;
  const percent = Math.round(100 * strength);
  return {
    fill: `color-mix(in oklab, var(--${ratio >= 1 ? "faster" : "slower"}) ${percent}%, var(--even))`,
    isStrong: percent >= 66,
  };
}

function drawColourKey(into, limit) {
  const key = d3.select(into).append("p").attr("class", "key");
  key.append("span").text(`slower, ${(1 / limit).toFixed(2)}x and less`);
  const steps = d3.range(-6, 7).map((step) => limit ** (step / 6));
  key.append("span").attr("class", "strip").selectAll("i").data(steps).join("i")
    .style("background", (ratio) => colourOf(ratio, limit).fill).attr("data-tip", ratioText)
    .text((ratio) => ratio === 1 ? "1x" : null);
  key.append("span").text(`${limit}x and more, faster`);
  const even = key.append("span").attr("class", "aside");
  even.append("i").attr("class", "hole");
  even.append("span").text("not measured");
}

function drawCell(cell, speedUp, {width, height, limit}) {
  const colour = colourOf(speedUp.ratio, limit);
  const anchor = cell.append("a").attr("href", `#${speedUp.shape.name}`)
    .attr("data-tip", `${speedUp.shape.name} (${speedUp.shape.shapeClass}), ${view.mode}\n` +
      `${speedUpText(speedUp)}\n${verdictText(speedUp)}`);
  anchor.append("rect").attr("width", width - 1).attr("height", height - 1).style("fill", colour.fill);
  if (width < 25) return;
  anchor.append("text").attr("x", width / 2 - 0.5).attr("y", height / 2).classed("strong", colour.isStrong)
    .text(speedUp.ratio.toFixed(2));
}

function drawHeatMap(into, k, speedUps, limit) {
  const panel = d3.select(into).append("figure").attr("class", "map");
  panel.append("figcaption").text(`k = ${k}`);
  const place = panel.append("div").node();
  const ms = [...new Set(speedUps.map((s) => s.shape.m))].sort(d3.ascending);
  const ns = [...new Set(speedUps.map((s) => s.shape.n))].sort(d3.ascending);
  const margin = {top: 2, right: 2, bottom: 34, left: 56};
  const width = clamp((place.clientWidth - margin.left - margin.right) / ns.length, [8, 64]);
  const height = clamp(width * 0.7, [14, 26]);
  const chart = newChart(place, {width: margin.left + margin.right + width * ns.length,
                                 height: margin.top + margin.bottom + height * ms.length, margin,
                                 label: `speed-up over m and n for k = ${k}`});
  const x = new Map(ns.map((n, i) => [n, i * width])), y = new Map(ms.map((m, i) => [m, i * height]));
  const holes = d3.cross(ms, ns);
  chart.inner.selectAll("rect.hole").data(holes).join("rect").attr("class", "hole")
    .attr("x", ([, n]) => x.get(n)).attr("y", ([m]) => y.get(m)).attr("width", width - 1).attr("height", height - 1);
  for (const speedUp of speedUps) {
    const cell = chart.inner.append("g")
      .attr("transform", `translate(${x.get(speedUp.shape.n)},${y.get(speedUp.shape.m)})`);
    drawCell(cell, speedUp, {width, height, limit});
  }
  const labels = chart.inner.append("g").attr("class", "labels");
  labels.selectAll("text.m").data(ms).join("text").attr("class", "m").attr("x", -6)
    .attr("y", (m) => y.get(m) + height / 2).text(String);
  const every = Math.ceil(35 / width);
  labels.selectAll("text.n").data(ns.filter((n, i) => i % every === 0)).join("text").attr("class", "n")
    .attr("x", (n) => x.get(n) + width / 2).attr("y", height * ms.length + 10).text(String);
  labels.append("text").attr("class", "title").attr("x", width * ns.length / 2).attr("y", height * ms.length + 27).text("n");
  labels.append("text").attr("class", "title").attr("transform", `translate(-48,${height * ms.length / 2}) rotate(-90)`).text("m");
}

function drawHeatMaps(body) {
  if (!isCompared) return missing(body, `No speed-ups to draw: ${data.not_compared}.`);
  const speedUps = speedUpsOf(view.mode, view.row);
  if (speedUps.length === 0) return missing(body, lackOfRowText());
  note(body, `${whoOver(view.row)} on ${view.mode}. A cell is a shape, a click opens it.`);
  const limit = colourLimit(speedUps);
  drawColourKey(body, limit);
  const byK = d3.nest().key((s) => s.shape.k).sortKeys((a, b) => a - b).entries(speedUps);
  const maps = d3.select(body).append("div").attr("class", "maps").node();
  for (const {key, values} of byK.slice(0, kManyMaps)) drawHeatMap(maps, key, values, limit);
  if (byK.length > kManyMaps)
    missing(body, `${byK.length - kManyMaps} more values of k have no map here; their shapes stand under Shapes.`);
}
addSection("heat", "Heat maps", drawHeatMaps, true);
