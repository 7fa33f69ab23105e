const SIZES: Record<string, [one: string, many: string]> = {
  h: ['an hour', 'hours'],
  d: ['a day', 'days'],
  w: ['a week', 'weeks'],
}

/** The size of a bucket in words: `1d` is `a day`, `6h` is `every 6 hours`. */
function describeSize(window: string): string {
  const [, count, unit] = /^(\d+)([hdw])$/.exec(window) ?? []
  const size = SIZES[unit ?? '']
  if (!size) return `of ${window}`
  return count === '1' ? size[0] : `every ${count} ${size[1]}`
}

/** The sentences about the rows that a check is about. */
export const scopeTexts = {
  rowsWhere: 'Rows where',
  /** @param window such as `1d` */
  bucketOf: (window: string) => `One bucket ${describeSize(window)} by`,
  /** @param span such as `2h` */
  delay: (span: string) => `${span.replace(/^\d+/, '$& ')} delay`,
  /** @param buckets how many are measured again; null is the default of 2 */
  revisit: (buckets: number | null) => {
    const count = buckets ?? 2
    if (count === 0) return 'none measured again'
    return count === 1 ? 'the last one measured again' : `the last ${count} measured again`
  },
}
