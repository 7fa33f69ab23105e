import type { Test } from 'tap'
import { formatName, tablePath, type TableInfo } from '../../../../connectors/catalog.ts'
import { compareTables, fingerprint, type SchemaDifference } from '../../../../plugins/catalog/drift/diff.ts'

/** Statements, and the differences that drift must report for them, if any. */
export interface Step {
  what: string
  run: string[]
  /** Lines of `describeDifference`, in any order; `SHOP` stands for a schema with the name of the catalog. */
  reported: string[]
}

/** A database under test. */
export interface Stand {
  catalog: string
  run(statement: string): Promise<unknown>
  /** The catalog as the connector reads it. */
  introspect(): Promise<TableInfo[]>
  /** What changed since it was asked last, by the engine's own word: lines of `brief`. */
  witness(): Promise<string[]>
  brief(changes: readonly SchemaDifference[]): string[]
}

interface Named {
  name: string
  [field: string]: unknown
}

/** A change in one line that holds all of it but the impact. */
export function describeDifference(catalog: string, change: SchemaDifference): string {
  const values = [change.oldValue, change.newValue].map(value => describe(catalog, value as Named | null))
  const object = change.objectType === 'column' ? `.${change.objectName}` : ''
  return `${change.changeType} ${within(catalog, change.path)}${object}: ${values.join(' -> ')}`
}

/** A path without the catalog it starts with. */
export function within(catalog: string, path: string): string {
  const prefix = `${formatName([catalog])}.`
  return path.startsWith(prefix) ? path.slice(prefix.length) : path
}

function describe(catalog: string, value: Named | null): string {
  if (value === null) return '-'
  const { name, ...rest } = value
  if ('data_type' in rest) {
    const required = rest.nullable ? '' : ' not null'
    const fallback = 'default' in rest ? ` default ${String(rest.default)}` : ''
    const { data_type: type, nullable: _nullable, default: _default, base_type: _base, ...properties } = rest
    return `${name} ${String(type)}${required}${fallback}${describeProperties(properties)}`
  }
  if (typeof rest.columns === 'number') return `${name} ${String(rest.type)} of ${rest.columns}`
  const { type, columns, references, ...properties } = rest as {
    type: string
    columns: string[]
    references?: { table: string; columns: string[] }
  }
  const target = references
    ? ` to ${within(catalog, references.table)}(${references.columns.join(', ')})`
    : ''
  return `${name} ${type}(${columns.join(', ')})${target}${describeProperties(properties)}`
}

function describeProperties(properties: object): string {
  return Object.entries(properties)
    .map(([property, value]) => ` ${property}=${String(value)}`)
    .join('')
}

/** Compares what is read before and after each step, with all tables and with only those that changed. */
export async function startReplay(stand: Stand) {
  const say = (changes: readonly SchemaDifference[]) =>
    changes.map(change => describeDifference(stand.catalog, change).replaceAll(stand.catalog, 'SHOP')).sort()
  let known = await stand.introspect()
  await stand.witness()

  /** Runs a step. */
  const follow = async (run: readonly string[]) => {
    for (const statement of run) await stand.run(statement)
    const found = await stand.introspect()
    const changes = compareTables(known, found)
    const changed = onlyChanged(known, found)
    const result = {
      changes,
      reported: say(changes),
      /** The same from the tables alone that differ, as a discovery compares them. */
      ofChanged: say(compareTables(...changed)),
      brief: stand.brief(changes).sort(),
      witness: (await stand.witness()).sort(),
    }
    known = found
    return result
  }

  /** Reads once more, and returns what differs, which must be nothing. */
  const readAgain = async () => {
    const again = await stand.introspect()
    const differences = say(compareTables(known, again))
    const [before] = onlyChanged(known, again)
    return [...differences, ...before.map(table => `another fingerprint of ${tablePath(table)}`)]
  }

  const replay = async (t: Test, steps: readonly Step[]) => {
    for (const { what, run, reported } of steps) {
      const result = await follow(run)
      t.same(result.reported, reported.toSorted(), what)
      t.same(result.ofChanged, result.reported, `${what}: the tables that changed say it all`)
      t.same(result.brief, result.witness, `${what}: as the engine says`)
      t.same([await readAgain(), await readAgain()], [[], []], `${what}: nothing afterwards`)
    }
  }
  return { follow, readAgain, replay }
}

/** The tables of which a discovery cannot say by their fingerprints that they are as they were. */
function onlyChanged(before: readonly TableInfo[], after: readonly TableInfo[]): [TableInfo[], TableInfo[]] {
  const prints = (tables: readonly TableInfo[]) =>
    new Map(tables.map(table => [tablePath(table), fingerprint(table)]))
  const [known, found] = [prints(before), prints(after)]
  const differs = (table: TableInfo) => known.get(tablePath(table)) !== found.get(tablePath(table))
  return [before.filter(differs), after.filter(differs)]
}
