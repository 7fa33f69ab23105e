/**
 * Goes the way of a team that has never seen the sources: packs Tidemark and installs it in an empty folder, copies
 * the plug-in template there, renames and tests it as its README says, packs and installs it, and uses it over
 * HTTP. Needs npm and its registry or cache; the tools of development are linked instead of installed once more.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, extname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { isPostmasterAlive, readPostmaster } from '../server/embedded/postmaster.ts'
import { learnCredentials, watchProcess } from './helpers/log-watch.ts'

/** What the README asks a team to rename, and the new names. */
const NAMES: Record<string, string> = {
  'tidemark-plugin-template': 'acme-observe',
  sqlite: 'acme',
  blank_count: 'acme_blanks',
  ntfy: 'acme_ntfy',
}

// npm may have to ask its registry, and other tests run beside. The comment keeps the parent process from timing out.
t.setTimeout(400_000)
t.comment('timeout=400000')

const source = join(import.meta.dirname, '..')
const root = realpathSync(mkdtempSync(join(tmpdir(), 'tidemark-template-')))
t.teardown(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
// As root, PostgreSQL runs as another user, who must be let in.
chmodSync(root, 0o755)
const app = join(root, 'app')
const copy = join(app, 'acme')
const tools = join(source, 'node_modules')

/** The environment that npm needs; tap's and npm's own variables would change their children. */
const environment = Object.fromEntries(
  Object.entries({ ...process.env, PATH: `${join(tools, '.bin')}${delimiter}${process.env.PATH}` }).filter(
    ([name]) =>
      /^(PATH|HOME|USER|TMPDIR|LANG|SYSTEMROOT|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|(https?|no)_proxy)$/i.test(
        name,
      ) || /^npm_config_(registry|cache|userconfig|globalconfig|cafile|strict_ssl|offline)$/i.test(name),
  ),
)

/** Runs a program to its end and gives what it wrote. */
function run(cwd: string, program: string, ...words: string[]): string {
  const ended = spawnSync(program, words, { cwd, env: environment, encoding: 'utf8', timeout: 600_000 })
  if (ended.status === 0) return ended.stdout
  // Only what failed of a test run: its other lines are many.
  const lines = `${ended.stdout}\n${ended.stderr}`.split('\n').filter(line => !/^\s*(ok|#|1\.\.)/.test(line))
  throw new Error(
    `${program} ${words.join(' ')} ended with ${ended.status}:\n${lines.slice(0, 200).join('\n')}`,
  )
}

const install = (...packages: string[]) =>
  run(app, 'npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', ...packages)

interface Packed {
  filename: string
  unpackedSize: number
  files: { path: string; mode: number }[]
}

/** Packs a package, built by its own `prepack`. npm prints the package's JSON after the output of the build. */
function pack(folder: string): Packed & { file: string } {
  const output = run(folder, 'npm', 'pack', '--json', '--pack-destination', root)
  const [packed] = JSON.parse(output.slice(output.search(/^\[/m))) as [Packed]
  return { ...packed, file: join(root, packed.filename) }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

await t.test('the package holds what a server needs, and no more', async t => {
  // Built in a copy, so that the checkout is left as it is.
  const staged = join(root, 'tidemark')
  for (const entry of readdirSync(source)) {
    if (['node_modules', 'dist', '.git', '.data', '.tap'].includes(entry)) continue
    cpSync(join(source, entry), join(staged, entry), {
      recursive: true,
      filter: path => !/[\\/](node_modules|dist)$/.test(path),
    })
  }
  symlinkSync(tools, join(staged, 'node_modules'), 'junction')
  const { files, unpackedSize } = pack(staged)
  const paths = files.map(({ path }) => path)
  for (const path of [
    ...[
      'package.json',
      'README.md',
      'LICENSE',
      'dist/server/main.js',
      'plugins/auth/sign-in/common-passwords.txt',
    ],
    ...['dist/connectors/index.js', 'dist/connectors/index.d.ts', 'dist/connectors/conformance.js'],
    ...['dist/checks/index.js', 'dist/checks/index.d.ts', 'dist/checks/conformance.js'],
    ...[
      'dist/plugins/alerts/destinations/destination.js',
      'dist/plugins/alerts/destinations/destination.d.ts',
    ],
    'dist/plugins/alerts/destinations/conformance.js',
    ...['dist/plugin-template/index.js', 'dist/plugin-template/reader/backend.js'],
    ...['assets', 'docs'].flatMap(folder =>
      readdirSync(join(source, 'plugins/public', folder), { recursive: true, encoding: 'utf8' })
        .filter(name => extname(name) !== '')
        .map(name => `plugins/public/${folder}/${name}`),
    ),
  ]) {
    t.ok(paths.includes(path), path)
  }
  const others = paths.filter(
    path => !/^(dist|plugins\/(public\/(assets|docs)|console\/assets)|plugin-template)\//.test(path),
  )
  t.same(others.sort(), ['LICENSE', 'README.md', 'package.json', 'plugins/auth/sign-in/common-passwords.txt'])
  t.same(
    paths.filter(
      path =>
        /^dist\/(.*\/)?test\/|\.test\.|\.data|\.env|secret\.key/.test(path) &&
        // The template is there to be copied, with its tests.
        !path.startsWith('plugin-template/'),
    ),
    [],
    'neither tests nor secrets',
  )
  t.same(
    paths.filter(path => /^dist\/.*\.map$|^dist\/test\//.test(path)),
    [],
    'nor what no server reads',
  )
  // A quarter of it is one file, the reference to be read; 0.4 MB are pictures of the documentation, 0.4 MB the types of `tidemark/check-kind`.
  t.ok(unpackedSize < 9_200_000, `${unpackedSize} bytes`)
  write(join(app, 'package.json'), '{ "private": true }')
  install(join(root, 'tidemark-0.1.0.tgz'))
})

await t.test('what the package exports has types, and the program says which Node it needs', async t => {
  const manifest = JSON.parse(readFileSync(join(app, 'node_modules', 'tidemark', 'package.json'), 'utf8'))
  const subpaths = Object.keys(manifest.exports).filter(path => !path.endsWith('.json'))
  const imports = subpaths.map((path, index) => `import * as m${index} from 'tidemark/${path.slice(2)}'`)
  const uses = subpaths.map((_, index) => `m${index}`)
  write(join(app, 'consumer', 'index.ts'), `${imports.join('\n')}\nexport const all = [${uses.join(', ')}]\n`)
  const settings = { module: 'nodenext', target: 'es2024', strict: true, noEmit: true, types: ['node'] }
  const typeRoots = [join(tools, '@types')]
  const compilerOptions = { ...settings, skipLibCheck: true, typeRoots }
  write(join(app, 'consumer', 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['index.ts'] }))
  t.equal(run(join(app, 'consumer'), 'tsc'), '')
  // The compiler takes a declaration that is missing for `any`, without a word: each import must lead to a file.
  const installed = join(app, 'node_modules', 'tidemark')
  const declarations = new Set<string>(subpaths.map(path => join(installed, manifest.exports[path].types)))
  for (const file of declarations) {
    const text = readFileSync(file, 'utf8')
    for (const [, path] of text.matchAll(/(?:from |import\()'(\.[^']+)'/g)) {
      declarations.add(join(dirname(file), path!.replace(/\.[jt]s$/, '.d.ts')))
    }
  }
  t.ok(declarations.size > subpaths.length, `${declarations.size} files with types`)
  const main = readFileSync(join(app, 'node_modules', 'tidemark', 'dist', 'server', 'main.js'), 'utf8')
  const [, needed] = /const MIN_NODE_VERSION = \[([\d, ]+)\]/.exec(main) ?? []
  t.equal(`>=${needed?.replaceAll(', ', '.')}`, manifest.engines.node)
  // An older Node reads imports before it runs anything: a name that it lacks would be all that it says.
  t.strictSame(
    [...main.matchAll(/^import .* from '(.*)'/gm)].map(([, from]) => from),
    ['node:path'],
  )
})

await t.test('a copy of the template, renamed as its README says, passes its own tests at once', async t => {
  cpSync(join(source, 'plugin-template'), copy, {
    recursive: true,
    filter: path => !/[\\/](node_modules|dist|\.tap)$/.test(path),
  })
  const { devDependencies } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'))
  const own = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')).devDependencies
  mkdirSync(join(root, 'node_modules', '@types'), { recursive: true })
  for (const [name, version] of Object.entries(devDependencies)) {
    t.equal(version, own[name], `${name} is the one that is linked`)
    symlinkSync(join(tools, name), join(root, 'node_modules', name), 'junction')
  }

  const readme = readFileSync(join(copy, 'README.md'), 'utf8')
  const rows = [...readme.matchAll(/^ *\| [^|]+\| +(`.+`) +\| `([\w-]+)` +\|$/gm)]
  t.same(
    rows.map(([, , name]) => name),
    Object.keys(NAMES),
    'the README lists what to rename',
  )
  for (const [, places = '', name = ''] of rows) {
    for (const [, place = ''] of places.matchAll(/`([^`]+)`/g)) {
      const text = readFileSync(join(copy, place), 'utf8')
      const renamed = text.replaceAll(new RegExp(`(['"])${name}\\1`, 'g'), `$1${NAMES[name]}$1`)
      t.not(renamed, text, `${name} stands in ${place}`)
      write(join(copy, place), renamed)
    }
  }
  const said = run(copy, 'npm', 'test', '--', '--reporter=tap')
  const [, total, passed] = /^# \{ total: (\d+), pass: (\d+)(?:, skip: \d+)? \}$/m.exec(said) ?? []
  t.ok(Number(passed) > 250, `${passed} of ${total} passed`)
  t.match(said, /# Subtest: acme: .*connect/s, 'the kit tests the renamed engine')
})

await t.test("the README's session of a server database compiles", async t => {
  const readme = readFileSync(join(copy, 'README.md'), 'utf8')
  const [, block = ''] = /```ts\n(.*?)```/s.exec(readme) ?? []
  const folder = join(root, 'sketch')
  cpSync(copy, folder, { recursive: true, filter: path => !/[\\/](test|python|\.tap)$/.test(path) })
  symlinkSync(join(app, 'node_modules'), join(folder, 'node_modules'), 'junction')
  const config = `export interface AcmeConfig { host: string; port: number; database: string; username: string; password: string }`
  write(join(folder, 'session-of-a-server.ts'), `${block.replace(/^ {3}/gm, '')}\n${config}\n`)
  write(
    join(folder, 'acme-driver.d.ts'),
    `declare module 'acme-driver' {
      interface Client {
        query(text: string, values: unknown[], options: { timeoutMs: number; maxRows?: number; signal: AbortSignal }):
          Promise<import('tidemark/connector').Row[]>
        prepare(text: string, options: { timeoutMs: number; signal: AbortSignal }): Promise<void>
        close(): Promise<void>
      }
      export function connect(options: { address: string; tlsName: string; port: number; database: string;
        username: string; password: string; signal: AbortSignal }): Promise<Client>
    }`,
  )
  t.equal(run(folder, 'tsc'), '')
})

await t.test('the package of the copy is an extension of an installed server', async t => {
  const { files, file } = pack(copy)
  t.same(
    files.map(({ path }) => path).filter(path => !path.startsWith('dist/')),
    ['README.md', 'package.json'],
  )
  install(file)
  t.notOk(statSync(join(app, 'node_modules', 'acme-observe', 'index.ts'), { throwIfNoEntry: false }))

  const shops = join(root, 'shops')
  mkdirSync(shops)
  const database = new DatabaseSync(join(shops, 'shop.db'))
  database.exec(`create table customers (id integer primary key, name text not null, email text);
    insert into customers values (1, 'Ann', 'ann@example.com'), (2, 'Robert', null), (3, 'Eve', 'eve@example.com')`)
  database.close()

  const { ask, stop } = await serve({
    DATA_DIR: join(root, 'data'),
    FILE_SOURCES: shops,
    EXTENSIONS: 'acme-observe',
  })
  t.teardown(stop)
  const cluster = join(root, 'data', 'postgres-17')
  t.ok(await readPostmaster(cluster), 'its database is below the data folder')
  const account = { email: 'owner@example.com', password: 'correct horse battery' }
  await ask('POST', '/auth/register', { ...account, company_name: 'Acme' })
  const { access_token: token } = await ask('POST', '/auth/login', account)
  const made = await ask('POST', '/api-keys', { name: 'template', scope: 'admin' }, token)
  const use = (method: string, path: string, body?: object) => ask(method, path, body, made.data.key)

  const asset = { name: 'shop', source_type: 'acme', connection_config: { path: join(shops, 'shop.db') } }
  t.match(await use('POST', '/sdk/assets', asset), { data: { source_type: 'acme' } })
  t.match(await use('POST', '/sdk/assets/shop/test-connection'), { data: { success: true } })
  const { data: started } = await use('POST', '/sdk/assets/shop/discover')
  t.match(await finished(() => use('GET', `/sdk/jobs/${started.job_id}`)), { status: 'completed' })
  const { data: assets } = await use('GET', '/assets?source=shop')
  t.same(assets.map(({ name }: { name: string }) => name).sort(), ['customers', 'shop'])

  const rule = { rule_type: 'NOT_NULL', table_path: 'customers', column_name: 'email' }
  const { data: emails } = await use('POST', '/sdk/validity/shop', rule)
  t.match(await use('POST', `/sdk/validity/shop/${emails.id}/check`), {
    data: { total_rows: 3, invalid_count: 1 },
  })
  const metric = { metric_type: 'acme_blanks', table_path: 'customers', column_name: 'name' }
  const { data: blanks } = await use('POST', '/sdk/metrics/shop', metric)
  t.match(await use('POST', `/sdk/metrics/shop/${blanks.id}/capture`), {
    data: { snapshots: [{ value: 0 }] },
  })
  const other = await use('POST', '/sdk/metrics/shop', { ...metric, metric_type: 'blank_count' })
  t.match(other, { data: { metric_type: 'blank_count' } }, 'the one of the server itself is there too')

  const destination = {
    name: 'phones',
    destination_type: 'acme_ntfy',
    config: { url: 'https://192.0.2.1', topic: 'x' },
  }
  const forbidden = await use('POST', '/sdk/alerts/destinations', destination)
  t.match(JSON.stringify(forbidden), /config\.url/, 'the address is looked at')
  const unknown = { ...destination, destination_type: 'pigeon' }
  t.match(JSON.stringify(await use('POST', '/sdk/alerts/destinations', unknown)), /acme_ntfy, .*ntfy/)

  const outside = { ...asset, name: 'outside', connection_config: { path: join(root, 'package.json') } }
  await use('POST', '/sdk/assets', outside)
  t.match(
    JSON.stringify(await use('POST', '/sdk/assets/outside/test-connection')),
    /egress_refused.*FILE_SOURCES/,
  )
  await stop()
  const { pid = 0 } = (await readPostmaster(cluster)) ?? {}
  t.notOk(pid !== 0 && isPostmasterAlive(pid, cluster), 'the database is stopped too')
})

// oxlint-disable-next-line typescript/no-explicit-any -- a reply has the shape that the test expects, or the test fails
type Body = any

/** Starts the installed server on a free port, with its embedded database. */
async function serve(settings: Record<string, string>) {
  const program = join(app, 'node_modules', 'tidemark', 'dist', 'server', 'main.js')
  t.ok(statSync(join(app, 'node_modules', '.bin', 'tidemark')), 'npx tidemark is this program')
  const child = spawn(process.execPath, [program, 'start'], {
    cwd: app,
    env: { ...environment, PORT: '0', DEMO_ENABLED: 'false', LOG_LEVEL: 'warn', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  watchProcess(t, child)
  const ended = once(child, 'exit')
  let said = ''
  const address = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', chunk => {
        said += String(chunk)
        const [, found] = /listens on (http:\/\/127\.0\.0\.1:\d+)/.exec(said) ?? []
        if (found) resolve(found)
      })
    }
    void ended.then(() => reject(new Error(`the server did not start: ${said}`)))
  })
  return {
    async ask(method: string, path: string, body?: object, credential?: string): Promise<Body> {
      learnCredentials(body)
      const response = await fetch(`${address}/api/v1${path}`, {
        method,
        headers: {
          ...(body && { 'content-type': 'application/json' }),
          ...(credential && { authorization: `Bearer ${credential}` }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      const reply: unknown = await response.json()
      learnCredentials(reply)
      return reply
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Waits for a job over HTTP, as a client does. */
async function finished(look: () => Promise<Body>): Promise<Body> {
  for (;;) {
    const { data } = await look()
    if (!['pending', 'queued', 'running'].includes(data?.status)) return data
    await wait(100)
  }
}
