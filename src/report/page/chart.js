// What the figures share: an svg as wide as its place, axes, ticks of ratios, and what the pointer shows.

function newChart(into, {height, margin, label, width = into.clientWidth}) {
  const svg = d3.select(into).append("svg").attr("viewBox", `0 0 ${width} ${height}`)
    .attr("width", width).attr("height", height).attr("role", "img").attr("aria-label", label);
  const inner = svg.append("g").attr("transform", `translate(${margin.left},${margin.top})`);
  return {
    svg, inner,
    width: Math.max(10, width - margin.left - margin.right),
    height: height - margin.top - margin.bottom,
  };
}

// panels: title, tip and className. All are there before the first is drawn, since they share the width.
function newPanels(into, panels) {
  const place = d3.select(into).append("div").attr("class", "panels");
  return panels.map(({title, tip = null, className = ""}) => {
    const figure = place.append("figure").attr("class", `panel ${className}`);
    figure.append("figcaption").text(title).attr("data-tip", tip);
    return figure.append("div").node();
  });
}
const modePanel = (mode) => ({title: mode, tip: kModeMeanings[mode], className: `mode-${mode}`});

function axisBelow(chart, scale, {title, ticks, format = String}) {
  const axis = chart.inner.append("g").attr("class", "axis").attr("transform", `translate(0,${chart.height})`);
  axis.call(d3.axisBottom(scale).tickValues(ticks).tickFormat(format).tickSizeInner(-chart.height).tickPadding(7));
  axis.append("text").attr("class", "title").attr("x", chart.width / 2).attr("y", 36).text(title);
}

function axisLeft(chart, scale, {title, ticks, format = String, offset = 42}) {
  const axis = chart.inner.append("g").attr("class", "axis");
  axis.call(d3.axisLeft(scale).tickValues(ticks).tickFormat(format).tickSizeInner(-chart.width).tickPadding(7));
  axis.append("text").attr("class", "title").attr("transform", `translate(${-offset},${chart.height / 2}) rotate(-90)`)
    .text(title);
}

// Round ratios at least so many pixels apart, 1 first of all.
function ratioTicks(scale, gap) {
  const byRank = [[1], [2, 0.5, 4, 0.25, 8, 16], [1.5, 3, 0.75, 6], [1.25, 1.1, 0.9, 0.8, 1.75, 0.6],
                  [1.2, 1.3, 1.4, 0.7, 2.5, 0.4], [1.05, 0.95, 1.15, 0.85], [1.02, 0.98, 1.01, 0.99]];
  const [low, high] = d3.extent(scale.domain());
  const ticks = [];
  for (const tick of byRank.flat())
    if (tick >= low && tick <= high && ticks.every((other) => Math.abs(scale(tick) - scale(other)) >= gap))
      ticks.push(tick);
  return ticks.sort(d3.ascending);
}
const ratioTickText = (ratio) => `${+ratio.toFixed(2)}x`;

// Holds 1 and all ratios, with some room.
function ratioDomain(ratios) {
  const low = Math.min(1, d3.min(ratios)), high = Math.max(1, d3.max(ratios));
  const room = Math.max(1.01, Math.pow(high / low, 0.03));
  return [low / room, high * room];
}

// 1, 2 and 5 times powers of ten.
function roundTicks(scale) {
  return scale.ticks(10).filter((tick) => ["1", "2", "5"].includes(tick.toExponential()[0]));
}

function lineAtOne(chart, {x, y}) {
  const line = chart.inner.append("line").attr("class", "one");
  if (x) line.attr("x1", x(1)).attr("x2", x(1)).attr("y1", 0).attr("y2", chart.height);
  else line.attr("x1", 0).attr("x2", chart.width).attr("y1", y(1)).attr("y2", y(1));
}

const clamp = (value, [low, high]) => Math.min(Math.max(value, Math.min(low, high)), Math.max(low, high));

// points: x, y, shape, tip and perhaps className. A click leads to the shape's page.
function drawDots(chart, points, className, radius) {
  chart.inner.append("g").attr("class", `dots ${className}`).selectAll("circle").data(points).join("circle")
    .attr("class", (point) => point.className || null)
    .attr("cx", (point) => point.x.toFixed(1)).attr("cy", (point) => point.y.toFixed(1)).attr("r", radius)
    .attr("data-tip", (point) => point.tip).attr("data-shape", (point) => point.shape.name);
}

// items: text and className. Behind each other above a figure.
function drawLegend(into, items) {
  const legend = d3.select(into).append("p").attr("class", "legend");
  for (const item of items) {
    const entry = legend.append("span");
    entry.append("i").attr("class", item.className);
    entry.append("span").text(item.text);
  }
}

function startTips() {
  const tip = document.getElementById("tip");
  const show = (event) => {
    const target = event.target.closest && event.target.closest("[data-tip]");
    tip.hidden = !target;
    if (!target) return;
    tip.textContent = target.dataset.tip;
    const box = target.getBoundingClientRect();
    const left = clamp(box.left + box.width / 2 - tip.offsetWidth / 2, [6, window.innerWidth - tip.offsetWidth - 6]);
    const above = box.top - tip.offsetHeight - 8;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 4 ? above : box.bottom + 8}px`;
  };
  document.addEventListener("pointerover", show);
  document.addEventListener("focusin", show);
  document.addEventListener("scroll", () => { tip.hidden = true; }, true);
  document.addEventListener("click", (event) => {
    const dot = event.target.closest && event.target.closest("circle[data-shape]");
    if (dot) location.hash = dot.dataset.shape;
  });
}
