/** A layered drawing of a directed graph, after Sugiyama: layers by longest path, their order by barycentre and swaps. */

export interface Box {
  id: string
  height: number
}

export interface Link {
  from: string
  to: string
}

export interface Point {
  x: number
  y: number
}

export interface Layout {
  /** The upper left corners of boxes. */
  places: ReadonlyMap<string, Point & { layer: number }>
  /** By link, the points that its line passes, from the middle of one side to the other. */
  routes: readonly (readonly Point[])[]
  width: number
  height: number
}

export interface Spacing {
  /** The width of all boxes. */
  width: number
  /** Between layers, and between boxes of a layer. */
  gapX: number
  gapY: number
}

/** A box, or the place where a link passes a layer. */
interface Slot {
  id: string
  layer: number
  height: number
  y: number
  /** Its place in the layer, and where it wants to be among the others. */
  order: number
  weight: number
  before: Slot[]
  after: Slot[]
}

const SWEEPS = 8
/** More bring fewer crossings up to here, for a few milliseconds. */
const ORDER_SWEEPS = 32
const SWAP_ROUNDS = 4

/** Places boxes in layers from left to right, so that links lead to the right but for those that close a circle. */
export function layOutGraph(
  boxes: readonly Box[],
  links: readonly Link[],
  { width, gapX, gapY }: Spacing,
): Layout {
  const known = new Set(boxes.map(({ id }) => id))
  const drawn = links.filter(({ from, to }) => known.has(from) && known.has(to) && from !== to)
  const forward = turnForward(drawn)
  const layerOf = findLayers(boxes, forward)
  const slots = new Map(
    boxes.map(({ id, height }): [string, Slot] => [id, makeSlot(id, layerOf.get(id)!, height)]),
  )
  const chains = new Map(forward.map(({ from, to }, n) => [drawn[n]!, connect(slots, from, to)]))
  const all = [...slots.values(), ...[...chains.values()].flatMap(chain => chain.slice(1, -1))]
  const layers = groupByLayer(all)
  orderLayers(layers)
  placeLayers(layers, gapY)
  const top = Math.min(0, ...all.map(({ y }) => y))
  const xOf = (layer: number) => layer * (width + gapX)
  return {
    places: new Map(
      boxes.map(({ id }) => {
        const { layer, y } = slots.get(id)!
        return [id, { x: xOf(layer), y: y - top, layer }]
      }),
    ),
    routes: links.map(link => {
      const chain = chains.get(link)
      if (!chain) return []
      const points = chain.flatMap(({ layer, y, height }, n): Point[] => {
        const middle = y - top + height / 2
        const [left, right] = [xOf(layer), xOf(layer) + width].map(x => ({ x, y: middle })) as [Point, Point]
        return n === 0 ? [right] : n === chain.length - 1 ? [left] : [left, right]
      })
      return chain[0]!.id === link.from ? points : points.reverse()
    }),
    width: xOf(layers.length) - gapX,
    height: Math.max(0, ...all.map(({ y, height }) => y - top + height)),
  }
}

const makeSlot = (id: string, layer: number, height: number): Slot => ({
  ...{ id, layer, height, y: 0, order: 0, weight: 0 },
  ...{ before: [], after: [] },
})

/** Turns round the links that would close a circle; those that come first keep their direction. */
function turnForward(links: readonly Link[]): Link[] {
  const next = new Map<string, string[]>()
  const leadsTo = (start: string, end: string) => {
    const seen = new Set([start])
    for (const id of seen) {
      if (id === end) return true
      for (const each of next.get(id) ?? []) seen.add(each)
    }
    return false
  }
  return links.map(({ from, to }) => {
    const link = leadsTo(to, from) ? { from: to, to: from } : { from, to }
    next.set(link.from, [...(next.get(link.from) ?? []), link.to])
    return link
  })
}

/** The layer of each box: as many steps as the longest way to it has; what nothing leads to stands close to its next. */
function findLayers(boxes: readonly Box[], links: readonly Link[]): Map<string, number> {
  const layers = new Map<string, number>()
  const before = Map.groupBy(links, ({ to }) => to)
  const after = Map.groupBy(links, ({ from }) => from)
  const measure = (id: string): number => {
    const found =
      layers.get(id) ?? Math.max(-1, ...(before.get(id) ?? []).map(({ from }) => measure(from))) + 1
    layers.set(id, found)
    return found
  }
  for (const { id } of boxes) measure(id)
  for (const { id } of boxes) {
    const next = after.get(id)
    if (before.has(id) || !next) continue
    layers.set(id, Math.min(...next.map(({ to }) => layers.get(to)!)) - 1)
  }
  return layers
}

/** The slots of a link: its ends, and one in each layer between them. */
function connect(slots: ReadonlyMap<string, Slot>, from: string, to: string): Slot[] {
  const [start, end] = [slots.get(from)!, slots.get(to)!]
  const chain = [start]
  for (let layer = start.layer + 1; layer < end.layer; layer++) chain.push(makeSlot('', layer, 8))
  chain.push(end)
  for (const [n, slot] of chain.slice(1).entries()) {
    chain[n]!.after.push(slot)
    slot.before.push(chain[n]!)
  }
  return chain
}

function groupByLayer(slots: readonly Slot[]): Slot[][] {
  const layers: Slot[][] = []
  for (const slot of slots) (layers[slot.layer] ??= []).push(slot)
  // Array.from also fills what no slot is in.
  return Array.from(layers, layer => layer ?? [])
}

/** Sorts each layer by where its neighbours stand, to and fro, then swaps neighbours; the order with fewest crossings stays. */
function orderLayers(layers: Slot[][]): void {
  layers.forEach(number)
  let best = layers.map(layer => [...layer])
  let fewest = countCrossings(layers)
  for (let sweep = 0; sweep < ORDER_SWEEPS && fewest > 0; sweep++) {
    const isForward = sweep % 2 === 0
    for (const layer of isForward ? layers : layers.toReversed()) {
      for (const slot of layer)
        slot.weight = mean(isForward ? slot.before : slot.after, ({ order }) => order) ?? slot.order
      layer.sort((one, other) => one.weight - other.weight)
      number(layer)
    }
    for (let round = 0; round < SWAP_ROUNDS; round++) layers.forEach(swapNeighbours)
    const crossings = countCrossings(layers)
    if (crossings >= fewest) continue
    fewest = crossings
    best = layers.map(layer => [...layer])
  }
  for (const [n, layer] of best.entries()) {
    layers[n] = layer
    number(layer)
  }
}

const number = (layer: readonly Slot[]) => layer.forEach((slot, n) => (slot.order = n))

/** Swaps two slots that stand beside one another if fewer of their links cross then. */
function swapNeighbours(layer: Slot[]): void {
  for (let n = 1; n < layer.length; n++) {
    const [one, other] = [layer[n - 1]!, layer[n]!]
    const crossings = (first: Slot, second: Slot) =>
      countInversions(first.before, second.before) + countInversions(first.after, second.after)
    if (crossings(other, one) >= crossings(one, other)) continue
    ;[layer[n - 1], layer[n]] = [other, one]
    one.order = n
    other.order = n - 1
  }
}

/** How many links of the upper of two slots end below links of the lower one. */
function countInversions(upper: readonly Slot[], lower: readonly Slot[]): number {
  let count = 0
  for (const { order } of upper) for (const each of lower) if (each.order < order) count++
  return count
}

/** How many links cross between neighbouring layers, counted with a Fenwick tree: there may be thousands in a gap. */
function countCrossings(layers: readonly Slot[][]): number {
  let count = 0
  for (const [n, layer] of layers.entries()) {
    const size = layers[n + 1]?.length ?? 0
    const tree = new Int32Array(size + 1)
    let seen = 0
    for (const slot of layer) {
      const ends = slot.after.map(({ order }) => order + 1)
      for (const end of ends) {
        let before = 0
        for (let at = end; at > 0; at -= at & -at) before += tree[at]!
        count += seen - before
      }
      for (const end of ends) {
        seen++
        for (let at = end; at <= size; at += at & -at) tree[at]! += 1
      }
    }
  }
  return count
}

/** Moves each slot to the height of its neighbours, as far as those of its layer leave room. */
function placeLayers(layers: readonly Slot[][], gap: number): void {
  for (const layer of layers) stack(layer, gap, () => 0)
  for (let sweep = 0; sweep < SWEEPS; sweep++)
    for (const layer of sweep % 2 === 0 ? layers : layers.toReversed())
      stack(layer, gap, slot => {
        const wanted = mean([...slot.before, ...slot.after], ({ y, height }) => y + height / 2)
        return wanted === undefined ? slot.y : wanted - slot.height / 2
      })
}

/** Stacks a layer in its order, then moves it as a whole to where its slots want to be on average. */
function stack(layer: readonly Slot[], gap: number, wish: (slot: Slot) => number): void {
  const wishes = layer.map(wish)
  let end = -Infinity
  for (const [n, slot] of layer.entries()) {
    slot.y = Math.max(wishes[n]!, end)
    end = slot.y + slot.height + gap
  }
  const shift = mean(layer, slot => wishes[slot.order]! - slot.y) ?? 0
  for (const slot of layer) slot.y += shift
}

function mean<T>(all: readonly T[], valueOf: (each: T) => number): number | undefined {
  return all.length === 0 ? undefined : all.reduce((sum, each) => sum + valueOf(each), 0) / all.length
}
