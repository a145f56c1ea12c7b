// The JSON form of a view, as cgraph/docs/view.md defines it. Indices refer to positions in the arrays of the same
// view; null means not known. Keys may be missing in files of others: `model.ts` puts the defaults in.

export type NodeKind =
  | "launch" | "fill" | "copy" | "join" | "memset" | "memcpy" | "alloc" | "free" | "event_record" | "event_wait"
  | "host" | "child" | "conditional" | "empty" | "unknown";
export type Mode = "read" | "write" | "accumulate";
export type Reason = "read-after-write" | "write-after-read" | "write-after-write" | "order" | "given";
export type Status = "same" | "changed" | "added" | "removed";

export interface Source { name: string; text: string }

/** A step on the way from an entry to a command; lines and columns count from 1, stop is just behind the last. */
export interface Origin {
  parent: number | null; source: number; start_line: number; start_column: number; stop_line: number;
  stop_column: number; text: string;
}

export interface Phase {
  name: string; title: string; parent: number | null; kind: "phase" | "graph" | "child" | "body"; note: string | null;
}

export interface Slot { name: string; kind: string; element: string | null; access: Mode | null }

export interface Kernel {
  name: string; symbol: string; file: string | null; slots: Slot[] | null; registers: number | null;
  constants: [string, number][]; doc: string | null;
}

export interface Plane {
  name: string; family: string; element: string | null; extent: number[] | null; role: string; size_bytes: number;
  offset: number | null; gradient_of: number | null; doc: string | null; origin: number | null;
}

export interface Argument {
  slot: string; plane: number | null; offset_bytes: number | null; extent: number[] | null; access: Mode | null;
  value: string | null;
}

/** Bytes start … stop, half-open, from the plane's first byte. */
export interface Access { plane: number; start: number; stop: number; mode: Mode }

export interface Command {
  kind: NodeKind; label: string; phase: number | null; kernel: number | null; grid: number[] | null;
  block: number[] | null; shared_bytes: number | null; arguments: Argument[]; accesses: Access[];
  read_bytes: number | null; written_bytes: number | null; operations: number | null; cost_us: number | null;
  elapsed_ms: number | null; origin: number | null; body: number[]; details: [string, string][]; flags: string[];
}

export interface Edge {
  before: number; after: number; reason: Reason; plane: number | null; start: number | null; stop: number | null;
  count: number;
}

export interface Memory {
  arena_bytes: number; lower_bound_bytes: number; unshared_bytes: number; persistent_bytes: number;
}

export interface Lifetime { plane: number; first: number; last: number }

export interface Roofline {
  bandwidth_bytes_per_us: number; operations_per_us: number; overhead_us: number; device: string;
}

export interface Note { severity: "note" | "warning" | "error"; text: string; node: number | null; line: number | null }

/** `left` is an index into the other view (before), `right` into the view that holds the comparison. */
export interface Pairing { status: Status; left: number | null; right: number | null; changes: string[] }

export interface Comparison { other_title: string; nodes: Pairing[]; planes: Pairing[]; other: View }

export interface View {
  format: string; version: number; title: string; kind: "program" | "bundle" | "dump"; tool: string | null;
  entry: string | null; half: string | null; parameters: [string, number | string][]; order: string | null;
  sources: Source[]; origins: Origin[]; phases: Phase[]; kernels: Kernel[]; planes: Plane[]; nodes: Command[];
  edges: Edge[]; sequence: number[]; memory: Memory | null; lifetimes: Lifetime[]; critical_path: number[];
  critical_path_us: number | null; timed: boolean; roofline: Roofline | null; notes: Note[];
  comparison: Comparison | null;
}
