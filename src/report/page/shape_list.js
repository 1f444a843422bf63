// Every shape in one table.

const kComparisons = {"<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b,
                      "=": (a, b) => a === b};
const kFilterHint = "filter, e.g. skinny k>=4096 speedup<1";
const kFilterHelp = "Words of a row, or comparisons of m, n, k, volume and speedup, as k>=4096 or speedup<1. " +
  "All of them must hold.";
const kTerms = /[^\s<>=!]*(?:\s*[<>=!]+\s*[^\s<>=!]*)+|[^\s<>=!]+/g;
const kComparison = /^(m|n|k|volume|speedup)\s*(<=|>=|<|>|=)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)$/i;

function shapeNumber(shape, name) {
  if (name === "speedup") return view.row === null ? null : (speedUpOf(view.mode, view.row, shape) || {ratio: null}).ratio;
  return name === "volume" ? shape.m * shape.n * shape.k : shape[name];
}

// Words and comparisons, of which each may have spaces around its sign.
const termsOf = (text) => text.match(kTerms) || [];
const isMeantToCompare = (term) => /[<>=!]/.test(term);

function holdsFor(term, shape, columns) {
  if (!isMeantToCompare(term)) return hasWords(term, shape, columns);
  const parts = kComparison.exec(term);
  if (parts === null) return false;
  const number = shapeNumber(shape, parts[1].toLowerCase());
  return number !== null && kComparisons[parts[2]](number, Number(parts[3]));
}

function matchesShape(text, shape, columns) {
  return termsOf(text).every((term) => holdsFor(term, shape, columns));
}

function unreadableText(text) {
  const term = termsOf(text).find((other) => isMeantToCompare(other) && !kComparison.test(other));
  return term === undefined ? "" :
    `cannot read '${term}'; write m, n, k, volume or speedup with <, <=, >, >= or = and a number, ` +
    "and words of a row as they stand there, as in tiny or slower";
}

function timeColumn(title, entrant) {
  const ns = (shape) => timeNs(view.mode, entrant, shape);
  return {title, isNumber: true, value: ns, text: (shape) => ns(shape) === null ? "–" : timeText(ns(shape))};
}

function speedUpColumns() {
  const of = (shape) => speedUpOf(view.mode, view.row, shape);
  return [
    {
      title: "speed-up", isNumber: true,
      value: (shape) => of(shape) && of(shape).ratio,
      text: (shape) => of(shape) ? ratioText(of(shape).ratio) : "–",
      draw: (cell, shape) => {
        const speedUp = of(shape);
        cell.textContent = speedUp ? ratioText(speedUp.ratio) : "–";
        if (speedUp) cell.classList.add(verdictClass(speedUp));
      },
    },
    {
      title: kIntervalTitle, isNumber: true,
      value: (shape) => of(shape) && of(shape).interval && of(shape).interval[0],
      text: (shape) => of(shape) && of(shape).interval ? intervalText(of(shape).interval) : "–",
    },
    {title: "verdict", isNumber: false, value: (shape) => of(shape) && of(shape).verdict,
     text: (shape) => of(shape) ? verdictText(of(shape)) : "–"},
  ];
}

function shapeColumns() {
  const columns = [
    {title: "shape", value: (shape) => shape.m * 1e10 + shape.n * 1e5 + shape.k, text: (shape) => shape.name,
     draw: (cell, shape) => link(cell, shape.name, shape.name)},
    {title: "class", value: (shape) => shape.shapeClass, text: (shape) => shape.shapeClass},
    {title: "log2(mnk)", isNumber: true, value: (shape) => shape.log2, text: (shape) => shape.log2.toFixed(1)},
  ];
  if (data.ceilings)
    columns.push({title: "floor", isNumber: true, value: (shape) => shape.floorNs, text: (shape) => timeText(shape.floorNs)});
  for (const {title, name} of listedEntrants()) columns.push(timeColumn(title, name));
  return isCompared ? [...columns, ...speedUpColumns()] : columns;
}

function listedEntrants() {
  const times = data.modes[view.mode].times;
  const compared = [isOfOurs ? "ours_max" : view.row, isOfOurs ? view.row : isCompared && data.report.against];
  const names = Object.keys(times).filter((name) => isCompared ? compared.includes(name) : name.endsWith("_max"));
  return names.map((name) => ({title: name === "ours_max" ? "ours" : name, name}));
}

function drawShapeList(body) {
  note(body, "Times are each contender's fastest." + (!isCompared ? "" :
    " A speed-up is of two times of one race, so it may differ a little from the quotient of these."));
  drawTable(body, {
    caption: `Shapes, ${view.mode}` + (isCompared ? `, ${whoOver(view.row)}` : ""),
    name: "shapes", columns: shapeColumns(), rows: shapes, isLong: true, matches: matchesShape, troubleOf: unreadableText,
    hint: kFilterHint, explain: kFilterHelp,
  });
}
addSection("shapes", "Shapes", drawShapeList, true);
