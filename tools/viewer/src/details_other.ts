// Details of phases, kernels and source lines.

import type { Totals } from "./model.js";
import { commandLink, documentation, facts, kernelLink, longList, phaseLink, planeLink, section, title } from "./details_parts.js";
import { h } from "./dom.js";
import { commandsOf } from "./lit.js";
import { addCommand, noTotals } from "./model.js";
import type { Page } from "./page.js";
import { bytes, count, operations, percent, time } from "./quantities.js";
import { phaseLabel, phaseTitle } from "./repeats.js";
import { short, visible } from "./names.js";
import { hue } from "./world.js";

export function totalFacts(page: Page, totals: Totals): HTMLElement | null {
  const { totals: whole, view } = page.world().model;
  // A dump tells the bytes of copies and fills only.
  const known = view.kind === "dump" ? " (known)" : "";
  return facts([
    ["commands", totals.commands.toLocaleString("en")],
    [page.timeWord() === "measured" ? "measured" : "estimate", totals.timeKnown ? `${time(totals.time_us)} (${percent(totals.time_us, whole.time_us)} of all)` : null],
    [`reads${known}`, totals.bytesKnown ? bytes(totals.read_bytes) : null],
    [`writes${known}`, totals.bytesKnown ? bytes(totals.written_bytes) : null],
    ["operations", totals.operations > 0 ? operations(totals.operations) : null],
  ]);
}

export function phaseDetails(page: Page, phase: number): HTMLElement[] {
  const world = page.world();
  const { model } = world;
  const { view } = model;
  const { name, kind, note, parent } = view.phases[phase]!;
  const nodes = commandsOf(model, { kind: "phase", index: phase });
  const into = new Map<number, number>();
  const out = new Map<number, number>();
  for (const edge of view.edges) {
    const before = nodes.has(edge.before);
    const after = nodes.has(edge.after);
    if (before === after || edge.reason !== "read-after-write" || edge.plane === null) continue;
    const planes = after ? into : out;
    planes.set(edge.plane, (planes.get(edge.plane) ?? 0) + 1);
  }
  const [at, all] = model.phaseRepeat[phase]!;
  const kernels = new Map<number, number>();
  for (const node of nodes) {
    const { kernel } = view.nodes[node]!;
    if (kernel !== null) kernels.set(kernel, (kernels.get(kernel) ?? 0) + 1);
  }
  const same = view.phases.map((_, index) => index).filter((index) => view.phases[index]!.name === name && view.phases[index]!.parent === parent);
  const next = (step: number): HTMLElement | null => {
    const other = same[at - 1 + step];
    return all < 2 || other === undefined ? null : h("button", { type: "button", onclick: () => page.select({ kind: "phase", index: other }) },
      step < 0 ? "‹ previous repetition" : "next repetition ›");
  };
  const planeList = (planes: Map<number, number>): HTMLElement => longList([...planes.keys()].map((plane) => () =>
    h("div", { class: "use" }, planeLink(page, plane), h("small", {}, bytes(view.planes[plane]!.size_bytes)))));
  const buttons = [next(-1), next(1)].filter((button): button is HTMLElement => button !== null);
  return [
    ...title(kind === "phase" ? `phase${all > 1 ? ` · ${at} of ${all}` : ""}` : kind, phaseTitle(model, phase), hue(page.theme, world.hues[phase])),
    h("p", { class: "crumbs" }, h("code", {}, short(name, 60)), model.phaseLoop[phase] === "" ? "" : ` · ${short(model.phaseLoop[phase]!, 60)}`),
    parent === null ? null : h("p", { class: "crumbs" }, "in ", phaseLink(page, parent)),
    documentation(note),
    section("Cost", totalFacts(page, model.phaseTotals[phase]!)),
    buttons.length === 0 ? null : h("p", { class: "actions" }, buttons),
    section("Parts", model.childPhases[phase]!.length === 0 ? null : longList(model.childPhases[phase]!.map((child) => () =>
      h("div", { class: "use" }, phaseLink(page, child), h("small", {}, model.phaseTotals[child]!.timeKnown ? time(model.phaseTotals[child]!.time_us) : ""))))),
    section(nodes.size === 0 ? "It holds no command" : "Commands", model.phaseCommands[phase]!.length === 0 ? (nodes.size === 0 ? h("p", {}, "A box without commands; it is shown because the graph has it.") : null)
      : longList(model.phaseCommands[phase]!.map((node) => () => commandLink(page, node)))),
    section("Takes from outside", into.size === 0 ? null : planeList(into)),
    section("Leaves for others", out.size === 0 ? null : planeList(out)),
    section("Kernels", kernels.size === 0 ? null : longList([...kernels].sort((a, b) => b[1] - a[1]).map(([kernel, amount]) => () =>
      h("div", { class: "use" }, kernelLink(page, kernel), h("small", {}, `${amount} ×`))))),
  ].filter((part): part is HTMLElement => part !== null);
}

export function kernelDetails(page: Page, index: number): HTMLElement[] {
  const world = page.world();
  const { model } = world;
  const kernel = model.view.kernels[index]!;
  const launches = model.kernelCommands[index]!;
  const totals = noTotals();
  for (const node of launches) addCommand(totals, model.view.nodes[node]!, model.time_us[node]!);
  return [
    ...title("kernel", kernel.name, hue(page.theme, world.kernelHues[index])),
    documentation(kernel.doc),
    section("Facts", facts([
      ["file", kernel.file === null ? null : visible(kernel.file)],
      ["symbol", kernel.symbol === kernel.name ? null : kernel.symbol.length > 60 ? h("pre", { class: "full", tabindex: 0 }, visible(kernel.symbol)) : visible(kernel.symbol)],
      ["registers a thread", kernel.registers === null ? null : String(kernel.registers)],
      ...kernel.constants.map(([name, value]): [string, string] => [short(name, 30), String(value)]),
    ])),
    section("Cost of all launches", totalFacts(page, totals)),
    section("Slots", kernel.slots === null ? null : h("table", { class: "slots" }, h("tbody", {}, kernel.slots.map((slot, at) => h("tr", {},
      h("td", { class: "number" }, String(at)), h("td", {}, short(slot.name, 40)), h("td", {}, `${slot.kind}${slot.element === null ? "" : ` ${slot.element}`}`),
      h("td", {}, slot.access ?? "")))))),
    section(count(launches.length, "launch", "launches"), longList(launches.map((node) => () => {
      const { phase } = model.view.nodes[node]!;
      return h("div", { class: "use" }, commandLink(page, node), h("small", {}, phase === null ? "" : phaseLabel(model, phase, 26)));
    }))),
  ].filter((part): part is HTMLElement => part !== null);
}

export function lineDetails(page: Page, source: number, line: number): HTMLElement[] {
  const { model } = page.world();
  const { name, text } = model.view.sources[source]!;
  const nodes = [...commandsOf(model, { kind: "line", source, line })].sort((a, b) => model.position[a]! - model.position[b]!);
  const totals = noTotals();
  for (const node of nodes) addCommand(totals, model.view.nodes[node]!, model.time_us[node]!);
  return [
    ...title("source line", `${name}:${line}`),
    h("pre", { class: "excerpt" }, visible((text.split("\n")[line - 1] ?? "").trim())),
    section("Cost of what it leads to", totalFacts(page, totals)),
    section(count(nodes.length, "command"), nodes.length === 0 ? null : longList(nodes.map((node) => () => commandLink(page, node)))),
  ].filter((part): part is HTMLElement => part !== null);
}
