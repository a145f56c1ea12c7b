// Where time, bytes and operations go: a map of nested areas by phase, and tables by phase and by kernel.

import { hierarchy, treemap, type HierarchyRectangularNode } from "d3-hierarchy";
import type { Box } from "./boxes.js";
import { h, replace } from "./dom.js";
import { noTotals, addCommand, type Totals } from "./model.js";
import type { MainView, Page } from "./page.js";
import { fit, prepareCanvas, SANS, textWidth } from "./paint.js";
import { mix } from "./palette.js";
import { bytes, operations, percent, time } from "./quantities.js";
import { short } from "./names.js";
import { commandColour, commandTitle, hue, type World } from "./world.js";

type Metric = "time" | "bytes" | "operations" | "commands";
const METRICS: readonly Metric[] = ["time", "bytes", "operations", "commands"];
const HEADER = 17;

export class CostView implements MainView {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { class: "drawing", role: "img", "aria-label": "Areas of phases and commands" });
  private readonly table = h("div", { class: "cost-tables" });
  private readonly bar = h("div", { class: "facts-line" });
  private metric: Metric = "time";
  private hovered: Box | null = null;
  private cells: HierarchyRectangularNode<Box>[] = [];
  private drawnFor = "";
  private tablesFor = "";

  constructor(private readonly page: Page) {
    this.element = h("div", { class: "view", id: "view-cost" }, this.bar,
      h("div", { class: "cost-body" }, h("div", { class: "cost-map" }, this.canvas), this.table));
    this.canvas.addEventListener("pointermove", (event) => this.hover(event.offsetX, event.offsetY));
    this.canvas.addEventListener("pointerleave", () => this.hover(-1, -1));
    this.canvas.addEventListener("click", (event) => {
      const box = this.hit(event.offsetX, event.offsetY);
      if (box?.node !== null && box !== null) page.select({ kind: "command", index: box.node });
      else if (box?.phase !== null && box !== null) page.select({ kind: "phase", index: box.phase });
    });
    const { totals } = page.worlds.this.model;
    if (!totals.timeKnown) this.metric = totals.bytesKnown ? "bytes" : "commands";
  }

  draw(): void {
    const { context, width, height } = prepareCanvas(this.canvas);
    const world = this.page.world();
    const { theme, store } = this.page;
    this.drawBar(world);
    this.drawTables(world);
    if (width === 0 || height === 0) return;
    const key = `${this.metric}|${width}|${height}|${store.state.side}`;
    if (key !== this.drawnFor) {
      this.cells = this.layOut(world, width, height);
      this.drawnFor = key;
    }
    const { selection } = store.state;
    for (const cell of this.cells) {
      const box = cell.data;
      const cellWidth = cell.x1 - cell.x0;
      const cellHeight = cell.y1 - cell.y0;
      if (cellWidth < 0.4 || cellHeight < 0.4 || box.kind === "root") continue;
      const inner = box.node === null;
      const colour = inner ? hue(theme, box.phase === null ? null : world.hues[box.phase])
        : commandColour(world, theme, box.node!, store.state.colour);
      context.fillStyle = mix(colour, theme.card, inner ? (theme.dark ? 0.22 : 0.18) : theme.dark ? 0.5 : 0.5);
      context.fillRect(cell.x0, cell.y0, cellWidth, cellHeight);
      const chosen = (selection?.kind === "command" && box.node === selection.index)
        || (selection?.kind === "phase" && inner && box.phase === selection.index);
      if (chosen || box === this.hovered) {
        context.strokeStyle = theme.select;
        context.lineWidth = chosen ? 2.5 : 1.5;
        context.strokeRect(cell.x0 + 1, cell.y0 + 1, cellWidth - 2, cellHeight - 2);
      }
      if (cellWidth < 34 || cellHeight < 12) continue;
      const font = inner ? `600 11px ${SANS}` : `10.5px ${SANS}`;
      const whole = inner ? [short(box.title, 60), box.subtitle].filter((part) => part !== "").join(" · ") : commandTitle(world, box.node!);
      const title = inner && box.subtitle !== "" && textWidth(whole, font) > cellWidth - 8 ? box.subtitle : whole;
      context.font = font;
      context.fillStyle = theme.ink;
      context.fillText(fit(title, font, cellWidth - 8), cell.x0 + 4, cell.y0 + 9);
      if (!inner && cellHeight > 30) {
        context.fillStyle = theme.soft;
        context.font = `10px ${SANS}`;
        context.fillText(fit(this.say(value(box.totals, this.metric)), context.font, cellWidth - 8), cell.x0 + 4, cell.y0 + 23);
      }
    }
    this.canvas.dataset["cells"] = String(this.cells.length);
  }

  private layOut(world: World, width: number, height: number): HierarchyRectangularNode<Box>[] {
    const root = hierarchy(world.tree.root, (box) => box.children)
      .sum((box) => (box.node === null ? 0 : value(box.totals, this.metric)));
    const map = treemap<Box>().size([width, height]).paddingTop((cell) => (cell.depth === 0 ? 0 : HEADER)).paddingInner(1.5)
      .paddingLeft((cell) => (cell.depth === 0 ? 0 : 2)).paddingRight((cell) => (cell.depth === 0 ? 0 : 2))
      .paddingBottom((cell) => (cell.depth === 0 ? 0 : 2));
    return map(root).descendants();
  }

  private say(amount: number): string {
    return this.metric === "time" ? time(amount) : this.metric === "bytes" ? bytes(amount)
      : this.metric === "operations" ? operations(amount) : String(amount);
  }

  private drawBar(world: World): void {
    const { totals, view } = world.model;
    const known = (metric: Metric): boolean => metric === "time" ? totals.timeKnown : metric === "bytes" ? totals.bytesKnown
      : metric === "operations" ? totals.operationsKnown : true;
    replace(this.bar,
      h("span", { role: "radiogroup", "aria-label": "What areas mean", class: "switch" }, METRICS.filter(known).map((metric) =>
        h("button", {
          type: "button", role: "radio", "aria-checked": String(metric === this.metric), onclick: () => {
            this.metric = metric;
            this.page.redraw();
          },
        }, metric === "time" ? `time (${this.page.timeWord()})` : metric))),
      h("span", {}, h("b", {}, "whole"), ` ${this.say(value(totals, this.metric))}`),
      view.roofline === null ? null : h("span", {}, h("b", {}, view.timed ? "roofline" : "estimate for"), ` ${view.roofline.device}`));
  }

  private drawTables(world: World): void {
    const key = `${this.metric}|${this.page.store.state.side}|${this.page.theme.dark}`;
    if (key === this.tablesFor) return;
    this.tablesFor = key;
    const { model } = world;
    const byPhase = new Map<string, { title: string; totals: Totals; hue: number | null; phase: number; runs: number; estimate: number }>();
    const byKernel = new Map<string, { title: string; totals: Totals; hue: number | null; kernel: number | null; estimate: number }>();
    for (const node of model.view.sequence) {
      const command = model.view.nodes[node]!;
      if (command.phase !== null) {
        const { name, title } = model.view.phases[command.phase]!;
        const row = byPhase.get(name) ?? {
          title: title || name, totals: noTotals(), hue: world.hues[command.phase] ?? null, phase: command.phase, runs: 0, estimate: 0,
        };
        addCommand(row.totals, command, model.time_us[node]!);
        row.estimate += command.cost_us ?? 0;
        byPhase.set(name, row);
      }
      const name = model.commandName[node]!;
      const row = byKernel.get(name) ?? {
        title: name, totals: noTotals(), hue: command.kernel === null ? null : world.kernelHues[command.kernel] ?? null, kernel: command.kernel, estimate: 0,
      };
      addCommand(row.totals, command, model.time_us[node]!);
      row.estimate += command.cost_us ?? 0;
      byKernel.set(name, row);
    }
    const whole = value(model.totals, this.metric);
    const sorted = <T extends { totals: Totals }>(rows: Iterable<T>): T[] =>
      [...rows].sort((a, b) => value(b.totals, this.metric) - value(a.totals, this.metric));
    replace(this.table,
      this.tableOf("By phase, all repetitions together", sorted(byPhase.values()), whole, (row) =>
        this.page.select({ kind: "phase", index: row.phase }), true),
      this.tableOf("By kernel", sorted(byKernel.values()), whole, (row) => {
        if (row.kernel !== null) this.page.select({ kind: "kernel", index: row.kernel });
      }, false));
  }

  private tableOf<T extends { title: string; totals: Totals; hue: number | null; estimate: number }>(
    heading: string, rows: T[], whole: number, choose: (row: T) => void, hues: boolean,
  ): HTMLElement {
    const { theme } = this.page;
    const { timed } = this.page.world().model.view;
    const dot = (row: T): HTMLElement => {
      const mark = h("i", { class: "dot" });
      mark.style.background = hues ? hue(theme, row.hue) : "transparent";
      return mark;
    };
    const meter = (row: T): HTMLElement => {
      const fill = h("i", {});
      fill.style.width = `${whole > 0 ? (100 * value(row.totals, this.metric)) / whole : 0}%`;
      return h("span", { class: "meter" }, fill);
    };
    return h("section", {}, h("h3", {}, heading), h("table", {},
      h("thead", {}, h("tr", {}, ["", "n", "share", "", "time", "bytes", "operations", ...(timed ? ["of roofline"] : [])].map((name) => h("th", {}, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {},
        h("td", {}, dot(row), h("button", { type: "button", class: "link", onclick: () => choose(row) }, short(row.title, 44))),
        h("td", { class: "number" }, String(row.totals.commands)),
        h("td", { class: "number" }, percent(value(row.totals, this.metric), whole)),
        h("td", {}, meter(row)),
        h("td", { class: "number" }, row.totals.timeKnown ? time(row.totals.time_us) : "–"),
        h("td", { class: "number" }, row.totals.bytesKnown ? bytes(row.totals.read_bytes + row.totals.written_bytes) : "–"),
        h("td", { class: "number" }, row.totals.operations > 0 ? operations(row.totals.operations) : "–"),
        timed ? h("td", { class: "number" }, row.totals.time_us > 0 ? percent(row.estimate, row.totals.time_us) : "–") : null)))));
  }

  private hit(x: number, y: number): Box | null {
    let found: Box | null = null;
    for (const cell of this.cells) {
      if (cell.data.kind !== "root" && x >= cell.x0 && x <= cell.x1 && y >= cell.y0 && y <= cell.y1) found = cell.data;
    }
    return found;
  }

  private hover(x: number, y: number): void {
    const box = x < 0 ? null : this.hit(x, y);
    this.page.tip(box === null ? null : box.node !== null ? this.page.commandTip(box.node)
      : [box.title, box.subtitle, this.say(value(box.totals, this.metric))].filter((line) => line !== ""), x, y, this.canvas);
    if (box === this.hovered) return;
    this.hovered = box;
    this.page.redraw();
  }
}

function value(totals: Totals, metric: Metric): number {
  return metric === "time" ? totals.time_us : metric === "bytes" ? totals.read_bytes + totals.written_bytes
    : metric === "operations" ? totals.operations : totals.commands;
}
