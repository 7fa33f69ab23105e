#!/usr/bin/env node
/**
 * Starts an extension of Tidemark: `npm create tidemark-plugin`, or `node create/index.js <kind> <name> [folder]` without a
 * question. It takes the template's files of one kind, whose tests pass, under the names of the new one.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'

/** In the published package the template lies beside; in the repository this is a folder of it. */
const beside = join(import.meta.dirname, 'template')
const template = existsSync(beside) ? beside : join(import.meta.dirname, '..')

const CHECK = { 'blank-count.ts': 'NAME.ts', 'test/blank-count.test.ts': 'test/NAME.test.ts' }
const DESTINATION = { 'ntfy.ts': 'NAME.ts', 'test/ntfy.test.ts': 'test/NAME.test.ts' }

/** What each kind is made of: the export, its type, the registry, and what its files are. */
const KINDS = {
  connector: {
    about: 'a connector: an engine whose tables can be watched',
    from: { symbol: 'sqlite', file: './connector.ts', type: 'Connector', module: 'tidemark/connector' },
    registry: 'connectors',
    next: 'It is the SQLite engine: README.md says how to make your own of it, file by file.',
  },
  check: {
    about: 'a check type: a metric or a rule',
    from: { symbol: 'blankCount', type: 'CheckType', module: 'tidemark/check' },
    registry: 'checks',
    files: CHECK,
    next: 'Change what it measures, and the cases of its test.',
  },
  destination: {
    about: 'a destination: where messages about alerts go',
    from: { symbol: 'ntfy', type: 'DestinationType', module: 'tidemark/destination' },
    registry: 'destinations',
    files: DESTINATION,
    next: 'Change what it composes and where it delivers, and its test.',
  },
}

const NAME = /^[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*$/

/** The kind, the name and the folder: what the command does not give is asked, if a person is there. */
async function readWords([kind, name, folder]) {
  const isAsked = process.stdin.isTTY
  const lines = isAsked ? createInterface({ input: process.stdin, output: process.stdout }) : undefined
  const ask = async (question, is) => {
    for (;;) {
      const answer = (await lines.question(`${question} `)).trim()
      if (is(answer)) return answer
    }
  }
  const isKind = word => Object.hasOwn(KINDS, word)
  try {
    if (lines && kind === undefined) {
      for (const [word, { about }] of Object.entries(KINDS)) console.log(`  ${word.padEnd(12)} ${about}`)
      kind = await ask('Which?', isKind)
    }
    if (lines && name === undefined) name = await ask('Its name, such as acme?', word => NAME.test(word))
  } finally {
    lines?.close()
  }
  if (!isKind(kind ?? ''))
    throw new Error(
      `Say which kind: create-tidemark-plugin <${Object.keys(KINDS).join('|')}> <name> [folder]`,
    )
  if (!NAME.test(name ?? ''))
    throw new Error('Say its name: small letters, digits, _ and -, and a letter first, such as acme')
  return [kind, name, folder]
}

/** Writes the folder. @returns its path */
function scaffold(kind, name, folder) {
  if (existsSync(folder) && (!statSync(folder).isDirectory() || readdirSync(folder).length > 0))
    throw new Error(`${folder} is there already: give another folder, or remove it`)
  const { files = connectorFiles() } = KINDS[kind]
  for (const [from, to] of Object.entries(files))
    write(join(folder, to.replace('NAME', kebab(name))), rename(kind, name, read(from)))
  write(join(folder, 'index.ts'), entryOf(kind, name))
  write(join(folder, 'package.json'), manifestOf(name))
  write(
    join(folder, 'tsconfig.json'),
    read('tsconfig.json').replace(/"include": .*/, '"include": ["**/*.ts"],\n  "exclude": ["dist"]'),
  )
  write(
    join(folder, 'tsconfig.build.json'),
    read('tsconfig.build.json').replace(/"include": .*/, '"exclude": ["dist", "test"]'),
  )
  write(join(folder, '.gitignore'), 'node_modules/\ndist/\n.tap/\n')
  write(join(folder, '.github', 'workflows', 'test.yml'), WORKFLOW)
  if (kind === 'connector') cpSync(join(template, 'README.md'), join(folder, 'README.md'))
  else write(join(folder, 'README.md'), readmeOf(kind, name))
  return folder
}

/** All files of the template but those of the other kinds, and what is its own. */
function connectorFiles() {
  const others = new Set([...Object.keys(CHECK), ...Object.keys(DESTINATION), 'index.ts'])
  const paths = ['', 'reader', 'test'].flatMap(under =>
    readdirSync(join(template, under))
      .filter(file => file.endsWith('.ts'))
      .map(file => (under === '' ? file : `${under}/${file}`)),
  )
  return Object.fromEntries(paths.filter(path => !others.has(path)).map(path => [path, path]))
}

/** The text of a file of the template with the names of the new extension. */
function rename(kind, name, text) {
  if (kind === 'connector') return text.replaceAll("'sqlite'", `'${snake(name)}'`)
  if (kind === 'check')
    return text
      .replaceAll('blank-count', kebab(name))
      .replaceAll('blank_count', snake(name))
      .replaceAll('blankCount', camel(name))
  return text
    .replaceAll("'../ntfy.ts'", `'../${kebab(name)}.ts'`)
    .replaceAll("'ntfy'", `'${snake(name)}'`)
    .replaceAll('NtfyConfig', `${pascal(name)}Config`)
    .replaceAll(/\bntfy\b(?!\.(?:sh|example))/g, camel(name))
}

function entryOf(kind, name) {
  const { from, registry } = KINDS[kind]
  const symbol = kind === 'connector' ? from.symbol : camel(name)
  const file = from.file ?? `./${kebab(name)}.ts`
  return `import type { Extensible${from.type} } from '${from.module}'
import { ${symbol} } from '${file}'

export const plugin = {
  name: 'tidemark-${kebab(name)}',
  register(server: Extensible${from.type}): void {
    server.${registry}.add(${symbol})
  },
}

export default plugin
`
}

function manifestOf(name) {
  const { dependencies: _none, ...manifest } = JSON.parse(read('package.json'))
  const changes = {
    name: `tidemark-${kebab(name)}`,
    description: `An extension of Tidemark: ${name}.`,
    license: 'UNLICENSED',
  }
  return `${JSON.stringify({ ...manifest, ...changes }, null, 2)}\n`
}

const WORKFLOW = `name: test
on:
  push:
    branches: [main]
  pull_request:
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 24
          cache: npm
      - run: npm ci
      - run: npm test
      - run: npm run build
`

function readmeOf(kind, name) {
  return `# tidemark-${kebab(name)}

An extension of Tidemark with ${KINDS[kind].about}.

    npm install
    npm test
    npm run build

\`EXTENSIONS=tidemark-${kebab(name)}\` has the service load it, where it is installed beside it; while you write it,
\`EXTENSIONS=./tidemark-${kebab(name)}/index.ts\` takes the source. The page "Plugins" of Tidemark's documentation has the
interface, and the conformance kit in \`test/\` holds it to its promises.

With Tidemark from a file, \`npm install --save-dev ../tidemark-0.1.0.tgz\`: the line stays in \`devDependencies\`.
`
}

function read(path) {
  return readFileSync(join(template, path), 'utf8')
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

function kebab(name) {
  return name.replaceAll('_', '-')
}
function snake(name) {
  return name.replaceAll('-', '_')
}
function camel(name) {
  return name.replaceAll(/[-_]([a-z0-9])/g, (_, letter) => letter.toUpperCase())
}
function pascal(name) {
  return camel(name).replace(/^./, letter => letter.toUpperCase())
}

try {
  const [kind, name, folder] = await readWords(process.argv.slice(2))
  const made = scaffold(kind, name, resolve(folder ?? `tidemark-${kebab(name)}`))
  console.log(`\n${made} has ${KINDS[kind].about.replace(/:.*/, '')}, and its tests.\n`)
  console.log(`  cd ${basename(made)}\n  npm install\n  npm test\n\n${KINDS[kind].next}`)
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
