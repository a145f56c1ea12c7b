// Draws edges: those between neighbours, and those of a selected command over everything.

import type { Reason } from "./contract.js";
import type { Point } from "./layout.js";
import { arrowhead, smooth } from "./paint.js";
import { alpha, mix, type Theme } from "./palette.js";
import type { Bundle, Scene, Shown } from "./scene.js";
import type { Stage } from "./scene.js";
import type { World } from "./world.js";

const DASH: Record<Reason, number[]> = {
  "read-after-write": [], given: [], "write-after-read": [6, 4], "write-after-write": [2, 3], order: [1.5, 4],
};

export interface View { left: number; top: number; right: number; bottom: number }

/** Edges between neighbours; critical ones last, so that they lie on top. */
export function drawBundles(
  context: CanvasRenderingContext2D, scene: Scene, theme: Theme, scale: number, view: View, quiet: boolean,
): void {
  const plain = mix(theme.soft, theme.ground, theme.dark ? 0.6 : 0.55);
  for (const critical of [false, true]) {
    for (const bundle of scene.bundles) {
      if (bundle.critical !== critical || !inView(bundle, view)) continue;
      const colour = critical ? theme.critical : plain;
      context.globalAlpha = quiet ? 0.3 : bundle.orderOnly && !critical ? 0.6 : 1;
      context.strokeStyle = colour;
      context.fillStyle = colour;
      context.lineWidth = Math.max(critical ? 1.8 : 0.9 + Math.min(1.6, Math.log2(bundle.edges.length + 1) * 0.22), 0.5 / scale);
      context.setLineDash(bundle.body ? [3, 3] : bundle.orderOnly ? [2, 3] : []);
      const { points } = bundle;
      smooth(context, points, 7);
      context.stroke();
      context.setLineDash([]);
      if (scale > 0.25) arrowhead(context, points[points.length - 2]!, points[points.length - 1]!, 6.5);
    }
  }
  context.globalAlpha = 1;
}

function inView(bundle: Bundle, view: View): boolean {
  let left = Infinity;
  let right = -Infinity;
  let top = Infinity;
  let bottom = -Infinity;
  for (const point of bundle.points) {
    left = Math.min(left, point.x);
    right = Math.max(right, point.x);
    top = Math.min(top, point.y);
    bottom = Math.max(bottom, point.y);
  }
  return right >= view.left && left <= view.right && bottom >= view.top && top <= view.bottom;
}

/** A selected command's own edges, from and to the boxes that can be seen. `hovered` is one edge, drawn stronger. */
export function drawOwnEdges(
  context: CanvasRenderingContext2D, world: World, stage: Stage, scene: Scene, node: number, theme: Theme, scale: number,
): void {
  const { model, tree } = world;
  const own = stage.visibleBox(tree.ofCommand[node]!);
  const draw = (edge: number, other: number, incoming: boolean): void => {
    const box = stage.visibleBox(tree.ofCommand[other]!);
    const from = scene.at.get(incoming ? box : own);
    const to = scene.at.get(incoming ? own : box);
    if (from === undefined || to === undefined || from === to) return;
    const { reason } = model.view.edges[edge]!;
    const colour = model.criticalEdges.has(edge) ? theme.critical : incoming ? theme.read : theme.write;
    curve(context, from, to, colour, DASH[reason], scale);
  };
  for (const edge of model.incoming[node]!) draw(edge, model.view.edges[edge]!.before, true);
  for (const edge of model.outgoing[node]!) draw(edge, model.view.edges[edge]!.after, false);
}

function curve(
  context: CanvasRenderingContext2D, from: Shown, to: Shown, colour: string, dash: number[], scale: number,
): void {
  const down = to.y >= from.y + from.height;
  const start: Point = { x: from.x + from.width / 2, y: down ? from.y + from.height : from.y + from.height / 2 };
  const end: Point = { x: to.x + to.width / 2, y: to.y };
  if (!down) {
    start.x = to.x > from.x ? from.x + from.width : from.x;
    end.x = to.x > from.x ? to.x : to.x + to.width;
    end.y = to.y + to.height / 2;
  }
  const bend = down ? Math.max(18, Math.min(140, (end.y - start.y) * 0.45)) : 0;
  const side = down ? 0 : Math.max(30, Math.abs(end.x - start.x) * 0.4) * (to.x > from.x ? 1 : -1);
  const one = { x: start.x + side, y: start.y + bend };
  const two = { x: end.x - side, y: end.y - bend };
  context.lineWidth = Math.max(2, 1.3 / scale);
  context.strokeStyle = colour;
  context.fillStyle = colour;
  context.setLineDash(dash.map((length) => length * Math.max(1, 0.7 / scale)));
  context.beginPath();
  context.moveTo(start.x, start.y);
  context.bezierCurveTo(one.x, one.y, two.x, two.y, end.x, end.y);
  context.stroke();
  context.setLineDash([]);
  arrowhead(context, two, end, Math.max(8, 6 / scale));
}

/** Where the picture lies in the whole: a small map in a corner of the canvas. */
export function drawMinimap(
  context: CanvasRenderingContext2D, scene: Scene, theme: Theme, view: View, canvas: { width: number; height: number },
  colourOf: (shown: Shown) => string,
): { x: number; y: number; scale: number } | null {
  const seenAll = view.left <= 0 && view.top <= 0 && view.right >= scene.width && view.bottom >= scene.height;
  if (seenAll || canvas.width < 420) return null;
  const scale = Math.min(150 / scene.width, 130 / scene.height);
  const width = scene.width * scale;
  const height = scene.height * scale;
  const x = canvas.width - width - 14;
  const y = canvas.height - height - 14;
  context.fillStyle = alpha(theme.panel, 0.92);
  context.fillRect(x - 5, y - 5, width + 10, height + 10);
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.strokeRect(x - 5, y - 5, width + 10, height + 10);
  for (const shown of scene.shown) {
    if (shown.open) continue;
    context.fillStyle = colourOf(shown);
    context.fillRect(x + shown.x * scale, y + shown.y * scale, Math.max(1, shown.width * scale), Math.max(1, shown.height * scale));
  }
  context.strokeStyle = theme.select;
  context.lineWidth = 1.2;
  const left = Math.max(0, view.left);
  const top = Math.max(0, view.top);
  context.strokeRect(x + left * scale, y + top * scale,
    Math.max(3, (Math.min(scene.width, view.right) - left) * scale),
    Math.max(3, (Math.min(scene.height, view.bottom) - top) * scale));
  return { x, y, scale };
}
