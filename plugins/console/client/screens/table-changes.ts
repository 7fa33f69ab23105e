import { useState } from 'preact/hooks'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { html } from '../lib/html.ts'
import { canWrite } from '../lib/session.ts'
import { ChangeList, markAccepted, type SchemaChange } from '../parts/change-list.ts'
import { Help } from '../parts/help.ts'
import { notify } from '../parts/notices.ts'
import { describeError, Empty, Loaded } from '../parts/states.ts'
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
  const [isBusy, setBusy] = useState(false)
  const acceptAll = async () => {
    setBusy(true)
    try {
      await api.post('/api/v1/sdk/schema/{asset_id}/acknowledge', { path: { asset_id: table.id }, body: {} })
      list.reload()
      reload()
    } catch (error) {
      notify(`${texts.couldNot(texts.acceptAll.toLowerCase())} ${describeError(error)}`, { isError: true })
    }
    setBusy(false)
  }
  return html`<${Loaded} of=${list} what=${texts.changes.toLowerCase()} rows=${6}>
    ${({ changes }: Changes) =>
      changes.length === 0
        ? html`<${Empty} title=${texts.noChanges}><p>${texts.noChangesText}</p><//>`
        : html`<p class="actions above">
              ${
                canWrite() &&
                changes.some(({ acknowledged }) => !acknowledged) &&
                html`<button disabled=${isBusy} onClick=${acceptAll}>${texts.acceptAll}</button>`
              }
              <${Help} page="drift" about=${texts.changes} />
            </p>
            <${ChangeList}
              changes=${changes}
              accepted=${(id: string) => {
                markAccepted(list, id)
                reload()
              }}
            />`}
  <//>`
}
