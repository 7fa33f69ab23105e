/** The artifacts cannot be used; the message says which part and why. */
export class ArtifactError extends Error {
  override readonly name = 'ArtifactError'
  /** The field of the body: `manifest`. */
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}
