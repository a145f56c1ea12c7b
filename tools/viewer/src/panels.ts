// The left side: the tree of phases, the program's order, planes, kernels and notes; or what a search finds.

import { h, replace } from "./dom.js";
import { commandsOf } from "./lit.js";
import type { Page } from "./page.js";
import { count } from "./quantities.js";
import { short } from "./names.js";
import { commandRow, heading, kernelRow, phaseRow, planeRow } from "./rows.js";
import { searchRows } from "./search.js";
import type { PanelName } from "./state.js";
import { VirtualList, type Row } from "./virtual_list.js";

const TITLES: [PanelName, string][] = [
  ["phases", "Phases"], ["program", "Order"], ["planes", "Planes"], ["kernels", "Kernels"], ["notes", "Notes"],
];

export class Panels {
  readonly element: HTMLElement;
  private readonly tabs = h("div", { class: "tabs small", role: "tablist", "aria-label": "Lists" });
  private readonly sub = h("div", { class: "sub" });
  private readonly body = h("div", { class: "panel-body" });
  private readonly tree = new VirtualList("tree", "Phases and commands");
  private readonly list = new VirtualList("listbox", "List");
  private readonly open = new Set<string>();
  private levels = false;
  private opened = false;

  constructor(private readonly page: Page) {
    this.element = h("nav", { class: "outline", "aria-label": "Outline" }, this.tabs, this.sub, this.body);
  }

  draw(): void {
    const { panel, query } = this.page.store.state;
    const { view } = this.page.world().model;
    const notes = view.notes.length + view.nodes.filter((node) => node.flags.length > 0).length;
    replace(this.tabs, TITLES.filter(([name]) => name !== "notes" || notes > 0).map(([name, title]) => h("button", {
      type: "button", role: "tab", id: `tab-${name}`, "aria-selected": String(name === panel && query === ""),
      onclick: () => this.page.store.update({ panel: name, query: "" }),
    }, name === "notes" ? [title, h("small", {}, ` ${notes}`)] : title)));
    const list = panel === "phases" && query === "" ? this.tree : this.list;
    if (list.element.parentElement !== this.body) replace(this.body, list.element);
    replace(this.sub, ...this.subline());
    list.setRows(query !== "" ? searchRows(this.page, query) : this.rows(panel));
  }

  /** Puts the cursor on what is selected. */
  reveal(): void {
    const { selection, panel, query } = this.page.store.state;
    if (selection === null || selection.kind === "line") return;
    const key = `${selection.kind}-${selection.index}`;
    if (panel === "phases" && query === "") {
      const { view } = this.page.world().model;
      let phase = selection.kind === "phase" ? view.phases[selection.index]!.parent
        : selection.kind === "command" ? view.nodes[selection.index]!.phase : null;
      let changed = false;
      while (phase !== null) {
        if (!this.open.has(this.keyOf(phase))) changed = true;
        this.open.add(this.keyOf(phase));
        phase = view.phases[phase]!.parent;
      }
      if (changed) this.draw();
      this.tree.reveal(key);
    } else this.list.reveal(key);
  }

  focus(): void {
    const { panel, query } = this.page.store.state;
    (panel === "phases" && query === "" ? this.tree : this.list).element.focus();
  }

  private keyOf(phase: number): string {
    return `${this.page.store.state.side}-${phase}`;
  }

  private subline(): (HTMLElement | string)[] {
    const { panel, query } = this.page.store.state;
    const { model } = this.page.world();
    if (query !== "") return ["Found for ", h("b", {}, short(query, 30))];
    if (panel === "program") {
      const option = (label: string, levels: boolean, hint: string): HTMLElement => h("button", {
        type: "button", role: "radio", "aria-checked": String(this.levels === levels), title: hint, onclick: () => {
          this.levels = levels;
          this.draw();
        },
      }, label);
      return [h("span", { class: "switch", role: "radiogroup", "aria-label": "Order" },
        option("program order", false, "The commands as the program gives them; at the right, how many each waits for"),
        option("what can run at once", true, "Commands by level: those of one level do not wait for each other"))];
    }
    if (panel === "phases") return [`share of ${model.totals.timeKnown ? `time, ${this.page.timeWord()}` : "commands"}`];
    if (panel === "planes") return [`${count(model.view.planes.length, "plane")}, largest first`];
    if (panel === "kernels") return [`${count(model.view.kernels.length, "kernel")}, most launched first`];
    return ["what the checker, a plan or a dump remarks"];
  }

  private rows(panel: PanelName): Row[] {
    const { page } = this;
    const { model } = page.world();
    const { view } = model;
    const { filter } = page.store.state;
    const kept = filter === null ? null : commandsOf(model, filter);
    switch (panel) {
      case "phases": return this.treeRows(kept);
      case "program": {
        const sequence = view.sequence.filter((node) => kept?.has(node) ?? true);
        const waits = (node: number): string => {
          const amount = model.incoming[node]!.length;
          return amount === 0 ? "waits for none" : `waits for ${amount}`;
        };
        if (!this.levels) return sequence.map((node) => commandRow(page, node, { note: waits(node) }));
        return model.levels.flatMap((nodes, level) => {
          const shown = nodes.filter((node) => kept?.has(node) ?? true);
          return shown.length === 0 ? [] : [
            heading(`step ${level + 1}${model.widths[level]! > 1 ? `: ${model.widths[level]} at once` : ""}`),
            ...shown.map((node) => commandRow(page, node, { depth: 0 })),
          ];
        });
      }
      case "planes": {
        const size = (plane: number): number => view.planes[plane]!.size_bytes;
        return view.planes.map((_, index) => index).sort((a, b) => size(b) - size(a) || a - b).map((plane) => planeRow(page, plane));
      }
      case "kernels":
        return view.kernels.map((_, index) => index)
          .sort((a, b) => model.kernelCommands[b]!.length - model.kernelCommands[a]!.length || a - b)
          .map((kernel) => kernelRow(page, kernel));
      case "notes": return this.noteRows();
    }
  }

  private treeRows(kept: Set<number> | null): Row[] {
    const { page } = this;
    const { model } = page.world();
    if (!this.opened) {
      this.opened = true;
      if (model.rootPhases.length <= 6) for (const phase of model.rootPhases) {
        if (model.childPhases[phase]!.length > 0) this.open.add(this.keyOf(phase));
      }
    }
    const rows: Row[] = [];
    const waiting: ({ phase: number; depth: number } | { node: number; depth: number })[] = [];
    const push = (phases: number[], nodes: number[], depth: number): void => {
      const items = [
        ...phases.map((phase) => ({ phase, depth, at: model.phaseRange[phase]?.[0] ?? Infinity })),
        ...nodes.filter((node) => kept?.has(node) ?? true).map((node) => ({ node, depth, at: model.position[node]! })),
      ].sort((a, b) => b.at - a.at || ("phase" in a && "phase" in b ? b.phase - a.phase : 0));
      for (const item of items) waiting.push(item);
    };
    push(model.rootPhases, model.looseCommands, 0);
    while (waiting.length > 0) {
      const item = waiting.pop()!;
      if ("node" in item) {
        rows.push(commandRow(page, item.node, { depth: item.depth }));
        continue;
      }
      const { phase, depth } = item;
      const key = this.keyOf(phase);
      const children = model.childPhases[phase]!.length + model.phaseCommands[phase]!.length > 0;
      const expanded = children ? this.open.has(key) : undefined;
      rows.push(phaseRow(page, phase, {
        depth,
        ...(expanded === undefined ? {} : { expanded }),
        toggle: () => {
          if (this.open.has(key)) this.open.delete(key);
          else this.open.add(key);
          this.draw();
        },
      }));
      if (expanded === true) push(model.childPhases[phase]!, model.phaseCommands[phase]!, depth + 1);
    }
    return rows;
  }

  private noteRows(): Row[] {
    const { page } = this;
    const { view, sequence } = { view: page.world().model.view, sequence: page.world().model.view.sequence };
    const notes = view.notes.map((note, index): Row => ({
      key: `note-${index}`,
      label: `${note.severity}: ${short(note.text, 200)}`,
      activate: () => {
        if (note.node !== null) page.select({ kind: "command", index: note.node });
      },
      content: () => [h("b", { class: `sign ${note.severity}` }, note.severity === "note" ? "i" : "!"),
        h("span", { class: "name", title: short(note.text, 1000) }, short(note.text, 200)),
        h("span", { class: "side" }, note.line === null ? "" : `line ${note.line}`)],
    }));
    const flagged = sequence.filter((node) => view.nodes[node]!.flags.length > 0)
      .map((node) => commandRow(page, node, { note: short(view.nodes[node]!.flags.join(", "), 30) }));
    return [...(notes.length > 0 ? [heading("Notes"), ...notes] : []), ...(flagged.length > 0 ? [heading("Flagged commands"), ...flagged] : [])];
  }
}
