import {
  awkwardNames,
  fixtureTypes,
  labelOf,
  momentsOf,
  optionalTypes,
  SAMPLE_LITERALS,
  TEXTS,
  CASE_VARIANTS,
} from './fixture.ts'
import type { ConformanceKit } from './kit.ts'

/** Creates and fills the fixture's tables. */
export async function buildFixture(kit: ConformanceKit): Promise<void> {
  const { fixture } = kit
  const tables = [
    ...valuesTable(kit),
    ...typesTable(kit),
    ...momentsTable(kit),
    ...smallTables(kit),
    ...rowsTable(kit),
    ...awkwardTables(kit),
  ]
  for (const statement of tables) {
    try {
      await fixture.execute(statement)
    } catch (cause) {
      const { message } = cause as Error
      throw new Error(`The fixture cannot be built: ${message}, by ${statement.slice(0, 500)}`, { cause })
    }
  }
}

/** Statements take quoted names: an engine may fold those without quotes to upper case. */
function quoteNames(kit: ConformanceKit) {
  return {
    types: fixtureTypes(kit.fixture),
    table: (name: string) => kit.text(kit.table(name)),
    column: (name: string) => kit.text(kit.quote(name)),
    list: (...names: string[]) => names.map(name => kit.text(kit.quote(name))).join(', '),
  }
}

function valuesTable(kit: ConformanceKit): string[] {
  const { types, table, column, list } = quoteNames(kit)
  const values = table('conformance_values')
  return [
    `create table ${values} (${column('id')} ${types.integer} not null, ${column('big')} ${types.bigint}, ` +
      `${column('ratio')} ${types.double}, ${column('label')} ${types.varchar} default 'none')`,
    `insert into ${values} (${list('id', 'big', 'ratio', 'label')}) values (1, 9007199254740991, 0.5, 'one'), ` +
      `(2, 9007199254740993, -1.25, 'two'), (3, -9223372036854775807, 1e10, null), (4, 0, null, 'four'), ` +
      `(5, null, 2, 'five')`,
    `create view ${table('conformance_view')} as select ${list('id', 'label')} from ${values}`,
  ]
}

/** A column of each type that the engine has: a value in row 1, NULL in row 2. */
function typesTable(kit: ConformanceKit): string[] {
  const { types, table, column, list } = quoteNames(kit)
  const names = optionalTypes(kit.fixture)
  const declared = names.map(name => `, ${column(`${name}_value`)} ${types[name]}`)
  const samples = names.map(name => kit.fixture.literals?.[name] ?? SAMPLE_LITERALS[name])
  const columns = list('id', ...names.map(name => `${name}_value`))
  return [
    `create table ${table('conformance_types')} (${column('id')} ${types.integer} not null${declared.join('')})`,
    // A select, because not every engine takes expressions as values.
    `insert into ${table('conformance_types')} (${columns}) select ${['1', ...samples].join(', ')}`,
    `insert into ${table('conformance_types')} (${column('id')}) values (2)`,
  ]
}

/** A column of each type of dates and times that the engine has, and NULL where one has fewer moments than others. */
function momentsTable(kit: ConformanceKit): string[] {
  const { types, table, column, list } = quoteNames(kit)
  const columns = Object.entries(momentsOf(kit.fixture)) as [keyof typeof types, string[]][]
  const moments = table('conformance_moments')
  const declared = columns.map(([name]) => `, ${column(`${name}_value`)} ${types[name]}`)
  const longest = Math.max(0, ...columns.map(([, literals]) => literals.length))
  const names = list('id', ...columns.map(([name]) => `${name}_value`))
  return [
    `create table ${moments} (${column('id')} ${types.integer} not null${declared.join('')})`,
    ...Array.from({ length: longest }, (_, index) => {
      const values = columns.map(([, literals]) => literals[index] ?? 'null')
      return `insert into ${moments} (${names}) select ${[index + 1, ...values].join(', ')}`
    }),
  ]
}

function smallTables(kit: ConformanceKit): string[] {
  const { types, table, column, list } = quoteNames(kit)
  const texts = TEXTS.map((text, index) => `(${index + 1}, ${literal(text)})`)
  const columns = `${column('label')} ${types.varchar}`
  return [
    `create table ${table('conformance_empty')} (${column('id')} ${types.integer}, ${columns})`,
    `create table ${table('conformance_texts')} (${column('id')} ${types.integer} not null, ${columns})`,
    `insert into ${table('conformance_texts')} (${list('id', 'label')}) values ${texts.join(', ')}`,
  ]
}

/** Ten digits crossed with themselves: ten thousand rows by one short statement. */
function rowsTable(kit: ConformanceKit): string[] {
  const { types, table, column, list } = quoteNames(kit)
  const [digits, rows] = [table('conformance_digits'), table('conformance_rows')]
  const lines = Array.from({ length: 10 }, (_, digit) => `(${digit}, ${literal(labelOf(digit))})`)
  const n = (alias: string) => `${alias}.${column('digit')}`
  const key = kit.connector.capabilities.constraints ? `, primary key (${column('id')})` : ''
  const columns = `${column('digit')} ${types.integer}, ${column('label')} ${types.varchar}`
  return [
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

function awkwardTables(kit: ConformanceKit): string[] {
  const { types, table, column } = quoteNames(kit)
  const names: string[] = awkwardNames(kit.fixture).map(([, name]) => name)
  if (!kit.fixture.refusesNames?.includes('case twin')) names.push(...CASE_VARIANTS)
  return names.flatMap(name => [
    `create table ${table(name)} (${column(name)} ${types.integer})`,
    `insert into ${table(name)} values (7)`,
  ])
}

/** An SQL literal for `execute`. */
function literal(text: string | null): string {
  return text === null ? 'null' : `'${text.replaceAll("'", "''")}'`
}
