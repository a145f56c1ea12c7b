// When commands may start, and how many of them at once. Receives a model; guarantees that what a command runs, a child
// graph or a body, starts behind it and ends before what waits for it, and that of the bodies of a conditional command,
// which exclude each other, only the widest counts.

import type { Model } from "./model.js";

/** For each command when it starts, if each starts as soon as it may. Receives how long each one takes. */
export function startsOf(model: Model, duration: (node: number) => number): number[] {
  const { view, runner } = model;
  const starts = new Array<number>(view.nodes.length).fill(0);
  const ends = [...starts];
  for (const node of view.sequence) {
    const inside = runner[node]!;
    let start = inside === null ? 0 : starts[inside]! + duration(inside);
    for (const edge of model.incoming[node]!) start = Math.max(start, ends[view.edges[edge]!.before]!);
    starts[node] = start;
    ends[node] = start + duration(node);
    for (let outer = inside; outer !== null; outer = runner[outer]!) ends[outer] = Math.max(ends[outer]!, ends[node]!);
  }
  return starts;
}

/** For each command the innermost one that runs it, which stands before it in the sequence. */
export function runnersOf({ view, position }: Pick<Model, "view" | "position">): (number | null)[] {
  const ofPhase = new Map<number, number>();
  for (const node of view.sequence) for (const phase of view.nodes[node]!.body) ofPhase.set(phase, node);
  return view.nodes.map((command, node) => {
    for (let phase = command.phase; phase !== null; phase = view.phases[phase]!.parent) {
      const found = ofPhase.get(phase);
      if (found !== undefined && position[found]! < position[node]!) return found;
    }
    return null;
  });
}

/** For each level how many of its commands can run at once. */
export function widthsOf(model: Model): number[] {
  const { view, levels } = model;
  const inPhase: Map<number, number>[] = view.phases.map(() => new Map());
  const whole = levels.map(() => 0);
  const exclusive = new Map<number, number[]>();
  for (const { kind, body } of view.nodes) if (kind === "conditional" && body.length > 1) exclusive.set(Math.min(...body), body);
  const others = new Set([...exclusive.values()].flat());
  const add = (phase: number | null, level: number, commands: number): void => {
    if (phase === null) whole[level] = (whole[level] ?? 0) + commands;
    else inPhase[phase]!.set(level, (inPhase[phase]!.get(level) ?? 0) + commands);
  };
  view.nodes.forEach(({ phase }, node) => add(phase, model.level[node]!, 1));
  // Phases stand behind those around them, and the first body behind none of the others.
  for (let phase = view.phases.length - 1; phase >= 0; phase -= 1) {
    const bodies = exclusive.get(phase);
    if (bodies === undefined && others.has(phase)) continue;
    const widest = new Map<number, number>();
    for (const body of bodies ?? [phase]) {
      for (const [level, commands] of inPhase[body]!) widest.set(level, Math.max(widest.get(level) ?? 0, commands));
    }
    for (const [level, commands] of widest) add(view.phases[phase]!.parent, level, commands);
  }
  return whole;
}

export function mostAtOnce(model: Model): number {
  return model.widths.reduce((most, width) => Math.max(most, width), 0);
}
