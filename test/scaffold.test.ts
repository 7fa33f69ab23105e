/** `npm create tidemark-plugin`: what it writes passes the compiler, and its kit, under names of its own. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

t.setTimeout(300_000)
t.comment('timeout=300000')

const root = join(import.meta.dirname, '..')
const program = join(root, 'plugin-template', 'create', 'index.js')
const tools = join(root, 'node_modules', '.bin')
const folder = t.testdir({})

const create = (...words: string[]) =>
  spawnSync(process.execPath, [program, ...words], { cwd: folder, encoding: 'utf8' })

/** The settings of a folder, with `tidemark/…` of this checkout in place of an installed one. */
function linked(path: string) {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'))
  const paths = Object.fromEntries(
    Object.entries(compilerOptions.paths as Record<string, string[]>).map(([name, [file = '']]) => [
      name,
      [join(root, file)],
    ]),
  )
  const settings = join(path, 'tsconfig.linked.json')
  const typeRoots = [join(root, 'node_modules', '@types')]
  const options = { paths: { ...paths, '*': [join(root, 'node_modules', '*')] }, typeRoots }
  writeFileSync(settings, JSON.stringify({ extends: './tsconfig.json', compilerOptions: options }))
  return settings
}

for (const [kind, name, files] of [
  ['connector', 'acme-db', ['connector.ts', 'session.ts', 'reader/backend.ts', 'test/conformance.test.ts']],
  ['check', 'longest_text', ['longest-text.ts', 'test/longest-text.test.ts']],
  ['destination', 'acme_hook', ['acme-hook.ts', 'test/acme-hook.test.ts']],
] as const)
  t.test(`a ${kind} is written, and compiles`, async t => {
    const made = create(kind, name)
    t.equal(made.status, 0, made.stderr)
    const own = join(folder, `tidemark-${name.replace('_', '-')}`)
    for (const file of [
      ...files,
      'index.ts',
      'README.md',
      '.gitignore',
      '.github/workflows/test.yml',
      'tsconfig.build.json',
    ])
      t.ok(existsSync(join(own, file)), file)
    const texts = readdirSync(own, { recursive: true, encoding: 'utf8' })
      .filter(path => /\.(ts|json)$/.test(path))
      .map(path => readFileSync(join(own, path), 'utf8'))
    for (const text of texts) t.notMatch(text, /'(ntfy|sqlite|blank_count)'|blankCount|NtfyConfig/)
    t.match(JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')), {
      name: `tidemark-${name.replace('_', '-')}`,
      peerDependencies: { tidemark: /^\^/ },
    })
    const compiled = spawnSync(join(tools, 'tsc'), ['-p', linked(own)], { cwd: own, encoding: 'utf8' })
    t.equal(compiled.stdout, '')
  })

t.test('what is wrong is said in a sentence, and nothing is overwritten', async t => {
  for (const [words, said] of [
    [[], /Say which kind: create-tidemark-plugin <connector\|check\|destination> <name>/],
    [['plugin', 'acme'], /Say which kind/],
    [['check'], /Say its name/],
    [['check', '../x'], /Say its name/],
    [['check', 'Acme'], /small letters/],
    [['check', 'longest_text'], /is there already: give another folder, or remove it/],
  ] as const) {
    const { status, stderr } = create(...words)
    t.equal(status, 1)
    t.match(stderr, said)
  }
})
