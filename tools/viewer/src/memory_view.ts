// The memory view: every plane of the arena as a block, from its first use to its last.

import { listen, zoomAt, type Camera } from "./camera.js";
import { h, replace } from "./dom.js";
import { CURVE, drawAxes, drawCurve, LEFT, RIGHT, TOP, type Frame } from "./memory_axes.js";
import { memoryPicture, sharers, type Block, type MemoryPicture } from "./memory_blocks.js";
import type { MainView, Page } from "./page.js";
import { fit, MONO, prepareCanvas, SANS, textWidth } from "./paint.js";
import { alpha, mix } from "./palette.js";
import { bytes, count, percent } from "./quantities.js";
import { drawRibbon, ribbonHeight } from "./ribbon.js";
import { short } from "./names.js";
import { hue, type World } from "./world.js";


export class MemoryView implements MainView {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", {
    class: "drawing", tabindex: 0, role: "img", "aria-label": "Memory: commands across, addresses up.",
  });
  private readonly facts = h("div", { class: "facts-line" });
  private readonly camera: Camera = { x: 0, y: 0, scale: 1 };
  private readonly pictures = new Map<World, MemoryPicture>();
  private hovered: Block | null = null;

  constructor(private readonly page: Page) {
    this.element = h("div", { class: "view", id: "view-memory" }, this.facts, this.canvas);
    listen(this.canvas, this.camera, { least: 1, most: 200 }, {
      changed: () => this.moved(),
      hover: (x, y) => this.hover(x, y),
      leave: () => this.hover(-1, -1),
      click: (x, y) => {
        const block = this.hit(x, y);
        page.select(block === null ? null : { kind: "plane", index: block.plane }, "here");
      },
      doubleClick: () => this.fit(),
    });
  }

  fit(): void {
    Object.assign(this.camera, { x: 0, y: 0, scale: 1 });
    this.page.redraw();
  }

  zoom(factor: number): void {
    zoomAt(this.camera, this.canvas.clientWidth / 2, 0, factor, { least: 1, most: 200 });
    this.moved();
  }

  pan(x: number): void {
    this.camera.x += (x * this.canvas.clientWidth) / this.camera.scale;
    this.moved();
  }

  private moved(): void {
    const span = this.canvas.clientWidth;
    this.camera.x = Math.max(0, Math.min(span - span / this.camera.scale, this.camera.x));
    this.camera.y = 0;
    this.page.redraw();
  }

  picture(): MemoryPicture {
    const world = this.page.world();
    let picture = this.pictures.get(world);
    if (picture === undefined) {
      picture = memoryPicture(world.model);
      this.pictures.set(world, picture);
    }
    return picture;
  }

  private frame(): Frame {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const { model } = this.page.world();
    const top = TOP + CURVE + 22;
    const bottom = height - ribbonHeight(model) - 30;
    const perPosition = (width - LEFT - RIGHT) / Math.max(1, model.view.nodes.length);
    const { arena_bytes } = this.picture();
    return {
      width, height, top, bottom,
      x: (position) => LEFT + (position * perPosition - this.camera.x * ((width - LEFT - RIGHT) / Math.max(1, width))) * this.camera.scale,
      y: (address) => bottom - ((bottom - top) * address) / Math.max(1, arena_bytes),
    };
  }

  draw(): void {
    const { context, width, height } = prepareCanvas(this.canvas);
    if (width === 0 || height === 0) return;
    const world = this.page.world();
    const { theme, store } = this.page;
    const picture = this.picture();
    this.drawFacts(picture);
    if (picture.blocks.length === 0) {
      context.font = `14px ${SANS}`;
      context.fillStyle = theme.soft;
      context.fillText("No plane of this graph has a lifetime and a size that are known.", LEFT, height / 2);
      return;
    }
    const frame = this.frame();
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, width - LEFT - RIGHT, height);
    context.clip();
    this.drawBlocks(context, world, picture, frame);
    drawCurve(context, picture, frame, theme);
    const { selection } = store.state;
    drawRibbon(context, world, theme, frame.bottom + 8, frame.x, { left: LEFT, right: width - RIGHT },
      selection?.kind === "phase" ? selection.index : null);
    if (selection?.kind === "command") {
      const x = frame.x(world.model.position[selection.index]! + 0.5);
      context.fillStyle = alpha(theme.select, 0.75);
      context.fillRect(x - 0.75, TOP, 1.5, frame.bottom - TOP + 6);
    }
    context.restore();
    drawAxes(context, picture, frame, theme, world.model.view.memory);
    this.canvas.dataset["blocks"] = String(picture.blocks.length);
  }

  private drawFacts(picture: MemoryPicture): void {
    const { memory } = this.page.world().model.view;
    const parts: [string, string][] = [];
    if (memory !== null) {
      const atBound = memory.arena_bytes === memory.lower_bound_bytes;
      parts.push(["arena", bytes(memory.arena_bytes)]);
      parts.push(["lower bound", `${bytes(memory.lower_bound_bytes)}${atBound ? " (reached)" : ` (${percent(memory.arena_bytes - memory.lower_bound_bytes, memory.lower_bound_bytes)} above)`}`]);
      parts.push(["without sharing", `${bytes(memory.unshared_bytes)} (${percent(memory.unshared_bytes - memory.arena_bytes, memory.unshared_bytes)} saved)`]);
      parts.push(["outside the arena", bytes(memory.persistent_bytes)]);
    }
    parts.push(["in this picture", count(picture.blocks.length, "plane")]);
    if (!picture.placed && picture.blocks.length > 0) parts.push(["addresses", "not in the dump; stacked by size"]);
    replace(this.facts, parts.map(([name, value]) => h("span", {}, h("b", {}, name), ` ${value}`)));
  }

  private drawBlocks(context: CanvasRenderingContext2D, world: World, picture: MemoryPicture, frame: Frame): void {
    const { theme, store } = this.page;
    const { selection } = store.state;
    const focus = selection?.kind === "plane" ? selection.index : this.hovered?.plane ?? null;
    const shared = new Set(focus === null ? [] : sharers(picture, focus).map((block) => block.plane));
    const touched = selection?.kind === "command"
      ? new Map(world.model.view.nodes[selection.index]!.accesses.map((access) => [access.plane, access.mode])) : null;
    for (const block of picture.blocks) {
      const left = frame.x(block.first);
      const right = frame.x(block.last + 1);
      if (right < LEFT || left > frame.width) continue;
      const y = frame.y(block.stop);
      const blockHeight = Math.max(1, frame.y(block.start) - y);
      const colour = this.colourOf(world, block.plane);
      const own = block.plane === focus;
      const quiet = (focus !== null && !own && !shared.has(block.plane)) || (touched !== null && !touched.has(block.plane));
      context.globalAlpha = quiet ? 0.28 : 1;
      context.fillStyle = mix(colour, theme.card, own ? 0.85 : theme.dark ? 0.48 : 0.52);
      context.fillRect(left + 0.5, y + 0.5, Math.max(1, right - left - 1), Math.max(0.8, blockHeight - 1));
      if (own || shared.has(block.plane)) {
        context.lineWidth = own ? 2.5 : 1.6;
        context.setLineDash(own ? [] : [4, 3]);
        context.strokeStyle = own ? theme.select : theme.accumulate;
        context.strokeRect(left + 1, y + 1, Math.max(1, right - left - 2), Math.max(1, blockHeight - 2));
        context.setLineDash([]);
      }
      this.drawUses(context, world, block, frame, y, blockHeight);
      const visibleLeft = Math.max(left, LEFT);
      const room = Math.min(right, frame.width - RIGHT) - visibleLeft - 8;
      if (blockHeight > 7.8 && room > 24) this.drawName(context, world, block, visibleLeft + 4, y, blockHeight, room);
    }
    context.globalAlpha = 1;
  }

  private drawName(
    context: CanvasRenderingContext2D, world: World, block: Block, x: number, y: number, blockHeight: number, room: number,
  ): void {
    const { theme } = this.page;
    const size = Math.min(11, Math.max(8, blockHeight - 1.5));
    const font = `${size}px ${MONO}`;
    const name = fit(short(world.planeName[block.plane]!, 60), font, room);
    const middle = y + Math.min(blockHeight / 2, 11) + 0.5;
    context.font = font;
    context.fillStyle = theme.ink;
    context.fillText(name, x, middle);
    const amount = bytes(block.stop - block.start);
    const used = textWidth(name, font) + 8;
    const small = `${size - 0.5}px ${SANS}`;
    if (used + textWidth(amount, small) > room) return;
    context.font = small;
    context.fillStyle = alpha(theme.ink, 0.62);
    context.fillText(amount, x + used, middle);
  }

  /** Writes as ticks from above, reads from below, where a block is large enough on screen. */
  private drawUses(
    context: CanvasRenderingContext2D, world: World, block: Block, frame: Frame, y: number, blockHeight: number,
  ): void {
    if (blockHeight < 8 || frame.x(1) - frame.x(0) < 2) return;
    const { theme } = this.page;
    for (const use of world.model.uses[block.plane]!) {
      const x = frame.x(world.model.position[use.node]! + 0.5);
      const length = Math.min(5, blockHeight / 3);
      if (use.mode !== "read") {
        context.fillStyle = theme.write;
        context.fillRect(x - 1, y + 1, 2, length);
      }
      if (use.mode !== "write") {
        context.fillStyle = theme.read;
        context.fillRect(x - 1, y + blockHeight - 1 - length, 2, length);
      }
    }
  }

  private colourOf(world: World, plane: number): string {
    const first = world.model.uses[plane]![0];
    const phase = first === undefined ? null : world.model.view.nodes[first.node]!.phase;
    return hue(this.page.theme, phase === null ? null : world.hues[phase]);
  }

  private hit(x: number, y: number): Block | null {
    const frame = this.frame();
    if (x < LEFT) return null;
    const found = this.picture().blocks.find((block) =>
      x >= frame.x(block.first) && x <= frame.x(block.last + 1) && y >= frame.y(block.stop) && y <= frame.y(block.start));
    return found ?? null;
  }

  private hover(x: number, y: number): void {
    const block = x < 0 ? null : this.hit(x, y);
    if (block === null) this.page.tip(null, x, y, this.canvas);
    else {
      const others = sharers(this.picture(), block.plane);
      this.page.tip([...this.page.planeTip(block.plane),
        others.length === 0 ? "shares its bytes with no other plane" : `shares bytes with ${count(others.length, "plane")}`], x, y, this.canvas);
    }
    if (block === this.hovered) return;
    this.hovered = block;
    this.page.redraw();
  }
}
