// What a phase is called in the picture: its title, and which of its repetitions it is.

import type { Model } from "./model.js";
import { short } from "./names.js";

/** The title as people wrote it, else the name. */
export function phaseTitle(model: Model, phase: number): string {
  const { title, name } = model.view.phases[phase]!;
  return title !== "" ? title : name;
}

/** `l = 3` where a loop made one of several phases, `3 of 12` where it stands several times, else nothing. */
export function phaseOccurrence(model: Model, phase: number): string {
  const [at, all] = model.phaseRepeat[phase]!;
  if (all < 2) return "";
  const loop = model.phaseLoop[phase]!;
  return loop === "" ? `${at} of ${all}` : short(loop, 30);
}

export function phaseLabel(model: Model, phase: number, length = 60): string {
  const occurrence = phaseOccurrence(model, phase);
  const title = short(phaseTitle(model, phase), length);
  return occurrence === "" ? title : `${title} · ${occurrence}`;
}

/** The label, and for phases inside repeated ones which repetition: `attention of the heads (l = 3)`. */
export function phasePlace(model: Model, phase: number, length = 60): string {
  const around: string[] = [];
  let outer = model.view.phases[phase]!.parent;
  while (outer !== null) {
    const occurrence = phaseOccurrence(model, outer);
    if (occurrence !== "") around.unshift(occurrence);
    outer = model.view.phases[outer]!.parent;
  }
  const label = phaseLabel(model, phase, length);
  return around.length === 0 ? label : `${label} (${around.join(", ")})`;
}
