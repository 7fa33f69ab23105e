import { SYMPTOMS, type Symptom } from '../../api.ts'
import { discoveryOf, findBystanders } from './change-sets.ts'
import type { Flow } from './flow.ts'
import { explains, findRoots, MAX_COMPARED, type GroupItem, type RootFields } from './roots.ts'
import { canCause, unlikelihoodOf } from './symptoms.ts'

/**
 * A cause that is in no incident of its effects: a run that failed, or a schema change that its discovery put with others.
 * Its effects are one incident.
 */
export type OuterCause = RootFields

/** What causes an alert, with the number of steps from there. */
interface NearestCause {
  distance: number
  symptom: Symptom
  createdAt: Date
  /** An alert of an incident, which the effect joins; else an outer cause. */
  item?: GroupItem
  outer?: OuterCause
}

/** The alerts that are placed so far, by incident. */
export class Board {
  readonly #flow: Flow
  readonly #items: GroupItem[]
  #dormant: readonly GroupItem[]
  readonly #bystanders: Set<string>
  readonly #outer: OuterCause[]
  readonly #arranged: ReadonlySet<string>
  readonly #mergedInto = new Map<string, string>()

  /**
   * @param dormant alerts of incidents that are over
   * @param failedRuns runs that failed, of which no other one explains another
   * @param arranged incidents that people put together, which are merged into no other one
   */
  constructor(
    flow: Flow,
    placed: readonly GroupItem[],
    {
      dormant = [],
      failedRuns = [],
      arranged = new Set(),
    }: { dormant?: readonly GroupItem[]; failedRuns?: readonly OuterCause[]; arranged?: ReadonlySet<string> },
  ) {
    this.#flow = flow
    // Copies: what is moved here is stored later, by where it was.
    this.#items = placed.map(item => ({ ...item }))
    this.#dormant = dormant
    this.#arranged = arranged
    this.#bystanders = findBystanders(placed, flow)
    this.#outer = [...failedRuns, ...this.#items.filter(item => this.#isOuterCause(item))]
  }

  #isOuterCause({ id, severity }: GroupItem): boolean {
    return this.#bystanders.has(id) && severity !== 'info'
  }

  /** @param isBystander whether it belongs to its incident by its discovery alone */
  add(item: GroupItem, isBystander = false): void {
    this.#items.push(item)
    if (isBystander) this.#bystanders.add(item.id)
    if (this.#isOuterCause(item)) this.#outer.push(item)
  }

  /** Makes the alerts of an incident that was over count again. */
  reopen(incidentId: string): void {
    this.#items.push(...this.#dormant.filter(item => item.incidentId === incidentId))
    this.#dormant = this.#dormant.filter(item => item.incidentId !== incidentId)
  }

  /**
   * Makes incidents one, except for those that people arranged, which stay.
   * @returns the one that has the alerts: the first if people arranged it; else the oldest, as its message was sent first
   */
  merge(incidentIds: readonly string[]): string | undefined {
    const sorted = incidentIds.toSorted((a, b) => this.#openedAt(a) - this.#openedAt(b))
    const into = [...incidentIds.slice(0, 1), ...sorted].find(id => this.#arranged.has(id)) ?? sorted[0]
    for (const id of sorted) {
      if (into === undefined || id === into || this.#arranged.has(id)) continue
      this.#mergedInto.set(id, into)
      for (const item of this.#items) if (item.incidentId === id) item.incidentId = into
    }
    return into
  }

  /** The merged incidents, each with the one that stands for it at last. */
  merged(): Map<string, string> {
    const last = (id: string): string => (this.#mergedInto.has(id) ? last(this.#mergedInto.get(id)!) : id)
    return new Map([...this.#mergedInto.keys()].map(id => [id, last(id)]))
  }

  #openedAt(incidentId: string): number {
    const times = this.#items
      .filter(item => item.incidentId === incidentId)
      .map(({ createdAt }) => createdAt.getTime())
    return Math.min(...times)
  }

  /** The incidents that an alert belongs to: of its table or of its cause, and those that it explains. */
  incidentsFor(item: GroupItem): string[] {
    const same = this.#sameAsset(item)
    const ofCause = this.#incidentOfCause(item)
    // Its table may be there for another cause, which cannot have caused this.
    const isStranger = ofCause && same && same !== ofCause && !this.#keepsTable(item, same)
    const own = isStranger ? ofCause : (same ?? ofCause)
    return [...new Set([own, ...this.explainedBy(item)].flatMap(id => id ?? []))]
  }

  /** Whether an alert stays with its table: it replaces another one, people said so, or something there can be its cause. */
  #keepsTable(item: GroupItem, incidentId: string): boolean {
    return (
      this.#arranged.has(incidentId) ||
      this.#items.some(
        each =>
          each.id === item.supersedes || (each.incidentId === incidentId && explains(each, item, this.#flow)),
      )
    )
  }

  /** Whether an alert that is placed can have caused another one. */
  hasCause(item: GroupItem): boolean {
    return this.#nearestCause(item)?.item !== undefined
  }

  #sameAsset({ assetId, supersedes }: GroupItem): string | null | undefined {
    const replaced = this.#items.find(({ id }) => id === supersedes)
    if (replaced) return replaced.incidentId
    const items = this.#items.filter(
      item => item.assetId === assetId && !item.isCauseOnly && !this.#bystanders.has(item.id),
    )
    return items.toSorted(byNewest)[0]?.incidentId
  }

  #incidentOfCause(item: GroupItem): string | null | undefined {
    const nearest = this.#nearestCause(item)
    if (!nearest?.outer) return nearest?.item?.incidentId
    return this.effectsOf(nearest.outer)[0]
  }

  /** The incidents with effects of an outer cause, oldest first. */
  effectsOf(outer: OuterCause): string[] {
    const effects = this.#items.filter(
      each =>
        !this.#bystanders.has(each.id) &&
        this.#stepsFrom(outer, each) < Infinity &&
        this.#nearestCause(each)?.outer === outer,
    )
    const ids = new Set(effects.toSorted((a, b) => byNewest(b, a)).flatMap(each => each.incidentId ?? []))
    return [...ids]
  }

  /** The nearest alert or outer cause at the table or upstream that can have caused an alert; of two, the likelier one. */
  #nearestCause(item: GroupItem): NearestCause | undefined {
    const causes: NearestCause[] = []
    for (const each of this.#items)
      if (!this.#bystanders.has(each.id) && explains(each, item, this.#flow))
        causes.push({
          distance: this.#stepsFrom(each, item),
          symptom: each.symptom,
          createdAt: each.createdAt,
          item: each,
        })
    for (const outer of this.#outer) {
      const isOwn = outer.assetId === item.assetId && outer !== item && canCause(outer.symptom, item.symptom)
      if ((isOwn || explains(outer, item, this.#flow)) && !this.#isExplained(outer))
        causes.push({
          distance: this.#stepsFrom(outer, item),
          symptom: outer.symptom,
          createdAt: outer.createdAt,
          outer,
        })
    }
    const [nearest] = causes.toSorted(
      (a, b) =>
        a.distance - b.distance ||
        unlikelihoodOf(a.symptom, item.symptom) - unlikelihoodOf(b.symptom, item.symptom) ||
        Number(!a.item) - Number(!b.item) ||
        SYMPTOMS.indexOf(a.symptom) - SYMPTOMS.indexOf(b.symptom) ||
        byNewest(a, b),
    )
    return nearest
  }

  #stepsFrom(cause: RootFields, effect: RootFields): number {
    return this.#flow.distance(cause.assetId, effect.assetId) ?? Infinity
  }

  /** Whether an outer cause came of an alert: then its effects belong to the incident of that. */
  #isExplained(outer: OuterCause): boolean {
    return this.#items.some(each => !this.#bystanders.has(each.id) && explains(each, outer, this.#flow))
  }

  /** The incidents of which something explains all roots. One that has another root, too, has another cause. */
  explainedBy(cause: OuterCause): string[] {
    return this.#rootsByIncident(cause)
      .filter(({ explained, others }) => explained.length > 0 && others.length === 0)
      .map(({ incidentId }) => incidentId)
  }

  /** Alerts that something explains, in incidents that have another root and are there for their table alone. */
  misplacedEffects(cause: OuterCause): GroupItem[] {
    return this.#rootsByIncident(cause)
      .filter(({ incidentId, others }) => others.length > 0 && !this.#arranged.has(incidentId))
      .flatMap(({ explained }) => explained)
  }

  /** The roots of each incident: those that something explains, and the others. */
  #rootsByIncident(cause: OuterCause) {
    const byIncident = Map.groupBy(this.#items, ({ incidentId }) => incidentId)
    return [...byIncident].flatMap(([incidentId, members]) => {
      const own = members.filter(each => !this.#bystanders.has(each.id))
      const isEffect = (each: GroupItem) => !each.isCauseOnly && explains(cause, each, this.#flow)
      if (incidentId === null || !own.some(isEffect)) return []
      const roots = findRoots(own.slice(0, MAX_COMPARED), this.#flow)
      const others = roots.filter(root => !isEffect(root) && root.assetId !== cause.assetId)
      return [{ incidentId, explained: roots.filter(isEffect), others }]
    })
  }

  /** Puts a placed alert into another incident. */
  move({ id }: GroupItem, incidentId: string): void {
    for (const item of this.#items) if (item.id === id) item.incidentId = incidentId
  }

  /** The incident of other changes that the same discovery found and nothing that is placed explains. */
  sameDiscovery(item: GroupItem): string | undefined {
    const discovery = discoveryOf(item)
    const found = this.#items.find(
      each => discovery !== undefined && discoveryOf(each) === discovery && !this.hasCause(each),
    )
    return found?.incidentId ?? undefined
  }
}

const byNewest = (a: { createdAt: Date }, b: { createdAt: Date }): number =>
  b.createdAt.getTime() - a.createdAt.getTime()
