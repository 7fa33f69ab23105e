import { useState } from 'preact/hooks'
import type { CreateFreshnessScheduleRequest, Table, UpdateFreshnessScheduleRequest } from 'tidemark/client'
import { ManagedNote } from '../checks/managed-note.tsx'
import { countOf } from '../lib/format.ts'
import { Fields, Form } from '../forms/fields.tsx'
import { useForm } from '../forms/form.ts'
import { allTermFields, termFields } from '../forms/freshness-fields.ts'
import type { FieldSpec, Values } from '../forms/schema.ts'
import { useAction } from '../lib/action.ts'
import { api, bodyOf } from '../lib/api.ts'
import { canWrite } from '../lib/session.ts'
import { useData, useDebounced } from '../lib/data.ts'
import { ConfirmDialog } from '../parts/confirm.tsx'
import { notify } from '../parts/notices.tsx'
import { readHours } from '../parts/series.ts'
import { Loaded } from '../parts/states.tsx'
import { AsCode } from './code/as-code.tsx'
import { texts } from '../texts.ts'
import { watchTexts } from '../texts/watching.ts'

const PAUSE_MS = 400
const LOOKBACK_DAYS = 30

interface Props {
  table: Table
  /** Called when something was stored. */
  saved: () => void
  close?: () => void
}

const loadSchedule = async (table: string, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/freshness/schedules', { query: { asset_id: table, limit: 1 }, signal })).data
    .data[0]
type Schedule = NonNullable<Awaited<ReturnType<typeof loadSchedule>>>

/** A form that makes the freshness schedule of a table, with a try of its threshold beside it. */
export function NewSchedule({ table, saved, close }: Props) {
  return <ScheduleForm table={table} saved={saved} close={close} />
}

/** The same form for the schedule that a table has. */
export function EditSchedule({ table, saved, close }: Props) {
  const asked = useData(`schedule of ${table.id}`, async signal => [await loadSchedule(table.id, signal)])
  return (
    <Loaded of={asked} what={watchTexts.editSchedule.toLowerCase()} rows={6}>
      {([schedule]: readonly (Schedule | undefined)[]) => (
        <ScheduleForm table={table} schedule={schedule} saved={saved} close={close} />
      )}
    </Loaded>
  )
}

function ScheduleForm({ table, schedule, saved, close }: Props & { schedule?: Schedule }) {
  // A learned threshold is none that somebody chose.
  const record = schedule && {
    ...schedule,
    sla_threshold: schedule.monitoring_mode === 'explicit' ? schedule.sla_threshold : null,
  }
  const all = [...allSignalFields(table, record), ...allTermFields(schedule?.check_interval)]
  const form = useForm(`freshness ${table.id}`, all, record)
  const fields = [
    ...signalFields(table, form.values, record),
    ...termFields(form.values, schedule?.check_interval),
  ]
  const submit = () =>
    form.send(fields, async sent => {
      const body = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null))
      if (!schedule)
        await api.post('/api/v1/sdk/freshness/schedules', {
          body: bodyOf<CreateFreshnessScheduleRequest>({ asset_id: table.id, ...body }),
        })
      else if (Object.keys(body).length > 0)
        await api.patch('/api/v1/sdk/freshness/schedules/{id}', {
          path: { id: schedule.id },
          body: bodyOf<UpdateFreshnessScheduleRequest>(body),
        })
      saved()
    })
  const isExplicit = form.values.monitoring_mode === 'explicit'
  const hours = isExplicit ? readHours(String(form.values.sla_threshold).trim()) : null
  return (
    <>
      <ManagedNote owner={schedule?.managed_by} />
      <div class="with-side">
        <Form
          form={form}
          submit={submit}
          label={schedule ? undefined : 'Watch freshness'}
          more={
            close && (
              <button type="button" onClick={close}>
                {texts.cancel}
              </button>
            )
          }
        >
          <Fields form={form} of={fields} />
        </Form>
        <section class="side" aria-label={watchTexts.dryRun}>
          <h2>{watchTexts.dryRun}</h2>
          {hours ? (
            <DryRun table={table} hours={hours} />
          ) : (
            <p class="quiet">
              {isExplicit
                ? watchTexts.thresholdHint
                : 'Choose a time to see which past checks would have raised an alert.'}
            </p>
          )}
        </section>
      </div>
    </>
  )
}

function allSignalFields(table: Table, record?: object): FieldSpec[] {
  const columns = (table.columns ?? []).map(({ name }) => [name, name] as const)
  const { '': detected, ...signals } = watchTexts.signals
  return [
    {
      ...{ name: 'freshness_signal', label: 'Where the age is read from', kind: 'choice' },
      choices: record ? Object.entries(signals) : [['', detected], ...Object.entries(signals)],
      ...(!record && { initial: '' }),
    },
    {
      ...{ name: 'freshness_column', label: 'Column', kind: 'choice', isRequired: true },
      ...{ hint: 'With the time at which a row was written.', choices: columns },
    },
    {
      ...{ name: 'freshness_expression', label: 'Expression', kind: 'text', isRequired: true },
      ...{
        hint: 'SQL over the columns of a row, such as greatest(created_at, updated_at).',
        maxLength: 1_000,
      },
    },
  ]
}

/** The fields of the signal that was chosen. */
function signalFields(table: Table, values: Values, record?: object): FieldSpec[] {
  const [signal, column, expression] = allSignalFields(table, record)
  const chosen = { column, expression }[String(values.freshness_signal)]
  return [signal!, ...(chosen ? [chosen] : [])]
}

const tryThreshold = async (table: string, hours: number, signal: AbortSignal) =>
  (
    await api.post('/api/v1/sdk/freshness/dry-run', {
      body: { asset_id: table, expected_interval_hours: hours, lookback_days: LOOKBACK_DAYS },
      signal,
    })
  ).data
type Trial = Awaited<ReturnType<typeof tryThreshold>>

function DryRun({ table, hours }: { table: Table; hours: number }) {
  const settled = useDebounced(hours, PAUSE_MS)
  const tried = useData(`dry run ${table.id} ${settled}`, signal => tryThreshold(table.id, settled, signal))
  return (
    <Loaded of={tried} what={watchTexts.dryRun.toLowerCase()} rows={3}>
      {(trial: Trial) => (
        <div role="status">
          <p>
            <strong>
              {trial.total_checks === 0
                ? 'No stored checks yet.'
                : `${trial.would_alert_count} of ${countOf(trial.total_checks, 'check')} of the last 30 days would have found it late, in ${countOf(trial.would_open_alerts, 'alert')}.`}
            </strong>
          </p>
          <p>{trial.recommendation}.</p>
        </div>
      )}
    </Loaded>
  )
}

/** Buttons that change, pause and delete the schedule of a table, and show it as code. */
export function ScheduleActions({
  source,
  id,
  isActive,
  saved,
  edit,
}: {
  source: string
  id: string
  isActive: boolean
  saved: () => void
  edit: () => void
}) {
  const [isAsking, setAsking] = useState(false)
  const path = { id }
  const name = isActive ? 'Pause' : 'Resume'
  const [isBusy, toggle] = useAction(name, async () => {
    await api.patch('/api/v1/sdk/freshness/schedules/{id}', { path, body: { is_active: !isActive } })
    saved()
  })
  const remove = async () => {
    await api.delete('/api/v1/sdk/freshness/schedules/{id}', { path })
    notify('The schedule was deleted.')
    saved()
  }
  return (
    <>
      <p class="actions above">
        {canWrite() && (
          <>
            {' '}
            <button onClick={edit}>{watchTexts.editSchedule}</button>
            <button disabled={isBusy} onClick={toggle}>
              {name}
            </button>
            <button class="bad" onClick={() => setAsking(true)}>
              {watchTexts.remove}
            </button>
          </>
        )}
        <AsCode source={source} id={id} />
      </p>
      {isAsking && (
        <ConfirmDialog
          title={watchTexts.remove}
          action={watchTexts.remove}
          work={remove}
          close={() => setAsking(false)}
        >
          <p>Its history and what was learned are deleted too. Pause it to keep them.</p>
        </ConfirmDialog>
      )}
    </>
  )
}
