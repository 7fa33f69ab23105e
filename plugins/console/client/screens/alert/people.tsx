import { useState } from 'preact/hooks'
import type { Alert, AlertInContext } from 'tidemark/client'
import { api } from '../../lib/api.ts'
import { canWrite } from '../../lib/session.ts'
import { lazy } from '../../parts/lazy.tsx'
import { incidentTexts } from '../incidents/texts.ts'
import { nameOfAssignee } from '../timeline/assignee.ts'
import { alertTexts as texts } from './texts.ts'

// They bring the forms with them, which a first look does not need.
const Timeline = lazy(async () => (await import('../timeline/timeline.tsx')).Timeline)
const AssignDialog = lazy(async () => (await import('../timeline/assign-dialog.tsx')).AssignDialog)

/** Who owns the table, who takes care of the alert, what happened to it and what people wrote. */
export function People({ alert, reload }: { alert: AlertInContext; reload: () => void }) {
  const { id, owners, assignee, activities } = alert
  return (
    <section>
      <h3>{texts.people}</h3>
      <dl class="facts">
        <div>
          <dt>{texts.owner}</dt>
          <dd>
            {owners.length > 0 ? (
              <bdi>{owners.map(({ name }) => name).join(', ')}</bdi>
            ) : (
              <span class="quiet">{texts.noOwner}</span>
            )}
          </dd>
        </div>
        <div>
          <dt>{incidentTexts.assignee}</dt>
          <dd>
            <bdi>{nameOfAssignee(assignee)}</bdi>
          </dd>
        </div>
      </dl>
      <Timeline
        id={`alert comment ${id}`}
        activities={activities}
        comment={async (comment: string) => {
          await api.post('/api/v1/sdk/alerts/{id}/comment', { path: { id }, body: { comment } })
          reload()
        }}
      />
    </section>
  )
}

/** A button that gives an alert to a person. */
export function AssignButton({ alert, changed }: { alert: Alert; changed: (alert: Alert) => void }) {
  const [isOpen, setOpen] = useState(false)
  if (!canWrite()) return null
  return (
    <>
      <button onClick={() => setOpen(true)}>{incidentTexts.assign}</button>{' '}
      {isOpen && (
        <AssignDialog
          id={alert.id}
          assignee={alert.assignee}
          assign={async ({ assignee_id = null }: { assignee_id?: string | null }) => {
            const body = { assignee_id }
            changed((await api.patch('/api/v1/sdk/alerts/{id}', { path: { id: alert.id }, body })).data)
          }}
          close={() => setOpen(false)}
        />
      )}
    </>
  )
}
