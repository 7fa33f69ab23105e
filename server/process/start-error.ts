/** A sentence for the operator that ends the process, without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
