// The strip below every view: the whole program from its first command to its last. Phases as bands, the critical path
// as ticks, bytes in use as a curve, the selection as a mark. A click goes to the command there.

import { h } from "./dom.js";
import { litCommands } from "./lit.js";
import { memoryPicture, type MemoryPicture } from "./memory_blocks.js";
import type { Page } from "./page.js";
import { prepareCanvas, SANS, textWidth } from "./paint.js";
import { alpha, mix } from "./palette.js";
import { bytes } from "./quantities.js";
import { drawRibbon, ribbonHeight } from "./ribbon.js";
import { commandColour, type World } from "./world.js";

const LEFT = 12;
const CURVE = 22;

export class Strip {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { class: "strip-canvas", role: "img", "aria-label": "The program from first to last command" });
  private readonly pictures = new WeakMap<World, MemoryPicture>();

  constructor(private readonly page: Page) {
    this.element = h("footer", { class: "strip" }, this.canvas);
    this.canvas.addEventListener("click", (event) => {
      const node = this.nodeAt(event.offsetX);
      if (node !== null) page.select({ kind: "command", index: node });
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const node = this.nodeAt(event.offsetX);
      page.tip(node === null ? null : page.commandTip(node), event.offsetX, event.offsetY, this.canvas);
    });
    this.canvas.addEventListener("pointerleave", () => page.tip(null, 0, 0, this.canvas));
  }

  private nodeAt(x: number): number | null {
    const { sequence } = this.page.world().model.view;
    const at = Math.floor(((x - LEFT) / Math.max(1, this.canvas.clientWidth - 2 * LEFT)) * sequence.length);
    return sequence[at] ?? null;
  }

  draw(): void {
    const world = this.page.world();
    const { model } = world;
    const { theme, store } = this.page;
    this.canvas.style.height = `${ribbonHeight(model) + CURVE + 20}px`;
    const { context, width } = prepareCanvas(this.canvas);
    const total = model.view.sequence.length;
    if (width === 0 || total === 0) return;
    const per = (width - 2 * LEFT) / total;
    const place = (position: number): number => LEFT + position * per;
    const top = 6;
    const { selection } = store.state;
    drawRibbon(context, world, theme, top, place, { left: LEFT, right: width - LEFT }, selection?.kind === "phase" ? selection.index : null);
    if (model.view.phases.length === 0) this.drawCommands(context, world, place, top, per);
    const ticks = top + ribbonHeight(model) + 1;
    context.fillStyle = theme.critical;
    for (const node of model.view.critical_path) context.fillRect(place(model.position[node]!), ticks, Math.max(0.8, per - 0.6), 3);
    this.drawCurve(context, world, place, ticks + 5);
    if (selection === null) return;
    for (const [node, part] of litCommands(model, selection)) {
      const x = place(model.position[node]! + 0.5);
      const colour = part === "read" || part === "before" ? theme.read : part === "accumulate" ? theme.accumulate
        : part === "selected" ? theme.select : theme.write;
      context.fillStyle = part === "selected" && selection.kind !== "command" ? alpha(colour, 0.35) : colour;
      const wide = Math.max(1.2, Math.min(3, per));
      context.fillRect(x - wide / 2, part === "selected" ? top - 4 : ticks, wide, part === "selected" ? ticks + CURVE + 6 - top : CURVE + 6);
    }
  }

  /** Without phases: the commands themselves in their colours. */
  private drawCommands(
    context: CanvasRenderingContext2D, world: World, place: (position: number) => number, top: number, per: number,
  ): void {
    const { theme, store } = this.page;
    world.model.view.sequence.forEach((node, position) => {
      context.fillStyle = mix(commandColour(world, theme, node, store.state.colour), theme.card, 0.6);
      context.fillRect(place(position), top, Math.max(0.6, per - (per > 3 ? 1 : 0)), 15);
    });
  }

  private drawCurve(context: CanvasRenderingContext2D, world: World, place: (position: number) => number, top: number): void {
    const { theme } = this.page;
    let picture = this.pictures.get(world);
    if (picture === undefined) {
      picture = memoryPicture(world.model);
      this.pictures.set(world, picture);
    }
    const most = picture.inUse.reduce((highest, amount) => Math.max(highest, amount), 0);
    if (most === 0) return;
    const base = top + CURVE;
    context.beginPath();
    context.moveTo(place(0), base);
    picture.inUse.forEach((amount, position) => {
      const y = base - (CURVE * amount) / most;
      context.lineTo(place(position), y);
      context.lineTo(place(position + 1), y);
    });
    context.lineTo(place(picture.inUse.length), base);
    context.fillStyle = alpha(theme.soft, 0.25);
    context.fill();
    const text = `memory in use, peak ${bytes(most)}`;
    context.font = `10px ${SANS}`;
    context.fillStyle = theme.soft;
    context.fillText(text, this.canvas.clientWidth - LEFT - textWidth(text, context.font) - 2, base - 5);
  }
}
