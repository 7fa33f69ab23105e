import { useState } from 'preact/hooks'
import type { Source } from 'tidemark/client'
import { Fields, Form } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import { buildBody, labelOf, type FieldSpec } from '../../forms/schema.ts'
import { useAction } from '../../lib/action.ts'
import { api } from '../../lib/api.ts'
import { useData, useDebounced } from '../../lib/data.ts'
import { countOf, formatNumber } from '../../lib/format.ts'
import { sourceAddress, useQuery, withQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { Help } from '../../parts/help.tsx'
import { notify } from '../../parts/notices.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { watchTexts } from '../../texts/watching.ts'
import { BulkFreshness } from './bulk-freshness.tsx'
import { PAUSE_MS, patternFields } from './watch-fields.ts'

const KINDS = ['row_count', 'freshness', 'keys'] as const

/** In place of a level: the three kinds, once. */
const ONCE = 'once'

const levelField: FieldSpec = {
  ...{ name: 'level', label: 'How much to watch', kind: 'choice', initial: 'standard', isRequired: true },
  choices: Object.entries(watchTexts.levels),
  hint: 'A level is kept: tables that are found later are watched too, and what you remove stays removed.',
}
const kindFields = KINDS.map((name): FieldSpec => ({
  ...{ name, label: watchTexts.kinds[name], kind: 'flag', initial: true },
  hint: watchTexts.kindHints[name],
}))
const backfillField: FieldSpec = {
  ...{ name: 'backfill', label: watchTexts.backfill, kind: 'flag', initial: true },
  hint: watchTexts.backfillHint,
}
const fields: FieldSpec[] = [levelField, ...kindFields, backfillField, ...patternFields]

/** The fields that a choice of level leaves. */
const fieldsOf = (level: unknown): FieldSpec[] =>
  level === ONCE
    ? [...kindFields, backfillField, ...patternFields]
    : [levelField, backfillField, ...patternFields]

const request = async (id: string, body: object, signal?: AbortSignal) =>
  (await api.post('/api/v1/sdk/assets/{asset_id}/watch', { path: { asset_id: id }, body, signal })).data
type Answer = Awaited<ReturnType<typeof request>>
/** What became of few tables; many are left to a job. */
type Watched = Exclude<Answer, { job_id: string }>
const isStarted = (answer: Answer): answer is Exclude<Answer, Watched> => 'job_id' in answer

/** What is watched of the tables of a source: checks for many tables at once. */
export function WatchTab({ source }: { source: Source }) {
  const [query] = useQuery()
  if (!canWrite()) return <p class="quiet">Only members, admins and owners choose what is watched.</p>
  if (!source.last_refresh_at) return <p class="quiet">Discover the tables first.</p>
  const other = query.get('part') === 'freshness' ? null : 'freshness'
  return (
    <>
      {other ? <PolicyAndForm source={source} /> : <BulkFreshness source={source} />}
      <p class="actions above">
        <a class="button" href={withQuery(location.pathname, { tab: 'watch', part: other })}>
          {other ? 'Give tables a freshness threshold of their own' : 'Back to checks for many tables'}
        </a>{' '}
        <a class="button" href={withQuery('/recommendations', { source: source.name })}>
          See what is recommended
        </a>
      </p>
    </>
  )
}

async function loadPolicy(id: string, signal: AbortSignal) {
  return (await api.get('/api/v1/sdk/assets/{asset_id}/watch', { path: { asset_id: id }, signal })).data
}
type Policy = Awaited<ReturnType<typeof loadPolicy>>

function PolicyAndForm({ source }: { source: Source }) {
  const policy = useData(`policy ${source.id}`, signal => loadPolicy(source.id, signal))
  return (
    <Loaded of={policy} what="what is watched" rows={8}>
      {(found: Policy) => (
        <>
          {found.level !== null && <PolicyState policy={found} reload={policy.reload} />}
          <WatchForm key={found.updated_at} source={source} policy={found} reload={policy.reload} />
        </>
      )}
    </Loaded>
  )
}

/** By what the source is watched, and the button that ends it. */
function PolicyState({ policy, reload }: { policy: Policy; reload: () => void }) {
  const [isRemoving, remove] = useAction(watchTexts.endPolicy, async () => {
    await api.delete('/api/v1/sdk/assets/{asset_id}/watch', { path: { asset_id: policy.asset_id } })
    notify('New tables get no checks any more. The checks that are there stay.')
    reload()
  })
  return (
    <p class="actions above">
      <span>
        <strong>{watchTexts.policyOf(watchTexts.levelNames[policy.level!])}</strong>{' '}
        <span class="quiet">
          {watchTexts.appliedAt} <Ago at={policy.applied_at} />
        </span>
      </span>
      <button disabled={isRemoving} onClick={remove}>
        {watchTexts.endPolicy}
      </button>
    </p>
  )
}

function WatchForm({ source, policy, reload }: { source: Source; policy: Policy; reload: () => void }) {
  const [done, setDone] = useState<Answer>()
  const form = useForm(`watch ${source.id}`, fields, policy.level === null ? undefined : policy)
  const { level } = form.values
  const isAny = level !== ONCE || KINDS.some(name => form.values[name] === true)
  const body = buildBody(fieldsOf(level), form.values)
  const submit = () =>
    isAny &&
    form.attempt(fieldsOf(level), async () => {
      setDone(await request(source.id, body))
      if (level !== ONCE) reload()
    })
  return (
    <section class="with-side">
      <div>
        <h2>
          {watchTexts.checks}
          <Help page="checks#watch-many-tables-at-once" about={watchTexts.checks} />
        </h2>
        <Form form={form} submit={submit} label="Watch these tables" busyLabel="Creating checks…">
          <Fields form={form} of={[levelField, ...fieldsOf(level).filter(spec => spec !== levelField)]} />
          {!isAny && (
            <p class="bad" role="alert">
              Choose at least one kind of check.
            </p>
          )}
        </Form>
        {done && (
          <div role="status">
            <p>
              <strong>
                {isStarted(done)
                  ? `${countOf(done.matched, 'table')} get their checks in the background. It takes a minute or two.`
                  : `Created ${countOf(countCreated(done), 'check')}. The first results come within minutes.`}
              </strong>
            </p>
            <p>
              <a class="button primary" href={sourceAddress(source.qualified_name)}>
                See the state of the source
              </a>
            </p>
          </div>
        )}
      </div>
      <section class="side" aria-label={watchTexts.preview}>
        <h2>{watchTexts.preview}</h2>
        {isAny && (
          <Preview source={source} body={body} round={done && !isStarted(done) ? countCreated(done) : 0} />
        )}
      </section>
    </section>
  )
}

const ROWS = ['row_count', 'freshness', 'not_null', 'unique'] as const
const countCreated = (watched: Watched) =>
  ROWS.reduce((sum, name) => sum + watched[name].created, 0) +
  Object.values(watched.recommended ?? {}).reduce((sum, count) => sum + count, 0)

/** What the request would create. @param round changes when something was created */
function Preview({ source, body, round }: { source: Source; body: object; round: number }) {
  const key = useDebounced(JSON.stringify(body), PAUSE_MS)
  const tried = useData(`watch ${source.id} ${key} ${round}`, signal =>
    request(source.id, { ...(JSON.parse(key) as object), dry_run: true }, signal),
  )
  return (
    <Loaded of={tried} what={watchTexts.preview.toLowerCase()} rows={6}>
      {(found: Answer) => !isStarted(found) && <Counts watched={found} />}
    </Loaded>
  )
}

interface CountRow {
  name: string
  created: number
  existing?: number
}

const COUNT_COLUMNS: Column<CountRow>[] = [
  { label: 'Check', isName: true, cell: row => row.name },
  { label: 'New', className: 'right', cell: row => formatNumber(row.created) },
  {
    label: 'There already',
    className: 'right',
    cell: ({ existing }) => formatNumber(existing),
  },
]

function Counts({ watched }: { watched: Watched }) {
  const skipped = ROWS.flatMap(name => watched[name].skipped)
  const rows: CountRow[] = [
    ...ROWS.map(name => ({ name: watchTexts.rows[name], ...watched[name] })),
    ...Object.entries(watched.recommended ?? {}).map(([type, created]) => ({
      name: labelOf(type.toLowerCase()),
      created,
    })),
  ]
  // One table without a key is skipped by two kinds of rules.
  const reasons = new Map(skipped.map(each => [each.reason, each]))
  return (
    <>
      <p role="status">
        <strong>{watchTexts.matched(watched.matched)}</strong>
      </p>
      <DataTable columns={COUNT_COLUMNS} rows={rows} keyOf={(row: CountRow) => row.name} />
      {watched.level !== null && watched.level !== 'light' && (
        <p class="quiet">Tables without a profile are profiled first; then more checks may come.</p>
      )}
      {reasons.size > 0 && (
        <>
          <h3>Skipped</h3>
          <ul>
            {[...reasons.values()].map(({ reason, count, tables }) => (
              <li key={reason}>
                <details>
                  <summary>{watchTexts.skippedTables(count, watchTexts.reasons[reason])}</summary>
                  <ul class="names">
                    {tables.map(name => (
                      <li key={name}>
                        <code>{name}</code>
                      </li>
                    ))}
                  </ul>
                </details>
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        {countCreated(watched) === 0 ? (
          'Nothing is new.'
        ) : (
          <>
            {watchTexts.cost(watched.statements_per_day.checks, watched.statements_per_day.freshness)}
            <span class="quiet below">A rule that fails sends more, to find invalid rows.</span>
          </>
        )}
      </p>
      {watched.backfill.tables > 0 && <p>{watchTexts.backfillCost(watched.backfill)}</p>}
    </>
  )
}
