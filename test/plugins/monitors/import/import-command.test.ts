import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { readMonitors } from '../../../../plugins/monitors/file/monitors-file.ts'
import { command } from '../../../helpers/command.ts'

const home = await mkdtemp(join(tmpdir(), 'import-'))
t.teardown(() => rm(home, { recursive: true, force: true }))

async function write(name: string, text: string): Promise<string> {
  await writeFile(join(home, name), text)
  return join(home, name)
}

const MODELS = `models:
  - name: orders
    columns:
      - name: id
        tests: [unique, is_even]
`

t.test('the monitors file is printed, and what is left out is said beside it', async t => {
  const file = await write('schema.yml', MODELS)
  const { code, out, err } = await command(['import', 'dbt', file, '--source', 'shop', '--schema', 'mart'])
  t.equal(code, 0)
  t.match(readMonitors(out, 'out').document, {
    source: 'shop',
    tables: { 'mart.orders': { checks: { validity: [{ rule_type: 'UNIQUE' }] } } },
  })
  t.match(
    err,
    /^left out: .*schema\.yml:5: is_even of mart\.orders\.id: .*\n2 found: 1 converted, 1 left out\n$/s,
  )
})

t.test('filters are read in the SQL of the engine, also of one that only an extension provides', async t => {
  const importFor = async (engine: string, where: string) => {
    const model = { name: 'o', columns: [{ name: 'id', tests: [{ unique: { config: { where } } }] }] }
    const file = await write('filtered.yml', JSON.stringify({ models: [model] }))
    const { out, err } = await command(['import', 'dbt', file, '--source', 'shop', '--engine', engine])
    return { checks: readMonitors(out, 'out').document.tables.o?.checks.validity, err }
  }
  const where = '`my column` > 1'
  t.match(await importFor('bigquery', where), {
    ...{ checks: [{ rule_type: 'UNIQUE', filter: where }], err: /^1 found/ },
  })
  t.match(await importFor('postgresql', where), {
    ...{ checks: [{ rule_type: 'CUSTOM_SQL' }], err: /^note: .*SELECT of its own/ },
  })
  t.match(await importFor('sqlite', 'a > 1'), { checks: [{ filter: 'a > 1' }] })
})

t.test('it is written to a file, and what is left out ends a strict import with 1', async t => {
  const file = await write('schema.yml', MODELS)
  const target = join(home, 'monitors.yaml')
  const words = ['import', 'dbt', file, '--source', 'shop', '--out', target, '--strict']
  t.match(await command(words), { code: 1, out: '' })
  t.match(await readFile(target, 'utf8'), /^version: 1\nsource: shop\n/)
  const { out } = await command(['import', 'dbt', file, '--source', 'shop', '--json'])
  t.match(JSON.parse(out), {
    ...{ found: 2, converted: 1, left: [{ line: 5, reason: String }] },
    ...{ notes: [], unread: [] },
  })
})

t.test('a file that cannot be read is named, and the others are converted all the same', async t => {
  const good = await write('good.yml', MODELS)
  const bad = await write('bad.yml', 'models:\n  - name: [\n')
  const latin = join(home, 'latin.yml')
  await writeFile(latin, Buffer.from('models: # \xe4', 'latin1'))
  const absent = join(home, 'none.yml')
  const files = [bad, good, latin, absent]
  const { code, out, err } = await command(['import', 'dbt', ...files, '--source', 'shop'])
  t.equal(code, 2)
  t.match(readMonitors(out, 'out').document.tables, { orders: { checks: { validity: [{}] } } })
  t.match(err, /^not read: .*bad\.yml: line \d+: .+$/m)
  t.match(err, /^not read: .*latin\.yml: it is not UTF-8$/m)
  t.match(err, /^not read: .*none\.yml: it is not there$/m)
  t.match(err, /2 found: 1 converted, 1 left out\n$/)
  const { out: json } = await command(['import', 'dbt', ...files, '--source', 'shop', '--json'])
  t.match(JSON.parse(json), { converted: 1, unread: [{ file: latin }, { file: absent }, { file: bad }] })
})

t.test('what cannot be read is refused with the reason', async t => {
  const from = (tool: string, file: string, ...more: string[]) =>
    command(['import', tool, file, '--source', 'shop', ...more])
  t.match(await from('dbt', join(home, 'none.yml')), { code: 2, out: '', err: /none\.yml: it is not there/ })
  t.match(await from('soda', await write('bad.yml', 'a: [')), { code: 2, out: '', err: /bad\.yml: line 1: / })
  const suite = await write('suite.json', '{')
  t.match(await from('great-expectations', suite, '--table', 'a'), { code: 2, err: /suite\.json: .*JSON/ })
  t.match(await from('great-expectations', suite), { code: 2, err: /--table/ })
  t.match(await from('dbt', suite, '--engine', 'db2'), { code: 2, err: /Allowed choices/ })
})
