import { useState } from 'preact/hooks'
import type { MuteWindow } from 'tidemark/client'
import { Field, Form } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import type { FieldSpec } from '../../forms/schema.ts'
import { zoneField } from '../../forms/zone-field.ts'
import { api, isMissing } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { zone } from '../../lib/format.ts'
import { navigate } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { useTitle } from '../../parts/frame.tsx'
import { Help } from '../../parts/help.tsx'
import { notify } from '../../parts/notices.tsx'
import { Loaded, MissingPage } from '../../parts/states.tsx'
import { texts } from '../../texts.ts'
import { Periods } from '../schedule/schedule-form.tsx'
import { scheduleTexts } from '../schedule/texts.ts'
import { findPeriodProblem, type Period } from '../schedule/week-hours.ts'
import { MUTE_ADDRESS } from './addresses.ts'
import { RuleAssets } from './rule-assets.tsx'
import { routingTexts } from './texts.ts'

/** A mute window, or a new one. @param props.id of a window, or `new` */
export function MutePage({ id }: { id: string }) {
  const isNew = id === 'new'
  const asked = useData(isNew ? null : `mute window ${id}`, async signal => {
    return (await api.get('/api/v1/sdk/alerts/mute-windows/{id}', { path: { id }, signal })).data
  })
  const title = asked.data?.name ?? routingTexts.muteWindow
  useTitle(title)
  if (isMissing(asked.error) || !canWrite())
    return (
      <MissingPage title="There is no such mute window" href={MUTE_ADDRESS} back={routingTexts.muteWindows} />
    )
  return (
    <div class="page">
      <p class="path">
        <a href={MUTE_ADDRESS}>{routingTexts.muteWindows}</a>
      </p>
      <h1>
        <bdi>{title}</bdi>
        <Help page="alerts#mute-windows" about={routingTexts.muteWindows} />
      </h1>
      {isNew ? (
        <MuteForm />
      ) : (
        <Loaded of={asked} what={routingTexts.muteWindow.toLowerCase()} rows={6}>
          {(window: MuteWindow) => (
            <>
              <DeleteButton window={window} />
              <MuteForm window={window} />
            </>
          )}
        </Loaded>
      )}
    </div>
  )
}

const NIGHTS: Period[] = [{ days: [1, 2, 3, 4, 5], start: '22:00', end: '06:00' }]
const HOUR_MS = 3_600_000

/** A moment as an input of the browser has it: by the wall clock of the reader, to the minute. */
function inputTime(at: number): string {
  const offsetMs = new Date(at).getTimezoneOffset() * 60_000
  return new Date(at - offsetMs).toISOString().slice(0, 16)
}

function MuteForm({ window }: { window?: MuteWindow }) {
  const fields = {
    name: { name: 'name', label: texts.name, kind: 'text', isRequired: true, maxLength: 200 },
    schemas: {
      ...{ name: 'schemas', label: 'Schemas', kind: 'lines' },
      hint: 'Source, database and schema, one on each line: shop.shop.public. Empty: any.',
    },
    tags: { name: 'tags', label: 'Tags', kind: 'lines', hint: 'Any of these, one on each line. Empty: any.' },
    assets: {
      ...{ name: 'asset_ids', label: routingTexts.assets, kind: 'lines' },
      hint: 'None ticked: all sources and tables. A source stands for all its tables.',
    },
    zone: zoneField(window?.timezone ?? undefined),
  } as const satisfies Record<string, FieldSpec>
  const record = window && { ...window, timezone: window.timezone ?? zone() }
  const form = useForm(`mute window ${window?.id ?? 'new'}`, Object.values(fields), record)
  const [isWeekly, setWeekly] = useState(Boolean(window?.rules))
  const [periods, setPeriods] = useState<Period[]>(window?.rules ?? NIGHTS)
  const now = Date.now()
  const [from, setFrom] = useState(inputTime(window?.starts_at ? Date.parse(window.starts_at) : now))
  const [to, setTo] = useState(inputTime(window?.ends_at ? Date.parse(window.ends_at) : now + 2 * HOUR_MS))
  const [problem, setProblem] = useState('')
  const submit = () => {
    const found = isWeekly
      ? periods.length === 0 || periods.some(findPeriodProblem)
        ? routingTexts.badPeriods
        : ''
      : from && to && from < to
        ? ''
        : routingTexts.badTimes
    setProblem(found)
    if (found) return
    const times = isWeekly
      ? { rules: periods, starts_at: null, ends_at: null }
      : {
          ...{ rules: null, timezone: null },
          starts_at: new Date(from).toISOString(),
          ends_at: new Date(to).toISOString(),
        }
    void form.send(Object.values(fields), async given => {
      const body = { ...given, ...(isWeekly && { timezone: String(form.values.timezone) }), ...times }
      if (window) await api.patch('/api/v1/sdk/alerts/mute-windows/{id}', { path: { id: window.id }, body })
      else
        await api.post('/api/v1/sdk/alerts/mute-windows', {
          body: { name: String(form.values.name), ...body },
        })
      notify(texts.saved)
      navigate(MUTE_ADDRESS, { replace: true })
    })
  }
  const moment = (label: string, value: string, set: (value: string) => void) => (
    <label class="field">
      <span>{label}</span>
      <input
        type="datetime-local"
        value={value}
        onInput={(event: Event) => set((event.target as HTMLInputElement).value)}
      />
    </label>
  )
  return (
    <Form form={form} submit={submit} label={window ? undefined : routingTexts.addMuteWindow}>
      <Field form={form} spec={fields.name} />
      <fieldset class="choices">
        <legend>{routingTexts.openAt}</legend>
        {[false, true].map(weekly => (
          <label key={String(weekly)}>
            <input
              type="radio"
              name="times"
              checked={weekly === isWeekly}
              onChange={() => setWeekly(weekly)}
            />
            {weekly ? 'every week' : 'once'}
          </label>
        ))}
      </fieldset>
      {isWeekly ? (
        <>
          <Field form={form} spec={fields.zone} />
          <Periods periods={periods} change={setPeriods} hint={scheduleTexts.nextDay} />
        </>
      ) : (
        <>
          {moment('From', from, setFrom)}
          {moment('To', to, setTo)}
        </>
      )}
      {problem && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
      <RuleAssets form={form} spec={fields.assets} />
      <Field form={form} spec={fields.schemas} />
      <Field form={form} spec={fields.tags} />
    </Form>
  )
}

function DeleteButton({ window: { id, name } }: { window: MuteWindow }) {
  const [isAsking, setAsking] = useState(false)
  const remove = async () => {
    await api.delete('/api/v1/sdk/alerts/mute-windows/{id}', { path: { id } })
    notify('The mute window was deleted.')
    navigate(MUTE_ADDRESS, { replace: true })
  }
  return (
    <>
      <p>
        <button class="destructive small" onClick={() => setAsking(true)}>
          {routingTexts.deleteMuteWindow}
        </button>
      </p>
      {isAsking && (
        <ConfirmDialog
          title={routingTexts.deleteTitle(name)}
          action={routingTexts.deleteMuteWindow}
          work={remove}
          close={() => setAsking(false)}
        >
          <p>What waits for its end is sent within a minute.</p>
        </ConfirmDialog>
      )}
    </>
  )
}
