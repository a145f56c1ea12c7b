// The time view: program order end to end above, and below it what the order allows at once, critical path first.

import { marks } from "./axis.js";
import { drawGantt, phaseSpans, ROW_HEIGHT, type PhaseSpan } from "./gantt.js";
import { listen, zoomAt, type Camera } from "./camera.js";
import { idealRun, type Bar, type Ideal } from "./concurrency.js";
import { h, replace } from "./dom.js";
import { mostAtOnce } from "./levels.js";
import { litCommands } from "./lit.js";
import type { MainView, Page } from "./page.js";
import { fit, prepareCanvas, SANS, textWidth } from "./paint.js";
import { alpha, mix } from "./palette.js";
import { count, time } from "./quantities.js";
import { drawRibbon, ribbonHeight } from "./ribbon.js";
import { commandColour, commandTitle, type World } from "./world.js";

const LEFT = 200;
const RIGHT = 16;
const SERIAL = 26;
const LABEL = `11px ${SANS}`;

interface Run { ideal: Ideal; serialStart: number[]; spans: PhaseSpan[] }
interface Frame {
  x(at_us: number): number; serialTop: number; lanesTop: number; lane: number; phasesTop: number; width: number; height: number;
}

export class TimeView implements MainView {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", {
    class: "drawing", tabindex: 0, role: "img", "aria-label": "Time: program order above, what can run at once below.",
  });
  private readonly facts = h("div", { class: "facts-line" });
  private readonly camera: Camera = { x: 0, y: 0, scale: 1 };
  private readonly runs = new Map<World, Run>();
  private hovered: number | null = null;

  constructor(private readonly page: Page) {
    this.element = h("div", { class: "view", id: "view-time" }, this.facts, this.canvas);
    listen(this.canvas, this.camera, { least: 1, most: 400 }, {
      changed: () => this.moved(),
      hover: (x, y) => this.hover(x, y),
      leave: () => this.hover(-1, -1),
      click: (x, y) => {
        const node = this.hit(x, y);
        page.select(node === null ? null : { kind: "command", index: node }, "here");
      },
      doubleClick: () => this.fit(),
    });
  }

  fit(): void {
    Object.assign(this.camera, { x: 0, y: 0, scale: 1 });
    this.page.redraw();
  }

  zoom(factor: number): void {
    zoomAt(this.camera, this.canvas.clientWidth / 2, 0, factor, { least: 1, most: 400 });
    this.moved();
  }

  pan(x: number, y: number): void {
    this.camera.x += (x * this.canvas.clientWidth) / this.camera.scale;
    this.camera.y += y * 200;
    this.moved();
  }

  private moved(): void {
    const span = this.canvas.clientWidth;
    this.camera.x = Math.max(0, Math.min(span - span / this.camera.scale, this.camera.x));
    const { spans } = this.run();
    const { phasesTop, height } = this.frame();
    const most = Math.max(0, phasesTop + spans.length * ROW_HEIGHT + 12 - height) / this.camera.scale;
    this.camera.y = Math.max(0, Math.min(most, this.camera.y));
    this.page.redraw();
  }

  private run(): Run {
    const world = this.page.world();
    let run = this.runs.get(world);
    if (run === undefined) {
      const ideal = idealRun(world.model);
      const serialStart: number[] = [];
      let at = 0;
      for (const bar of ideal.bars) {
        serialStart.push(at);
        at += bar.stop_us - bar.start_us;
      }
      serialStart.push(at);
      run = { ideal, serialStart, spans: phaseSpans(world, ideal) };
      this.runs.set(world, run);
    }
    return run;
  }

  private frame(): Frame {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const { ideal } = this.run();
    const { model } = this.page.world();
    const usable = width - LEFT - RIGHT;
    const longest = Math.max(ideal.serial_us, 1e-9);
    const serialTop = 26;
    const lanesTop = serialTop + SERIAL + ribbonHeight(model) + 52;
    const lane = Math.max(6, Math.min(20, (height - lanesTop) / 2.4 / Math.max(1, ideal.lanes)));
    return {
      x: (at) => LEFT + ((at / longest) * usable - (this.camera.x * usable) / Math.max(1, width)) * this.camera.scale,
      serialTop,
      lanesTop,
      lane,
      phasesTop: lanesTop + lane * ideal.lanes + 44,
      width,
      height,
    };
  }

  draw(): void {
    const { context, width, height } = prepareCanvas(this.canvas);
    if (width === 0 || height === 0) return;
    const world = this.page.world();
    const { theme, store } = this.page;
    const { ideal, serialStart, spans } = this.run();
    const frame = this.frame();
    this.drawFacts(world, ideal);
    const { selection } = store.state;
    const lit = selection === null ? null : litCommands(world.model, selection);
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, width - LEFT - RIGHT, height);
    context.clip();
    this.drawGrid(context, frame, ideal);
    ideal.bars.forEach((bar, position) => {
      this.drawBar(context, world, bar.node, frame.x(serialStart[position]!), frame.x(serialStart[position + 1]!), frame.serialTop,
        SERIAL, lit?.has(bar.node) ?? true);
    });
    drawRibbon(context, world, theme, frame.serialTop + SERIAL + 4, (position) => frame.x(serialStart[position]!),
      { left: LEFT, right: width - RIGHT }, selection?.kind === "phase" ? selection.index : null);
    for (const bar of ideal.bars) {
      const top = frame.lanesTop + bar.lane * frame.lane;
      this.drawBar(context, world, bar.node, frame.x(bar.start_us), frame.x(bar.stop_us), top, frame.lane - Math.min(2, frame.lane / 6), lit?.has(bar.node) ?? true);
    }
    const end = frame.x(ideal.end_us);
    context.fillStyle = theme.critical;
    context.fillRect(end, frame.lanesTop - 4, 1.5, height);
    context.restore();
    drawGantt(context, world, theme, spans, frame.phasesTop - this.camera.y * this.camera.scale,
      { top: frame.phasesTop - 2, bottom: height, left: LEFT, right: width - RIGHT, x: frame.x }, lit);
    this.drawLabels(context, frame, ideal);
    this.canvas.dataset["bars"] = String(ideal.bars.length);
  }

  private drawFacts(world: World, ideal: Ideal): void {
    const { view } = world.model;
    const say = (value: number): string => (ideal.unit === "µs" ? time(value) : count(value, "step"));
    const parts: [string, string][] = [
      ["times", ideal.unit === "steps" ? "not known; each command counts as one step" : view.timed ? "measured"
        : `estimated${view.roofline === null ? "" : ` for ${view.roofline.device}`}`],
      ["one after another", say(ideal.serial_us)],
      ["critical path", `${say(ideal.end_us)}, ${count(world.model.critical.size, "command")}`],
      ["order allows at best", ideal.end_us > 0 ? `${(ideal.serial_us / ideal.end_us).toFixed(2)} ×` : "–"],
      ["most at once", count(mostAtOnce(world.model), "command")],
    ];
    replace(this.facts, parts.map(([name, value]) => h("span", {}, h("b", {}, name), ` ${value}`)));
  }

  private drawGrid(context: CanvasRenderingContext2D, frame: Frame, ideal: Ideal): void {
    const { theme } = this.page;
    const span = ideal.serial_us / this.camera.scale;
    const first = (this.camera.x / Math.max(1, frame.width)) * ideal.serial_us;
    for (const mark of marks(first, Math.min(ideal.serial_us, first + span), 8)) {
      const x = frame.x(mark);
      context.fillStyle = alpha(theme.ink, 0.08);
      context.fillRect(x, 16, 1, frame.height);
      context.font = `10.5px ${SANS}`;
      context.fillStyle = theme.soft;
      const text = ideal.unit === "µs" ? time(mark) : String(mark);
      if (x + textWidth(text, context.font) + 4 < frame.width - RIGHT) context.fillText(text, x + 3, 9);
    }
  }

  private drawBar(
    context: CanvasRenderingContext2D, world: World, node: number, left: number, right: number, top: number, height: number,
    lit: boolean,
  ): void {
    if (right < LEFT - 1 || left > this.canvas.clientWidth) return;
    const { theme, store } = this.page;
    const { selection, colour } = store.state;
    const width = Math.max(0.6, right - left - (right - left > 3 ? 1 : 0));
    context.globalAlpha = lit ? 1 : 0.25;
    context.fillStyle = mix(commandColour(world, theme, node, colour), theme.card, 0.62);
    context.fillRect(left, top, width, height);
    if (world.model.critical.has(node)) {
      context.fillStyle = theme.critical;
      context.fillRect(left, top + height - 2.5, width, 2.5);
    }
    if ((selection?.kind === "command" && selection.index === node) || this.hovered === node) {
      context.strokeStyle = theme.select;
      context.lineWidth = 2;
      context.strokeRect(left + 0.5, top + 0.5, Math.max(2, width - 1), height - 1);
    }
    if (width > 24 && height > 11) {
      const font = `10.5px ${SANS}`;
      context.font = font;
      context.fillStyle = theme.ink;
      const start = Math.max(left, LEFT);
      context.fillText(fit(commandTitle(world, node), font, left + width - start - 6), start + 3, top + height / 2);
    }
    context.globalAlpha = 1;
  }

  private drawLabels(context: CanvasRenderingContext2D, frame: Frame, ideal: Ideal): void {
    const { theme } = this.page;
    const label = (text: string, y: number, colour = theme.soft, font = LABEL): void => {
      context.font = font;
      context.fillStyle = colour;
      context.fillText(fit(text, font, LEFT - 14), 10, y);
    };
    label("program order", frame.serialTop + 8, theme.ink, `600 ${LABEL}`);
    label("end to end", frame.serialTop + 22);
    label("phases", frame.serialTop + SERIAL + 13);
    const heading = "As soon as what it waits for has ended: what can run at once";
    context.font = `600 ${LABEL}`;
    context.fillStyle = theme.ink;
    context.fillText(heading, LEFT, frame.lanesTop - 16);
    context.fillStyle = theme.soft;
    context.font = LABEL;
    const note = this.page.world().model.view.timed || ideal.unit === "steps" ? "" : "  (an estimate, for a device without limits)";
    context.fillText(note, LEFT + textWidth(heading, `600 ${LABEL}`), frame.lanesTop - 16);
    if (this.run().spans.length > 0) {
      context.font = `600 ${LABEL}`;
      context.fillStyle = theme.ink;
      context.fillText("The same, phase by phase", LEFT, frame.phasesTop - 14);
    }
    if (this.page.world().model.critical.size > 0) {
      label("critical path", frame.lanesTop + Math.max(5, frame.lane / 2 - 1), theme.critical, `600 ${LABEL}`);
      if (ideal.lanes > 1) label("beside it", frame.lanesTop + Math.max(18, frame.lane * 1.5 - 1));
    }
  }

  private hit(x: number, y: number): number | null {
    const { ideal, serialStart } = this.run();
    const frame = this.frame();
    if (y >= frame.serialTop && y <= frame.serialTop + SERIAL) {
      const at = ideal.bars.findIndex((_, position) =>
        x >= frame.x(serialStart[position]!) && x < frame.x(serialStart[position + 1]!));
      return at < 0 ? null : ideal.bars[at]!.node;
    }
    if (y < frame.lanesTop) return null;
    if (y >= frame.phasesTop) {
      const span = this.run().spans[Math.floor((y - frame.phasesTop + this.camera.y * this.camera.scale) / ROW_HEIGHT)];
      return span?.bars.find((each) => x >= frame.x(each.start_us) && x < frame.x(each.stop_us))?.node ?? null;
    }
    const lane = Math.floor((y - frame.lanesTop) / frame.lane);
    const bar: Bar | undefined = ideal.bars.find((each) => each.lane === lane && x >= frame.x(each.start_us) && x < frame.x(each.stop_us));
    return bar?.node ?? null;
  }

  private hover(x: number, y: number): void {
    const node = x < 0 ? null : this.hit(x, y);
    this.page.tip(node === null ? null : this.page.commandTip(node), x, y, this.canvas);
    if (node === this.hovered) return;
    this.hovered = node;
    this.page.redraw();
  }
}
