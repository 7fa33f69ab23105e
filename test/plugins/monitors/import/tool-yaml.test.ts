import t from 'tap'
import { PythonNumber } from '../../../../plugins/monitors/import/python-scalars.ts'
import { parseDbtYaml, parseSodaYaml } from '../../../../plugins/monitors/import/tool-yaml.ts'
import { YamlParseError } from '../../../../server/yaml.ts'

const read = (text: string) => parseDbtYaml(text).value
/** A value of PyYAML 6.0.2, and what Python writes for it. */
const written = (text: string) => {
  const { a } = read(`a: ${text}`) as { a: unknown }
  return a instanceof PythonNumber ? `number ${a.text}` : a
}

t.test('plain scalars of dbt are those of PyYAML', t => {
  for (const [text, value] of Object.entries({
    '01': 1,
    '08': '08',
    '010': 8,
    '-010': -8,
    '1_000': 1_000,
    '12:30': 750,
    '190:20:30': 685_230,
    '1e3': '1e3',
    '1.0e3': '1.0e3',
    '1.0e+3': 'number 1000.0',
    '1.0': 'number 1.0',
    '1.5': 1.5,
    '5.': 'number 5.0',
    '.5': 0.5,
    '1e+16': '1e+16',
    '1.0e+16': 'number 1e+16',
    '123456789012345.0': 'number 123456789012345.0',
    '0.00001': 'number 1e-05',
    '0.0001': 0.0001,
    '-0': 0,
    '-0.0': 'number -0.0',
    '12:30.5': 750.5,
    '.inf': 'number inf',
    '.NaN': 'number nan',
    '0x1F': 31,
    '0b101': 5,
    '0o17': '0o17',
    '9007199254740993': 'number 9007199254740993',
    yes: true,
    Off: false,
    y: 'y',
    tRUE: 'tRUE',
    '~': null,
    '': null,
    '2024-01-31': '2024-01-31',
    '2024-1-31': '2024-1-31',
    '2024-1-31T8:00:00.5Z': '2024-01-31 08:00:00.500000+00:00',
    '2024-01-31 08:00:00 -5:30': '2024-01-31 08:00:00-05:30',
    '"08"': '08',
  }))
    t.strictSame(written(text), value, text)
  t.throws(() => read('a: 2024-02-30'), YamlParseError)
  t.end()
})

t.test('texts and lists that go on at the start of a line are read', t => {
  t.same(read("a:\n  - b: ['x\ny', z]\n    c: 1\n"), { a: [{ b: ['x y', 'z'], c: 1 }] })
  t.same(read('a:\n  - b: "x\ny"\n    c: 1\n'), { a: [{ b: 'x y', c: 1 }] })
  t.same(read('a:\n  - b: ["x",\n"y"]\n    c: 1\n'), { a: [{ b: ['x', 'y'], c: 1 }] })
  t.same(read('a:\n  - b: {x: 1\n}\n    c: 1\n'), { a: [{ b: { x: 1 }, c: 1 }] })
  t.same(read('a: "x\n\ty"\n'), { a: 'x y' })
  const { positionOf } = parseDbtYaml("a:\n  - b: ['x\ny', z]\n    c: 1\n")
  t.match(positionOf(['a', '0', 'c']), { line: 4, column: 5 })
  t.throws(() => read('a: "x\nb: 1\n'), { message: /Missing closing "quote/ })
  t.throws(() => read("a: 'x\n---\ny'"), YamlParseError)
  t.end()
})

t.test('merge keys bring fields, and the last of equal keys counts, with a word about the first', t => {
  t.same(read('a: &a {b: 1, c: 2}\nd: {<<: *a, b: 3}'), { a: { b: 1, c: 2 }, d: { b: 3, c: 2 } })
  t.same(parseSodaYaml('a: &a {b: 1}\nd: {<<: *a}').value, { a: { b: 1 }, d: { b: 1 } })
  const { value, doubts, positionOf } = parseDbtYaml('a: 1\na: {b: 2}')
  t.same(value, { a: { b: 2 } })
  t.match(doubts, [{ line: 2, message: /"a" stands here a second time/ }])
  t.match(positionOf(['a', 'b']), { line: 2, column: 5 })
  t.throws(() => parseSodaYaml('a: 1\na: 2'), { message: /second time/ }, 'as ruamel.yaml does')
  t.end()
})

t.test('local files have neither a limit of aliases nor one of size', t => {
  const aliases = Array.from({ length: 1_000 }, (_, index) => `c${index}: *a`).join('\n')
  t.equal(Object.keys(read(`a: &a {b: [1, 2]}\n${aliases}`) as object).length, 1_001)
  t.match(read(`a: ${'{a: '.repeat(40)}1${'}'.repeat(40)}`), { a: { a: { a: Object } } })
  t.same(read('\uFEFFa: 1'), { a: 1 })
  t.throws(() => read('a: &a [*a]'), { message: /stands inside/ })
  t.end()
})
