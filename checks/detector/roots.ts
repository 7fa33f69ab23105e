/** Finds where an increasing function is zero. */

const MAX_STEPS = 40

/**
 * The zero of an increasing function between two points, or `from` when it does not change sign, by false position
 * (Illinois: Dowell & Jarratt 1971).
 * @param tolerance of the zero, relative to the larger of the points around it; or absolute, where that is given
 */
export function findZero(
  f: (x: number) => number,
  from: number,
  to: number,
  tolerance: number,
  absolute = 0,
): number {
  let [a, b] = [from, to]
  let [fa, fb] = [f(a), f(b)]
  if (fa * fb > 0) return from
  for (let i = 0; i < MAX_STEPS && Math.abs(b - a) > Math.max(absolute, tolerance * Math.max(a, b)); i++) {
    const x = fa === fb ? (a + b) / 2 : (a * fb - b * fa) / (fb - fa)
    const fx = f(x)
    if (fx === 0) return x
    if (Math.sign(fx) === Math.sign(fb)) fa /= 2
    else [a, fa] = [b, fb]
    b = x
    fb = fx
  }
  return b
}
