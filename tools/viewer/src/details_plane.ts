// Details of a plane: what it is, who writes and reads it in order, and who shares its bytes.

import { commandLink, documentation, facts, longList, modeMark, planeLink, rangeText, section, title } from "./details_parts.js";
import { originSection } from "./details_origin.js";
import { h } from "./dom.js";
import { memoryPicture, sharers, type MemoryPicture } from "./memory_blocks.js";
import type { Page } from "./page.js";
import { bytes, count, extent, hexadecimal } from "./quantities.js";
import { short } from "./names.js";
import { statusColour, STATUS_SIGN, type World } from "./world.js";

const pictures = new WeakMap<World, MemoryPicture>();

export function planeDetails(page: Page, index: number): HTMLElement[] {
  const world = page.world();
  const { model } = world;
  const { view } = model;
  const plane = view.planes[index]!;
  const uses = model.uses[index]!;
  const writes = uses.filter((use) => use.mode !== "read").length;
  const reads = uses.filter((use) => use.mode !== "write").length;
  const gradients = view.planes.map((_, other) => other).filter((other) => view.planes[other]!.gradient_of === index);
  const life = model.lifetime[index] ?? null;
  let picture = pictures.get(world);
  if (picture === undefined) {
    picture = memoryPicture(model);
    pictures.set(world, picture);
  }
  const others = picture.placed ? sharers(picture, index) : [];
  const pair = world.planePairing[index] ?? null;
  const sign = pair === null ? null : h("b", {}, `${STATUS_SIGN[pair.status]} ${pair.status}`);
  if (sign !== null) sign.style.color = statusColour(page.theme, pair!.status);
  return [
    ...title(`plane · ${plane.role}`, plane.name),
    documentation(plane.doc),
    sign === null ? null : section("Compared", h("p", {}, sign), h("ul", { class: "plain" }, pair!.changes.map((change) => h("li", {}, short(change, 300))))),
    section("Facts", facts([
      ["element", plane.element],
      ["extent", plane.extent === null ? null : extent(plane.extent)],
      ["size", bytes(plane.size_bytes)],
      ["in the arena", plane.offset === null ? null : `${hexadecimal(plane.offset)} … ${hexadecimal(plane.offset + plane.size_bytes - 1)}`],
      ["family", plane.family === plane.name ? null : short(plane.family, 60)],
      ["gradient of", plane.gradient_of === null ? null : planeLink(page, plane.gradient_of)],
    ]), ...gradients.map((other) => h("p", {}, "its gradient is ", planeLink(page, other)))),
    life === null ? null : section("Lifetime", lifeBar(page, life.first, life.last), h("p", {},
      `from command ${life.first + 1} to ${life.last + 1} of ${view.nodes.length}`)),
    section(`${count(uses.length, "use")}: ${writes} write, ${reads} read`, longList(uses.map((use) => () => h("div", { class: "use" },
      modeMark(use.mode), commandLink(page, use.node), h("small", {}, rangeText(use.start, use.stop, plane.size_bytes)))))),
    others.length === 0 ? null : section(`Shares bytes, at other times, with ${count(others.length, "plane")}`, longList(others.map((block) => () =>
      h("div", { class: "use" }, planeLink(page, block.plane), h("small", {}, `commands ${block.first + 1} … ${block.last + 1}`))))),
    originSection(page, plane.origin, "Declared at"),
  ].filter((part): part is HTMLElement => part !== null);
}

function lifeBar(page: Page, first: number, last: number): HTMLElement {
  const all = Math.max(1, page.world().model.view.nodes.length);
  const fill = h("i", {});
  fill.style.left = `${(100 * first) / all}%`;
  fill.style.width = `${Math.max(0.7, (100 * (last + 1 - first)) / all)}%`;
  return h("div", { class: "life", "aria-hidden": true }, fill);
}
