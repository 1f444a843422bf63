// A page that `gemmsmith report --live` serves: it asks what is new, draws that without moving the reader, and says what
// goes on.

const kAskMs = 2000;
const kQuietMs = 30000;  // since the newest trial; a run may have ended, or judges something long
const kPatienceMs = 30000;
const kRestsForEachDrawing = 4;

const live = {
  status: null,   // the server's last answer
  heardAt: 0,     // when it came, by performance.now()
  version: null,  // of the data that is drawn
  drawnAt: null,  // the time of day
  drawingMs: 0,
  next: null,     // when it asks again
  isGone: false,
};

function agoText(ms) {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} days`;
}

function standingText() {
  if (data === null || !isCompared || statisticsOf(view.mode, view.row) === null) return null;
  const s = statisticsOf(view.mode, view.row);
  return `${whoOver(view.row)} ${ratioText(s.geomean)} (${view.mode}, geometric mean of ${plural(s.shapes, "shape")}, ` +
    `faster on ${countText(s.wins)})`;
}

function latestText({latest}) {
  if (latest === null) return null;
  const best = latest.best_ns === null ? "none timed yet" : `best ${timeText(latest.best_ns)}` +
    (latest.over_autotuning === null ? "" : `, ${ratioText(latest.over_autotuning)} over AutoTuning`);
  return `latest ${latest.shape} ${latest.layout}: ${plural(latest.candidates, "candidate")}, ${best}`;
}

function newestMs() {
  return live.status.newest_ms_ago === null ? null : live.status.newest_ms_ago + performance.now() - live.heardAt;
}

function statusTexts() {
  const {status} = live, newest = newestMs();
  if (status.trials + status.replayed === 0) return [`follows ${status.archive}`];
  const shapesBegun = status.shapes_asked === null ? plural(status.shapes, "shape")
                                                   : `${countText(status.shapes)} of ${plural(status.shapes_asked, "shape")}`;
  const tabled = data === null ? "none in the tables yet" : `${countText(shapes.length)} in the tables`;
  return [
    newest < kQuietMs ? `last trial ${agoText(newest)} ago` : `nothing new for ${agoText(newest)}`,
    `${shapesBegun} begun, ${tabled}`,
    `${plural(status.candidates, "candidate")} judged`,
    standingText(),
    latestText(status),
    status.replayed === 0 ? null : `left out: ${countText(status.replayed)} answers of a replay, which measure nothing`,
  ].filter((text) => text !== null);
}

function drawStatus() {
  const place = d3.select("#live").attr("hidden", null);
  const {status, isGone, drawnAt} = live;
  const isRunning = !isGone && status !== null && status.newest_ms_ago !== null && newestMs() < kQuietMs;
  const isTroubled = status !== null && status.trouble !== null;
  place.attr("class", isGone ? "gone" : isTroubled && drawnAt !== null ? "troubled" : isRunning ? "running" : "");
  place.selectAll("*").remove();
  if (isGone)
    place.append("strong").text("The server has gone away. " + (drawnAt === null ? "Nothing was heard of it yet. "
      : `What is shown is of ${drawnAt}. `) + "This page goes on as soon as gemmsmith report --live runs again on this port.");
  else place.append("span").text(status === null ? "asking the server" : statusTexts().join(" · "));
  if (!isGone && isTroubled)
    place.append("span").attr("class", "trouble").text(`${drawnAt === null ? "Waiting" : `Not newer than ${drawnAt}`}: ${status.trouble}`);
  const stays = getComputedStyle(place.node()).position === "sticky";
  document.documentElement.style.setProperty("--live-height", `${stays ? place.node().offsetHeight : 0}px`);
}

// The section that the reader works in, or else looks at, stays where it is, and so do the cursor and what was unfolded.
function withoutMovingTheReader(draw) {
  const active = document.activeElement || document.body;
  const anchor = overview.hidden ? null : active.closest("#overview > section") ||
    [...overview.children].find((place) => place.getBoundingClientRect().bottom > window.innerHeight / 2);
  const anchorTop = anchor ? anchor.getBoundingClientRect().top : 0, scroll = window.scrollY;
  const cursor = active.dataset.table ? [active.selectionStart, active.selectionEnd] : null;
  const unfolded = [...shapePlace.querySelectorAll("details")].map((details) => details.open);
  draw();
  shapePlace.querySelectorAll("details").forEach((details, i) => { details.open = unfolded[i] === true; });
  if (cursor !== null) {
    const input = [...document.querySelectorAll("input[data-table]")].find((other) => other.dataset.table === active.dataset.table);
    if (input) {
      input.focus({preventScroll: true});
      input.setSelectionRange(...cursor);
    }
  }
  if (anchor) window.scrollBy(0, anchor.getBoundingClientRect().top - anchorTop);
  else window.scrollTo(0, scroll);
}

// Null where no server answers.
async function heard(name) {
  try {
    const answer = await fetch(name, {cache: "no-cache", signal: AbortSignal.timeout(kPatienceMs)});
    return answer.ok ? {version: answer.headers.get("ETag"), read: await answer.json()} : null;
  } catch (error) {
    return null;
  }
}

function takeData({version, read}) {
  const start = performance.now(), isFirst = data === null;
  readData(read);
  live.version = version;
  live.drawnAt = new Date().toLocaleTimeString();
  if (isFirst) drawPage();
  else withoutMovingTheReader(drawPage);
  live.drawingMs = performance.now() - start;
}

// Nothing is drawn behind other windows, nor under the hands of somebody who selects text.
function mayDraw() {
  return !document.hidden && document.getSelection().isCollapsed;
}

async function hearNews() {
  const status = await heard("status.json");
  live.isGone = status === null;
  if (status !== null) {
    live.status = status.read;
    live.heardAt = performance.now();
    if (live.status.version !== null && live.status.version !== live.version && mayDraw()) {
      const news = await heard("data.json");
      if (news !== null) takeData(news);
    }
  }
  drawStatus();
}

async function ask() {
  clearTimeout(live.next);
  try {
    await hearNews();
  } catch (error) {
    showFailure("#foot", "What is new", error);
    console.error(error);
  }
  clearTimeout(live.next);
  live.next = setTimeout(ask, Math.max(kAskMs, kRestsForEachDrawing * live.drawingMs));
}

function startLive() {
  document.title = title();
  d3.select("#head").append("h1").text("gemmsmith report");
  overview.firstElementChild.textContent = "The tables and figures come with the first measurement.";
  document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
  ask();
}
