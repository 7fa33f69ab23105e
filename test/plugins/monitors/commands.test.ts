import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readMonitors } from '../../../plugins/monitors/file/monitors-file.ts'
import { command as tidemark } from '../../helpers/command.ts'
import { SECRET_KEY } from '../../helpers/server.ts'
import { monitorsOf, startMonitors } from './stages.ts'

const { server, signUp, query, shop } = await startMonitors(t)
const tenant = await signUp()

const afar = { TIDEMARK_URL: server.info.uri, TIDEMARK_API_KEY: tenant.key }
const near = { DATABASE_URL: String(server.config.databaseUrl), SECRET_KEY, EGRESS_ALLOW: '127.0.0.0/8' }
const ways = [
  ['from afar', (...words: string[]) => tidemark(words, afar)],
  [
    'on the database of the settings',
    (...words: string[]) => tidemark([...words, '--company', tenant.companyId], near),
  ],
] as const

for (const [where, run] of ways) {
  t.test(`${where}, files are planned and applied`, async t => {
    const { ids, name } = await shop(t, [tenant])
    const [id = ''] = ids
    const folder = t.testdir({ monitors: {} })
    const file = join(folder, 'monitors/shop.yaml')
    const write = (severity: string, more = '') =>
      writeFileSync(
        file,
        `version: 1
source: ${name}
tables:
  orders:
    checks:
      validity:
        - {key: status, rule_type: NOT_NULL, column_name: status, severity: ${severity}}
${more}`,
      )
    write('info', '        - {key: total, rule_type: NOT_NULL, column_name: total}\n')
    const first = await run('plan', '-f', join(folder, 'monitors'))
    t.match(first, { code: 2, err: '' })
    t.match(
      first.out,
      /^ {2}\+ validity status on orders \(.*monitors\/shop\.yaml:7\)\n {6}rule_type: "NOT_NULL"/,
    )
    t.match(first.out, /2 to create, 0 unchanged\n$/)
    const applied = await run('apply', '-f', join(folder, 'monitors'))
    t.match(applied, { code: 0, out: /2 created, 0 unchanged\n$/ })
    t.match(await run('plan', '-f', file), { code: 0, out: /no changes, 2 unchanged\n$/ })

    write('critical')
    const second = await run('plan', '-f', file, '--prune')
    t.match(second, { code: 2, out: / {2}~ validity status on .*\n {6}severity: "info" → "critical"\n/ })
    t.match(second.out, / {2}- validity total on .* is removed, and its history is lost/)
    t.match(await run('plan', '-f', file), { code: 2, out: /\? validity total .* --prune removes it/ })
    t.match(await run('apply', '-f', file, '--prune'), { code: 0, out: /1 changed, 1 removed, 0 unchanged/ })

    await query(`update checks set severity = 'info' where source_id = $1`, [id])
    const drifted = await run('plan', '-f', file)
    t.match(
      drifted.out,
      /^Changed on the server .*\n {2}! validity status .*\n {6}severity: "critical" → "info"\n/,
    )

    const json = await run('plan', '-f', file, '--json')
    t.match(JSON.parse(json.out), [{ source: name, change: 1 }])

    const exported = await run('export', name)
    t.equal(exported.code, 0)
    t.match(exported.out, '# yaml-language-server: $schema=http')
    t.strictSame(
      readMonitors(exported.out, 'out').document,
      JSON.parse(JSON.stringify(await monitorsOf(tenant, id).export())),
    )
  })

  t.test(`${where}, faulty files change nothing, and plan ends with 1`, async t => {
    const { ids, name } = await shop(t, [tenant])
    const folder = t.testdir({})
    mkdirSync(join(folder, 'deep'))
    const good = `version: 1\nsource: ${name}\ntables: {orders: {checks: {metric: [{key: a, metric_type: row_count}]}}}\n`
    writeFileSync(join(folder, 'good.yaml'), good)
    writeFileSync(join(folder, 'deep/bad.yml'), 'version: 1\nsorce: shop\ntables: {}\n')
    const planned = await run('plan', '-f', folder)
    t.equal(planned.code, 1)
    t.match(
      planned.err,
      /deep\/bad\.yml:2:1: unknown field `sorce`; did you mean `source`\?\n.*bad\.yml:1:1: source must/,
    )
    t.match(await run('apply', '-f', folder), { code: 2, err: /bad\.yml:2:1/ })
    writeFileSync(
      join(folder, 'deep/bad.yml'),
      'version: 1\nsource: nowhere\ntables: {orders: {checks: {metric: [{key: b, metric_type: row_count}]}}}\n',
    )
    t.match(await run('apply', '-f', folder), { code: 3, err: /there is no source nowhere/ })
    writeFileSync(
      join(folder, 'deep/bad.yml'),
      `version: 1\nsource: ${name}\ntables:\n  order:\n    checks: {}\n  orders:\n    checks: {metric: [{key: b, metric_type: rows}]}\n  rders:\n    checks: {metric: [{key: c, metric_type: row_count}]}\n`,
    )
    const refused = await run('apply', '-f', folder)
    t.match(refused, { code: 2, err: /bad\.yml:8:3: there is no table .*\n.*bad\.yml:7:\d+: .*rows/ })
    const [found] = await query('select count(*)::int as n from checks where source_id = $1', ids)
    t.equal(found?.n, 0)
    t.match(await run('plan', '-f', join(folder, 'none.yaml')), { code: 1, err: /none\.yaml is not there/ })
    t.match(await run('plan', '--wrong'), { code: 1 })
  })
}

t.test('the schema needs no server', async t => {
  const { code, out } = await tidemark(['monitors', 'schema'])
  t.equal(code, 0)
  t.match(JSON.parse(out), { title: 'Tidemark monitors' })
})
