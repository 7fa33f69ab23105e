import { FormDialog } from '../../forms/form-dialog.tsx'
import type { FieldSpec } from '../../forms/schema.ts'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { useSession } from '../../parts/frame.tsx'
import { incidentTexts as texts } from '../incidents/texts.ts'
import type { Assignee } from './assignee.ts'

/** Whom an alert or an incident can be given to. A user who may not list the users can still take it. */
export function AssignDialog({
  id,
  assignee,
  assign,
  close,
}: {
  id: string
  assignee: Assignee | null
  assign: (body: { assignee_id?: string | null }) => Promise<void>
  close: () => void
}) {
  const { user } = useSession()
  const users = useData('assignable users', async signal =>
    (await api.get('/api/v1/users', { query: { limit: 100 }, signal })).data.filter(each => each.is_active),
  )
  const known = [...(users.data ?? []), ...(assignee ? [assignee] : []), ...(user ? [user] : [])]
  const names = new Map(known.map(each => [each.id, each.full_name ?? each.email]))
  const specs: FieldSpec[] = [
    {
      ...{ name: 'assignee_id', label: texts.assignee, kind: 'choice' },
      choices: [...names].map(([value, name]) => [value, name] as const),
    },
  ]
  if (users.data === undefined && users.error === undefined) return null
  return (
    <FormDialog
      title={texts.assign}
      id={`assign ${id}`}
      specs={specs}
      record={{ assignee_id: assignee?.id ?? null }}
      label={texts.assign}
      send={assign}
      close={close}
    />
  )
}
