// Finds commands, phases, planes, kernels and source lines whose text contains all words of a query.

import type { Page } from "./page.js";
import { commandRow, heading, kernelRow, phaseRow, planeRow } from "./rows.js";
import { h } from "./dom.js";
import { short, visible } from "./names.js";
import type { Row } from "./virtual_list.js";
import type { World } from "./world.js";

const MOST_LINES = 200;
const LONGEST_TEXT = 2000;

interface Texts { commands: string[]; phases: string[]; planes: string[]; kernels: string[]; lines: { source: number; line: number; text: string }[] }

const texts = new WeakMap<World, Texts>();

function textsOf(world: World): Texts {
  let found = texts.get(world);
  if (found !== undefined) return found;
  const { view, position, phaseLoop } = world.model;
  const lower = (...parts: (string | null)[]): string =>
    parts.map((part) => (part ?? "").slice(0, LONGEST_TEXT)).join(" ").toLowerCase();
  found = {
    commands: view.nodes.map((node, index) => lower(
      world.model.commandName[index]!, node.kernel === null ? null : view.kernels[node.kernel]!.name, node.label, node.kind,
      `#${position[index]! + 1}`, ...node.flags,
      ...node.accesses.filter((access) => access.mode !== "read").map((access) => view.planes[access.plane]!.name))),
    phases: view.phases.map((phase, index) => lower(phase.name, phase.title, phaseLoop[index]!)),
    planes: view.planes.map((plane) => lower(plane.name, plane.role, plane.element)),
    kernels: view.kernels.map((kernel) => lower(kernel.name, kernel.symbol, kernel.file)),
    lines: view.sources.flatMap((source, index) => source.text.split("\n").map((text, line) => (
      { source: index, line: line + 1, text: text.slice(0, LONGEST_TEXT) }))),
  };
  texts.set(world, found);
  return found;
}

/** Rows of everything found, by kind. A query `file:line` finds that line. */
export function searchRows(page: Page, query: string): Row[] {
  const world = page.world();
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return [];
  const found = textsOf(world);
  const matching = (list: string[]): number[] =>
    list.map((_, index) => index).filter((index) => words.every((word) => list[index]!.includes(word)));
  const rows: Row[] = [];
  const section = (name: string, part: Row[]): void => {
    if (part.length > 0) rows.push(heading(`${name} (${part.length})`));
    for (const row of part) rows.push(row);
  };
  const position = (node: number): number => world.model.position[node]!;
  section("Phases", matching(found.phases).map((phase) => phaseRow(page, phase, {})));
  section("Kernels", matching(found.kernels).map((kernel) => kernelRow(page, kernel)));
  section("Planes", matching(found.planes).map((plane) => planeRow(page, plane)));
  section("Commands", matching(found.commands).sort((a, b) => position(a) - position(b)).map((node) => commandRow(page, node)));
  section("Source lines", sourceLines(page, found, words));
  return rows.length > 0 ? rows : [heading("Nothing found")];
}

function sourceLines(page: Page, found: Texts, words: string[]): Row[] {
  const { sources } = page.world().model.view;
  return found.lines
    .filter(({ source, line, text }) => {
      const place = `${sources[source]!.name}:${line}`.toLowerCase();
      const lower = text.toLowerCase();
      return words.every((word) => lower.includes(word) || place.endsWith(word));
    })
    .slice(0, MOST_LINES)
    .map(({ source, line, text }): Row => ({
      key: `line-${source}-${line}`,
      label: `${sources[source]!.name} line ${line}`,
      activate: () => page.select({ kind: "line", source, line }),
      content: () => [
        h("span", { class: "name mono" }, short(text.trim(), 60)),
        h("span", { class: "side" }, `${short(visible(sources[source]!.name), 20)}:${line}`),
      ],
    }));
}
