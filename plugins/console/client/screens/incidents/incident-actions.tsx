import { useState } from 'preact/hooks'
import { FormDialog } from '../../forms/form-dialog.tsx'
import type { FieldSpec } from '../../forms/schema.ts'
import { useAction } from '../../lib/action.ts'
import { CopyButton } from '../../forms/secret.tsx'
import { closeOnChoice, useMenu } from '../../lib/menu.ts'
import { canWrite } from '../../lib/session.ts'
import { notify } from '../../parts/notices.tsx'
import { AssignDialog } from '../timeline/assign-dialog.tsx'
import { incidentTexts as texts } from './texts.ts'
import { MergeDialog, SplitDialog } from './arrange-dialogs.tsx'
import { SendDialog } from './send-dialog.tsx'
import { texts as common } from '../../texts.ts'
import { changeIncident, moveIncident, type Incident, type IncidentMove } from './requests.ts'

const NOTES: FieldSpec = { ...{ name: 'notes', label: texts.notes, kind: 'long' }, maxLength: 2_000 }
/** What each action asks for. */
const SPECS: Record<Exclude<IncidentMove, 'acknowledge'>, FieldSpec[]> = {
  snooze: [
    {
      ...{ name: 'duration_hours', label: 'Snooze for', kind: 'choice', isRequired: true, isNumeric: true },
      ...{
        initial: '24',
        choices: [
          ['1', common.hour],
          ['4', common.fourHours],
          ['24', common.day],
          ['168', common.week],
        ],
      },
    },
    NOTES,
  ],
  resolve: [
    NOTES,
    {
      ...{ name: 'root_cause_category', label: texts.cameFrom, kind: 'choice' },
      choices: texts.categories,
    },
    { ...{ name: 'external_link', label: texts.link, kind: 'text', maxLength: 2_000 } },
  ],
  dismiss: [NOTES],
}

type Opened = Exclude<IncidentMove, 'acknowledge'> | 'assign' | 'split' | 'merge' | 'send'

/** What can be done with an incident; a viewer can only copy its link. */
export function IncidentActions({ incident, reload }: { incident: Incident; reload: () => void }) {
  const [open, setOpen] = useState<Opened>()
  const menu = useMenu()
  const { id, status } = incident
  const move = async (name: IncidentMove, body: object) => {
    await moveIncident(id, name, body)
    notify(`The incident and its open alerts are ${texts.done[name]}.`)
    reload()
  }
  const [isBusy, acknowledge] = useAction(texts.acknowledge, () => move('acknowledge', {}))
  const isActive = canWrite() && ['open', 'acknowledged', 'snoozed'].includes(status)
  const close = () => setOpen(undefined)
  const button = (name: Opened, className = '') => (
    <button class={className} onClick={() => setOpen(name)}>
      {texts[name]}
    </button>
  )
  return (
    <>
      <p class="actions above">
        {isActive && status === 'open' && (
          <button class="primary" disabled={isBusy} onClick={acknowledge}>
            {texts.acknowledge}
          </button>
        )}
        {isActive && button('resolve')} {canWrite() && button('assign')} {isActive && button('send')}
        {isActive && (
          <details ref={menu} class="menu" onClick={closeOnChoice}>
            <summary class="button">{texts.more}</summary>
            <div>
              {button('snooze', 'plain')} {button('dismiss', 'plain')}
              {incident.alerts.length > 1 && button('split', 'plain')} {button('merge', 'plain')}
            </div>
          </details>
        )}
        <CopyButton text={`${location.origin}/incidents/${id}`} label={texts.copyLink} isSmall={false} />
      </p>
      {open === 'split' && <SplitDialog incident={incident} close={close} />}
      {open === 'merge' && <MergeDialog incident={incident} close={close} />}
      {open === 'send' && <SendDialog id={id} reload={reload} close={close} />}
      {open === 'assign' && (
        <AssignDialog
          id={id}
          assignee={incident.assignee}
          assign={async (body: object) => {
            await changeIncident(id, body)
            reload()
          }}
          close={close}
        />
      )}
      {(open === 'resolve' || open === 'snooze' || open === 'dismiss') && (
        <FormDialog
          key={open}
          title={texts[open]}
          id={`incident ${open} ${id}`}
          specs={SPECS[open]}
          label={texts[open]}
          send={(body: object) => move(open, body)}
          close={close}
        />
      )}
    </>
  )
}
