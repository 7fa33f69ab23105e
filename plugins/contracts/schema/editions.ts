import type { SchemaFields, Schema } from './parts.ts'

/** The supported minor versions of ODCS 3, oldest first. */
export const MINORS = ['v3.0.0', 'v3.0.1', 'v3.0.2', 'v3.1.0'] as const
export type Minor = (typeof MINORS)[number]

/** The differences of one minor version. */
export interface Edition {
  /** From 3.1 on, nearly all parts refuse unknown fields, and there are many more fields. */
  isStrict: boolean
  since(minor: Minor): boolean
  /** An object that refuses other fields from 3.1 on; before, they are warnings. */
  part(fields: SchemaFields, required?: readonly string[]): Schema
  /** An id for references, since 3.1. */
  id: SchemaFields
}
