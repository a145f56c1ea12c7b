// The page's help: its keys and its signs.

import { h } from "./dom.js";

export const KEYS: [string, string][] = [
  ["1 … 6", "graph, memory, time, where it goes, source, comparison"],
  ["/", "search; Escape leaves it"],
  ["J, K", "next and previous command in program order"],
  ["[ , ]", "to the first command that the selected one waits for; to the first that waits for it"],
  ["N, P", "next and previous command on the critical path"],
  ["U", "to the phase around what is selected"],
  ["Enter, O", "open or close the selected phase"],
  ["E, C", "open every box; close every box"],
  ["arrows", "move the picture; in a list: move the cursor, open and close"],
  ["+, −, 0", "nearer, farther, whole picture"],
  ["F", "show only what is selected; again: everything"],
  ["L", "colours by phase, by kernel, by time"],
  ["S", "in a comparison: the other graph"],
  ["T", "light or dark"],
  ["D, B", "details at the right, lists at the left: show or hide"],
  ["Escape", "select nothing; close this"],
  ["?", "this page"],
];

const SIGNS: [string, string][] = [
  ["line", "an arrow leads to the command that waits"],
  ["dotted line", "waits by the order alone; no bytes in common"],
  ["vermilion", "critical path: the chain of commands that takes longest"],
  ["bar in a closed box", "what it is made of: a segment for each part, as wide as its time"],
  ["bar in a command", "its time, compared with the command that takes longest"],
  ["R, W, RW", "reads, writes, accumulates into the selected plane"],
  ["+, −, ~", "in a comparison: added, removed, changed"],
  ["!", "flagged: see the notes"],
];

export function helpDialog(licences: string): HTMLDialogElement {
  const rows = (pairs: [string, string][], code: boolean): HTMLElement => h("dl", { class: "keys" }, pairs.flatMap(([name, text]) => [
    h("dt", {}, code ? h("kbd", {}, name) : name), h("dd", {}, text)]));
  const dialog = h("dialog", { id: "help", "aria-label": "Help" },
    h("form", { method: "dialog" }, h("button", { class: "close", "aria-label": "Close" }, "×")),
    h("h2", {}, "Keys"), rows(KEYS, true),
    h("h2", {}, "Signs"), rows(SIGNS, false),
    h("p", {}, "Drag to move, wheel to scroll, Ctrl and wheel or two fingers to zoom, double-click to open a phase. The address keeps what is selected."),
    h("p", {}, "Colours are those of Okabe and Ito, chosen to be told apart with any common colour blindness; every colour also has a text or a sign."),
    h("details", {}, h("summary", {}, "Licences of what this page is built with"), h("pre", { class: "full" }, licences)));
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  return dialog;
}
