// What the fastest plans have in common: sentences, how numbers follow the problem, which choice wins where, techniques.

const kExtentTexts = {m: "m", n: "n", k: "k", mn: "m n", mnk: "m n k"};
const correlationText = (rho) => rho === null ? "nothing varies" : (rho > 0 ? "+" : "") + rho.toFixed(2);
const percentText = (share) => `${(100 * share).toFixed(0)} %`;

// Full where all winners of a column have the value.
function shareColour(share) {
  return `color-mix(in oklab, var(--faster) ${Math.round(100 * share ** 0.8)}%, var(--even))`;
}

// columns: name, range, winners, counts by value, and perhaps an aside; rows: the values, the first one below.
function drawShareMap(into, {columns, rows, xTitle, yTitle, label}) {
  const longest = d3.max(rows, (row) => row.length);
  const margin = {top: 2, right: 2, bottom: 36, left: 26 + 7 * longest};
  const width = clamp((into.clientWidth - margin.left - margin.right) / columns.length, [12, 58]);
  const height = 20;
  const chart = newChart(into, {width: margin.left + margin.right + width * columns.length,
                                height: margin.top + margin.bottom + height * rows.length, margin, label});
  const y = (row) => height * (rows.length - 1 - rows.indexOf(row));
  columns.forEach((column, i) => {
    for (const row of rows) {
      const count = column.counts[row] || 0, share = count / column.winners;
      const cell = chart.inner.append("g").attr("transform", `translate(${i * width},${y(row)})`)
        .attr("data-tip", `${xTitle} ${column.range}: ${plural(column.winners, "winner")}${column.aside || ""}\n` +
          `${yTitle} ${row}: ${count} (${percentText(share)})`);
      cell.append("rect").attr("width", width - 1).attr("height", height - 1).style("fill", shareColour(share));
      if (count === 0 || width < 24) continue;
      cell.append("text").attr("class", "share").classed("strong", share >= 0.6).attr("x", width / 2).attr("y", height / 2)
        .text(Math.round(100 * share));
    }
  });
  const labels = chart.inner.append("g").attr("class", "labels");
  labels.selectAll("text.m").data(rows).join("text").attr("class", "m").attr("x", -6).attr("y", (row) => y(row) + height / 2)
    .text((row) => row);
  const every = Math.ceil(d3.max(columns, (column) => 8 + 6.5 * column.name.length) / width);
  const bottom = height * rows.length;
  labels.selectAll("text.n").data(columns).join("text").attr("class", "n").attr("x", (column, i) => (i + 0.5) * width)
    .attr("y", bottom + 10).text((column, i) => i % every === 0 ? column.name : null);
  labels.append("text").attr("class", "title").attr("x", width * columns.length / 2).attr("y", bottom + 28).text(xTitle);
}

function newMaps(body) {
  return d3.select(body).append("div").attr("class", "maps");
}
function addMap(maps, caption) {
  const figure = maps.append("figure").attr("class", "map");
  figure.append("figcaption").text(caption);
  return figure.append("div").node();
}

function drawAxisMap(maps, pattern) {
  const rho = pattern.correlation[pattern.follows];
  const place = addMap(maps, `${pattern.family} ${pattern.axis} over ${kExtentTexts[pattern.follows]}: ${correlationText(rho)}`);
  const isProduct = pattern.follows.length > 1;
  const edge = (log2) => isProduct ? `2^${log2}` : String(2 ** log2);
  const values = [...new Set(pattern.octaves.flatMap((octave) => Object.keys(octave.counts)))];
  drawShareMap(place, {
    columns: pattern.octaves.map((octave) => ({...octave, name: edge(octave.log2_low),
                                              range: `from ${edge(octave.log2_low)} to below ${edge(octave.log2_high)}`,
                                              aside: `, median ${octave.median}`})),
    rows: values.sort((a, b) => a - b),
    xTitle: kExtentTexts[pattern.follows], yTitle: pattern.axis,
    label: `${pattern.family} ${pattern.axis} of winners over ${pattern.follows}`,
  });
}

function drawChoiceMap(maps, pattern) {
  const who = pattern.choice === "family" ? "family" : `${pattern.family} ${pattern.choice}`;
  drawShareMap(addMap(maps, `${who}: ${plural(pattern.winners, "winner")}`), {
    columns: pattern.by_log2_mnk.map((group) => ({...group, name: group.group.split(" ")[0], range: `from ${group.group}`})),
    rows: pattern.values.map((value) => value.value).reverse(),
    xTitle: "log2(m n k)", yTitle: pattern.choice,
    label: `${who} of winners over log2(m n k)`,
  });
}

// The best plan with a technique over the best without: the middle half and the median, of all classes.
function drawTechniques(body) {
  const rows = data.patterns.techniques.filter((row) => row.group === "all");
  if (rows.length === 0) return missing(body, "No problem has timed plans with and without any technique.");
  note(body, "Time of the best plan with the technique over that of the best without, on problems that have both: median " +
    "and middle half. Left of 1 the technique is faster. The hollow dot is of twins, plans that differ in nothing else.");
  const line = 30;
  const place = d3.select(body).append("div").attr("class", "plot").node();
  const names = rows.map((row) => `${row.with} over ${row.without}`);
  const chart = newChart(place, {
    width: Math.min(place.clientWidth, 1000), height: rows.length * line + 52,
    margin: {top: 4, right: 70, bottom: 48, left: 20 + 6.6 * d3.max(names, (name) => name.length)},
    label: "what techniques are worth",
  });
  const x = d3.scaleLog().domain(ratioDomain(rows.flatMap((row) => [row.q25, row.q75, row.median]))).range([0, chart.width]);
  axisBelow(chart, x, {title: "time with over time without", ticks: ratioTicks(x, 44), format: ratioTickText});
  lineAtOne(chart, {x});
  rows.forEach((row, i) => {
    const y = (i + 0.5) * line;
    const twins = row.twins === null ? "no twins" : `${plural(row.twins.pairs, "pair")} of twins: ${ratioText(row.twins.median)}`;
    const group = chart.inner.append("g").attr("class", "worth").classed("faster", row.q75 < 1).classed("slower", row.q25 > 1)
      .attr("data-tip", `${names[i]}: ${plural(row.problems, "problem")}\nmedian ${ratioText(row.median)}, middle half ` +
        `${ratioText(row.q25)} to ${ratioText(row.q75)}\nthe fastest plan of all on ${countText(row.best_of_all)}\n${twins}`);
    group.append("rect").attr("class", "catch").attr("y", y - line / 2).attr("width", chart.width).attr("height", line);
    group.append("text").attr("class", "row-name").attr("x", -9).attr("y", y).text(names[i]);
    group.append("line").attr("x1", x(row.q25)).attr("x2", x(row.q75)).attr("y1", y).attr("y2", y);
    group.append("circle").attr("cx", x(row.median)).attr("cy", y).attr("r", 5);
    if (row.twins !== null)
      group.append("circle").attr("class", "twins").attr("cx", clamp(x(row.twins.median), [0, chart.width])).attr("cy", y).attr("r", 4);
    group.append("text").attr("class", "row-value").attr("x", chart.width + 8).attr("y", y).text(ratioText(row.median));
  });
}

function drawPart(body, title, part) {
  d3.select(body).append("h3").text(title);
  const sentences = data.patterns.sentences.filter((sentence) => sentence.part === part);
  if (sentences.length === 0) return missing(body, "Nothing here is strong enough for a sentence.");
  d3.select(body).append("ul").attr("class", "sentences").selectAll("li").data(sentences).join("li").text((s) => s.text);
}

function drawNumbers(body) {
  const {axes, rules} = data.patterns;
  const following = axes.filter((pattern) =>
    pattern.follows !== null && Math.abs(pattern.correlation[pattern.follows]) >= rules.correlation);
  drawPart(body, "Numbers that follow the problem", "numbers");
  if (following.length === 0) return missing(body, `No axis has a rank correlation of ${rules.correlation} with the problem.`);
  note(body, "Of the winners of a column, how many in a hundred have the value; the number above is the rank correlation with " +
    `what the axis follows most. An axis of a weaker one than ${rules.correlation} has no map.`);
  const maps = newMaps(body);
  for (const pattern of following) drawAxisMap(maps, pattern);
}

function drawChoices(body) {
  drawPart(body, "Choices by size", "choices");
  const maps = newMaps(body);
  for (const pattern of data.patterns.choices.filter((choice) => choice.values.length > 1)) drawChoiceMap(maps, pattern);
}

function drawPatterns(body) {
  if (data.patterns.none) return missing(body, `No patterns to tell: ${data.patterns.none}.`);
  note(body, `${data.patterns.lines.slice(1).join("; ")}. A sentence stands only where its number carries it.`);
  drawNumbers(body);
  drawChoices(body);
  drawPart(body, "Ragged tiles", "padding");
  drawPart(body, "What techniques are worth", "techniques");
  drawTechniques(body);
  d3.select(body).append("h3").text("Tables of these");
  for (const sheet of data.patterns.tables) drawSheet(body, sheet);
}
addSection("patterns", "Patterns", drawPatterns);
