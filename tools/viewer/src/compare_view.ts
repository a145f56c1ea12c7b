// Two graphs beside each other: their commands in order as two strips, and the list of what differs.

import type { Pairing, Status } from "./contract.js";
import { h, replace } from "./dom.js";
import type { MainView, Page } from "./page.js";
import { prepareCanvas, SANS } from "./paint.js";
import { mix } from "./palette.js";
import { bytes, count, time } from "./quantities.js";
import { phasePlace } from "./repeats.js";
import { short } from "./names.js";
import { VirtualList, type Row } from "./virtual_list.js";
import { commandTitle, statusColour, STATUS_SIGN, type World } from "./world.js";

const LEFT = 12;
const BAND = 24;
const STATUSES: readonly Status[] = ["removed", "added", "changed", "same"];

export class CompareView implements MainView {
  readonly element: HTMLElement;
  private readonly facts = h("div", { class: "compare-head" });
  private readonly canvas = h("canvas", { class: "compare-strips", role: "img", "aria-label": "Both graphs, command by command" });
  private readonly list = new VirtualList("listbox", "Differences");
  private readonly shown = new Set<Status>(["removed", "added", "changed"]);
  private drawnFor = "";

  constructor(private readonly page: Page) {
    this.element = h("div", { class: "view", id: "view-compare" }, this.facts, this.canvas, this.list.element);
    this.canvas.addEventListener("click", (event) => this.click(event.offsetX, event.offsetY));
  }

  private click(x: number, y: number): void {
    const side = y < 26 + BAND ? "other" : "this";
    const world = side === "other" ? this.page.worlds.other! : this.page.worlds.this;
    const { sequence } = world.model.view;
    const most = Math.max(sequence.length, this.page.worlds.other!.model.view.sequence.length, this.page.worlds.this.model.view.sequence.length);
    const node = sequence[Math.floor(((x - LEFT) / (this.canvas.clientWidth - 2 * LEFT)) * most)];
    if (node !== undefined) this.open(side, node);
  }

  private open(side: "this" | "other", node: number): void {
    const { store } = this.page;
    if (store.state.side !== side) store.update({ side, selection: null, filter: null });
    this.page.select({ kind: "command", index: node });
  }

  draw(): void {
    const { worlds, store } = this.page;
    const comparison = worlds.this.model.view.comparison;
    if (comparison === null || worlds.other === null) return;
    this.drawStrips(worlds.other, worlds.this);
    const key = JSON.stringify([[...this.shown], store.state.selection, store.state.side, this.page.theme.dark]);
    if (key === this.drawnFor) {
      this.list.draw();
      return;
    }
    this.drawnFor = key;
    this.drawHead(worlds.other, worlds.this, comparison.nodes);
    const planes = comparison.planes.filter((pair) => this.shown.has(pair.status));
    const nodes = comparison.nodes.filter((pair) => this.shown.has(pair.status));
    const title = (text: string): Row => ({ key: `heading-${text}`, label: text, heading: true, activate: () => undefined, content: () => [text] });
    this.list.setRows([
      ...(nodes.length > 0 ? [title(`Commands (${nodes.length})`)] : []),
      ...nodes.map((pair, index) => this.nodeRow(pair, index)),
      ...(planes.length > 0 ? [title(`Planes (${planes.length})`)] : []),
      ...planes.map((pair, index) => this.planeRow(pair, index)),
      ...(nodes.length + planes.length === 0 ? [title("No difference of these kinds")] : []),
    ]);
  }

  private drawHead(other: World, own: World, pairs: Pairing[]): void {
    const amounts = new Map<Status, number>();
    for (const pair of pairs) amounts.set(pair.status, (amounts.get(pair.status) ?? 0) + 1);
    const card = (side: "this" | "other", world: World, name: string, sub: string): HTMLElement => h("button", {
      type: "button", class: "compare-card", "aria-pressed": String(this.page.store.state.side === side),
      onclick: () => this.page.store.update({ side, selection: null, filter: null }),
    }, h("b", {}, short(name, 50)), h("small", {}, sub), h("span", {},
      `${count(world.model.view.nodes.length, "command")} · ${world.model.totals.timeKnown ? time(world.model.totals.time_us) : "–"} · arena ${bytes(world.model.view.memory?.arena_bytes ?? null)} · critical ${time(world.model.view.critical_path_us)}`));
    replace(this.facts,
      h("div", { class: "compare-cards" },
        card("other", other, own.model.view.comparison!.other_title, ["before", ...parametersOnly(other, own)].join(" · ")), h("span", { class: "arrow", "aria-hidden": true }, "→"),
        card("this", own, own.model.view.title, ["after", ...parametersOnly(own, other)].join(" · "))),
      h("div", { class: "switch", role: "group", "aria-label": "Kinds of difference" }, STATUSES.map((status) => {
        const sign = h("b", {}, STATUS_SIGN[status]);
        sign.style.color = statusColour(this.page.theme, status);
        return h("button", { type: "button", "aria-pressed": String(this.shown.has(status)), onclick: () => {
          if (this.shown.has(status)) this.shown.delete(status);
          else this.shown.add(status);
          this.drawnFor = "";
          this.draw();
        } }, sign, ` ${amounts.get(status) ?? 0} ${status}`);
      })));
  }

  private signOf(pair: Pairing): HTMLElement {
    const sign = h("b", { class: "sign" }, STATUS_SIGN[pair.status]);
    sign.style.color = statusColour(this.page.theme, pair.status);
    return sign;
  }

  private nodeRow(pair: Pairing, index: number): Row {
    const { worlds, store } = this.page;
    const side = pair.right !== null ? "this" : "other";
    const world = side === "this" ? worlds.this : worlds.other!;
    const node = (pair.right ?? pair.left)!;
    const { phase } = world.model.view.nodes[node]!;
    const position = (which: World, at: number | null): string => (at === null ? "–" : String(which.model.position[at]! + 1));
    const { selection } = store.state;
    const selected = selection?.kind === "command" && store.state.side === side && selection.index === node;
    return {
      key: `pair-${index}`,
      label: `${pair.status} ${commandTitle(world, node)}`,
      class: selected ? "selected" : "",
      activate: () => this.open(side, node),
      content: () => [this.signOf(pair), h("span", { class: "number wide" }, `${position(worlds.other!, pair.left)} → ${position(worlds.this, pair.right)}`),
        h("span", { class: "name" }, commandTitle(world, node), h("small", {}, phase === null ? "" : `  ${phasePlace(world.model, phase, 40)}`)),
        h("span", { class: "side text" }, short(pair.changes.join("; "), 160))],
    };
  }

  private planeRow(pair: Pairing, index: number): Row {
    const { worlds } = this.page;
    const side = pair.right !== null ? "this" : "other";
    const world = side === "this" ? worlds.this : worlds.other!;
    const plane = (pair.right ?? pair.left)!;
    const { name, size_bytes } = world.model.view.planes[plane]!;
    return {
      key: `plane-pair-${index}`,
      label: `${pair.status} ${short(name)}`,
      activate: () => {
        this.page.store.update({ side, selection: null });
        this.page.select({ kind: "plane", index: plane });
      },
      content: () => [this.signOf(pair), h("span", { class: "name mono" }, short(name, 60), h("small", {}, `  ${bytes(size_bytes)}`)),
        h("span", { class: "side text" }, short(pair.changes.join("; "), 160))],
    };
  }

  /** Each command a column: before above, after below; pairs that differ are joined. */
  private drawStrips(other: World, own: World): void {
    const { context, width } = prepareCanvas(this.canvas);
    if (width === 0) return;
    const { theme } = this.page;
    const most = Math.max(other.model.view.nodes.length, own.model.view.nodes.length, 1);
    const per = (width - 2 * LEFT) / most;
    const rows = [{ world: other, y: 8 }, { world: own, y: 8 + BAND + 26 }];
    for (const { world, y } of rows) {
      world.model.view.sequence.forEach((node, position) => {
        const status = world.pairing[node]?.status ?? "same";
        context.fillStyle = status === "same" ? mix(theme.soft, theme.ground, 0.3) : statusColour(theme, status);
        context.fillRect(LEFT + position * per, y, Math.max(0.7, per - (per > 3 ? 1 : 0)), BAND);
        if (per < 9 || status === "same") return;
        context.font = `700 11px ${SANS}`;
        context.fillStyle = theme.dark ? "#14171a" : "#ffffff";
        context.fillText(STATUS_SIGN[status], LEFT + position * per + per / 2 - 4, y + BAND / 2);
      });
    }
    for (const pair of own.model.view.comparison!.nodes) {
      if (pair.left === null || pair.right === null) continue;
      const from = LEFT + (other.model.position[pair.left]! + 0.5) * per;
      const to = LEFT + (own.model.position[pair.right]! + 0.5) * per;
      context.strokeStyle = pair.status === "same" ? mix(theme.soft, theme.ground, 0.25) : statusColour(theme, pair.status);
      context.lineWidth = pair.status === "same" ? 0.6 : 1.4;
      context.beginPath();
      context.moveTo(from, 8 + BAND + 1);
      context.lineTo(to, 8 + BAND + 25);
      context.stroke();
    }
  }
}

/** Parameters of one graph whose value the other does not have. */
function parametersOnly(world: World, other: World): string[] {
  const values = new Map(other.model.view.parameters);
  const { half, parameters } = world.model.view;
  const all: [string, string | number][] = half === null ? parameters : [...parameters, ["half", half]];
  if (other.model.view.half !== null) values.set("half", other.model.view.half);
  return all.filter(([name, value]) => values.get(name) !== value).slice(0, 4).map(([name, value]) => `${short(name, 30)} = ${short(String(value), 20)}`);
}
