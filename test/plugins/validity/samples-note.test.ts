import t from 'tap'
import { discover, makeStage, makeWorldOn } from '../../helpers/world.ts'

const stage = await makeStage(t)

t.test('replies with samples say why rows or values are missing, and nothing where none is', async t => {
  const world = await makeWorldOn(t, stage, [
    'create table c (id int primary key, p varchar(999), small int)',
    `insert into c select n, n || repeat('x', 900), n from generate_series(1, 90) n`,
  ])
  const { tenant, asset } = world
  await discover(world)
  const check = async (column: string) => {
    const base = `/api/v1/sdk/validity/${asset.id}`
    const rule = { table_path: 'public.c', rule_type: 'ENUM', column_name: column }
    const { body } = await tenant.ask('POST', base, { ...rule, rule_config: { allowed_values: ['0'] } })
    const path = `${base}/${body.data.id}/check`
    return (await tenant.ask('POST', path, { sample_limit: 100 })).body.data.invalid_samples
  }
  const cut = await check('p')
  t.equal(cut.note, `Samples are limited to 64 KiB: ${cut.samples.length} of 90 rows are shown.`)
  const whole = await check('small')
  t.equal(whole.samples.length, 90)
  t.notOk('note' in whole)
})
