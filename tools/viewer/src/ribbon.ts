// Phases along an axis, one row for each depth of nesting, as bands that carry their titles where these fit.

import type { Model } from "./model.js";
import { fit, SANS, textWidth } from "./paint.js";
import { alpha, type Theme } from "./palette.js";
import { phaseOccurrence, phaseTitle } from "./repeats.js";
import { short } from "./names.js";
import { hue, type World } from "./world.js";

const ROW = 17;

/** Depth of nesting of each phase, from 0. */
export function depths(model: Model): number[] {
  const found: number[] = [];
  model.view.phases.forEach((phase, index) => (found[index] = phase.parent === null ? 0 : found[phase.parent]! + 1));
  return found;
}

export function ribbonHeight(model: Model, rows = 2): number {
  return Math.min(rows, Math.max(0, ...depths(model)) + 1) * ROW;
}

/** `place` maps positions in the sequence to pixels; `selected` phases stand out. */
export function drawRibbon(
  context: CanvasRenderingContext2D, world: World, theme: Theme, y: number, place: (position: number) => number,
  limits: { left: number; right: number }, selected: number | null, rows = 2,
): void {
  const { model } = world;
  depths(model).forEach((depth, phase) => {
    const range = model.phaseRange[phase];
    if (depth >= rows || range === null || range === undefined) return;
    const left = Math.max(limits.left, place(range[0]));
    const right = Math.min(limits.right, place(range[1] + 1));
    if (right - left < 0.5) return;
    const number = world.hues[phase];
    const colour = hue(theme, number);
    const top = y + depth * ROW;
    context.fillStyle = number === null ? alpha(theme.ink, 0.07) : alpha(colour, theme.dark ? 0.45 : 0.38);
    context.fillRect(left, top, Math.max(0.8, right - left - 1), ROW - 2);
    if (phase === selected) {
      context.strokeStyle = theme.select;
      context.lineWidth = 1.5;
      context.strokeRect(left + 0.5, top + 0.5, right - left - 2, ROW - 3);
    }
    if (right - left < 26) return;
    const font = `10.5px ${SANS}`;
    const occurrence = phaseOccurrence(model, phase);
    const title = short(phaseTitle(model, phase), 60);
    const whole = occurrence === "" ? title : `${title} · ${occurrence}`;
    const room = right - left - 8;
    const texts = occurrence === "" ? [fit(title, font, room)] : [whole, occurrence].filter((text) => textWidth(text, font) <= room);
    context.font = font;
    context.fillStyle = theme.ink;
    context.fillText(texts[0] ?? "", left + 4, top + ROW / 2 - 0.5);
  });
}
