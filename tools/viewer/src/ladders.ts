// Straight chains: neighbours that nothing branches off from. Dumps are full of them; one box stands for each.

import type { Box } from "./boxes.js";
import type { Model } from "./model.js";

const SHORTEST = 5;

/**
 * The boxes in order, cut into chains of at least SHORTEST commands without branches, and single boxes.
 *
 * Members of a chain follow each other in the given order, each has one edge in and one out, and it runs no body.
 */
export function findLadders(model: Model, boxes: Box[]): Box[][] {
  const { edges, nodes } = model.view;
  const next = (box: Box): number | null => {
    if (box.node === null) return null;
    const out = model.outgoing[box.node]!;
    if (out.length !== 1) return null;
    const after = edges[out[0]!]!.after;
    return model.incoming[after]!.length === 1 ? after : null;
  };
  const byNode = new Map(boxes.filter((box) => box.node !== null).map((box) => [box.node!, box]));
  const taken = new Set<Box>();
  const parts: Box[][] = [];
  const plain = (box: Box): boolean =>
    box.node !== null && nodes[box.node]!.body.length === 0 && nodes[box.node]!.flags.length === 0;
  for (const box of boxes) {
    if (taken.has(box)) continue;
    const chain = [box];
    let follower = plain(box) ? next(box) : null;
    while (follower !== null) {
      const member = byNode.get(follower);
      if (member === undefined || taken.has(member) || !plain(member)) break;
      chain.push(member);
      follower = next(member);
    }
    if (chain.length < SHORTEST) parts.push([box]);
    else parts.push(chain);
    for (const member of chain.length < SHORTEST ? [box] : chain) taken.add(member);
  }
  return parts;
}
