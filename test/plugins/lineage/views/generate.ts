/** Random views over tables of text columns: every part of a query that changes which names are visible. */

export interface GeneratedColumn {
  relation: string
  name: string
}

/** A number from 0 to 1, the same for the same seed. */
export function makeRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

interface TableOfTexts {
  /** As a query names it. */
  name: string
  columns: readonly string[]
}

interface Query {
  sql: string
  columns: string[]
}

/**
 * Makes views one by one, each over the tables and those views before it that were kept: a few are no valid SQL, as where a
 * name is ambiguous.
 */
export function makeViews(tables: readonly TableOfTexts[], count: number, seed: number) {
  const random = makeRandom(seed)
  const chance = (share: number) => random() < share
  const pick = <Item>(list: readonly Item[]): Item => list[Math.floor(random() * list.length)]!
  const some = <Item>(list: readonly Item[], most: number) =>
    Array.from({ length: 1 + Math.floor(random() * most) }, () => pick(list))
  let names = 0
  const fresh = (prefix: string) => `${prefix}${names++}`
  const known: TableOfTexts[] = [...tables]

  const reference = (visible: readonly GeneratedColumn[]) => {
    const { relation, name } = pick(visible)
    const isUnique = visible.filter(column => column.name === name).length === 1
    return isUnique && chance(0.4) ? name : `${relation}.${name}`
  }
  const expression = (visible: readonly GeneratedColumn[], depth: number): string => {
    const one = () => reference(visible)
    switch (Math.floor(random() * 9)) {
      case 0:
        return `${one()} || ${one()}`
      case 1:
        return `case when ${one()} = ${one()} then ${one()} else 'x' end`
      case 2:
        return `coalesce(${one()}, ${one()}, '')`
      case 3:
        return depth > 0 ? scalar(visible, depth - 1) : `lower(${one()})`
      case 4:
        return `(row_number() over (partition by ${one()} order by ${one()}))::text`
      default:
        return one()
    }
  }
  /** A query inside that names the one around it. */
  const scalar = (visible: readonly GeneratedColumn[], depth: number) => {
    const { sql, columns } = from(depth, [])
    const { relation, name } = pick(visible)
    return `(select max(${reference(columns)}) from ${sql} where ${reference(columns)} = ${relation}.${name})`
  }
  const condition = (visible: readonly GeneratedColumn[], depth: number) => {
    const one = () => reference(visible)
    if (depth > 0 && chance(0.3)) {
      const inner = select(depth - 1, 1)
      return chance(0.5) ? `${one()} in (${inner.sql})` : `exists (${inner.sql})`
    }
    return chance(0.5) ? `${one()} = ${one()}` : `${one()} is not null`
  }

  interface From {
    sql: string
    columns: GeneratedColumn[]
  }
  const named = (relation: string, columns: readonly string[]) => columns.map(name => ({ relation, name }))
  const item = (depth: number, ctes: readonly TableOfTexts[], before: readonly GeneratedColumn[]): From => {
    const alias = fresh('r')
    if (depth > 0 && chance(0.3)) {
      const inner = select(depth - 1)
      if (!chance(0.3)) return { sql: `(${inner.sql}) ${alias}`, columns: named(alias, inner.columns) }
      const renamed = inner.columns.map(() => fresh('c'))
      return { sql: `(${inner.sql}) ${alias} (${renamed.join(', ')})`, columns: named(alias, renamed) }
    }
    if (before.length > 0 && chance(0.2)) {
      const { relation, name } = pick(before)
      const column = fresh('c')
      return {
        sql: chance(0.5)
          ? `lateral (select ${relation}.${name} || 'x' as ${column}) ${alias}`
          : `unnest(string_to_array(${relation}.${name}, ',')) as ${alias} (${column})`,
        columns: [{ relation: alias, name: column }],
      }
    }
    const table = pick(chance(0.4) && ctes.length > 0 ? ctes : known)
    if (chance(0.2)) {
      const renamed = table.columns.map(() => fresh('c'))
      return { sql: `${table.name} ${alias} (${renamed.join(', ')})`, columns: named(alias, renamed) }
    }
    return { sql: `${table.name} ${alias}`, columns: named(alias, table.columns) }
  }
  const from = (depth: number, ctes: readonly TableOfTexts[]): From => {
    let { sql, columns } = item(depth, ctes, [])
    for (let more = Math.floor(random() * 3); more > 0; more--) {
      const next = item(depth, ctes, columns)
      const isLateral = /^(lateral|unnest)/.test(next.sql)
      const names = columns.map(({ name }) => name)
      const shared = next.columns
        .map(({ name }) => name)
        .filter(name => names.indexOf(name) === names.lastIndexOf(name) && names.includes(name))
      const kind = pick(isLateral ? ['join', 'left join'] : ['join', 'left join', 'right join', 'full join'])
      if (shared.length > 0 && chance(0.4)) sql = `${sql} ${kind} ${next.sql} using (${shared[0]})`
      else if (chance(0.3)) sql = `${sql} cross join ${next.sql}`
      else
        sql = `${sql} ${kind} ${next.sql} on ${reference(columns)} = ${next.columns[0]!.relation}.${pick(next.columns).name}`
      columns = [...columns, ...next.columns]
    }
    return { sql, columns }
  }

  const core = (depth: number, width: number | undefined, ctes: readonly TableOfTexts[]): Query => {
    const { sql: source, columns: visible } = from(depth, ctes)
    const bare = visible.map(({ name }) => name)
    if (width === undefined && chance(0.15) && new Set(bare).size === bare.length)
      return { sql: `select * from ${source}`, columns: bare }
    const expressions = Array.from({ length: width ?? 1 + Math.floor(random() * 4) }, () =>
      expression(visible, depth),
    )
    const outputs = expressions.map(() => fresh('c'))
    const isGrouped = chance(0.2)
    const targets = isGrouped
      ? outputs.map((name, index) =>
          index === 0 ? `max(${reference(visible)}) as ${name}` : `count(*)::text as ${name}`,
        )
      : expressions.map((text, index) => `${text} as ${outputs[index]}`)
    const parts = [
      `select ${!isGrouped && chance(0.1) ? 'distinct ' : ''}${targets.join(', ')} from ${source}`,
      ...(chance(0.5) ? [`where ${condition(visible, depth)}`] : []),
      ...(isGrouped
        ? [
            `group by ${some(visible, 2)
              .map(({ relation, name }) => `${relation}.${name}`)
              .join(', ')}`,
          ]
        : []),
      ...(isGrouped && chance(0.4) ? [`having min(${reference(visible)}) > 'a'`] : []),
    ]
    return { sql: parts.join(' '), columns: outputs }
  }
  const select = (depth: number, width?: number): Query => {
    const ctes: TableOfTexts[] = []
    const heads: string[] = []
    if (depth > 0 && chance(0.3))
      for (let n = 1 + Math.floor(random() * 2); n > 0; n--) {
        const inner = core(depth - 1, undefined, ctes)
        const name = chance(0.2) ? pick(tables).name.split('.').at(-1)! : fresh('q')
        if (ctes.some(cte => cte.name === name)) continue
        heads.push(`${name} as (${inner.sql})`)
        ctes.push({ name, columns: inner.columns })
      }
    const first = core(depth, width, ctes)
    let sql = first.sql
    if (chance(0.2)) {
      const second = core(depth, first.columns.length, ctes)
      sql = `(${sql}) ${pick(['union', 'union all', 'intersect', 'except'])} (${second.sql})`
    }
    if (chance(0.2)) sql = `${sql} order by ${chance(0.5) ? '1' : first.columns[0]}`
    return { sql: heads.length > 0 ? `with ${heads.join(', ')} ${sql}` : sql, columns: first.columns }
  }

  return Array.from({ length: count }, (_, index) => {
    const name = `v${index}`
    const query = select(2)
    return {
      name,
      sql: query.sql,
      keep: () => known.push({ name: `public.${name}`, columns: query.columns }),
    }
  })
}
