// What stands around the blocks of the memory view: the curve of bytes in use, addresses, arena and lower bound.

import { marks } from "./axis.js";
import type { Memory } from "./contract.js";
import type { MemoryPicture } from "./memory_blocks.js";
import { SANS, textWidth } from "./paint.js";
import { alpha, type Theme } from "./palette.js";
import { bytes } from "./quantities.js";

export const LEFT = 70;
export const TOP = 14;
export const RIGHT = 14;
export const CURVE = 54;
const LABEL = `11px ${SANS}`;

/** Pixels of positions in the sequence and of addresses. */
export interface Frame {
  width: number; height: number; top: number; bottom: number; x(position: number): number; y(address: number): number;
}

/** Bytes in use at each command, and where they are most. */
export function drawCurve(context: CanvasRenderingContext2D, picture: MemoryPicture, frame: Frame, theme: Theme): void {
    const peak = picture.inUse.reduce((best, amount, position) => (amount > picture.inUse[best]! ? position : best), 0);
  const most = Math.max(1, picture.inUse[peak] ?? 0, picture.arena_bytes);
  const base = TOP + CURVE;
  context.beginPath();
  context.moveTo(frame.x(0), base);
  picture.inUse.forEach((amount, position) => {
    const y = base - ((CURVE - 8) * amount) / most;
    context.lineTo(frame.x(position), y);
    context.lineTo(frame.x(position + 1), y);
  });
  context.lineTo(frame.x(picture.inUse.length), base);
  context.closePath();
  context.fillStyle = alpha(theme.soft, 0.22);
  context.fill();
  const x = frame.x(peak + 0.5);
  const y = base - ((CURVE - 8) * picture.inUse[peak]!) / most;
  context.fillStyle = theme.critical;
  context.fillRect(x - 0.75, y, 1.5, base - y);
  const text = `peak ${bytes(picture.inUse[peak]!)} at command ${peak + 1}`;
  context.font = `600 ${LABEL}`;
  const width = textWidth(text, context.font);
  context.fillText(text, Math.min(x + 6, frame.width - RIGHT - width - 4), TOP + 4);
}

/** Addresses at the left, the arena's size and its lower bound as lines. */
export function drawAxes(
  context: CanvasRenderingContext2D, picture: MemoryPicture, frame: Frame, theme: Theme, memory: Memory | null,
): void {
  context.font = LABEL;
  const label = (text: string, y: number, colour: string): void => {
    context.fillStyle = colour;
    context.fillText(text, LEFT - textWidth(text, context.font) - 8, y);
  };
  const levels = marks(0, picture.arena_bytes, 6, 2);
  for (const level of levels) {
    const y = frame.y(level);
    context.fillStyle = alpha(theme.ink, 0.1);
    context.fillRect(LEFT, y, frame.width - LEFT - RIGHT, 0.8);
    if (y > frame.top + 16 || memory === null) label(bytes(level), y, theme.soft);
  }
  label("in use", TOP + CURVE - 8, theme.soft);
  if (memory !== null && picture.placed) {
    const line = (value: number, text: string, colour: string, dash: number[], above: number): void => {
      const y = frame.y(value);
      context.setLineDash(dash);
      context.strokeStyle = colour;
      context.lineWidth = 1.4;
      context.beginPath();
      context.moveTo(LEFT, y);
      context.lineTo(frame.width - RIGHT, y);
      context.stroke();
      context.setLineDash([]);
      context.fillStyle = colour;
      context.font = LABEL;
      context.fillText(text, frame.width - RIGHT - textWidth(text, LABEL) - 4, y + above);
    };
    const same = memory.arena_bytes === memory.lower_bound_bytes;
    line(memory.arena_bytes, same ? `arena ${bytes(memory.arena_bytes)} = lower bound` : `arena ${bytes(memory.arena_bytes)}`, theme.critical, [], -8);
    if (!same) line(memory.lower_bound_bytes, `lower bound ${bytes(memory.lower_bound_bytes)}`, theme.read, [6, 4], 9);
    label(bytes(memory.arena_bytes), frame.y(memory.arena_bytes), theme.ink);
  }
}
