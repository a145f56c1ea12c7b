// Breaks a tall drawing into columns, read as those of a newspaper: down, then on to the right. Programs are long and
// narrow, screens are not.

import type { Point, SiblingEdge, Size } from "./layout.js";

export interface Column { left: number; width: number; bottom: number }
export interface Columns { columns: Column[]; of: number[]; shift: Point[]; width: number; height: number }

interface Row { members: number[]; top: number; bottom: number; left: number; right: number }

const GAP = 34;
const SIDE = 16;
const MOST_COLUMNS = 12;

/** Columns of rows of equal rank. `centres` come from a layered layout from top to bottom. */
export function wrapColumns(sizes: Size[], centres: Point[], edges: SiblingEdge[], aspect: number): Columns {
  const rows = rowsOf(sizes, centres);
  const crossing = crossingsOf(rows, sizes.length, edges);
  let best: { badness: number; cuts: number[] } | null = null;
  for (let columns = 1; columns <= Math.min(MOST_COLUMNS, rows.length); columns += 1) {
    const cuts = cutRows(rows, columns, crossing);
    const { width, height } = extentOf(rows, cuts);
    const crossed = cuts.reduce((sum, cut) => sum + crossing[cut]!, 0);
    const badness = Math.abs(Math.log(width / height / aspect)) + 0.02 * crossed + 0.05 * (columns - 1);
    if (best === null || badness < best.badness) best = { badness, cuts };
  }
  return arrange(rows, best?.cuts ?? [], sizes.length);
}

function rowsOf(sizes: Size[], centres: Point[]): Row[] {
  const byCentre = new Map<number, number[]>();
  centres.forEach((centre, index) => {
    const y = Math.round(centre.y);
    byCentre.set(y, [...(byCentre.get(y) ?? []), index]);
  });
  return [...byCentre.keys()].sort((a, b) => a - b).map((y) => {
    const members = byCentre.get(y)!;
    return {
      members,
      top: Math.min(...members.map((index) => centres[index]!.y - sizes[index]!.height / 2)),
      bottom: Math.max(...members.map((index) => centres[index]!.y + sizes[index]!.height / 2)),
      left: Math.min(...members.map((index) => centres[index]!.x - sizes[index]!.width / 2)),
      right: Math.max(...members.map((index) => centres[index]!.x + sizes[index]!.width / 2)),
    };
  });
}

/** For each row, how many edges come into it or pass it from above. */
function crossingsOf(rows: Row[], count: number, edges: SiblingEdge[]): number[] {
  const rowOf = new Array<number>(count).fill(0);
  rows.forEach((row, at) => row.members.forEach((member) => (rowOf[member] = at)));
  const change = new Array<number>(rows.length + 1).fill(0);
  for (const edge of edges) {
    const low = Math.min(rowOf[edge.from]!, rowOf[edge.to]!);
    const high = Math.max(rowOf[edge.from]!, rowOf[edge.to]!);
    if (low === high) continue;
    change[low + 1]! += 1;
    change[high + 1]! -= 1;
  }
  let open = 0;
  return change.slice(0, rows.length).map((difference) => (open += difference));
}

/** Rows that begin a new column. */
function cutRows(rows: Row[], columns: number, crossing: number[]): number[] {
  const total = rows[rows.length - 1]!.bottom - rows[0]!.top;
  const cuts: number[] = [];
  for (let column = 1; column < columns; column += 1) {
    const wished = rows[0]!.top + (total * column) / columns;
    let best = -1;
    let least = Infinity;
    rows.forEach((row, at) => {
      if (at === 0 || at <= (cuts[cuts.length - 1] ?? 0)) return;
      const distance = Math.abs(row.top - wished) / (total / columns);
      const badness = distance + 0.06 * crossing[at]!;
      if (badness < least) {
        least = badness;
        best = at;
      }
    });
    if (best > 0) cuts.push(best);
  }
  return cuts;
}

function parts(rows: Row[], cuts: number[]): Row[][] {
  const starts = [0, ...cuts];
  return starts.map((start, at) => rows.slice(start, starts[at + 1] ?? rows.length));
}

function extentOf(rows: Row[], cuts: number[]): Size {
  let width = -GAP;
  let height = 1;
  for (const part of parts(rows, cuts)) {
    width += GAP + Math.max(...part.map((row) => row.right)) - Math.min(...part.map((row) => row.left));
    height = Math.max(height, part[part.length - 1]!.bottom - part[0]!.top);
  }
  return { width: Math.max(width, 1), height };
}

function arrange(rows: Row[], cuts: number[], count: number): Columns {
  const columns: Column[] = [];
  const of = new Array<number>(count).fill(0);
  const shift: Point[] = Array.from({ length: count }, () => ({ x: 0, y: 0 }));
  let x = cuts.length > 0 ? SIDE : 4;
  let height = 0;
  parts(rows, cuts).forEach((part, column) => {
    const left = Math.min(...part.map((row) => row.left));
    const right = Math.max(...part.map((row) => row.right));
    const top = part[0]!.top;
    const bottom = part[part.length - 1]!.bottom - top;
    columns.push({ left: x, width: right - left, bottom });
    for (const row of part) {
      for (const member of row.members) {
        of[member] = column;
        shift[member] = { x: x - left, y: -top };
      }
    }
    height = Math.max(height, bottom);
    x += right - left + GAP;
  });
  return { columns, of, shift, width: x - GAP + 4, height: height + (cuts.length > 0 ? 14 : 0) };
}
