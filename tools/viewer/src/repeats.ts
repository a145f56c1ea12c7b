// What a phase is called in the picture: its title, and which of its repetitions it is.

import type { Model } from "./model.js";
import { short } from "./names.js";

/** The title as people wrote it, else the name. */
export function phaseTitle(model: Model, phase: number): string {
  const { title, name } = model.view.phases[phase]!;
  return title !== "" ? title : name;
}

/** `l = 3` where a loop made the phase, `3 of 12` where it stands several times, else nothing. */
export function phaseOccurrence(model: Model, phase: number): string {
  const loop = model.phaseLoop[phase]!;
  if (loop !== "") return short(loop, 30);
  const [at, all] = model.phaseRepeat[phase]!;
  return all > 1 ? `${at} of ${all}` : "";
}

export function phaseLabel(model: Model, phase: number, length = 60): string {
  const occurrence = phaseOccurrence(model, phase);
  const title = short(phaseTitle(model, phase), length);
  return occurrence === "" ? title : `${title} · ${occurrence}`;
}
