import t from 'tap'
import { sentDuring } from '../../../helpers/sent-statements.ts'
import { share } from '../../../helpers/share.ts'
import { makeStage } from '../../../helpers/world.ts'
import { metricWorld } from '../../metrics/world.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

/** Checks of one table. The larger number is of more than are judged at once. */
const [FEW, MANY] = [2, 70]

/** Two groups of a column whose values are spoiled and mended, and what it refers to. */
const TABLES = [
  'create table sales (kind text, value int)',
  `insert into sales select kind, n from unnest(array['a', 'b']) kind, generate_series(1, 100) n`,
  'create table values (id int)',
  'insert into values select generate_series(1, 100)',
]
const SPOIL = 'update sales set value = value + 1000'
const MEND = 'update sales set value = value - 1000'

/** A kind of check, and what makes all of them fail and pass. */
interface Kind {
  name: string
  kind: string
  path: string
  body(n: number): object
  spoil: string
  mend: string
  /** Days that are captured before anything is amiss. */
  learns: number
  /** Statements that each further fifty checks may cost: what is learned of them is read and written in parts. */
  more: number
}

const percentile = (n: number) => ({
  metric_type: 'percentile',
  column_name: 'value',
  percentile_value: n + 1,
  sensitivity: 4,
})

const KINDS: Kind[] = [
  {
    name: 'rules',
    kind: 'validity_failure',
    path: 'validity',
    body: n => ({ rule_type: 'RANGE', column_name: 'value', rule_config: { max: 500 + n } }),
    spoil: SPOIL,
    mend: MEND,
    learns: 0,
    more: 0,
  },
  {
    name: 'metrics',
    kind: 'metric_anomaly',
    path: 'metrics',
    body: percentile,
    spoil: SPOIL,
    mend: MEND,
    learns: 9,
    more: 4,
  },
  {
    name: 'metrics whose group vanishes',
    kind: 'metric_anomaly',
    path: 'metrics',
    body: n => ({ ...percentile(n), group_by_columns: ['kind'] }),
    spoil: `delete from sales where kind = 'b'`,
    mend: `insert into sales select 'b', n from generate_series(1, 100) n`,
    learns: 9,
    more: 4,
  },
  {
    name: 'referential checks',
    kind: 'referential_failure',
    path: 'referential',
    body: n => ({
      child_table_path: 'sales',
      child_column_name: 'value',
      parent_table_path: 'values',
      parent_column_name: 'id',
      max_orphan_count: n,
    }),
    spoil: SPOIL,
    mend: MEND,
    learns: 0,
    more: 0,
  },
]

/** A table with so many checks of a kind, and what its next scan sends to the product's database. */
async function checked(t: Parameters<typeof metricWorld>[0], kind: Kind, count: number) {
  const world = await metricWorld(t, stage, TABLES, { metric_type: 'row_count', sensitivity: 10 })
  const { tenant, asset, app } = world
  await tenant.ask('DELETE', world.path)
  for (let n = 0; n < count; n++) {
    const body = { table_path: 'sales', ...kind.body(n) }
    const { child_table_path: isReferential } = body as { child_table_path?: string }
    if (isReferential) delete (body as { table_path?: string }).table_path
    const made = await tenant.ask('POST', `/api/v1/sdk/${kind.path}/${asset.id}`, body)
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  }
  for (let day = 1; day < kind.learns; day++) await world.capture(day)
  let day = Math.max(1, kind.learns)
  return {
    ...world,
    /** The statements about checks and alerts of the scan of the next day. */
    async scan() {
      const sent = await sentDuring(() => world.capture(day++))
      return sent.map(({ text }) => text).filter(text => OWN.test(text) && !OTHERS.test(text))
    },
    /** How many alerts of the kind there are of the source, by their status. */
    async counts() {
      const found = await app.query(
        `select status, count(*)::int as count, count(distinct cause)::int as causes, max(occurrences) as times
           from alerts where source_id = $1 and kind = $2 group by status order by status`,
        [asset.id, kind.kind],
      )
      return found as { status: string; count: number; causes: number; times: number }[]
    },
  }
}

/** The statements of three scans. */
type Cost = Record<'failing' | 'again' | 'passing', string[]>

const OWN = /alert|deliver|destination|validity|metric|referential/
/** The queue, and the job that groups alerts seconds later, during whatever scan that is. */
const OTHERS = /pgboss|incident/

for (const kind of share(KINDS, 'kinds of recorded alerts')) {
  t.test(`${kind.name} of one table that fail together are an alert each, raised as one set`, async t => {
    const cost: Cost[] = []
    for (const count of [FEW, MANY])
      await t.test(`of ${count}`, async t => {
        const world = await checked(t, kind, count)
        await world.source.query(kind.spoil)
        const failing = await world.scan()
        t.match(await world.counts(), [{ status: 'triggered', count, causes: count, times: 1 }])
        const again = await world.scan()
        t.match(await world.counts(), [{ status: 'triggered', count, causes: count }])
        await world.source.query(kind.mend)
        const passing = await world.scan()
        t.match(await world.counts(), [{ status: 'resolved', count, causes: count }])
        cost.push({ failing, again, passing })
      })
    const [few, many] = cost as [Cost, Cost]
    for (const scan of ['failing', 'again', 'passing'] as const) {
      const parts = Math.floor((MANY - 1) / 50)
      t.ok(
        many[scan].length <= few[scan].length + kind.more * parts,
        `${scan}: ${few[scan].length} statements for ${FEW}, ${many[scan].length} for ${MANY}`,
      )
    }
  })
}
