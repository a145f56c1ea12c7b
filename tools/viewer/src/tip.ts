// The note beside the pointer.

import { h, replace } from "./dom.js";
import { short } from "./names.js";

export class Tip {
  readonly element = h("div", { class: "tip", role: "status", hidden: true });

  show(lines: string[] | null, x: number, y: number, canvas: HTMLCanvasElement): void {
    this.element.hidden = lines === null;
    if (lines === null) return;
    replace(this.element, lines.map((line, at) => h(at === 0 ? "b" : "span", {}, short(line, 90))));
    const { left, top } = canvas.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.element;
    this.element.style.left = `${Math.max(6, Math.min(window.innerWidth - offsetWidth - 8, left + x + 14))}px`;
    const below = top + y + 16;
    this.element.style.top = `${below + offsetHeight > window.innerHeight - 6 ? top + y - offsetHeight - 10 : below}px`;
  }
}
