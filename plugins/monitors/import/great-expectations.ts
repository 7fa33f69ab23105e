/**
 * Great Expectations' suites as monitors: https://greatexpectations.io/expectations. A suite names no table, so the
 * caller does.
 */
import {
  Inconvertible,
  readFiles,
  type DraftCheck,
  type ImportDraft,
  type ImportFile,
} from './import-draft.ts'
import type { ConvertedExpectation, SuiteOptions } from './expectation-kinds.ts'
import { EXPECTATIONS } from './expectations.ts'
import { PythonNumber } from './python-scalars.ts'
import { writeRowCondition } from './row-condition.ts'
import { foldName, isSelect, rowsOf, writeTable, type SqlEngine } from './sql-text.ts'
import { isRecord, type Fields } from './values.ts'

export function importSuites(files: readonly ImportFile[], draft: ImportDraft, options: SuiteOptions): void {
  for (const { name: file, parsed: suite } of readFiles(files, parseJson, draft)) {
    const expectations =
      isRecord(suite) && Array.isArray(suite.expectations) ? (suite.expectations as unknown[]) : null
    if (!expectations) {
      draft.leave({ file, line: null, name: 'the file' }, 'a suite has a list of expectations')
      continue
    }
    for (const [index, expectation] of expectations.entries()) {
      if (!isRecord(expectation)) {
        draft.leave({ file, line: null, name: `expectation ${index + 1}` }, 'it is no object with a type')
        continue
      }
      const { type, kwargs } = readExpectation(expectation)
      const construct = { file, line: null, name: describe(type, kwargs) }
      draft.convert(construct, () => [convertExpectation(type, kwargs, expectation, options)])
    }
  }
}

/** JSON as Python reads it, whose integers have no limit. @throws SyntaxError */
function parseJson(text: string): unknown {
  const keepInteger = (_key: string, value: unknown, context?: { source?: string }): unknown => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
    const source = context?.source ?? ''
    return /^-?\d+$/.test(source) ? new PythonNumber(source, value) : value
  }
  return JSON.parse(text.replace(/^\uFEFF/, ''), keepInteger)
}

const readExpectation = ({ type, expectation_type: older, kwargs }: Fields) => ({
  type: String(type ?? older),
  kwargs: isRecord(kwargs) ? kwargs : {},
})

function describe(type: string, kwargs: Fields): string {
  const columns = COLUMN_FIELDS.flatMap(field => kwargs[field]).filter(name => typeof name === 'string')
  return columns.length === 0 ? type : `${type} of ${columns.join(', ')}`
}

const COLUMN_FIELDS = ['column', 'column_A', 'column_B', 'column_list']

/** SQLAlchemy's names in lower case are those that Snowflake has in upper case. */
const nameColumn = (name: string, engine: SqlEngine): string =>
  engine === 'snowflake' && name === name.toLowerCase() ? foldName(name, engine) : name

function nameColumns(args: Fields, engine: SqlEngine): Fields {
  const rename = (name: unknown) => (typeof name === 'string' ? nameColumn(name, engine) : name)
  return Object.fromEntries(
    Object.entries(args).map(([field, value]) => {
      if (!COLUMN_FIELDS.includes(field)) return [field, value]
      return [field, Array.isArray(value) ? value.map(rename) : rename(value)]
    }),
  )
}

/** Fields of an expectation that say nothing about the data. */
const NEUTRAL = [
  'batch_id',
  'meta',
  'notes',
  'result_format',
  'include_config',
  'catch_exceptions',
  'severity',
  'description',
  'id',
  'rendered_content',
]
/** Arguments that change nothing with these values, which older versions wrote into their suites. */
const DEFAULTS: Fields = {
  mostly: 1,
  allow_cross_type_comparisons: false,
  parse_strings_as_datetimes: false,
  auto: false,
  strict_min: false,
  strict_max: false,
  or_equal: false,
}
const SEVERITIES = ['critical', 'warning', 'info']

function convertExpectation(
  type: string,
  kwargs: Fields,
  expectation: Fields,
  options: SuiteOptions,
): DraftCheck {
  const telling = Object.entries(kwargs).filter(
    ([name, value]) =>
      !NEUTRAL.includes(name) && value !== null && !(name in DEFAULTS && DEFAULTS[name] === value),
  )
  const { engine, table } = options
  const {
    condition_parser: _,
    row_condition: condition,
    ...args
  } = nameColumns(Object.fromEntries(telling), engine)
  if (Object.values(args).some(value => isRecord(value) && '$PARAMETER' in value))
    throw new Inconvertible('it takes a parameter that is given when the suite runs')
  const make = Object.hasOwn(EXPECTATIONS, type) ? EXPECTATIONS[type] : undefined
  if (!make)
    throw new Inconvertible(
      SCHEMA_EXPECTATIONS.test(type)
        ? 'it is about the schema, which every discovery compares; a data contract says what it must be'
        : 'it has no exact counterpart',
    )
  const given = String(expectation.severity ?? kwargs.severity)
  const severity = SEVERITIES.includes(given) ? given : 'critical'
  const from = writeTable(table, engine)
  const draft = ({ kind = 'validity', key, body }: ConvertedExpectation): DraftCheck => ({
    kind,
    table,
    key: [...key, type.replace(/^expect_/, '')],
    body: { ...body, severity },
  })
  const converted = make(args, { engine, from })
  if (condition === undefined) return draft(converted)
  const filter = writeRowCondition(kwargs, engine, name => nameColumn(name, engine))
  return isSelect(converted.body)
    ? draft(make(args, { engine, from: rowsOf(from, filter) }))
    : { ...draft(converted), filter }
}

const SCHEMA_EXPECTATIONS =
  /^expect_(column_to_exist|table_column|column_values_to_be_(of_type|in_type_list))/
