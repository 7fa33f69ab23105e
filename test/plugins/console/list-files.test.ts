/** Lists as files, and views of lists. */
import t from 'tap'
import { loadRows, MAX_CSV_ROWS, toCsv } from '../../../plugins/console/client/parts/table/csv.ts'

interface Row {
  text: string | null
  amount?: number
}

const write = (...rows: Row[]) =>
  toCsv(rows, [
    ['text', row => row.text],
    ['amount', row => row.amount],
  ])

t.test('a value that would end a field or a line is quoted, and quotes are doubled', async t => {
  t.equal(
    write(
      { text: 'a, b', amount: 1.5 },
      { text: 'say "hi"' },
      { text: 'two\nlines' },
      { text: null, amount: 0 },
    ),
    'text,amount\r\n"a, b",1.5\r\n"say ""hi""",\r\n"two\nlines",\r\n,0\r\n',
  )
})

t.test(
  'a text that a spreadsheet would take for a formula stays a text, and numbers stay numbers',
  async t => {
    t.equal(
      write(
        { text: '=cmd()' },
        { text: '+1' },
        { text: '-1', amount: -1 },
        { text: '@sum(a,b)' },
        { text: 'a=b' },
      ),
      `text,amount\r\n'=cmd(),\r\n'+1,\r\n'-1,-1\r\n"'@sum(a,b)",\r\na=b,\r\n`,
    )
  },
)

/** A list of `total` rows, as the API gives its pages. */
const listOf = (total: number) => {
  const asked: { limit: number; offset: number }[] = []
  const load = async ({ limit, offset }: { limit: number; offset: number }) => {
    asked.push({ limit, offset })
    const count = Math.max(0, Math.min(limit, total - offset))
    return { rows: Array.from({ length: count }, (_, n) => offset + n), total }
  }
  return { asked, load }
}

t.test('a file has the rows of all pages, each once', async t => {
  const { asked, load } = listOf(250)
  const seen: number[][] = []
  const { rows, total } = await loadRows(load, new AbortController().signal, (...at) => seen.push(at))
  t.strictSame(
    rows,
    Array.from({ length: 250 }, (_, n) => n),
  )
  t.equal(total, 250)
  t.strictSame(
    asked.map(({ offset }) => offset),
    [0, 100, 200],
  )
  t.strictSame(seen, [
    [100, 250],
    [200, 250],
    [250, 250],
  ])
})

t.test('a file has at most ten thousand rows, and says how many there are', async t => {
  const { load } = listOf(12_345)
  const { rows, total } = await loadRows(load, new AbortController().signal, () => undefined)
  t.equal(rows.length, MAX_CSV_ROWS)
  t.equal(MAX_CSV_ROWS, 10_000)
  t.equal(total, 12_345)
})

t.test('reading stops when a person stops it, and asks for no further page', async t => {
  const { asked, load } = listOf(1_000)
  const abort = new AbortController()
  await t.rejects(
    loadRows(load, abort.signal, () => abort.abort()),
    { name: 'AbortError' },
  )
  t.ok(asked.length <= 2)
})

t.test('an empty list is a file with a head', async t => {
  const { load } = listOf(0)
  const { rows } = await loadRows(load, new AbortController().signal, () => undefined)
  t.strictSame(rows, [])
  t.equal(write(), 'text,amount\r\n')
})
