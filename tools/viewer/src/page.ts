// What the parts of the page ask of it. `main.ts` makes the one page.

import type { Theme } from "./palette.js";
import type { Selection, Store } from "./state.js";
import type { World, Worlds } from "./world.js";

export interface Page {
  store: Store;
  theme: Theme;
  worlds: Worlds;
  /** The graph that is shown: this one, or in a comparison the other. */
  world(): World;
  /** Draws the canvases anew, once, before the next frame. */
  redraw(): void;
  /** Lines beside the pointer, at a place on a canvas; null hides them. */
  tip(lines: string[] | null, x: number, y: number, canvas: HTMLCanvasElement): void;
  commandTip(node: number): string[];
  planeTip(plane: number): string[];
  /** `measured`, or `estimated` where the view has no times. */
  timeWord(): string;
  /** Selects; `from: "here"` leaves the picture where it is. */
  select(selection: Selection | null, from?: "here"): void;
  phaseText(phase: number | null): string;
}

/** A part of the page that shows one thing in the middle. */
export interface MainView {
  element: HTMLElement;
  draw(): void;
}
