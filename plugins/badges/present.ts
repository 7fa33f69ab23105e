import type { Badge } from './models.ts'
import { DEFAULT_LABEL } from './picture.ts'
import type { BadgeStatus } from './status.ts'

/** A badge in replies. */
export interface BadgeRecord {
  id: string
  public_id: string
  asset_id: string
  label: string | null
  tag_filters: string[]
  schema_drift_enabled: boolean
  freshness_enabled: boolean
  status: BadgeStatus
  badge_url: string
  markdown: string
  created_at: Date
  updated_at: Date
}

export function presentBadge(badge: Badge, status: BadgeStatus | undefined, baseUrl: string): BadgeRecord {
  const url = `${baseUrl}/badges/${badge.publicId}.svg`
  const text = (badge.label ?? DEFAULT_LABEL).replaceAll(/[\\[\]]/g, String.raw`\$&`)
  return {
    id: badge.id,
    public_id: badge.publicId,
    asset_id: badge.assetId,
    label: badge.label,
    tag_filters: badge.tagFilters,
    schema_drift_enabled: badge.schemaDriftEnabled,
    freshness_enabled: badge.freshnessEnabled,
    status: status ?? 'unknown',
    badge_url: url,
    markdown: `![${text}](${url})`,
    created_at: badge.createdAt,
    updated_at: badge.updatedAt,
  }
}
