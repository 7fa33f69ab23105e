/**
 * Waits for a promise, but not for ever; what it comes to later is nobody's.
 * @param milliseconds that it may take
 * @param late gives what stands in for the answer then, or throws
 */
export function withTimeout<Answer, Late>(
  promise: Promise<Answer>,
  milliseconds: number,
  late: () => Late,
): Promise<Answer | Late> {
  const over = Promise.withResolvers<void>()
  const timer = setTimeout(over.resolve, milliseconds)
  return Promise.race([promise, over.promise.then(late)]).finally(() => clearTimeout(timer))
}
