// The graph: nested boxes that open and close, edges, and what the selection lights up.

import type { Box } from "./boxes.js";
import { listen, toWorld, type Camera } from "./camera.js";
import { h, replace } from "./dom.js";
import { drawBox, leafSize } from "./draw_boxes.js";
import { drawBundles, drawMinimap, drawOwnEdges, type View } from "./draw_edges.js";
import { lookOf } from "./look.js";
import type { Page } from "./page.js";
import { prepareCanvas } from "./paint.js";
import { count, time } from "./quantities.js";
import { Stage, type Scene, type Shown } from "./scene.js";
import type { Selection } from "./state.js";
import { commandColour, hue, type World } from "./world.js";

const LIMITS = { least: 0.03, most: 3 };
const OPEN_AT_START = 100;
const OPEN_ALL = 2500;

interface Drawn { stage: Stage; scene: Scene; camera: Camera; placed: boolean }

export class GraphView {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", {
    class: "drawing", tabindex: 0, role: "application", "aria-label": "The graph. Keys: question mark shows them.",
  });
  private readonly buttons = h("div", { class: "corner", role: "toolbar", "aria-label": "Picture" });
  private readonly camera: Camera = { x: 0, y: 0, scale: 1 };
  private readonly drawn = new Map<World, Drawn>();
  /** How much finer than a screen the picture is seen: on paper small text can be read. */
  private fineness = 1;
  private onScreen: Camera = { x: 0, y: 0, scale: 1 };
  private hovered: Box | null = null;
  private minimap: { x: number; y: number; scale: number } | null = null;
  private shownWorld: World | null = null;

  constructor(private readonly page: Page) {
    this.element = h("div", { class: "view", id: "view-graph" }, this.canvas, this.buttons);
    const button = (label: string, hint: string, action: () => void): HTMLElement =>
      h("button", { type: "button", title: hint, onclick: action }, label);
    replace(this.buttons,
      button("Fit", "Whole picture (0)", () => this.fit()),
      button("+", "Nearer (+)", () => this.zoom(1.3)),
      button("−", "Farther (−)", () => this.zoom(1 / 1.3)),
      button("Open all", "Open every box (E)", () => this.openAll()),
      button("Close all", "Close every box (C)", () => this.closeAll()));
    listen(this.canvas, this.camera, LIMITS, {
      changed: () => page.redraw(),
      hover: (x, y) => this.hover(x, y),
      leave: () => this.hover(-1, -1),
      click: (x, y) => this.click(x, y),
      doubleClick: (x, y) => this.doubleClick(x, y),
    });
  }

  private current(): Drawn {
    const world = this.page.world();
    let drawn = this.drawn.get(world);
    if (drawn === undefined) {
      const aspect = this.canvas.clientWidth / Math.max(1, this.canvas.clientHeight);
      const stage = new Stage(world.model, world.tree, leafSize(world), Math.min(3, Math.max(0.5, aspect)));
      if (world.model.view.nodes.length <= OPEN_AT_START) {
        for (const box of world.tree.boxes) if (box.children.length > 0 && box.kind !== "ladder") stage.setOpen(box, true);
      }
      drawn = { stage, scene: stage.scene(), camera: { x: 0, y: 0, scale: 1 }, placed: false };
      this.drawn.set(world, drawn);
    }
    return drawn;
  }

  /** Draws the current state. Nothing is laid out anew unless boxes have opened or closed. */
  draw(): void {
    const world = this.page.world();
    const drawn = this.current();
    if (this.shownWorld !== world) {
      if (this.shownWorld !== null) Object.assign(this.drawn.get(this.shownWorld)!.camera, this.camera);
      Object.assign(this.camera, drawn.camera);
      this.shownWorld = world;
    }
    const { context, width, height } = prepareCanvas(this.canvas);
    if (width === 0 || height === 0) return;
    if (!drawn.placed) {
      if (drawn.stage.setAspect(Math.min(3, Math.max(0.5, width / height)))) drawn.scene = drawn.stage.scene();
      drawn.placed = true;
      this.start(drawn.scene, width, height);
    }
    const { scene, stage } = drawn;
    const { theme, store } = this.page;
    const { x, y, scale } = this.camera;
    const view: View = { left: x, top: y, right: x + width / scale, bottom: y + height / scale };
    const look = lookOf(world, stage, store.state, theme, scale * this.fineness, this.hovered);
    context.save();
    context.scale(scale, scale);
    context.translate(-x, -y);
    let visible = 0;
    const draw = (open: boolean): void => {
      for (const shown of scene.shown) {
        if (shown.open !== open || shown.x > view.right || shown.y - 20 > view.bottom) continue;
        if (shown.x + shown.width < view.left || shown.y + shown.height < view.top) continue;
        visible += 1;
        drawBox(context, world, shown, look);
      }
    };
    draw(true);
    drawBundles(context, scene, theme, scale, view, look.lit !== null);
    draw(false);
    const { selection } = store.state;
    if (selection?.kind === "command") {
      drawOwnEdges(context, world, stage, scene, selection.index, theme, scale);
      const own = scene.at.get(stage.visibleBox(world.tree.ofCommand[selection.index]!));
      if (own !== undefined) drawBox(context, world, own, look);
    }
    context.restore();
    this.minimap = drawMinimap(context, scene, theme, view, { width, height }, (shown) => shown.box.node === null
      ? hue(theme, shown.box.phase === null ? null : world.hues[shown.box.phase])
      : commandColour(world, theme, shown.box.node, store.state.colour));
    this.canvas.dataset["boxes"] = String(scene.shown.length);
    this.canvas.dataset["visible"] = String(visible);
    this.canvas.dataset["lit"] = String(look.lit?.size ?? 0);
  }

  /** At first the whole picture, but never smaller than can be read: then its beginning. */
  private start(scene: Scene, width: number, height: number): void {
    const whole = Math.min((width - 36) / scene.width, (height - 36) / scene.height);
    this.fit(whole >= 0.62 ? 0 : Math.min(0.85, Math.max(0.5, (width - 28) / scene.width)));
    if (this.camera.scale * scene.height > height) this.camera.y = -14 / this.camera.scale;
    if (this.camera.scale * scene.width > width) this.camera.x = -14 / this.camera.scale;
    const { selection } = this.page.store.state;
    if (selection !== null) this.show(selection);
  }

  fit(least = 0): void {
    const { scene } = this.current();
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const scale = Math.min(1.15, (width - 36) / scene.width, (height - 36) / scene.height);
    this.camera.scale = Math.max(LIMITS.least, least, scale);
    this.camera.x = scene.width / 2 - width / 2 / this.camera.scale;
    this.camera.y = scene.height / 2 - height / 2 / this.camera.scale;
    this.page.redraw();
  }

  /** On paper the whole picture stands; afterwards the window shows what it showed before. */
  print(printing: boolean): void {
    this.fineness = printing ? 3 : 1;
    if (printing) {
      this.onScreen = { ...this.camera };
      this.fit();
    } else Object.assign(this.camera, this.onScreen);
  }

  zoom(factor: number): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const middle = toWorld(this.camera, width / 2, height / 2);
    this.camera.scale = Math.min(LIMITS.most, Math.max(LIMITS.least, this.camera.scale * factor));
    this.camera.x = middle.x - width / 2 / this.camera.scale;
    this.camera.y = middle.y - height / 2 / this.camera.scale;
    this.page.redraw();
  }

  /** Moves by parts of the window. */
  pan(x: number, y: number): void {
    this.camera.x += (x * this.canvas.clientWidth) / this.camera.scale;
    this.camera.y += (y * this.canvas.clientHeight) / this.camera.scale;
    this.page.redraw();
  }

  openAll(): void {
    const { tree, model } = this.page.world();
    const { stage } = this.current();
    const few = model.view.nodes.length <= OPEN_ALL;
    const shut = tree.boxes.filter((box) => box.children.length > 0 && box.kind !== "root" && !stage.open.has(box));
    const visible = shut.filter((box) => stage.visibleBox(box) === box);
    for (const box of few ? shut : visible) stage.setOpen(box, true);
    this.rearranged(null);
    this.fit();
  }

  closeAll(): void {
    const { stage } = this.current();
    for (const box of [...stage.open]) stage.setOpen(box, false);
    this.rearranged(null);
    this.fit(0.62);
  }

  isOpen(phase: number): boolean {
    return this.current().stage.open.has(this.page.world().tree.ofPhase[phase]!);
  }

  togglePhase(phase: number): void {
    this.toggle(this.page.world().tree.ofPhase[phase]!);
  }

  private toggle(box: Box): void {
    const { stage } = this.current();
    if (box.children.length === 0) return;
    stage.reveal(box);
    stage.setOpen(box, !stage.open.has(box));
    this.rearranged(box);
  }

  /** After boxes opened or closed: new places, while a given box stays where it is on screen. */
  private rearranged(fixed: Box | null): void {
    const drawn = this.current();
    const before = fixed === null ? undefined : drawn.scene.at.get(fixed);
    drawn.scene = drawn.stage.scene();
    const after = fixed === null ? undefined : drawn.scene.at.get(fixed);
    if (before !== undefined && after !== undefined) {
      this.camera.x += after.x - before.x;
      this.camera.y += after.y - before.y;
    } else if (after !== undefined) this.centre(after);
    this.page.redraw();
  }

  /** Makes what is selected visible: opens boxes around a command, and moves there if it lies outside the window. */
  show(selection: Selection): void {
    const world = this.page.world();
    const drawn = this.current();
    const box = selection.kind === "command" ? world.tree.ofCommand[selection.index]
      : selection.kind === "phase" ? world.tree.ofPhase[selection.index] : undefined;
    if (box === undefined) return;
    if (drawn.stage.reveal(box)) drawn.scene = drawn.stage.scene();
    const shown = drawn.scene.at.get(box);
    if (shown !== undefined && !this.inside(shown)) this.centre(shown);
    this.page.redraw();
  }

  private inside(shown: Shown): boolean {
    const { x, y, scale } = this.camera;
    return scale > 0.4 && shown.x >= x && shown.y >= y && shown.x + Math.min(shown.width, 60) <= x + this.canvas.clientWidth / scale
      && shown.y + Math.min(shown.height, 60) <= y + this.canvas.clientHeight / scale;
  }

  private centre(shown: Shown): void {
    this.camera.scale = Math.max(this.camera.scale, 0.62);
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.camera.x = shown.x + Math.min(shown.width, width / this.camera.scale) / 2 - width / 2 / this.camera.scale;
    this.camera.y = shown.y + Math.min(shown.height, height / this.camera.scale) / 2 - height / 2 / this.camera.scale;
  }

  private hit(x: number, y: number): Shown | null {
    const place = toWorld(this.camera, x, y);
    let found: Shown | null = null;
    for (const shown of this.current().scene.shown) {
      if (place.x < shown.x || place.y < shown.y || place.x > shown.x + shown.width || place.y > shown.y + shown.height) continue;
      if (found === null || shown.depth >= found.depth) found = shown;
    }
    return found;
  }

  private hover(x: number, y: number): void {
    const shown = x < 0 ? null : this.hit(x, y);
    this.page.tip(shown === null ? null : this.tipOf(shown.box), x, y, this.canvas);
    if (shown?.box === this.hovered) return;
    this.hovered = shown?.box ?? null;
    this.page.redraw();
  }

  private tipOf(box: Box): string[] {
    if (box.node !== null) return this.page.commandTip(box.node);
    const { totals } = box;
    return [box.title, box.subtitle, `${count(totals.commands, "command")}${
      totals.timeKnown ? ` · ${time(totals.time_us)} ${this.page.timeWord()}` : ""}`].filter((line) => line !== "");
  }

  private click(x: number, y: number): void {
    const map = this.minimap;
    if (map !== null && x >= map.x - 5 && y >= map.y - 5) {
      this.camera.x = (x - map.x) / map.scale - this.canvas.clientWidth / 2 / this.camera.scale;
      this.camera.y = (y - map.y) / map.scale - this.canvas.clientHeight / 2 / this.camera.scale;
      this.page.redraw();
      return;
    }
    const shown = this.hit(x, y);
    if (shown === null) this.page.select(null);
    else if (shown.box.node !== null) this.page.select({ kind: "command", index: shown.box.node }, "here");
    else {
      const place = toWorld(this.camera, x, y);
      const onTriangle = place.x < shown.x + 26 && place.y < shown.y + 30;
      if (onTriangle || (!shown.open && shown.box.phase === null)) this.toggle(shown.box);
      else if (shown.box.phase !== null) this.page.select({ kind: "phase", index: shown.box.phase }, "here");
      else this.page.select(null);
    }
  }

  private doubleClick(x: number, y: number): void {
    const shown = this.hit(x, y);
    if (shown !== null && shown.box.phase !== null && shown.box.node === null) this.toggle(shown.box);
  }

  /** Opens or closes the selected phase. */
  toggleSelected(): void {
    const { selection } = this.page.store.state;
    if (selection?.kind === "phase") this.togglePhase(selection.index);
  }
}
