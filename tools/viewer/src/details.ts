// The right side: everything about what is selected.

import { commandDetails } from "./details_command.js";
import { kernelDetails, lineDetails, phaseDetails } from "./details_other.js";
import { planeDetails } from "./details_plane.js";
import { overview } from "./details_overview.js";
import { h, replace } from "./dom.js";
import { exists } from "./lit.js";
import type { Page } from "./page.js";
import { sameSelection } from "./state.js";

export class Details {
  readonly element = h("aside", { class: "details", "aria-label": "Details", id: "details", tabindex: -1 });
  private drawnFor = "";

  constructor(private readonly page: Page) {}

  draw(): void {
    const { selection, filter, side, colour } = this.page.store.state;
    const world = this.page.world();
    const key = JSON.stringify([selection, filter, side, colour, this.page.theme.dark]);
    if (key === this.drawnFor) return;
    this.drawnFor = key;
    const shown = exists(world.model.view, selection) ? selection : null;
    const { page } = this;
    const content = shown === null ? overview(page)
      : shown.kind === "line" ? lineDetails(page, shown.source, shown.line)
      : shown.kind === "command" ? commandDetails(page, shown.index)
      : shown.kind === "plane" ? planeDetails(page, shown.index)
      : shown.kind === "phase" ? phaseDetails(page, shown.index)
      : kernelDetails(page, shown.index);
    replace(this.element, content, shown === null || shown.kind === "command" ? null : this.onlyButton());
    this.element.scrollTop = 0;
  }

  private onlyButton(): HTMLElement {
    const { store } = this.page;
    const { selection, filter } = store.state;
    const active = filter !== null && sameSelection(filter, selection);
    return h("p", { class: "actions" }, h("button", {
      type: "button", "aria-pressed": String(active), title: "Dim everything else (F)", id: "only",
      onclick: () => store.update({ filter: active ? null : selection }),
    }, active ? "Show everything again" : "Show only this"));
  }
}
