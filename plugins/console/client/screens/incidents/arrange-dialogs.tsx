import { FormDialog } from '../../forms/form-dialog.tsx'
import type { FieldSpec } from '../../forms/schema.ts'
import { useData } from '../../lib/data.ts'
import { navigate } from '../../lib/router.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { notify } from '../../parts/notices.tsx'
import { incidentTexts as texts } from './texts.ts'
import { loadOthers, mergeIncident, splitIncident, type Incident } from './requests.ts'

interface DialogProps {
  incident: Incident
  close: () => void
}

/** Chooses the alerts that become a new incident, and shows that one. */
export function SplitDialog({ incident: { id, alerts }, close }: DialogProps) {
  const specs = alerts.map((alert): FieldSpec => ({ name: alert.id, label: alert.title, kind: 'flag' }))
  const send = async (body: Record<string, unknown>) => {
    const chosen = alerts.flatMap(alert => (body[alert.id] === true ? [alert.id] : []))
    if (chosen.length === 0 || chosen.length === alerts.length) {
      notify(texts.splitNone, { isError: true })
      return
    }
    const newId = await splitIncident(id, chosen)
    notify(texts.isSplit)
    navigate(`/incidents/${newId}`)
  }
  return (
    <FormDialog
      title={texts.split}
      id={`split ${id}`}
      specs={specs}
      label={texts.split}
      send={send}
      close={close}
    >
      {texts.splitHint}
    </FormDialog>
  )
}

/** Chooses the incident that gets the alerts, and shows that one. */
export function MergeDialog({ incident: { id }, close }: DialogProps) {
  const others = useData(`incidents beside ${id}`, signal => loadOthers(id, signal))
  if (others.data === undefined) return null
  if (others.data.length === 0)
    return (
      <Dialog title={texts.merge} close={close}>
        <p>{texts.mergeNone}</p>
      </Dialog>
    )
  const specs: FieldSpec[] = [
    {
      ...{ name: 'into', label: texts.mergeInto, kind: 'choice', isRequired: true },
      choices: others.data.map(other => [other.id, other.title] as const),
    },
  ]
  const send = async ({ into }: Record<string, unknown>) => {
    await mergeIncident(id, into as string)
    navigate(`/incidents/${into as string}`)
  }
  return (
    <FormDialog
      title={texts.merge}
      id={`merge ${id}`}
      specs={specs}
      label={texts.merge}
      send={send}
      close={close}
    >
      {texts.mergeHint}
    </FormDialog>
  )
}
