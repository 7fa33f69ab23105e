/** A schema as a few objects, which predicts what drift must say of each thing that is done to it. */

interface Column {
  name: string
  type: string
  required: boolean
  fallback: string | null
}

interface Key {
  name: string
  type: 'primary_key' | 'unique' | 'foreign_key'
  columns: Column[]
  isIndex: boolean
  /** What a foreign key refers to. */
  target?: { table: Table; key: Key }
  cascades?: boolean
}

interface Table {
  schema: string
  name: string
  isView: boolean
  columns: Column[]
  keys: Key[]
}

/** Statements of one deed, and what drift must report for it: lines of `describeDifference`. */
export interface Deed {
  run: string[]
  reported: string[]
}

/** Canonical types and how else they may be written. */
const SPELLINGS: Record<string, string[]> = {
  integer: ['int', 'int4', 'integer'],
  bigint: ['int8', 'bigint'],
  text: ['text'],
  'varchar(10)': ['varchar(10)', 'character varying(10)'],
  'varchar(20)': ['varchar(20)', 'pg_catalog.varchar(20)'],
  'numeric(10,0)': ['numeric(10)', 'decimal(10,0)', 'dec(10)'],
  'numeric(10,2)': ['numeric(10,2)', 'decimal(10, 2)'],
  boolean: ['bool', 'boolean'],
  timestamp: ['timestamp', 'timestamp(6)', 'timestamp without time zone'],
  timestamptz: ['timestamptz', 'timestamp with time zone'],
  'double precision': ['float8', 'float', 'double precision'],
  'integer[]': ['int[]', 'int4[][]', 'integer array'],
}

const DEFAULTS: Record<string, [canonical: string, spellings: string[]][]> = {
  integer: [
    ['0', ['0', '(0)']],
    ['42', ['42', '(42)', '42::int']],
  ],
  text: [
    [`'a'::text`, [`'a'`, `'a'::text`, `cast('a' as text)`]],
    [`'b'::text`, [`'b'`]],
  ],
  boolean: [['true', ['true', `'yes'`]]],
}

/** Chooses: a number below a limit each time, from a list of numbers. */
export type Choose = (below: number) => number

/** Numbers to choose by, one after the other and from the start again. */
export function chooser(numbers: readonly number[]): Choose {
  let at = 0
  return below => (numbers[at++ % numbers.length] ?? 0) % below
}

const path = (table: Table) => `${table.schema}.${table.name}`
const shape = (column: Column) => `${column.name} ${column.type}${column.required ? ' not null' : ''}`
const whole = (column: Column) => `${shape(column)} default ${column.fallback}`
const names = (columns: readonly Column[]) => columns.map(({ name }) => name).join(', ')
const kindOf = (table: Table) => `${table.name} ${table.isView ? 'view' : 'table'} of ${table.columns.length}`
const keyText = ({ name, type, columns, target, cascades }: Key) =>
  `${name} ${type}(${names(columns)})` +
  (target ? ` to ${reportedPath(target.table)}(${names(target.key.columns)})` : '') +
  (cascades ? ' on_delete=cascade' : '')

/** A PostgreSQL database of a few tables in two schemas. */
export class Model {
  tables: Table[] = []
  #made = 0

  /** Something to do, chosen by chance; null when that cannot be done now. */
  deed(choose: Choose): Deed | null {
    const plain = this.tables.filter(({ isView }) => !isView)
    const table = plain.length > 0 ? plain[choose(plain.length)] : undefined
    if (!table || plain.length < 2) return this.#createTable(choose) ?? this.#fromView()
    const column = table.columns[choose(table.columns.length)]
    const deeds = [
      () => this.#addColumn(table, choose),
      () => this.#addColumn(table, choose),
      () => column && this.#dropColumn(table, column),
      () => column && this.#rename(table, column, choose),
      () => column && this.#swap(table, column, choose),
      () => column && this.#retype(table, column, choose),
      () => column && this.#require(table, column),
      () => column && this.#fallback(table, column, choose),
      () => column && this.#replace(table, column, choose),
      () => column && this.#takeName(table, column, choose),
      () => this.#addKey(table, choose),
      () => this.#addKey(table, choose),
      () => this.#dropKey(table, choose),
      () => this.#refer(table, plain, choose),
      () => this.#refer(table, plain, choose),
      () => this.#createTable(choose),
      () => this.#dropTable(table),
      () => this.#renameTable(table, choose),
      () => this.#moveTable(table),
      () => this.#toView(table),
      () => this.#fromView(),
      () => this.#nothing(table, choose),
    ]
    return deeds[choose(deeds.length)]?.() ?? null
  }

  #freeTable(choose: Choose): string | null {
    const free = ['t0', 't1', 't2', 't3', 't4', 'T 5'].filter(
      name => !this.tables.some(table => table.name === name),
    )
    return free[choose(free.length || 1)] ?? null
  }

  #freeColumn(table: Table, choose: Choose): string | null {
    const free = ['a', 'b', 'c', 'd', 'e', 'F "g"'].filter(
      name => !table.columns.some(column => column.name === name),
    )
    return free[choose(free.length || 1)] ?? null
  }

  #column(name: string, choose: Choose): { column: Column; spelled: string } {
    const types = Object.keys(SPELLINGS)
    const type = types[choose(types.length)] ?? 'text'
    const spellings = SPELLINGS[type] ?? []
    const fallbacks = DEFAULTS[type] ?? []
    const fallback = choose(3) === 0 ? fallbacks[choose(fallbacks.length || 1)] : undefined
    const column = { name, type, required: choose(3) === 0, fallback: fallback?.[0] ?? null }
    const spelled =
      `${quote(name)} ${spellings[choose(spellings.length)]}` +
      (fallback ? ` default ${fallback[1][choose(fallback[1].length)]}` : '') +
      (column.required ? ' not null' : '')
    return { column, spelled }
  }

  #createTable(choose: Choose): Deed | null {
    const name = this.#freeTable(choose)
    if (name === null) return null
    const table: Table = {
      schema: choose(2) === 0 ? 'public' : 'other',
      name,
      isView: false,
      columns: [],
      keys: [],
    }
    const spelled = Array.from({ length: 1 + choose(4) }, () => {
      const made = this.#column(this.#freeColumn(table, choose) ?? 'x', choose)
      table.columns.push(made.column)
      return made.spelled
    })
    this.tables.push(table)
    return {
      run: [`create table ${ref(table)} (${spelled.join(', ')})`],
      reported: [`table_added ${reportedPath(table)}: - -> ${kindOf(table)}`],
    }
  }

  #addColumn(table: Table, choose: Choose): Deed | null {
    const name = this.#freeColumn(table, choose)
    if (name === null) return null
    const { column, spelled } = this.#column(name, choose)
    table.columns.push(column)
    return {
      run: [`alter table ${ref(table)} add ${spelled}`],
      reported: [`column_added ${reportedPath(table)}.${name}: - -> ${shape(column)}`],
    }
  }

  /** Takes keys away, and what refers to them. */
  #lose(table: Table, keys: readonly Key[]): string[] {
    return keys.flatMap(key => {
      // A key that refers to its own table may have gone with another.
      if (!table.keys.includes(key)) return []
      const line = `constraint_changed ${reportedPath(table)}: ${keyText(key)} -> -`
      table.keys = table.keys.filter(other => other !== key)
      return [line, ...this.#loseReferences(target => target.key === key)]
    })
  }

  #loseReferences(of: (target: { table: Table; key: Key }) => boolean): string[] {
    return this.tables.flatMap(table =>
      this.#lose(
        table,
        table.keys.filter(({ target }) => target && of(target)),
      ),
    )
  }

  #dropColumn(table: Table, column: Column): Deed | null {
    if (table.columns.length < 2) return null
    const lines = this.#lose(
      table,
      table.keys.filter(({ columns }) => columns.includes(column)),
    )
    table.columns = table.columns.filter(other => other !== column)
    return {
      run: [`alter table ${ref(table)} drop ${quote(column.name)} cascade`],
      reported: [`column_removed ${reportedPath(table)}.${column.name}: ${shape(column)} -> -`, ...lines],
    }
  }

  #rename(table: Table, column: Column, choose: Choose): Deed | null {
    const name = this.#freeColumn(table, choose)
    if (name === null) return null
    const before = { ...column }
    column.name = name
    return {
      run: [`alter table ${ref(table)} rename ${quote(before.name)} to ${quote(name)}`],
      reported: [
        `column_renamed ${reportedPath(table)}.${before.name}: ${shape(before)} -> ${shape(column)}`,
      ],
    }
  }

  #swap(table: Table, column: Column, choose: Choose): Deed | null {
    const other = table.columns[choose(table.columns.length)]
    if (!other || other === column) return null
    const [a, b] = [{ ...column }, { ...other }]
    column.name = b.name
    other.name = a.name
    const rename = (from: string, to: string) =>
      `alter table ${ref(table)} rename ${quote(from)} to ${quote(to)}`
    return {
      run: [rename(a.name, 'swapping'), rename(b.name, a.name), rename('swapping', b.name)],
      reported: [
        `column_renamed ${reportedPath(table)}.${a.name}: ${shape(a)} -> ${shape(column)}`,
        `column_renamed ${reportedPath(table)}.${b.name}: ${shape(b)} -> ${shape(other)}`,
      ],
    }
  }

  #isReferred(column: Column): boolean {
    return this.tables.some(table =>
      table.keys.some(
        ({ type, columns, target }) =>
          type === 'foreign_key' && (columns.includes(column) || target?.key.columns.includes(column)),
      ),
    )
  }

  #changed(table: Table, before: Column, column: Column): string[] {
    return whole(before) === whole(column)
      ? []
      : [`column_type_changed ${reportedPath(table)}.${column.name}: ${whole(before)} -> ${whole(column)}`]
  }

  #retype(table: Table, column: Column, choose: Choose): Deed | null {
    if (column.fallback !== null || this.#isReferred(column)) return null
    const types = Object.keys(SPELLINGS)
    const before = { ...column }
    column.type = types[choose(types.length)] ?? 'text'
    const spellings = SPELLINGS[column.type] ?? []
    return {
      run: [
        `alter table ${ref(table)} alter ${quote(column.name)} type ${spellings[choose(spellings.length)]} using null`,
      ],
      reported: this.#changed(table, before, column),
    }
  }

  #require(table: Table, column: Column): Deed | null {
    if (table.keys.some(({ type, columns }) => type === 'primary_key' && columns.includes(column)))
      return null
    const before = { ...column }
    column.required = !column.required
    return {
      run: [
        `alter table ${ref(table)} alter ${quote(column.name)} ${column.required ? 'set' : 'drop'} not null`,
      ],
      reported: this.#changed(table, before, column),
    }
  }

  #fallback(table: Table, column: Column, choose: Choose): Deed | null {
    const choices = DEFAULTS[column.type]
    if (!choices) return null
    const before = { ...column }
    const [value, spellings] = choices[choose(choices.length + 1)] ?? [null, ['null']]
    column.fallback = value
    return {
      run: [
        `alter table ${ref(table)} alter ${quote(column.name)} set default ${spellings[choose(spellings.length)]}`,
      ],
      reported: this.#changed(table, before, column),
    }
  }

  /** Drops a column and makes one of its name. */
  #replace(table: Table, column: Column, choose: Choose): Deed | null {
    const lines = this.#lose(
      table,
      table.keys.filter(({ columns }) => columns.includes(column)),
    )
    const isEqual = choose(2) === 0
    const made = this.#column(column.name, choose)
    const equal = { ...column }
    const now = isEqual ? equal : made.column
    const spelled = isEqual
      ? `${shape(column).replace(column.name, quote(column.name))}${column.fallback === null ? '' : ` default ${column.fallback}`}`
      : made.spelled
    table.columns = [...table.columns.filter(other => other !== column), now]
    return {
      run: [
        `alter table ${ref(table)} drop ${quote(column.name)} cascade`,
        `alter table ${ref(table)} add ${spelled}`,
      ],
      reported: [...this.#changed(table, column, now), ...lines],
    }
  }

  /** Drops a column and gives its name to another. */
  #takeName(table: Table, column: Column, choose: Choose): Deed | null {
    const other = table.columns[choose(table.columns.length)]
    if (!other || other === column) return null
    const dropped = this.#dropColumn(table, column)
    if (!dropped) return null
    const before = { ...other }
    other.name = column.name
    return {
      run: [...dropped.run, `alter table ${ref(table)} rename ${quote(before.name)} to ${quote(other.name)}`],
      reported: [
        ...dropped.reported,
        `column_renamed ${reportedPath(table)}.${before.name}: ${shape(before)} -> ${shape(other)}`,
      ],
    }
  }

  #addKey(table: Table, choose: Choose): Deed | null {
    const first = table.columns[choose(table.columns.length)]
    const second = table.columns[choose(table.columns.length)]
    if (!first || !second) return null
    const columns = first === second || choose(2) === 0 ? [first] : [first, second]
    const same = (key: Key) =>
      key.columns.length === columns.length && key.columns.every(column => columns.includes(column))
    // The engine chooses which of two keys over the same columns a foreign key depends on.
    if (table.keys.some(key => key.type !== 'foreign_key' && same(key))) return null
    const isPrimary = choose(2) === 0 && !table.keys.some(({ type }) => type === 'primary_key')
    const isIndex = !isPrimary && choose(2) === 0
    const key: Key = {
      name: `k${this.#made++}`,
      type: isPrimary ? 'primary_key' : 'unique',
      columns,
      isIndex,
    }
    table.keys.push(key)
    const list = columns.map(({ name }) => quote(name)).join(', ')
    const required = isPrimary ? columns.filter(column => !column.required) : []
    const lines = required.flatMap(column => {
      const before = { ...column }
      column.required = true
      return this.#changed(table, before, column)
    })
    return {
      run: [
        isIndex
          ? `create unique index ${key.name} on ${ref(table)} (${list})`
          : `alter table ${ref(table)} add constraint ${key.name} ${isPrimary ? 'primary key' : 'unique'} (${list})`,
      ],
      reported: [`constraint_changed ${reportedPath(table)}: - -> ${keyText(key)}`, ...lines],
    }
  }

  #dropKey(table: Table, choose: Choose): Deed | null {
    const key = table.keys[choose(table.keys.length || 1)]
    if (!key) return null
    return {
      run: [
        key.isIndex
          ? `drop index ${quote(table.schema)}.${key.name} cascade`
          : `alter table ${ref(table)} drop constraint ${key.name} cascade`,
      ],
      reported: this.#lose(table, [key]),
    }
  }

  #refer(table: Table, tables: readonly Table[], choose: Choose): Deed | null {
    const targets = tables.flatMap(target =>
      target.keys.filter(({ type }) => type !== 'foreign_key').map(key => ({ table: target, key })),
    )
    const target = targets[choose(targets.length || 1)]
    if (!target) return null
    const run: string[] = []
    const lines: string[] = []
    const used = new Set<Column>()
    for (const { type } of target.key.columns) {
      let column = table.columns.find(other => other.type === type && !used.has(other))
      if (!column) {
        const name = this.#freeColumn(table, choose)
        if (name === null) break
        column = { name, type, required: false, fallback: null }
        table.columns.push(column)
        run.push(`alter table ${ref(table)} add ${quote(name)} ${type}`)
        lines.push(`column_added ${reportedPath(table)}.${name}: - -> ${shape(column)}`)
      }
      used.add(column)
    }
    if (used.size < target.key.columns.length) return run.length > 0 ? { run, reported: lines } : null
    const name = `k${this.#made++}`
    const cascades = choose(2) === 0
    const key: Key = { name, type: 'foreign_key', columns: [...used], isIndex: false, target, cascades }
    table.keys.push(key)
    const list = (columns: readonly Column[]) => columns.map(column => quote(column.name)).join(', ')
    run.push(
      `alter table ${ref(table)} add constraint ${name} foreign key (${list(key.columns)})
        references ${ref(target.table)} (${list(target.key.columns)}) on delete ${cascades ? 'cascade' : 'no action'}`,
    )
    return { run, reported: [...lines, `constraint_changed ${reportedPath(table)}: - -> ${keyText(key)}`] }
  }

  #remove(table: Table): string[] {
    this.tables = this.tables.filter(other => other !== table)
    return [
      `table_removed ${reportedPath(table)}: ${kindOf(table)} -> -`,
      ...this.#loseReferences(target => target.table === table),
    ]
  }

  #dropTable(table: Table): Deed {
    return { run: [`drop table ${ref(table)} cascade`], reported: this.#remove(table) }
  }

  #moved(table: Table, move: () => string): Deed {
    const removed = `table_removed ${reportedPath(table)}: ${kindOf(table)} -> -`
    return { run: [move()], reported: [removed, `table_added ${reportedPath(table)}: - -> ${kindOf(table)}`] }
  }

  #renameTable(table: Table, choose: Choose): Deed | null {
    const name = this.#freeTable(choose)
    if (name === null) return null
    return this.#moved(table, () => {
      const statement = `alter table ${ref(table)} rename to ${quote(name)}`
      table.name = name
      return statement
    })
  }

  #moveTable(table: Table): Deed {
    return this.#moved(table, () => {
      const schema = table.schema === 'public' ? 'other' : 'public'
      const statement = `alter table ${ref(table)} set schema ${schema}`
      table.schema = schema
      return statement
    })
  }

  /** A view with the same columns takes a table's place. */
  #toView(table: Table): Deed {
    const lines = this.#remove(table)
    const view: Table = {
      ...table,
      isView: true,
      keys: [],
      columns: table.columns.map(column => ({ ...column, required: false, fallback: null })),
    }
    this.tables.push(view)
    const list = view.columns.map(({ name, type }) => `null::${type} as ${quote(name)}`).join(', ')
    return {
      run: [`drop table ${ref(table)} cascade`, `create view ${ref(view)} as select ${list}`],
      reported: [...lines, `table_added ${reportedPath(view)}: - -> ${kindOf(view)}`],
    }
  }

  #fromView(): Deed | null {
    const view = this.tables.find(({ isView }) => isView)
    if (!view) return null
    const lines = this.#remove(view)
    const table = { ...view, isView: false }
    this.tables.push(table)
    const list = table.columns.map(({ name, type }) => `${quote(name)} ${type}`).join(', ')
    return {
      run: [`drop view ${ref(view)}`, `create table ${ref(table)} (${list})`],
      reported: [...lines, `table_added ${reportedPath(table)}: - -> ${kindOf(table)}`],
    }
  }

  /** What drift has nothing to say of. */
  #nothing(table: Table, choose: Choose): Deed {
    const name = ref(table)
    const [first] = table.columns
    const column = quote(first?.name ?? '')
    const ways = [
      [`analyze ${name}`, `vacuum full ${name}`, `reindex table ${name}`],
      [
        `comment on table ${name} is 'c${choose(9)}'`,
        `comment on column ${name}.${column} is 'd${choose(9)}'`,
      ],
      [`alter table ${name} rename ${column} to passing`, `alter table ${name} rename passing to ${column}`],
      [`alter table ${name} add passing text`, `alter table ${name} drop passing`],
      [
        `alter table ${name} rename to passing`,
        `alter table ${quote(table.schema)}.passing rename to ${quote(table.name)}`,
      ],
      [`create index on ${name} (${column})`, `create unique index on ${name} (${column}) where false`],
      [`alter table ${name} set (fillfactor = 50)`, `grant select on ${name} to public`],
    ]
    return { run: ways[choose(ways.length)] ?? [], reported: [] }
  }
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function ref(table: Table): string {
  return `${quote(table.schema)}.${quote(table.name)}`
}

/** A table's path as drift reports it. */
function reportedPath(table: Table): string {
  return path({ ...table, name: /\s/.test(table.name) ? quote(table.name) : table.name })
}
