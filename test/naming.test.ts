/** Holds the words in which the program is written: names, comments and documents. */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { readSources, root, type Source } from './helpers/sources.ts'

const sources = readSources()
const tests = readSources('test/**/*.ts')
const documents = globSync(['README.md', '*/**/*.md', '.github/*.md'], {
  cwd: root,
  exclude: ['node_modules', '**/node_modules/**', '**/dist/**', '.tap/**'],
}).map((path): Source => ({ path, text: readFileSync(join(root, path), 'utf8'), imports: [] }))

/** A rule of wording, with how often it is broken today: a number that only goes down. */
interface WordingRule {
  promise: string
  find(source: Source): string[]
  bad: string
  good: string
  budget: { sources: number; tests: number; documents: number }
}

const found = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([match]) => match)

const FORBIDDEN_WORDS = /\b(tells?|told|whoever|nobody|somebody|anybody|everybody)\b/gi
const FORBIDDEN_OPENING = /(?:^|\/\/ |\* |\. )Of [a-z]/gm
const FORBIDDEN_CONSTANTS =
  /^(?:export )?const (?:(?:MOST|LONGEST|PATIENCE)(?:_[A-Z_]+)?|(?:FULL|CUT|TURN|BUSY|MINE|SAME|BARE)(?:_MS)?)(?= =|:)/gm
/** Verbs without an object and participles, exported as functions. */
const FORBIDDEN_FUNCTIONS =
  /^export (?:async )?function (?:record|read|keep|wanted|about|named|told|tell|placeOf|ask|look|note|say|taken|held|found|judged|loaded|asked)\b/gm
/** Participles as names of types. */
const FORBIDDEN_TYPES =
  /^(?:export )?(?:interface|type|class) (?:Taken|Wanted|Loaded|Told|Asked|Held|Judged|Found|Read|Past|Known|Kept|Seen|Given|Made|Said)\b/gm
const FORBIDDEN_FILES =
  /^(?:tell|look|gate|verdict|patience|lines|safety|within|started|shapes|letters|turns|discretion|questions|pace|moves|mark|failing|afterwards|expose|tickets|places|standing|words|text|lives)\.tsx?$/g

const rules: WordingRule[] = [
  {
    promise: 'no forbidden word is used',
    find: ({ text }) => found(text, FORBIDDEN_WORDS),
    bad: 'It tells nobody.',
    good: 'It teller-tested a foretold storyteller.',
    budget: { sources: 41, tests: 18, documents: 2 },
  },
  {
    promise: 'no sentence begins with "Of"',
    find: ({ text }) => found(text, FORBIDDEN_OPENING),
    bad: '/** Of a table, its rows. */',
    good: '/** Rows of a table. Office hours. */',
    budget: { sources: 15, tests: 0, documents: 0 },
  },
  {
    promise: 'a constant ends in its unit or counts a noun',
    find: ({ text }) => found(text, FORBIDDEN_CONSTANTS),
    bad: 'const MOST = 3\nexport const LONGEST_MS: number = 5',
    good: 'const ALMOST = 3\nconst FULLY = 1\nconst BUSY_STATUSES = [503]\nconst MAX_FINDINGS = 5',
    budget: { sources: 8, tests: 0, documents: 0 },
  },
  {
    promise: 'an exported function is a verb and an object',
    find: ({ text }) => found(text, FORBIDDEN_FUNCTIONS),
    bad: 'export async function record(x: number) {}',
    good: 'export function recordStatus() {}\nfunction read() {}',
    budget: { sources: 1, tests: 0, documents: 0 },
  },
  {
    promise: 'a type is a noun',
    find: ({ text }) => found(text, FORBIDDEN_TYPES),
    bad: 'interface Taken { x: number }',
    good: 'interface TakenSlot { x: number }\ntype Reading = number',
    budget: { sources: 5, tests: 0, documents: 0 },
  },
  {
    promise: 'a file is named after what it holds',
    find: ({ path }) => found(basename(path), FORBIDDEN_FILES),
    bad: 'server/look.ts',
    good: 'server/freshness-check.ts',
    budget: { sources: 0, tests: 0, documents: 0 },
  },
]

/** Words that are the subject here, or that another party uses. */
const EXEMPT_FILES = ['test/naming.test.ts']

for (const { promise, find, bad, good, budget } of rules) {
  t.test(promise, async t => {
    for (const [kind, files] of Object.entries({ sources, tests, documents })) {
      const offences = files
        .filter(({ path }) => !EXEMPT_FILES.includes(path))
        .flatMap(file => find(file).map(offence => `${file.path}: ${offence.trim()}`))
      const allowed = budget[kind as keyof typeof budget]
      const summary =
        offences.length > 40 ? [`${offences.length} in all`, ...offences.slice(0, 40)] : offences
      t.ok(offences.length <= allowed, `${kind}: ${offences.length}, allowed ${allowed}`, {
        offences: summary,
      })
      if (offences.length < allowed) t.comment(`lower the budget of ${kind} to ${offences.length}`)
    }
    const source = (text: string): Source => ({ path: text, text, imports: [] })
    t.not(find(source(bad)).length, 0, `is broken by ${bad}`)
    t.strictSame(find(source(good)), [], `is kept by ${good}`)
  })
}
