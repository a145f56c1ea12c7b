// Marks on boxes: what they do to the selection, flags, and what a comparison found. They grow as the picture shrinks.

import type { Look } from "./draw_boxes.js";
import type { Part } from "./lit.js";
import { roundRectangle, SANS, textWidth } from "./paint.js";
import type { Shown } from "./scene.js";

/** A round mark with one sign, its centre at a corner of a box. */
export function drawMark(context: CanvasRenderingContext2D, x: number, y: number, sign: string, colour: string, look: Look): void {
  const size = Math.min(2, Math.max(1, 0.8 / look.scale));
  context.beginPath();
  context.arc(x, y, 7.5 * size, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
  context.font = `700 ${11 * size}px ${SANS}`;
  context.fillStyle = look.theme.dark ? "#14171a" : "#ffffff";
  context.fillText(sign, x - textWidth(sign, context.font) / 2, y + 0.5);
}

const PART_LETTER: Record<Part, string> = {
  selected: "", before: "before", after: "after", read: "R", write: "W", accumulate: "RW",
};

/** Badges on a lit box: what it does to the selected plane, or how it stands to the selected command. */
export function drawParts(context: CanvasRenderingContext2D, shown: Shown, look: Look, lit: Map<Part, number>): void {
  const { theme, scale } = look;
  const size = Math.min(2.2, Math.max(1, 0.62 / scale));
  const font = `700 ${10 * size}px ${SANS}`;
  let right = shown.x + shown.width - 2;
  for (const [part, amount] of lit) {
    const letter = PART_LETTER[part];
    if (letter === "") continue;
    const colour = part === "read" || part === "before" ? theme.read : part === "accumulate" ? theme.accumulate : theme.write;
    const text = shown.box.node === null ? `${letter} × ${amount}` : letter;
    const width = textWidth(text, font) + 10 * size;
    context.lineWidth = Math.max(2, 1.2 / scale);
    context.strokeStyle = colour;
    roundRectangle(context, shown.x, shown.y, shown.width, shown.height, 6);
    if (!look.selected.has(shown.box)) context.stroke();
    const x = right - width;
    roundRectangle(context, x, shown.y - 10 * size, width, 14 * size, 7 * size);
    context.fillStyle = colour;
    context.fill();
    context.font = font;
    context.fillStyle = theme.dark ? "#14171a" : "#ffffff";
    context.fillText(text, x + 5 * size, shown.y - 2.5 * size);
    right -= width + 4;
  }
}

