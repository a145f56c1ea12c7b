// Rows of the lists at the left: one function for each kind of thing.

import { h } from "./dom.js";
import type { Page } from "./page.js";
import { bytes, percent, time } from "./quantities.js";
import { phaseOccurrence, phaseTitle } from "./repeats.js";
import { short, visible } from "./names.js";
import type { Row } from "./virtual_list.js";
import { commandColour, commandTitle, hue, statusColour, STATUS_SIGN, writtenPlanes } from "./world.js";

function chosen(page: Page, kind: string, index: number): string {
  const { selection } = page.store.state;
  return selection !== null && selection.kind === kind && "index" in selection && selection.index === index ? "selected" : "";
}

export function dot(colour: string, square = false): HTMLElement {
  const mark = h("i", { class: square ? "dot square" : "dot" });
  mark.style.background = colour;
  return mark;
}

export function meter(share: number, colour: string): HTMLElement {
  const fill = h("i", {});
  fill.style.width = `${Math.max(0, Math.min(100, 100 * share))}%`;
  fill.style.background = colour;
  return h("span", { class: "meter", "aria-hidden": true }, fill);
}

export function commandRow(page: Page, node: number, extra: { depth?: number; note?: string } = {}): Row {
  const world = page.world();
  const { model } = world;
  const critical = model.critical.has(node);
  const status = world.pairing[node]?.status;
  const title = commandTitle(world, node, 48);
  const position = model.position[node]! + 1;
  return {
    key: `command-${node}`,
    label: `${position} ${title}${critical ? ", on the critical path" : ""}`,
    class: `${chosen(page, "command", node)}${critical ? " critical" : ""}`,
    depth: extra.depth ?? 0,
    activate: () => page.select({ kind: "command", index: node }),
    content: () => {
      const sign = status === undefined || status === "same" ? null : h("b", { class: "sign" }, STATUS_SIGN[status]);
      if (sign !== null) sign.style.color = statusColour(page.theme, status!);
      return [
        h("span", { class: "number" }, String(position)),
        dot(commandColour(world, page.theme, node, page.store.state.colour), true),
        ...(sign === null ? [] : [sign]),
        h("span", { class: "name" }, title, " ", h("small", {}, writtenPlanes(world, node))),
        h("span", { class: "side" }, extra.note ?? (model.time_us[node] === null ? "" : time(model.time_us[node]!))),
      ];
    },
  };
}

export function phaseRow(page: Page, phase: number, tree: Pick<Row, "depth" | "expanded" | "toggle">): Row {
  const world = page.world();
  const { model } = world;
  const totals = model.phaseTotals[phase]!;
  const whole = model.totals;
  const title = short(phaseTitle(model, phase), 60);
  const occurrence = phaseOccurrence(model, phase);
  const { name } = model.view.phases[phase]!;
  const share = whole.timeKnown ? totals.time_us / (whole.time_us || 1) : totals.commands / Math.max(1, whole.commands);
  const colour = hue(page.theme, world.hues[phase]);
  return {
    key: `phase-${phase}`,
    label: `${title} ${occurrence}, ${totals.commands} commands`,
    class: chosen(page, "phase", phase),
    activate: () => page.select({ kind: "phase", index: phase }),
    ...tree,
    content: () => [
      dot(colour),
      h("span", { class: "name", title: visible(name) }, title, occurrence === "" ? "" : h("small", {}, ` ${occurrence}`)),
      totals.commands === 0 ? h("span", { class: "side" }, "empty") : meter(share, colour),
      totals.commands === 0 ? "" : h("span", { class: "side share" }, percent(share, 1)),
    ],
  };
}

export function planeRow(page: Page, plane: number): Row {
  const world = page.world();
  const { name, role, size_bytes } = world.model.view.planes[plane]!;
  const status = world.planePairing[plane]?.status;
  return {
    key: `plane-${plane}`,
    label: `${short(name)}, ${role}, ${bytes(size_bytes)}`,
    class: chosen(page, "plane", plane),
    activate: () => page.select({ kind: "plane", index: plane }),
    content: () => [
      h("b", { class: "sign" }, status === undefined || status === "same" ? "" : STATUS_SIGN[status]),
      h("span", { class: "name mono" }, short(name, 44)),
      h("span", { class: "side" }, `${role} ${bytes(size_bytes)}`),
    ],
  };
}

export function kernelRow(page: Page, kernel: number): Row {
  const world = page.world();
  const { name } = world.model.view.kernels[kernel]!;
  const launches = world.model.kernelCommands[kernel]!;
  let time_us = 0;
  for (const node of launches) time_us += world.model.time_us[node] ?? 0;
  const { totals } = world.model;
  return {
    key: `kernel-${kernel}`,
    label: `${short(name)}, ${launches.length} launches`,
    class: chosen(page, "kernel", kernel),
    activate: () => page.select({ kind: "kernel", index: kernel }),
    content: () => [
      dot(hue(page.theme, world.kernelHues[kernel]), true),
      h("span", { class: "name" }, short(world.model.kernelName[kernel]!, 44)),
      h("span", { class: "side" }, `${launches.length} ×`),
      totals.timeKnown ? meter(time_us / (totals.time_us || 1), page.theme.soft) : "",
      h("span", { class: "side share" }, totals.timeKnown ? percent(time_us, totals.time_us) : ""),
    ],
  };
}

export function heading(text: string): Row {
  return { key: `heading-${text}`, label: text, heading: true, activate: () => undefined, content: () => [text] };
}
