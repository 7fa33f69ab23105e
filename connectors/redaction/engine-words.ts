/** What an engine complains of in a statement. It decides the sentence that is shown in place of the engine's own. */
export type StatementFault =
  | 'syntax'
  | 'column'
  | 'table'
  | 'object'
  | 'ambiguous'
  | 'function'
  | 'permission'
  | 'execute'
  | 'type'
  | 'grouping'
  | 'statement'
  | 'value'
  | 'range'
  | 'division'
  | 'rows'
  | 'pattern'
  | 'raised'

/** An engine's own words. They may quote the rows that a statement read, and so leave no session. */
export interface EngineWords {
  message: string
  /** The place in the statement's text, in characters from 1, where the engine gives one. */
  position?: number
  /** It was raised while the statement ran, and so is not about the statement's own text, whatever it claims. */
  isRunTime?: boolean
  fault?: StatementFault
  /** What to do, in our words. */
  advice?: string
}

/** Kept beside the errors, so that nothing that writes an error down finds them. */
const wordsOf = new WeakMap<object, EngineWords>()

/** Notes that the message of an error is the engine's. Returns the error. */
export function withEngineWords<Failure extends object>(error: Failure, words: EngineWords): Failure {
  wordsOf.set(error, words)
  return error
}

/** The engine's words behind an error; undefined where its message is ours. */
export function engineWordsOf(error: object): EngineWords | undefined {
  return wordsOf.get(error)
}
