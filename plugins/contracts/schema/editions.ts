import type { SchemaFields, Schema } from './parts.ts'

/** The minor versions of ODCS 3 that are known, oldest first. */
export const MINORS = ['v3.0.0', 'v3.0.1', 'v3.0.2', 'v3.1.0'] as const
export type Minor = (typeof MINORS)[number]

/** How one minor version is described. */
export interface Edition {
  /** From 3.1 on nearly all parts refuse what they do not know, and much more can be said. */
  isStrict: boolean
  /** Whether this minor is at least another. */
  since(minor: Minor): boolean
  /** An object that refuses other fields from 3.1 on; before, they did no harm. */
  part(fields: SchemaFields, required?: readonly string[]): Schema
  /** An id that references can name, which 3.1 brought. */
  id: SchemaFields
}
