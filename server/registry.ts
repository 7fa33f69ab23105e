import type Joi from 'joi'

/** All mistakes of an item at once: each costs its author a start. */
const VALIDATION = { allowUnknown: true, convert: false, abortEarly: false } as const

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

  /** Adds items. Throws when one is malformed, its name is taken, or the registry is closed. */
  add(...items: T[]): void {
    for (const item of items) {
      const label = `${this.#what} ${JSON.stringify((item as { name?: unknown } | undefined)?.name)}`
      if (this.#closed) throw new Error(`Cannot add ${label}: the server has started`)
      const problem = this.#shape?.validate(item, VALIDATION).error
      if (problem) throw new Error(`Cannot add ${label}: ${problem.message}`)
      if (this.#items.has(item.name)) throw new Error(`Cannot add ${label}: the name is taken`)
      this.#items.set(item.name, this.#prepare(item))
    }
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
