/** A share in percent; 0 of nothing. @param digits after the point */
export function percentOf(part: number, whole: number, digits = 2): number {
  const scale = 10 ** digits
  return whole === 0 ? 0 : Math.round((100 * scale * part) / whole) / scale
}
