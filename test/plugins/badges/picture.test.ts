import fc from 'fast-check'
import t from 'tap'
import { drawBadge } from '../../../plugins/badges/picture.ts'
import { STATUSES } from '../../../plugins/badges/status.ts'

/** Returns what is wrong with a document by the grammar of XML 1.0, as far as it has elements, attributes and text. */
function problemOf(xml: string): string | undefined {
  if (!/^[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]*$/u.test(xml))
    return 'a character that XML has not'
  const TEXT = String.raw`(?:[^<&]|&(?:amp|lt|gt|quot|apos);)*`
  const attribute = String.raw`\s+[\w:-]+="(?:[^<&"]|&(?:amp|lt|gt|quot|apos);)*"`
  const token = new RegExp(
    `<([\\w-]+)((?:${attribute})*)\\s*(/?)>|</([\\w-]+)>|(${TEXT.replace(/\*$/, '+')})`,
    'y',
  )
  const open: string[] = []
  let roots = 0
  while (token.lastIndex < xml.length) {
    const from = token.lastIndex
    const [, opens, attributes = '', isEmpty, closes, text] = token.exec(xml) ?? []
    if (opens === undefined && closes === undefined && text === undefined)
      return `no token at ${xml.slice(from, from + 40)}`
    const names = [...attributes.matchAll(/([\w:-]+)="/g)].map(([, name]) => name)
    if (new Set(names).size < names.length) return `an attribute twice in ${opens}`
    if (text !== undefined && open.length === 0) return 'text outside'
    if (opens && open.length === 0) roots++
    if (opens && !isEmpty) open.push(opens)
    if (closes && open.pop() !== closes) return `${closes} closes nothing`
  }
  return open.length > 0 || roots !== 1 ? 'elements that do not fit' : undefined
}

t.test('the grammar check finds what is wrong with documents', async t => {
  for (const bad of [
    '<a>',
    '<a></b>',
    '<a>&</a>',
    '<a b="<"/>',
    '<a b="1" b="2"/>',
    '<a>\u0001</a>',
    '<a/><b/>',
    'x',
  ])
    t.ok(problemOf(bad), bad)
  t.notOk(problemOf('<a b="1">x &amp; <c/></a>'))
})

t.test('a picture is well-formed XML whatever its label, which stands in no attribute', async t => {
  const hostile = fc.constantFrom(
    ...[
      '<script>alert(1)</script>',
      ']]>',
      '<!--',
      '&#0;',
      '&lt;',
      '"onload="x',
      `'`,
      '\ud800',
      '\u0000',
      '\ufffe',
      '\u202e',
      '😀',
      '&amp;amp;',
      '${x}',
      '> <',
      '$&',
    ],
  )
  const label = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.array(fc.oneof(hostile, fc.string({ maxLength: 5 })), { maxLength: 6 }).map(parts => parts.join('')),
  )
  fc.assert(
    fc.property(label, fc.constantFrom(...STATUSES), (text, status) => {
      const svg = drawBadge(status, text)
      const attributes = [...svg.matchAll(/="([^"]*)"/g)].map(([, value]) => value).join('\n')
      return problemOf(svg) === undefined && !/script|onload|alert/.test(attributes)
    }),
    { numRuns: 2_000, seed: 5 },
  )
  for (const [status, color] of [
    ['passing', '#4b0'],
    ['failing', '#dd4343'],
    ['unknown', '#939393'],
  ] as const) {
    t.match(drawBadge(status, 'a & b'), `<title>a &amp; b: ${status}</title>`)
    t.match(drawBadge(status), color)
  }
})
