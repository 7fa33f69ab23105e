/** A word or sign of a text of CUSTOM_SQL. */
export interface SqlToken {
  /** `digits` are bits and bytes: `x'41'`. */
  kind: 'word' | 'name' | 'text' | 'number' | 'digits' | 'sign'
  /** As it is written; a name or text without its quotes and escapes. */
  text: string
  /** Whether a blank or a comment stands before it. */
  gap: boolean
}
