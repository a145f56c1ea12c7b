// The memory plan as rectangles: time across, addresses up. Receives a model; guarantees a block for each plane that
// has a place in the arena and is used, and the number of bytes in use at each position.

import type { Model } from "./model.js";

/** `first` and `last` are positions in the sequence, both inclusive. */
export interface Block { plane: number; first: number; last: number; start: number; stop: number }

export interface MemoryPicture { blocks: Block[]; inUse: number[]; arena_bytes: number; placed: boolean }

/**
 * Planes with an offset in the arena. A dump knows no offsets: its planes are then stacked, each at the lowest address
 * that is free while it lives, and `placed` is false.
 */
export function memoryPicture(model: Model): MemoryPicture {
  const { view } = model;
  const placed = view.planes.some((plane) => plane.offset !== null);
  const blocks: Block[] = [];
  view.planes.forEach((plane, index) => {
    const life = model.lifetime[index];
    if (life === null || life === undefined || plane.size_bytes === 0) return;
    if (placed && plane.offset === null) return;
    const start = plane.offset ?? 0;
    blocks.push({ plane: index, first: life.first, last: life.last, start, stop: start + plane.size_bytes });
  });
  if (!placed) stack(blocks);
  const change = new Array<number>(view.nodes.length + 1).fill(0);
  for (const block of blocks) {
    change[block.first]! += block.stop - block.start;
    change[block.last + 1]! -= block.stop - block.start;
  }
  let now = 0;
  const inUse = change.slice(0, view.nodes.length).map((difference) => (now += difference));
  const highest = blocks.reduce((most, block) => Math.max(most, block.stop), 0);
  return { blocks, inUse, arena_bytes: Math.max(highest, placed ? view.memory?.arena_bytes ?? 0 : 0), placed };
}

function stack(blocks: Block[]): void {
  const alive: Block[] = [];
  for (const block of [...blocks].sort((a, b) => a.first - b.first || b.stop - a.stop)) {
    const size = block.stop - block.start;
    for (let at = alive.length - 1; at >= 0; at -= 1) if (alive[at]!.last < block.first) alive.splice(at, 1);
    alive.sort((a, b) => a.start - b.start);
    let address = 0;
    for (const other of alive) {
      if (other.start - address >= size) break;
      address = Math.max(address, other.stop);
    }
    block.start = address;
    block.stop = address + size;
    alive.push(block);
  }
}

/** Planes that lie, at another time, on bytes of the given one. */
export function sharers(picture: MemoryPicture, plane: number): Block[] {
  const own = picture.blocks.find((block) => block.plane === plane);
  if (own === undefined) return [];
  return picture.blocks.filter((block) => block.plane !== plane && block.start < own.stop && own.start < block.stop);
}
