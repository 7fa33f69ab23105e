import { useState } from 'preact/hooks'
import type { Source } from 'tidemark/client'
import { Fields, Form } from '../../forms/fields.ts'
import { useForm } from '../../forms/form.ts'
import { buildBody, type FieldSpec } from '../../forms/schema.ts'
import { api } from '../../lib/api.ts'
import { useData, useDebounced } from '../../lib/data.ts'
import { formatNumber } from '../../lib/format.ts'
import { html } from '../../lib/html.ts'
import { sourceAddress, useQuery, withQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { Help } from '../../parts/help.ts'
import { Loaded } from '../../parts/states.ts'
import { watchTexts } from '../../texts/watching.ts'
import { BulkFreshness } from './bulk-freshness.ts'
import { PAUSE_MS, patternFields } from './watch-fields.ts'

const KINDS = ['row_count', 'freshness', 'keys'] as const

const fields: FieldSpec[] = [
  ...KINDS.map((name): FieldSpec => ({
    ...{ name, label: watchTexts.kinds[name], kind: 'flag', initial: true },
    hint: watchTexts.kindHints[name],
  })),
  ...patternFields,
]

const request = async (id: string, body: object, signal?: AbortSignal) =>
  (await api.post('/api/v1/sdk/assets/{asset_id}/watch', { path: { asset_id: id }, body, signal })).data
type Watched = Awaited<ReturnType<typeof request>>

/** What is watched of the tables of a source: checks for many tables at once. */
export function WatchTab({ source }: { source: Source }) {
  const [query] = useQuery()
  if (!canWrite()) return html`<p class="quiet">${watchTexts.cannotEdit}</p>`
  if (!source.last_refresh_at) return html`<p class="quiet">${watchTexts.notDiscovered}</p>`
  const other = query.get('part') === 'freshness' ? null : 'freshness'
  return html`${other ? html`<${WatchForm} source=${source} />` : html`<${BulkFreshness} source=${source} />`}
    <p>
      <a class="button" href=${withQuery(location.pathname, { tab: 'watch', part: other })}
        >${other ? watchTexts.toBulk : watchTexts.toChecks}</a
      >
    </p>`
}

function WatchForm({ source }: { source: Source }) {
  const [done, setDone] = useState<Watched>()
  const form = useForm(`watch ${source.id}`, fields)
  const isAny = KINDS.some(name => form.values[name] === true)
  const body = buildBody(fields, form.values)
  const submit = () =>
    isAny &&
    form.send(fields, async sent => {
      setDone(await request(source.id, sent))
    })
  return html`<section class="with-side">
    <div>
      <h2>
        ${watchTexts.checks}<${Help} page="checks#watch-many-tables-at-once" about=${watchTexts.checks} />
      </h2>
      <${Form} form=${form} submit=${submit} label=${watchTexts.start} busyLabel=${watchTexts.starting}>
        <${Fields} form=${form} of=${fields} />
        ${!isAny && html`<p class="bad" role="alert">${watchTexts.chooseOne}</p>`}
      <//>
      ${
        done &&
        html`<div role="status">
          <p><strong>${watchTexts.done(countCreated(done))}</strong></p>
          <p>
            <a class="button primary" href=${sourceAddress(source.qualified_name)}
              >${watchTexts.toOverview}</a
            >
          </p>
        </div>`
      }
    </div>
    <section class="side" aria-label=${watchTexts.preview}>
      <h2>${watchTexts.preview}</h2>
      ${isAny && html`<${Preview} source=${source} body=${body} round=${done ? countCreated(done) : 0} />`}
    </section>
  </section>`
}

const ROWS = ['row_count', 'freshness', 'not_null', 'unique'] as const
const countCreated = (watched: Watched) => ROWS.reduce((sum, name) => sum + watched[name].created, 0)

/** What the request would create. @param round changes when something was created */
function Preview({ source, body, round }: { source: Source; body: object; round: number }) {
  const key = useDebounced(JSON.stringify(body), PAUSE_MS)
  const tried = useData(`watch ${source.id} ${key} ${round}`, signal =>
    request(source.id, { ...(JSON.parse(key) as object), dry_run: true }, signal),
  )
  return html`<${Loaded} of=${tried} what=${watchTexts.preview.toLowerCase()} rows=${6}>
    ${(found: Watched) => html`<${Counts} watched=${found} />`}
  <//>`
}

function Counts({ watched }: { watched: Watched }) {
  const skipped = ROWS.flatMap(name => watched[name].skipped)
  // One table without a key is skipped by two kinds of rules.
  const reasons = new Map(skipped.map(each => [each.reason, each]))
  return html`<p role="status"><strong>${watchTexts.matched(watched.matched)}</strong></p>
    <table>
      <thead>
        <tr>
          <th scope="col">${watchTexts.kind}</th>
          <th scope="col" class="right">${watchTexts.created}</th>
          <th scope="col" class="right">${watchTexts.existing}</th>
        </tr>
      </thead>
      <tbody>
        ${ROWS.map(
          name =>
            html`<tr key=${name}>
              <th scope="row">${watchTexts.rows[name]}</th>
              <td class="right">${formatNumber(watched[name].created)}</td>
              <td class="right">${formatNumber(watched[name].existing)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    ${
      reasons.size > 0 &&
      html`<h3>${watchTexts.skipped}</h3>
        <ul>
          ${[...reasons.values()].map(
            ({ reason, count, tables }) =>
              html`<li key=${reason}>
                <details>
                  <summary>${watchTexts.skippedTables(count, watchTexts.reasons[reason])}</summary>
                  <ul class="names">
                    ${tables.map(name => html`<li key=${name}><code>${name}</code></li>`)}
                  </ul>
                </details>
              </li>`,
          )}
        </ul>`
    }
    <p>
      ${
        countCreated(watched) === 0
          ? watchTexts.nothingNew
          : html`${watchTexts.cost(watched.statements_per_day.checks, watched.statements_per_day.freshness)}${' '}
              <span class="quiet">${watchTexts.costHint}</span>`
      }
    </p>`
}
