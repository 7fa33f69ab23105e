import { useState } from 'preact/hooks'
import type { AuditEntry, AuditPage, AuditVerdict } from 'tidemark/client'
import { CopyButton } from '../../forms/secret.tsx'
import { useAction } from '../../lib/action.ts'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { formatTime, startOfDay } from '../../lib/format.ts'
import { changeQuery, useQuery, withQuery } from '../../lib/router.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { Choice } from '../../parts/filters.tsx'
import { useSession } from '../../parts/frame.tsx'
import { pageSizeOf } from '../../parts/paging.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Shape } from '../../parts/status.tsx'
import { auditTexts } from './audit-texts.ts'
import { texts } from '../../texts.ts'
import { addressOf, describeAction, listDetails, nameActor, nameTarget } from './audit-words.ts'

/** What the address filters by, besides the page. */
const FILTERS = ['action', 'actor', 'target_type', 'target_id', 'from', 'to']

/** Who did what in the company, the newest first. */
export function AuditLog() {
  const [query] = useQuery()
  const { preferences } = useSession()
  const filters = readFilters(query)
  const page = { ...filters, limit: pageSizeOf(preferences) }
  const log = useData<AuditPage>(`audit ${JSON.stringify(page)}`, signal =>
    api.get('/api/v1/audit-log', { query: page, signal }),
  )
  const isFiltered = FILTERS.some(name => query.has(name))
  return (
    <>
      <Verification />
      <div class="filters">
        <Choice
          name="action"
          label={auditTexts.action}
          none="Any action"
          options={auditTexts.filters.map(action => [action, describeAction(action)] as const)}
        />
        <DayField name="from" label="From" />
        <DayField name="to" label="To" />
        <Chips />
        {isFiltered && (
          <a class="button plain" href={withQuery('/settings/audit', {})}>
            {texts.clearFilters}
          </a>
        )}
      </div>
      <Loaded of={log} what={texts.auditLog.toLowerCase()} rows={10}>
        {({ data, pagination }: AuditPage) => (
          <>
            {data.length === 0 ? (
              <Empty title="No entry matches">
                <p>Look at a longer time, or clear the filters.</p>
              </Empty>
            ) : (
              <DataTable
                label={texts.auditLog}
                className="audit stacked two-line"
                columns={COLUMNS}
                rows={data}
              />
            )}{' '}
            <Pages next={pagination.next_before} />
          </>
        )}
      </Loaded>
    </>
  )
}

/** What the address asks for. What is no number or day in it is left out. */
function readFilters(query: URLSearchParams) {
  const text = (name: string) => (query.get(name) ? { [name]: query.get(name)! } : {})
  const before = Number(query.get('before'))
  const [from, to] = [readDay(query, 'from'), readDay(query, 'to')]
  return {
    ...text('action'),
    ...text('actor'),
    ...text('target_type'),
    ...text('target_id'),
    ...(from && { from: startOfDay(from).toISOString() }),
    // Until the end of the day.
    ...(to && { to: new Date(startOfDay(to, 1).getTime() - 1).toISOString() }),
    ...(Number.isSafeInteger(before) && before > 0 && { before }),
  }
}

function readDay(query: URLSearchParams, name: string): string | undefined {
  const day = query.get(name) ?? ''
  return /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day)) ? day : undefined
}

function DayField({ name, label }: { name: string; label: string }) {
  const [query] = useQuery()
  return (
    <label class="day">
      <span>{label}</span>
      <input
        type="date"
        value={readDay(query, name) ?? ''}
        onChange={(event: Event) =>
          changeQuery({ [name]: (event.target as HTMLInputElement).value, before: null })
        }
      />
    </label>
  )
}

/** Filters that links in the list have set. */
function Chips() {
  const [query] = useQuery()
  const [actor, type, id] = ['actor', 'target_type', 'target_id'].map(name => query.get(name))
  const target = [type, id].filter(Boolean).join(' ')
  return (
    <>
      {actor && (
        <button class="chip" onClick={() => changeQuery({ actor: null, before: null })}>
          {auditTexts.by} <bdi>{actor}</bdi> <span aria-hidden="true">×</span>
        </button>
      )}
      {target && (
        <button
          class="chip"
          onClick={() => changeQuery({ target_type: null, target_id: null, before: null })}
        >
          {auditTexts.of} <bdi>{target}</bdi> <span aria-hidden="true">×</span>
        </button>
      )}
    </>
  )
}

/** The name leads to what the same user or key did. */
const COLUMNS: Column<AuditEntry>[] = [
  { label: 'When', cell: ({ at }) => <time datetime={at}>{formatTime(at)}</time> },
  {
    label: 'Who',
    cell: entry => (
      <a href={withQuery('/settings/audit', { actor: entry.actor })}>
        <bdi>{nameActor(entry)}</bdi>
      </a>
    ),
  },
  {
    label: 'What',
    isName: true,
    cell: entry => {
      const address = addressOf(entry)
      const name = <bdi>{nameTarget(entry)}</bdi>
      return (
        <>
          {describeAction(entry.action, entry.details)} {address ? <a href={address}>{name}</a> : name}
        </>
      )
    },
  },
  { label: 'Details', cell: entry => <Details entry={entry} /> },
]

function Details({ entry }: { entry: AuditEntry }) {
  const facts = [
    ...listDetails(entry),
    [auditTexts.action, entry.action],
    [auditTexts.of, entry.target?.id ?? null],
    ['Address', entry.address],
    ['Request', entry.request_id],
    ['Hash', entry.hash],
  ]
  return (
    <details>
      <summary>
        {auditTexts.entry} {entry.id}
      </summary>
      <dl>
        {facts
          .filter(([, value]) => value !== null)
          .map(([fact, value]) => (
            <div key={fact}>
              <dt>{fact}</dt>
              <dd>
                <bdi>{value}</bdi>
              </dd>
            </div>
          ))}
      </dl>
      {entry.target && (
        <a
          href={withQuery('/settings/audit', {
            target_type: entry.target.type,
            target_id: entry.target.id,
          })}
        >
          All about the same
        </a>
      )}
    </details>
  )
}

/** The log has no total: it grows, and its pages follow one another. */
function Pages({ next }: { next: number | null }) {
  const [query] = useQuery()
  if (next === null && !query.has('before')) return null
  const go = (before: number | null) =>
    changeQuery({ before: before === null ? null : String(before) }, { replace: false })
  return (
    <nav class="paging" aria-label="Pages of the log">
      <button disabled={!query.has('before')} onClick={() => go(null)}>
        Newest entries
      </button>
      <button disabled={next === null} onClick={() => go(next)}>
        Older entries
      </button>
    </nav>
  )
}

/** Has the server compute the chain of hashes again. */
function Verification() {
  const [verdict, setVerdict] = useState<AuditVerdict>()
  const [isBusy, verify] = useAction(auditTexts.verify, async () => {
    setVerdict(undefined)
    setVerdict((await api.get('/api/v1/audit-log/verify')).data)
  })
  return (
    <>
      <p class="actions above">
        <button disabled={isBusy} onClick={verify}>
          {isBusy ? 'Verifying…' : auditTexts.verify}
        </button>
      </p>
      <div role="status">{verdict && <Verdict of={verdict} />}</div>
    </>
  )
}

function Verdict({ of: verdict }: { of: AuditVerdict }) {
  const { is_whole: isWhole, entries, broken_at: brokenAt, problem, head_id: id, head_hash: hash } = verdict
  if (!isWhole)
    return (
      <p class="verdict">
        <Shape tone="critical" />{' '}
        <strong>{auditTexts.isBroken(brokenAt ?? entries + 1, problem ?? '')}</strong>{' '}
        {auditTexts.wholeUntil(entries)}
      </p>
    )
  return (
    <>
      <p class="verdict">
        <Shape tone="ok" /> <strong>{auditTexts.isWhole(entries)}</strong>
      </p>
      <p class="verdict">
        {auditTexts.head(id)} <code>{hash}</code> <CopyButton text={hash} label="Copy the hash" />
      </p>
      <p class="quiet">Keep it elsewhere: it reveals later whether the whole log was written anew.</p>
    </>
  )
}
