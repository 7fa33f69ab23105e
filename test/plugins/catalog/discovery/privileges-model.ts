/** Tables whose rights and definitions change at random, and what a discovery must report of that. */
import { chooser, type Choose } from '../drift/model.ts'
import fc from 'fast-check'

interface Key {
  name: string
  type: 'unique' | 'foreign_key'
  columns: string[]
}

interface Definition {
  columns: Set<string>
  keys: Map<string, Key>
}

/** The rights on one table: none, on all of it, or on some columns. */
type Rights = 'none' | 'whole' | Set<string>

/** What one discovery must report, as `Watched.discover` gives it. */
interface Expected {
  unread: string[]
  changes: string[]
}

interface Table {
  name: string
  real: Definition
  /** As the product must know it. */
  known: Definition
  rights: Rights
}

const definition = (columns: string[], keys: Key[]): Definition => ({
  columns: new Set(columns),
  keys: new Map(keys.map(key => [key.name, key])),
})
const copy = ({ columns, keys }: Definition): Definition => ({
  columns: new Set(columns),
  keys: new Map(keys),
})

const KEYS_OF_CHILD: Key[] = [
  { name: 'uy', type: 'unique', columns: ['y'] },
  { name: 'uyz', type: 'unique', columns: ['y', 'z'] },
  { name: 'f', type: 'foreign_key', columns: ['p'] },
]

/** Random numbers of a seed, for so many steps. */
export function chooserOf(seed: number, steps: number): Choose {
  const [numbers = []] = fc.sample(
    fc.array(fc.noBias(fc.nat(9_999)), { minLength: steps * 25, maxLength: steps * 25 }),
    { seed, numRuns: 1 },
  )
  return chooser(numbers)
}

export class PrivilegesModel {
  /** Statements that make the tables; columns that are added later are each of a type of their own. */
  static readonly setup = [
    'create table parent (id int primary key, note varchar(7))',
    `create table child (id int primary key, x varchar(8), y int, z int, p int, w varchar(9),
       constraint uy unique (y), constraint uyz unique (y, z), constraint f foreign key (p) references parent (id))`,
  ]
  #made = 10
  #tables: Table[]
  readonly #hides: boolean

  /** @param hides whether the catalog shows only what may be read */
  constructor(hides: boolean) {
    this.#hides = hides
    const tables = [
      { name: 'parent', real: definition(['id', 'note'], []) },
      { name: 'child', real: definition(['id', 'x', 'y', 'z', 'p', 'w'], KEYS_OF_CHILD) },
    ]
    this.#tables = tables.map(table => ({ ...table, known: copy(table.real), rights: 'whole' }))
  }

  /** Chooses new rights. @returns those to grant after all others were taken away */
  exchangeRights(choose: Choose): string[] {
    return this.#tables.flatMap(table => {
      const kind = choose(4)
      table.rights =
        kind === 0
          ? 'none'
          : kind === 1
            ? 'whole'
            : new Set([...table.real.columns].filter(() => choose(2) === 0))
      return this.#grantsOf(table)
    })
  }

  /** Gives all rights back. */
  restoreRights(): string[] {
    for (const table of this.#tables) table.rights = 'whole'
    return this.#tables.flatMap(table => this.#grantsOf(table))
  }

  #grantsOf({ name, rights }: Table): string[] {
    if (rights === 'none') return []
    if (rights === 'whole') return [`select on ${name}`]
    return rights.size > 0 ? [`select (${[...rights].join(', ')}) on ${name}`] : []
  }

  /** Changes a definition. @returns the statement */
  change(choose: Choose): string {
    const table = this.#tables[choose(this.#tables.length)]!
    const { real } = table
    const inKeys = new Set([...real.keys.values()].flatMap(({ columns }) => columns))
    const free = [...real.columns].filter(column => column !== 'id' && !inKeys.has(column))
    const key = [...real.keys.values()][choose(real.keys.size || 1)]
    const column = free[choose(free.length || 1)]
    const what = choose(4)
    if (what === 0 && column) {
      real.columns.delete(column)
      return `alter table ${table.name} drop column ${column}`
    }
    if (what === 1 && key && key.type === 'unique') {
      real.keys.delete(key.name)
      return `alter table ${table.name} drop constraint ${key.name}`
    }
    this.#made++
    if (what === 2 && column) {
      const name = `u${this.#made}`
      real.keys.set(name, { name, type: 'unique', columns: [column] })
      return `alter table ${table.name} add constraint ${name} unique (${column})`
    }
    const name = `c${this.#made}`
    real.columns.add(name)
    return `alter table ${table.name} add column ${name} varchar(${this.#made})`
  }

  /** What the next discovery must report; from then on it is known. */
  discover(): Expected {
    const found = this.#tables.map(table => this.#see(table))
    return {
      unread: found.flatMap(({ unread }) => unread).toSorted(),
      changes: found.flatMap(({ changes }) => changes).toSorted(),
    }
  }

  #see({ name, real, known, rights: granted }: Table): Expected {
    const rights = this.#hides ? granted : 'whole'
    if (rights === 'none' || (rights !== 'whole' && rights.size === 0)) return { unread: [name], changes: [] }
    const isCovered = (column: string) => rights === 'whole' || rights.has(column)
    const changes: string[] = []
    const note = (change: string, object: string) => changes.push(`${change} ${name}.${object}`)
    const before = copy(known)
    for (const column of real.columns) {
      if (!isCovered(column) || known.columns.has(column)) continue
      known.columns.add(column)
      note('column_added', column)
    }
    for (const column of before.columns) {
      if (real.columns.has(column) || !isCovered(column)) continue
      known.columns.delete(column)
      note('column_removed', column)
    }
    // MariaDB shows foreign keys only where there is a right on the table.
    const isShown = (key: Key) =>
      key.type === 'foreign_key' ? rights === 'whole' : key.columns.every(isCovered)
    for (const key of real.keys.values()) {
      if (!isShown(key) || known.keys.has(key.name)) continue
      known.keys.set(key.name, key)
      note('constraint_changed', key.name)
    }
    for (const key of before.keys.values()) {
      if (real.keys.has(key.name) || !isShown(key)) continue
      known.keys.delete(key.name)
      note('constraint_changed', key.name)
    }
    const isWhole = [...known.columns].every(isCovered) && [...known.keys.values()].every(isShown)
    return { unread: isWhole ? [] : [name], changes }
  }
}
