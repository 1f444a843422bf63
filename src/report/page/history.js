// How searches came to their best kernels, in the order in which candidates were judged.

const kFewestCandidates = 3;

let searches = [];
whenRead(() => {
  searches = data.history.shape.map((shape, i) => ({
    shape: shapes[shape],
    layout: data.history.layout[i],
    candidates: data.history.candidates[i],
    bests: data.history.bests[i].map(([candidate, ns]) => ({candidate, ns})),
  }));
});

// The best of the first `candidates`, or null where none of them was timed.
function bestAfter(search, candidates) {
  const after = d3.bisector((best) => best.candidate).right(search.bests, candidates);
  return after === 0 ? null : search.bests[after - 1].ns;
}
const finalBest = (search) => search.bests[search.bests.length - 1].ns;

function outcomesText() {
  return Object.entries(data.history.outcomes).sort((a, b) => b[1] - a[1])
    .map(([kind, count]) => `${countText(count)} ${kind}`).join(", ");
}

// How many times as long the best so far takes as the final best: mean and spread over the searches.
function progressOf(timed) {
  const most = d3.max(timed, (search) => search.candidates);
  const progress = [];
  for (let candidates = 1; candidates <= most; ++candidates) {
    const ratios = timed.map((search) => [bestAfter(search, candidates), finalBest(search)])
      .filter(([ns]) => ns !== null).map(([ns, final]) => ns / final).sort(d3.ascending);
    if (ratios.length === 0) continue;
    progress.push({candidates, problems: ratios.length, mean: Math.exp(d3.mean(ratios, Math.log)),
                   low: d3.quantile(ratios, 0.1), high: d3.quantile(ratios, 0.9)});
  }
  return progress;
}

function drawProgress(into, timed) {
  const progress = progressOf(timed);
  const chart = newChart(into, {height: 320, margin: {top: 14, right: 16, bottom: 48, left: 60},
                                label: "best so far over candidates"});
  const most = progress[progress.length - 1].candidates;
  const x = d3.scaleLinear().domain([1, most]).range([0, chart.width]);
  const y = d3.scaleLog().domain([1, d3.max(progress, (step) => step.high) * 1.03]).range([chart.height, 0]).clamp(true);
  axisBelow(chart, x, {title: "candidates judged", ticks: x.ticks(chart.width / 70).filter(Number.isInteger)});
  axisLeft(chart, y, {title: "best so far over the final best", ticks: ratioTicks(y, 26), format: ratioTickText, offset: 48});
  chart.inner.append("path").attr("class", "band").attr("d", d3.area().curve(d3.curveStepAfter)
    .x((step) => x(step.candidates)).y0((step) => y(step.low)).y1((step) => y(step.high))(progress));
  chart.inner.append("path").attr("class", "course").attr("d", d3.line().curve(d3.curveStepAfter)
    .x((step) => x(step.candidates)).y((step) => y(step.mean))(progress));
  chart.inner.append("g").selectAll("rect").data(progress).join("rect").attr("class", "catch")
    .attr("x", (step) => x(step.candidates - 0.5)).attr("width", Math.max(1, chart.width / most)).attr("height", chart.height)
    .attr("data-tip", (step) => `after ${plural(step.candidates, "candidate")}, ${plural(step.problems, "problem")}\n` +
      `best so far takes ${ratioText(step.mean)} of the final best (one in ten above ${ratioText(step.high)})`);
}

function drawHistory(body) {
  if (searches.length === 0) return missing(body, "These records hold no candidates of ours, so there is no search to draw.");
  const timed = searches.filter((search) => search.bests.length > 0 && search.candidates >= kFewestCandidates);
  const judged = d3.sum(searches, (search) => search.candidates);
  note(body, `${plural(judged, "candidate")} in the ${data.history.protocol} protocol, of which records are here: ${outcomesText()}; ` +
    `${plural(searches.length, "problem")} (a shape in a layout).`);
  if (timed.length === 0)
    return missing(body, `No problem has ${kFewestCandidates} candidates or more in these records, so there is no search to draw.`);
  note(body, "The best time so far over the best at the end, in the order of judging: geometric mean over " +
    `${plural(timed.length, "problem")}; the band holds four in five of them.`);
  drawProgress(d3.select(body).append("div").attr("class", "plot").node(), timed);
}
addSection("search", "Search history", drawHistory);

// One shape's, for its page; the line across is the library's time.
function drawSearch(into, search, reference) {
  const last = finalBest(search);
  const steps = [...search.bests, {candidate: search.candidates, ns: last}];
  const chart = newChart(into, {height: 260, margin: {top: 14, right: 16, bottom: 48, left: 92},
                                label: `best so far, ${search.layout}`});
  const x = d3.scaleLinear().domain([1, Math.max(2, search.candidates)]).range([0, chart.width]);
  const times = [...steps.map((step) => step.ns), ...(reference ? [reference.ns] : [])];
  const y = d3.scaleLinear().domain([d3.min(times) * 0.97, d3.max(times) * 1.03]).range([chart.height, 0]);
  axisBelow(chart, x, {title: "candidates judged", ticks: x.ticks(chart.width / 70).filter(Number.isInteger)});
  axisLeft(chart, y, {title: "best so far", ticks: y.ticks(5), format: timeText, offset: 78});
  if (reference) {
    chart.inner.append("line").attr("class", "reference").attr("x1", 0).attr("x2", chart.width)
      .attr("y1", y(reference.ns)).attr("y2", y(reference.ns));
    chart.inner.append("text").attr("class", "reference").attr("x", chart.width - 4).attr("y", y(reference.ns) - 5)
      .text(reference.name);
  }
  chart.inner.append("path").attr("class", "course").attr("d", d3.line().curve(d3.curveStepAfter)
    .x((step) => x(step.candidate)).y((step) => y(step.ns))(steps));
  chart.inner.append("g").attr("class", "course").selectAll("circle").data(search.bests).join("circle").attr("r", 3.5)
    .attr("cx", (step) => x(step.candidate)).attr("cy", (step) => y(step.ns))
    .attr("data-tip", (step) => `candidate ${step.candidate}: ${timeText(step.ns)}`);
}
