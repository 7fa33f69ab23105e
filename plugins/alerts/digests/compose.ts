import { DateTime } from 'luxon'
import type { Transaction } from '../../../server/database/database.ts'
import { shorten } from '../../../server/one-line.ts'
import { percentOf } from '../../../server/percent.ts'
import type { Deps } from '../deps.ts'
import { SEVERITY_LABELS } from '../destinations/describe.ts'
import type { DigestContent, DigestLine, DigestSection } from '../destinations/digest.ts'
import { assetUrl } from '../present.ts'
import { readEvents, type DigestEvents, type DigestIncident } from './events.ts'
import type { Digest } from './models.ts'

const MAX_LINE_UNITS = 300
const MAX_HEADING_UNITS = 200
const HOUR_MINUTES = 60
const DAY_MINUTES = 1_440

/** What a digest is made of, whether it is stored or not. */
export type DigestScope = Pick<Digest, 'name' | 'owner' | 'frequency' | 'timezone'>

/** Reads and describes what happened in a period. @throws 400 for an owner that is gone */
export async function composeDigest(
  deps: Pick<Deps, 'kinds' | 'lookUps' | 'config'>,
  trx: Transaction,
  { name, owner, frequency, timezone }: DigestScope,
  { since, until }: { since: Date; until: Date },
): Promise<DigestContent> {
  const events = await readEvents(deps, trx, { since, until, owner })
  const { baseUrl } = deps.config
  const { incidents, alerts, openAlerts } = events.counts
  const found =
    alerts + incidents === 0
      ? 'nothing broke'
      : [
          countOf(incidents, 'incident'),
          `${countOf(alerts, 'alert')}${openAlerts > 0 ? `, ${openAlerts} still open` : ''}`,
        ].join(', ')
  return {
    name,
    since: since.toISOString(),
    until: until.toISOString(),
    heading: shorten(`${frequency === 'daily' ? 'Daily' : 'Weekly'} digest: ${found}`, MAX_HEADING_UNITS),
    sentence: shorten(`${name}: ${describePeriod(since, until, timezone)}`, MAX_LINE_UNITS),
    sections: sectionsOf(baseUrl, events).filter(({ lines }) => lines.length > 0),
    links: [
      { text: 'Open the incidents', url: `${baseUrl}/incidents` },
      { text: 'Open the tables', url: `${baseUrl}/tables` },
    ],
  }
}

function sectionsOf(baseUrl: string, { incidents, late, tables, noisy, unwatched }: DigestEvents) {
  const incidentLine = (incident: DigestIncident, text: string) =>
    lineOf(text, `${baseUrl}/incidents/${incident.id}`)
  const sections: DigestSection[] = [
    {
      name: 'incidents',
      title: 'What broke',
      lines: incidents.map(each =>
        incidentLine(
          each,
          `${SEVERITY_LABELS[each.severity]}: ${each.title}${each.isActive ? ' (goes on)' : ''}`,
        ),
      ),
    },
    {
      name: 'tables',
      title: 'Alerts by table',
      lines: tables.map(({ id, type, qualifiedName, alerts, open }) =>
        lineOf(
          `${qualifiedName}: ${countOf(alerts, 'alert')}${open > 0 ? `, ${open} still open` : ''}`,
          assetUrl(baseUrl, { id, asset_type: type }),
        ),
      ),
    },
    {
      name: 'late',
      title: 'Noticed late',
      lines: late.map(each =>
        incidentLine(each, `${each.title}: ${describeMinutes(each.minutesToNotice ?? 0)} after it began`),
      ),
    },
    {
      name: 'noisy',
      title: 'Noisiest checks',
      lines: noisy.map(({ ruleName, qualifiedName, alertId, alerts, dismissed }) =>
        lineOf(
          `${ruleName} on ${qualifiedName}: ${countOf(alerts, 'alert')}, ${percentOf(dismissed, alerts, 0)} % dismissed`,
          `${baseUrl}/alerts/${alertId}`,
        ),
      ),
    },
    { name: 'unwatched', title: 'Not watched', lines: unwatched ? unwatchedLines(baseUrl, unwatched) : [] },
  ]
  return sections
}

function unwatchedLines(
  baseUrl: string,
  { tables, withoutFreshness, withoutVolume, withoutKeys, examples }: NonNullable<DigestEvents['unwatched']>,
): DigestLine[] {
  const lines = [
    [withoutFreshness, 'freshness'] as const,
    [withoutVolume, 'volume'] as const,
    [withoutKeys, 'keys'] as const,
  ]
  return [
    ...lines.flatMap(([count, what]) =>
      count === 0
        ? []
        : lineOf(
            `${what} of ${count} of ${countOf(tables, 'table')}`.replace(/^./, first => first.toUpperCase()),
            null,
          ),
    ),
    ...examples.map(({ id, qualifiedName }) =>
      lineOf(`${qualifiedName}: no check`, assetUrl(baseUrl, { id, asset_type: 'table' })),
    ),
  ]
}

const lineOf = (text: string, url: string | null): DigestLine => ({
  text: shorten(text, MAX_LINE_UNITS),
  url,
})

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

/** `3 hours`, rounded down to the largest unit that fits. */
function describeMinutes(minutes: number): string {
  return minutes >= 2 * DAY_MINUTES
    ? countOf(Math.floor(minutes / DAY_MINUTES), 'day')
    : countOf(Math.floor(minutes / HOUR_MINUTES), 'hour')
}

/** `9 March 08:00 to 16 March 08:00, Europe/Berlin` */
function describePeriod(since: Date, until: Date, timezone: string): string {
  const [from, to] = [since, until].map(at =>
    DateTime.fromJSDate(at, { zone: timezone }).setLocale('en').toFormat('d MMMM HH:mm'),
  )
  return `${from} to ${to}, ${timezone}`
}
