// How the comparison stands on every clock, and what these records lack.

function drawTile(into, mode) {
  const tile = d3.select(into).append("div").attr("class", `tile mode-${mode}`);
  tile.append("h3").text(mode).attr("data-tip", kModeMeanings[mode]);
  const s = statisticsOf(mode, view.row);
  if (s === null) {
    tile.append("p").text(`no race has ${view.row} and ${isOfOurs ? "ours" : data.report.against} on this clock`);
    return;
  }
  const clear = s.without_interval === s.shapes ? "; no intervals, so none is clear" : `, clearly on ${countText(s.clear_wins)}`;
  tile.append("p").attr("class", "big").text(ratioText(s.geomean));
  tile.append("p").text(`geometric mean of ${plural(s.shapes, "shape")}`);
  tile.append("p").text(`faster on ${countText(s.wins)}${clear}`);
  tile.append("p").text(`FLOP-weighted ${ratioText(s.flop_weighted)}, lowest ${ratioText(s.min)}`);
}

function drawSummary(body) {
  for (const line of data.lines.slice(1)) note(body, line);  // the first says what the page's head does
  if (!isCompared) {
    missing(body, `Nothing is compared here: ${data.not_compared}. The times stand under Shapes and on the shapes' pages.`);
  } else {
    d3.select(body).append("p").attr("class", "lead")
      .text(`${whoOver(view.row)}: how many times as long ${isOfOurs ? view.row : data.report.against} takes`);
    const tiles = d3.select(body).append("div").attr("class", "tiles").node();
    for (const mode of modes) drawTile(tiles, mode);
  }
  const lacking = data.known_modes.filter((mode) => !modes.includes(mode));
  if (lacking.length > 0) missing(body, `Not measured in these records: ${lacking.join(", ")}.`);
}
addSection("summary", "Summary", drawSummary, true);
