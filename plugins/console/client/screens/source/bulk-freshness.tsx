import { useState } from 'preact/hooks'
import type { CreateFreshnessSchedulesRequest, Source } from 'tidemark/client'
import { countOf } from '../../lib/format.ts'
import { Fields, Form } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import { allTermFields, termFields } from '../../forms/freshness-fields.ts'
import { buildBody } from '../../forms/schema.ts'
import { api, bodyOf } from '../../lib/api.ts'
import { useData, useDebounced } from '../../lib/data.ts'
import { Help } from '../../parts/help.tsx'
import { notify } from '../../parts/notices.tsx'
import { readHours } from '../../parts/series.ts'
import { Loaded } from '../../parts/states.tsx'
import { watchTexts } from '../../texts/watching.ts'
import { PAUSE_MS, patternFields } from './watch-fields.ts'

const request = async (source: Source, body: object, signal?: AbortSignal) => {
  const { data } = await api.post('/api/v1/sdk/freshness/schedules/bulk', {
    body: bodyOf<CreateFreshnessSchedulesRequest>({ asset_id: source.id, ...body }),
    signal,
  })
  return data as Extract<typeof data, { existing: number }>
}
type Created = Awaited<ReturnType<typeof request>>

/** Freshness schedules for the tables that match, with terms of their own. */
export function BulkFreshness({ source }: { source: Source }) {
  const [round, setRound] = useState(0)
  const form = useForm(`bulk freshness ${source.id}`, [...allTermFields(), ...patternFields])
  const fields = [...termFields(form.values), ...patternFields]
  const submit = () =>
    form.send(fields, async body => {
      const { created } = await request(source, body)
      notify(`Created ${countOf(created, 'schedule')}.`)
      setRound(round + 1)
    })
  const isExplicit = form.values.monitoring_mode === 'explicit'
  const isReady = !isExplicit || readHours(String(form.values.sla_threshold).trim()) !== null
  return (
    <section>
      <h2>
        {watchTexts.bulk}
        <Help page="freshness#watch-a-table" about={watchTexts.bulk} />
      </h2>
      <p class="quiet">For tables that need a threshold of their own. Tables that have a schedule keep it.</p>
      <div class="with-side">
        <Form form={form} submit={submit} label="Create schedules">
          <Fields form={form} of={fields} />
        </Form>
        <section class="side" aria-label={watchTexts.bulk}>
          {isReady ? (
            <Preview source={source} body={buildBody(fields, form.values)} round={round} />
          ) : (
            <p class="quiet">{watchTexts.thresholdHint}</p>
          )}
        </section>
      </div>
    </section>
  )
}

/** @param props.round changes when schedules were created */
function Preview({ source, body, round }: { source: Source; body: object; round: number }) {
  const key = useDebounced(JSON.stringify(body), PAUSE_MS)
  const tried = useData(`bulk freshness ${source.id} ${key} ${round}`, signal =>
    request(source, { ...(JSON.parse(key) as object), dry_run: true }, signal),
  )
  return (
    <Loaded of={tried} what={watchTexts.preview.toLowerCase()} rows={3}>
      {(found: Created) => (
        <>
          <p role="status">
            <strong>{watchTexts.matched(found.matched)}</strong>
            {watchTexts.bulkPreview(found.created, found.existing)}
          </p>
          {found.without_signal > 0 && <p>{watchTexts.withoutSignal(found.without_signal)}</p>}
          {found.created > 0 && <p>{watchTexts.bulkCost(found.statements_per_day)}</p>}
        </>
      )}
    </Loaded>
  )
}
