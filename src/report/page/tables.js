// The tables of `gemmsmith report`, with the same numbers.

function drawTables(body) {
  const sheets = isCompared ? data.modes[view.mode].tables : [];
  if (!isCompared) missing(body, `No speed-ups to tell: ${data.not_compared}.`);
  else if (sheets.length === 0) missing(body, lackText([view.mode]));
  for (const sheet of sheets) drawSheet(body, sheet);
  for (const sheet of data.tables) drawSheet(body, sheet);
}
addSection("tables", "Tables", drawTables, true);
