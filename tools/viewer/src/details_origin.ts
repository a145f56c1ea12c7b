// Where the program says it: the chain of calls from the entry to a command, each with its lines.

import { section } from "./details_parts.js";
import { h } from "./dom.js";
import type { Origin } from "./contract.js";
import { originsOf } from "./model.js";
import type { Page } from "./page.js";
import { short, visible } from "./names.js";
import { linesOf, type Token } from "./syntax.js";
import { tokenSpans } from "./source_view.js";

const AROUND = 1;
const MOST_LINES = 9;
const tokensOf = new Map<string, Token[][]>();

function tokens(text: string): Token[][] {
  let found = tokensOf.get(text);
  if (found === undefined) {
    found = linesOf(text);
    tokensOf.set(text, found);
  }
  return found;
}

/** Innermost first. The innermost step shows its lines, others show them when opened. */
export function originSection(page: Page, origin: number | null, heading = "Source, from the command outwards"): HTMLElement | null {
  const { view } = page.world().model;
  const chain = originsOf(view, origin);
  if (chain.length === 0) return null;
  return section(heading, h("div", { class: "chain" }, chain.map((index, at) => {
    const step = view.origins[index]!;
    const place = `${view.sources[step.source]!.name}:${step.start_line}`;
    const loop = step.text.includes(" = ");
    const body = h("details", at === 0 ? { open: true } : {},
      h("summary", {}, loop ? h("span", { class: "loop" }, short(step.text, 40)) : h("code", {}, short(step.text, 44)),
        h("button", {
          type: "button", class: "link place", title: "Show the line in the source view",
          onclick: (event: MouseEvent) => {
            event.preventDefault();
            page.select({ kind: "line", source: step.source, line: step.start_line });
          },
        }, short(visible(place), 30))));
    const fill = (): void => {
      if (body.open && body.children.length === 1) body.append(excerpt(page, step));
    };
    fill();
    body.addEventListener("toggle", fill);
    return body;
  })));
}

function excerpt(page: Page, step: Origin): HTMLElement {
  const lines = tokens(page.world().model.view.sources[step.source]!.text);
  const first = Math.max(1, step.start_line - AROUND);
  const last = Math.min(lines.length, Math.min(step.stop_line, step.start_line + MOST_LINES) + AROUND);
  const indent = Math.min(...lines.slice(first - 1, last).filter((line) => line.length > 0).map(indentOf));
  return h("pre", { class: "excerpt", tabindex: 0 }, lines.slice(first - 1, last).map((line, at) => {
    const number = first + at;
    const inside = number >= step.start_line && number <= step.stop_line;
    return h("div", { class: inside ? "inside" : "" }, h("span", { class: "source-number" }, String(number)), ...tokenSpans(dedent(line, indent)));
  }));
}

function indentOf(line: Token[]): number {
  const first = line[0]!;
  return first.text.length - first.text.trimStart().length;
}

function dedent(line: Token[], indent: number): Token[] {
  if (line.length === 0 || !Number.isFinite(indent)) return line;
  const [first, ...rest] = line;
  return [{ ...first!, text: first!.text.slice(Math.min(indent, indentOf(line))) }, ...rest];
}
