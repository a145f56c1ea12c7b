// Puts the page together: reads the view, makes the parts, and draws them when the state changes.

import { CompareView } from "./compare_view.js";
import type { View } from "./contract.js";
import { CostView } from "./cost_view.js";
import { Details } from "./details.js";
import { byId, h, replace } from "./dom.js";
import { GraphView } from "./graph_view.js";
import { Header } from "./header.js";
import { helpDialog } from "./help.js";
import { listenToKeys, type Zoomable } from "./keyboard.js";
import { exists } from "./lit.js";
import { MemoryView } from "./memory_view.js";
import type { MainView, Page } from "./page.js";
import { DARK, LIGHT } from "./palette.js";
import { Panels } from "./panels.js";
import { bytes, count, extent, operations, time } from "./quantities.js";
import { readView } from "./read.js";
import { phaseLabel, phasePlace } from "./repeats.js";
import { SourceView } from "./source_view.js";
import { initialState, readHash, Store, writeHash, type Selection, type ViewName } from "./state.js";
import { Strip } from "./strip.js";
import { TimeView } from "./time_view.js";
import { Tip } from "./tip.js";
import { makeWorlds } from "./world.js";

/** Below this width, in CSS pixels, details show only while something is selected. */
const NARROW = 1180;

function start(): void {
  const root = byId("page");
  let view: View | null;
  try {
    view = readView(JSON.parse(byId("cgraph-view").textContent ?? "{}") as Partial<View>);
  } catch (error) {
    replace(root, h("p", { class: "empty" }, `The data in this page cannot be read: ${error instanceof Error ? error.message : String(error)}`));
    return;
  }
  if (view === null) replace(root, h("p", { class: "empty" }, "This page holds no graph. `cgraph view FILE` writes one that does."));
  else show(root, view);
}

function show(root: HTMLElement, view: View): void {
  document.title = `${view.title.slice(0, 100)} · cgraph`;
  const worlds = makeWorlds(view);
  const phased = new Set(worlds.this.hues.filter((number) => number !== null)).size > 1;
  const store = new Store({ ...initialState(), colour: phased ? "phase" : "kernel", ...readHash(location.hash) });
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const tip = new Tip();
  let waiting = false;
  const page: Page = {
    store,
    theme: LIGHT,
    worlds,
    world: () => (store.state.side === "other" ? page.worlds.other : null) ?? page.worlds.this,
    redraw: () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        current().draw();
      });
    },
    tip: (lines, x, y, canvas) => tip.show(lines, x, y, canvas),
    commandTip: (node) => commandTip(page, node),
    planeTip: (plane) => {
      const { name, role, element, extent: sizes, size_bytes } = page.world().model.view.planes[plane]!;
      return [name, `${role} · ${element ?? ""} [${extent(sizes)}] · ${bytes(size_bytes)}`];
    },
    timeWord: () => (page.world().model.view.timed ? "measured" : "estimated"),
    phaseText: (phase) => (phase === null ? "" : phasePlace(page.world().model, phase, 40)),
    select: (selection, from) => {
      store.update({ selection });
      if (selection !== null && from !== "here") bring(selection);
      panels.reveal();
    },
  };
  const bring = (selection: Selection): void => {
    if (selection.kind === "line") {
      store.update({ view: "source" });
      source.show(selection.source, selection.line);
    } else if (store.state.view === "graph") graph.show(selection);
    else if (store.state.view === "source" && selection.kind === "command") source.showCommand(selection.index);
  };
  if (!exists(page.world().model.view, store.state.selection)) store.update({ selection: null });
  if (!exists(page.world().model.view, store.state.filter)) store.update({ filter: null });

  const dark = (): boolean => (store.state.theme === null ? prefersDark.matches : store.state.theme === "dark");
  const applyTheme = (): void => {
    page.theme = dark() ? DARK : LIGHT;
    document.documentElement.dataset["theme"] = dark() ? "dark" : "light";
  };
  applyTheme();
  const toggleTheme = (): void => store.update({ theme: dark() ? "light" : "dark" });

  const graph = new GraphView(page);
  const source = new SourceView(page);
  const views = new Map<ViewName, MainView>([
    ["graph", graph], ["memory", new MemoryView(page)], ["time", new TimeView(page)], ["cost", new CostView(page)], ["source", source],
  ]);
  if (page.worlds.other !== null) views.set("compare", new CompareView(page));
  const current = (): MainView => views.get(store.state.view) ?? graph;
  const panels = new Panels(page);
  const details = new Details(page);
  const strip = new Strip(page);
  const help = helpDialog(byId("licences").textContent ?? "");
  const header = new Header(page, [...views.keys()], { toggleTheme, openHelp: () => help.showModal(), leaveSearch: () => panels.focus() });
  const middle = h("main", { class: "middle", id: "middle" });
  const status = h("div", { class: "spoken", role: "status", "aria-live": "polite" });
  replace(root, header.element, panels.element, middle, details.element, strip.element, tip.element, status, help);

  const drawAll = (): void => {
    const shown = current();
    if (middle.firstElementChild !== shown.element) replace(middle, shown.element);
    root.dataset["view"] = store.state.view;
    const narrow = window.innerWidth < NARROW && store.state.selection === null;
    root.classList.toggle("no-details", !store.state.details || narrow);
    root.classList.toggle("no-outline", !store.state.outline);
    header.draw();
    panels.draw();
    details.draw();
    strip.draw();
    shown.draw();
  };
  store.listen((state, before) => {
    if (state.theme !== before.theme) applyTheme();
    if (state.selection !== before.selection) status.textContent = spoken(page);
    history.replaceState(null, "", `#${writeHash(state)}`);
    drawAll();
    if (state.view === "source" && before.view !== "source" && state.selection?.kind === "command") source.showCommand(state.selection.index);
    if (state.view === "graph" && before.view !== "graph" && state.selection !== null && state.selection.kind !== "line") graph.show(state.selection);
  });
  prefersDark.addEventListener("change", () => {
    applyTheme();
    drawAll();
  });
  window.addEventListener("hashchange", () => {
    const wanted = readHash(location.hash);
    if (writeHash({ ...store.state, ...wanted }) === writeHash(store.state)) return;
    store.update(wanted);
    if (store.state.selection !== null && exists(page.world().model.view, store.state.selection)) bring(store.state.selection);
  });
  new ResizeObserver(() => drawAll()).observe(root);
  for (const [event, printing] of [["beforeprint", true], ["afterprint", false]] as const) {
    window.addEventListener(event, () => {
      document.body.classList.toggle("printing", printing);
      graph.print(printing);
      drawAll();
    });
  }
  listenToKeys(page, {
    graph, views: [...views.keys()], search: header.search, help, toggleTheme,
    zoomable: () => (store.state.view === "source" || store.state.view === "cost" || store.state.view === "compare" ? null
      : current() as unknown as Zoomable),
  });
  drawAll();
  if (store.state.selection !== null) {
    bring(store.state.selection);
    panels.reveal();
  }
  document.documentElement.dataset["ready"] = "true";
}

function commandTip(page: Page, node: number): string[] {
  const { model } = page.world();
  const command = model.view.nodes[node]!;
  const time_us = model.time_us[node] ?? null;
  return [
    model.commandName[node]!,
    `command ${model.position[node]! + 1} · ${page.phaseText(command.phase)}`,
    [time_us === null ? "" : `${time(time_us)} ${page.timeWord()}`,
      command.read_bytes === null ? "" : `reads ${bytes(command.read_bytes)}`,
      command.written_bytes === null ? "" : `writes ${bytes(command.written_bytes)}`,
      command.operations === null ? "" : operations(command.operations)].filter((part) => part !== "").join(" · "),
    `waits for ${model.incoming[node]!.length}, ${count(model.outgoing[node]!.length, "command")} after it${model.critical.has(node) ? " · critical path" : ""}`,
  ].filter((line) => line !== "");
}

function spoken(page: Page): string {
  const { selection } = page.store.state;
  const { model } = page.world();
  if (selection === null || selection.kind === "line" || !exists(model.view, selection)) return "";
  if (selection.kind === "command") return `Command ${model.position[selection.index]! + 1}, ${model.commandName[selection.index]!.slice(0, 80)}`;
  if (selection.kind === "phase") return `Phase ${phaseLabel(model, selection.index)}`;
  return selection.kind === "plane" ? `Plane ${model.view.planes[selection.index]!.name.slice(0, 80)}` : `Kernel ${model.kernelName[selection.index]!.slice(0, 80)}`;
}

start();
