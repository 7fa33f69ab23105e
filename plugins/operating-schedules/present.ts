import type { OperatingSchedule } from './models.ts'

export function presentSchedule({
  id,
  name,
  timezone,
  rules,
  createdAt,
  updatedAt,
}: OperatingSchedule): object {
  // As it was written: jsonb has an order of its own for keys.
  const written = rules.map(({ days, start, end }) => ({ days, start, end }))
  return { id, name, timezone, rules: written, created_at: createdAt, updated_at: updatedAt }
}
