// The line above everything: what graph this is, the views, search, and switches.

import { h, replace } from "./dom.js";
import type { Page } from "./page.js";
import { bytes, count, time } from "./quantities.js";
import { phaseLabel } from "./repeats.js";
import { short } from "./names.js";
import type { Selection, State, ViewName } from "./state.js";

const TITLES: Record<ViewName, string> = {
  graph: "Graph", memory: "Memory", time: "Time", cost: "Where it goes", source: "Source", compare: "Compare",
};

export interface HeaderActions { toggleTheme(): void; openHelp(): void; leaveSearch(): void }

export class Header {
  readonly element: HTMLElement;
  readonly search: HTMLInputElement;
  private readonly heading = h("div", { class: "heading" });
  private readonly tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Views" });
  private readonly switches = h("div", { class: "switches" });

  constructor(private readonly page: Page, private readonly views: ViewName[], private readonly actions: HeaderActions) {
    this.search = h("input", {
      type: "search", placeholder: "Search  /", "aria-label": "Search commands, phases, planes, kernels, source lines",
      autocomplete: "off", spellcheck: "false", maxlength: 200,
    });
    this.search.addEventListener("input", () => page.store.update({ query: this.search.value.trim(), outline: true }));
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "Enter") {
        event.preventDefault();
        actions.leaveSearch();
      }
    });
    this.element = h("header", { class: "top" }, this.heading, this.tabs, this.search, this.switches);
  }

  draw(): void {
    const { store } = this.page;
    const { view, side, colour, query, filter } = store.state;
    const { model } = this.page.world();
    const data = model.view;
    if (document.activeElement !== this.search && this.search.value !== query) this.search.value = query;
    const parts = [
      count(data.nodes.length, "command"),
      ...(data.memory === null ? [] : [`arena ${bytes(data.memory.arena_bytes)}`]),
      ...(data.critical_path_us === null ? [] : [`critical path ${time(data.critical_path_us)} ${data.timed ? "measured" : "est."}`]),
    ];
    replace(this.heading, h("h1", { title: short(data.title, 300) }, short(data.title, 44)), h("p", {}, parts.join(" · ")));
    replace(this.tabs, this.views.map((name, index) => h("button", {
      type: "button", role: "tab", id: `view-tab-${name}`, "aria-selected": String(name === view), "aria-controls": "middle", title: `Key ${index + 1}`,
      onclick: () => store.update({ view: name }),
    }, TITLES[name])));
    const next: Record<State["colour"], State["colour"]> = { phase: "kernel", kernel: "cost", cost: "phase" };
    replace(this.switches,
      filter === null ? null : h("button", { type: "button", class: "chip", id: "filter", title: "Show everything again (F)", onclick: () => store.update({ filter: null }) },
        `× only ${this.filterText(filter)}`),
      this.page.worlds.other === null ? null : h("button", {
        type: "button", id: "side", title: "The other graph (S)",
        onclick: () => store.update({ side: side === "this" ? "other" : "this", selection: null, filter: null }),
      }, `shown: ${side === "this" ? "after" : "before"}`),
      h("button", { type: "button", id: "colour", title: "What colours mean (L)", onclick: () => store.update({ colour: next[colour] }) },
        `by ${colour === "cost" ? "time" : colour}`),
      h("button", { type: "button", id: "theme", title: "Light or dark (T)", "aria-label": "Light or dark", onclick: this.actions.toggleTheme },
        this.page.theme.dark ? "☀" : "☾"),
      h("button", { type: "button", id: "help-button", title: "Keys and signs (?)", "aria-label": "Help", onclick: this.actions.openHelp }, "?"));
  }

  private filterText(filter: Selection): string {
    const world = this.page.world();
    const { view } = world.model;
    switch (filter.kind) {
      case "command": return short(world.model.commandName[filter.index]!, 24);
      case "phase": return phaseLabel(world.model, filter.index, 24);
      case "plane": return short(world.planeName[filter.index]!, 24);
      case "kernel": return short(world.model.kernelName[filter.index]!, 24);
      case "line": return `${short(view.sources[filter.source]!.name, 20)}:${filter.line}`;
    }
  }
}
