/** The window of a check that is asked for: as the body states it, else that of its table. */
import { findUnfilteredProblem, findWindowProblem, keepingOf } from '../../../checks/plan.ts'
import type { CheckContext, CheckType } from '../../../checks/check.ts'
import { findTimeColumn, TEMPORAL_KINDS } from '../../../connectors/catalog.ts'
import { invalidField, invalidInput } from '../../../server/http/errors.ts'
import type { CatalogApi, TableContext } from '../../catalog/api.ts'
import type { ConfiguredCheck } from '../types.ts'
import type { WindowBody, WindowColumns } from './windows.ts'

/** The columns of a body's fields. */
export function windowColumnsOf({ time_column, window, window_delay, revisit }: WindowBody): WindowColumns {
  return {
    timeColumn: time_column ?? null,
    windowSize: window ?? null,
    windowDelay: window_delay ?? null,
    revisit: revisit ?? null,
  }
}

/** A body with the window that its check takes. */
export function withWindow<Body extends object>(body: Body, window: WindowColumns | undefined) {
  if (!window) return body
  const { timeColumn, windowSize, windowDelay, revisit } = window
  return { ...body, time_column: timeColumn, window: windowSize, window_delay: windowDelay, revisit }
}

/** The fields of a body of which only those of the table's window count that it does not state itself. */
export function withDefaultWindow<Body extends WindowBody>(
  body: Body,
  { table }: Pick<TableContext, 'table'>,
): Body {
  const { windowSetting: setting } = table
  const isStated = body.window !== undefined || body.time_column !== undefined
  if (isStated || !setting) return body
  const { window_delay: delay = setting.window_delay } = body
  return { ...body, time_column: setting.time_column, window: setting.window, window_delay: delay }
}

/**
 * The window of a check that is asked for.
 * @throws 400 `VALIDATION_ERROR` for a window that is no size, without its column, or on a column without time, and for none on
 *   a table of which the engine reads no rows without a condition on their partition
 */
export function requestedWindow(
  loaded: TableContext,
  check: { type: Pick<CheckType, 'name' | 'namesItsRows'>; config: ConfiguredCheck['check']['config'] },
  body: WindowBody,
  on: Pick<CheckContext, 'dialect' | 'table'> & { catalog: CatalogApi },
): WindowColumns {
  const namesItsRows = check.type.namesItsRows?.(check.config, on) === true
  const window = windowColumnsOf(namesItsRows ? body : withDefaultWindow(body, loaded))
  assertWindow(loaded, window, on)
  if (namesItsRows && window.windowSize !== null)
    throw invalidField(
      'window',
      `cannot be applied to a SELECT of ${check.type.name}, which names its rows itself: put the condition into its WHERE`,
    )
  const unfiltered = namesItsRows ? null : findUnfilteredProblem(on.table, window.timeColumn)
  if (unfiltered !== null) throw invalidInput([{ field: 'window', error: unfiltered }])
  return window
}

/** @throws 400 `VALIDATION_ERROR` for a window that is no size, without its column, or on a column without time */
export function assertWindow(
  { table: stored }: TableContext,
  window: WindowColumns,
  { dialect, table, catalog }: Pick<CheckContext, 'dialect' | 'table'> & { catalog: CatalogApi },
): void {
  const { timeColumn, windowSize, windowDelay, revisit } = window
  if (windowSize === null) {
    const lone = Object.entries({ time_column: timeColumn, window_delay: windowDelay, revisit }).find(
      ([, value]) => value !== null,
    )
    if (lone) throw invalidField(lone[0], 'is of a check with a window: give window too, such as 1d')
    return
  }
  if (timeColumn === null)
    throw invalidField('time_column', 'is required with window: the column with the time of a row')
  const column = findTimeColumn(table, timeColumn) ?? catalog.findColumn(stored, timeColumn, 'time_column')
  if (!TEMPORAL_KINDS.includes(column.kind))
    throw invalidField(
      'time_column',
      `${column.name} is of type ${column.type}: a window needs a column of dates or timestamps`,
    )
  const problem = findWindowProblem(windowSize, keepingOf(column, dialect))
  if (problem !== null) throw invalidInput([{ field: 'window', error: problem }])
}
