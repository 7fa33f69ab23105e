import type { Components } from './components.ts'
import type { JsonSchema } from './schema.ts'

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  openapi: '3.1.0'
  info: { title: string; version: string; [field: string]: unknown }
  servers: { url: string }[]
  externalDocs?: { url: string; description?: string }
  tags: {
    name: string
    description?: string
    'x-displayName'?: string
    externalDocs?: { description: string; url: string }
  }[]
  'x-tagGroups': { name: string; tags: string[] }[]
  paths: Record<string, Record<string, Operation>>
  webhooks?: Record<string, object>
  components: Components & Record<'securitySchemes' | 'headers', Record<string, object>>
}

/** A body by its content types. */
type Content = Record<string, { schema: JsonSchema; example?: unknown }>

export interface RequestBody {
  required: boolean
  content: Content
}

/** One method of one path. */
export interface Operation {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  security: Record<string, string[]>[]
  parameters?: object[]
  requestBody?: RequestBody
  responses: Record<string, object>
}
