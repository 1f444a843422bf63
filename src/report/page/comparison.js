// How soon searches find the fastest of what was recorded: curves and a table of `gemmsmith compare`.

const scoreText = (score) => `${(100 * score).toFixed(1)} %`;
const kScoreTicks = [0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995];

// What is missing to 1, at equal distances for equal factors; 0.3 % and less at the top.
function drawCurves(into, {curves}) {
  const chart = newChart(into, {height: 400, margin: {top: 14, right: 16, bottom: 48, left: 66},
                                label: "best found so far over evaluations"});
  const most = curves[0].mean.length, least = d3.min(curves, (curve) => curve.mean[0]);
  const x = d3.scaleLog().domain([1, most]).range([0, chart.width]);
  const missingPart = d3.scaleLog().domain([1.1 * (1 - least), 0.003]).range([chart.height, 0]).clamp(true);
  const y = (score) => missingPart(Math.max(1 - score, 0.003));
  axisBelow(chart, x, {title: "evaluations", ticks: d3.range(0, Math.log2(most) + 1).map((i) => 2 ** i)});
  axisLeft(chart, missingPart, {title: "best found, of the fastest recorded", offset: 52,
                                ticks: kScoreTicks.filter((score) => score >= least).map((score) => 1 - score),
                                format: (part) => `${+(100 * (1 - part)).toFixed(1)} %`});
  curves.forEach((curve, i) => {
    const steps = curve.mean.map((mean, step) => ({evaluations: step + 1, mean, low: curve.low[step], high: curve.high[step]}));
    const line = chart.inner.append("g").attr("class", `curve curve-${i % 10}`).classed("dashed", i >= 10);
    line.append("path").attr("class", "spread").attr("d", d3.area().x((step) => x(step.evaluations))
      .y0((step) => y(step.low)).y1((step) => y(step.high))(steps));
    line.append("path").attr("class", "line").attr("d", d3.line().x((step) => x(step.evaluations)).y((step) => y(step.mean))(steps));
    line.selectAll("circle").data(steps.filter((step) => Number.isInteger(Math.log2(step.evaluations)))).join("circle")
      .attr("r", 4).attr("cx", (step) => x(step.evaluations)).attr("cy", (step) => y(step.mean))
      .attr("data-tip", (step) => `${curve.name} after ${plural(step.evaluations, "evaluation")}: ${scoreText(step.mean)}\n` +
        `95 % of the repeats: ${scoreText(step.low)} to ${scoreText(step.high)}`);
  });
}

function drawComparison(body) {
  const comparison = data.comparison;
  if (comparison === null)
    return missing(body, "No traces of searches belong to these records; gemmsmith compare makes some.");
  note(body, `Replayed on ${plural(comparison.shapes, "shape")} that training keeps out (${plural(comparison.problems, "problem")}): ` +
    "the time of the fastest recorded plan over that of the best one found so far, mean over problems and repeats; the bands " +
    "hold 95 % of the repeats.");
  drawLegend(body, comparison.curves.map((curve, i) => ({
    text: curve.name, className: `swatch line curve-${i % 10}${i >= 10 ? " dashed" : ""}`})));
  drawCurves(d3.select(body).append("div").attr("class", "plot").node(), comparison);
  drawTable(body, {
    caption: "Best found after so many evaluations",
    columns: [{title: "contender", isNumber: false, text: (curve) => curve.name, value: (curve) => curve.name},
              ...comparison.budgets.map((budget) => ({
                title: String(budget), isNumber: true, text: (curve) => scoreText(curve.mean[budget - 1]),
                value: (curve) => curve.mean[budget - 1]}))],
    rows: comparison.curves,
  });
}
addSection("comparison", "How soon searches find it", drawComparison);
