// A view with everything that is looked up often. Receives a whole view; guarantees tables that are indexed as the
// view's arrays are. Costs are linear in commands, edges and accesses.

import type { Command, Lifetime, Mode, View } from "./contract.js";
import { runnersOf, startsOf, widthsOf } from "./levels.js";
import { commonPrefix, without } from "./names.js";

export interface Use { node: number; mode: Mode; start: number; stop: number }

export interface Totals {
  commands: number; time_us: number; read_bytes: number; written_bytes: number; operations: number;
  timeKnown: boolean; bytesKnown: boolean; operationsKnown: boolean;
}

export interface Model {
  view: View;
  /** Place of each command in the sequence. */
  position: number[];
  /** Indices of edges into and out of each command. */
  incoming: number[][];
  outgoing: number[][];
  /** For each command the innermost one that runs it: a child graph's or a body's. */
  runner: (number | null)[];
  /** How many commands must have ended before a command starts: commands of one level do not wait for each other. */
  level: number[];
  levels: number[][];
  /** For each level how many of its commands can run at once: of a conditional command's bodies one runs. */
  widths: number[];
  /** Microseconds, measured where the view is timed, else estimated. */
  time_us: (number | null)[];
  critical: Set<number>;
  criticalEdges: Set<number>;
  /** Uses of each plane in sequence order. */
  uses: Use[][];
  lifetime: (Lifetime | null)[];
  /** Phases without and with a parent. */
  rootPhases: number[];
  childPhases: number[][];
  /** Commands that lie directly in a phase, in sequence order; `looseCommands` lie in none. */
  phaseCommands: number[][];
  looseCommands: number[];
  /** First and last position in the sequence that a phase covers; null where it is empty. */
  phaseRange: ([number, number] | null)[];
  phaseTotals: Totals[];
  totals: Totals;
  /** Loop steps such as `l = 3` that a phase adds to those of its parent. */
  phaseLoop: string[];
  /** Which of how many siblings with the same name. */
  phaseRepeat: [number, number][];
  kernelName: string[];
  commandName: string[];
  kernelCommands: number[][];
}

export function noTotals(): Totals {
  return {
    commands: 0, time_us: 0, read_bytes: 0, written_bytes: 0, operations: 0, timeKnown: false, bytesKnown: false,
    operationsKnown: false,
  };
}

export function addCommand(totals: Totals, command: Command, time_us: number | null): void {
  totals.commands += 1;
  totals.time_us += time_us ?? 0;
  totals.read_bytes += command.read_bytes ?? 0;
  totals.written_bytes += command.written_bytes ?? 0;
  totals.operations += command.operations ?? 0;
  totals.timeKnown ||= time_us !== null;
  totals.bytesKnown ||= command.read_bytes !== null || command.written_bytes !== null;
  totals.operationsKnown ||= command.operations !== null;
}

function lists(size: number): number[][] {
  return Array.from({ length: size }, () => []);
}

/** Phases from a command's own one outwards. */
export function phasesOf(model: Model, node: number): number[] {
  const found: number[] = [];
  let phase = model.view.nodes[node]!.phase;
  while (phase !== null) {
    found.push(phase);
    phase = model.view.phases[phase]!.parent;
  }
  return found;
}

/** Origins of a command, innermost first. */
export function originsOf(view: View, origin: number | null): number[] {
  const found: number[] = [];
  while (origin !== null) {
    found.push(origin);
    origin = view.origins[origin]!.parent;
  }
  return found;
}

function commandNames(view: View): { kernelName: string[]; commandName: string[] } {
  const prefix = commonPrefix(view.kernels.map((kernel) => kernel.name));
  const kernelName = view.kernels.map((kernel) => without(prefix, kernel.name));
  const commandName = view.nodes.map((node) =>
    node.kernel !== null && (view.kind !== "dump" || node.label === "") ? kernelName[node.kernel]! : node.label !== "" ? node.label : node.kind);
  return { kernelName, commandName };
}

function levelsOf(model: Model): void {
  model.level = startsOf(model, () => 1);
  for (const node of model.view.sequence) (model.levels[model.level[node]!] ??= []).push(node);
  model.widths = widthsOf(model);
}

function phasesIn(model: Model): void {
  const { view } = model;
  view.phases.forEach((phase, index) => {
    (phase.parent === null ? model.rootPhases : model.childPhases[phase.parent]!).push(index);
  });
  view.sequence.forEach((node, position) => {
    const command = view.nodes[node]!;
    const time_us = model.time_us[node]!;
    addCommand(model.totals, command, time_us);
    if (command.phase === null) model.looseCommands.push(node);
    else model.phaseCommands[command.phase]!.push(node);
    for (const phase of phasesOf(model, node)) {
      addCommand(model.phaseTotals[phase]!, command, time_us);
      const range = (model.phaseRange[phase] ??= [position, position]);
      range[1] = position;
    }
  });
  const earliest = (phase: number): number => model.phaseRange[phase]?.[0] ?? Infinity;
  for (const children of [model.rootPhases, ...model.childPhases]) {
    children.sort((a, b) => (earliest(a) === earliest(b) ? a - b : earliest(a) - earliest(b)));
    const seen = new Map<string, number[]>();
    for (const child of children) {
      const name = view.phases[child]!.name;
      seen.set(name, [...(seen.get(name) ?? []), child]);
    }
    for (const same of seen.values()) same.forEach((phase, at) => (model.phaseRepeat[phase] = [at + 1, same.length]));
  }
}

function loopsIn(model: Model): void {
  const { view } = model;
  const shared = new Map<number, Set<number>>();
  view.phases.forEach((phase, index) => {
    const range = model.phaseRange[index];
    if (range === null || range === undefined) return;
    const first = originsOf(view, view.nodes[view.sequence[range[0]]!]!.origin);
    const last = new Set(originsOf(view, view.nodes[view.sequence[range[1]]!]!.origin));
    const common = first.filter((origin) => last.has(origin));
    shared.set(index, new Set(common));
    const outer = phase.parent === null ? undefined : shared.get(phase.parent);
    model.phaseLoop[index] = common
      .filter((origin) => view.origins[origin]!.text.includes(" = ") && !outer?.has(origin))
      .map((origin) => view.origins[origin]!.text)
      .reverse()
      .join(", ");
  });
}

export function makeModel(view: View): Model {
  const nodes = view.nodes.length;
  const phases = view.phases.length;
  const model: Model = {
    view,
    position: new Array<number>(nodes).fill(0),
    incoming: lists(nodes),
    outgoing: lists(nodes),
    runner: [],
    level: [],
    levels: [],
    widths: [],
    time_us: view.nodes.map((node) =>
      view.timed ? (node.elapsed_ms === null ? null : node.elapsed_ms * 1000) : node.cost_us),
    critical: new Set(view.critical_path),
    criticalEdges: new Set(),
    uses: lists(view.planes.length) as unknown as Use[][],
    lifetime: new Array<Lifetime | null>(view.planes.length).fill(null),
    rootPhases: [],
    childPhases: lists(phases),
    phaseCommands: lists(phases),
    looseCommands: [],
    phaseRange: new Array<[number, number] | null>(phases).fill(null),
    phaseTotals: Array.from({ length: phases }, noTotals),
    totals: noTotals(),
    phaseLoop: new Array<string>(phases).fill(""),
    phaseRepeat: Array.from({ length: phases }, () => [1, 1] as [number, number]),
    kernelCommands: lists(view.kernels.length),
    ...commandNames(view),
  };
  view.sequence.forEach((node, position) => (model.position[node] = position));
  model.runner = runnersOf(model);
  const next = new Map<number, number>();
  view.critical_path.forEach((node, at) => next.set(node, view.critical_path[at + 1] ?? -1));
  view.edges.forEach((edge, index) => {
    model.incoming[edge.after]!.push(index);
    model.outgoing[edge.before]!.push(index);
    if (next.get(edge.before) === edge.after) model.criticalEdges.add(index);
  });
  levelsOf(model);
  for (const node of view.sequence) {
    const { accesses, kernel } = view.nodes[node]!;
    if (kernel !== null) model.kernelCommands[kernel]!.push(node);
    for (const { plane, mode, start, stop } of accesses) model.uses[plane]!.push({ node, mode, start, stop });
  }
  for (const lifetime of view.lifetimes) model.lifetime[lifetime.plane] = lifetime;
  phasesIn(model);
  loopsIn(model);
  return model;
}
