import type { Severity, Symptom } from '../../api.ts'
import { shortName } from '../short-name.ts'
import type { Flow } from './flow.ts'
import { explains, type GroupItem } from './roots.ts'

/** The named cause, as its description needs it. */
interface DescribedCause {
  asset_id: string
  qualified_name: string
  symptom: Symptom
  severity: Severity
  confidence: number
  at: Date
}

/** What the symptom says by itself. */
const SHOWS: Record<Symptom, string> = {
  connection: 'cannot be reached',
  drift: 'changed its schema',
  failed_run: 'was not written, as its last run failed',
  stale: 'is late',
  volume: 'has an unusual number of rows',
  quality: 'fails a check of its values',
}

/**
 * How sure it is that something is the cause, and by what: "The cause is customers: 85 %, as it failed first, lies upstream
 * of 6 of 8 other failing tables and is late".
 */
export function describeCause(cause: DescribedCause, members: readonly GroupItem[], flow: Flow): string {
  const { asset_id: assetId, symptom, severity, confidence, at } = cause
  const others = members.filter(member => member.assetId !== assetId)
  const tables = new Set(others.map(member => member.assetId))
  const isCauseOf = (each: GroupItem) => explains({ assetId, symptom, severity, createdAt: at }, each, flow)
  const explained = new Set(others.filter(isCauseOf).map(member => member.assetId))
  const isFirst = others.every(({ createdAt }) => createdAt >= at)
  const reasons = [
    ...(tables.size > 0 && isFirst ? ['failed first'] : []),
    ...(explained.size > 0 ? [`lies upstream of ${shareOf(explained.size, tables.size)}`] : []),
    SHOWS[symptom],
  ]
  const rest =
    tables.size === 0 ? ', and nothing else failed' : describeUnexplained(tables.size - explained.size)
  const name = shortName(cause.qualified_name)
  return `The cause is ${name}: ${Math.round(confidence * 100)} %, as it ${joinWords(reasons)}${rest}`
}

function shareOf(count: number, all: number): string {
  if (all === 1) return 'the other failing table'
  return count === all ? `all ${all} other failing tables` : `${count} of ${all} other failing tables`
}

function describeUnexplained(count: number): string {
  if (count === 0) return ''
  return `; it does not explain ${count === 1 ? '1 failing table' : `${count} failing tables`}`
}

function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
