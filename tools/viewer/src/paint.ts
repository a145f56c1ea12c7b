// Small steps of drawing on a canvas, shared by the views.

import type { Point } from "./layout.js";
import { beginning } from "./names.js";

export const SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif";
export const MONO = "ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace";

const widths = new Map<string, number>();
const MOST_WIDTHS = 40_000;
let measuring: CanvasRenderingContext2D | null = null;

export function textWidth(text: string, font: string): number {
  const key = `${font}|${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    measuring ??= document.createElement("canvas").getContext("2d");
    measuring!.font = font;
    width = measuring!.measureText(text).width;
    if (widths.size > MOST_WIDTHS) widths.clear();
    widths.set(key, width);
  }
  return width;
}

const fitted = new Map<string, string>();

/** The text, its end left out where it is wider than `width`. Steps of four pixels keep the number of cuts small. */
export function fit(text: string, font: string, width: number): string {
  if (textWidth(text, font) <= width) return text;
  const step = Math.floor(width / 4) * 4;
  const key = `${font}|${step}|${text}`;
  let cut = fitted.get(key);
  if (cut === undefined) {
    let low = 0;
    let high = text.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (textWidth(`${text.slice(0, middle)}…`, font) <= step) low = middle;
      else high = middle - 1;
    }
    cut = low === 0 ? "" : `${beginning(text, low).trimEnd()}…`;
    if (fitted.size > MOST_WIDTHS) fitted.clear();
    fitted.set(key, cut);
  }
  return cut;
}

export function roundRectangle(
  context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, radius: number,
): void {
  context.beginPath();
  context.roundRect(x, y, Math.max(width, 0.5), Math.max(height, 0.5), Math.min(radius, width / 2, height / 2));
}

/** A line through points with rounded corners. */
export function smooth(context: CanvasRenderingContext2D, points: Point[], radius: number): void {
  context.beginPath();
  points.forEach((point, at) => {
    const next = points[at + 1];
    if (at === 0) context.moveTo(point.x, point.y);
    else if (next === undefined) context.lineTo(point.x, point.y);
    else context.arcTo(point.x, point.y, next.x, next.y, Math.min(radius, reach(points[at - 1]!, point, next)));
  });
}

function reach(before: Point, corner: Point, after: Point): number {
  return Math.min(Math.hypot(corner.x - before.x, corner.y - before.y), Math.hypot(after.x - corner.x, after.y - corner.y)) / 2;
}

/** A filled arrowhead at the end of a line that comes from `from`. */
export function arrowhead(context: CanvasRenderingContext2D, from: Point, to: Point, size: number): void {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  context.beginPath();
  context.moveTo(to.x, to.y);
  context.lineTo(to.x - size * Math.cos(angle - 0.42), to.y - size * Math.sin(angle - 0.42));
  context.lineTo(to.x - size * Math.cos(angle + 0.42), to.y - size * Math.sin(angle + 0.42));
  context.closePath();
  context.fill();
}

/** Fits a canvas to its element and the screen's pixels; the context then measures in CSS pixels. */
export function prepareCanvas(canvas: HTMLCanvasElement): { context: CanvasRenderingContext2D; width: number; height: number } {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = Math.min(3, window.devicePixelRatio || 1) * (document.body.classList.contains("printing") ? 3 : 1);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.textBaseline = "middle";
  return { context, width, height };
}
