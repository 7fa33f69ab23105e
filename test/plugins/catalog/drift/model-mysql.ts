import type { Choose, Deed } from './model.ts'

interface Column {
  name: string
  type: string
  required: boolean
  fallback: string | null
  /** Texts have one. */
  collation?: string
  /** The name of its unique key. */
  key?: string
}

interface Table {
  name: string
  /** Texts that come without one get it. */
  collation: string
  columns: Column[]
}

/** Canonical types and how else they may be written. */
const SPELLINGS: Record<string, string[]> = {
  int: ['int', 'integer', 'int(11)'],
  bigint: ['bigint', 'bigint(20)'],
  boolean: ['bool', 'boolean', 'tinyint(1)'],
  tinyint: ['tinyint(4)', 'tinyint'],
  'varchar(10)': ['varchar(10)', 'character varying(10)', 'varchar(10) character set latin1'],
  'varchar(20)': ['varchar(20)', 'varchar(20) collate utf8mb4_bin'],
  'decimal(10,2)': ['decimal(10,2)', 'numeric(10, 2)', 'dec(10,2)'],
  datetime: ['datetime', 'datetime(0)'],
  'datetime(6)': ['datetime(6)'],
  "enum('a','b')": [`enum('a','b')`],
}

const DEFAULTS: Record<string, [canonical: string, spellings: string[]][]> = {
  int: [
    ['0', ['0']],
    ['42', ['42', `'42'`]],
  ],
  'varchar(10)': [[`'a'`, [`'a'`, `"a"`]]],
  datetime: [['current_timestamp', ['now()', 'current_timestamp', 'localtimestamp()']]],
}

const shape = (column: Column) => `${column.name} ${column.type}${column.required ? ' not null' : ''}`
const whole = (column: Column) => `${shape(column)} default ${column.fallback}`
const isText = ({ type }: Column) => /^(varchar|enum)/.test(type)
const charset = (collation: string) => collation.replace(/_.*/, '')
const pick = <Item>(items: readonly Item[], choose: Choose) => items[choose(items.length || 1)]

/** A MariaDB database of a few tables, whose columns are known by their names alone. */
export class MysqlModel {
  tables: Table[] = []
  #made = 0

  /** Something to do, chosen by chance; null when that cannot be done now. */
  deed(choose: Choose): Deed | null {
    const table = pick(this.tables, choose)
    const column = table && pick(table.columns, choose)
    if (!table || !column || this.tables.length < 2) return this.#create(choose)
    const deeds = [
      () => this.#add(table, choose),
      () => this.#add(table, choose),
      () => this.#drop(table, column),
      () => this.#rename(table, column, choose),
      () => this.#rename(table, column, choose),
      () => this.#modify(table, column, choose),
      () => this.#modify(table, column, choose),
      () => this.#modify(table, column, choose),
      () => this.#key(table, column),
      () => this.#create(choose),
      () => this.#remove(table),
      () => this.#renameTable(table, choose),
      () => this.#convert(table, choose),
      () => this.#nothing(table, column, choose),
    ]
    return pick(deeds, choose)?.() ?? null
  }

  #free(used: readonly { name: string }[], names: readonly string[], choose: Choose): string | undefined {
    return pick(
      names.filter(name => !used.some(other => same(other.name, name))),
      choose,
    )
  }

  #describe(table: Pick<Table, 'collation'>, column: Column, choose: Choose): string {
    const spelled = pick(SPELLINGS[column.type] ?? [], choose) ?? column.type
    delete column.collation
    if (isText(column))
      column.collation = spelled.includes('latin1')
        ? 'latin1_swedish_ci'
        : (/collate (\S+)/.exec(spelled)?.[1] ?? table.collation)
    const [, fallbacks] = DEFAULTS[column.type]?.find(([value]) => value === column.fallback) ?? []
    const fallback = fallbacks ? ` default ${pick(fallbacks, choose)}` : ''
    return `\`${column.name}\` ${spelled} ${column.required ? 'not null' : 'null'}${fallback}`
  }

  #column(name: string, choose: Choose): Column {
    const type = pick(Object.keys(SPELLINGS), choose) ?? 'int'
    const fallback = choose(2) === 0 ? pick(DEFAULTS[type] ?? [], choose)?.[0] : undefined
    return { name, type, required: choose(3) === 0, fallback: fallback ?? null }
  }

  #create(choose: Choose): Deed | null {
    const name = this.#free(this.tables, ['t0', 't1', 't2', 't3', 'T 4'], choose)
    if (name === undefined) return null
    const columns = ['a', 'b', 'c'].slice(0, 1 + choose(3)).map(column => this.#column(column, choose))
    const table = { name, columns, collation: 'utf8mb4_general_ci' }
    this.tables.push(table)
    return {
      run: [
        `create table \`${name}\` (${columns.map(column => this.#describe(table, column, choose)).join(', ')})`,
      ],
      reported: [`table_added ${reportedPath(name)}: - -> ${name} table of ${columns.length}`],
    }
  }

  #add(table: Table, choose: Choose): Deed | null {
    const name = this.#free(table.columns, ['a', 'b', 'c', 'd', 'e', 'f `g`'.replaceAll('`', '"')], choose)
    if (name === undefined) return null
    const column = this.#column(name, choose)
    const at = choose(table.columns.length + 1)
    table.columns.splice(at, 0, column)
    return {
      run: [`alter table \`${table.name}\` add ${this.#describe(table, column, choose)} ${place(table, at)}`],
      reported: [`column_added ${reportedPath(table.name)}.${name}: - -> ${shape(column)}`],
    }
  }

  #drop(table: Table, column: Column): Deed | null {
    if (table.columns.length < 2) return null
    table.columns = table.columns.filter(other => other !== column)
    return {
      run: [`alter table \`${table.name}\` drop \`${column.name}\``],
      reported: [
        `column_removed ${reportedPath(table.name)}.${column.name}: ${shape(column)} -> -`,
        ...(column.key === undefined ? [] : [this.#keyLine(table, column, column.key, false)]),
      ],
    }
  }

  #keyLine(table: Table, column: Column, key: string, isNew: boolean): string {
    const value = `${key} unique(${column.name})`
    return `constraint_changed ${reportedPath(table.name)}: ${isNew ? `- -> ${value}` : `${value} -> -`}`
  }

  #rename(table: Table, column: Column, choose: Choose): Deed | null {
    const others = table.columns.filter(other => other !== column)
    const name = this.#free(others, ['a', 'b', 'c', 'd', 'e', 'A'], choose)
    if (name === undefined || name === column.name) return null
    const before = { ...column }
    column.name = name
    return {
      run: [
        choose(2) === 0
          ? `alter table \`${table.name}\` rename column \`${before.name}\` to \`${name}\``
          : `alter table \`${table.name}\` change \`${before.name}\` ${this.#describe(table, column, choose)}`,
      ],
      reported: [
        `column_renamed ${reportedPath(table.name)}.${before.name}: ${shape(before)} -> ${shape(column)}`,
        ...this.#changed(table, before, column),
      ],
    }
  }

  /** Another type, default, nullability or place, or none of them. */
  #modify(table: Table, column: Column, choose: Choose): Deed {
    const before = { ...column }
    const now = this.#column(column.name, choose)
    const what = choose(4)
    if (what === 0) Object.assign(column, now)
    if (what === 1) column.required = !column.required
    if (what === 2) column.fallback = pick(DEFAULTS[column.type] ?? [], choose)?.[0] ?? null
    const rest = table.columns.filter(other => other !== column)
    const at = choose(table.columns.length)
    rest.splice(at, 0, column)
    table.columns = rest
    return {
      run: [
        `alter table \`${table.name}\` modify ${this.#describe(table, column, choose)} ${place(table, at)}`,
      ],
      reported: this.#changed(table, before, column),
    }
  }

  #changed(table: Table, before: Column, now: Column): string[] {
    const differs = before.collation !== now.collation
    const isOtherSet = charset(before.collation ?? '') !== charset(now.collation ?? '')
    const print = (column: Column) => {
      const { collation } = column
      if (!differs || collation === undefined) return whole(column)
      return `${whole(column)}${isOtherSet ? ` character_set=${charset(collation)}` : ''} collation=${collation}`
    }
    if (whole({ ...before, name: now.name }) === whole(now) && !differs) return []
    return [`column_type_changed ${reportedPath(table.name)}.${now.name}: ${print(before)} -> ${print(now)}`]
  }

  #convert(table: Table, choose: Choose): Deed {
    table.collation = `utf8mb4_${['bin', 'general_ci'][choose(2)]}`
    return {
      run: [`alter table \`${table.name}\` convert to character set utf8mb4 collate ${table.collation}`],
      reported: table.columns.filter(isText).flatMap(column => {
        const before = { ...column }
        column.collation = table.collation
        return this.#changed(table, before, column)
      }),
    }
  }

  #key(table: Table, column: Column): Deed {
    const { key } = column
    if (key !== undefined) {
      delete column.key
      return {
        run: [`alter table \`${table.name}\` drop index ${key}`],
        reported: [this.#keyLine(table, column, key, false)],
      }
    }
    column.key = `k${this.#made++}`
    return {
      run: [`alter table \`${table.name}\` add unique key ${column.key} (\`${column.name}\`)`],
      reported: [this.#keyLine(table, column, column.key, true)],
    }
  }

  #remove(table: Table): Deed {
    this.tables = this.tables.filter(other => other !== table)
    return {
      run: [`drop table \`${table.name}\``],
      reported: [
        `table_removed ${reportedPath(table.name)}: ${table.name} table of ${table.columns.length} -> -`,
      ],
    }
  }

  #renameTable(table: Table, choose: Choose): Deed | null {
    const name = this.#free(this.tables, ['t0', 't1', 't2', 't3', 'T 4'], choose)
    if (name === undefined) return null
    const gone = this.#remove(table)
    const renamed = { ...table, name }
    this.tables.push(renamed)
    return {
      run: [`rename table \`${table.name}\` to \`${name}\``],
      reported: [
        ...gone.reported,
        `table_added ${reportedPath(name)}: - -> ${name} table of ${table.columns.length}`,
      ],
    }
  }

  /** What drift has nothing to say of. */
  #nothing(table: Table, column: Column, choose: Choose): Deed {
    const alter = `alter table \`${table.name}\``
    const ways = [
      [`analyze table \`${table.name}\``, `optimize table \`${table.name}\``],
      [`${alter} comment = 'c${choose(9)}'`, `${alter} force`],
      [`${alter} rename column \`${column.name}\` to x`, `${alter} rename column x to \`${column.name}\``],
      [`${alter} add x int first`, `${alter} drop x`],
      [`rename table \`${table.name}\` to x`, `rename table x to \`${table.name}\``],
      [`${alter} add index i${this.#made++} (\`${column.name}\`)`],
    ]
    return { run: ways[choose(ways.length)] ?? [], reported: [] }
  }
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

function place(table: Table, at: number): string {
  return at === 0 ? 'first' : `after \`${table.columns[at - 1]?.name}\``
}

/** A table's path as drift reports it. */
function reportedPath(name: string): string {
  return `SHOP.${/\s/.test(name) ? `"${name}"` : name}`
}
