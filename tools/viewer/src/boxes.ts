// The nesting of the picture: a box for each command and phase, and boxes that fold what would be too many or too
// plain to look at one by one. Receives a model; guarantees that no box has more than MOST_CHILDREN children, that
// children are in sequence order, and that a command lies in exactly one chain of boxes.

import { cutIntoGroups } from "./chunks.js";
import { findLadders } from "./ladders.js";
import { addCommand, noTotals, type Model, type Totals } from "./model.js";
import { count } from "./quantities.js";
import { phaseOccurrence, phaseTitle } from "./repeats.js";
import { short } from "./names.js";

/** `group` folds neighbours because there are many; `ladder` folds a chain without branches. */
export type BoxKind = "root" | "phase" | "group" | "ladder" | "command";

export interface Box {
  id: number; kind: BoxKind; node: number | null; phase: number | null; parent: Box | null; children: Box[];
  /** Positions of its first and last command in the sequence. */
  first: number; last: number; title: string; subtitle: string; totals: Totals; critical: boolean;
}

export interface BoxTree { root: Box; boxes: Box[]; ofCommand: Box[]; ofPhase: Box[] }

/** A layout of this many is still fast, and a reader still finds a way. */
export const MOST_CHILDREN = 64;
const LONGEST_RUN = 16;

export function makeBoxes(model: Model): BoxTree {
  const { view } = model;
  const boxes: Box[] = [];
  const make = (kind: BoxKind, part: Partial<Box>): Box => {
    const box: Box = {
      id: boxes.length, kind, node: null, phase: null, parent: null, children: [], first: Infinity, last: -1, title: "",
      subtitle: "", totals: noTotals(), critical: false, ...part,
    };
    boxes.push(box);
    return box;
  };
  const root = make("root", { first: 0 });
  const ofCommand = view.nodes.map((command, node) => {
    const box = make("command", {
      node, phase: command.phase, first: model.position[node]!, last: model.position[node]!, title: model.commandName[node]!,
      critical: model.critical.has(node),
    });
    addCommand(box.totals, command, model.time_us[node]!);
    return box;
  });
  const ofPhase = view.phases.map((_, phase) => make("phase", {
    phase, first: model.phaseRange[phase]?.[0] ?? Infinity, last: model.phaseRange[phase]?.[1] ?? -1, title: phaseTitle(model, phase),
    subtitle: phaseOccurrence(model, phase), totals: model.phaseTotals[phase]!,
  }));
  placeEmptyPhases(model, ofPhase);
  for (const box of [...ofPhase, ...ofCommand]) {
    const outer = box.kind === "command" ? box.phase : view.phases[box.phase!]!.parent;
    box.parent = outer === null ? root : ofPhase[outer]!;
    box.parent.children.push(box);
  }
  root.totals = model.totals;
  for (const node of view.critical_path) {
    for (let box: Box | null = ofCommand[node]!; box !== null; box = box.parent) box.critical = true;
  }
  const fold = (kind: "group" | "ladder", members: Box[], parent: Box): Box => {
    const box = make(kind, { parent, children: members, first: members[0]!.first, last: lastOf(members), ...groupTitle(model, kind, members) });
    box.critical = members.some((member) => member.critical);
    for (const member of members) {
      member.parent = box;
      addTotals(box.totals, member.totals);
    }
    return box;
  };
  for (const box of [root, ...ofPhase]) {
    box.children.sort((a, b) => (a.first === b.first ? a.id - b.id : a.first - b.first));
    if (view.kind === "dump") {
      box.children = findLadders(model, box.children).map((part) =>
        part.length > 1 ? foldLadder(part, box, fold) : part[0]!);
    }
    if (box.children.length > MOST_CHILDREN) box.children = foldRuns(model, box, fold);
    while (box.children.length > MOST_CHILDREN) {
      box.children = cutIntoGroups(model, box.children, MOST_CHILDREN).map((part) =>
        part.length > 1 ? fold("group", part, box) : part[0]!);
    }
  }
  return { root, boxes, ofCommand, ofPhase };
}

/** An empty phase stands behind the command that runs it, else at the beginning of what is around it. */
function placeEmptyPhases(model: Model, ofPhase: Box[]): void {
  const runner = new Map<number, number>();
  for (const node of model.view.sequence) for (const phase of model.view.nodes[node]!.body) runner.set(phase, node);
  model.view.phases.forEach((phase, index) => {
    const box = ofPhase[index]!;
    if (box.first !== Infinity) return;
    const node = runner.get(index);
    box.first = node !== undefined ? model.position[node]! + 0.5 : phase.parent === null ? Infinity : ofPhase[phase.parent]!.first;
  });
}

/** A chain as one box; in a long one its commands lie in groups, which need no good places to be cut at. */
function foldLadder(members: Box[], parent: Box, fold: (kind: "group" | "ladder", members: Box[], parent: Box) => Box): Box {
  const ladder = fold("ladder", members, parent);
  while (ladder.children.length > MOST_CHILDREN) {
    ladder.children = evenParts(ladder.children, MOST_CHILDREN).map((part) => fold("group", part, ladder));
  }
  return ladder;
}

/** Neighbours in parts of about one size, at most `most` in each. */
function evenParts(boxes: Box[], most: number): Box[][] {
  const size = Math.ceil(boxes.length / Math.ceil(boxes.length / most));
  return Array.from({ length: Math.ceil(boxes.length / size) }, (_, part) => boxes.slice(part * size, (part + 1) * size));
}

function lastOf(boxes: Box[]): number {
  return boxes.reduce((last, box) => Math.max(last, box.last), -1);
}

/** Long runs of phases with one name, such as the layers of a model, become groups of a few. */
function foldRuns(model: Model, box: Box, fold: (kind: "group", members: Box[], parent: Box) => Box): Box[] {
  const name = (child: Box): string | null =>
    child.kind === "phase" ? model.view.phases[child.phase!]!.name : null;
  const folded: Box[] = [];
  let start = 0;
  while (start < box.children.length) {
    let stop = start + 1;
    while (stop < box.children.length && name(box.children[stop]!) === name(box.children[start]!)) stop += 1;
    const run = box.children.slice(start, stop);
    if (name(run[0]!) === null || run.length <= LONGEST_RUN) for (const child of run) folded.push(child);
    else for (const part of evenParts(run, LONGEST_RUN)) folded.push(fold("group", part, box));
    start = stop;
  }
  return folded;
}

function groupTitle(model: Model, kind: "group" | "ladder", members: Box[]): { title: string; subtitle: string } {
  const commands = members.reduce((sum, member) => sum + member.totals.commands, 0);
  if (kind === "ladder") {
    const names = [...new Set(members.map((member) => member.title))];
    const shown = names.slice(0, 3).map((name) => short(name, 28)).join(", ");
    return { title: `${count(commands, "command")} in a row`, subtitle: names.length > 3 ? `${shown}, …` : shown };
  }
  const first = members[0]!;
  const last = members[members.length - 1]!;
  const names = new Set(members.map((member) => member.kind === "phase" ? model.view.phases[member.phase!]!.name : ""));
  if (names.size === 1 && !names.has("")) {
    return {
      title: `${first.title} × ${members.length}`,
      subtitle: `${first.subtitle.replace(/ of \d+$/, "")} … ${last.subtitle.replace(/^\w+ = /, "")}`,
    };
  }
  const range = `commands ${first.first + 1} … ${lastOf(members) + 1}`;
  return { title: range, subtitle: members.every((member) => member.kind === "command") ? "" : count(members.length, "part") };
}

function addTotals(sum: Totals, part: Totals): void {
  sum.commands += part.commands;
  sum.time_us += part.time_us;
  sum.read_bytes += part.read_bytes;
  sum.written_bytes += part.written_bytes;
  sum.operations += part.operations;
  sum.timeKnown ||= part.timeKnown;
  sum.bytesKnown ||= part.bytesKnown;
  sum.operationsKnown ||= part.operationsKnown;
}

/** The child of `outer` that a box lies in, null where it lies elsewhere. */
export function childOf(outer: Box, box: Box): Box | null {
  let inner: Box | null = box;
  while (inner !== null && inner.parent !== outer) inner = inner.parent;
  return inner;
}

/** All commands in a box. */
export function commandsIn(box: Box): number[] {
  const found: number[] = [];
  const waiting = [box];
  while (waiting.length > 0) {
    const next = waiting.pop()!;
    if (next.node !== null) found.push(next.node);
    for (let at = next.children.length - 1; at >= 0; at -= 1) waiting.push(next.children[at]!);
  }
  return found;
}
