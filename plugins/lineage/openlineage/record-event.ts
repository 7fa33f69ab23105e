import type { Transaction } from '../../../server/database/database.ts'
import { makePauses } from '../../../server/pauses.ts'
import type { OwnersApi } from '../../owners/api.ts'
import type { SeenColumn, SeenEdge } from '../api.ts'
import type { DatasetName } from '../datasets/namespaces.ts'
import { datasetKey, readColumnNames, spellPairs } from '../datasets/resolve-datasets.ts'
import { recordEdges } from '../graph/record.ts'
import type { EventDataset, LineageEvent } from './event.ts'
import { findEnds, mergeDatasets, type FoundEnd } from './event-ends.ts'
import { readRunEnds, storeRunEnds, storeRuns, type ReportedRun, type RunEnd } from './runs.ts'

/** What became of an event. */
interface EventOutcome {
  /** Datasets that are tables of a source. */
  tables: number
  /** Datasets that no source has. */
  outside: number
  edges: number
  /** Datasets that the event has too many of. */
  omittedDatasets: number
  /** Edges that the run has too many of. */
  omittedEdges: number
}

/** Pairs of an input and an output that one event stores. */
const MAX_EDGES = 20_000

/**
 * Stores what an event says of runs and edges; of one that says too much, the run and a part of the edges. The same event
 * again changes nothing.
 */
export async function recordEvent(
  owners: OwnersApi,
  trx: Transaction,
  event: LineageEvent,
): Promise<EventOutcome> {
  const datasets = mergeDatasets(event)
  const ends = await findEnds(owners, trx, [...datasets.values()])
  const endOf = (name: DatasetName) => ends.get(datasets.get(datasetKey(name))?.key ?? '')
  const pick = (given: readonly EventDataset[]) => given.flatMap(dataset => endOf(dataset) ?? [])
  let [inputs, outputs] = [pick(event.inputs), pick(event.outputs)]
  if (event.run && event.job) {
    const [runId = ''] = await storeRuns(trx, [reportRun(event, event.run, event.job)])
    const ofEvent = [...toRunEnds(runId, 'input', inputs), ...toRunEnds(runId, 'output', outputs)]
    await storeRunEnds(trx, ofEvent)
    if (ofEvent.length > 0) {
      // Some producers name the inputs when a run starts, and the outputs when it ends.
      const known = await readRunEnds(trx, runId)
      inputs = known.filter(({ direction }) => direction === 'input')
      outputs = known.filter(({ direction }) => direction === 'output')
    }
  }
  const { edges, omitted } = await listEdges(trx, event, { inputs, outputs, endOf })
  const recorded =
    edges.length > 0
      ? await recordEdges(trx, { origin: 'openlineage', sourceId: null, isComplete: false, edges })
      : { edges: 0 }
  for (const [tableId, reported] of readTableOwners(event, endOf))
    await owners.replaceFrom(trx, 'openlineage', tableId, [{ tableId, owners: reported }])
  const found = [...new Map([...ends.values()].map(each => [each.id, each])).values()]
  const tables = found.filter(({ end }) => 'tableId' in end).length
  return {
    tables,
    outside: found.length - tables,
    edges: Math.max(edges.length, recorded.edges),
    omittedDatasets: event.omittedDatasets,
    omittedEdges: omitted,
  }
}

function reportRun(
  { eventTime, producer }: LineageEvent,
  run: NonNullable<LineageEvent['run']>,
  job: NonNullable<LineageEvent['job']>,
): ReportedRun {
  const states = { COMPLETE: 'completed', FAIL: 'failed', ABORT: 'aborted' } as const
  return {
    jobNamespace: job.namespace,
    jobName: job.name,
    runId: run.runId,
    state: states[run.eventType as keyof typeof states] ?? 'running',
    at: eventTime,
    startedAt: run.eventType === 'START' ? eventTime : null,
    nominalStart: run.nominalStart,
    nominalEnd: run.nominalEnd,
    errorMessage: run.errorMessage,
    parent: run.parent,
    producer,
  }
}

function toRunEnds(
  lineageRunId: string,
  direction: RunEnd['direction'],
  found: readonly FoundEnd[],
): RunEnd[] {
  return found.map(({ id }) => ({ lineageRunId, direction, endId: id }))
}

interface EventEnds {
  inputs: readonly FoundEnd[]
  outputs: readonly FoundEnd[]
  endOf(name: DatasetName): FoundEnd | undefined
}

/** All inputs lead to all outputs, up to `MAX_EDGES`, and what the facets of an output name leads to it. */
async function listEdges(
  trx: Transaction,
  event: LineageEvent,
  { inputs, outputs, endOf }: EventEnds,
): Promise<{ edges: SeenEdge[]; omitted: number }> {
  const { job } = event
  const detail = job ? `${job.namespace}.${job.name}` : ''
  const pairs = new Map<string, { upstream: FoundEnd; downstream: FoundEnd; columns?: SeenColumn[] }>()
  const connect = (upstream: FoundEnd, downstream: FoundEnd, columns?: readonly SeenColumn[]) => {
    if (upstream.id === downstream.id) return
    const key = `${upstream.id} ${downstream.id}`
    const pair = pairs.get(key) ?? { upstream, downstream }
    pairs.set(key, pair)
    if (columns) pair.columns = pair.columns ? pair.columns.concat(columns) : [...columns]
  }
  const pause = makePauses()
  let left = MAX_EDGES
  for (const downstream of outputs) {
    const connected = inputs.slice(0, left)
    for (const upstream of connected) connect(upstream, downstream)
    left -= connected.length
    await pause()
  }
  for (const dataset of [...event.outputs, ...event.inputs]) {
    await pause()
    const downstream = endOf(dataset)
    if (!downstream) continue
    for (const input of dataset.inputs) {
      const upstream = endOf(input)
      if (upstream) connect(upstream, downstream)
    }
    for (const input of dataset.columns ?? []) {
      const upstream = endOf(input)
      if (upstream) connect(upstream, downstream, input.pairs)
    }
  }
  const withColumns = [...pairs.values()].filter(({ columns }) => columns)
  const names = await readColumnNames(
    trx,
    withColumns.flatMap(({ upstream, downstream }) => [upstream.id, downstream.id]),
  )
  const edges: SeenEdge[] = []
  for (const { upstream, downstream, columns } of pairs.values()) {
    const spelled =
      columns && spellPairs(columns, names, { upstreamId: upstream.id, downstreamId: downstream.id })
    edges.push({
      upstream: upstream.end,
      downstream: downstream.end,
      detail,
      ...(spelled && { columns: spelled }),
    })
    await pause()
  }
  return { edges, omitted: Math.max(0, inputs.length * outputs.length - MAX_EDGES) }
}

/** The owners of tables that the event names; those of outside datasets are stored with them. */
function readTableOwners(
  { inputs, outputs }: LineageEvent,
  endOf: EventEnds['endOf'],
): Map<string, EventDataset['owners']> {
  return new Map(
    [...inputs, ...outputs].flatMap(dataset => {
      const found = dataset.owners.length > 0 ? endOf(dataset) : undefined
      return found && 'tableId' in found.end ? [[found.end.tableId, dataset.owners] as const] : []
    }),
  )
}
