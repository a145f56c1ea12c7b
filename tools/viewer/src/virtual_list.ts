// A list of any length of which only the rows in the window exist. Rows have one height; keys move a cursor.

import { h, replace } from "./dom.js";

export interface Row {
  key: string; content: () => (HTMLElement | string)[]; activate: () => void; class?: string; depth?: number;
  /** For rows of a tree: open or closed, and how to change that. */
  expanded?: boolean; toggle?: () => void; heading?: boolean; label: string;
}

export const ROW_HEIGHT = 25;
const MARGIN = 12;

export class VirtualList {
  readonly element: HTMLElement;
  private readonly space = h("div", { class: "rows" });
  private rows: Row[] = [];
  private cursor = -1;
  private cursorKey = "";
  private drawnWindow = "";

  constructor(private readonly role: "tree" | "listbox", label: string) {
    this.element = h("div", { class: "list", tabindex: 0, role, "aria-label": label }, this.space);
    this.element.addEventListener("scroll", () => {
      if (this.window().join() !== this.drawnWindow) this.draw();
    });
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  get length(): number {
    return this.rows.length;
  }

  setRows(rows: Row[]): void {
    this.rows = rows;
    this.cursor = this.cursorKey === "" ? -1 : rows.findIndex((row) => row.key === this.cursorKey);
    this.draw();
  }

  /** Moves the cursor to a row and scrolls to it. */
  reveal(key: string): void {
    const at = this.rows.findIndex((row) => row.key === key);
    if (at >= 0) this.moveTo(at);
  }

  /** The first row that exists as an element, and the one behind the last: steps of MARGIN, so that few scrolls draw. */
  private window(): [number, number] {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT / MARGIN - 1) * MARGIN);
    const last = Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT / MARGIN + 1) * MARGIN;
    return [first, Math.min(this.rows.length, last)];
  }

  draw(): void {
    const [first, last] = this.window();
    this.drawnWindow = `${first},${last}`;
    this.space.style.height = `${this.rows.length * ROW_HEIGHT}px`;
    replace(this.space, this.rows.slice(first, last).map((row, index) => this.rowElement(row, first + index)));
    const active = this.cursor >= first && this.cursor < last;
    if (active) this.element.setAttribute("aria-activedescendant", this.idOf(this.cursor));
    else this.element.removeAttribute("aria-activedescendant");
  }

  private idOf(at: number): string {
    return `${this.role}-${this.rows[at]!.key}`;
  }

  private rowElement(row: Row, at: number): HTMLElement {
    const element = h("div", {
      id: this.idOf(at), class: `row ${row.class ?? ""}${row.heading === true ? " heading" : ""}${at === this.cursor ? " cursor" : ""}`,
      role: row.heading === true ? "presentation" : this.role === "tree" ? "treeitem" : "option", "data-key": row.key,
      "aria-level": this.role === "tree" ? (row.depth ?? 0) + 1 : undefined,
      "aria-expanded": row.expanded === undefined ? undefined : String(row.expanded),
      "aria-selected": String(row.class?.includes("selected") ?? false), "aria-label": row.label,
      onclick: () => {
        if (row.heading === true) return;
        this.cursor = at;
        this.cursorKey = row.key;
        row.activate();
      },
    });
    element.style.top = `${at * ROW_HEIGHT}px`;
    element.style.paddingLeft = `${8 + (row.depth ?? 0) * 13}px`;
    if (this.role === "tree") {
      element.append(h("span", {
        class: "twist", onclick: (event: MouseEvent) => {
          if (row.toggle === undefined) return;
          event.stopPropagation();
          row.toggle();
        },
      }, row.expanded === undefined ? "" : row.expanded ? "▾" : "▸"));
    }
    element.append(...row.content());
    return element;
  }

  private moveTo(at: number): void {
    this.cursor = at;
    this.cursorKey = this.rows[at]!.key;
    const top = at * ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop || top + ROW_HEIGHT > scrollTop + clientHeight) this.element.scrollTop = Math.max(0, top - clientHeight / 3);
    this.draw();
  }

  private step(from: number, by: number): void {
    let at = from;
    do at += by; while (at >= 0 && at < this.rows.length && this.rows[at]!.heading === true);
    if (at >= 0 && at < this.rows.length) this.moveTo(at);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = this.rows[this.cursor];
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW_HEIGHT) - 1);
    const actions: Record<string, () => void> = {
      ArrowDown: () => this.step(this.cursor, 1),
      ArrowUp: () => this.step(this.cursor < 0 ? this.rows.length : this.cursor, -1),
      PageDown: () => this.step(Math.min(this.rows.length - 1, this.cursor + page) - 1, 1),
      PageUp: () => this.step(Math.max(0, this.cursor - page) + 1, -1),
      Home: () => this.step(-1, 1),
      End: () => this.step(this.rows.length, -1),
      Enter: () => row?.activate(),
      " ": () => row?.activate(),
      ArrowRight: () => {
        if (row?.expanded === false) row.toggle?.();
        else this.step(this.cursor, 1);
      },
      ArrowLeft: () => {
        if (row?.expanded === true) row.toggle?.();
        else {
          let at = this.cursor;
          while (at > 0 && (this.rows[at]!.depth ?? 0) >= (row?.depth ?? 0)) at -= 1;
          if (at >= 0 && this.rows.length > 0) this.moveTo(at);
        }
      },
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }
}
