import { useState } from 'preact/hooks'
import type { ApiKey, ApiKeyUsage, NewApiKey } from 'tidemark/client'
import { CopyButton, SecretDialog } from '../../forms/secret.tsx'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { changeQuery, useQuery } from '../../lib/router.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { useSession } from '../../parts/frame.tsx'
import { notify } from '../../parts/notices.tsx'
import { pageSizeOf, Paging, readOffset, type PageOfList } from '../../parts/paging.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { NewKeyDialog } from './new-key.tsx'
import { peopleTexts } from './people-texts.ts'
import { texts } from '../../texts.ts'

interface KeyPage {
  keys: ApiKey[]
  pagination: PageOfList
}

/** The API keys of the company, and how many more there may be. */
export function Keys() {
  const [query] = useQuery()
  const { preferences } = useSession()
  const isAll = query.get('tab') === 'all'
  const page = { limit: pageSizeOf(preferences), offset: readOffset(query), include_revoked: isAll }
  const list = useData<KeyPage>(
    `keys ${JSON.stringify(page)}`,
    async signal => (await api.get('/api/v1/api-keys', { query: page, signal })).data,
  )
  const usage = useData(
    'key usage',
    async signal => (await api.get('/api/v1/api-keys/usage', { signal })).data,
  )
  const reload = () => {
    list.reload()
    usage.reload()
  }
  return (
    <>
      <Loaded of={usage} what={texts.apiKeys.toLowerCase()} rows={1}>
        {(found: ApiKeyUsage) => (
          <>
            <div class="headline">
              <h2>{peopleTexts.keysUsed(found.current_count, found.max_keys)}</h2>
              {found.can_create ? (
                <CreateButton reload={reload} />
              ) : (
                <span class="quiet">Your plan allows no further key: revoke one first.</span>
              )}
            </div>
            <p class="quiet">{peopleTexts.keyLimits(found.rate_limit_per_min, found.burst_limit)}</p>
          </>
        )}
      </Loaded>
      <p>
        <label class="check">
          <input
            type="checkbox"
            checked={isAll}
            onChange={() => changeQuery({ tab: isAll ? null : 'all', offset: null })}
          />
          Show revoked keys
        </label>
      </p>
      <Loaded of={list} what={texts.apiKeys.toLowerCase()} rows={4}>
        {({ keys, pagination }: KeyPage) =>
          keys.length === 0 ? (
            <Empty title="There is no API key">
              <p>
                Programs use the API with a key, such as a pipeline that checks a table after it was loaded.
              </p>
            </Empty>
          ) : (
            <>
              <KeyTable keys={keys} reload={reload} />
              <Paging pagination={pagination} />
            </>
          )
        }
      </Loaded>
    </>
  )
}

const agoOrNever = (at: string | null) => (at === null ? <span class="quiet">never</span> : <Ago at={at} />)

function KeyTable({ keys, reload }: { keys: readonly ApiKey[]; reload: () => void }) {
  const columns: Column<ApiKey>[] = [
    { label: peopleTexts.name, isName: true, cell: key => <bdi>{key.name}</bdi> },
    { label: 'Key', cell: key => <code>{key.display_key}</code> },
    { label: peopleTexts.scope, cell: key => key.scope },
    { label: texts.status, cellClass: 'state', cell: key => <KeyStatus of={key} /> },
    { label: peopleTexts.lastUsed, cell: key => agoOrNever(key.last_used_at) },
    { label: peopleTexts.expires, cell: key => agoOrNever(key.expires_at) },
    { label: peopleTexts.created, cell: key => <Ago at={key.created_at} /> },
    {
      label: peopleTexts.actions,
      isLabelHidden: true,
      cell: key => key.revoked_at === null && <RevokeButton of={key} reload={reload} />,
    },
  ]
  return <DataTable className="stacked two-line" label={texts.apiKeys} columns={columns} rows={keys} />
}

function KeyStatus({ of: { revoked_at: revokedAt, is_active: isActive } }: { of: ApiKey }) {
  if (revokedAt !== null) return <Status status="unknown" word="revoked" />
  return isActive ? (
    <Status status="ok" word={peopleTexts.active} />
  ) : (
    <Status status="warning" word={peopleTexts.hasExpired} />
  )
}

function RevokeButton({ of: key, reload }: { of: ApiKey; reload: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const revoke = async () => {
    await api.delete('/api/v1/api-keys/{key_id}', { path: { key_id: key.id } })
    notify(`The key ${key.name} was revoked.`)
    reload()
  }
  return (
    <>
      <button class="small" aria-label={peopleTexts.revokeOf(key.name)} onClick={() => setOpen(true)}>
        {peopleTexts.revoke}
      </button>
      {isOpen && (
        <ConfirmDialog
          title={peopleTexts.revokeOf(key.name)}
          action={peopleTexts.revoke}
          work={revoke}
          close={() => setOpen(false)}
        >
          <p>Programs that use this key are refused from now on. This cannot be undone.</p>
        </ConfirmDialog>
      )}
    </>
  )
}

function CreateButton({ reload }: { reload: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const [made, setMade] = useState<NewApiKey>()
  const keep = () => {
    setMade(undefined)
    reload()
  }
  return (
    <>
      <button class="primary" onClick={() => setOpen(true)}>
        {peopleTexts.createKey}
      </button>{' '}
      {isOpen && <NewKeyDialog made={setMade} close={() => setOpen(false)} />}
      {made && <NewKey of={made} close={keep} />}
    </>
  )
}

function NewKey({ of: { name, key }, close }: { of: NewApiKey; close: () => void }) {
  const example = `curl -s '${location.origin}/api/v1/assets?limit=5' -H 'Authorization: Bearer ${key}'`
  return (
    <SecretDialog
      title={`The key of ${name}`}
      text="It is shown only now. Keep it where the program finds it, and nobody else."
      secret={key}
      close={close}
    >
      <p>Try it in a terminal:</p>
      <div class="secret-once">
        <code>{example}</code>
        <CopyButton text={example} label="Copy the example" />
      </div>
    </SecretDialog>
  )
}
