import type { Badge } from './models.ts'
import { DEFAULT_LABEL } from './picture.ts'
import type { Status } from './status.ts'

/** A badge as the API tells it. */
export interface BadgeRecord {
  id: string
  public_id: string
  asset_id: string
  label: string | null
  tag_filters: string[]
  schema_drift_enabled: boolean
  freshness_enabled: boolean
  status: Status
  badge_url: string
  markdown: string
  created_at: Date
  updated_at: Date
}

/** A badge with what it says now, and how to show it on a page. */
export function presentBadge(badge: Badge, status: Status | undefined, baseUrl: string): BadgeRecord {
  const address = `${baseUrl}/badges/${badge.publicId}.svg`
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
    badge_url: address,
    markdown: `![${text}](${address})`,
    created_at: badge.createdAt,
    updated_at: badge.updatedAt,
  }
}
