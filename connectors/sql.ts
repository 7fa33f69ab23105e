const BRAND = Symbol.for('tidemark.Sql')

/**
 * A piece of SQL that carries its values. Text and values never meet as a string: the driver binds them.
 * Made only by the `sql` tag, `raw` (for text the program itself wrote) and `join`.
 */
export class Sql {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]
  /** The same without SQL of users, where it has some: see `userSql`. */
  readonly plain?: Sql
  readonly [BRAND] = true

  /**
   * Also of the class that an extension brings when its bundler has copied this module into it. Never by shape:
   * no JSON holds a symbol, so that nothing sent to us is taken for SQL.
   */
  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value
  }

  constructor(strings: readonly string[], values: readonly unknown[], plain?: Sql) {
    this.strings = strings
    this.values = values
    if (plain) this.plain = plain
  }

  /**
   * The text with a placeholder for each value, and the values in the same order.
   * @param placeholder writes the placeholder of the value at a 1-based position: `$1`, `?`, `:1`
   */
  render(placeholder: (position: number) => string): { text: string; values: unknown[] } {
    const text = this.strings.reduce((before, part, index) => before + placeholder(index) + part)
    return { text, values: [...this.values] }
  }

  /** A key that is equal for equal statements, so that a measure asked for twice is computed once. */
  get key(): string {
    return JSON.stringify([this.strings, this.values], (_, value) =>
      typeof value === 'bigint' ? `${value}n` : value,
    )
  }
}

/**
 * Writes SQL with bound values: `` sql`select ${column} from t where id = ${id}` ``.
 * An `Sql` inside is spliced in with its own values; anything else is bound.
 */
export function sql(strings: TemplateStringsArray, ...parts: unknown[]): Sql {
  const whole = splice(strings, parts)
  if (!parts.some(part => part instanceof Sql && part.plain)) return whole
  const plain = splice(
    strings,
    parts.map(part => (part instanceof Sql ? withoutUserSql(part) : part)),
  )
  return new Sql(whole.strings, whole.values, plain)
}

function splice(strings: readonly string[], parts: readonly unknown[]): Sql {
  const texts: string[] = [strings[0] ?? '']
  const values: unknown[] = []
  const append = (text: string) => (texts[texts.length - 1] += text)
  parts.forEach((part, index) => {
    if (part instanceof Sql) {
      append(part.strings[0] ?? '')
      texts.push(...part.strings.slice(1))
      values.push(...part.values)
    } else {
      values.push(part)
      texts.push('')
    }
    append(strings[index + 1] ?? '')
  })
  return new Sql(texts, values)
}

/** SQL text as it is. Only for text that the program wrote or quoted itself, never for input. */
export function raw(text: string): Sql {
  return new Sql([text], [])
}

/**
 * SQL that a user wrote. Every statement that it becomes a part of has a form without it, which may be planned: planning
 * runs functions that claim to be immutable, and so would run what a user wrote before it is meant to run.
 * @param plain stands in its place there: `1 = 1` for a condition
 */
export function userSql(written: Sql, plain: Sql): Sql {
  return new Sql(written.strings, written.values, plain)
}

/** A statement with something plain in place of whatever users wrote of it. */
export function withoutUserSql(statement: Sql): Sql {
  return statement.plain ?? statement
}

/** The values of a list, bound one by one and joined with commas. */
export function bindList(values: Iterable<unknown>): Sql {
  return join([...values].map(value => sql`${value}`))
}

/** Joins pieces with a separator, which defaults to a comma; no pieces give empty SQL. */
export function join(parts: readonly Sql[], separator = ', '): Sql {
  // Through the tag itself, in one call: adding piece to piece would copy the whole each time.
  const strings = ['', ...parts.slice(1).map(() => separator), ''].slice(0, parts.length + 1)
  return sql(strings as unknown as TemplateStringsArray, ...parts)
}
