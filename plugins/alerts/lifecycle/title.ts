/** The sentence that an alert has everywhere: the table first, then what was found and what was expected. */
import { formatFinding, type Finding } from '../../../checks/explanation.ts'
import { parseName } from '../../../connectors/catalog.ts'
import type { Transaction } from '../../../server/database/database.ts'
import type { AlertTitle } from '../alert-title.ts'
import type { AlertEvent } from '../api.ts'
import type { Deps } from '../deps.ts'

/** An event whose sentence is written. */
export type TitledEvent = Omit<AlertEvent, 'title'> & { title: string; finding?: Finding }

/** `orders.total where country = 'DE', region north: 12 rows, expected 80 to 95 (−85 %)`. @param name of its asset */
export function formatTitle(name: string, title: AlertTitle): string {
  const { column, filter, scope = [] } = title
  const subject = column == null ? name : `${name}.${column}`
  const rows = filter == null ? subject : `${subject} where ${filter}`
  return `${[rows, ...scope].join(', ')}: ${formatFinding(title)}`
}

/** Writes the sentences of events; the names of their tables are read by one statement. */
export async function writeTitles(
  { lookUps }: Pick<Deps, 'lookUps'>,
  trx: Transaction,
  events: readonly AlertEvent[],
): Promise<TitledEvent[]> {
  const ids = new Set(
    events.flatMap(({ title, sourceId, asset }) =>
      typeof title === 'string' || sourceId === null || asset.id === sourceId ? [] : [asset.id],
    ),
  )
  const names = ids.size === 0 ? undefined : await lookUps.assets?.shortNames(trx, [...ids])
  return events.map(event => {
    const { title, asset } = event
    if (typeof title === 'string') return { ...event, title }
    const { found, expected, deviation } = title
    return {
      ...event,
      title: formatTitle(names?.get(asset.id) ?? lastPart(asset.qualifiedName), title),
      finding: { found, expected: expected ?? null, deviation: deviation ?? null },
    }
  })
}

/** The name of an asset that the catalog has no more. */
function lastPart(qualifiedName: string): string {
  return parseName(qualifiedName)?.at(-1) ?? qualifiedName
}
