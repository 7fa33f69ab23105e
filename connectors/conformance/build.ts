import {
  awkwardNames,
  fixtureTypes,
  labelOf,
  momentsOf,
  optionalTypes,
  SAMPLE_LITERALS,
  TEXTS,
  CASE_VARIANTS,
  ROW_COUNT,
  type WrittenTable,
} from './fixture.ts'
import type { ConformanceKit } from './kit.ts'

/** Creates and fills the fixture's tables. */
export async function buildFixture(kit: ConformanceKit): Promise<void> {
  const tables = [valuesTable(kit), ...smallTables(kit), ...awkwardTables(kit)]
  for (const table of tables) await build(table.name, () => kit.write(table))
  for (const table of [typesTable(kit), momentsTable(kit)])
    await build(table.name, () => kit.write(table, { asSelect: true }))
  if (kit.withoutSql) await build('conformance_rows', () => kit.write(writtenRows(kit)))
  else for (const statement of rowsStatements(kit)) await build(statement, () => kit.execute(statement))
}

/** @param what the table, or the statement that makes it */
async function build(what: string, make: () => Promise<void>): Promise<void> {
  try {
    await make()
  } catch (cause) {
    const { message } = cause as Error
    throw new Error(`The fixture cannot be built: ${message}, by ${what.slice(0, 500)}`, { cause })
  }
}

function valuesTable({ fixture }: ConformanceKit): WrittenTable {
  const types = fixtureTypes(fixture)
  return {
    name: 'conformance_values',
    columns: [
      { name: 'id', type: types.integer, notNull: true },
      { name: 'big', type: types.bigint },
      { name: 'ratio', type: types.double },
      { name: 'label', type: types.varchar, default: "'none'" },
    ],
    rows: [
      ['1', '9007199254740991', '0.5', "'one'"],
      ['2', '9007199254740993', '-1.25', "'two'"],
      ['3', '-9223372036854775807', '1e10', 'null'],
      ['4', '0', 'null', "'four'"],
      ['5', 'null', '2', "'five'"],
    ],
  }
}

/** A column of each type that the engine has: a value in row 1, NULL in row 2. */
function typesTable({ fixture }: ConformanceKit): WrittenTable {
  const types = fixtureTypes(fixture)
  const names = optionalTypes(fixture)
  return {
    name: 'conformance_types',
    columns: [
      { name: 'id', type: types.integer, notNull: true },
      ...names.map(name => ({ name: `${name}_value`, type: String(types[name]) })),
    ],
    rows: [
      ['1', ...names.map(name => fixture.literals?.[name] ?? SAMPLE_LITERALS[name])],
      ['2', ...names.map(() => 'null')],
    ],
  }
}

/** A column of each type of dates and times that the engine has, and NULL where one has fewer moments than others. */
function momentsTable({ fixture }: ConformanceKit): WrittenTable {
  const types = fixtureTypes(fixture)
  const columns = Object.entries(momentsOf(fixture)) as [keyof typeof types, string[]][]
  const longest = Math.max(0, ...columns.map(([, literals]) => literals.length))
  return {
    name: 'conformance_moments',
    columns: [
      { name: 'id', type: types.integer, notNull: true },
      ...columns.map(([name]) => ({ name: `${name}_value`, type: String(types[name]) })),
    ],
    rows: Array.from({ length: longest }, (_, index) => [
      String(index + 1),
      ...columns.map(([, literals]) => literals[index] ?? 'null'),
    ]),
  }
}

function smallTables({ fixture }: ConformanceKit): WrittenTable[] {
  const types = fixtureTypes(fixture)
  const label = { name: 'label', type: types.varchar }
  return [
    { name: 'conformance_empty', columns: [{ name: 'id', type: types.integer }, label], rows: [] },
    {
      name: 'conformance_texts',
      columns: [{ name: 'id', type: types.integer, notNull: true }, label],
      rows: TEXTS.map((text, index) => [String(index + 1), literal(text)]),
    },
  ]
}

/** The rows that `rowsStatements` makes, one by one. */
function writtenRows({ fixture }: ConformanceKit): WrittenTable {
  const types = fixtureTypes(fixture)
  return {
    name: 'conformance_rows',
    columns: [
      { name: 'id', type: types.integer },
      { name: 'digit', type: types.integer },
      { name: 'label', type: types.varchar },
    ],
    rows: Array.from({ length: ROW_COUNT }, (_, index) => [
      String(index + 1),
      String(index % 10),
      literal(labelOf(index % 10)),
    ]),
  }
}

/** Ten digits crossed with themselves: ten thousand rows by one short statement. And the views. */
function rowsStatements(kit: ConformanceKit): string[] {
  const types = fixtureTypes(kit.fixture)
  const table = (name: string) => kit.text(kit.table(name))
  const column = (name: string) => kit.text(kit.quote(name))
  const list = (...names: string[]) => names.map(column).join(', ')
  const [digits, rows] = [table('conformance_digits'), table('conformance_rows')]
  const lines = Array.from({ length: 10 }, (_, digit) => `(${digit}, ${literal(labelOf(digit))})`)
  const n = (alias: string) => `${alias}.${column('digit')}`
  const key = kit.connector.capabilities.constraints ? `, primary key (${column('id')})` : ''
  const columns = `${column('digit')} ${types.integer}, ${column('label')} ${types.varchar}`
  return [
    `create view ${table('conformance_view')} as select ${list('id', 'label')} from ${table('conformance_values')}`,
    `create table ${digits} (${columns})`,
    `insert into ${digits} (${list('digit', 'label')}) values ${lines.join(', ')}`,
    `create table ${rows} (${column('id')} ${types.integer} not null, ${columns}${key})`,
    `insert into ${rows} (${list('id', 'digit', 'label')}) ` +
      `select ${n('a')} + 10 * ${n('b')} + 100 * ${n('c')} + 1000 * ${n('d')} + 1, ${n('a')}, a.${column('label')} ` +
      `from ${digits} a cross join ${digits} b cross join ${digits} c cross join ${digits} d`,
    `create view ${table('conformance_rows_view')} as select ${list('id', 'label')} from ${rows} ` +
      `where ${column('digit')} = 7`,
  ]
}

function awkwardTables({ fixture }: ConformanceKit): WrittenTable[] {
  const { integer } = fixtureTypes(fixture)
  const names: string[] = awkwardNames(fixture).map(([, name]) => name)
  if (!fixture.refusesNames?.includes('case twin')) names.push(...CASE_VARIANTS)
  return names.map(name => ({ name, columns: [{ name, type: integer }], rows: [['7']] }))
}

/** An SQL literal for `execute`. */
function literal(text: string | null): string {
  return text === null ? 'null' : `'${text.replaceAll("'", "''")}'`
}
