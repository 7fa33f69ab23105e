import { FormDialog } from '../../forms/form-dialog.tsx'
import type { FieldSpec } from '../../forms/schema.ts'
import { useData } from '../../lib/data.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { notify } from '../../parts/notices.tsx'
import { loadDestinations, sendIncident } from './requests.ts'
import { incidentTexts as texts } from './texts.ts'

/** Chooses the destination that gets an incident once, whatever rules say. */
export function SendDialog({ id, reload, close }: { id: string; reload: () => void; close: () => void }) {
  const destinations = useData('destinations for an incident', loadDestinations)
  if (destinations.data === undefined && destinations.error === undefined) return null
  const all = destinations.data ?? []
  if (all.length === 0)
    return (
      <Dialog title={texts.send} close={close}>
        <p>{texts.noDestination}</p>
        <p class="actions">
          <a class="button" href="/routing">
            {texts.addDestination}
          </a>
        </p>
      </Dialog>
    )
  const specs: FieldSpec[] = [
    {
      ...{ name: 'destination_id', label: texts.destination, kind: 'choice', isRequired: true },
      ...(all.length === 1 && { initial: all[0]!.id }),
      choices: all.map(destination => [destination.id, destination.name] as const),
    },
  ]
  return (
    <FormDialog
      title={texts.send}
      id={`send ${id}`}
      specs={specs}
      label={texts.sendNow}
      send={async ({ destination_id: destination }: Record<string, unknown>) => {
        await sendIncident(id, destination as string)
        notify(texts.isSent)
        reload()
      }}
      close={close}
    >
      {texts.sendHint}
    </FormDialog>
  )
}
