/** Requests at the same time; a company has a limit of requests in a second. */
const AT_ONCE = 4

/** Works on items, a few at a time. @returns the results, and the errors of the other items */
export async function workOnEach<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<{ results: R[]; errors: unknown[] }> {
  const waiting = items.values()
  const results: R[] = []
  const errors: unknown[] = []
  const workInTurn = async () => {
    for (const item of waiting)
      try {
        results.push(await work(item))
      } catch (error) {
        errors.push(error)
      }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, workInTurn))
  return { results, errors }
}
