// Puts the page together, and follows the fragment: a shape's name is its page, a section's name its place.

const overview = document.getElementById("overview");
const shapePlace = document.getElementById("shape");
const title = () => `gemmsmith report: ${data === null ? "waiting" : data.records.setting.device}`;
let overviewScroll = 0;
let drawnWidth = 0;  // 0: what the overview shows is of older data
let drawnControls = null;

function drawHead() {
  const {setting, first_date: first, date, protocol, type, accumulation} = data.records;
  const head = d3.select("#head");
  d3.selectAll("#head > *, #foot > *").remove();
  head.append("h1").append("a").attr("href", "#").text("gemmsmith report");
  head.append("p").text([setting.device, first === date ? date : `${first} to ${date}`, `${protocol} protocol`,
                         `${type} in and out, ${accumulation} accumulation`, plural(shapes.length, "shape")].join(" · "));
  const {driver, toolchain, libraries, harness} = setting;
  d3.select("#foot").append("p").text(`From ${data.records.source}. Newest record: driver ${driver}; ${toolchain}; ${libraries}; ` +
    `${harness}. This page loads nothing from elsewhere. Figures are drawn with D3 (Copyright 2010-2017 Mike Bostock, ` +
    "BSD 3-clause licence).");
}

function drawOverview() {
  drawnWidth = overview.clientWidth;
  for (const section of sections) drawSection(section);
}

function buildOverview() {
  overview.replaceChildren();
  for (const section of sections) {
    const place = d3.select(overview).append("section").attr("id", section.id);
    place.append("h2").text(section.title);
    section.body = place.append("div").attr("class", "body").node();
  }
}

function showShape(shape) {
  if (!overview.hidden) overviewScroll = window.scrollY;
  overview.hidden = true;
  shapePlace.hidden = false;
  shapePlace.replaceChildren();
  document.title = `${shape.name}, ${title()}`;
  try {
    drawShapePage(shapePlace, shape);
  } catch (error) {
    showFailure(shapePlace, shape.name, error);
    console.error(error);
  }
  window.scrollTo(0, 0);
}

function showOverview(fragment) {
  const wasHidden = overview.hidden;
  overview.hidden = false;
  shapePlace.hidden = true;
  document.title = title();
  if (drawnWidth !== overview.clientWidth) drawOverview();
  const section = document.getElementById(fragment);
  if (fragment !== "" && section && overview.contains(section)) section.scrollIntoView();
  else if (wasHidden) window.scrollTo(0, overviewScroll);
}

// As it stands where it cannot be decoded: then it names nothing.
function fragmentOf(hash) {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch (error) {
    return hash.slice(1);
  }
}

function sayUnmeasured(fragment) {
  const isLacking = /^\d+x\d+x\d+$/.test(fragment) && !shapeByName.has(fragment);
  const place = document.getElementById("unmeasured");
  place.hidden = !isLacking;
  place.textContent = isLacking ? `${fragment} was not measured in these records; this is the overview of those that were.` : "";
  if (isLacking) window.scrollTo(0, 0);
}

function follow() {
  const fragment = fragmentOf(location.hash);
  document.getElementById("tip").hidden = true;
  const shape = shapeByName.get(fragment);
  document.getElementById("controls").classList.toggle("on-shape", shape !== undefined);
  if (shape !== undefined) showShape(shape);
  else showOverview(fragment);
  sayUnmeasured(fragment);
}

function followWidth() {
  let waiting = null;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (data === null) return;
      if (overview.hidden) follow();
      else if (drawnWidth !== overview.clientWidth) drawOverview();
    }, 150);
  });
}

// What the data says, wherever the reader is.
function drawPage() {
  drawHead();
  const controlled = JSON.stringify([modes, rowNames, view]);
  if (controlled !== drawnControls) drawControls();  // else an open list of baselines would close
  drawnControls = controlled;
  if (sections[0].body === null) buildOverview();
  drawnWidth = 0;
  follow();
  document.documentElement.dataset.drawnMs = String(Math.round(performance.now()));
}

window.addEventListener("error", (event) => showFailure("#foot", "A part of this page", event.message));
startTips();
followWidth();
window.addEventListener("hashchange", () => { if (data !== null) follow(); });
if (isLive) startLive();
else drawPage();
