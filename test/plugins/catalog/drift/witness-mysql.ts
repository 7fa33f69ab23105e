import type { SchemaDifference } from '../../../../plugins/catalog/drift/diff.ts'
import { formatName } from '../../../../connectors/catalog.ts'
import type { Shop } from '../../../helpers/mariadb.ts'

interface WitnessedTable {
  kind: 'table' | 'view'
  /** What SHOW CREATE TABLE prints after each name, in its order. */
  columns: { name: string; rest: string }[]
  /** By type and name. */
  keys: Map<string, { columns: string[]; table?: string; at?: string[]; rules: string }>
}

const NAME = '`(?:[^`]|``)*`'
const names = (list: string) => (list.match(/`(?:[^`]|``)*`/g) ?? []).map(unquote)

function unquote(name: string): string {
  return name.slice(1, -1).replaceAll('``', '`')
}

/** What MariaDB has, by what it would create it with. */
async function look(shop: Shop): Promise<Map<string, WitnessedTable>> {
  const found = new Map<string, WitnessedTable>()
  for (const row of await shop.query('show full tables')) {
    const name = String(row[`Tables_in_${shop.name}`])
    const quoted = `\`${name.replaceAll('`', '``')}\``
    const columns = await shop.query(`show full columns from ${quoted}`)
    if (row.Table_type === 'VIEW') {
      const shown = columns.map(({ Field, Type, Null, Default, Collation }) => ({
        name: String(Field),
        rest: `${plain(`${String(Type)} ${Null === 'NO' ? 'NOT NULL' : ''} ${String(Default)}`)} ${String(Collation)}`,
      }))
      found.set(name, { kind: 'view', columns: shown, keys: new Map() })
    } else if (row.Table_type === 'BASE TABLE') {
      const [made] = await shop.query(`show create table ${quoted}`)
      const table = readTable(String(made?.['Create Table']))
      for (const column of table.columns)
        column.rest += ` ${String(columns.find(({ Field }) => Field === column.name)?.Collation)}`
      found.set(name, table)
    }
  }
  return found
}

/** What drift has nothing to say of is left out, and collations where they are only shown where they are not the table's. */
function plain(rest: string): string {
  return rest
    .replace(/ COMMENT '(?:[^']|'')*'/, '')
    .replace(/ (CHARACTER SET|COLLATE) \S+/g, '')
    .replace(/ INVISIBLE/g, '')
    .replace(/^(?!tinyint\(1\)(?! unsigned))(\w*int)\(\d+\)/, '$1')
}

function readTable(statement: string): WitnessedTable {
  const seen: WitnessedTable = { kind: 'table', columns: [], keys: new Map() }
  for (const line of statement.split('\n').map(text => text.replace(/,$/, ''))) {
    const column = new RegExp(`^  (${NAME}) (.*)$`).exec(line)
    const key = new RegExp(`^  (PRIMARY|UNIQUE) KEY (?:(${NAME}) )?\\((.*)\\)`).exec(line)
    const foreign = new RegExp(
      `^  CONSTRAINT (${NAME}) FOREIGN KEY \\((.*)\\) REFERENCES (${NAME}) \\(((?:${NAME}|, )*)\\)(.*)$`,
    ).exec(line)
    if (column) seen.columns.push({ name: unquote(column[1] ?? ''), rest: plain(column[2] ?? '') })
    if (key) {
      const name = key[2] === undefined ? 'PRIMARY' : unquote(key[2])
      seen.keys.set(`${key[2] === undefined ? 'p' : 'u'} ${name}`, {
        columns: names(key[3] ?? ''),
        // The lengths of prefixes.
        rules: (key[3] ?? '').replaceAll(new RegExp(NAME, 'g'), ''),
      })
    }
    if (foreign) {
      const [, name = '', columns = '', table = '', at = '', rules = ''] = foreign
      seen.keys.set(`f ${unquote(name)}`, {
        columns: names(columns),
        table: unquote(table),
        at: names(at),
        rules,
      })
    }
  }
  return seen
}

/** A type and whether NULL is refused, of what is printed after a name. */
function nature(rest: string): string {
  const [type = ''] = /^(enum|set)\('.*?'\)(?= |$)|^\w+(\([^)]*\))?( unsigned)?/.exec(rest) ?? []
  return `${type} ${rest.includes('NOT NULL')}`
}

function renamed(old: WitnessedTable, now: WitnessedTable): [string, string] | undefined {
  const left = old.columns.filter(a => !now.columns.some(b => a.name === b.name))
  const came = now.columns.filter(b => !old.columns.some(a => a.name === b.name))
  const [a, b] = [left[0], came[0]]
  if (!a || !b || left.length !== 1 || came.length !== 1) return undefined
  const isSame = old.columns.indexOf(a) === now.columns.indexOf(b) && nature(a.rest) === nature(b.rest)
  return isSame ? [a.name, b.name] : undefined
}

/** Asks MariaDB what changed since the last time. */
export function witnessMysql(shop: Shop): () => Promise<string[]> {
  let before: Map<string, WitnessedTable> | undefined
  return async () => {
    const now = await look(shop)
    const changes = before ? compare(before, now) : []
    before = now
    return changes
  }
}

function compare(before: Map<string, WitnessedTable>, now: Map<string, WitnessedTable>): string[] {
  const stayed = [...before].flatMap(([name, old]) => {
    const found = now.get(name)
    return found?.kind === old.kind ? [{ name, old, found, rename: renamed(old, found) }] : []
  })
  const renames = new Map(stayed.map(({ name, rename }) => [name, rename]))
  const call = (table: string, column: string) => {
    const [from, to] = renames.get(table) ?? []
    return column === from ? String(to) : column
  }
  const gone = [...before].filter(([name, { kind }]) => now.get(name)?.kind !== kind)
  const came = [...now].filter(([name, { kind }]) => before.get(name)?.kind !== kind)
  return [
    ...gone.map(([name, { kind }]) => `${name} table_removed ${kind}`),
    ...came.map(([name, { kind }]) => `${name} table_added ${kind}`),
    ...stayed.flatMap(({ name, old, found, rename }) => {
      const lines = rename ? [`${name} column_renamed ${rename.join(' ')}`] : []
      const was = new Map(
        old.columns.map(column => [
          call(name, column.name),
          rename
            ? column.rest.replaceAll(`\`${rename[0]}\``, `\`${rename[1].replaceAll('`', '``')}\``)
            : column.rest,
        ]),
      )
      const is = new Map(found.columns.map(column => [column.name, column.rest]))
      for (const [column, rest] of was) {
        if (!is.has(column)) lines.push(`${name} column_removed ${column}`)
        else if (is.get(column) !== rest) lines.push(`${name} column_type_changed ${column}`)
      }
      for (const column of is.keys()) if (!was.has(column)) lines.push(`${name} column_added ${column}`)
      const followed = new Map(
        [...old.keys].map(([key, a]) => [
          key,
          JSON.stringify({
            ...a,
            columns: a.columns.map(column => call(name, column)),
            ...(a.table !== undefined && { at: a.at?.map(column => call(a.table ?? '', column)) }),
          }),
        ]),
      )
      const shown = new Map([...found.keys].map(([key, b]) => [key, JSON.stringify(b)]))
      for (const [key, a] of followed)
        if (shown.get(key) === a) [followed, shown].forEach(keys => keys.delete(key))
      // Equal ones of other names.
      for (const [key, a] of followed) {
        const [same] = [...shown].find(([other, b]) => other[0] === key[0] && a === b) ?? []
        if (same === undefined) continue
        followed.delete(key)
        shown.delete(same)
      }
      for (const key of new Set([...followed.keys(), ...shown.keys()]))
        lines.push(`${name} constraint_changed ${key}`)
      return lines
    }),
  ]
}

interface Value {
  name: string
  type?: string
}

/** Changes in the words of the witness. */
export function briefMysql(shop: Shop, changes: readonly SchemaDifference[]): string[] {
  const prefix = `${formatName([shop.name, shop.name])}.`
  return changes.map(({ path, changeType, objectName, oldValue, newValue }) => {
    const [a, b] = [oldValue as Value | null, newValue as Value | null]
    const value = b ?? a
    const table = path
      .slice(prefix.length)
      .replace(/^"(.*)"$/, (_, name: string) => name.replaceAll('""', '"'))
    const detail =
      changeType === 'constraint_changed'
        ? `${value?.type?.[0]} ${value?.name}`
        : changeType === 'column_renamed'
          ? `${a?.name} ${b?.name}`
          : (value?.type ?? objectName)
    return `${table} ${changeType} ${detail}`
  })
}
