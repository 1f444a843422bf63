// Numbers and names as people read them.

const kModeMeanings = {
  device: "one call after another on the GPU, operands where the call before left them",
  device_chained: "ours in a chain of overlapping calls; the baselines with their plain device time",
  device_cold: "one call after another on the GPU, each with operands of its own, none in L2",
  device_cold_chained: "the same in a chain of overlapping calls; the baselines with their plain device_cold time",
  offline: "call after call from the host without pauses, its launch cost included",
  server: "single calls that find the GPU idle",
  host: "the host's clock around a call and the wait for its end",
};

const countText = d3.format(",");
const ratioText = (ratio) => `${ratio.toFixed(ratio < 10 ? 3 : 1)}x`;
const intervalText = ([low, high]) => `${low.toFixed(3)} to ${high.toFixed(3)}`;

function timeText(ns) {
  const [value, unit] = ns < 1e6 ? [ns / 1e3, "µs"] : [ns / 1e6, "ms"];
  return `${value.toFixed(value < 10 ? 3 : value < 100 ? 2 : 1)} ${unit}`;
}

function bytesText(bytes) {
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, "kB"] : bytes < 1e9 ? [bytes / 1e6, "MB"] : [bytes / 1e9, "GB"];
  return `${value.toPrecision(3)} ${unit}`;
}

function speedUpText(speedUp) {
  const interval = speedUp.interval === null ? "no 95 % interval" : `95 %: ${intervalText(speedUp.interval)}`;
  return `${ratioText(speedUp.ratio)} (${interval})`;
}

const kVerdicts = {2: "clearly faster", 1: "faster", 0: "even", "-1": "slower", "-2": "clearly slower"};
const verdictText = (speedUp) => kVerdicts[speedUp.verdict];
// Colours speak of what is clear.
const verdictClass = (speedUp) => speedUp.verdict === 2 ? "faster" : speedUp.verdict === -2 ? "slower" : "unclear";

function plural(count, word) {
  return `${countText(count)} ${word}${count === 1 ? "" : "s"}`;
}

// Why the table of a mode may be empty.
function lackText(someModes) {
  const whom = isOfOurs ? "ours and a baseline" : `${data.report.against} and another contender`;
  return `No race of these records has ${whom} on ${someModes.join(", ")}.`;
}

function missing(into, text) {
  d3.select(into).append("p").attr("class", "missing").text(text);
}

function note(into, text) {
  d3.select(into).append("p").attr("class", "note").text(text);
}

function link(into, text, fragment) {
  return d3.select(into).append("a").attr("href", `#${fragment}`).text(text);
}
