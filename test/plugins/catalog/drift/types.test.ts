import t from 'tap'
import { discover, makeStage, makeWorldOn, type World } from '../../../helpers/world.ts'

const stage = await makeStage(t)

/** A change as these tests compare it. */
interface ComparedChange {
  change_type: string
  object_name: string
  old_value: Record<string, unknown> | null
  new_value: Record<string, unknown> | null
}

/** The changes of a source, newest first. */
async function changesOf({ tenant, asset }: World): Promise<ComparedChange[]> {
  const { body } = await tenant.ask('GET', `/api/v1/assets/${asset.id}/schema-changes`)
  return body.data.changes
}

const TYPES = [
  `create type "En2" as enum ('a')`,
  `create type "EN2" as enum ('a')`,
  'create schema "Mixed.Case"',
  `create type "Mixed.Case"."It ""is""" as enum ('a')`,
  'create domain dm as integer',
]

t.test('the name of a type keeps its case and its quotes', async t => {
  const world = await makeWorldOn(t, stage, [
    ...TYPES,
    `create table t (a "En2", b "En2"[], c "Mixed.Case"."It ""is""", d varchar(20), e timestamptz(3))`,
  ])
  const { tenant, source } = world
  await discover(world)
  const { body } = await tenant.ask('GET', `/api/v1/assets/shop.${source.name}.public.t`)
  t.same(
    body.columns.map((column: { data_type: string }) => column.data_type),
    ['"En2"', '"En2"[]', '"Mixed.Case"."It ""is"""', 'varchar(20)', 'timestamptz(3)'],
  )
  await source.query('alter table t alter a type "EN2" using a::text::"EN2"')
  await discover(world)
  t.match(await changesOf(world), [
    {
      change_type: 'column_type_changed',
      object_name: 'a',
      old_value: { data_type: '"En2"' },
      new_value: { data_type: '"EN2"' },
    },
  ])
})

t.test('another type under a domain of the same name is a change of type', async t => {
  const world = await makeWorldOn(t, stage, [...TYPES, 'create table t (a dm, b dm)'])
  const { source } = world
  await discover(world)
  for (const statement of [
    'create domain other as bigint',
    'alter table t alter a type other, alter b type other',
    'drop domain dm',
    'create domain dm as bigint',
    'alter table t alter a type dm, alter b type dm',
  ])
    await source.query(statement)
  await discover(world)
  const changed = {
    change_type: 'column_type_changed',
    old_value: { data_type: 'dm', base_type: 'integer' },
    new_value: { data_type: 'dm', base_type: 'bigint' },
  }
  const found = (await changesOf(world)).toSorted((a, b) => (a.object_name < b.object_name ? -1 : 1))
  t.match(found, [
    { ...changed, object_name: 'a' },
    { ...changed, object_name: 'b' },
  ])
  t.equal(found.length, 2)
})

t.test('a domain that becomes a type of its own name is a change of type', async t => {
  const world = await makeWorldOn(t, stage, [...TYPES, 'create table t (a dm)'])
  const { source } = world
  await discover(world)
  for (const statement of [
    'alter table t alter a type integer',
    'drop domain dm',
    `create type dm as enum ('a')`,
    `alter table t alter a type dm using 'a'::dm`,
  ])
    await source.query(statement)
  await discover(world)
  const [change, ...others] = await changesOf(world)
  t.match(change, { change_type: 'column_type_changed', object_name: 'a' })
  t.match(change, { old_value: { base_type: 'integer' }, new_value: { data_type: 'dm' } })
  t.notOk(Object.hasOwn(change?.new_value ?? {}, 'base_type'))
  t.same(others, [])
})

t.test('what the version before stored makes no change', async t => {
  const world = await makeWorldOn(t, stage, [
    ...TYPES,
    'create domain mixed as "En2"',
    'create table t (a "En2", b "En2"[], c "Mixed.Case"."It ""is""", d dm, e mixed)',
  ])
  const { app, asset, source } = world
  await discover(world)
  // It stored types and those under domains in lower case, and its fingerprints were without the latter.
  const lower = `
    update tables set fingerprint = 'of the version before', columns = (
      select jsonb_agg(c || jsonb_build_object('type', lower(c ->> 'type'))
        || jsonb_build_object('rawType', coalesce(c ->> 'rawType', c ->> 'type'))
        || case when c ? 'base' then jsonb_build_object('base', lower(c ->> 'base')) else '{}' end order by n)
      from jsonb_array_elements(columns) with ordinality as e(c, n))
    where source_id = $1`
  await app.query(lower, [asset.id])
  t.match(await discover(world), { status: 'completed', result: { changes_detected: 0 } })
  t.same(await changesOf(world), [])
  await discover(world)
  t.same(await changesOf(world), [], 'nor does the one after')

  await app.query(lower, [asset.id])
  await source.query('alter table t alter a type "EN2" using a::text::"EN2"')
  t.match(await discover(world), { result: { changes_detected: 1 } }, 'what changed meanwhile is a change')
})
