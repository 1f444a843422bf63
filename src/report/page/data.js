"use strict";
// The report's data as docs/report.md describes it, and the questions that every figure asks of it.

// Null on a live page that has heard nothing yet.
let data = null;
let modes = [];
let isCompared = false, isOfOurs = false;
let shapes = [];
let shapeByName = new Map();
// Baselines that ours is compared with, or contenders that are compared with one reference.
let rowNames = [];

// What is made of the data is made again when a live page gets new data.
const readers = [];
function whenRead(reader) {
  readers.push(reader);
  if (data !== null) reader();
}

function readData(read) {
  data = read;
  modes = Object.keys(data.modes);
  isCompared = data.report !== null;
  isOfOurs = isCompared && data.report.rows === "baselines";
  shapes = data.shapes.m.map(shapeOf);
  shapeByName = new Map(shapes.map((shape) => [shape.name, shape]));
  rowNames = [...new Set(modes.flatMap((mode) => Object.keys(data.modes[mode].rows)))];
  for (const reader of readers) reader();
}

function shapeOf(m, index) {
  const n = data.shapes.n[index], k = data.shapes.k[index];
  return {
    index, m, n, k,
    name: `${m}x${n}x${k}`,
    shapeClass: data.shapes.class[index],
    floorNs: data.shapes.floor_ns[index],
    log2: Math.log2(m * n * k),
    flops: 2 * m * n * k,
    bytes: 2 * (m * k + k * n + m * n),
  };
}

const embedded = JSON.parse(document.getElementById("data").textContent);
const isLive = embedded === null;
if (!isLive) readData(embedded);

function whoOver(row) {
  return isOfOurs ? `ours over ${row}` : `${row} over ${data.report.against}`;
}

// Offsets are ten-thousandths of the middle.
function intervalOf(middle, low, high) {
  return low === null || high === null ? null : [middle * (1 + low / 1e4), middle * (1 + high / 1e4)];
}

function speedUpIn(columns, shape) {
  const ratio = columns.ratio[shape.index];
  if (ratio === null) return null;
  const interval = intervalOf(ratio, columns.low[shape.index], columns.high[shape.index]);
  return {shape, ratio, interval, verdict: columns.verdict[shape.index]};
}

// t_reference / t_contender with its interval, or null where the two were not timed in one race.
function speedUpOf(mode, row, shape) {
  const columns = data.modes[mode].rows[row];
  return columns === undefined ? null : speedUpIn(columns, shape);
}

// The numbers of the tables, or null where the row has none on this mode.
function statisticsOf(mode, row) {
  const rows = data.report.modes[mode];
  return rows === undefined || rows[row] === undefined ? null : rows[row];
}

function speedUpsOf(mode, row) {
  return shapes.map((shape) => speedUpOf(mode, row, shape)).filter((speedUp) => speedUp !== null);
}

function timeNs(mode, entrant, shape) {
  const times = data.modes[mode].times[entrant];
  return times === undefined ? null : times[shape.index];
}

// The races that speak for a shape, as objects.
function runsOf(shape) {
  const runs = data.runs;
  return d3.range(runs.shape.length).filter((i) => runs.shape[i] === shape.index).map((i) => ({
    role: runs.role[i],
    layout: runs.layout[i],
    subject: runs.subject[i] === null ? null : runs.subjects[runs.subject[i]],
    campaign: runs.campaigns[runs.campaign[i]],
    date: runs.dates[runs.date[i]],
    smClockMhz: runs.sm_clock_mhz[i],
    powerWatts: runs.power_watts[i],
    discardedBatches: runs.discarded_batches[i],
    clockLimits: runs.limits[runs.clock_limits[i]],
    isSettled: runs.is_settled[i] === 1,
    registers: runs.registers[i],
    codeBytes: runs.code_bytes[i],
    maxAbsError: runs.max_abs_error[i],
    baselineMaxAbsError: runs.baseline_max_abs_error[i],
    relativeError: runs.relative_error[i],
    algorithms: runs.algorithms[i].map((number) => runs.algorithm_texts[number]),
    timings: timingsOf(i),
  }));
}

function timingsOf(run) {
  const lineUp = data.runs.line_ups[data.runs.line_up[run]];
  if (lineUp === "") return [];
  return lineUp.split("\n").map((line, i) => {
    const [contender, mode] = line.split("\t");
    const medianNs = data.runs.median_ns[run][i];
    const interval = intervalOf(medianNs, data.runs.low[run][i], data.runs.high[run][i]);
    return {contender, mode, medianNs, interval, samples: data.runs.samples[run][i]};
  });
}
