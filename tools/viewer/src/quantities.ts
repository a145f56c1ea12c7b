// Numbers with their units, short enough for a table. What is not known is a dash.

const UNKNOWN = "–";

function scaled(value: number, step: number, units: readonly string[]): string {
  let index = 0;
  while (Math.abs(value) >= step && index < units.length - 1) {
    value /= step;
    index += 1;
  }
  return `${digits(value, index === 0)} ${units[index]}`;
}

function digits(value: number, whole: boolean): string {
  if (whole && Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

export function bytes(value: number | null): string {
  return value === null ? UNKNOWN : scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
}

export function operations(value: number | null): string {
  return value === null ? UNKNOWN : scaled(value, 1000, ["op", "kop", "Mop", "Gop", "Top", "Pop"]);
}

/** A time given in microseconds. */
export function time(value: number | null): string {
  if (value === null) return UNKNOWN;
  return value !== 0 && value < 1 ? `${digits(value * 1000, false)} ns` : scaled(value, 1000, ["µs", "ms", "s"]);
}

export function percent(part: number, whole: number): string {
  if (whole <= 0) return UNKNOWN;
  const share = (100 * part) / whole;
  return `${share >= 9.95 || share === 0 ? share.toFixed(0) : share.toFixed(1)} %`;
}

/** `1 command`, `2 commands`. */
export function count(amount: number, noun: string, plural = `${noun}s`): string {
  return `${amount.toLocaleString("en")} ${amount === 1 ? noun : plural}`;
}

export function extent(sizes: number[] | null): string {
  return sizes === null ? UNKNOWN : sizes.length === 0 ? "1" : sizes.join(" × ");
}

export function hexadecimal(value: number): string {
  return `0x${value.toString(16)}`;
}
