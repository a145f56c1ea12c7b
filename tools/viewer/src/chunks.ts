// Cuts a long list of boxes into groups of neighbours, at places that few edges cross.

import type { Box } from "./boxes.js";
import type { Model } from "./model.js";

/** Groups of neighbours, about as many as each holds, at most `most` boxes in one. */
export function cutIntoGroups(model: Model, boxes: Box[], most: number): Box[][] {
  const size = Math.min(Math.floor(most * 0.75), Math.ceil(Math.sqrt(boxes.length)) + 2);
  const crossing = crossingEdges(model, boxes);
  const groups: Box[][] = [];
  let start = 0;
  while (start < boxes.length) {
    const latest = Math.min(boxes.length, start + Math.floor(size * 1.25));
    let stop = latest;
    if (latest < boxes.length) {
      for (let at = start + Math.ceil(size * 0.75); at < latest; at += 1) {
        if (crossing[at]! < crossing[stop]!) stop = at;
      }
    }
    groups.push(boxes.slice(start, stop));
    start = stop;
  }
  return groups;
}

/** For each place before a box, how many edges lead from the boxes before it to the others. */
function crossingEdges(model: Model, boxes: Box[]): number[] {
  const at = new Map<number, number>();
  boxes.forEach((box, index) => {
    const waiting = [box];
    while (waiting.length > 0) {
      const next = waiting.pop()!;
      if (next.node !== null) at.set(next.node, index);
      for (const child of next.children) waiting.push(child);
    }
  });
  const change = new Array<number>(boxes.length + 1).fill(0);
  for (const { before, after } of model.view.edges) {
    const from = at.get(before);
    const to = at.get(after);
    if (from === undefined || to === undefined || from >= to) continue;
    change[from + 1]! += 1;
    change[to + 1] = (change[to + 1] ?? 0) - 1;
  }
  let open = 0;
  return change.map((difference) => (open += difference));
}
