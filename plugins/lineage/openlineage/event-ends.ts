/** What the datasets of an event are: tables of sources, or nodes outside the catalog. */
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { makePauses } from '../../../server/pauses.ts'
import type { OwnersApi } from '../../owners/api.ts'
import type { LineageEnd, OutsideNode } from '../api.ts'
import { declareAliases, type Aliases } from '../datasets/aliases.ts'
import { moveNodes } from '../datasets/move-nodes.ts'
import type { DatasetName } from '../datasets/namespaces.ts'
import { datasetKey, readNamespaceContext, resolveDatasets } from '../datasets/resolve-datasets.ts'
import { outsideKey, storeOutside } from '../graph/record.ts'
import type { EventDataset, LineageEvent } from './event.ts'

/** A dataset that an event names, under the key of its first name. */
interface NamedDataset {
  key: string
  namespace: string
  name: string
  symlinks: DatasetName[]
  owners: EventDataset['owners']
}

/** @returns all datasets that the event names, by the keys of all of their names */
export function mergeDatasets({ inputs, outputs }: LineageEvent): Map<string, NamedDataset> {
  const byKey = new Map<string, NamedDataset>()
  const all = [...inputs, ...outputs]
  for (const { namespace, name, symlinks, owners } of all) {
    const key = datasetKey({ namespace, name })
    const known = byKey.get(key)
    if (known?.key === key) {
      known.symlinks.push(...symlinks)
      if (owners.length > 0) known.owners = owners
    } else byKey.set(key, { key, namespace, name, symlinks: [...symlinks], owners })
  }
  for (const dataset of [...byKey.values()])
    for (const symlink of dataset.symlinks) {
      const key = datasetKey(symlink)
      if (!byKey.has(key)) byKey.set(key, dataset)
    }
  const mentioned = all.flatMap(dataset => [...dataset.inputs, ...(dataset.columns ?? [])])
  for (const { namespace, name } of mentioned) {
    const key = datasetKey({ namespace, name })
    if (!byKey.has(key)) byKey.set(key, { key, namespace, name, symlinks: [], owners: [] })
  }
  return byKey
}

/** A dataset of the event, found. */
export interface FoundEnd {
  id: string
  end: LineageEnd
}

/**
 * The tables that datasets are, and nodes for those that no source has, by the key of the dataset. Symlinks become aliases
 * of the company: what was two nodes is one from then on.
 */
export async function findEnds(
  owners: OwnersApi,
  trx: Transaction,
  datasets: readonly NamedDataset[],
): Promise<Map<string, FoundEnd>> {
  const distinct = [...new Map(datasets.map(dataset => [dataset.key, dataset])).values()]
  if (distinct.length === 0) return new Map()
  const { aliases, changed } = await declareAliases(trx, distinct)
  const [named, pause] = [[] as AliasedEnd[], makePauses()]
  for (const dataset of distinct) {
    const main = aliases.datasetOf(dataset)
    named.push({ ...dataset, main, symlinks: listOthers(dataset, main, aliases) })
    await pause()
  }
  const tables = await resolveDatasets(trx, await readNamespaceContext(trx), named)
  const outside = new Map(
    named.filter(({ key }) => !tables.has(key)).map(dataset => [dataset.key, describeOutside(dataset)]),
  )
  const nodeIds = await storeOutside(trx, [...outside.values()])
  const ends = new Map(
    named.flatMap(({ key }): [string, FoundEnd][] => {
      const tableId = tables.get(key)
      if (tableId !== undefined) return [[key, { id: tableId, end: { tableId } }]]
      const node = outside.get(key)
      const id = node && nodeIds.get(outsideKey(node))
      return node && id !== undefined ? [[key, { id, end: { outside: node } }]] : []
    }),
  )
  if (changed.length > 0) {
    const merged = new Set(changed.map(datasetKey))
    await mergeNodes(
      owners,
      trx,
      named.filter(({ main }) => merged.has(datasetKey(main))),
      ends,
    )
  }
  return ends
}

/** A dataset with the name that it has among its aliases, and all others. */
type AliasedEnd = NamedDataset & { main: DatasetName }

/** All names of a dataset but its own, those of the event first. */
function listOthers(dataset: NamedDataset, main: DatasetName, aliases: Aliases): DatasetName[] {
  const names = [...dataset.symlinks, main, ...aliases.aliasesOf(main)]
  const byKey = new Map(
    names.map(({ namespace, name }) => [datasetKey({ namespace, name }), { namespace, name }]),
  )
  byKey.delete(dataset.key)
  return [...byKey.values()]
}

function describeOutside({ namespace, name, main, symlinks, owners }: AliasedEnd): OutsideNode {
  const others = [{ namespace, name }, ...symlinks].filter(each => datasetKey(each) !== datasetKey(main))
  return {
    kind: 'dataset',
    namespace: main.namespace,
    name: main.name,
    ...(owners.length > 0 && { owners }),
    ...(others.length > 0 && { details: { symlinks: others } }),
  }
}

/** Moves what the nodes had that are under other names of datasets. */
async function mergeNodes(
  owners: OwnersApi,
  trx: Transaction,
  datasets: readonly AliasedEnd[],
  ends: ReadonlyMap<string, FoundEnd>,
): Promise<void> {
  const endByName = new Map(
    datasets.flatMap(dataset => {
      const end = ends.get(dataset.key)
      return end ? [dataset, ...dataset.symlinks].map(name => [datasetKey(name), end.id] as const) : []
    }),
  )
  const names = datasets.flatMap(dataset => [dataset, ...dataset.symlinks])
  const nodes = await rows<DatasetName & { id: string }>(
    trx,
    `select n.id, n.namespace, n.name from unnest(cast(:namespaces as text[]), cast(:names as text[])) as g (namespace, name)
       join lineage_nodes n on n.company_id = :companyId and n.namespace = g.namespace and n.name = g.name
      where n.kind = 'dataset'`,
    {
      companyId: companyOf(trx),
      namespaces: names.map(({ namespace }) => namespace),
      names: names.map(({ name }) => name),
    },
  )
  const moved = new Map(nodes.map(node => [node.id, endByName.get(datasetKey(node)) ?? node.id]))
  await moveNodes(owners, trx, new Map([...moved].filter(([id, endId]) => id !== endId)))
}
