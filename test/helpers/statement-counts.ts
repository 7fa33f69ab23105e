import type { TestServer } from './server.ts'

/** Counts the statements that change a table, however many rows each changes. @returns how many there were since */
export async function countChanges({ query }: TestServer, table: string): Promise<() => Promise<number>> {
  const name = `counted_${table.replace(/\W/g, '_')}`
  await query(`create sequence ${name}`)
  await query(`create function ${name}() returns trigger language plpgsql security definer as
    $$ begin perform nextval('public.${name}'); return null; end $$`)
  await query(
    `create trigger ${name} after insert or update on ${table} for each statement execute function ${name}()`,
  )
  return async () => {
    const [found] = await query(`select case when is_called then last_value else 0 end as n from ${name}`)
    return Number(found?.n)
  }
}
