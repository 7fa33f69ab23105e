import { apiError } from '../../server/http/errors.ts'
import type { Source } from '../catalog/api.ts'
import type { TableWindow } from '../../server/http/check-schemas.ts'
import type { StoredCheck, StoredState } from '../checks/api.ts'
import type { MonitorEntry, MonitorsDocument, TableMonitors } from './file/monitors-file.ts'

/**
 * The checks of a source as a file, sorted. Those of tables that the last discovery did not find are left out.
 * @param checkId the only check that the file has, with the default window of its table
 * @throws 404 where there is no such check
 */
export function exportMonitors(
  { name }: Pick<Source, 'name'>,
  state: StoredState,
  windows: ReadonlyMap<string, TableWindow>,
  checkId?: string,
): MonitorsDocument {
  const keys = new Map(state.adoptable)
  for (const { managed, stored } of state.owned) if (stored) keys.set(stored, managed.key)
  const shown = state.checks.filter(
    ({ id, isTableActive }) => isTableActive && (checkId === undefined || id === checkId),
  )
  if (checkId !== undefined && shown.length === 0)
    throw apiError('NOT_FOUND', 'The source has no such check, or a contract manages it')
  const byTable = Map.groupBy(shown, ({ tablePath }) => tablePath)
  const withDefaults = checkId === undefined ? windows.keys() : []
  const tables = [...new Set([...byTable.keys(), ...withDefaults])].toSorted(compareTexts).map(path => {
    const window = windows.get(path)
    const checks = toEntries(byTable.get(path) ?? [], keys, window !== undefined)
    return [path, { ...(window && { default_window: window }), checks }] as const
  })
  return { version: 1, source: name, tables: Object.fromEntries(tables) }
}

/** @param hasDefault whether a check of all rows has to say that it takes no window */
function toEntries(
  checks: readonly StoredCheck[],
  keys: ReadonlyMap<StoredCheck, string>,
  hasDefault: boolean,
): TableMonitors {
  const byKind = Map.groupBy(checks, ({ kind }) => kind)
  const entries = [...byKind].map(([kind, some]) => {
    const written = some.map((check): MonitorEntry => ({
      key: keys.get(check)!,
      ...check.body,
      ...(hasDefault && check.fields.window === null && { window: null }),
    }))
    return [kind, written.toSorted((a, b) => compareTexts(a.key, b.key))] as const
  })
  return Object.fromEntries(entries)
}

const compareTexts = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)
