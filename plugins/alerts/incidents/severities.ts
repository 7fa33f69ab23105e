import type { Severity } from '../api.ts'

/** In the order in which they get worse. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const satisfies readonly Severity[]

/** The worst of some severities. */
export function worstOf(severities: readonly Severity[]): Severity {
  return SEVERITIES[Math.max(...severities.map(severity => SEVERITIES.indexOf(severity)))] ?? 'info'
}
