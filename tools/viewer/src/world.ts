// One graph with everything that the parts of the page share about it. A comparison has two.

import { makeBoxes, type Box, type BoxTree } from "./boxes.js";
import type { Pairing, Status, View } from "./contract.js";
import { makeModel, type Model } from "./model.js";
import { commonPrefix, short, without } from "./names.js";
import { phaseHues } from "./palette.js";
import type { Theme } from "./palette.js";

export interface World {
  model: Model; tree: BoxTree; hues: (number | null)[]; kernelHues: number[]; planeName: string[];
  /** What a comparison says of each command and plane; null where there is no comparison. */
  pairing: (Pairing | null)[]; planePairing: (Pairing | null)[];
  mostTime_us: number;
  compared: boolean;
}

export interface Worlds { this: World; other: World | null }

export function makeWorlds(view: View): Worlds {
  const { comparison } = view;
  const pairs = comparison?.nodes ?? [];
  const planes = comparison?.planes ?? [];
  return {
    this: makeWorld(view, pairs, planes, "right"),
    other: comparison === null ? null : makeWorld(comparison.other, pairs, planes, "left"),
  };
}

function makeWorld(view: View, pairs: Pairing[], planePairs: Pairing[], side: "left" | "right"): World {
  const model = makeModel(view);
  const prefix = commonPrefix(view.planes.map((plane) => plane.family));
  const byUse = view.kernels.map((_, index) => index)
    .sort((a, b) => model.kernelCommands[b]!.length - model.kernelCommands[a]!.length || a - b);
  const kernelHues: number[] = [];
  byUse.forEach((kernel, rank) => (kernelHues[kernel] = rank));
  let mostTime_us = 0;
  for (const time of model.time_us) mostTime_us = Math.max(mostTime_us, time ?? 0);
  return {
    model,
    tree: makeBoxes(model),
    hues: phaseHues(model),
    kernelHues,
    planeName: view.planes.map((plane) => without(prefix, plane.name)),
    pairing: paired(view.nodes.length, pairs, side),
    planePairing: paired(view.planes.length, planePairs, side),
    mostTime_us,
    compared: pairs.length > 0,
  };
}

function paired(count: number, pairs: Pairing[], side: "left" | "right"): (Pairing | null)[] {
  const found = new Array<Pairing | null>(count).fill(null);
  for (const pair of pairs) {
    const index = pair[side];
    if (index !== null) found[index] = pair;
  }
  return found;
}

export function hue(theme: Theme, number: number | null | undefined): string {
  return number === null || number === undefined ? theme.faint : theme.hues[number % theme.hues.length]!;
}

/** The colour of a command, by its phase, its kernel or its share of the costliest command's time. */
export function commandColour(world: World, theme: Theme, node: number, by: "phase" | "kernel" | "cost"): string {
  const command = world.model.view.nodes[node]!;
  if (by === "phase") return hue(theme, command.phase === null ? null : world.hues[command.phase]);
  if (by === "kernel") return hue(theme, command.kernel === null ? null : world.kernelHues[command.kernel]);
  return heat(theme, (world.model.time_us[node] ?? 0) / (world.mostTime_us || 1));
}

/** From pale to strong; the strength alone says it, so it needs no sense of colour. */
export function heat(theme: Theme, share: number): string {
  const steps = theme.dark
    ? ["#2b3138", "#34506b", "#3d76a8", "#6aa5d8", "#b9dbf5"]
    : ["#e6e3db", "#b5cfe3", "#74a9d1", "#2f7fb8", "#084b7f"];
  return steps[Math.min(steps.length - 1, Math.floor(Math.max(0, Math.min(1, share)) * steps.length))]!;
}

/** `DownProduct`, as short as a box needs it. */
export function commandTitle(world: World, node: number, length = 40): string {
  return short(world.model.commandName[node]!, length);
}

/** The planes that a command writes, without what all names share. */
export function writtenPlanes(world: World, node: number): string {
  const planes = new Set(world.model.view.nodes[node]!.accesses
    .filter((access) => access.mode !== "read").map((access) => access.plane));
  const [first] = planes;
  if (first === undefined) return "";
  const more = planes.size > 1 ? ` +${planes.size - 1}` : "";
  return `→ ${short(world.planeName[first]!, 30)}${more}`;
}

export const STATUS_SIGN: Record<Status, string> = { same: "=", changed: "~", added: "+", removed: "−" };

export function statusColour(theme: Theme, status: Status): string {
  return status === "added" ? theme.added : status === "removed" ? theme.removed : status === "changed" ? theme.changed
    : theme.faint;
}

const differences = new WeakMap<Box, Map<Status, number>>();

/** How many commands in a box a comparison found added, removed or changed. */
export function differencesIn(world: World, box: Box): Map<Status, number> {
  const known = differences.get(box);
  if (known !== undefined) return known;
  const found = new Map<Status, number>();
  differences.set(box, found);
  const waiting = [box];
  while (waiting.length > 0) {
    const next = waiting.pop()!;
    const status = next.node === null ? undefined : world.pairing[next.node]?.status;
    if (status !== undefined && status !== "same") found.set(status, (found.get(status) ?? 0) + 1);
    waiting.push(...next.children);
  }
  return found;
}
