/** Resolves to `late()` after `milliseconds`, or rejects when it throws; a late result is ignored. */
export function withTimeout<Answer, Late>(
  promise: Promise<Answer>,
  milliseconds: number,
  late: () => Late,
): Promise<Answer | Late> {
  const over = Promise.withResolvers<void>()
  const timer = setTimeout(over.resolve, milliseconds)
  return Promise.race([promise, over.promise.then(late)]).finally(() => clearTimeout(timer))
}
