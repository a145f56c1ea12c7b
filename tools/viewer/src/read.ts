// From the text in the page to a whole view. Receives any JSON; guarantees that every key of the contract is there.
// References were checked by whoever wrote the file.

import type { Access, Argument, Command, Edge, Kernel, Note, Origin, Phase, Plane, View } from "./contract.js";

const VIEW: Omit<View, "format" | "version" | "title"> = {
  kind: "program", tool: null, entry: null, half: null, parameters: [], order: null, sources: [], origins: [],
  phases: [], kernels: [], planes: [], nodes: [], edges: [], sequence: [], memory: null, lifetimes: [],
  critical_path: [], critical_path_us: null, timed: false, roofline: null, notes: [], comparison: null,
};
const PHASE: Partial<Phase> = { parent: null, kind: "phase", note: null };
const KERNEL: Partial<Kernel> = { file: null, slots: null, registers: null, constants: [], doc: null };
const PLANE: Partial<Plane> = {
  element: null, extent: null, role: "memory", offset: null, gradient_of: null, doc: null, origin: null,
};
const COMMAND: Partial<Command> = {
  phase: null, kernel: null, grid: null, block: null, shared_bytes: null, arguments: [], accesses: [],
  read_bytes: null, written_bytes: null, operations: null, cost_us: null, elapsed_ms: null, origin: null, body: [],
  details: [], flags: [],
};
const ARGUMENT: Partial<Argument> = { plane: null, offset_bytes: null, extent: null, access: null, value: null };
const EDGE: Partial<Edge> = { plane: null, start: null, stop: null, count: 0 };
const NOTE: Partial<Note> = { node: null, line: null };
const ORIGIN: Partial<Origin> = { parent: null };

function complete<T>(items: T[] | undefined, defaults: Partial<T>): T[] {
  return (items ?? []).map((item) => ({ ...defaults, ...item }));
}

/** The view that a JSON value holds, or null where it holds none (the page as it is built). */
export function readView(data: Partial<View>): View | null {
  return data.format === "cgraph-view" ? completeView(data) : null;
}

/** The other graph of a comparison need not say its format again. */
function completeView(data: Partial<View>): View {
  const view = { ...VIEW, ...data } as View;
  view.origins = complete(view.origins, ORIGIN);
  view.phases = complete(view.phases, PHASE);
  view.kernels = complete(view.kernels, KERNEL);
  view.planes = complete(view.planes, PLANE);
  view.nodes = complete(view.nodes, COMMAND);
  for (const node of view.nodes) {
    node.arguments = complete<Argument>(node.arguments, ARGUMENT);
    node.accesses = complete<Access>(node.accesses, {});
  }
  view.edges = complete(view.edges, EDGE);
  view.notes = complete(view.notes, NOTE);
  if (view.sequence.length !== view.nodes.length) view.sequence = view.nodes.map((_, index) => index);
  if (view.comparison !== null) view.comparison = { ...view.comparison, other: completeView(view.comparison.other) };
  return view;
}
