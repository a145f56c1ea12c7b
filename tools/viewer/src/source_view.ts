// The program's texts with line numbers. Beside each line: how many commands it leads to, and how much of the time.

import { h, replace } from "./dom.js";
import { exists } from "./lit.js";
import { originsOf, type Model } from "./model.js";
import type { MainView, Page } from "./page.js";
import { count, percent, time } from "./quantities.js";
import { visible } from "./names.js";
import { linesOf, type Token } from "./syntax.js";
import { heat, type World } from "./world.js";

const LINE = 19;
const STEP = 20;

interface Weight { commands: number; time_us: number }

export class SourceView implements MainView {
  readonly element: HTMLElement;
  private readonly tabs = h("div", { class: "facts-line", role: "tablist", "aria-label": "Files" });
  private readonly text = h("div", { class: "source", tabindex: 0, role: "region", "aria-label": "Source text" });
  private readonly space = h("div", { class: "source-space" });
  private readonly weights = new Map<World, Map<number, Weight>[]>();
  private readonly tokens = new Map<string, Token[][]>();
  private source = -1;
  private drawnFirst = -1;
  private drawnFor = "";

  constructor(private readonly page: Page) {
    this.element = h("div", { class: "view", id: "view-source" }, this.tabs, this.text);
    this.text.append(this.space);
    this.text.addEventListener("scroll", () => {
      if (this.firstLine() !== this.drawnFirst) this.lines();
    });
  }

  private weightsOf(world: World): Map<number, Weight>[] {
    let found = this.weights.get(world);
    if (found === undefined) {
      found = lineWeights(world.model);
      this.weights.set(world, found);
    }
    return found;
  }

  /** Turns to a line of a file. */
  show(source: number, line: number): void {
    this.source = source;
    this.drawnFor = "";
    this.draw();
    this.text.scrollTop = Math.max(0, (line - 1) * LINE - this.text.clientHeight / 3);
    this.lines();
  }

  /** Turns to where a command is written: its innermost step in the file that the program begins in, if it has one. */
  showCommand(node: number): void {
    const { model } = this.page.world();
    const steps = originsOf(model.view, model.view.nodes[node]!.origin).map((step) => model.view.origins[step]!);
    const main = steps.length === 0 ? 0 : mainSource(model);
    const step = steps.find(({ source }) => source === main) ?? steps[0];
    if (step !== undefined) this.show(step.source, step.start_line);
  }

  draw(): void {
    const world = this.page.world();
    const { sources } = world.model.view;
    if (sources.length === 0) {
      replace(this.tabs, h("span", {}, "This graph carries no source text."));
      replace(this.space);
      return;
    }
    if (this.source < 0 || this.source >= sources.length) this.source = mainSource(world.model);
    const { selection, side, theme } = this.page.store.state;
    const key = `${side}|${this.source}|${JSON.stringify(selection)}|${theme}|${this.page.theme.dark}`;
    if (key === this.drawnFor) return;
    this.drawnFor = key;
    replace(this.tabs, sources.map((source, index) => h("button", {
      type: "button", role: "tab", "aria-selected": String(index === this.source), onclick: () => this.show(index, 1),
    }, visible(source.name))));
    this.lines();
  }

  /** The first line, from 0, that exists as an element: in steps, so that few scrolls draw. */
  private firstLine(): number {
    return Math.max(0, Math.floor(this.text.scrollTop / LINE / STEP - 1) * STEP);
  }

  /** Only the lines in the window exist as elements. */
  private lines(): void {
    const world = this.page.world();
    const source = world.model.view.sources[this.source];
    if (source === undefined) return;
    let tokens = this.tokens.get(source.text);
    if (tokens === undefined) {
      tokens = linesOf(source.text);
      this.tokens.set(source.text, tokens);
    }
    const weights = this.weightsOf(world)[this.source]!;
    const whole = world.model.totals;
    const chosen = this.chosenLines(world);
    const first = this.firstLine();
    this.drawnFirst = first;
    const last = Math.min(tokens.length, first + Math.ceil(this.text.clientHeight / LINE) + 3 * STEP);
    this.space.style.height = `${tokens.length * LINE + 30}px`;
    replace(this.space, tokens.slice(first, last).map((line, at) => {
      const number = first + at + 1;
      const weight = weights.get(number);
      const share = weight === undefined ? 0 : whole.timeKnown ? weight.time_us / (whole.time_us || 1) : weight.commands / whole.commands;
      const mark = h("span", { class: "source-heat", title: weight === undefined ? "" : `${count(weight.commands, "command")}${
        whole.timeKnown ? `, ${time(weight.time_us)} ${this.page.timeWord()}` : ""}` },
      weight === undefined ? "" : whole.timeKnown ? percent(weight.time_us, whole.time_us) : String(weight.commands));
      if (weight !== undefined) {
        mark.style.background = heat(this.page.theme, Math.sqrt(share));
        mark.style.color = Math.sqrt(share) >= 0.6 ? (this.page.theme.dark ? "#14171a" : "#ffffff") : this.page.theme.ink;
      }
      const row = h("div", {
        class: `source-line${chosen.has(number) ? " chosen" : ""}${weight === undefined ? "" : " leads"}`,
        onclick: () => {
          if (weight !== undefined) this.page.select({ kind: "line", source: this.source, line: number }, "here");
        },
      }, mark, h("span", { class: "source-number" }, String(number)), h("code", {}, tokenSpans(line)));
      row.style.top = `${(number - 1) * LINE + 8}px`;
      return row;
    }));
  }

  private chosenLines(world: World): Set<number> {
    const { selection } = this.page.store.state;
    const { view } = world.model;
    const chosen = new Set<number>();
    if (selection === null || !exists(view, selection)) return chosen;
    if (selection.kind === "line" && selection.source === this.source) chosen.add(selection.line);
    const origin = selection.kind === "command" ? view.nodes[selection.index]!.origin
      : selection.kind === "plane" ? view.planes[selection.index]!.origin : null;
    for (const step of originsOf(view, origin)) {
      const { source, start_line, stop_line } = view.origins[step]!;
      if (source !== this.source) continue;
      for (let line = start_line; line <= Math.min(stop_line, start_line + 12); line += 1) chosen.add(line);
    }
    return chosen;
  }
}

export function tokenSpans(line: Token[]): (HTMLElement | string)[] {
  return line.map((token) => token.kind === "plain" ? visible(token.text) : h("span", { class: `token-${token.kind}` }, visible(token.text)));
}

/** The file in which the ways to most commands begin. */
function mainSource(model: Model): number {
  const { view } = model;
  const starts = view.sources.map(() => 0);
  for (const node of view.sequence) {
    const outermost = originsOf(view, view.nodes[node]!.origin).pop();
    if (outermost !== undefined) starts[view.origins[outermost]!.source]! += 1;
  }
  return starts.indexOf(Math.max(...starts));
}

/** For each source, the commands and the time that each line leads to: it starts a step of their way. */
function lineWeights(model: Model): Map<number, Weight>[] {
  const { view } = model;
  const own = view.origins.map((): Weight => ({ commands: 0, time_us: 0 }));
  for (const node of view.sequence) {
    const { origin } = view.nodes[node]!;
    if (origin === null) continue;
    own[origin]!.commands += 1;
    own[origin]!.time_us += model.time_us[node] ?? 0;
  }
  for (let index = view.origins.length - 1; index >= 0; index -= 1) {
    const { parent } = view.origins[index]!;
    if (parent === null) continue;
    own[parent]!.commands += own[index]!.commands;
    own[parent]!.time_us += own[index]!.time_us;
  }
  const lines = view.sources.map(() => new Map<number, Weight>());
  view.origins.forEach((origin, index) => {
    const weight = own[index]!;
    if (weight.commands === 0) return;
    // A loop and the call around it may start on one line: the commands count once there.
    if (sameLineAbove(model, index)) return;
    const line = lines[origin.source]!.get(origin.start_line) ?? { commands: 0, time_us: 0 };
    line.commands += weight.commands;
    line.time_us += weight.time_us;
    lines[origin.source]!.set(origin.start_line, line);
  });
  return lines;
}

function sameLineAbove(model: Model, index: number): boolean {
  const { origins } = model.view;
  const { source, start_line } = origins[index]!;
  let outer = origins[index]!.parent;
  while (outer !== null) {
    if (origins[outer]!.source === source && origins[outer]!.start_line === start_line) return true;
    outer = origins[outer]!.parent;
  }
  return false;
}
