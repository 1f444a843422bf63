// What the reader looks at: a mode and whom to compare with. Sections that depend on it are drawn again.

const view = {mode: null, row: null};
// By the reader; what was not chosen is what the data puts first.
const chosen = {mode: null, row: null};
whenRead(() => {
  view.mode = modes.includes(chosen.mode) ? chosen.mode : modes[0];
  view.row = !isCompared ? null : rowNames.includes(chosen.row) ? chosen.row : data.report.headline;
});

function lackOfRowText() {
  return `No race of these records has ${view.row} and ${isOfOurs ? "ours" : data.report.against} on ${view.mode}.`;
}

const sections = [];

// draw(body) fills the section; `followsView`: it depends on mode and row.
function addSection(id, title, draw, followsView = false) {
  sections.push({id, title, draw, followsView, body: null});
}

function showFailure(into, what, error) {
  d3.select(into).append("p").attr("class", "failure").text(`${what} could not be drawn: ${error.message || error}`);
}

function drawSection(section) {
  section.body.replaceChildren();
  try {
    section.draw(section.body);
  } catch (error) {
    showFailure(section.body, section.title, error);
    console.error(error);
  }
}

function changeView(change) {
  Object.assign(chosen, change);
  Object.assign(view, change);
  drawControls();
  for (const section of sections) if (section.followsView) drawSection(section);
}

function drawModes(into) {
  const group = into.append("div").attr("class", "choice").attr("role", "group").attr("aria-label", "clock");
  group.append("span").attr("class", "label").text("clock");
  group.append("span").attr("class", "buttons").selectAll("button").data(modes).join("button")
    .attr("type", "button").attr("aria-pressed", (mode) => mode === view.mode)
    .attr("data-tip", (mode) => `${mode}: ${kModeMeanings[mode]}`)
    .text((mode) => mode).on("click", (mode) => changeView({mode}));
}

function drawRows(into) {
  if (!isCompared) return;
  const label = into.append("label").attr("class", "choice");
  label.append("span").attr("class", "label").text(isOfOurs ? "ours over" : "contender");
  const select = label.append("select").on("change", function () { changeView({row: this.value}); });
  select.selectAll("option").data(rowNames).join("option").attr("value", (row) => row)
    .property("selected", (row) => row === view.row).text((row) => row);
  if (!isOfOurs) label.append("span").text(`over ${data.report.against}`);
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function drawThemeButton(into) {
  into.append("button").attr("type", "button").attr("class", "theme").text(isDark() ? "light" : "dark")
    .attr("data-tip", "colours of this page").on("click", () => {
      document.documentElement.dataset.theme = isDark() ? "light" : "dark";
      drawControls();
    });
}

function drawControls() {
  const controls = d3.select("#controls");
  controls.selectAll("*").remove();
  const choices = controls.append("div").attr("class", "choices");
  drawModes(choices);
  drawRows(choices);
  drawThemeButton(choices);
  const places = controls.append("div").attr("class", "places");
  for (const section of sections) link(places.node(), section.title, section.id);
}
