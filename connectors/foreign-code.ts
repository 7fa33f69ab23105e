/** Helps where functions and objects of extensions are called. */

/**
 * The members of an object that an extension made, also of one of a class, by their names; functions keep it as `this`.
 * Changed, they make another object that does the same.
 */
export function boundMembers<Item extends object>(item: Item): Item {
  const members: Record<string, unknown> = {}
  for (
    let part: object | null = item;
    part && part !== Object.prototype;
    part = Object.getPrototypeOf(part) as object | null
  )
    for (const name of Object.getOwnPropertyNames(part)) {
      if (name === 'constructor' || Object.hasOwn(members, name)) continue
      const member: unknown = item[name as keyof Item]
      members[name] = typeof member === 'function' ? member.bind(item) : member
    }
  return members as Item
}

/** Handles the rejection of a promise that a function returned in place of a value: unhandled, it would end the process. */
export function ignoreRejection(answer: unknown): void {
  if (typeof (answer as PromiseLike<unknown> | undefined)?.then === 'function')
    (answer as PromiseLike<unknown>).then(undefined, () => undefined)
}
