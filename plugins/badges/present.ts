import type { Badge } from './models.ts'
import { DEFAULT_LABEL } from './picture.ts'
import type { BadgeStatus } from './status.ts'

export type BadgeRecord = ReturnType<typeof presentBadge>

/** The public URL of the picture of a badge. */
export function badgeUrl({ publicId }: Badge, baseUrl: string): string {
  return `${baseUrl}/badges/${publicId}.svg`
}

export function presentBadge(badge: Badge, status: BadgeStatus | undefined, baseUrl: string) {
  const url = badgeUrl(badge, baseUrl)
  const text = (badge.label ?? DEFAULT_LABEL).replaceAll(/[\\[\]]/g, String.raw`\$&`)
  return {
    id: badge.id,
    public_id: badge.publicId,
    asset_id: badge.assetId,
    label: badge.label,
    tag_filters: badge.tagFilters,
    schema_drift_enabled: badge.schemaDriftEnabled,
    freshness_enabled: badge.freshnessEnabled,
    include_upstream: badge.includeUpstream,
    is_active: badge.isActive,
    status: status ?? ('unknown' as const),
    badge_url: url,
    markdown: `![${text}](${url})`,
    created_at: badge.createdAt,
    updated_at: badge.updatedAt,
  }
}
