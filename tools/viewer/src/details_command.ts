// Details of a command: what it runs, on which bytes, for whom it waits, and where the program says so.

import type { Argument, Command } from "./contract.js";
import { commandLink, documentation, facts, fullText, kernelLink, longList, modeMark, phaseLink, planeLink, rangeText, REASON_TEXT, section, title } from "./details_parts.js";
import { originSection } from "./details_origin.js";
import { h } from "./dom.js";
import type { Model } from "./model.js";
import { phasesOf } from "./model.js";
import type { Page } from "./page.js";
import { bytes, count, extent, operations, percent, time } from "./quantities.js";
import { short, visible } from "./names.js";
import { commandColour, statusColour, STATUS_SIGN } from "./world.js";

export function commandDetails(page: Page, node: number): HTMLElement[] {
  const world = page.world();
  const { model } = world;
  const { view } = model;
  const command = view.nodes[node]!;
  const level = model.level[node]!;
  const beside = model.levels[level]!.length - 1;
  const kind = command.kind === "launch" ? "launch" : command.kind.replace("_", " ");
  const name = command.kernel !== null ? view.kernels[command.kernel]!.name : model.commandName[node]!;
  const phases = phasesOf(model, node).reverse();
  return [
    ...title(`${kind} · command ${model.position[node]! + 1} of ${view.nodes.length}`, name, commandColour(world, page.theme, node, page.store.state.colour)),
    h("p", { class: "crumbs" }, phases.flatMap((phase, at) => [at > 0 ? " › " : "", phaseLink(page, phase)])),
    marks(page, node),
    changes(page, node),
    section("Cost", costFacts(page, node)),
    section("Runs", runFacts(page, command)),
    argumentsSection(page, command),
    accessSection(page, command),
    section(`Waits for ${model.incoming[node]!.length || "nothing"}`, model.incoming[node]!.length === 0
      ? h("p", {}, "It can start at once.") : edgeList(page, model.incoming[node]!, "before")),
    section(model.outgoing[node]!.length === 0 ? "Nothing waits for it" : `${count(model.outgoing[node]!.length, "command")} ${model.outgoing[node]!.length === 1 ? "waits" : "wait"} for it`,
      model.outgoing[node]!.length === 0 ? null : edgeList(page, model.outgoing[node]!, "after")),
    section("Order", facts([
      ["level", `${level + 1} of ${model.levels.length}`],
      ["at the same level", beside === 0 ? "none: it runs alone" : `${count(beside, "other command")}`],
    ]), beside > 0 ? longList(model.levels[level]!.filter((other) => other !== node).map((other) => () => commandLink(page, other))) : null),
    originSection(page, command.origin),
    detailSection(command),
    command.kernel === null ? null : section("What the kernel does", documentation(view.kernels[command.kernel]!.doc)),
  ].filter((part): part is HTMLElement => part !== null);
}

function marks(page: Page, node: number): HTMLElement | null {
  const { model } = page.world();
  const command = model.view.nodes[node]!;
  const found = [
    ...(model.critical.has(node) ? [h("span", { class: "badge critical" }, "on the critical path")] : []),
    ...command.flags.map((flag) => h("span", { class: "badge flag" }, `! ${short(flag, 60)}`)),
    ...model.view.notes.filter((note) => note.node === node).map((note) => h("span", { class: `badge ${note.severity}` },
      `${note.severity}: ${short(note.text, 200)}${note.line === null ? "" : ` (line ${note.line})`}`)),
  ];
  return found.length === 0 ? null : h("p", { class: "badges" }, found);
}

function changes(page: Page, node: number): HTMLElement | null {
  const world = page.world();
  const pair = world.pairing[node];
  if (pair === null || pair === undefined) return null;
  const sign = h("b", {}, `${STATUS_SIGN[pair.status]} ${pair.status}`);
  sign.style.color = statusColour(page.theme, pair.status);
  const mirrored = page.store.state.side === "this" ? pair.left : pair.right;
  return section("Compared", h("p", {}, sign), pair.changes.length === 0 ? null : h("ul", { class: "plain" }, pair.changes.map((change) => h("li", {}, short(change, 300)))),
    mirrored === null ? null : h("button", {
      type: "button", onclick: () => {
        page.store.update({ side: page.store.state.side === "this" ? "other" : "this", selection: null });
        page.select({ kind: "command", index: mirrored });
      },
    }, "Show it in the other graph"));
}

function costFacts(page: Page, node: number): HTMLElement | null {
  const { model } = page.world();
  const command = model.view.nodes[node]!;
  const measured_us = command.elapsed_ms === null ? null : command.elapsed_ms * 1000;
  const moved = (command.read_bytes ?? 0) + (command.written_bytes ?? 0);
  const whole = model.totals.time_us;
  const own = model.time_us[node]!;
  return facts([
    ["measured", measured_us === null ? null : time(measured_us)],
    ["estimate", command.cost_us === null ? null : time(command.cost_us)],
    ["of the whole", own === null || whole === 0 ? null : percent(own, whole)],
    ["of the roofline", measured_us === null || command.cost_us === null ? null : percent(command.cost_us, measured_us)],
    ["bound by", bound(model, command)],
    ["reads", command.read_bytes === null ? null : bytes(command.read_bytes)],
    ["writes", command.written_bytes === null ? null : bytes(command.written_bytes)],
    ["operations", command.operations === null ? null : operations(command.operations)],
    ["operations a byte", command.operations === null || moved === 0 ? null : (command.operations / moved).toFixed(1)],
  ]);
}

/** What the estimate says takes longest: the launch itself, moving bytes, or computing. */
function bound(model: Model, command: Command): string | null {
  const { roofline } = model.view;
  if (roofline === null || command.cost_us === null || command.cost_us === 0) return null;
  const move_us = ((command.read_bytes ?? 0) + (command.written_bytes ?? 0)) / roofline.bandwidth_bytes_per_us;
  const compute_us = (command.operations ?? 0) / roofline.operations_per_us;
  if (roofline.overhead_us >= Math.max(move_us, compute_us)) return `the launch (${percent(roofline.overhead_us, command.cost_us)} of the estimate)`;
  return move_us >= compute_us ? `moving bytes (${time(move_us)})` : `computing (${time(compute_us)})`;
}

function runFacts(page: Page, command: Command): HTMLElement | null {
  const kernel = command.kernel === null ? null : page.world().model.view.kernels[command.kernel]!;
  const threads = command.grid === null || command.block === null ? null
    : [...command.grid, ...command.block].reduce((product, size) => product * size, 1);
  const rows: [string, HTMLElement | string | null][] = [
    ["kernel", command.kernel === null ? null : kernelLink(page, command.kernel)],
    ["grid", command.grid === null ? null : extent(command.grid)],
    ["block", command.block === null ? null : extent(command.block)],
    ["threads", threads === null ? null : threads.toLocaleString("en")],
    ["shared memory", command.shared_bytes === null ? null : bytes(command.shared_bytes)],
    ["registers", kernel?.registers === null || kernel === null ? null : String(kernel.registers)],
  ];
  const bodies = command.body.map((phase) => phaseLink(page, phase));
  const known = facts(rows);
  if (known === null && bodies.length === 0) return null;
  return h("div", {}, known, ...(bodies.length === 0 ? [] : [h("p", {}, "runs the commands of "), ...bodies]));
}

function argumentsSection(page: Page, command: Command): HTMLElement | null {
  if (command.arguments.length === 0) return null;
  const { planes } = page.world().model.view;
  const row = (argument: Argument): HTMLElement => {
    const plane = argument.plane === null ? null : planes[argument.plane]!;
    const offset = argument.offset_bytes ?? 0;
    return h("tr", {}, h("td", {}, short(argument.slot, 24)), h("td", {}, modeMark(argument.access)),
      h("td", {}, argument.plane !== null ? planeLink(page, argument.plane, 26)
        : argument.value === null || (argument.value === "null" && argument.access !== null) ? h("span", { class: "quiet" }, "left out") : h("span", { class: "mono" }, short(argument.value, 40)),
      offset === 0 ? "" : h("small", {}, ` + ${bytes(offset)}`)),
      h("td", { class: "number" }, plane === null ? "" : `${argument.extent === null ? "" : extent(argument.extent)} ${plane.element ?? ""}`));
  };
  return section("Slots", h("table", { class: "slots" }, h("tbody", {}, command.arguments.map(row))));
}

/** Bytes touched, where the slots do not say it: dumps, fills and copies. */
function accessSection(page: Page, command: Command): HTMLElement | null {
  if (command.accesses.length === 0 || command.arguments.length > 0) return null;
  const { planes } = page.world().model.view;
  return section("Bytes", h("table", { class: "slots" }, h("tbody", {}, command.accesses.map((access) => h("tr", {},
    h("td", {}, modeMark(access.mode)), h("td", {}, planeLink(page, access.plane)),
    h("td", { class: "number" }, rangeText(access.start, access.stop, planes[access.plane]!.size_bytes)))))));
}

function edgeList(page: Page, edges: number[], end: "before" | "after"): HTMLElement {
  const { model } = page.world();
  const { view } = model;
  const sorted = [...edges].sort((a, b) => model.position[view.edges[a]![end]]! - model.position[view.edges[b]![end]]!);
  return longList(sorted.map((index) => () => {
    const edge = view.edges[index]!;
    const plane = edge.plane === null ? null : view.planes[edge.plane]!;
    return h("div", { class: "edge" }, commandLink(page, edge[end]), h("div", { class: "because" },
      model.criticalEdges.has(index) ? h("span", { class: "critical-text" }, "critical · ") : "",
      h("span", { title: edge.reason }, REASON_TEXT[edge.reason]), plane === null ? "" : ": ",
      edge.plane === null ? "" : planeLink(page, edge.plane, 30),
      plane === null || edge.start === null || edge.stop === null ? "" : h("small", {}, `, ${rangeText(edge.start, edge.stop, plane.size_bytes)}`),
      edge.count > 1 ? h("small", {}, `, and ${edge.count - 1} more`) : ""));
  }));
}

function detailSection(command: Command): HTMLElement | null {
  return section("Further facts", command.details.length === 0 ? null : facts(command.details.map(([key, text]) =>
    [short(key, 40), text.length > 90 ? fullText(text) : visible(text)])),
  command.label.length > 90 ? fullText(command.label) : null);
}
