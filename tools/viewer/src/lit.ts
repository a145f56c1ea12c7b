// Which commands a selection or a filter is about, and what part each plays.

import type { Mode, View } from "./contract.js";
import { originsOf, phasesOf, type Model } from "./model.js";
import type { Selection } from "./state.js";

export type Part = "selected" | "before" | "after" | Mode;

/** For each command that a selection touches, its part. Accumulating wins over writing, writing over reading. */
export function litCommands(model: Model, selection: Selection | null): Map<number, Part> {
  const lit = new Map<number, Part>();
  if (selection === null) return lit;
  const { view } = model;
  if (selection.kind === "command") {
    for (const edge of model.incoming[selection.index] ?? []) lit.set(view.edges[edge]!.before, "before");
    for (const edge of model.outgoing[selection.index] ?? []) lit.set(view.edges[edge]!.after, "after");
    lit.set(selection.index, "selected");
  } else if (selection.kind === "plane") {
    for (const { node, mode } of model.uses[selection.index] ?? []) {
      const known = lit.get(node);
      lit.set(node, known === undefined || known === mode ? mode : "accumulate");
    }
  } else for (const node of commandsOf(model, selection)) lit.set(node, "selected");
  return lit;
}

/** The commands that a selection names, in no order. */
export function commandsOf(model: Model, selection: Selection): Set<number> {
  const { view } = model;
  switch (selection.kind) {
    case "command": return new Set([selection.index]);
    case "plane": return new Set((model.uses[selection.index] ?? []).map((use) => use.node));
    case "kernel": return new Set(model.kernelCommands[selection.index] ?? []);
    case "phase": return new Set(view.sequence.filter((node) => phasesOf(model, node).includes(selection.index)));
    case "line": return new Set(commandsOfLine(view, selection.source, selection.line));
  }
}

/** Commands with a step of their way that starts on a line. */
function commandsOfLine(view: View, source: number, line: number): number[] {
  return view.sequence.filter((node) => originsOf(view, view.nodes[node]!.origin).some((origin) =>
    view.origins[origin]!.source === source && view.origins[origin]!.start_line === line));
}

/** Whether a selection's index is one of this view. */
export function exists(view: View, selection: Selection | null): boolean {
  if (selection === null) return true;
  if (selection.kind === "line") return selection.source < view.sources.length;
  const arrays = { command: view.nodes, plane: view.planes, phase: view.phases, kernel: view.kernels };
  return selection.index >= 0 && selection.index < arrays[selection.kind].length;
}
