import t from 'tap'
import { explicit, startWorlds } from '../worlds.ts'

const { tenant, query, world } = await startWorlds(t)

const refusal = (message: RegExp) => ({
  status: 400,
  body: { error: { code: 'VALIDATION_ERROR', message, details: { field: 'freshness_expression' } } },
})

t.test('an expression over the columns of a row is a signal, like a column', async t => {
  const { watch, freshness, check, source, database } = await world(
    t,
    `create table orders (id int, "Made at" timestamptz, changed timestamptz, shipped timestamp, epoch_minutes bigint);
     insert into orders values (1, now() - interval '3 hours', now() - interval '2 hours', null, 1);
     insert into orders values (2, now() - interval '5 hours', null, (now() - interval '1 hour') at time zone 'Europe/Berlin',
       floor(extract(epoch from now() - interval '4 hours'))::bigint / 60)`,
  )
  const schedule = await watch('orders', {
    ...explicit('24h'),
    freshness_expression: `greatest("Made at", changed) -- the later`,
  })
  t.match(schedule, {
    freshness_column: null,
    freshness_signal: 'expression',
    freshness_expression: `greatest("Made at", changed) -- the later`,
  })
  const { data, meta } = await freshness('orders')
  t.match(data, { status: 'fresh', timestamp_column: null, data_age_minutes: 120 })
  t.match(meta, { signal: 'expression', note: null })
  const path = `/api/v1/sdk/freshness/schedules/${schedule.id}`
  const age = async (expression: string) => {
    const reply = await tenant.ask('PATCH', path, { freshness_expression: expression })
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
    return (await freshness('orders')).data.data_age_minutes
  }
  t.equal(await age('epoch_minutes * 60'), 240, 'a number is an epoch')
  t.equal(await age(`shipped at time zone 'Europe/Berlin'`), 60, 'it names its zone itself')
  t.match(await check(), { measured: 1, statements: 1 })

  await database.query(`create table visits (updated_at timestamptz); insert into visits values (now())`)
  const changed = await tenant.ask('PATCH', path, { freshness_column: 'changed' })
  t.match(changed.body.data, { freshness_expression: null, freshness_signal: 'column' })
  t.equal((await freshness('orders')).data.data_age_minutes, 120)
  t.equal((await tenant.ask('DELETE', `/api/v1/sdk/assets/${source.id}`)).status, 200)
})

t.test('text that is no expression, or may not be run, is rejected with a reason', async t => {
  const { source, database, watch, freshness, check } = await world(
    t,
    `create table orders (id int, word text, made timestamptz default now(), email text);
     insert into orders values (1, 'secret word', now(), 'a@b.c');
     create function tick() returns timestamptz language sql volatile as 'select clock_timestamp()'`,
  )
  const ask = (expression: string, more: object = {}) =>
    tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
      asset_id: source.id,
      table_path: 'orders',
      ...explicit('24h'),
      freshness_expression: expression,
      ...more,
    })
  t.match(await ask('select max(made) from orders'), refusal(/must be one expression, not a SELECT/))
  t.match(await ask('made,'), refusal(/must be one expression: syntax error/), 'a SELECT is not offered')
  t.match(await ask('made; drop table orders'), refusal(/freshness_expression/))
  t.match(await ask('(select now())'), refusal(/freshness_expression/))
  t.match(await ask('pg_sleep(1)'), refusal(/pg_sleep is not allowed in freshness_expression/))
  t.match(await ask('greatest(made, tick())'), refusal(/tick is VOLATILE/))
  t.match(await ask('nowhere'), refusal(/nowhere/))
  t.match(await ask('max(made)'), refusal(/aggregate/))
  t.match(await ask('made', { freshness_column: 'made' }), {
    status: 400,
    body: { error: { message: /^freshness_column and freshness_expression cannot be given together$/ } },
  })
  t.match(await ask('made', { freshness_signal: 'column' }), { status: 400 })
  t.match(
    await tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
      asset_id: source.id,
      table_path: 'orders',
      freshness_signal: 'expression',
    }),
    refusal(/is required/),
  )

  const tagged = await tenant.ask('POST', '/api/v1/sdk/tags', {
    asset_id: source.id,
    name: 'pii',
    object_path: 'orders.email',
    object_type: 'column',
  })
  t.equal(tagged.status, 201)
  t.match(await ask('cast(EMAIL as timestamptz)'), refusal(/email is tagged as personal data/i))
  t.match(await ask('cast(email.part as timestamptz)'), refusal(/email is tagged as personal data/i))
  const wholeRows = [
    'orders::text',
    'public.orders::text',
    '(orders).email',
    'email(orders)',
    `to_jsonb(ORDERS) ->> 'email'`,
    'orders.*::text',
    'orders.to_jsonb::text',
    'object_construct(*)',
  ]
  for (const expression of wholeRows)
    t.match(await ask(expression), refusal(/is a whole row, in which email is tagged/), expression)

  const schedule = await watch('orders', {
    ...explicit('24h'),
    freshness_expression: 'cast(word as timestamptz)',
  })
  const { data, meta } = await freshness('orders')
  t.match(data, { status: 'unknown' })
  t.match(meta.error_message, /engine's message is not shown/, 'the engine would quote the value')
  t.notMatch(meta.error_message, /secret/)

  await query(`update checks set settings = settings || '{"expression": "tick()"}' where uuid = $1`, [
    schedule.id,
  ])
  await database.query(`create table calm (ts timestamptz); insert into calm values (now())`)
  const { failed } = await check()
  t.match(
    failed,
    [{ error: { message: /tick is VOLATILE/ } }],
    'a function that became volatile is not called',
  )
})
