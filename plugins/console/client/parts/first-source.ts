import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { html, type Children } from '../lib/html.ts'
import { canWrite } from '../lib/session.ts'
import { texts } from '../texts.ts'
import { Empty, Loaded } from './states.ts'

/** Leads a company without sources to its first one. @param props.isScreen whether nothing else is on the screen */
export function FirstSource({ text, isScreen = false }: { text: string; isScreen?: boolean }) {
  return html`<${Empty} title=${texts.noSources} isScreen=${isScreen}>
    <p>${text}</p>
    <p>
      ${
        canWrite()
          ? html`<a class="button primary" href="/sources?add=">${texts.addASource}</a>`
          : html`<a class="button" href="/guide/getting-started#connect-your-own-database"
              >How to add a source</a
            >`
      }
    </p>
  <//>`
}

/**
 * What stands in place of an empty list: the next step where no source is connected, else the children. It asks for
 * sources only now, as lists are seldom empty.
 * @param props.text what connecting a source brings to this list
 */
export function EmptyUnlessNew({ text, children }: { text: string; children: Children }) {
  const sources = useData('any source', async signal => {
    const query = { asset_type: ['source' as const], limit: 1 }
    return (await api.get('/api/v1/assets', { query, signal })).pagination.total
  })
  return html`<${Loaded} of=${sources} what=${texts.sources.toLowerCase()} rows=${2}>
    ${(total: number) => (total === 0 ? html`<${FirstSource} text=${text} />` : children)}
  <//>`
}
