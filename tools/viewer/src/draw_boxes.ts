// Draws the boxes of the graph. Receives the scene's places; what a box says depends on how large it stands on screen.

import type { Box } from "./boxes.js";
import type { Command } from "./contract.js";
import { drawMark, drawParts } from "./draw_marks.js";
import type { Part } from "./lit.js";
import { fit, MONO, roundRectangle, SANS, textWidth } from "./paint.js";
import { alpha, mix, type Theme } from "./palette.js";
import { count, time } from "./quantities.js";
import type { Shown } from "./scene.js";
import { short } from "./names.js";
import { commandColour, commandTitle, differencesIn, hue, statusColour, STATUS_SIGN, writtenPlanes, type World } from "./world.js";

export const TITLE_FONT = `600 13px ${SANS}`;
const SMALL_FONT = `11px ${SANS}`;
const PLANE_FONT = `11px ${MONO}`;
const COMMAND_HEIGHT = 42;
const CLOSED = { width: 212, height: 58 };
const READABLE = 0.42;

/** The space that a closed box or a command needs. */
export function leafSize(world: World): (box: Box) => { width: number; height: number } {
  return (box) => {
    if (box.node === null) {
      const beside = box.kind === "ladder" ? 0 : textWidth(box.subtitle, SMALL_FONT);
      const wide = Math.max(textWidth(short(box.title, 60), TITLE_FONT) + beside + 58, CLOSED.width);
      return { width: Math.min(330, Math.ceil(wide / 20) * 20), height: CLOSED.height };
    }
    const command = world.model.view.nodes[box.node]!;
    if (command.kind === "join" || command.kind === "empty") return { width: 84, height: 24 };
    const title = textWidth(commandTitle(world, box.node), TITLE_FONT) + badgeWidth(command);
    const wide = Math.max(title, textWidth(secondLine(world, box.node), PLANE_FONT)) + 26;
    return { width: Math.min(220, Math.max(108, Math.ceil(wide / 12) * 12)), height: COMMAND_HEIGHT };
  };
}

export interface Look {
  theme: Theme; scale: number; colour: "phase" | "kernel" | "cost"; hovered: Box | null; selected: Set<Box>;
  /** Parts by visible box with the number of commands that play them; null where nothing is selected. */
  lit: Map<Box, Map<Part, number>> | null;
  /** Boxes with a command that the filter keeps; null where there is no filter. */
  kept: Set<Box> | null;
}

/** Drawn from outside in: an open box first, then what it holds. */
export function drawBox(context: CanvasRenderingContext2D, world: World, shown: Shown, look: Look): void {
  const { box } = shown;
  const lit = look.lit?.get(box);
  const dim = look.kept !== null && !look.kept.has(box) ? 0.14 : look.lit !== null && lit === undefined ? 0.5 : 1;
  if (shown.open) drawOpen(context, world, shown, look, dim);
  else {
    context.globalAlpha = dim;
    if (box.node === null) drawClosed(context, world, shown, look);
    else drawCommand(context, world, shown, look);
    if (lit !== undefined) drawParts(context, shown, look, lit);
    context.globalAlpha = 1;
  }
}

function outline(context: CanvasRenderingContext2D, shown: Shown, look: Look, colour: string, radius: number): void {
  const selected = look.selected.has(shown.box);
  const wide = selected ? 2.5 : look.hovered === shown.box ? 1.8 : shown.box.critical && shown.box.node !== null ? 1.6 : 1;
  context.lineWidth = Math.max(wide, (selected ? 2 : 0.6) / look.scale);
  context.strokeStyle = selected || look.hovered === shown.box ? look.theme.select
    : shown.box.critical && shown.box.node !== null ? look.theme.critical : colour;
  roundRectangle(context, shown.x, shown.y, shown.width, shown.height, radius);
  context.stroke();
}

function drawOpen(context: CanvasRenderingContext2D, world: World, shown: Shown, look: Look, dim: number): void {
  const { theme, scale } = look;
  const { box, x, y, width, height } = shown;
  const number = box.phase === null ? null : world.hues[box.phase];
  const base = number === null || number === undefined ? theme.ink : hue(theme, number);
  const strength = number === null || number === undefined ? 0.028 : theme.dark ? 0.1 : 0.085;
  roundRectangle(context, x, y, width, height, 8);
  context.fillStyle = alpha(base, strength);
  context.fill();
  outline(context, shown, look, alpha(base, number === null || number === undefined ? 0.22 : 0.45), 8);
  const wished = Math.max(13, Math.min(30, 12 / scale));
  const room = (width - 36) / textWidth(short(box.title, 80), `600 1px ${SANS}`);
  const size = Math.max(Math.min(13, wished), Math.min(wished, room));
  if (size * scale < 6) return;
  context.globalAlpha = Math.max(dim, 0.6);
  const font = `600 ${size}px ${SANS}`;
  const middle = y + Math.max(17, size * 0.8);
  triangle(context, x + 15, middle, theme.soft, true);
  context.font = font;
  context.fillStyle = theme.ink;
  const facts = `${count(box.totals.commands, "command")}${box.totals.timeKnown ? ` · ${time(box.totals.time_us)}` : ""}`;
  const factsWidth = scale > READABLE ? textWidth(facts, SMALL_FONT) : 0;
  const title = fit(short(box.title, 80), font, width - 34);
  context.fillText(title, x + 25, middle);
  const used = 25 + textWidth(title, font);
  const occurrence = box.subtitle;
  if (occurrence !== "" && used + textWidth(occurrence, font) + 30 < width) {
    context.fillStyle = theme.soft;
    context.font = `${size}px ${SANS}`;
    context.fillText(`· ${occurrence}`, x + used + 7, middle);
  }
  const afterOccurrence = used + (occurrence === "" ? 0 : textWidth(`· ${occurrence}`, font) + 14);
  if (factsWidth > 0 && afterOccurrence + factsWidth + 24 < width) {
    context.font = SMALL_FONT;
    context.fillStyle = theme.faint;
    context.fillText(facts, x + width - factsWidth - 12, middle);
  }
  context.globalAlpha = 1;
}

function drawClosed(context: CanvasRenderingContext2D, world: World, shown: Shown, look: Look): void {
  const { theme, scale } = look;
  const { box, x, y, width, height } = shown;
  const number = box.phase === null ? null : world.hues[box.phase];
  const base = number === null || number === undefined ? null : hue(theme, number);
  for (const step of box.kind === "group" ? [6, 3] : box.kind === "ladder" ? [3] : []) {
    roundRectangle(context, x + step, y - step, width - 2 * step, height, 7);
    context.fillStyle = mix(theme.card, theme.line, 0.6);
    context.fill();
    context.lineWidth = 1;
    context.strokeStyle = theme.line;
    context.stroke();
  }
  roundRectangle(context, x, y, width, height, 7);
  context.fillStyle = base === null ? theme.card : mix(base, theme.card, theme.dark ? 0.14 : 0.1);
  context.fill();
  outline(context, shown, look, base === null ? mix(theme.soft, theme.card, 0.5) : mix(base, theme.card, 0.6), 7);
  drawComposition(context, world, shown, look);
  if (scale < READABLE * 0.62) return;
  triangle(context, x + 13, y + 17, theme.soft, false);
  const right = box.subtitle === "" || box.kind === "ladder" ? 0 : textWidth(box.subtitle, SMALL_FONT) + 10;
  context.font = TITLE_FONT;
  context.fillStyle = theme.ink;
  context.fillText(fit(short(box.title, 80), TITLE_FONT, width - 34 - right), x + 22, y + 17);
  context.font = SMALL_FONT;
  context.fillStyle = theme.soft;
  if (box.subtitle !== "" && box.kind !== "ladder") context.fillText(box.subtitle, x + width - right, y + 17);
  const empty = box.totals.commands === 0;
  const facts = empty ? "empty" : `${count(box.totals.commands, "command")}${box.totals.timeKnown ? ` · ${time(box.totals.time_us)}` : ""}`;
  const line = box.kind === "ladder" && box.subtitle !== "" ? box.subtitle : facts;
  context.fillText(fit(line, SMALL_FONT, width - 34), x + 22, y + 34);
  drawDifferences(context, world, shown, look);
}

/** A bar that shows what a closed box is made of: one segment for each part, as wide as its time. */
function drawComposition(context: CanvasRenderingContext2D, world: World, shown: Shown, look: Look): void {
  const { box } = shown;
  const parts = box.children;
  const total = parts.reduce((sum, part) => sum + weight(part), 0);
  if (total <= 0) return;
  const left = shown.x + 10;
  const width = shown.width - 20;
  const gap = parts.length > 40 ? 0 : 1;
  let at = 0;
  for (const part of parts) {
    const length = (width * weight(part)) / total;
    context.fillStyle = part.node !== null ? commandColour(world, look.theme, part.node, look.colour)
      : hue(look.theme, part.phase === null ? null : world.hues[part.phase]);
    context.fillRect(left + at, shown.y + shown.height - 11, Math.max(0.4, length - gap), 4);
    if (part.critical) {
      context.fillStyle = look.theme.critical;
      context.fillRect(left + at, shown.y + shown.height - 6, Math.max(0.4, length - gap), 1.5);
    }
    at += length;
  }
}

function weight(box: Box): number {
  return box.totals.timeKnown ? box.totals.time_us : box.totals.commands;
}

function drawCommand(context: CanvasRenderingContext2D, world: World, shown: Shown, look: Look): void {
  const { theme, scale } = look;
  const { box, x, y, width, height } = shown;
  const node = box.node!;
  const command = world.model.view.nodes[node]!;
  const colour = commandColour(world, theme, node, look.colour);
  const pill = command.kind === "join" || command.kind === "empty";
  const radius = pill ? 12 : command.kind === "launch" ? 5 : 11;
  roundRectangle(context, x, y, width, height, radius);
  context.fillStyle = theme.card;
  context.fill();
  context.save();
  context.clip();
  context.fillStyle = scale < READABLE ? mix(colour, theme.card, 0.55) : colour;
  context.fillRect(x, y, scale < READABLE ? width : 4, height);
  context.restore();
  const status = world.pairing[node]?.status;
  outline(context, shown, look, status !== undefined && status !== "same" ? statusColour(theme, status)
    : mix(theme.soft, theme.card, 0.35), radius);
  if (scale < READABLE) return;
  context.font = TITLE_FONT;
  context.fillStyle = theme.ink;
  const badge = badgeWidth(command);
  if (pill) {
    context.font = SMALL_FONT;
    context.fillText(fit(commandTitle(world, node), SMALL_FONT, width - 22), x + 13, y + height / 2);
    return;
  }
  const second = secondLine(world, node);
  const middle = second === "" ? y + height / 2 : y + 14;
  context.fillText(fit(commandTitle(world, node), TITLE_FONT, width - 18 - badge), x + 11, middle);
  if (badge > 0) {
    context.font = `9px ${SANS}`;
    context.fillStyle = theme.faint;
    context.fillText(badgeOf(command), x + width - badge + 1, middle);
  }
  context.font = PLANE_FONT;
  context.fillStyle = theme.soft;
  context.fillText(fit(second, PLANE_FONT, width - 18), x + 11, y + 29);
  const share = (world.model.time_us[node] ?? 0) / (world.mostTime_us || 1);
  if (share > 0) {
    context.fillStyle = alpha(theme.ink, 0.32);
    context.fillRect(x + 11, y + height - 4, Math.max(1, (width - 22) * share), 2);
  }
  if (command.flags.length > 0) drawMark(context, x + width - 7, y + 1, "!", theme.critical, look);
  if (status !== undefined && status !== "same") {
    drawMark(context, x + 1, y + 1, STATUS_SIGN[status], statusColour(theme, status), look);
  }
}

/** What it writes; where that is not known, how large the launch is. */
function secondLine(world: World, node: number): string {
  const { grid, block } = world.model.view.nodes[node]!;
  const sizes = (all: number[]): string => all.filter((each, at) => at === 0 || each !== 1).join("×");
  return writtenPlanes(world, node) || (grid === null || block === null ? "" : `${sizes(grid)} ${sizes(grid) === "1" ? "block" : "blocks"} of ${sizes(block)}`);
}

/** The kind, where the label does not say it. */
function badgeOf({ kind, label }: Command): string {
  const words = kind.replace("_", " ");
  return kind === "launch" || label.toLowerCase().includes(words) ? "" : words.toUpperCase();
}

function badgeWidth(command: Command): number {
  const badge = badgeOf(command);
  return badge === "" ? 0 : textWidth(badge, `9px ${SANS}`) + 9;
}

function drawDifferences(context: CanvasRenderingContext2D, world: World, shown: Shown, look: Look): void {
  if (!world.compared) return;
  let x = shown.x + shown.width - 8;
  for (const [status, amount] of differencesIn(world, shown.box)) {
    const text = `${STATUS_SIGN[status]}${amount}`;
    const font = `700 11px ${SANS}`;
    x -= textWidth(text, font) + 8;
    context.font = font;
    context.fillStyle = statusColour(look.theme, status);
    context.fillText(text, x, shown.y + 34);
  }
}

function triangle(context: CanvasRenderingContext2D, x: number, y: number, colour: string, down: boolean): void {
  context.beginPath();
  if (down) {
    context.moveTo(x - 4, y - 2.5);
    context.lineTo(x + 4, y - 2.5);
    context.lineTo(x, y + 3);
  } else {
    context.moveTo(x - 2.5, y - 4);
    context.lineTo(x - 2.5, y + 4);
    context.lineTo(x + 3, y);
  }
  context.fillStyle = colour;
  context.fill();
}
