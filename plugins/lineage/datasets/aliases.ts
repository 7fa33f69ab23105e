/** Other names of datasets: Spark declares that files are a table of Hive, and Trino uses the name of the table alone. */
import { createHash } from 'node:crypto'
import { defineCap, enforceCap } from '../../../server/database/company-caps.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { lockName } from '../../../server/database/locks.ts'
import { makePauses } from '../../../server/pauses.ts'
import { lockUnclaimedAliases } from './locks.ts'
import type { DatasetName } from './namespaces.ts'
import { datasetKey, type AliasedDataset } from './resolve-datasets.ts'

const ALIAS_CAP = defineCap({
  name: 'lineage_aliases',
  most: 100_000,
  what: 'other names of datasets',
  advice: 'leave symlinks of temporary datasets out',
})

/** Other names of a dataset that are stored and looked up; most have one. */
const MAX_ALIASES = 100

/** Days after which unused aliases go. */
export const ALIAS_DAYS = 90

/** The aliases that concern some names. */
export interface Aliases {
  /** The dataset that has this name too: the name itself if it is no alias. */
  datasetOf(name: DatasetName): DatasetName
  /** The other names of a dataset, itself not among them. */
  aliasesOf(dataset: DatasetName): DatasetName[]
}

interface StoredAlias extends DatasetName {
  datasetNamespace: string
  datasetName: string
  /** Whether its dataset has not declared it for a day: another one may take it over. */
  isUndeclared: boolean
  isUnseen: boolean
}

interface LoadedAliases extends Aliases {
  stored: ReadonlyMap<string, StoredAlias>
}

/** A change: the name is one of the dataset from now on. */
type Declared = { alias: DatasetName; dataset: DatasetName }

/**
 * Stores the symlinks of datasets as aliases of the company, and reads all that concern their names. A name that another
 * dataset declared within a day stays with it: two that declare the same name would take it from each other in turn.
 * @returns the aliases, and the datasets that got new ones: what was under these names before is to be merged
 * @throws 409 beyond the cap
 */
export async function declareAliases(
  trx: Transaction,
  datasets: readonly AliasedDataset[],
): Promise<{ aliases: Aliases; changed: DatasetName[] }> {
  const limited = datasets.map(({ symlinks = [], ...dataset }) => {
    return { ...dataset, symlinks: symlinks.slice(0, MAX_ALIASES) }
  })
  const names = limited.flatMap(({ symlinks, ...dataset }) => [dataset, ...symlinks])
  if (names.length === 0) return { aliases: indexAliases([]), changed: [] }
  let loaded = await readAliases(trx, names)
  if ((await listChanges(loaded, limited)).length > 0) {
    await lockName(trx, `lineage aliases ${companyOf(trx)}`)
    // Another transaction may have declared the same meanwhile.
    loaded = await readAliases(trx, names)
    const changes = await listChanges(loaded, limited)
    if (changes.length > 0) {
      await storeChanges(trx, changes)
      loaded = await readAliases(trx, names)
      return { aliases: loaded, changed: changes.map(({ dataset }) => dataset) }
    }
  }
  await touch(trx, loaded, limited)
  return { aliases: loaded, changed: [] }
}

async function readAliases(trx: Transaction, names: readonly DatasetName[]): Promise<LoadedAliases> {
  const found = await rows<StoredAlias>(
    trx,
    `with named as materialized (
       select distinct g.key from unnest(cast(:keys as uuid[])) as g (key)),
     datasets as materialized (
       select distinct coalesce(a.dataset_key, n.key) as key from named n
         left join lineage_aliases a on a.company_id = :companyId and a.alias_key = n.key),
     concerned as (
       select n.key from named n
        union
       select o.alias_key from datasets d cross join lateral (
         select a.alias_key from lineage_aliases a
          where a.company_id = :companyId and a.dataset_key = d.key order by a.alias_key limit ${MAX_ALIASES}) o)
     select a.namespace, a.name, a.dataset_namespace, a.dataset_name,
            a.declared_at < now() - interval '1 day' as is_undeclared,
            a.last_seen_at < now() - interval '1 day' as is_unseen
       from concerned c
       join lineage_aliases a on a.company_id = :companyId and a.alias_key = c.key
      order by a.namespace, a.name`,
    { companyId: companyOf(trx), keys: await hashNames(names) },
  )
  return indexAliases(found)
}

function indexAliases(found: readonly StoredAlias[]): LoadedAliases {
  const stored = new Map(found.map(alias => [datasetKey(alias), alias]))
  const byDataset = Map.groupBy(found, alias => datasetKey(datasetIn(alias)))
  return {
    stored,
    datasetOf(name) {
      const alias = stored.get(datasetKey(name))
      return alias ? datasetIn(alias) : { namespace: name.namespace, name: name.name }
    },
    aliasesOf: dataset =>
      (byDataset.get(datasetKey(dataset)) ?? []).map(({ namespace, name }) => ({ namespace, name })),
  }
}

const datasetIn = ({ datasetNamespace, datasetName }: StoredAlias): DatasetName => ({
  namespace: datasetNamespace,
  name: datasetName,
})

/** A hash that an index can hold. */
function keyOf(name: DatasetName): string {
  return createHash('sha256').update(datasetKey(name)).digest('hex').slice(0, 32)
}

async function hashNames(names: readonly DatasetName[]): Promise<string[]> {
  const [keys, pause] = [[] as string[], makePauses()]
  for (const name of names) {
    keys.push(keyOf(name))
    await pause()
  }
  return keys
}

/** What the symlinks of datasets, one after another, change in the aliases. */
async function listChanges(
  { stored, datasetOf }: LoadedAliases,
  datasets: readonly AliasedDataset[],
): Promise<Declared[]> {
  const pause = makePauses()
  const changes = new Map<string, Declared>()
  const byDataset = new Map<string, Declared[]>()
  const currentOf = (name: DatasetName): DatasetName =>
    changes.get(datasetKey(name))?.dataset ?? datasetOf(name)
  for (const given of datasets)
    for (const { namespace, name } of given.symlinks ?? []) {
      await pause()
      const dataset = currentOf(currentOf(given))
      const [key, mainKey] = [datasetKey({ namespace, name }), datasetKey(dataset)]
      const owner = stored.get(key)
      const isKnown = datasetKey(currentOf({ namespace, name })) === mainKey
      if (isKnown || changes.has(key) || (owner && !owner.isUndeclared)) continue
      // What is a name of this name is one of the dataset.
      const moved = byDataset.get(key) ?? []
      for (const change of moved) change.dataset = dataset
      const added = { alias: { namespace, name }, dataset }
      const own = byDataset.get(mainKey) ?? []
      own.push(...moved, added)
      byDataset.set(mainKey, own)
      byDataset.delete(key)
      changes.set(key, added)
    }
  return [...changes.values()]
}

async function storeChanges(trx: Transaction, changes: readonly Declared[]): Promise<void> {
  const companyId = companyOf(trx)
  const bindings = {
    companyId,
    changes: JSON.stringify(
      changes.map(({ alias, dataset }) => ({
        key: keyOf(alias),
        namespace: alias.namespace,
        name: alias.name,
        datasetKey: keyOf(dataset),
        datasetNamespace: dataset.namespace,
        datasetName: dataset.name,
      })),
    ),
  }
  const given = `jsonb_to_recordset(cast(:changes as jsonb)) as g
    (key uuid, namespace text, name text, "datasetKey" uuid, "datasetNamespace" text, "datasetName" text)`
  // What was a dataset with other names is one of these names now.
  await trx.raw(
    `update lineage_aliases a
        set dataset_key = g."datasetKey", dataset_namespace = g."datasetNamespace", dataset_name = g."datasetName"
       from ${given}
      where a.company_id = :companyId and a.dataset_key = g.key and a.alias_key <> g."datasetKey"`,
    bindings,
  )
  await trx.raw(
    `insert into lineage_aliases
       (company_id, alias_key, namespace, name, dataset_key, dataset_namespace, dataset_name)
     select :companyId, g.key, g.namespace, g.name, g."datasetKey", g."datasetNamespace", g."datasetName" from ${given}
     on conflict (company_id, alias_key) do update set
       dataset_key = excluded.dataset_key, dataset_namespace = excluded.dataset_namespace,
       dataset_name = excluded.dataset_name, declared_at = now(), last_seen_at = now()`,
    bindings,
  )
  await enforceCap(trx, companyId, ALIAS_CAP)
}

/** Notes once a day that aliases are declared and used. */
async function touch(
  trx: Transaction,
  { stored, datasetOf }: LoadedAliases,
  datasets: readonly AliasedDataset[],
): Promise<void> {
  const isOwn = (alias: DatasetName, dataset: DatasetName) =>
    datasetKey(datasetOf(alias)) === datasetKey(datasetOf(dataset))
  const declared = datasets
    .flatMap(dataset => (dataset.symlinks ?? []).filter(alias => isOwn(alias, dataset)))
    .filter(alias => stored.get(datasetKey(alias))?.isUndeclared)
  const seen = [...stored.values()].filter(({ isUnseen }) => isUnseen)
  if (declared.length === 0 && seen.length === 0) return
  await trx.raw(
    `update lineage_aliases set last_seen_at = now(),
            declared_at = case when alias_key = any(cast(:declared as uuid[])) then now() else declared_at end
      where company_id = :companyId and alias_key = any(cast(:keys as uuid[]))`,
    {
      companyId: companyOf(trx),
      declared: declared.map(keyOf),
      keys: await lockUnclaimedAliases(trx, [...declared, ...seen].map(keyOf)),
    },
  )
}
