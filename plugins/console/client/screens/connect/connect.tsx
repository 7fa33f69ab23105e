import { useState } from 'preact/hooks'
import type { LineageFeed, NewApiKey, ReportedNamespace, Source } from 'tidemark/client'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { useQuery } from '../../lib/router.ts'
import { canAdminister } from '../../lib/session.ts'
import { useTitle } from '../../parts/frame.tsx'
import { Help } from '../../parts/help.tsx'
import { useSources } from '../../parts/source-table.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Ago } from '../../parts/time.tsx'
import { frameTexts } from '../../texts/frame.ts'
import { CodeBlock } from '../code/code-block.tsx'
import { NewKeyDialog } from '../settings/new-key.tsx'
import { peopleTexts } from '../settings/people-texts.ts'
import { ArrivedList, UnmappedList } from './arrived.tsx'
import { stepsOf, TOOL_NAMES, TOOLS, type Tool } from './snippets.ts'
import { connectTexts as texts } from './texts.ts'

/** A person sends a first event and waits for it to appear. */
const POLL_MS = 10_000

/** Whose snippets name a source. */
const WITH_SOURCE: readonly Tool[] = ['dbt', 'bi']

/** By tool, which feeds it makes. */
const FEEDS_OF: Record<Tool, readonly LineageFeed['tool'][]> = {
  ...{ dbt: ['dbt'], airflow: ['airflow'], spark: ['spark'], dagster: ['dagster'] },
  ...{ openlineage: ['flink', 'other'], bi: ['manual'] },
}

const load = async (signal: AbortSignal) => {
  const [feeds, namespaces] = await Promise.all([
    api.get('/api/v1/sdk/lineage/feeds', { signal }),
    api.get('/api/v1/sdk/lineage/namespaces', { signal }),
  ])
  return { feeds: feeds.data.feeds, namespaces: namespaces.data.reported }
}

interface Arrived {
  feeds: readonly LineageFeed[]
  namespaces: readonly ReportedNamespace[]
}

/** How pipelines and BI tools send lineage and runs, and what has arrived. */
export function Connect() {
  const [query] = useQuery()
  const arrived = useData<Arrived>('lineage feeds', load, { pollMs: POLL_MS })
  const sources = useSources()
  const [key, setKey] = useState<NewApiKey>()
  useTitle(frameTexts.connect)
  const asked = query.get('tab') as Tool | null
  const tool = asked && TOOLS.includes(asked) ? asked : TOOLS[0]
  const feeds = arrived.data?.feeds
  return (
    <div class="page">
      <h1>
        {feeds
          ? texts.headline(
              countTools(feeds),
              feeds.reduce((sum, { edges }) => sum + edges, 0),
            )
          : frameTexts.connect}
        <Help page="lineage#openlineage" about={frameTexts.connect} />
      </h1>
      <p class="quiet">{texts.about}</p>
      <div class="with-side connect">
        <section aria-label={TOOL_NAMES[tool]}>
          <Tabs label={texts.tools} current={tool} tabs={TOOLS.map(id => ({ id, name: TOOL_NAMES[id] }))} />
          <LastEvent tool={tool} feeds={feeds} />
          <KeyNote tool={tool} made={key} setMade={setKey} />
          <Steps tool={tool} apiKey={key?.key} sources={sources.data ?? []} />
        </section>
        <section class="side" aria-label={texts.arrived}>
          <h2>{texts.arrived}</h2>
          <Loaded of={arrived} what={texts.arrived.toLowerCase()} rows={6}>
            {(found: Arrived) => (
              <>
                <ArrivedList feeds={found.feeds} />
                <UnmappedList
                  namespaces={found.namespaces}
                  sources={sources.data ?? []}
                  reload={arrived.reload}
                />
              </>
            )}
          </Loaded>
        </section>
      </div>
    </div>
  )
}

/** A person who draws edges is no tool. */
const countTools = (feeds: readonly LineageFeed[]) =>
  new Set(feeds.map(({ tool }) => tool).filter(tool => tool !== 'manual')).size

function LastEvent({ tool, feeds }: { tool: Tool; feeds: readonly LineageFeed[] | undefined }) {
  // The line keeps its height while it is not known.
  if (!feeds) return <p>{'\u00a0'}</p>
  const own = feeds.filter(feed => FEEDS_OF[tool].includes(feed.tool))
  const [last] = own
  if (!last) return <p>{texts.nothingFrom(TOOL_NAMES[tool])}</p>
  const sum = (name: 'runs' | 'jobs' | 'edges') => own.reduce((total, feed) => total + feed[name], 0)
  return (
    <p>
      <strong>{TOOL_NAMES[tool]}</strong>: last event <Ago at={last.last_event_at} />
      {sum('runs') > 0 && `, ${texts.runs(sum('runs'), sum('jobs'))}`}, {texts.edges(sum('edges'))}
    </p>
  )
}

function KeyNote({
  tool,
  made,
  setMade,
}: {
  tool: Tool
  made: NewApiKey | undefined
  setMade: (key: NewApiKey) => void
}) {
  const [isOpen, setOpen] = useState(false)
  if (made)
    return (
      <p role="status" class="start">
        {texts.keyMade(made.name)}
      </p>
    )
  if (!canAdminister()) return <p class="quiet">{texts.askAdmin}</p>
  return (
    <>
      <p>
        {texts.keyText}{' '}
        <button class="small" onClick={() => setOpen(true)}>
          {peopleTexts.createKey}
        </button>
      </p>
      {isOpen && (
        <NewKeyDialog
          purpose={{ name: TOOL_NAMES[tool], scope: 'read-write' }}
          made={setMade}
          close={() => setOpen(false)}
        />
      )}
    </>
  )
}

function Steps({
  tool,
  apiKey = 'YOUR_KEY',
  sources,
}: {
  tool: Tool
  apiKey?: string
  sources: readonly Source[]
}) {
  const [chosen, choose] = useState<string>()
  const source = chosen ?? sources[0]?.name ?? 'SOURCE'
  const names = sources.length > 0 ? sources.map(({ name }) => name) : [source]
  const place = { base: location.origin, key: apiKey, source }
  return (
    <>
      {WITH_SOURCE.includes(tool) && (
        <p>
          <label>
            {texts.source}{' '}
            <select onChange={(event: Event) => choose((event.target as HTMLSelectElement).value)}>
              {names.map(name => (
                <option key={name} selected={name === source}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        </p>
      )}
      <ol class="steps">
        {stepsOf(tool, place).map(({ title, code }) => (
          <li key={title}>
            <h2>{title}</h2>
            <CodeBlock label={title} text={code} />
          </li>
        ))}
      </ol>
    </>
  )
}
