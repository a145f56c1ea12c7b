// How the boxes of the graph look under a selection and a filter: which are selected, lit, or left out.

import type { Box } from "./boxes.js";
import type { Look } from "./draw_boxes.js";
import { commandsOf, litCommands, type Part } from "./lit.js";
import type { Theme } from "./palette.js";
import type { Stage } from "./scene.js";
import type { Selection, State } from "./state.js";
import type { World } from "./world.js";

export function lookOf(world: World, stage: Stage, state: State, theme: Theme, scale: number, hovered: Box | null): Look {
  const { selection, filter, colour } = state;
  const selected = new Set<Box>();
  if (selection?.kind === "command") selected.add(stage.visibleBox(world.tree.ofCommand[selection.index]!));
  if (selection?.kind === "phase") selected.add(stage.visibleBox(world.tree.ofPhase[selection.index]!));
  const kept = filter === null ? null : keptBoxes(world, filter);
  return { theme, scale, colour, hovered, selected, lit: litBoxes(world, stage, selection), kept };
}

/** Parts of the selection by the box that shows them, a closed one counting all that it hides; null where none is lit. */
function litBoxes(world: World, stage: Stage, selection: Selection | null): Look["lit"] {
  const lit = new Map<Box, Map<Part, number>>();
  for (const [node, part] of litCommands(world.model, selection)) {
    const box = stage.visibleBox(world.tree.ofCommand[node]!);
    const parts: Map<Part, number> = lit.get(box) ?? new Map<Part, number>();
    parts.set(part, (parts.get(part) ?? 0) + 1);
    lit.set(box, parts);
  }
  return lit.size === 0 ? null : lit;
}

const kept = new WeakMap<World, { key: string; boxes: Set<Box> }>();

function keptBoxes(world: World, filter: Selection): Set<Box> {
  const key = JSON.stringify(filter);
  const known = kept.get(world);
  if (known?.key === key) return known.boxes;
  const boxes = new Set<Box>();
  for (const node of commandsOf(world.model, filter)) {
    for (let box: Box | null = world.tree.ofCommand[node]!; box !== null && !boxes.has(box); box = box.parent) boxes.add(box);
  }
  kept.set(world, { key, boxes });
  return boxes;
}

