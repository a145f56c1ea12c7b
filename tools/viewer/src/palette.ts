// Colours. Hues are those of Okabe and Ito (2008), which people with any common colour blindness tell apart; vermilion
// is kept for the critical path alone. A colour never stands without a text or a sign that says the same.

import type { Model } from "./model.js";

export interface Theme {
  dark: boolean; ground: string; panel: string; card: string; ink: string; soft: string; faint: string; line: string;
  critical: string; select: string; read: string; write: string; accumulate: string; added: string; removed: string;
  changed: string; hues: string[];
}

const HUES_LIGHT = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#C9B800"];
const HUES_DARK = ["#4FA3D9", "#E69F00", "#1DB58A", "#D893B8", "#8CCBF0", "#E6DA4C"];
const MORE_LIGHT = ["#7A8CA3", "#9A7B4F", "#5E9C93", "#8F7FA8", "#7C9A5B", "#A38A87"];
const MORE_DARK = ["#93A5BC", "#B8986B", "#7BB8AF", "#AC9CC4", "#9AB87A", "#BFA5A2"];

export const LIGHT: Theme = {
  dark: false, ground: "#f6f5f1", panel: "#fdfcfa", card: "#ffffff", ink: "#1d2126", soft: "#5b616a", faint: "#8f949b",
  line: "#dcd9d1", critical: "#D55E00", select: "#14181d", read: "#0072B2", write: "#B26A00", accumulate: "#8F3F71",
  added: "#00795A", removed: "#B5478A", changed: "#B27700", hues: [...HUES_LIGHT, ...MORE_LIGHT],
};

export const DARK: Theme = {
  dark: true, ground: "#14171a", panel: "#1a1e22", card: "#22272c", ink: "#e8e6e1", soft: "#a6abb2", faint: "#767c85",
  line: "#333940", critical: "#FF7A2F", select: "#ffffff", read: "#6DB8EE", write: "#F0B44A", accumulate: "#DE9BC4",
  added: "#2CC79B", removed: "#E59AC6", changed: "#F0B44A", hues: [...HUES_DARK, ...MORE_DARK],
};

/** For each phase the number of its hue: phases with one name have one hue. Phases that only hold phases have none. */
export function phaseHues(model: Model): (number | null)[] {
  const byName = new Map<string, number>();
  const hues: (number | null)[] = model.view.phases.map(() => null);
  for (const node of model.view.sequence) {
    const phase = model.view.nodes[node]!.phase;
    if (phase === null || hues[phase] !== null) continue;
    const { name } = model.view.phases[phase]!;
    if (!byName.has(name)) byName.set(name, byName.size);
    hues[phase] = byName.get(name)!;
  }
  return hues;
}

/** A colour with an opacity, `#rrggbb` to `rgba(…)`. */
export function alpha(colour: string, opacity: number): string {
  const value = Number.parseInt(colour.slice(1), 16);
  return `rgba(${value >> 16}, ${(value >> 8) & 255}, ${value & 255}, ${opacity})`;
}

/** Opaque mixture of two colours: `share` of the first. */
export function mix(first: string, second: string, share: number): string {
  const a = Number.parseInt(first.slice(1), 16);
  const b = Number.parseInt(second.slice(1), 16);
  const part = (shift: number): string =>
    Math.round(((a >> shift) & 255) * share + ((b >> shift) & 255) * (1 - share)).toString(16).padStart(2, "0");
  return `#${part(16)}${part(8)}${part(0)}`;
}
