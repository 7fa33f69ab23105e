import { useState } from 'preact/hooks'
import type { Table } from 'tidemark/client'
import { useAction } from '../../lib/action.ts'
import { api } from '../../lib/api.ts'
import { countOf, formatNumber, inWords } from '../../lib/format.ts'
import { sourceAddress, withQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { lazy } from '../../parts/lazy.tsx'
import { notifyOfJob } from '../../parts/notices.tsx'
import { CheckCounts, FreshnessStatus, Severity, Shape } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { costTexts } from '../source/cost-texts.ts'
import { texts } from '../../texts.ts'
import type { TabProps } from '../props.ts'
import { pageTexts } from './texts.ts'

/** How long a request waits for the checks to end, before it goes on without. */
const WAIT_SECONDS = 15

const ShareDialog = lazy(async () => (await import('../table-share.tsx')).ShareDialog)
const DescriptionForm = lazy(async () => (await import('./description-form.tsx')).DescriptionForm)

/** The answer in words and what is done about it, then what the answer rests on. */
export function TableHeader({ table, reload }: TabProps) {
  const { source, schema } = table
  const { text, tone } = answerOf(table)
  return (
    <header class="table-header">
      <p class="path">
        <a href={sourceAddress(source)}>
          <bdi>{source}</bdi>
        </a>{' '}
        {'/ '}
        <a href={withQuery('/catalog', { source, schema })}>
          <bdi>{schema}</bdi>
        </a>
      </p>
      <div class="table-title">
        <h1>
          <Shape tone={tone} />
          <bdi>{text}</bdi>
        </h1>
        {canWrite() && <Actions table={table} reload={reload} />}
      </div>
      {table.read_error && <p class="bad">{table.read_error.message}</p>}
      <About key={table.id} table={table} reload={reload} />
      <Facts table={table} />
    </header>
  )
}

/** What is wrong with a table in one sentence, and how bad it is. */
function answerOf(table: Table) {
  const { quality, freshness, health, name } = table
  const failing = quality.failing + quality.error
  const critical = [
    table.absence && 'it is no longer in its source',
    table.read_error && 'it cannot be read',
    freshness.status === 'stale' && 'its data is stale',
    failing > 0 && countOf(failing, 'failing check'),
    table.schema_change_status === 'high' && texts.changesToReview,
  ].filter(Boolean)
  const isChanged = table.schema_change_status !== 'none'
  if (critical.length > 0) return { text: `${name}: ${critical.join(', ')}`, tone: 'critical' as const }
  if (isChanged) return { text: `${name}: ${texts.changesToReview}`, tone: 'warning' as const }
  return health.status === 'fine'
    ? { text: `${name} is fine`, tone: 'ok' as const }
    : { text: `${name}: ${health.headline}`, tone: 'unknown' as const }
}

function Actions({ table, reload }: TabProps) {
  const [isOpen, setOpen] = useState(false)
  const [isBusy, run] = useAction(texts.checkNow, async () => {
    const { data } = await api.post('/api/v1/sdk/assets/{asset_id}/check', {
      path: { asset_id: table.id },
      headers: { prefer: `wait=${WAIT_SECONDS}` },
    })
    notifyOfJob(data, 'The checks have run.')
    reload()
  })
  return (
    <p class="actions">
      <button onClick={run} disabled={isBusy}>
        {isBusy ? texts.checking : texts.checkNow}
      </button>
      <button onClick={() => setOpen(true)}>Share</button>
      {isOpen && <ShareDialog table={table} close={() => setOpen(false)} />}
    </p>
  )
}

/** What the table holds, written where it stands; who owns it, and its tags. */
function About({ table, reload }: TabProps) {
  const [isEditing, setEditing] = useState(false)
  const { description, owners = [], tags } = table
  const edit = canWrite() && !isEditing && (
    <button class="link" onClick={() => setEditing(true)}>
      {description ? pageTexts.editDescription : pageTexts.addDescription}
    </button>
  )
  return (
    <>
      {isEditing && <DescriptionForm table={table} reload={reload} close={() => setEditing(false)} />}
      {description && !isEditing && (
        <p class="table-about">
          <bdi>{description}</bdi> {edit}
        </p>
      )}
      <p class="table-people">
        {owners.length > 0 ? (
          <span>
            <span class="quiet">{pageTexts.owner}</span>{' '}
            <bdi>{owners.map(({ name }) => name).join(', ')}</bdi>
          </span>
        ) : (
          <span class="quiet">{pageTexts.noOwner}</span>
        )}
        {tags.map(tag => (
          <a key={tag} class="chip" href={withQuery('/catalog', { tag })}>
            <bdi>{tag}</bdi>
          </a>
        ))}
        {!description && edit}
      </p>
    </>
  )
}

/** What the answer rests on, in one line. */
function Facts({ table }: { table: Table }) {
  const { quality, freshness, last_scan: scan } = table
  return (
    <dl class="facts">
      <div>
        <dt>{texts.checks}</dt>
        <dd>
          <CheckCounts quality={quality} />
        </dd>
      </div>
      <div>
        <dt>{texts.freshness}</dt>
        <dd>
          {freshness.schedule_id === null ? (
            <span class="quiet">{texts.notMonitored}</span>
          ) : (
            <>
              <FreshnessStatus of={freshness} />
              {freshness.last_updated && (
                <>
                  {freshness.learning ? ', newest ' : ' '}
                  <Ago at={freshness.last_updated} />
                </>
              )}
            </>
          )}
        </dd>
      </div>
      {table.schema_change_status !== 'none' && (
        <div>
          <dt>{texts.changes}</dt>
          <dd>
            <Severity level={table.schema_change_status} word={texts.riskOf(table.schema_change_status)} />
          </dd>
        </div>
      )}
      {table.asset_type !== 'table' && (
        <div>
          <dt>{texts.type}</dt>
          <dd>{inWords(table.asset_type)}</dd>
        </div>
      )}
      <div>
        <dt>{texts.rows}</dt>
        <dd>{formatRows(table)}</dd>
      </div>
      {scan && (
        <div>
          <dt>{costTexts.lastScan}</dt>
          <dd>
            <Ago at={scan.at} />{' '}
            <a
              class="quiet"
              href={withQuery(sourceAddress(table.source), { tab: 'cost' })}
              title={[costTexts.usedBy(scan), scan.parts && costTexts.partsRead(scan.parts)]
                .filter(Boolean)
                .join(', ')}
            >
              {costTexts.seconds(scan.duration_ms)}
            </a>
          </dd>
        </div>
      )}
    </dl>
  )
}

/** The newest number of rows that is known, and where it is from. */
function formatRows({ known_rows: rows }: Table) {
  if (!rows) return '–'
  return (
    <>
      {formatNumber(rows.count)}{' '}
      <span class="quiet">
        {texts.rowsFrom[rows.from]} {rows.at && <Ago at={rows.at} />}
      </span>
    </>
  )
}
