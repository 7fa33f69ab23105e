import type { Values } from '../../forms/schema.ts'

/** The first block of SQL in the section to which the row of an engine leads; empty without one. */
export function readScript(page: string, type: string): string {
  const row = page.split('\n').find(line => line.includes(`| \`${type}\``))
  const [, anchor] = /\(#([\w-]+)\)/.exec(row ?? '') ?? []
  const sections = page.split(/^## /m)
  const section = sections.find(text => text.split('\n')[0]!.toLowerCase().replaceAll(' ', '-') === anchor)
  return /```sql\n([\s\S]*?)```/.exec(section ?? '')?.[1] ?? ''
}

/** The script of the documentation is about the database `shop` and the user `tidemark`. */
export function fillInNames(script: string, values: Values): string {
  const names: Record<string, unknown> = {
    shop: values['connection_config.database'],
    tidemark: values['connection_config.username'],
  }
  return script.replaceAll(/\b(?:shop|tidemark)\b/g, example => {
    const name = String(names[example] ?? '')
    // Other names would have to be quoted.
    return /^[a-z_]\w*$/.test(name) ? name : example
  })
}
