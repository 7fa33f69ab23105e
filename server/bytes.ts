const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB']

/** A number of bytes as people read it, in thousands: `1.3 GB`. */
export function formatBytes(bytes: number): string {
  const step = bytes < 1_000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  const number = bytes / 1_000 ** step
  return `${number.toLocaleString('en', { maximumFractionDigits: step === 0 || number >= 100 ? 0 : 1 })} ${UNITS[step]}`
}
