/** Contracts of Soda Core 4: https://docs.soda.io/reference/contract-language-reference */
import { formatName } from '../../../connectors/catalog.ts'
import { Inconvertible, type DraftCheck, type ImportDraft } from './import-draft.ts'
import { hasVariable } from './soda-configurations.ts'
import { CONTRACT_CHECKS, type ContractCheck, type ContractTarget } from './soda-contract-checks.ts'
import { filterIn } from './soda-contract-thresholds.ts'
import { writeTable, type SqlEngine } from './sql-text.ts'
import { isRecord, itemsOf, type Fields } from './values.ts'

/** A contract file, and where its parts stand. */
export interface ContractFile {
  file: string
  fields: Fields
  lineOf: (path: readonly string[]) => number | null
}

export function isSodaContract(fields: Fields): boolean {
  return typeof fields.dataset === 'string' && (Array.isArray(fields.columns) || Array.isArray(fields.checks))
}

/** Parts of a contract that are no checks. */
const OTHER_PARTS = [
  'dataset',
  'filter',
  'variables',
  'soda_agent',
  'soda_runner',
  'scopes',
  'columns',
  'checks',
]

export function importSodaContract(
  contract: ContractFile,
  draft: ImportDraft,
  { engine }: { engine: SqlEngine },
): void {
  const { file, fields, lineOf } = contract
  // The first part is the data source, as Soda names it.
  const path = formatName(String(fields.dataset).split('/').slice(1))
  const target = { engine, table: path, filter: fields.filter, dataset: String(fields.dataset) }
  const add = (checks: unknown, at: readonly string[], column?: Fields) => {
    if (checks === undefined || checks === null) return
    const name = column === undefined ? path : `${path}.${String(column.name)}`
    if (!Array.isArray(checks))
      return draft.leave({ file, line: lineOf(at), name: `checks of ${name}` }, 'it is no list of checks')
    for (const [index, check] of (checks as unknown[]).entries()) {
      const [type] = isRecord(check) ? Object.keys(check) : [String(check)]
      const construct = { file, line: lineOf([...at, String(index)]), name: `${type} of ${name}` }
      draft.convert(construct, () => convertContractCheck(check, { ...target, ...(column && { column }) }))
    }
  }
  for (const [index, column] of itemsOf(fields.columns).entries())
    add(column.checks, ['columns', String(index), 'checks'], column)
  add(fields.checks, ['checks'])
  for (const part of Object.keys(fields))
    if (!OTHER_PARTS.includes(part))
      draft.leave(
        { file, line: lineOf([part]), name: part },
        'is no part of a contract that has checks of a table',
      )
}

/** Fields of a check that are no part of what it measures. */
const NEUTRAL = ['name', 'qualifier', 'attributes']

function convertContractCheck(
  check: unknown,
  {
    table,
    engine,
    filter,
    dataset,
    column,
  }: {
    table: string
    engine: SqlEngine
    filter: unknown
    dataset: string
    column?: Fields
  },
): DraftCheck[] {
  if (hasVariable([check, filter, dataset, column && { ...column, checks: null }]))
    throw new Inconvertible('it takes a variable that is given when the contract is verified')
  if (!isRecord(check) || Object.keys(check).length !== 1)
    throw new Inconvertible('a check is an object with its type as the only field')
  const [type = '', settings] = Object.entries(check)[0] ?? []
  const make = Object.hasOwn(CONTRACT_CHECKS, type) ? CONTRACT_CHECKS[type] : undefined
  if (!make) throw new Inconvertible(`${type} is no check of the contract language that has a counterpart`)
  if (settings !== null && !isRecord(settings))
    throw new Inconvertible(`${type} has settings that are no object`)
  const given = settings ?? {}
  const { scope } = given
  if (scope !== undefined && scope !== 'base')
    throw new Inconvertible('its scope has a filter of its own: give the check the filter')
  if (table === '') throw new Inconvertible('dataset must be the data source, and the path of the table')
  if (column && (column.column_expression !== undefined || typeof column.name !== 'string'))
    throw new Inconvertible('its column is an expression')
  const target: ContractTarget = {
    engine,
    table,
    dataset,
    own: writeTable(table, engine),
    filter: filterIn({ filter }),
    ...(column && { column }),
  }
  const neutral = ['scope', ...NEUTRAL]
  const config = Object.fromEntries(Object.entries(given).filter(([field]) => !neutral.includes(field)))
  const common = typeof given.name === 'string' ? { name: given.name.slice(0, 200) } : {}
  const label = typeof given.qualifier === 'string' ? given.qualifier : undefined
  const draft = ({
    severity,
    kind = 'validity',
    key,
    body,
    note,
    filter,
    select,
  }: ContractCheck): DraftCheck => ({
    kind,
    table,
    key: [
      ...(key ?? [column === undefined ? undefined : String(column.name), type]),
      label,
      severity === 'warning' ? severity : undefined,
    ],
    // A schedule has neither a name nor a severity.
    body: kind === 'freshness' ? body : { ...body, ...common, severity },
    ...(note !== undefined && { note }),
    filter,
    ...(select && { select: () => draft(select()) }),
  })
  return make(config, target).map(draft)
}
