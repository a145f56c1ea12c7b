// Where the children of one box lie. Receives sizes and edges of the children; guarantees places without overlap, and a
// route for each edge. A box is laid out when it is first shown, never before; equal boxes, such as the layers of a
// model, are laid out once.

import * as dagre from "@dagrejs/dagre";
import { wrapColumns, type Column } from "./wrap.js";

export interface Size { width: number; height: number }
export interface Point { x: number; y: number }
export interface SiblingEdge { from: number; to: number }
export interface Placement { places: Point[]; routes: Point[][]; width: number; height: number }

/** Edges over more ranks than this run beside the columns and do not shape them. */
const LONGEST_RANKED = 4;
const memo = new Map<string, Placement>();

/** Places are upper left corners relative to the box's inner area. `aspect` is the wished width : height. */
export function placeChildren(sizes: Size[], edges: SiblingEdge[], aspect: number): Placement {
  const key = `${aspect.toFixed(2)}|${sizes.map((size) => `${size.width},${size.height}`).join(";")}|${
    edges.map((edge) => `${edge.from},${edge.to}`).join(";")}`;
  let placement = memo.get(key);
  if (placement === undefined) {
    placement = place(sizes, edges, aspect);
    memo.set(key, placement);
  }
  return placement;
}

function ranks(count: number, edges: SiblingEdge[]): number[] {
  const rank = new Array<number>(count).fill(0);
  for (const edge of [...edges].sort((a, b) => a.from - b.from)) {
    if (edge.from < edge.to) rank[edge.to] = Math.max(rank[edge.to]!, rank[edge.from]! + 1);
  }
  return rank;
}

function place(sizes: Size[], edges: SiblingEdge[], aspect: number): Placement {
  if (sizes.length === 0) return { places: [], routes: [], width: 0, height: 0 };
  if (edges.length === 0 && sizes.length > 3) return placeInRows(sizes, aspect);
  const rank = ranks(sizes.length, edges);
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 16, ranksep: 26, edgesep: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  sizes.forEach((size, index) => graph.setNode(String(index), { ...size }));
  const ranked = edges.map((edge) => edge.from < edge.to && rank[edge.to]! - rank[edge.from]! <= LONGEST_RANKED);
  edges.forEach((edge, index) => {
    if (ranked[index]) {
      graph.setEdge(String(edge.from), String(edge.to), { weight: rank[edge.to]! - rank[edge.from]! === 1 ? 3 : 1 });
    }
  });
  dagre.layout(graph, { constraints: leavesInOrder(sizes.length, edges) });
  const centres = sizes.map((_, index) => {
    const { x, y } = graph.node(String(index)) as unknown as Point;
    return { x, y };
  });
  const columns = wrapColumns(sizes, centres, edges, aspect);
  const places = sizes.map((size, index) => ({
    x: centres[index]!.x - size.width / 2 + columns.shift[index]!.x,
    y: centres[index]!.y - size.height / 2 + columns.shift[index]!.y,
  }));
  const routes = edges.map((edge, index) => {
    const from = columns.of[edge.from]!;
    const to = columns.of[edge.to]!;
    const ends = { from: bottom(places[edge.from]!, sizes[edge.from]!), to: top(places[edge.to]!, sizes[edge.to]!) };
    if (from !== to) return acrossColumns(ends.from, ends.to, columns.columns[from]!, columns.columns[to]!, columns.height);
    if (!ranked[index]) return besideColumn(places, sizes, edge, columns.columns[from]!, index);
    const { points } = graph.edge(String(edge.from), String(edge.to)) as unknown as { points: Point[] };
    const shift = columns.shift[edge.from]!;
    return [ends.from, ...points.slice(1, -1).map((point) => ({ x: point.x + shift.x, y: point.y + shift.y })), ends.to];
  });
  return { places, routes, width: columns.width, height: columns.height };
}

/** Of children that wait for one other and that nothing waits for, such as branches, an earlier one is further left. */
function leavesInOrder(count: number, edges: SiblingEdge[]): { left: string; right: string }[] {
  const source = new Array<number | null>(count).fill(null);
  const ends = new Array<number>(count).fill(0);
  for (const { from, to } of edges) {
    source[to] = from;
    ends[to]! += 1;
    ends[from]! += 1;
  }
  const last = new Map<number, number>();
  const found: { left: string; right: string }[] = [];
  source.forEach((from, leaf) => {
    if (from === null || ends[leaf] !== 1) return;
    const before = last.get(from);
    if (before !== undefined) found.push({ left: String(before), right: String(leaf) });
    last.set(from, leaf);
  });
  return found;
}

/** Children that do not depend on each other: rows, filled in order. */
function placeInRows(sizes: Size[], aspect: number): Placement {
  const area = sizes.reduce((sum, size) => sum + (size.width + 16) * (size.height + 16), 0);
  const widest = Math.max(Math.sqrt(area * aspect * 1.6), ...sizes.map((size) => size.width));
  const places: Point[] = [];
  let x = 0;
  let y = 0;
  let rowHeight = 0;
  let width = 0;
  for (const size of sizes) {
    if (x > 0 && x + size.width > widest) {
      x = 0;
      y += rowHeight + 16;
      rowHeight = 0;
    }
    places.push({ x, y });
    x += size.width + 16;
    width = Math.max(width, x - 16);
    rowHeight = Math.max(rowHeight, size.height);
  }
  return { places, routes: [], width, height: y + rowHeight };
}

const bottom = (place: Point, size: Size): Point => ({ x: place.x + size.width / 2, y: place.y + size.height });
const top = (place: Point, size: Size): Point => ({ x: place.x + size.width / 2, y: place.y });

/** Out into the gutter at once, along it, and into the target from above: so a line never runs through a box. */
function acrossColumns(from: Point, to: Point, source: Column, target: Column, height: number): Point[] {
  const gutter = target.left - 15;
  const leave = from.y + 9;
  const arrive = to.y - 9;
  const own = source.left + source.width + 15;
  const low = height;
  const next = target.left > source.left && target.left - own < 40;
  const way = next
    ? [{ x: gutter, y: leave }, { x: gutter, y: arrive }]
    : [{ x: own, y: leave }, { x: own, y: low }, { x: gutter, y: low }, { x: gutter, y: arrive }];
  return [from, { x: from.x, y: leave }, ...way, { x: to.x, y: arrive }, to];
}

function besideColumn(
  places: Point[], sizes: Size[], edge: SiblingEdge, column: Column, index: number,
): Point[] {
  const lane = column.left - 6 - (index % 3) * 4;
  const from = places[edge.from]!;
  const to = places[edge.to]!;
  const y = from.y + sizes[edge.from]!.height / 2;
  const stop = to.y + sizes[edge.to]!.height / 2 - 5;
  return [{ x: from.x, y }, { x: lane, y }, { x: lane, y: stop }, { x: to.x, y: stop }];
}
