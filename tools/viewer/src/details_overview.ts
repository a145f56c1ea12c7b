// What stands at the right while nothing is selected: the graph as a whole, and what to look at first.

import { commandLink, facts, longList, phaseLink, section } from "./details_parts.js";
import { totalFacts } from "./details_other.js";
import { h } from "./dom.js";
import { mostAtOnce } from "./levels.js";
import type { Page } from "./page.js";
import { bytes, count, percent, time } from "./quantities.js";
import { short, visible } from "./names.js";
import { dot } from "./rows.js";
import { heat, hue } from "./world.js";

export function overview(page: Page): HTMLElement[] {
  const world = page.world();
  const { model } = world;
  const { view } = model;
  const { memory } = view;
  const failures = view.notes.filter((note) => note.severity === "error");
  const widest = mostAtOnce(model);
  const costly = view.nodes.map((_, node) => node).filter((node) => (model.time_us[node] ?? 0) > 0)
    .sort((a, b) => model.time_us[b]! - model.time_us[a]!).slice(0, 5);
  const head = view.kind === "program" ? "program" : view.kind === "bundle" ? "saved bundle" : `dump${view.tool === null ? "" : ` · ${view.tool}`}`;
  return [
    h("header", {}, h("p", { class: "kind" }, head), h("h2", {}, short(view.title, 90))),
    failures.length === 0 ? null : section("Not all of it could be read", longList(failures.map((note) => () =>
      h("p", { class: "failure" }, h("b", { class: "sign error" }, "!"), ` ${short(note.text, 300)}`, h("small", {}, note.line === null ? "" : ` line ${note.line}`))))),
    section("The graph", facts([
      ["entry", view.entry === null ? null : short(view.entry, 60)],
      ["order", view.order],
      ["phases", view.phases.length.toLocaleString("en")],
      ["dependencies", view.edges.length.toLocaleString("en")],
      ["longest chain", model.levels.length === 0 ? null : count(model.levels.length, "command")],
      ["most at once", widest === 0 ? null : count(widest, "command")],
    ]), totalFacts(page, model.totals)),
    view.critical_path.length === 0 ? null : section("Critical path", facts([
      ["length", view.critical_path_us === null ? null : `${time(view.critical_path_us)} ${page.timeWord()}`],
      ["of all time", view.critical_path_us === null || !model.totals.timeKnown ? null : percent(view.critical_path_us, model.totals.time_us)],
      ["commands", `${view.critical_path.length} of ${view.nodes.length}`],
    ])),
    memory === null ? null : section("Memory", facts([
      ["arena", `${bytes(memory.arena_bytes)}${memory.arena_bytes === memory.lower_bound_bytes ? " (the lower bound)" : ""}`],
      ["lower bound", memory.arena_bytes === memory.lower_bound_bytes ? null : bytes(memory.lower_bound_bytes)],
      ["without sharing", bytes(memory.unshared_bytes)],
      ["outside the arena", bytes(memory.persistent_bytes)],
    ])),
    section(`Takes longest, ${page.timeWord()}`, costly.length === 0 ? null : longList(costly.map((node) => () => h("div", { class: "use" },
      commandLink(page, node), h("small", {}, time(model.time_us[node]!)))))),
    section(`Colours, ${page.store.state.colour === "cost" ? "by time" : `by ${page.store.state.colour}`}`, legend(page)),
    section("Parameters", view.parameters.length === 0 ? null : facts([
      ...(view.half === null ? [] : [["half", view.half] as [string, string]]),
      ...view.parameters.map(([name, value]): [string, string] => [short(name, 30), visible(String(value))]),
    ])),
    model.view.phases.some((phase) => phase.kind !== "phase") ? section("Graphs and bodies", longList(view.phases.map((_, index) => index)
      .filter((index) => view.phases[index]!.kind !== "phase").map((index) => () => phaseLink(page, index)))) : null,
  ].filter((part): part is HTMLElement => part !== null);
}

function legend(page: Page): HTMLElement {
  const world = page.world();
  const { view } = world.model;
  const { colour } = page.store.state;
  const critical = view.critical_path.length === 0 ? null : h("li", {}, dot(page.theme.critical), "critical path");
  if (colour === "cost") {
    return h("ul", { class: "legend" }, critical, [0, 0.25, 0.45, 0.65, 0.9].map((share) => h("li", {}, dot(heat(page.theme, share)),
      share === 0 ? "least time" : share === 0.9 ? "most time" : "")));
  }
  if (colour === "kernel") {
    const ranked = view.kernels.map((_, kernel) => kernel).sort((a, b) => world.kernelHues[a]! - world.kernelHues[b]!);
    return h("ul", { class: "legend" }, critical, ranked.slice(0, 12).map((kernel) =>
      h("li", {}, dot(hue(page.theme, world.kernelHues[kernel])), short(world.model.kernelName[kernel]!, 40))));
  }
  const titles = new Map<number, string>();
  world.hues.forEach((number, phase) => {
    if (number !== null && !titles.has(number)) titles.set(number, view.phases[phase]!.title || view.phases[phase]!.name);
  });
  return h("ul", { class: "legend" },
    critical,
    [...titles].slice(0, 12).map(([number, text]) => h("li", {}, dot(hue(page.theme, number)), short(text, 40))));
}
