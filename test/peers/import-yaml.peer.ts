/**
 * Holds the values of YAML that the importer of dbt reads to those of PyYAML, which dbt reads its files with.
 *
 *     node test/run.ts --timeout=600 test/peers/import-yaml.peer.ts
 *
 * It needs Python 3 and a package index.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { PythonNumber } from '../../plugins/monitors/import/python-scalars.ts'
import { parseDbtYaml } from '../../plugins/monitors/import/tool-yaml.ts'
import { pythonWith } from './python.ts'

const PACKAGES = ['PyYAML==6.0.3']

/** Reads texts from standard input; a value is what Python writes for it, beside its kind. */
const SCRIPT = `
import json, sys, yaml
def describe(value):
    if value is None or isinstance(value, bool): return value
    if isinstance(value, dict): return {str(key): describe(inner) for key, inner in value.items()}
    if isinstance(value, list): return [describe(inner) for inner in value]
    return ['number' if isinstance(value, (int, float)) else 'text', str(value)]
def read(text):
    try: return describe(yaml.safe_load(text))
    except Exception: return 'refused'
json.dump([read(text) for text in json.load(sys.stdin)], sys.stdout)
`

function describe(value: unknown): unknown {
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'number' || value instanceof PythonNumber) return ['number', String(value)]
  if (typeof value === 'string') return ['text', value]
  if (Array.isArray(value)) return value.map(describe)
  return Object.fromEntries(Object.entries(value as object).map(([key, inner]) => [key, describe(inner)]))
}

function read(source: string): unknown {
  try {
    return describe(parseDbtYaml(source).value)
  } catch {
    return 'refused'
  }
}

/** The same numbers in each run, from 0 to 1. */
function makeRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

const random = makeRandom(1)
const pick = (letters: string) => letters[Math.floor(random() * letters.length)] ?? ''
const word = (letters: string) =>
  Array.from({ length: 1 + Math.floor(random() * 8) }, () => pick(letters)).join('')

const SCALARS = [
  ...'01 08 010 1_000 12:30 190:20:30 1e3 1.0 1.5 1.0e+3 .5 5. 1e16 1.0e+16 0x1F 0b101 0o17 -0 -0.0'.split(
    ' ',
  ),
  ...'.inf -.inf .nan + ~ y n Yes off NULL 2020-01-01 2020-1-1 2020-02-30 9007199254740993'.split(' '),
  ...['2001-12-14t21:59:43.10-05:00', '2001-12-14 21:59:43.10 -5', '2001-12-15 2:59:43.10'],
  ...Array.from({ length: 3_000 }, () => word('0123456789.:-+_eExob')),
  ...Array.from({ length: 500 }, () => String((random() * 2 - 1) * 10 ** Math.floor(random() * 40 - 20))),
]
const DOCUMENTS = [
  "a:\n  - b: ['x\ny', z]\n    c: 1\n",
  'a:\n  - b: "x\ny"\n    c: 1\n',
  'a:\n  - b: ["x",\n"y"]\n    c: 1\n',
  'a:\n  - b: {x: 1\n}\n    c: 1\n',
  'a: "x\n\ty"\n',
  "a: 'x\n---\ny'",
  'a: 1\na: 2',
  'a: &a {b: 1, c: 2}\nd: {<<: *a, b: 3}',
  'a: &a {b: 1, c: 2}\ne: &e {b: 4, z: 3}\nd: {b: 9, <<: [*a, *e]}',
  '\uFEFFa: 1',
  'a: "x',
]

t.test('the importer reads what PyYAML reads', async t => {
  const texts = [...SCALARS.map(scalar => `a: ${scalar}`), ...DOCUMENTS]
  const child = spawn(await pythonWith(PACKAGES), ['-c', SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(texts))
  const [theirs] = await Promise.all([text(child.stdout), once(child, 'close')])
  const values = JSON.parse(theirs) as unknown[]
  const different = texts.flatMap((source, index) => {
    const ours = read(source)
    return isDeepStrictEqual(ours, values[index]) ? [] : [{ source, ours, theirs: values[index] }]
  })
  t.comment(`${texts.length} texts, ${different.length} different`)
  t.strictSame(different, [])
  t.ok(values.filter(value => value === 'refused').length < texts.length / 10, 'most texts are YAML')
})
