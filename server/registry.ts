import type Joi from 'joi'

/**
 * Named things that features and third parties add while the server is being put together.
 * A duplicate stops the start by name; a miss names what is known; closed once the server runs.
 */
export class Registry<T extends { name: string }> {
  readonly #what: string
  readonly #shape: Joi.Schema | undefined
  readonly #items = new Map<string, T>()
  #closed = false
  #prepare: (item: T) => T = item => item

  /** @param what what one item is called in messages: `connector` */
  constructor(what: string, shape?: Joi.Schema) {
    this.#what = what
    this.#shape = shape
  }

  /**
   * Adds items, all or none.
   * @throws Error with everything that is wrong: a malformed item, a name that is taken, a registry that is closed
   */
  add(...items: T[]): void {
    const problems = items.flatMap((item, index) => this.#findProblem(item, items.slice(0, index)) ?? [])
    if (problems.length > 0) throw new Error(problems.join('; '))
    for (const item of items) this.#items.set(item.name, this.#prepare(item))
  }

  #findProblem(item: T, before: readonly T[]): string | null {
    const name = (item as { name?: string } | undefined)?.name
    const label = `${this.#what} ${JSON.stringify(name)}`
    if (this.#closed) return `Cannot add ${label}: the server has started`
    const options = { allowUnknown: true, convert: false, abortEarly: false }
    const problem = this.#shape?.validate(item, options).error
    if (problem) return `Cannot add ${label}: ${problem.details.map(({ message }) => message).join(', ')}`
    const isTaken = this.#items.has(item.name) || before.some(other => other?.name === name)
    return isTaken ? `Cannot add ${label}: the name is taken` : null
  }

  /** Replaces each item that is added from now on, before it is kept: those of extensions are guarded. */
  prepareWith(prepare: (item: T) => T): void {
    this.#prepare = prepare
  }

  /** The item of a name. Throws with the known names when there is none. */
  get(name: string): T {
    const item = this.#items.get(name)
    if (!item) throw new Error(this.describeMissing(name))
    return item
  }

  /** What is said of a name that no item has, such as one of an extension that was removed. */
  describeMissing(name: string): string {
    return `Unknown ${this.#what} ${JSON.stringify(name)}; known are ${this.names().join(', ')}`
  }

  has(name: string): boolean {
    return this.#items.has(name)
  }

  names(): string[] {
    return [...this.#items.keys()].sort()
  }

  /** The items in the order they were added. */
  all(): T[] {
    return [...this.#items.values()]
  }

  /** Refuses whatever is added from now on. */
  close(): void {
    this.#closed = true
  }
}
