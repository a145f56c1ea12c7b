// Words of a .cg text by kind, for reading only: what stands between two parts is plain.

export interface Token { text: string; kind: "plain" | "comment" | "keyword" | "string" | "number" }

const PATTERN = /(--[^\n]*|\{-[\s\S]*?-\})|("(?:[^"\\\n]|\\.)*")|\b(import|parameter|phase|plane|image|def|kernel|lambda|let|in|pi|erased|linear|unrestricted|Nat|Float|Phase|Image|Argument|Slots|Command|Plane|input|output|weight|gradient|saved|state|scratch)\b|(?<![A-Za-z_])(\d[\d.e+-]*)/g;

/** Tokens of each line, lines from 0. A nested comment ends at its first end mark, which suffices for colouring. */
export function linesOf(text: string): Token[][] {
  const lines: Token[][] = [[]];
  const add = (part: string, kind: Token["kind"]): void => {
    part.replace(/\r/g, "").split("\n").forEach((piece, at) => {
      if (at > 0) lines.push([]);
      if (piece !== "") lines[lines.length - 1]!.push({ text: piece, kind });
    });
  };
  let done = 0;
  for (const match of text.matchAll(PATTERN)) {
    add(text.slice(done, match.index), "plain");
    add(match[0], match[1] !== undefined ? "comment" : match[2] !== undefined ? "string" : match[3] !== undefined ? "keyword" : "number");
    done = match.index + match[0].length;
  }
  add(text.slice(done), "plain");
  return lines;
}
