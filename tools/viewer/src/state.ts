// What the reader looks at. One value, changed only through `update`; every part of the page redraws from it. The part
// that is worth sharing also stands behind the # of the address.

export type Selection =
  | { kind: "command" | "plane" | "phase" | "kernel"; index: number }
  | { kind: "line"; source: number; line: number };

export type ViewName = "graph" | "memory" | "time" | "cost" | "source" | "compare";
export type PanelName = "phases" | "program" | "planes" | "kernels" | "notes";

export interface State {
  view: ViewName; panel: PanelName; selection: Selection | null; filter: Selection | null; query: string;
  colour: "phase" | "kernel" | "cost"; theme: "light" | "dark" | null; side: "this" | "other"; details: boolean;
  outline: boolean;
}

const VIEWS: readonly ViewName[] = ["graph", "memory", "time", "cost", "source", "compare"];
const KINDS = ["command", "plane", "phase", "kernel"] as const;

export function initialState(): State {
  return {
    view: "graph", panel: "phases", selection: null, filter: null, query: "", colour: "phase", theme: null,
    side: "this", details: true, outline: true,
  };
}

type Listener = (state: State, before: State) => void;

export class Store {
  private listeners: Listener[] = [];
  constructor(private current: State) {}

  get state(): State {
    return this.current;
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  update(change: Partial<State>): void {
    const before = this.current;
    this.current = { ...before, ...change };
    for (const listener of this.listeners) listener(this.current, before);
  }
}

export function sameSelection(a: Selection | null, b: Selection | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function writeSelection(selection: Selection): string {
  return selection.kind === "line" ? `line-${selection.source}-${selection.line}` : `${selection.kind}-${selection.index}`;
}

function readSelection(text: string | null): Selection | null {
  const parts = (text ?? "").split("-");
  const [first, second] = parts.slice(1).map(Number);
  if (first === undefined || !Number.isInteger(first)) return null;
  if (parts[0] === "line" && second !== undefined && Number.isInteger(second)) {
    return { kind: "line", source: first, line: second };
  }
  const kind = KINDS.find((known) => known === parts[0]);
  return kind === undefined ? null : { kind, index: first };
}

/** `#view=memory&select=plane-3&theme=dark`; what is as usual is left out. */
export function writeHash(state: State): string {
  const parts = new URLSearchParams();
  if (state.view !== "graph") parts.set("view", state.view);
  if (state.selection !== null) parts.set("select", writeSelection(state.selection));
  if (state.filter !== null) parts.set("only", writeSelection(state.filter));
  if (state.theme !== null) parts.set("theme", state.theme);
  if (state.colour !== "phase") parts.set("colour", state.colour);
  if (state.side !== "this") parts.set("side", state.side);
  return parts.toString();
}

/** What a hash says; anything unknown in it is passed over. */
export function readHash(hash: string): Partial<State> {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const view = VIEWS.find((name) => name === parts.get("view"));
  const theme = parts.get("theme");
  const colour = parts.get("colour");
  return {
    view: view ?? "graph",
    selection: readSelection(parts.get("select")),
    filter: readSelection(parts.get("only")),
    theme: theme === "light" || theme === "dark" ? theme : null,
    ...(colour === "kernel" || colour === "cost" || colour === "phase" ? { colour } : {}),
    side: parts.get("side") === "other" ? "other" : "this",
  };
}
