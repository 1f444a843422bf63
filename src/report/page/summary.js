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
  tile.append("p").text(`mean ${ratioText(s.mean)}, FLOP-weighted ${ratioText(s.flop_weighted)}, lowest ${ratioText(s.min)}`);
}

function floorText() {
  const {headline, against, floor_ratio_mean: contender, reference_floor_ratio_mean: reference} = data.report;
  const [first, second] = isOfOurs ? ["ours", headline] : [headline, against];
  return `Time on the device over the floor, in the mean: ${first} ${contender.toFixed(2)}, ${second} ${reference.toFixed(2)}.`;
}

function dispatchText() {
  const {products, to_ours: toOurs, geomean, min, clear_losses: clearLosses, without_later_race: once} = data.report.dispatched;
  return `Who takes the faster of ours and AutoTuning's by one race has in a later one, over ${plural(products, "product")} ` +
    `(a shape in a layout), ${ratioText(geomean)} in the geometric mean, lowest ${ratioText(min)}, ` +
    `${countText(clearLosses)} clearly below 1; ours for ${countText(toOurs)}. ${countText(once)} had no later race.`;
}

function drawSummary(body) {
  // The page's head says what the first does, and how many shapes there are.
  for (const line of data.lines.slice(1)) if (line !== plural(shapes.length, "shape")) note(body, line);
  if (!isCompared) {
    missing(body, `Nothing is compared here: ${data.not_compared}. The times stand under Shapes and on the shapes' pages.`);
  } else {
    d3.select(body).append("p").attr("class", "lead")
      .text(`${whoOver(view.row)}: how many times as long ${isOfOurs ? view.row : data.report.against} takes`);
    const tiles = d3.select(body).append("div").attr("class", "tiles").node();
    for (const mode of modes) drawTile(tiles, mode);
    if (data.report.floor_ratio_mean !== null) note(body, floorText());
    if (data.report.dispatched !== null) note(body, dispatchText());
    if (data.class_table.rows.length > 0) drawSheet(body, data.class_table);
  }
  const lacking = data.known_modes.filter((mode) => !modes.includes(mode));
  if (lacking.length > 0) missing(body, `Not measured in these records: ${lacking.join(", ")}.`);
}
addSection("summary", "Summary", drawSummary, true);
