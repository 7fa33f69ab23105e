import { useMemo } from 'preact/hooks'
import { countOf } from '../../lib/format.ts'
import { html } from '../../lib/html.ts'
import { changeQuery, tableAddress, useQuery } from '../../lib/router.ts'
import { Help } from '../../parts/help.ts'
import { Empty, Loaded } from '../../parts/states.ts'
import { Shape } from '../../parts/status.ts'
import { lineageTexts } from './texts.ts'
import { texts } from '../../texts.ts'
import type { TabProps } from '../props.ts'
import { measureSteps, traceColumn, type Graph, type LineageReply } from './graph.ts'
import { describeHealth, hasProblem } from './health.ts'
import { useLineage, type Lineage } from './loading.ts'
import { NodeFinder } from './node-finder.ts'
import { NodeList } from './node-list.ts'
import { NodePanel } from './node-panel.ts'
import { Picture } from './picture.ts'

const DEPTHS = [1, 2, 3, 5, 10]
const FIRST_DEPTH = 2
/** Problems that the first line names; the picture shows all. */
const MAX_PROBLEMS = 5

/** What a table is made from and what is made from it, as a picture or a list; what is looked at stands in the address. */
export function LineageTab({ table }: TabProps) {
  const [query] = useQuery()
  const depth = DEPTHS.find(known => known === Number(query.get('steps'))) ?? FIRST_DEPTH
  const withForeignKeys = query.get('keys') !== 'off'
  const lineage = useLineage(table.id, { depth, withForeignKeys })
  return html`<${Loaded} of=${lineage.reply} what=${texts.tabLineage.toLowerCase()} rows=${10}>
    ${({ nodes, is_complete: isComplete }: LineageReply) =>
      nodes.length <= 1 && withForeignKeys
        ? html`<${Empty} title="No lineage of this table is known">
            <p>
              Tidemark reads views and foreign keys at each discovery. dbt, OpenLineage and the API add what
              it cannot read.
            </p>
            <p><a class="button" href="/guide/lineage">How lineage is found</a></p>
          <//>`
        : lineage.graph &&
          html`<section class="lineage">
            <${Summary} name=${table.name} root=${table.id} graph=${lineage.graph} />
            <${Toolbar} depth=${depth} withForeignKeys=${withForeignKeys} lineage=${lineage} />
            ${
              lineage.shown.size < lineage.graph.nodes.size &&
              html`<p class="quiet">
                ${lineageTexts.shownOf(lineage.shown.size, lineage.graph.nodes.size)}${' '}
                <button class="link" onClick=${lineage.showAll}>${lineageTexts.showRest}</button>
              </p>`
            }
            ${!isComplete && html`<p class="quiet">There are more edges than are loaded. Take fewer steps, or look at a table further on.</p>`}
            <${Parts} table=${table} graph=${lineage.graph} lineage=${lineage} />
          </section>`}
  <//>`
}

/** How far the lineage reaches, and whether something is wrong with what the table is made from. */
function Summary({ name, root, graph }: { name: string; root: string; graph: Graph }) {
  const up = measureSteps(graph, root, 'upstream', { isFlowOnly: true })
  const down = measureSteps(graph, root, 'downstream', { isFlowOnly: true })
  const problems = [...up.keys()].map(id => graph.nodes.get(id)!).filter(hasProblem)
  return html`<p>
    ${lineageTexts.title(name, up.size, down.size)}${' '}
    ${
      problems.length > 0
        ? html`${lineageTexts.withProblem(problems.length)}${' '}
          ${problems.slice(0, MAX_PROBLEMS).map(node => {
            const { tone, words } = describeHealth(node)
            return html`<span key=${node.id} class="problem">
              <${Shape} tone=${tone} />${' '}<a href=${tableAddress(node.qualified_name)}
                ><bdi>${node.name}</bdi></a
              >${` ${words.join(', ')} `}
            </span>`
          })}`
        : up.size > 0 && 'Nothing is known to be wrong with what it is made from.'
    }
    <${Help} page="lineage" about=${texts.tabLineage} />
  </p>`
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
  const isList = query.get('view') === 'list'
  return html`<div class="filters">
    <span class="choice" role="group" aria-label="View">
      <button class="small" aria-pressed=${!isList} onClick=${() => changeQuery({ view: null })}>
        Graph
      </button>
      <button class="small" aria-pressed=${isList} onClick=${() => changeQuery({ view: 'list' })}>
        ${lineageTexts.list}
      </button>
    </span>
    ${
      !isList &&
      html`<button
        class="small"
        aria-pressed=${query.get('panel') !== 'off'}
        onClick=${() => changeQuery({ panel: query.get('panel') === 'off' ? null : 'off' })}
      >
        ${lineageTexts.details}
      </button>`
    }
    <select
      aria-label="Steps"
      value=${depth}
      onChange=${(event: Event) => changeQuery({ steps: (event.target as HTMLSelectElement).value })}
    >
      ${DEPTHS.map(each => html`<option key=${each} value=${each}>${countOf(each, 'step')}</option>`)}
    </select>
    <label class="check">
      <input
        type="checkbox"
        checked=${withForeignKeys}
        onChange=${() => changeQuery({ keys: withForeignKeys ? 'off' : null })}
      />${' '}${lineageTexts.foreignKeys}
    </label>
    <${NodeFinder}
      graph=${lineage.graph}
      choose=${(id: string) => {
        lineage.show(id)
        changeQuery({ node: id })
      }}
    />
  </div>`
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
  return html`${
    followed &&
    html`<p role="status">
      ${lineageTexts.following(`${graph.nodes.get(followed.id)!.name}.${followed.column}`)}:${' '}
      ${lineageTexts.reached(trace!.columns.size - 1)}${' '}
      <button class="link" onClick=${() => changeQuery({ follow: null })}>Stop following</button>
    </p>`
  }
  ${
    query.get('view') === 'list'
      ? html`<${NodeList} ...${parts} />`
      : html`<div class=${query.get('panel') === 'off' ? 'lineage-parts alone' : 'lineage-parts'}>
          <${Picture}
            ...${parts}
            key=${table.id}
            name=${table.name}
            selected=${selected?.id ?? table.id}
            opened=${[table.id, ...(followed ? [followed.id] : [])]}
          />
          ${selected && query.get('panel') !== 'off' && html`<${NodePanel} ...${parts} node=${selected} />`}
        </div>`
  }`
}

/** The column that the address follows, as the id of a node, a dot and a name. */
function readFollowed(text: string | null, { nodes }: Graph): { id: string; column: string } | undefined {
  const place = text?.indexOf('.') ?? -1
  if (text === null || place < 0) return undefined
  const id = text.slice(0, place)
  return nodes.has(id) ? { id, column: text.slice(place + 1) } : undefined
}
