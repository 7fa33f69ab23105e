import type { CreateApiKeyRequest, NewApiKey } from 'tidemark/client'
import { FormDialog } from '../../forms/form-dialog.tsx'
import type { FieldSpec } from '../../forms/schema.ts'
import { api, bodyOf } from '../../lib/api.ts'
import { peopleTexts } from './people-texts.ts'

const DAY_MS = 86_400_000

const nameField = (name?: string): FieldSpec => ({
  ...{ name: 'name', label: peopleTexts.name, kind: 'text', isRequired: true, initial: name },
  ...{ maxLength: 200, hint: 'What uses it, such as Airflow.' },
})
const SCOPE_FIELD: FieldSpec = {
  ...{ name: 'scope', label: peopleTexts.scope, kind: 'choice', isRequired: true, initial: 'read-only' },
  ...{ hint: 'The smallest one that suffices is the safest.', choices: Object.entries(peopleTexts.scopes) },
}
const LIFETIME_FIELD: FieldSpec = {
  ...{ name: 'expires_at', label: 'Expires', kind: 'choice', isRequired: true, initial: '90' },
  choices: Object.entries(peopleTexts.lifetimes),
}

/**
 * Asks for what a new API key needs, and creates it.
 * @param props.purpose what uses the key and the scope that it needs, where that is known
 */
export function NewKeyDialog({
  purpose,
  made,
  close,
}: {
  purpose?: { name: string; scope: 'read-only' | 'read-write' }
  made: (key: NewApiKey) => void
  close: () => void
}) {
  const create = async ({ expires_at: days, ...body }: Record<string, unknown>) => {
    const expiresAt = days === 'never' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
    const { data } = await api.post('/api/v1/api-keys', {
      body: bodyOf<CreateApiKeyRequest>({ scope: purpose?.scope, ...body, expires_at: expiresAt }),
    })
    made(data)
  }
  const specs = [nameField(purpose?.name), ...(purpose ? [] : [SCOPE_FIELD]), LIFETIME_FIELD]
  return (
    <FormDialog
      title={peopleTexts.createKey}
      id={`new key ${purpose?.name ?? ''}`}
      specs={specs}
      label="Create"
      send={create}
      close={close}
    >
      {purpose && `Its scope is ${purpose.scope}, the smallest one that suffices.`}
    </FormDialog>
  )
}
