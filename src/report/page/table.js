// Tables that sort by a click on a column's head and, where they are long, show only the rows that are asked for.

const kLongTable = 12;
const kIntervalTitle = "95 % interval";

// Of "+23.4 %", "484 (470)", "1.201x" the number in front; of other texts nothing.
function leadingNumber(text) {
  const number = parseFloat(text.replaceAll(",", ""));
  return Number.isNaN(number) ? null : number;
}

// What has no value stands last, whichever way the others are sorted.
function compareValues(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  return sign * (a < b ? -1 : a > b ? 1 : 0);
}

// Every word must occur in the row.
function hasWords(text, row, columns) {
  const line = columns.map((column) => column.text(row)).join(" ").toLowerCase();
  return text.toLowerCase().split(/\s+/).every((word) => line.includes(word));
}

// Titles repeat, as "wins (clear)" of every clock does: which of its title a column is belongs to its name.
function columnNames(columns) {
  return columns.map(({title}, i) => `${title} ${columns.slice(0, i).filter((other) => other.title === title).length}`);
}

// Intervals of which none is known are left out.
function tellsSomething(column, rows) {
  return column.title !== kIntervalTitle || rows.some((row) => column.value(row) !== null);
}

// What a reader did to a table, by the table's name, so that it outlives its being drawn again.
const kUntouched = {filter: "", column: null, sign: 1, scroll: 0};
const touched = new Map();
function readersOf(name) {
  if (!touched.has(name)) touched.set(name, {...kUntouched});
  return touched.get(name);
}

// columns: title, isNumber, text(row), value(row) to sort by, and perhaps draw(cell, row) instead of the text.
// troubleOf(text) says what of a filter matches(text, row, columns) cannot read.
function drawTable(into, {caption, name = caption, columns: wanted, rows, isLong = rows.length > kLongTable, matches = hasWords,
                          troubleOf = () => "", hint = "filter", explain = ""}) {
  const reader = readersOf(name);
  const columns = wanted.filter((column) => tellsSomething(column, rows));
  const names = columnNames(columns);
  const figure = d3.select(into).append("figure").attr("class", "table");
  const head = figure.append("figcaption");
  head.append("span").text(caption);
  const frame = figure.append("div").attr("class", "frame").classed("long", isLong);
  const table = frame.append("table");
  const heads = table.append("thead").append("tr").selectAll("th").data(columns).join("th")
    .attr("scope", "col").classed("number", (column) => column.isNumber);
  const lines = table.append("tbody").selectAll("tr").data(rows).join("tr");
  lines.each(function (row) {
    for (const column of columns) {
      const cell = document.createElement("td");
      if (column.isNumber) cell.className = "number";
      if (column.draw) column.draw(cell, row);
      else cell.textContent = column.text(row);
      this.append(cell);
    }
  });

  const sort = () => {
    const sorted = names.indexOf(reader.column);
    if (sorted === -1) return;
    const {value} = columns[sorted];
    heads.attr("aria-sort", (column, i) => i !== sorted ? null : reader.sign > 0 ? "ascending" : "descending");
    lines.sort((a, b) => compareValues(value(a), value(b), reader.sign));
  };
  heads.append("button").attr("type", "button").text((column) => column.title).on("click", (column, i) => {
    reader.sign = reader.column === names[i] ? -reader.sign : column.isNumber ? -1 : 1;
    reader.column = names[i];
    sort();
  });
  sort();
  if (!isLong) return;
  const count = head.append("span").attr("class", "count");
  const filter = () => {
    const text = reader.filter.trim();
    let shown = 0;
    lines.attr("hidden", (row) => {
      const isShown = text === "" || matches(text, row, columns);
      shown += isShown;
      return isShown ? null : "";
    });
    count.text(text === "" ? plural(rows.length, "row") : `${countText(shown)} of ${plural(rows.length, "row")}`);
    trouble.text(troubleOf(text) || (shown === 0 && rows.length > 0 ? "no row has all of that" : ""));
  };
  head.append("input").attr("type", "search").attr("placeholder", hint).attr("aria-label", `filter: ${caption}`)
    .attr("title", explain).attr("data-table", name).property("value", reader.filter)
    .on("input", function () {
      reader.filter = this.value;
      filter();
    });
  const trouble = head.append("p").attr("class", "trouble").attr("role", "status");
  filter();
  frame.on("scroll", function () { reader.scroll = this.scrollTop; });
  frame.node().scrollTop = reader.scroll;
}

// A table whose cells are texts already.
function drawSheet(into, sheet) {
  const columns = sheet.columns.map((title, i) => ({
    title,
    isNumber: sheet.is_number[i],
    text: (row) => row[i],
    value: (row) => sheet.is_number[i] ? leadingNumber(row[i]) : row[i],
    draw: (cell, row) => {
      if (shapeByName.has(row[i])) link(cell, row[i], row[i]);
      else cell.textContent = row[i];
    },
  }));
  drawTable(into, {caption: sheet.caption, columns, rows: sheet.rows});
}
