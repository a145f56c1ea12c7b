// Pieces that several kinds of details use: headings, facts, links and lists.

import { h } from "./dom.js";
import type { Mode, Reason } from "./contract.js";
import type { Page } from "./page.js";
import { bytes } from "./quantities.js";
import { phaseLabel } from "./repeats.js";
import { short, visible } from "./names.js";
import { dot } from "./rows.js";
import { commandColour, commandTitle, hue } from "./world.js";

type Content = HTMLElement | string;

/** A heading with the kind above it. A long name is cut there and stands in full in a scrollable box. */
export function title(kind: string, name: string, colour?: string): HTMLElement[] {
  const head = h("header", {}, h("p", { class: "kind" }, ...(colour === undefined ? [] : [dot(colour)]), kind), h("h2", {}, short(name, 90)));
  return name.length > 90 ? [head, fullText(name)] : [head];
}

export function fullText(text: string): HTMLElement {
  return h("pre", { class: "full", tabindex: 0, dir: "auto" }, visible(text));
}

export function section(name: string, ...content: (Content | null)[]): HTMLElement | null {
  const shown = content.filter((part): part is Content => part !== null);
  return shown.length === 0 ? null : h("section", {}, h("h3", {}, name), ...shown);
}

/** Name and value; null values are left out, and without any value the whole. */
export function facts(rows: [string, Content | null][]): HTMLElement | null {
  return rows.every(([, value]) => value === null) ? null : h("dl", {}, rows.filter(([, value]) => value !== null).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value!)]));
}

export function documentation(text: string | null): HTMLElement | null {
  return text === null || text.trim() === "" ? null : text.length > 600 ? fullText(text) : h("p", { class: "documentation", dir: "auto" }, visible(text));
}

export function commandLink(page: Page, node: number): HTMLElement {
  const world = page.world();
  return h("button", { type: "button", class: "link", "data-command": node, onclick: () => page.select({ kind: "command", index: node }) },
    dot(commandColour(world, page.theme, node, page.store.state.colour), true),
    h("span", { class: "position" }, String(world.model.position[node]! + 1)), commandTitle(world, node, 36));
}

export function planeLink(page: Page, plane: number, length = 40): HTMLElement {
  const world = page.world();
  return h("button", {
    type: "button", class: "link mono", "data-plane": plane, title: short(world.model.view.planes[plane]!.name, 200),
    onclick: () => page.select({ kind: "plane", index: plane }),
  }, short(world.planeName[plane]!, length));
}

export function phaseLink(page: Page, phase: number): HTMLElement {
  const world = page.world();
  return h("button", { type: "button", class: "link", "data-phase": phase, onclick: () => page.select({ kind: "phase", index: phase }) },
    dot(hue(page.theme, world.hues[phase])), phaseLabel(world.model, phase, 40));
}

export function kernelLink(page: Page, kernel: number): HTMLElement {
  const world = page.world();
  return h("button", { type: "button", class: "link", "data-kernel": kernel, onclick: () => page.select({ kind: "kernel", index: kernel }) },
    short(world.model.view.kernels[kernel]!.name, 60));
}

const MODE_SIGN: Record<Mode, string> = { read: "R", write: "W", accumulate: "RW" };

export function modeMark(mode: Mode | null): HTMLElement | string {
  return mode === null ? "" : h("span", { class: `mode ${mode}`, title: mode }, MODE_SIGN[mode]);
}

/** In words of the reader: what would go wrong without the edge. */
export const REASON_TEXT: Record<Reason, string> = {
  "read-after-write": "reads what it wrote", "write-after-read": "overwrites what it read",
  "write-after-write": "overwrites what it wrote", order: "by the order alone", given: "given",
};

const ITEMS_AT_FIRST = 12;

/** A list of which the first few show; a button shows the others. */
export function longList(items: (() => HTMLElement)[], kind = "ul"): HTMLElement {
  const list = kind === "ul" ? h("ul", { class: "plain" }) : h("ol", { class: "plain" });
  const add = (from: number, to: number): void => list.append(...items.slice(from, to).map((item) => h("li", {}, item())));
  add(0, ITEMS_AT_FIRST);
  if (items.length <= ITEMS_AT_FIRST) return list;
  let shown = ITEMS_AT_FIRST;
  const more = h("button", { type: "button", class: "more" });
  const label = (): void => {
    more.textContent = `${items.length - shown} more`;
  };
  label();
  more.addEventListener("click", () => {
    add(shown, shown + 200);
    shown = Math.min(items.length, shown + 200);
    if (shown === items.length) more.remove();
    else label();
  });
  return h("div", {}, list, more);
}

/** `bytes 0 … 4095 (4 KiB)`, both ends inclusive; the whole plane is said so. */
export function rangeText(start: number, stop: number, whole: number): string {
  return start === 0 && stop === whole ? `all ${bytes(whole)}` : `bytes ${start.toLocaleString("en")} … ${(stop - 1).toLocaleString("en")} (${bytes(stop - start)})`;
}
