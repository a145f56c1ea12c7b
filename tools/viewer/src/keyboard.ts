// Keys that work everywhere on the page.

import type { GraphView } from "./graph_view.js";
import type { Page } from "./page.js";
import { sameSelection, type State, type ViewName } from "./state.js";

export interface Zoomable { fit(): void; zoom(factor: number): void; pan(x: number, y: number): void }

export interface Parts {
  graph: GraphView; zoomable(): Zoomable | null; views: ViewName[]; search: HTMLInputElement; help: HTMLDialogElement;
  toggleTheme(): void;
}

const COLOURS: State["colour"][] = ["phase", "kernel", "cost"];

export function listenToKeys(page: Page, parts: Parts): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || parts.help.open) return;
    if (event.target instanceof HTMLInputElement) {
      if (event.key === "Escape") parts.search.blur();
      return;
    }
    const action = actions(page, parts)[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action === undefined) return;
    if (event.target instanceof HTMLButtonElement && (event.key === "Enter" || event.key === " ")) return;
    event.preventDefault();
    action();
  });
}

function actions(page: Page, parts: Parts): Record<string, (() => void) | undefined> {
  const { store } = page;
  const { state } = store;
  const { selection } = state;
  const { model } = page.world();
  const { view } = model;
  const node = selection?.kind === "command" ? selection.index : null;
  const go = (index: number | undefined): void => {
    if (index !== undefined) page.select({ kind: "command", index });
  };
  const along = (path: readonly number[], by: number): void => {
    const position = node === null ? (by > 0 ? -1 : view.nodes.length) : model.position[node]!;
    const ahead = path.filter((other) => (model.position[other]! - position) * by > 0);
    go(by > 0 ? ahead[0] : ahead[ahead.length - 1]);
  };
  const step = (edges: number[] | undefined, end: "before" | "after"): void => {
    if (edges !== undefined && edges.length > 0) go(view.edges[edges[0]!]![end]);
  };
  const pan = (x: number, y: number) => (): void => parts.zoomable()?.pan(x, y);
  const found: Record<string, () => void> = {
    "/": () => parts.search.focus(),
    "?": () => parts.help.showModal(),
    "+": () => parts.zoomable()?.zoom(1.3),
    "=": () => parts.zoomable()?.zoom(1.3),
    "-": () => parts.zoomable()?.zoom(1 / 1.3),
    "0": () => parts.zoomable()?.fit(),
    ArrowLeft: pan(-0.12, 0), ArrowRight: pan(0.12, 0), ArrowUp: pan(0, -0.12), ArrowDown: pan(0, 0.12),
    Escape: () => page.select(null),
    j: () => along(view.sequence, 1), k: () => along(view.sequence, -1),
    n: () => along(view.critical_path, 1), p: () => along(view.critical_path, -1),
    "[": () => step(node === null ? undefined : model.incoming[node], "before"),
    "]": () => step(node === null ? undefined : model.outgoing[node], "after"),
    u: () => {
      const outer = selection?.kind === "phase" ? view.phases[selection.index]!.parent : node === null ? null : view.nodes[node]!.phase;
      if (outer !== null) page.select({ kind: "phase", index: outer });
    },
    Enter: () => parts.graph.toggleSelected(), o: () => parts.graph.toggleSelected(),
    e: () => parts.graph.openAll(), c: () => parts.graph.closeAll(),
    f: () => store.update({ filter: sameSelection(state.filter, selection) ? null : selection }),
    l: () => store.update({ colour: COLOURS[(COLOURS.indexOf(state.colour) + 1) % COLOURS.length]! }),
    s: () => {
      if (page.worlds.other !== null) store.update({ side: state.side === "this" ? "other" : "this", selection: null, filter: null });
    },
    t: () => parts.toggleTheme(),
    d: () => store.update({ details: !state.details }),
    b: () => store.update({ outline: !state.outline }),
  };
  parts.views.forEach((name, index) => (found[String(index + 1)] = () => store.update({ view: name })));
  return found;
}
