/** Makes foreign text safe to print on a terminal. */

/** Replaces control characters with spaces, except line breaks. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n]/gu, ' ')
}

/** Folds a text into one line without control characters. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
}

/** Lines of cells, each column as wide as its widest cell. */
export function alignCells(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows)
    row.forEach((cell, place) => (widths[place] = Math.max(widths[place] ?? 0, cell.length)))
  return rows.map(row =>
    row
      .map((cell, place) => cell.padEnd(widths[place] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
