import { presentFields } from '../../server/http/fields.ts'
import { badgeFields } from './fields.ts'
import type { Badge } from './models.ts'
import { DEFAULT_LABEL } from './picture.ts'
import type { BadgeStatus } from './status.ts'

export type BadgeRecord = ReturnType<typeof presentBadge>

/** The public URL of the picture of a badge. */
export function badgeUrl({ publicId }: Badge, baseUrl: string): string {
  return `${baseUrl}/badges/${publicId}.svg`
}

export function presentBadge(badge: Badge, status: BadgeStatus, baseUrl: string) {
  const url = badgeUrl(badge, baseUrl)
  const text = (badge.label ?? DEFAULT_LABEL).replaceAll(/[\\[\]]/g, String.raw`\$&`)
  return presentFields(badgeFields, { ...badge, status, badgeUrl: url, markdown: `![${text}](${url})` })
}
