// When commands would run if each started as soon as those it waits for have ended: what the order allows, on a device
// without limits; those that wait for nothing as late as nothing is delayed. Receives times of commands; guarantees lanes in which no two commands overlap.

import { startsOf } from "./levels.js";
import type { Model } from "./model.js";

export interface Bar { node: number; start_us: number; stop_us: number; lane: number }

export interface Ideal { bars: Bar[]; lanes: number; end_us: number; serial_us: number; unit: "µs" | "steps" }

/** A command without a known time takes none; where no time is known at all, each takes one step. */
export function idealRun(model: Model): Ideal {
  const { view } = model;
  const known = model.totals.timeKnown;
  const duration = (node: number): number => (known ? model.time_us[node] ?? 0 : 1);
  const starts = startsOf(model, duration);
  const bars = view.sequence.map((node): Bar =>
    ({ node, start_us: starts[node]!, stop_us: starts[node]! + duration(node), lane: 0 }));
  const serial = view.sequence.reduce((sum, node) => sum + duration(node), 0);
  drawNearUse(model, bars);
  const end = bars.reduce((latest, bar) => Math.max(latest, bar.stop_us), 0);
  return { bars, lanes: fillLanes(model, bars), end_us: end, serial_us: serial, unit: known ? "µs" : "steps" };
}

/** Commands that wait for nothing move to just before the first that needs them: there a reader looks for them. */
function drawNearUse(model: Model, bars: Bar[]): void {
  const byNode = new Map(bars.map((bar) => [bar.node, bar]));
  for (const bar of [...bars].reverse()) {
    const out = model.outgoing[bar.node]!;
    const isFree = model.incoming[bar.node]!.length === 0 && model.runner[bar.node] === null && model.view.nodes[bar.node]!.body.length === 0;
    if (!isFree || out.length === 0 || model.critical.has(bar.node)) continue;
    const needed = out.reduce((start, edge) => Math.min(start, byNode.get(model.view.edges[edge]!.after)!.start_us), Infinity);
    const duration = bar.stop_us - bar.start_us;
    bar.start_us = Math.max(0, needed - duration);
    bar.stop_us = bar.start_us + duration;
  }
}

/** The critical path keeps lane 0; others take the first free lane below. */
function fillLanes(model: Model, bars: Bar[]): number {
  const free: number[] = [model.critical.size > 0 ? Infinity : 0];
  for (const bar of [...bars].sort((a, b) => a.start_us - b.start_us || a.node - b.node)) {
    if (model.critical.has(bar.node)) continue;
    let lane = free.findIndex((until) => until <= bar.start_us + 1e-9);
    if (lane < 0) lane = free.push(0) - 1;
    bar.lane = lane;
    free[lane] = bar.stop_us > bar.start_us ? bar.stop_us : bar.start_us + 1e-6;
  }
  return free.length;
}
