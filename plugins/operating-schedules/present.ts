import type { OperatingSchedule } from './models.ts'

/** An operating schedule as the API shows it. */
export function presentSchedule({
  id,
  name,
  timezone,
  rules,
  createdAt,
  updatedAt,
}: OperatingSchedule): object {
  return { id, name, timezone, rules, created_at: createdAt, updated_at: updatedAt }
}
