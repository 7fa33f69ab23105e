import { useState } from 'preact/hooks'
import { FormDialog } from '../../forms/form-dialog.ts'
import type { FieldSpec } from '../../forms/schema.ts'
import { useAction } from '../../lib/action.ts'
import { html } from '../../lib/html.ts'
import { canWrite } from '../../lib/session.ts'
import { notify } from '../../parts/notices.ts'
import { AssignDialog } from '../timeline/assign-dialog.ts'
import { incidentTexts as texts } from './texts.ts'
import { MergeDialog, SplitDialog } from './arrange-dialogs.ts'
import { texts as common } from '../../texts.ts'
import { changeIncident, moveIncident, type Incident, type IncidentMove } from './requests.ts'

const NOTES: FieldSpec = { ...{ name: 'notes', label: texts.notes, kind: 'long' }, maxLength: 2_000 }
const text = (name: string, label: string, maxLength: number, hint?: string): FieldSpec => ({
  ...{ name, label, kind: 'text', maxLength },
  ...(hint && { hint }),
})

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
    text('root_cause_category', 'What it came from', 100, 'Such as pipeline_failure or schema_change.'),
    text('action_detail', 'What was done', 2_000),
    text('pr_url', 'Pull request', 2_000),
    text('external_link', 'Ticket', 2_000),
  ],
  dismiss: [NOTES],
}

/** What can be done with an incident that is not over; none of it for a viewer. */
export function IncidentActions({ incident, reload }: { incident: Incident; reload: () => void }) {
  const [open, setOpen] = useState<Exclude<IncidentMove, 'acknowledge'> | 'assign' | 'split' | 'merge'>()
  const { id, status } = incident
  const move = async (name: IncidentMove, body: object) => {
    await moveIncident(id, name, body)
    notify(`The incident and its open alerts are ${texts.done[name]}.`)
    reload()
  }
  const [isBusy, acknowledge] = useAction(texts.acknowledge, () => move('acknowledge', {}))
  if (!canWrite()) return null
  const isActive = ['open', 'acknowledged', 'snoozed'].includes(status)
  const close = () => setOpen(undefined)
  return html`<p class="actions above">
      ${
        status === 'open' &&
        html`<button class="primary" disabled=${isBusy} onClick=${acknowledge}>${texts.acknowledge}</button>`
      }
      ${
        isActive &&
        (['resolve', 'snooze', 'dismiss'] as const).map(
          name => html`<button key=${name} onClick=${() => setOpen(name)}>${texts[name]}</button>`,
        )
      }
      <button onClick=${() => setOpen('assign')}>${texts.assign}</button>
      ${
        isActive &&
        incident.alerts.length > 1 &&
        html`<button onClick=${() => setOpen('split')}>${texts.split}</button>`
      }
      ${isActive && html`<button onClick=${() => setOpen('merge')}>${texts.merge}</button>`}
    </p>
    ${open === 'split' && html`<${SplitDialog} incident=${incident} close=${close} />`}
    ${open === 'merge' && html`<${MergeDialog} incident=${incident} close=${close} />`}
    ${
      open === 'assign' &&
      html`<${AssignDialog}
        id=${id}
        assignee=${incident.assignee}
        assign=${async (body: object) => {
          await changeIncident(id, body)
          reload()
        }}
        close=${close}
      />`
    }
    ${
      (open === 'resolve' || open === 'snooze' || open === 'dismiss') &&
      html`<${FormDialog}
        key=${open}
        title=${texts[open]}
        id=${`incident ${open} ${id}`}
        specs=${SPECS[open]}
        label=${texts[open]}
        send=${(body: object) => move(open, body)}
        close=${close}
      />`
    }`
}
