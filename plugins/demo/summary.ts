import type { DemoCredentials } from './credentials.ts'
import type { DemoDeps } from './deps.ts'
import { createRequester } from './tour.ts'

interface AlertSummary {
  severity: string
  status: string
  title: string
}

interface Tags {
  data: { pagination: { total: number } }
}

const MAX_ALERTS = 12

/** The findings in the demo source as a table for a terminal, followed by three requests to try. */
export async function summarize(deps: DemoDeps, { key, sourceId }: DemoCredentials): Promise<string[]> {
  const request = createRequester(deps, key)
  const get = <T>(path: string) => request<T>('GET', path)
  const asset = await get<Record<string, string | number>>(`/assets/${sourceId}`)
  const changes = await get<{ data: { total: number } }>(`/assets/${sourceId}/schema-changes`)
  const freshness = await get<{ data: { summary: Record<string, number> } }>(`/assets/${sourceId}/freshness`)
  const rules = await get<{ data: Record<string, number> }>(`/sdk/validity/${sourceId}/summary`)
  const metrics = await get<{ data: Record<string, number> }>(`/sdk/metrics/${sourceId}/summary`)
  const references = await get<{ data: Record<string, number> }>(`/sdk/referential/${sourceId}/summary`)
  const tags = await get<Tags>(`/sdk/tags?asset_id=${sourceId}&origin=automatic&limit=1`)
  const alerts = await get<{ data: { data: AlertSummary[]; pagination: { total: number } } }>(
    '/sdk/alerts?limit=50',
  )
  const open = alerts.data.data.filter(
    ({ status, severity }) => status === 'triggered' && severity !== 'info',
  )
  const { passing = 0, failing = 0, warning = 0, error = 0, total_checks: captures = 0 } = metrics.data
  const tally = { passing, failing, warning, error }
  const api = `${deps.config.baseUrl}/api/v1`
  const curl = (path: string) => `  curl -s -H "$AUTH" "$API${path}"`
  return [
    `Found in ${asset.name}:`,
    ...formatTable([
      ['catalog', `${asset.table_count} tables, ${asset.column_count} columns`],
      ['tags', `${tags.data.pagination.total} columns of personal data, found by their names and types`],
      ['drift', `${changes.data.total} schema changes, the worst of ${asset.schema_change_status} impact`],
      ['freshness', formatCounts(freshness.data.summary)],
      ['rules', formatCounts(rules.data)],
      ['metrics', `${formatCounts(tally)} after ${captures} captures`],
      ['references', formatCounts(referentialTally(references.data))],
      ['alerts', `${open.length} open`],
    ]),
    ...open
      .toSorted((a, b) => Number(b.severity === 'critical') - Number(a.severity === 'critical'))
      .slice(0, MAX_ALERTS)
      .map(({ severity, title }) => `  ${severity.padEnd(8)}  ${title}`),
    ...(open.length > MAX_ALERTS ? [`  … and ${open.length - MAX_ALERTS} more`] : []),
    '',
    'Try next:',
    `  API=${api} AUTH="Authorization: Bearer ${key}"`,
    curl(`/assets/${asset.name}/schema-changes`),
    curl(`/sdk/validity/${asset.name}`),
    curl('/sdk/alerts?limit=5'),
  ]
}

function formatCounts(summary: Record<string, number>): string {
  return Object.entries(summary)
    .map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`)
    .join(', ')
}

function referentialTally({
  passing_checks: passing = 0,
  failing_checks: failing = 0,
  error = 0,
}: Record<string, number>): Record<string, number> {
  return { passing, failing, error }
}

function formatTable(lines: readonly (readonly [string, string])[]): string[] {
  return lines.map(([name, text]) => `  ${name.padEnd(11)}${text}`)
}
