import { useMemo } from 'preact/hooks'
import { countOf } from '../../lib/format.ts'
import { changeQuery, tableAddress, useQuery } from '../../lib/router.ts'
import { Help } from '../../parts/help.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Shape } from '../../parts/status.tsx'
import { lineageTexts } from './texts.ts'
import { texts } from '../../texts.ts'
import type { TabProps } from '../props.ts'
import { measureSteps, traceColumn, type Graph, type LineageReply } from './graph.ts'
import { describeHealth, hasProblem } from './health.tsx'
import { useLineage, type Lineage } from './loading.ts'
import { NodeFinder } from './node-finder.tsx'
import { NodeList } from './node-list.tsx'
import { NodePanel } from './node-panel.tsx'
import { Picture } from './picture.tsx'

const DEPTHS = [1, 2, 3, 5, 10]
const FIRST_DEPTH = 2
/** Problems that the first line names; the picture shows all. */
const MAX_PROBLEMS = 5

/** A small window shows the list where the address says nothing: a graph is too wide for it. */
const showsList = (query: URLSearchParams) =>
  (query.get('view') ?? (matchMedia('(width < 860px)').matches ? 'list' : 'graph')) === 'list'

/** What a table is made from and what is made from it, as a picture or a list; what is looked at stands in the address. */
export function LineageTab({ table }: TabProps) {
  const [query] = useQuery()
  const depth = DEPTHS.find(known => known === Number(query.get('steps'))) ?? FIRST_DEPTH
  const withForeignKeys = query.get('keys') !== 'off'
  const lineage = useLineage(table.id, { depth, withForeignKeys })
  return (
    <Loaded of={lineage.reply} what={texts.tabLineage.toLowerCase()} rows={10}>
      {({ nodes, is_complete: isComplete }: LineageReply) =>
        nodes.length <= 1 && withForeignKeys ? (
          <Empty title="No lineage of this table is known">
            <p>
              Tidemark reads views and foreign keys at each discovery. dbt, OpenLineage and the API add what
              it cannot read.
            </p>
            <p>
              <a class="button" href="/guide/lineage">
                How lineage is found
              </a>
            </p>
          </Empty>
        ) : (
          lineage.graph && (
            <section class="lineage">
              <Summary name={table.name} root={table.id} graph={lineage.graph} />
              <Toolbar depth={depth} withForeignKeys={withForeignKeys} lineage={lineage} />
              {lineage.shown.size < lineage.graph.nodes.size && (
                <p class="quiet">
                  {lineageTexts.shownOf(lineage.shown.size, lineage.graph.nodes.size)}{' '}
                  <button class="link" onClick={lineage.showAll}>
                    {lineageTexts.showRest}
                  </button>
                </p>
              )}
              {!isComplete && (
                <p class="quiet">
                  There are more edges than are loaded. Take fewer steps, or look at a table further on.
                </p>
              )}
              <Parts table={table} graph={lineage.graph} lineage={lineage} />
            </section>
          )
        )
      }
    </Loaded>
  )
}

/** How far the lineage reaches, and whether something is wrong with what the table is made from. */
function Summary({ name, root, graph }: { name: string; root: string; graph: Graph }) {
  const up = measureSteps(graph, root, 'upstream', { isFlowOnly: true })
  const down = measureSteps(graph, root, 'downstream', { isFlowOnly: true })
  const problems = [...up.keys()].map(id => graph.nodes.get(id)!).filter(hasProblem)
  return (
    <p>
      {lineageTexts.title(name, up.size, down.size)}{' '}
      {problems.length > 0 ? (
        <>
          {lineageTexts.withProblem(problems.length)}{' '}
          {problems.slice(0, MAX_PROBLEMS).map(node => {
            const { tone, words } = describeHealth(node)
            return (
              <span key={node.id} class="problem">
                <Shape tone={tone} />{' '}
                <a href={tableAddress(node.qualified_name)}>
                  <bdi>{node.name}</bdi>
                </a>
                {` ${words.join(', ')} `}
              </span>
            )
          })}
        </>
      ) : (
        up.size > 0 && 'Nothing is known to be wrong with what it is made from.'
      )}
      <Help page="lineage" about={texts.tabLineage} />
    </p>
  )
}

function Toolbar({
  depth,
  withForeignKeys,
  lineage,
}: {
  depth: number
  withForeignKeys: boolean
  lineage: Lineage
}) {
  const [query] = useQuery()
  const isList = showsList(query)
  return (
    <div class="filters">
      <span class="choice" role="group" aria-label="View">
        <button class="small" aria-pressed={!isList} onClick={() => changeQuery({ view: 'graph' })}>
          Graph
        </button>
        <button class="small" aria-pressed={isList} onClick={() => changeQuery({ view: 'list' })}>
          {lineageTexts.list}
        </button>
      </span>
      {!isList && (
        <button
          class="small"
          aria-pressed={query.get('panel') !== 'off'}
          onClick={() => changeQuery({ panel: query.get('panel') === 'off' ? null : 'off' })}
        >
          {lineageTexts.details}
        </button>
      )}
      <select
        aria-label="Steps"
        value={depth}
        onChange={(event: Event) => changeQuery({ steps: (event.target as HTMLSelectElement).value })}
      >
        {DEPTHS.map(each => (
          <option key={each} value={each}>
            {countOf(each, 'step')}
          </option>
        ))}
      </select>
      <label class="check">
        <input
          type="checkbox"
          checked={withForeignKeys}
          onChange={() => changeQuery({ keys: withForeignKeys ? 'off' : null })}
        />{' '}
        {lineageTexts.foreignKeys}
      </label>
      <NodeFinder
        graph={lineage.graph}
        choose={(id: string) => {
          lineage.show(id)
          changeQuery({ node: id })
        }}
      />
    </div>
  )
}

function Parts({ table, graph, lineage }: { table: TabProps['table']; graph: Graph; lineage: Lineage }) {
  const [query] = useQuery()
  const wanted = query.get('node') ?? ''
  const selected = graph.nodes.get(wanted) ?? graph.nodes.get(table.id)
  const followed = readFollowed(query.get('follow'), graph)
  const trace = useMemo(
    () => followed && traceColumn(graph, followed),
    [graph, followed?.id, followed?.column],
  )
  const parts = {
    root: table.id,
    graph,
    shown: lineage.shown,
    trace,
    followed,
    select: (id: string) => changeQuery({ node: id === table.id ? null : id, panel: null }),
    follow: (id: string, column: string) => {
      const isSame = followed?.id === id && followed.column === column
      changeQuery({ follow: isSame ? null : `${id}.${column}` })
    },
    expand: lineage.expand,
  }
  return (
    <>
      {followed && (
        <p role="status">
          {lineageTexts.following(`${graph.nodes.get(followed.id)!.name}.${followed.column}`)}:{' '}
          {lineageTexts.reached(trace!.columns.size - 1)}{' '}
          <button class="link" onClick={() => changeQuery({ follow: null })}>
            Stop following
          </button>
        </p>
      )}
      {showsList(query) ? (
        <NodeList {...parts} />
      ) : (
        <div class={query.get('panel') === 'off' ? 'lineage-parts alone' : 'lineage-parts'}>
          <Picture
            {...parts}
            key={table.id}
            name={table.name}
            selected={selected?.id ?? table.id}
            opened={[table.id, ...(followed ? [followed.id] : [])]}
          />
          {selected && query.get('panel') !== 'off' && <NodePanel {...parts} node={selected} />}
        </div>
      )}
    </>
  )
}

/** The column that the address follows, as the id of a node, a dot and a name. */
function readFollowed(text: string | null, { nodes }: Graph): { id: string; column: string } | undefined {
  const place = text?.indexOf('.') ?? -1
  if (text === null || place < 0) return undefined
  const id = text.slice(0, place)
  return nodes.has(id) ? { id, column: text.slice(place + 1) } : undefined
}
