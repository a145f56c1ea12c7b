// Round numbers for axes.

/** Marks at round distances from `start` to `stop`, about `wanted` of them. `step` divides by powers of `base`. */
export function marks(start: number, stop: number, wanted: number, base: 10 | 2 = 10): number[] {
  const span = stop - start;
  if (!(span > 0)) return [start];
  const rough = span / Math.max(1, wanted);
  const power = base ** Math.floor(Math.log(rough) / Math.log(base));
  const steps = base === 10 ? [1, 2, 5, 10] : [1, 2];
  const step = power * (steps.find((factor) => factor * power >= rough) ?? base);
  const found: number[] = [];
  for (let at = Math.ceil(start / step) * step; at <= stop + step * 1e-9; at += step) found.push(at);
  return found;
}
