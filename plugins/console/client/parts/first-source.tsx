import type { ComponentChildren } from 'preact'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { canWrite } from '../lib/session.ts'
import { texts } from '../texts.ts'
import { Empty, Loaded } from './states.tsx'

/** Leads a company without sources to its first one. @param props.isScreen whether nothing else is on the screen */
export function FirstSource({ text, isScreen = false }: { text: string; isScreen?: boolean }) {
  return (
    <Empty title={texts.noSources} isScreen={isScreen}>
      <p>{text}</p>
      <p>
        {canWrite() ? (
          <a class="button primary" href="/sources?add=">
            {texts.addASource}
          </a>
        ) : (
          <a class="button" href="/guide/getting-started#connect-your-own-database">
            How to add a source
          </a>
        )}
      </p>
    </Empty>
  )
}

/**
 * What stands in place of an empty list: the next step where no source is connected, else the children. It asks for
 * sources only now, as lists are seldom empty.
 * @param props.text what connecting a source brings to this list
 */
export function EmptyUnlessNew({ text, children }: { text: string; children: ComponentChildren }) {
  const sources = useData('any source', async signal => {
    const query = { asset_type: ['source' as const], limit: 1 }
    return (await api.get('/api/v1/assets', { query, signal })).pagination.total
  })
  return (
    <Loaded of={sources} what={texts.sources.toLowerCase()} rows={2}>
      {(total: number) => (total === 0 ? <FirstSource text={text} /> : children)}
    </Loaded>
  )
}
