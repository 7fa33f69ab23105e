/** What the drawing of lineage computes: layers, crossings, ways of edges, and the ways of columns. */
import t from 'tap'
import {
  chooseNearest,
  edgesAmong,
  measureSteps,
  mergeGraph,
  traceColumn,
  type LineageReply,
} from '../../../plugins/console/client/screens/lineage/graph.ts'
import { layOutGraph } from '../../../plugins/console/client/screens/lineage/layout.ts'
import {
  centreView,
  fitView,
  levelOf,
  revealBox,
  zoomView,
} from '../../../plugins/console/client/screens/lineage/view.ts'

const SPACING = { width: 100, gapX: 50, gapY: 10 }

/** The layout of edges such as `a > b`. */
function layOut(...edges: string[]) {
  const links = edges.map(edge => edge.split(' > ')).map(([from = '', to = '']) => ({ from, to }))
  const ids = [...new Set(links.flatMap(({ from, to }) => [from, to]))]
  const layout = layOutGraph(
    ids.map(id => ({ id, height: 40 })),
    links,
    SPACING,
  )
  const layers = Object.fromEntries([...layout.places].map(([id, { layer }]) => [id, layer]))
  return { ...layout, layers, at: (id: string) => layout.places.get(id)! }
}

t.test('a node stands right of all that it is made from, and close to what it goes into', async t => {
  t.strictSame(layOut('a > b', 'b > c', 'a > c', 'side > c').layers, { a: 0, b: 1, c: 2, side: 1 })
  t.strictSame(layOut('a > b', 'b > c', 'c > a').layers, { a: 0, b: 1, c: 2 }, 'a circle')
  t.strictSame(layOut('a > a', 'a > b').layers, { a: 0, b: 1 }, 'a table that reads itself')
})

t.test('boxes of a layer do not overlap, and edges do not cross where they need not', async t => {
  const names = Array.from({ length: 12 }, (_, n) => n)
  // From each to the one that stands opposite, given in an order that would cross all.
  const { at, places } = layOut(...names.map(n => `l${n} > r${11 - n}`), 'l0 > r0', 'l5 > r5')
  for (const side of ['l', 'r']) {
    const tops = names.map(n => at(side + n).y).sort((a, b) => a - b)
    tops.slice(1).forEach((top, n) => t.ok(top - tops[n]! >= 50 - 1e-6))
  }
  const crossings = names
    .flatMap(n => names.filter(m => m > n).map(m => [n, m] as const))
    .filter(([n, m]) => (at(`l${n}`).y - at(`l${m}`).y) * (at(`r${11 - n}`).y - at(`r${11 - m}`).y) < 0)
  t.ok(crossings.length <= 6, `${crossings.length} of 66 pairs cross`)
  t.ok([...places.values()].every(({ x, y }) => x >= 0 && y >= 0))
})

/** A graph of tables in layers as pipelines have them, the same each time: most edges lead to the next layer. */
function makePipeline(count: number) {
  let seed = 7
  const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647
  const layers: string[][] = Array.from({ length: Math.max(4, Math.round(Math.sqrt(count) / 1.6)) }, () => [])
  for (let n = 0; n < count; n++) layers[Math.floor(random() * layers.length)]!.push(`n${n}`)
  return layers.flatMap((layer, n) =>
    (n === 0 ? [] : layer).flatMap((to, place) =>
      Array.from({ length: 1 + Math.floor(random() * 2.2) }, () => {
        const before = layers[random() < 0.8 ? n - 1 : Math.floor(random() * n)]!
        const near = (place / layer.length + (random() - 0.5) * 0.5) * before.length
        return `${before[Math.min(before.length - 1, Math.max(0, Math.floor(near)))]} > ${to}`
      }),
    ),
  )
}

type Corner = { x: number; y: number }

/** How often lines of different edges cross. */
function countCrossings(routes: readonly (readonly Corner[])[]): number {
  const lines = routes.flatMap((points, edge) =>
    points.slice(1).map((to, n) => ({ from: points[n]!, to, edge })),
  )
  const turn = (a: Corner, b: Corner, c: Corner) => (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
  const areApart = (a: Corner, b: Corner, c: Corner, d: Corner) => turn(a, b, c) * turn(a, b, d) < -1e-9
  return lines
    .flatMap((one, n) => lines.slice(n + 1).map(other => [one, other] as const))
    .filter(
      ([one, other]) =>
        one.edge !== other.edge &&
        areApart(one.from, one.to, other.from, other.to) &&
        areApart(other.from, other.to, one.from, one.to),
    ).length
}

// What barycentres alone, without swaps, made of them.
for (const [count, before] of [
  [60, 57],
  [300, 1_853],
] as const)
  t.test(`a pipeline of ${count} tables has no overlap and few crossings`, async t => {
    const { places, routes } = layOut(...new Set(makePipeline(count)))
    const boxes = [...places.values()]
    const overlaps = boxes.flatMap((one, n) =>
      boxes.slice(n + 1).filter(({ x, y }) => Math.abs(x - one.x) < 100 && Math.abs(y - one.y) < 40),
    )
    t.strictSame(overlaps, [])
    const passed = routes.flatMap(points =>
      points.filter(({ x, y }) =>
        boxes.some(box => x > box.x + 1 && x < box.x + 99 && y > box.y && y < box.y + 40),
      ),
    )
    t.strictSame(passed, [], 'no edge leads over a table')
    const crossings = countCrossings(routes)
    t.ok(crossings < before, `${crossings} crossings, fewer than ${before}`)
  })

t.test('an edge passes the layers between its ends, and leads from its start to its end', async t => {
  const { routes, at, width } = layOut('a > b', 'b > c', 'a > c', 'c > a')
  t.equal(routes[2]!.length, 4)
  t.strictSame([routes[2]![0]!.x, routes[2]!.at(-1)!.x], [at('a').x + 100, at('c').x])
  t.ok(routes[3]![0]!.x > routes[3]!.at(-1)!.x, 'the edge that closes the circle leads back')
  t.equal(width, 3 * 100 + 2 * 50)
})

t.test('five hundred nodes are laid out in a moment', async t => {
  const edges = Array.from({ length: 1_000 }, (_, n) => `n${n % 400} > n${(n % 400) + 1 + ((n * 7) % 99)}`)
  const start = performance.now()
  layOut(...edges)
  t.ok(performance.now() - start < 2_000)
})

t.test('what is looked at stays where it is while the view is zoomed, and is brought into view', async t => {
  const window = { width: 400, height: 300 }
  const view = centreView({ x: 0, y: 0, scale: 0.8 }, window, { x: 1_000, y: 450 })
  t.same(view, { scale: 0.8, x: 1_000 - 250, y: 450 - 187.5 })
  const zoomed = zoomView(view, 2, { x: 200, y: 150 })
  t.same([zoomed.x + 200 / zoomed.scale, zoomed.y + 150 / zoomed.scale], [1_000, 450])
  const box = { x: 0, y: 0, width: 208, height: 48 }
  t.same(revealBox(view, window, box), { scale: 0.8, x: -48, y: -48 })
  t.same(revealBox(view, window, { ...box, x: 900, y: 430 }), view)
})

t.test('a lineage is shown as a whole at first, with the words that there is room for', async t => {
  const window = { width: 1_000, height: 500 }
  const levels = [400, 1_000, 4_000].map(height => {
    const { y, scale } = fitView({ width: 900, height }, window)
    t.ok(y <= 0 && y + window.height / scale >= height, `all of ${height} units`)
    return levelOf({ x: 0, y, scale })
  })
  t.strictSame(levels, ['words', 'names', 'boxes'])
})

/** A reply with edges such as `a.x > b.y`, `a.x ~> b.*` for columns that decide rows, `a > b` without columns. */
function replyOf(...texts: string[]) {
  const edges = new Map<string, { columns: object[] | null }>()
  for (const text of texts) {
    const [, up = '', from, arrow, down = '', to] = /^(\w+)(?:\.(\w+))? (~|-)?> (\w+)(?:\.(\S+))?$/.exec(
      text,
    )!
    const key = `${up} ${down}`
    const edge = edges.get(key) ?? {
      ...{ upstream_id: up, downstream_id: down, edge_type: arrow === '-' ? 'foreign_key' : 'view' },
      columns: from ? [] : null,
    }
    if (from)
      edge.columns!.push({
        ...{ upstream_column: from, downstream_column: to, kind: arrow ? 'indirect' : 'direct' },
      })
    edges.set(key, edge)
  }
  const ids = [...new Set([...edges.keys()].flatMap(key => key.split(' ')))]
  return {
    nodes: ids.map(id => ({ id, name: id })),
    edges: [...edges.values()],
  } as unknown as LineageReply
}

t.test(
  'a column is followed along known columns, by table where they are unknown, and over filters',
  async t => {
    const graph = mergeGraph(
      undefined,
      replyOf(
        'a.x > b.y',
        'a.z > b.w',
        'b.y > c.v',
        'b.w ~> d.*',
        'd.q > e.r',
        'c > f',
        'f.s > g.t',
        'a -> h',
      ),
    )
    const follow = (id: string, column: string) =>
      Object.fromEntries(
        [...traceColumn(graph, { id, column }).columns]
          .map(([node, columns]) => [node, columns && [...columns]] as const)
          .sort(),
      )
    t.strictSame(follow('a', 'x'), { a: ['x'], b: ['y'], c: ['v'], f: null, g: null })
    t.strictSame(follow('a', 'z'), { a: ['z'], b: ['w'], d: [], e: [] }, 'rows that it decides')
    t.strictSame(follow('b', 'y'), { a: ['x'], b: ['y'], c: ['v'], f: null, g: null }, 'both ways')
    t.strictSame(
      follow('d', 'q'),
      { a: ['z'], b: ['w'], d: ['q'], e: ['r'] },
      'what decides the rows of a table',
    )
    const { edges, pairs } = traceColumn(graph, { id: 'b', column: 'w' })
    t.strictSame([...edges].sort(), ['a b', 'b d', 'd e'])
    t.strictSame(
      pairs.map(({ upstream, downstream, isDirect }) => [upstream, downstream, isDirect]),
      [
        ['z', 'w', true],
        ['w', null, false],
      ],
    )
  },
)

t.test('steps are counted on each side, and the nearest nodes are shown first', async t => {
  const graph = mergeGraph(
    mergeGraph(undefined, replyOf('a > b', 'b > c')),
    replyOf('c > d', 'e -> c', 'b > c'),
  )
  t.strictSame(
    [...measureSteps(graph, 'b', 'downstream')],
    [
      ['c', 1],
      ['d', 2],
    ],
  )
  t.strictSame(
    [...measureSteps(graph, 'c', 'upstream', { isFlowOnly: true })],
    [
      ['b', 1],
      ['a', 2],
    ],
  )
  t.strictSame([...chooseNearest(graph, 'b', 3)], ['b', 'a', 'c'])
  t.equal(edgesAmong(graph, new Set(['b', 'c', 'e'])).length, 2)
})
