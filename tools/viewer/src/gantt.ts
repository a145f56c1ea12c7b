// When each phase would be at work: a row for each phase that holds commands, in the order in which they can start.

import type { Ideal } from "./concurrency.js";
import { fit, SANS } from "./paint.js";
import { alpha, mix, type Theme } from "./palette.js";
import { phaseLabel, phaseOccurrence } from "./repeats.js";
import { hue, type World } from "./world.js";

export interface PhaseSpan { phase: number; start_us: number; stop_us: number; bars: { start_us: number; stop_us: number; node: number }[] }

export const ROW_HEIGHT = 15;

/** Phases with commands of their own, earliest first. */
export function phaseSpans(world: World, ideal: Ideal): PhaseSpan[] {
  const spans = new Map<number, PhaseSpan>();
  for (const bar of ideal.bars) {
    const { phase } = world.model.view.nodes[bar.node]!;
    if (phase === null) continue;
    const span = spans.get(phase) ?? { phase, start_us: bar.start_us, stop_us: bar.stop_us, bars: [] };
    span.start_us = Math.min(span.start_us, bar.start_us);
    span.stop_us = Math.max(span.stop_us, bar.stop_us);
    span.bars.push(bar);
    spans.set(phase, span);
  }
  return [...spans.values()].sort((a, b) => a.start_us - b.start_us || a.stop_us - b.stop_us || a.phase - b.phase);
}

export interface GanttPlace { top: number; bottom: number; left: number; right: number; x(at_us: number): number }

/** Draws the rows that lie between `top` and `bottom`; `first` is the place of the first row. */
export function drawGantt(
  context: CanvasRenderingContext2D, world: World, theme: Theme, spans: PhaseSpan[], first: number, place: GanttPlace,
  lit: Map<number, unknown> | null,
): void {
  const { model } = world;
  spans.forEach((span, row) => {
    const y = first + row * ROW_HEIGHT;
    if (y + ROW_HEIGHT < place.top || y > place.bottom) return;
    const colour = hue(theme, world.hues[span.phase]);
    const dim = lit !== null && !span.bars.some((bar) => lit.has(bar.node));
    context.globalAlpha = dim ? 0.35 : 1;
    context.save();
    context.beginPath();
    context.rect(place.left, place.top, place.right - place.left, place.bottom - place.top);
    context.clip();
    context.fillStyle = alpha(colour, 0.2);
    context.fillRect(place.x(span.start_us), y + 2, Math.max(1, place.x(span.stop_us) - place.x(span.start_us)), ROW_HEIGHT - 4);
    for (const bar of span.bars) {
      context.fillStyle = model.critical.has(bar.node) ? theme.critical : mix(colour, theme.card, 0.85);
      context.fillRect(place.x(bar.start_us), y + 3, Math.max(0.8, place.x(bar.stop_us) - place.x(bar.start_us) - 0.7), ROW_HEIGHT - 6);
    }
    context.restore();
    const font = `11px ${SANS}`;
    const parent = model.view.phases[span.phase]!.parent;
    const occurrence = parent === null ? "" : phaseOccurrence(model, parent);
    context.font = font;
    context.fillStyle = theme.soft;
    const label = fit(phaseLabel(model, span.phase, 60), font, place.left - 20 - (occurrence === "" ? 0 : 40));
    context.fillText(label, 10, y + ROW_HEIGHT / 2);
    context.fillStyle = theme.faint;
    context.textAlign = "right";
    context.fillText(fit(occurrence, font, 60), place.left - 8, y + ROW_HEIGHT / 2);
    context.textAlign = "left";
    context.globalAlpha = 1;
  });
}
