import { useState } from 'preact/hooks'
import type { TableProfileData } from 'tidemark/client'
import { useAction } from '../../lib/action.ts'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { countOf, formatNumber, formatTime } from '../../lib/format.ts'
import { useJob } from '../../lib/job.ts'
import { withQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { profileTexts as texts } from './texts.ts'
import { describeChange } from './profile-column.tsx'
import type { TabProps } from '../props.ts'
import { KnownColumns } from '../table-page/known-columns.tsx'

/** Profiles that can be compared with. */
const MAX_HISTORY = 20

/** The latest profile of a table, and the others that there are; null before the first one. */
async function loadProfile(id: string, compareTo: string | null, signal: AbortSignal) {
  const path = { asset_id: id }
  const history = await api.get('/api/v1/sdk/assets/{asset_id}/profiles', {
    path,
    query: { limit: MAX_HISTORY },
    signal,
  })
  const [latest, ...earlier] = history.data
  if (!latest) return null
  const compared = compareTo === null ? earlier[0]?.id : compareTo
  const { data } = await api.get('/api/v1/sdk/assets/{asset_id}/profile', {
    path,
    query: { ...(compared && { compare_to: compared }) },
    signal,
  })
  return { profile: data, earlier }
}

type LoadedProfile = NonNullable<Awaited<ReturnType<typeof loadProfile>>>

/** The columns of a table, what they hold, and what changed since an earlier profile. */
export function ColumnsTab({ table }: TabProps) {
  // Null compares with the profile before the latest, an empty text with none.
  const [compareTo, setCompareTo] = useState<string | null>(null)
  const asked = useData(`profile ${table.id} ${compareTo ?? 'before'}`, signal =>
    loadProfile(table.id, compareTo, signal),
  )
  const start = <ProfileNow id={table.id} reload={asked.reload} />
  return (
    <Loaded of={asked} what={texts.profile} rows={8}>
      {(found: LoadedProfile | null) =>
        found === null ? (
          <>
            <Empty title="This table was not profiled yet.">
              <p>
                A profile reads the table once and shows what its columns hold: NULLs, distinct values,
                ranges, frequent values and patterns of text.
              </p>
              {canWrite() ? start : <p class="quiet">A member who may write can profile it.</p>}
            </Empty>
            <KnownColumns table={table} profile={null} />
          </>
        ) : (
          <>
            <div class="profile-head">
              <Facts profile={found.profile} />
              <Comparison
                earlier={found.earlier}
                compared={found.profile.comparison?.profile.id ?? ''}
                choose={setCompareTo}
              />
              <div class="actions">
                <a class="button" href={withQuery('/recommendations', { source: table.qualified_name })}>
                  Recommended checks
                </a>
                {canWrite() && (
                  <a class="button" href={withQuery('/contracts', { add: '1', table: table.qualified_name })}>
                    Draft a contract
                  </a>
                )}
                {canWrite() && start}
              </div>
            </div>
            <Columns table={table} profile={found.profile} />
          </>
        )
      }
    </Loaded>
  )
}

/** A button that profiles the table, and the job while it runs. */
function ProfileNow({ id, reload }: { id: string; reload: () => void }) {
  const [jobId, setJobId] = useState<string>()
  const [isBusy, start] = useAction(texts.profileNow, async () => {
    const { data } = await api.post('/api/v1/sdk/assets/{asset_id}/profile', { path: { asset_id: id } })
    setJobId(data.job_id)
  })
  return (
    <div>
      {jobId ? (
        <Progress key={jobId} id={jobId} isBusy={isBusy} start={start} ended={reload} />
      ) : (
        <StartButton isBusy={isBusy} start={start} />
      )}
    </div>
  )
}

function StartButton({ isBusy, start }: { isBusy: boolean; start: () => void }) {
  return (
    <p class="actions">
      <button class="primary" disabled={isBusy} onClick={start}>
        {texts.profileNow}
      </button>
    </p>
  )
}

function Progress({
  id,
  isBusy,
  start,
  ended,
}: {
  id: string
  isBusy: boolean
  start: () => void
  ended: () => void
}) {
  const { job, isCancelling, cancel } = useJob(id, ended)
  const status = job?.status ?? 'pending'
  if (status === 'pending' || status === 'running')
    return (
      <p class="actions" role="status">
        <progress aria-label={texts.profiling} />
        <span>{texts.profiling}</span>
        <button disabled={isCancelling} onClick={cancel}>
          Cancel
        </button>
      </p>
    )
  return (
    <>
      {status === 'failed' && (
        <p class="bad" role="alert">
          {job?.error?.message}
        </p>
      )}
      {status === 'cancelled' && <p role="status">The profile was cancelled.</p>}
      <StartButton isBusy={isBusy} start={start} />
    </>
  )
}

type Profile = TableProfileData['data']

function Facts({ profile }: { profile: Profile }) {
  const { row_count: rows, profiled_rows: read, is_sampled: isSampled } = profile
  return (
    <dl class="facts">
      <div>
        <dt>Profiled</dt>
        <dd>
          <Ago at={profile.profiled_at} />
        </dd>
      </div>
      <div>
        <dt>Rows</dt>
        <dd>
          {profile.is_row_count_exact ? formatNumber(rows) : `about ${formatNumber(rows)}`}
          {isSampled && `, a sample of ${countOf(read, 'row')}`}
        </dd>
      </div>
      <div>
        <dt>Cost</dt>
        <dd>{texts.statements(profile.statements, profile.duration_ms / 1_000)}</dd>
      </div>
    </dl>
  )
}

function Comparison({
  earlier,
  compared,
  choose,
}: {
  earlier: LoadedProfile['earlier']
  compared: string
  choose: (id: string) => void
}) {
  if (earlier.length === 0) return null
  return (
    <label>
      {texts.compareWith}{' '}
      <select value={compared} onChange={(event: Event) => choose((event.target as HTMLSelectElement).value)}>
        {earlier.map(({ id, profiled_at: at }) => (
          <option key={id} value={id} selected={id === compared}>
            {formatTime(at)}
          </option>
        ))}
        <option value="" selected={compared === ''}>
          nothing
        </option>
      </select>
    </label>
  )
}

function Columns({ table, profile }: { table: TabProps['table']; profile: Profile }) {
  const { columns, comparison } = profile
  const changesOf = Map.groupBy(comparison?.changes ?? [], ({ column }) => column)
  const added = new Set(comparison?.added_columns)
  const gone = comparison?.removed_columns ?? []
  const changed = columns.filter(
    ({ name }) => added.has(name) || changesOf.get(name)?.some(change => describeChange(change).length > 0),
  ).length
  return (
    <>
      {comparison && (
        <p class="profile-summary">
          <strong>
            {texts.summary(changed + gone.length, columns.length)}
            {texts.since(formatTime(comparison.profile.profiled_at))}
          </strong>
        </p>
      )}
      {columns.some(column => column.is_masked) && (
        <p class="quiet">Values of columns that are tagged as personal data are hidden.</p>
      )}
      {gone.length > 0 && (
        <p>
          <bdi>{texts.removed(gone.join(', '))}</bdi>
        </p>
      )}
      <KnownColumns table={table} profile={profile} />
    </>
  )
}
