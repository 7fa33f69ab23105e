import { useAction } from '../lib/action.ts'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { canWrite } from '../lib/session.ts'
import { ChangeList, markAccepted, type SchemaChange } from '../parts/change-list.tsx'
import { Help } from '../parts/help.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { texts } from '../texts.ts'
import type { TabProps } from './props.ts'

interface Changes {
  changes: SchemaChange[]
}

export function ChangesTab({ table, reload }: TabProps) {
  const list = useData<Changes>(`changes ${table.id}`, async signal => {
    const query = { asset_id: table.id, limit: 100 }
    return { changes: (await api.get('/api/v1/sdk/schema/changes', { query, signal })).data.data }
  })
  const [isBusy, acceptAll] = useAction(texts.acceptAll, async () => {
    await api.post('/api/v1/sdk/schema/{asset_id}/acknowledge', { path: { asset_id: table.id }, body: {} })
    list.reload()
    reload()
  })
  return (
    <Loaded of={list} what={texts.changes.toLowerCase()} rows={6}>
      {({ changes }: Changes) =>
        changes.length === 0 ? (
          <Empty title={texts.noChanges}>
            <p>{texts.noChangesText}</p>
          </Empty>
        ) : (
          <>
            <p class="actions above">
              {canWrite() && changes.some(({ acknowledged }) => !acknowledged) && (
                <button disabled={isBusy} onClick={acceptAll}>
                  {texts.acceptAll}
                </button>
              )}
              <Help page="drift#read-the-changes" about={texts.changes} />
            </p>
            <ChangeList
              changes={changes}
              accepted={(id: string) => {
                markAccepted(list, id)
                reload()
              }}
            />
          </>
        )
      }
    </Loaded>
  )
}
