import type { Source } from '../catalog/api.ts'
import type { StoredCheck, StoredState } from '../checks/api.ts'
import type { MonitorEntry, MonitorsDocument, TableMonitors } from './file/monitors-file.ts'

/** The checks of a source as a file, sorted. Those of tables that the last discovery did not find are left out. */
export function exportMonitors({ name }: Pick<Source, 'name'>, state: StoredState): MonitorsDocument {
  const keys = new Map(state.adoptable)
  for (const { managed, stored } of state.owned) if (stored) keys.set(stored, managed.key)
  const shown = state.checks.filter(({ isTableActive }) => isTableActive)
  const byTable = Map.groupBy(shown, ({ tablePath }) => tablePath)
  const tables = [...byTable]
    .toSorted(([one], [other]) => compareTexts(one, other))
    .map(([path, checks]) => [path, { checks: toEntries(checks, keys) }] as const)
  return { version: 1, source: name, tables: Object.fromEntries(tables) }
}

function toEntries(checks: readonly StoredCheck[], keys: ReadonlyMap<StoredCheck, string>): TableMonitors {
  const byKind = Map.groupBy(checks, ({ kind }) => kind)
  const entries = [...byKind].map(([kind, some]) => {
    const written = some.map((check): MonitorEntry => ({ key: keys.get(check)!, ...check.body }))
    return [kind, written.toSorted((a, b) => compareTexts(a.key, b.key))] as const
  })
  return Object.fromEntries(entries)
}

const compareTexts = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)
