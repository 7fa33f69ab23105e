import { formatDay, inWords } from '../../lib/format.ts'
import { tableAddress } from '../../lib/router.ts'
import { lineageTexts } from './texts.ts'
import { columnsOf, isFlow, type Direction, type Edge, type Graph, type Node, type Trace } from './graph.ts'
import { NodeStatus } from './health.tsx'

/** By whom an edge is known, and since when it is not any more. */
export function describeOrigins(edge: Edge): string {
  const origins = edge.origins.map(
    ({ origin, detail }) =>
      `${lineageTexts.origins[origin] ?? inWords(origin)}${detail ? ` (${detail})` : ''}`,
  )
  return [
    `${lineageTexts.knownFrom} ${origins.join(' and ')}`,
    edge.confidence < 1 && lineageTexts.uncertain,
    edge.is_stale && lineageTexts.notSeen(formatDay(edge.last_seen_at)),
  ]
    .filter(Boolean)
    .join(', ')
}

export function NodeLink({ node }: { node: Node }) {
  if (!node.is_external)
    return (
      <a href={tableAddress(node.qualified_name)} title={node.qualified_name}>
        <bdi>{node.name}</bdi>
      </a>
    )
  return node.url ? (
    <a href={node.url} target="_blank" rel="noreferrer">
      <bdi>{node.name}</bdi>
    </a>
  ) : (
    <bdi>{node.name}</bdi>
  )
}

/** What is known of the selected node, with what it is linked to; all that the picture does by pointer has a button here. */
export function NodePanel({
  node,
  root,
  graph,
  shown,
  trace,
  followed,
  select,
  follow,
  expand,
}: {
  node: Node
  root: string
  graph: Graph
  shown: ReadonlySet<string>
  trace: Trace | undefined
  followed: { id: string; column: string } | undefined
  select: (id: string) => void
  follow: (id: string, column: string) => void
  expand: (id: string, direction: Direction) => void
}) {
  const kind = inWords(node.asset_type)
  const columns = columnsOf(graph, node.id)
  const owners = node.owners.map(({ name, email }) => name ?? email).filter(Boolean)
  return (
    <section class="lineage-panel" aria-label={node.name}>
      <h2>
        <bdi>{node.name}</bdi>
      </h2>
      <p class="facts">
        {!node.is_external && <NodeStatus node={node} />}
        <span class="quiet">
          {kind}
          {node.source_type && ` · ${node.source_type}`}
        </span>
      </p>
      {node.description && (
        <p>
          <bdi>{node.description}</bdi>
        </p>
      )}
      {node.namespace && (
        <p class="quiet">
          {lineageTexts.place}:{' '}
          <code>
            <bdi>{node.namespace}</bdi>
          </code>
        </p>
      )}
      {owners.length > 0 && (
        <p>
          {lineageTexts.owners}: <bdi>{owners.join(', ')}</bdi>
        </p>
      )}
      <p class="actions above">
        {!node.is_external && node.id !== root && (
          <>
            <a class="button small" href={tableAddress(node.qualified_name)}>
              Open table
            </a>
            <a class="button small" href={tableAddress(node.qualified_name, 'lineage')}>
              Its lineage
            </a>
          </>
        )}
        {node.url && (
          <a class="button small" href={node.url} target="_blank" rel="noreferrer">
            {lineageTexts.openOutside(kind)}
          </a>
        )}
      </p>
      {columns.length > 0 && (
        <>
          <h3>{lineageTexts.columns}</h3>
          <p class="quiet">Choose a column to see where it comes from and where it goes.</p>
          <p class="chips">
            {columns.map(column => (
              <button
                key={column}
                class="chip"
                aria-pressed={followed?.id === node.id && followed.column === column}
                onClick={() => follow(node.id, column)}
              >
                <bdi>{column}</bdi>
                {trace?.columns.get(node.id)?.has(column) && (
                  <>
                    {' '}
                    <span aria-hidden="true">●</span>
                  </>
                )}
              </button>
            ))}
          </p>
        </>
      )}
      {(['upstream', 'downstream'] as const).map(direction => (
        <Links
          key={direction}
          node={node}
          direction={direction}
          graph={graph}
          shown={shown}
          select={select}
          expand={expand}
        />
      ))}
    </section>
  )
}

function Links({
  node,
  direction,
  graph,
  shown,
  select,
  expand,
}: {
  node: Node
  direction: Direction
  graph: Graph
  shown: ReadonlySet<string>
  select: (id: string) => void
  expand: (id: string, direction: Direction) => void
}) {
  const isUp = direction === 'upstream'
  const edges = [...graph.edges.values()].filter(edge => {
    const other = isUp ? edge.upstream_id : edge.downstream_id
    return (isUp ? edge.downstream_id : edge.upstream_id) === node.id && shown.has(other)
  })
  const counted = (isUp ? node.upstream_count : node.downstream_count) ?? 0
  const hidden = counted - edges.length
  const groups = [
    [isUp ? lineageTexts.madeFrom : 'Used by', edges.filter(isFlow)],
    [isUp ? 'References' : 'Referenced by', edges.filter(edge => !isFlow(edge))],
  ] as const
  return (
    <>
      {groups.map(
        ([title, some]) =>
          some.length > 0 && (
            <>
              <h3 key={title}>{title}</h3>
              <ul class="links">
                {some.map(edge => {
                  const other = graph.nodes.get(isUp ? edge.upstream_id : edge.downstream_id)!
                  return (
                    <li key={other.id}>
                      <button class="link" onClick={() => select(other.id)}>
                        <bdi>{other.name}</bdi>
                      </button>{' '}
                      <span class="quiet">{describeOrigins(edge)}</span>
                    </li>
                  )
                })}
              </ul>
            </>
          ),
      )}
      {hidden > 0 && (
        <p>
          <button class="link" onClick={() => expand(node.id, direction)}>
            {lineageTexts[isUp ? 'moreUpstream' : 'moreDownstream'](hidden)}
          </button>
        </p>
      )}
    </>
  )
}
