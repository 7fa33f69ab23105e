import type { Source } from 'tidemark/client'
import { html } from '../lib/html.ts'
import { useQuery } from '../lib/router.ts'
import { canWrite } from '../lib/session.ts'
import { useTitle } from '../parts/frame.ts'
import { Help } from '../parts/help.ts'
import { lazy } from '../parts/lazy.ts'
import { readSort } from '../parts/table/table-head.ts'
import { SourceTable, useSources } from '../parts/source-table.ts'
import { Empty, Loaded } from '../parts/states.ts'
import { texts } from '../texts.ts'
import type { ScreenProps } from './props.ts'
import { SourcePage } from './source/source-page.ts'

const NewSource = lazy(async () => (await import('./source/new-source.ts')).NewSource)

/** The sources, or one of them, or the form that adds one. */
export function Sources({ name }: ScreenProps) {
  const [query] = useQuery()
  const added = query.get('add')
  if (name) return html`<${SourcePage} key=${name} name=${name} />`
  return added === null ? html`<${SourceList} />` : html`<${NewSource} type=${added} />`
}

function SourceList() {
  const [query] = useQuery()
  const sources = useSources(readSort(query, ['name']))
  useTitle(texts.sources)
  return html`<div class="page">
    <div class="headline">
      <h1>${texts.sources}<${Help} page="engines" about=${texts.sources} /></h1>
      ${canWrite() && html`<a class="button primary" href="/sources?add=">${texts.addASource}</a>`}
    </div>
    <${Loaded} of=${sources} what=${texts.sources.toLowerCase()} rows=${4}>
      ${(found: readonly Source[]) =>
        found.length === 0
          ? html`<${Empty} title=${texts.noSources}><p>${texts.addSource}</p><//>`
          : html`<${SourceTable} sources=${found} isSortable=${true} />`}
    <//>
  </div>`
}
