// What is to be drawn: the boxes that can be seen and the edges between neighbours, in places of the whole picture.
// Receives the box tree and which boxes are open; guarantees that only open boxes are laid out, and that opening one
// costs the layout of that box and of those around it.

import { childOf, commandsIn, type Box, type BoxTree } from "./boxes.js";
import { placeChildren, type Placement, type Point, type SiblingEdge, type Size } from "./layout.js";
import type { Model } from "./model.js";

export interface Shown { box: Box; x: number; y: number; width: number; height: number; open: boolean; depth: number }

/** Edges of the view between two neighbours, drawn as one. `body` edges lead from a command to what it runs. */
export interface Bundle { edges: number[]; points: Point[]; critical: boolean; body: boolean; orderOnly: boolean }

export interface Scene { shown: Shown[]; bundles: Bundle[]; at: Map<Box, Shown>; width: number; height: number }

interface Inner { siblings: (SiblingEdge & { edges: number[]; body: boolean })[] }
interface Arranged { placement: Placement; size: Size; siblings: Inner["siblings"] }

export const HEADER = 30;
const PADDING = 12;

export class Stage {
  readonly open = new Set<Box>();
  private readonly siblings = new Map<Box, Inner["siblings"]>();
  private readonly arranged = new Map<Box, Arranged>();

  constructor(
    private readonly model: Model, private readonly tree: BoxTree, private readonly leafSize: (box: Box) => Size,
    private aspect: number,
  ) {}

  setAspect(aspect: number): boolean {
    if (Math.abs(Math.log(aspect / this.aspect)) < 0.25) return false;
    this.aspect = aspect;
    this.arranged.delete(this.tree.root);
    return true;
  }

  setOpen(box: Box, open: boolean): void {
    if (box.kind === "command" || box.kind === "root") return;
    if (open) this.open.add(box);
    else this.open.delete(box);
    for (let outer: Box | null = box; outer !== null; outer = outer.parent) this.arranged.delete(outer);
  }

  /** Opens everything around a box, so that it can be seen. */
  reveal(box: Box): boolean {
    let changed = false;
    for (let outer = box.parent; outer !== null && outer.kind !== "root"; outer = outer.parent) {
      if (this.open.has(outer)) continue;
      this.setOpen(outer, true);
      changed = true;
    }
    return changed;
  }

  private isOpen(box: Box): boolean {
    return box.kind === "root" || this.open.has(box);
  }

  private siblingEdges(box: Box): Inner["siblings"] {
    let found = this.siblings.get(box);
    if (found !== undefined) return found;
    const at = new Map(box.children.map((child, index) => [child, index]));
    const byPair = new Map<string, Inner["siblings"][number]>();
    const add = (from: Box | null, to: Box | null, edge: number | null): void => {
      if (from === null || to === null || from === to) return;
      const key = `${from.id},${to.id}`;
      let sibling = byPair.get(key);
      if (sibling === undefined) {
        sibling = { from: at.get(from)!, to: at.get(to)!, edges: [], body: true };
        byPair.set(key, sibling);
      }
      if (edge === null) return;
      sibling.edges.push(edge);
      sibling.body = false;
    };
    for (const child of box.children) {
      for (const node of commandsIn(child)) {
        for (const edge of this.model.outgoing[node]!) {
          add(child, childOf(box, this.tree.ofCommand[this.model.view.edges[edge]!.after]!), edge);
        }
        for (const phase of this.model.view.nodes[node]!.body) {
          add(child, childOf(box, this.tree.ofPhase[phase]!), null);
        }
      }
    }
    found = [...byPair.values()];
    this.siblings.set(box, found);
    return found;
  }

  private arrange(root: Box): void {
    const waiting = [root];
    const order: Box[] = [];
    while (waiting.length > 0) {
      const box = waiting.pop()!;
      order.push(box);
      for (const child of box.children) if (this.isOpen(child) && !this.arranged.has(child)) waiting.push(child);
    }
    for (const box of order.reverse()) {
      if (this.arranged.has(box)) continue;
      const sizes = box.children.map((child) => this.isOpen(child) ? this.arranged.get(child)!.size : this.leafSize(child));
      const siblings = this.siblingEdges(box);
      const aspect = box.kind === "root" ? this.aspect : 1.25;
      const placement = placeChildren(sizes, siblings, aspect);
      const least = box.kind === "root" ? 0 : this.leafSize(box).width;
      const size = {
        width: Math.max(least, placement.width + 2 * PADDING),
        height: placement.height + 2 * PADDING + (box.kind === "root" ? 0 : HEADER),
      };
      this.arranged.set(box, { placement, size, siblings });
    }
  }

  scene(): Scene {
    const { root } = this.tree;
    this.arrange(root);
    const { size } = this.arranged.get(root)!;
    const scene: Scene = { shown: [], bundles: [], at: new Map(), width: size.width, height: size.height };
    const waiting: { box: Box; x: number; y: number; depth: number }[] = [{ box: root, x: 0, y: -HEADER, depth: 0 }];
    while (waiting.length > 0) {
      const { box, x, y, depth } = waiting.shift()!;
      const { placement, siblings, size: outer } = this.arranged.get(box)!;
      const left = x + (outer.width - placement.width) / 2;
      const top = y + HEADER + PADDING;
      box.children.forEach((child, index) => {
        const place = placement.places[index]!;
        const open = this.isOpen(child);
        const inner = open ? this.arranged.get(child)!.size : this.leafSize(child);
        const shown: Shown = {
          box: child, x: left + place.x, y: top + place.y, width: inner.width, height: inner.height, open, depth,
        };
        scene.shown.push(shown);
        scene.at.set(child, shown);
        if (open) waiting.push({ box: child, x: shown.x, y: shown.y, depth: depth + 1 });
      });
      siblings.forEach((sibling, index) => {
        const route = placement.routes[index];
        if (route === undefined) return;
        scene.bundles.push({
          edges: sibling.edges,
          points: route.map((point) => ({ x: point.x + left, y: point.y + top })),
          critical: sibling.edges.some((edge) => this.model.criticalEdges.has(edge)),
          body: sibling.body,
          orderOnly: sibling.edges.every((edge) => this.model.view.edges[edge]!.reason === "order"),
        });
      });
    }
    return scene;
  }

  /** The box that stands for a command in the picture: its own, or the closed one that hides it. */
  visibleBox(box: Box): Box {
    let seen = box;
    for (let outer = box.parent; outer !== null && outer.kind !== "root"; outer = outer.parent) {
      if (!this.open.has(outer)) seen = outer;
    }
    return seen;
  }
}
