// Names as a reader sees them. Names may hold anything: control characters become visible, long ones are cut, and
// right-to-left text cannot leak out of its place. The full text stays in the model.

const CONTROLS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const FIRST_STRONG_ISOLATE = "\u2068";
const POP_ISOLATE = "\u2069";
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

/** Control and direction characters and halves of surrogate pairs as `\u{…}`, so that they show and do nothing. */
export function visible(text: string): string {
  return text.replace(CONTROLS, (character) =>
    character === "\n" ? "⏎" : character === "\t" ? " " : `\\u{${character.codePointAt(0)?.toString(16) ?? ""}}`);
}

/** The first characters, no surrogate pair cut in two. */
export function beginning(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}

function ending(text: string, length: number): string {
  return text.slice(text.length - length).replace(/^[\udc00-\udfff]/, "");
}

/** At most `length` characters, the middle left out, isolated from text around it. */
export function short(text: string, length = 60): string {
  const half = Math.floor((length - 1) / 2);
  const cut = text.length <= length ? text : `${beginning(text, length - 1 - half)}…${ending(text, half)}`;
  const shown = visible(cut);
  return RIGHT_TO_LEFT.test(shown) ? `${FIRST_STRONG_ISOLATE}${shown}${POP_ISOLATE}` : shown;
}

/**
 * The beginning that at least two thirds of the names share and that ends before a word with a capital letter or
 * behind a `_`, such as `cgImage`: it tells nothing apart, so labels leave it out. Empty where there is none.
 */
export function commonPrefix(names: readonly string[]): string {
  if (names.length < 3) return "";
  const counts = new Map<string, number>();
  for (const name of new Set(names)) {
    for (const match of (/^\w+/.exec(name.slice(0, 40))?.[0] ?? "").matchAll(/[a-z0-9](?=[A-Z][a-z])|_(?=[A-Za-z])/g)) {
      const prefix = name.slice(0, match.index + 1);
      if (prefix.length < name.length) counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
    }
  }
  const needed = Math.max(2, (2 * new Set(names).size) / 3);
  let best = "";
  for (const [prefix, amount] of counts) if (amount >= needed && prefix.length > best.length) best = prefix;
  return best;
}

export function without(prefix: string, name: string): string {
  return prefix !== "" && name.startsWith(prefix) && name.length > prefix.length ? name.slice(prefix.length) : name;
}
