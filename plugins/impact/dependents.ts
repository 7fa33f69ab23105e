import type { Transaction } from '../../server/database/database.ts'
import type { ImpactDeps } from './deps.ts'
import type { NamedOwner, ReachedAsset } from '../alerts/api.ts'
import type { GraphNode } from '../lineage/api.ts'
import type { Owner } from '../owners/api.ts'

/** `certain` where a column, or the table as a whole, is known to be used; `possible` where only the table is known to be. */
export type Certainty = 'certain' | 'possible'

/** What is made from a table: a table, or a thing outside the catalog such as a dashboard. */
export interface Dependent extends ReachedAsset {
  certainty: Certainty
  /** The columns of it that are hit; null where they are not known, empty where the rows are. */
  columns: string[] | null
  owners: NamedOwner[]
}

export interface Dependents {
  tables: Dependent[]
  /** Dashboards, notebooks, models and applications. */
  dashboards: Dependent[]
  /** Whom the owners own: each with how many of these. */
  owners: { type: string; id: string | null; name: string; email: string | null; assets: number }[]
  /** False where more hang on it than are followed. */
  isComplete: boolean
}

export const NO_DEPENDENTS: Dependents = { tables: [], dashboards: [], owners: [], isComplete: true }

/** A column that decides rows, in `WalkNode.columns`. */
const ALL_COLUMNS = '*'

/**
 * What is made from tables, at any distance, nearest first.
 * @param columns of the tables; without them all of it counts as used
 */
export async function findDependents(
  { lineage, owners }: Pick<ImpactDeps, 'lineage' | 'owners'>,
  trx: Transaction,
  tableIds: readonly string[],
  columns?: readonly string[],
): Promise<Dependents> {
  const walked = await lineage.walk(trx, tableIds, { direction: 'downstream', ...(columns && { columns }) })
  const nodes = await lineage.readNodes(
    trx,
    walked.nodes.map(({ id }) => id),
  )
  const byId = new Map(nodes.map(node => [node.id, node]))
  const owned = await owners.ownersOf(
    trx,
    walked.nodes.flatMap(({ id, isTable }) => (isTable ? id : [])),
  )
  const dependents = walked.nodes.flatMap(
    ({ id, distance, columns: hit }): (Dependent & { isTable: boolean })[] => {
      const node = byId.get(id)
      if (!node?.isActive) return []
      return [
        {
          id,
          name: node.name,
          qualifiedName: node.qualifiedName,
          assetType: node.kind,
          url: node.outside?.url ?? null,
          distance,
          certainty: columns && hit === null ? 'possible' : 'certain',
          columns: hit?.filter(column => column !== ALL_COLUMNS) ?? null,
          owners: ownersOfNode(node, owned.get(id)).map(({ name, email }) => ({ name, email })),
          isTable: node.outside === null || node.kind === 'dataset',
        },
      ]
    },
  )
  return {
    tables: dependents.filter(({ isTable }) => isTable).map(withoutSide),
    dashboards: dependents.filter(({ isTable }) => !isTable).map(withoutSide),
    owners: countOwners(dependents.map(({ id }) => ownersOfNode(byId.get(id)!, owned.get(id)))),
    isComplete: walked.isComplete,
  }
}

function withoutSide({ isTable: _isTable, ...dependent }: Dependent & { isTable: boolean }): Dependent {
  return dependent
}

type NodeOwner = Pick<Owner, 'type' | 'id' | 'name' | 'email'>

/** Owners of a table by ownerships; of a thing outside the catalog, as what reports it names them. */
function ownersOfNode({ outside }: GraphNode, own: readonly Owner[] | undefined): NodeOwner[] {
  if (!outside) return [...(own ?? [])]
  return (outside.owners ?? []).flatMap(({ name, email }) =>
    (name ?? email)
      ? { type: email ? 'email' : 'name', id: null, name: (name ?? email)!, email: email ?? null }
      : [],
  )
}

function countOwners(all: readonly NodeOwner[][]): Dependents['owners'] {
  const counted = new Map<string, Dependents['owners'][number]>()
  for (const { type, id, name, email } of all.flat()) {
    const key = id ?? email ?? name
    const owner = counted.get(key)
    if (owner) owner.assets += 1
    else counted.set(key, { type, id, name, email, assets: 1 })
  }
  return [...counted.values()].sort((a, b) => b.assets - a.assets || a.name.localeCompare(b.name))
}

export function presentDependent(dependent: Dependent) {
  const { qualifiedName, assetType, ...rest } = dependent
  return {
    ...rest,
    qualified_name: qualifiedName,
    asset_type: assetType,
    sentence: describeDependent(dependent),
  }
}

function describeDependent({ name, columns, certainty, distance }: Dependent): string {
  const way = distance === 1 ? '' : `, over ${distance} steps`
  if (certainty === 'possible')
    return `${name} is made from the table${way}; whether it uses the column is not known`
  if (columns === null) return `${name} is made from the table${way}`
  if (columns.length === 0) return `The column decides which rows ${name} has${way}`
  return `The column goes into ${columns.slice(0, MAX_NAMED_COLUMNS).join(', ')} of ${name}${way}`
}

const MAX_NAMED_COLUMNS = 5
