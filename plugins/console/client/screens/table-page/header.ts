import { useState } from 'preact/hooks'
import type { Table } from 'tidemark/client'
import { useAction } from '../../lib/action.ts'
import { api } from '../../lib/api.ts'
import { countOf, formatNumber, inWords } from '../../lib/format.ts'
import { html } from '../../lib/html.ts'
import { sourceAddress, withQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { lazy } from '../../parts/lazy.ts'
import { notifyOfJob } from '../../parts/notices.ts'
import { CheckCounts, Shape, Status } from '../../parts/status.ts'
import { Ago } from '../../parts/time.ts'
import { costTexts } from '../source/cost-texts.ts'
import { texts } from '../../texts.ts'
import type { TabProps } from '../props.ts'
import { pageTexts } from './texts.ts'

/** How long a request waits for the checks to end, before it goes on without. */
const WAIT_SECONDS = 15

const ShareDialog = lazy(async () => (await import('../table-share.ts')).ShareDialog)
const DescriptionForm = lazy(async () => (await import('./description-form.ts')).DescriptionForm)

/** The answer in words and what is done about it, then what the answer rests on. */
export function TableHeader({ table, reload }: TabProps) {
  const { source, schema } = table
  const { text, tone } = answerOf(table)
  return html`<header class="table-header">
    <p class="path">
      <a href=${sourceAddress(source)}><bdi>${source}</bdi></a> ${'/ '}<a
        href=${withQuery('/catalog', { source, schema })}
        ><bdi>${schema}</bdi></a
      >
    </p>
    <div class="table-title">
      <h1><${Shape} tone=${tone} /><bdi>${text}</bdi></h1>
      ${canWrite() && html`<${Actions} table=${table} reload=${reload} />`}
    </div>
    ${table.read_error && html`<p class="bad">${table.read_error.message}</p>`}
    <${Description} key=${table.id} table=${table} reload=${reload} />
    <${People} table=${table} />
    <${Facts} table=${table} />
  </header>`
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
  return html`<p class="actions">
    <button onClick=${run} disabled=${isBusy}>${isBusy ? texts.checking : texts.checkNow}</button>
    <button onClick=${() => setOpen(true)}>Share</button>
    ${isOpen && html`<${ShareDialog} table=${table} close=${() => setOpen(false)} />`}
  </p>`
}

/** What the table holds; written where it stands. */
function Description({ table, reload }: TabProps) {
  const [isEditing, setEditing] = useState(false)
  if (isEditing)
    return html`<${DescriptionForm} table=${table} reload=${reload} close=${() => setEditing(false)} />`
  const edit =
    canWrite() &&
    html`<button class="link" onClick=${() => setEditing(true)}>
      ${table.description ? pageTexts.editDescription : pageTexts.addDescription}
    </button>`
  if (!table.description) return edit ? html`<p class="table-about">${edit}</p>` : null
  return html`<p class="table-about"><bdi>${table.description}</bdi>${edit && html`${' '}${edit}`}</p>`
}

/** Who owns the table, and its tags. */
function People({ table: { owners = [], tags } }: { table: Table }) {
  return html`<p class="table-people">
    <span class="quiet">${pageTexts.owner}${' '}</span>${
      owners.length > 0
        ? html`<bdi>${owners.map(({ name }) => name).join(', ')}</bdi>`
        : html`<span class="quiet">${pageTexts.noOwner}</span>`
    }
    ${tags.map(
      tag => html`<a key=${tag} class="chip" href=${withQuery('/catalog', { tag })}><bdi>${tag}</bdi></a>`,
    )}
  </p>`
}

/** What the answer rests on, in one line. */
function Facts({ table }: { table: Table }) {
  const { quality, freshness, last_scan: scan } = table
  return html`<dl class="facts">
    <div>
      <dt>${texts.checks}</dt>
      <dd><${CheckCounts} quality=${quality} /></dd>
    </div>
    <div>
      <dt>${texts.freshness}</dt>
      <dd>
        ${
          freshness.schedule_id === null
            ? html`<span class="quiet">${texts.notMonitored}</span>`
            : html`<${Status}
                  status=${freshness.status}
                  word=${texts.learningOf(freshness.learning)}
                />${freshness.learning ? ', newest ' : ' '}${freshness.last_updated && html`<${Ago} at=${freshness.last_updated} />`}`
        }
      </dd>
    </div>
    ${
      table.schema_change_status !== 'none' &&
      html`<div>
        <dt>${texts.changes}</dt>
        <dd>
          <${Status} status=${table.schema_change_status} word=${texts.riskOf(table.schema_change_status)} />
        </dd>
      </div>`
    }
    <div>
      <dt>${texts.type}</dt>
      <dd>${inWords(table.asset_type)}</dd>
    </div>
    <div>
      <dt>${texts.rows}</dt>
      <dd>${formatRows(table)}</dd>
    </div>
    ${
      scan &&
      html`<div>
        <dt>${costTexts.lastScan}</dt>
        <dd>
          <${Ago} at=${scan.at} />,${' '}
          ${costTexts.usedBy(scan)}${scan.parts && `, ${costTexts.partsRead(scan.parts)}`}
        </dd>
      </div>`
    }
  </dl>`
}

/** The newest number of rows that is known, and where it is from. */
function formatRows({ known_rows: rows }: Table) {
  if (!rows) return '–'
  return html`${formatNumber(rows.count)}${' '}
    <span class="quiet">${texts.rowsFrom[rows.from]} ${rows.at && html`<${Ago} at=${rows.at} />`}</span>`
}
