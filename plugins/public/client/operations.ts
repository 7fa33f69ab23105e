/**
 * What the server takes and replies, by method and path: written from its OpenAPI document by `npm run client:types`,
 * and compared with it by `test/plugins/public/client/operations.test.ts`.
 */

export interface Operations {
  get: {
    '/api/public/beta/status': { options: object; reply: BetaStatus }
    '/api/public/docs/{path}.md': { options: { path: { path: string | number } }; reply: string }
    '/api/public/schemas/monitors.json': { options: object; reply: Record<string, unknown> }
    '/api/v1/api-keys': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** Whether revoked keys are listed. */
          include_revoked?: boolean
        }
      }
      reply: ApiKeyListData
    }
    '/api/v1/api-keys/usage': { options: object; reply: ApiKeyUsageData }
    '/api/v1/api-keys/{key_id}': { options: { path: { key_id: string | number } }; reply: ApiKeyData }
    '/api/v1/assets': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** The name of a source; or an engine, such as postgresql, for all sources of it unless one has this name. */
          source?: string
          /** One or more of source, table, view, materialized_view, external_table, separated by commas. */
          asset_type?: ('source' | 'table' | 'view' | 'materialized_view' | 'external_table')[]
          /** A part of the name, in any case; there are no wildcards. */
          search?: string
          /** Schemas, separated by commas; tables of any of them are listed. */
          schema?: string[]
          /** Tags, separated by commas: of the asset; for a table also those of its source and its columns. */
          tag?: string[]
          /** Only tables whose active checks together are passing, failing or in error, the worst of them counts; or none: no check of them has run. */
          quality_status?: ('passing' | 'failing' | 'error' | 'none')[]
          /** Only tables that are fresh or stale, whose last freshness check was an error, or whose freshness is unknown, as without a schedule. */
          freshness_status?: ('fresh' | 'stale' | 'error' | 'unknown')[]
          /** Only tables with triggered or acknowledged alerts, or only those without. */
          has_open_alerts?: boolean
          /** Sources come first in either case. */
          sort?: 'created_at' | 'name'
          /** By default desc, the newest first, of created_at, and asc of name. */
          order?: 'asc' | 'desc'
        }
      }
      reply: AssetPage
    }
    '/api/v1/assets/{asset_id}': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** Whether a table comes with its columns. */
          include_columns?: boolean
        }
      }
      reply: Asset
    }
    '/api/v1/assets/{asset_id}/freshness': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** Comma-separated states: ready, not_ready, unknown, error, fresh, stale, disabled. fresh is ready, stale is not_ready, and disabled is a paused schedule or source. */
          status?: ('ready' | 'not_ready' | 'unknown' | 'error' | 'fresh' | 'stale' | 'disabled')[]
          /** Comma-separated schemas. */
          schema?: string[]
          /** Comma-separated tags of the table, of any of its columns, or of its source. */
          tag?: string[]
          /** Part of the table name, ignoring case; no wildcards. */
          search?: string
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply:
        | FreshnessEnvelope
        | {
            success: boolean
            /** A sentence for people; mostly empty when it went well. */
            message: string
            /** A code; empty when it went well. */
            error: string
            meta: Record<string, unknown>
            data: {
              /** The qualified name of the source. */
              asset: string
              /** Counts of all matching tables, regardless of the filter on status. */
              summary: {
                ready: number
                not_ready: number
                unknown: number
                error: number
              }
              tables: ListedFreshness[]
              /** All that match, on this page and others. */
              total: number
              limit: number
              offset: number
              /** Whether there is a page after this one: ask with offset + limit. */
              has_more: boolean
            }
          }
    }
    '/api/v1/assets/{asset_id}/schema-changes': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** How many days to look back. */
          days_back?: number
          /** Only changes of this type. */
          change_type?:
            | 'column_added'
            | 'column_removed'
            | 'column_type_changed'
            | 'column_renamed'
            | 'table_added'
            | 'table_removed'
            | 'constraint_changed'
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: AssetSchemaChangesEnvelope
    }
    '/api/v1/audit-log': {
      options: {
        query?: {
          /** How many entries. */
          limit?: number
          /** Only entries before this number: `next_before` of the previous page. */
          before?: number
          /** Such as `source.updated`. */
          action?: string
          /** `user:<id>`, `key:<id>`, `system` or `cli`. */
          actor?: string
          /** Such as `source`. */
          target_type?: string
          /** The id of the target. */
          target_id?: string
          /** Only entries at or after this time. */
          from?: string
          /** Only entries at or before this time. */
          to?: string
        }
      }
      reply: AuditPage
    }
    '/api/v1/audit-log/verify': { options: object; reply: AuditVerdictData }
    '/api/v1/auth/me': { options: object; reply: User }
    '/api/v1/auth/preferences': { options: object; reply: UserPreferencesEnvelope }
    '/api/v1/auth/preferences/onboarding': { options: object; reply: OnboardingProgressEnvelope }
    '/api/v1/auth/preferences/{preference_key}': {
      options: { path: { preference_key: string | number } }
      reply: {
        success: boolean
        /** A sentence for people; mostly empty when it went well. */
        message: string
        /** A code; empty when it went well. */
        error: string
        meta: Record<string, unknown>
        /** The value; null if there is none. */
        data: unknown
      }
    }
    '/api/v1/contracts/export-jobs/{id}': {
      options: { path: { id: string | number } }
      reply: ContractExportData
    }
    '/api/v1/freshness': {
      options: {
        query: {
          /** The qualified name or the id of an asset. */
          asset: string
          /** Comma-separated states: ready, not_ready, unknown, error, fresh, stale, disabled. fresh is ready, stale is not_ready, and disabled is a paused schedule or source. */
          status?: ('ready' | 'not_ready' | 'unknown' | 'error' | 'fresh' | 'stale' | 'disabled')[]
          /** Comma-separated schemas. */
          schema?: string[]
          /** Comma-separated tags of the table, of any of its columns, or of its source. */
          tag?: string[]
          /** Part of the table name, ignoring case; no wildcards. */
          search?: string
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply:
        | FreshnessEnvelope
        | {
            success: boolean
            /** A sentence for people; mostly empty when it went well. */
            message: string
            /** A code; empty when it went well. */
            error: string
            meta: Record<string, unknown>
            data: {
              /** The qualified name of the source. */
              asset: string
              /** Counts of all matching tables, regardless of the filter on status. */
              summary: {
                ready: number
                not_ready: number
                unknown: number
                error: number
              }
              tables: ListedFreshness[]
              /** All that match, on this page and others. */
              total: number
              limit: number
              offset: number
              /** Whether there is a page after this one: ask with offset + limit. */
              has_more: boolean
            }
          }
    }
    '/api/v1/health': { options: object; reply: Health }
    '/api/v1/invitations': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: InvitationPage
    }
    '/api/v1/oauth/links': { options: object; reply: ProviderLinks }
    '/api/v1/oauth/{provider_type}/callback': {
      options: {
        path: { provider_type: string | number }
        query: {
          /** Identifies the attempt; created by authorize. */
          state: string
          /** The authorization code of the provider. */
          code?: string
          /** The issuer of the provider. */
          iss?: string
          /** The error code of the provider. */
          error?: string
          /** The error message of the provider. */
          error_description?: string
        }
      }
      reply: LoginResponse | ProviderLink
    }
    '/api/v1/operating-schedules': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: OperatingSchedulePage
    }
    '/api/v1/operating-schedules/{schedule_id}': {
      options: { path: { schedule_id: string | number } }
      reply: OperatingSchedule
    }
    '/api/v1/operating-schedules/{schedule_id}/uses': {
      options: { path: { schedule_id: string | number } }
      reply: OperatingScheduleUsesData
    }
    '/api/v1/sdk/alerts': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** One or more of info, warning, critical, separated by commas. */
          severity?: ('info' | 'warning' | 'critical')[]
          /** One or more of destination_disabled, schema_change, schema_drift, discovery_complete, connection_failed, validity_failure, metric_anomaly, referential_failure, freshness_violation, freshness_stale, freshness_alert, external_check_failed, contract_violation, separated by commas. */
          event_type?: (
            | 'destination_disabled'
            | 'schema_change'
            | 'schema_drift'
            | 'discovery_complete'
            | 'connection_failed'
            | 'validity_failure'
            | 'metric_anomaly'
            | 'referential_failure'
            | 'freshness_violation'
            | 'freshness_stale'
            | 'freshness_alert'
            | 'external_check_failed'
            | 'contract_violation'
          )[]
          /** The id or the qualified name of a table, or of a source with all its tables. */
          asset_id?: string
          /** Alerts about what someone owns: the id of a user or a team, an address, or the name of a team. */
          owner?: string
          /** Whether a message about it reached none of its destinations. */
          delivery_failed?: boolean
          /** A part of the title, the name of the rule, the qualified name, the notes or the resolution, in any case; no wildcards. */
          search?: string
          /** What was done, as stated when it ended. */
          action_category?: string
          /** What it came from, as stated when it ended. */
          root_cause_category?: string
          /** Opened at this time or after. */
          since?: string
          /** Opened before this time. */
          until?: string
          /** Another name for `since`. */
          from_date?: string
          /** Opened at this time or before. */
          to_date?: string
          /** One or more of triggered, acknowledged, snoozed, resolved, dismissed, separated by commas. */
          status?: ('triggered' | 'acknowledged' | 'snoozed' | 'resolved' | 'dismissed')[]
        }
      }
      reply: AlertPageData
    }
    '/api/v1/sdk/alerts/destination-types': {
      options: object
      reply: {
        data: {
          items: DestinationType[]
        }
      }
    }
    '/api/v1/sdk/alerts/destinations': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** Only destinations of this type. */
          destination_type?: 'email' | 'ntfy' | 'pagerduty' | 'slack' | 'teams' | 'webhook'
          /** Only those that are switched on, or off. */
          is_active?: boolean
          /** Whether to leave out destinations that are switched off. */
          active_only?: boolean
          /** Whether its latest attempts have all failed. */
          is_failing?: boolean
        }
      }
      reply: DestinationListData
    }
    '/api/v1/sdk/alerts/destinations/{id}': {
      options: { path: { id: string | number } }
      reply: DestinationData
    }
    '/api/v1/sdk/alerts/destinations/{id}/deliveries': {
      options: {
        path: { id: string | number }
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** One or more of pending, delivered, failed, stopped, separated by commas. */
          status?: ('pending' | 'delivered' | 'failed' | 'stopped')[]
          /** One or more of alert.triggered, alert.resolved, alert.test, separated by commas. */
          event_type?: ('alert.triggered' | 'alert.resolved' | 'alert.test')[]
        }
      }
      reply: DeliveryPageData
    }
    '/api/v1/sdk/alerts/inbox': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** One or more of info, warning, critical, separated by commas. */
          severity?: ('info' | 'warning' | 'critical')[]
          /** One or more of destination_disabled, schema_change, schema_drift, discovery_complete, connection_failed, validity_failure, metric_anomaly, referential_failure, freshness_violation, freshness_stale, freshness_alert, external_check_failed, contract_violation, separated by commas. */
          event_type?: (
            | 'destination_disabled'
            | 'schema_change'
            | 'schema_drift'
            | 'discovery_complete'
            | 'connection_failed'
            | 'validity_failure'
            | 'metric_anomaly'
            | 'referential_failure'
            | 'freshness_violation'
            | 'freshness_stale'
            | 'freshness_alert'
            | 'external_check_failed'
            | 'contract_violation'
          )[]
          /** The id or the qualified name of a table, or of a source with all its tables. */
          asset_id?: string
          /** Alerts about what someone owns: the id of a user or a team, an address, or the name of a team. */
          owner?: string
          /** Whether a message about it reached none of its destinations. */
          delivery_failed?: boolean
          /** A part of the title, the name of the rule, the qualified name, the notes or the resolution, in any case; no wildcards. */
          search?: string
          /** What was done, as stated when it ended. */
          action_category?: string
          /** What it came from, as stated when it ended. */
          root_cause_category?: string
          /** Opened at this time or after. */
          since?: string
          /** Opened before this time. */
          until?: string
          /** Another name for `since`. */
          from_date?: string
          /** Opened at this time or before. */
          to_date?: string
          /** Defaults to both. */
          status?: ('triggered' | 'acknowledged')[]
          /** In place of `status`; also of alerts that are over. */
          state?: ('new' | 'acknowledged' | 'snoozed' | 'resolved' | 'dismissed')[]
        }
      }
      reply: InboxAlertListData
    }
    '/api/v1/sdk/alerts/investigations/{id}': {
      options: { path: { id: string | number } }
      reply: InvestigationData
    }
    '/api/v1/sdk/alerts/rules': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** Only those that are switched on, or off. */
          is_active?: boolean
          /** Whether to leave out rules that are switched off. */
          enabled_only?: boolean
          /** Rules that send to this destination. */
          destination_id?: string
        }
      }
      reply: AlertRulePageData
    }
    '/api/v1/sdk/alerts/rules/{id}': { options: { path: { id: string | number } }; reply: AlertRuleData }
    '/api/v1/sdk/alerts/rules/{id}/destinations': {
      options: { path: { id: string | number } }
      reply: {
        data: {
          destinations: Destination[]
        }
      }
    }
    '/api/v1/sdk/alerts/summary': { options: object; reply: AlertSummaryData }
    '/api/v1/sdk/alerts/trends': {
      options: {
        query?: {
          /** The number of days, including today; defaults to 30. */
          days?: number
          /** In place of `days`. `24h` counts by the hour, other periods by the day. */
          period?: '24h' | '7d' | '30d' | '90d'
          /** The zone whose midnights separate the days; defaults to the setting TIMEZONE. */
          timezone?: string
          /** The id or the qualified name of a table, or of a source with all its tables. */
          asset_id?: string
        }
      }
      reply: AlertTrendsData
    }
    '/api/v1/sdk/alerts/{id}': { options: { path: { id: string | number } }; reply: AlertData }
    '/api/v1/sdk/alerts/{id}/deliveries': {
      options: {
        path: { id: string | number }
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** One or more of pending, delivered, failed, stopped, separated by commas. */
          status?: ('pending' | 'delivered' | 'failed' | 'stopped')[]
          /** One or more of alert.triggered, alert.resolved, alert.test, separated by commas. */
          event_type?: ('alert.triggered' | 'alert.resolved' | 'alert.test')[]
        }
      }
      reply: DeliveryPageData
    }
    '/api/v1/sdk/alerts/{id}/history': {
      options: {
        path: { id: string | number }
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: AlertHistoryData
    }
    '/api/v1/sdk/alerts/{id}/impact': { options: { path: { id: string | number } }; reply: AlertImpactData }
    '/api/v1/sdk/assets': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** The name of a source; or an engine, such as postgresql, for all sources of it unless one has this name. */
          source?: string
          /** One or more of source, table, view, materialized_view, external_table, separated by commas. */
          asset_type?: ('source' | 'table' | 'view' | 'materialized_view' | 'external_table')[]
          /** A part of the name, in any case; there are no wildcards. */
          search?: string
          /** Schemas, separated by commas; tables of any of them are listed. */
          schema?: string[]
          /** Tags, separated by commas: of the asset; for a table also those of its source and its columns. */
          tag?: string[]
          /** Only tables whose active checks together are passing, failing or in error, the worst of them counts; or none: no check of them has run. */
          quality_status?: ('passing' | 'failing' | 'error' | 'none')[]
          /** Only tables that are fresh or stale, whose last freshness check was an error, or whose freshness is unknown, as without a schedule. */
          freshness_status?: ('fresh' | 'stale' | 'error' | 'unknown')[]
          /** Only tables with triggered or acknowledged alerts, or only those without. */
          has_open_alerts?: boolean
          /** Sources come first in either case. */
          sort?: 'created_at' | 'name'
          /** By default desc, the newest first, of created_at, and asc of name. */
          order?: 'asc' | 'desc'
        }
      }
      reply: AssetPageData
    }
    '/api/v1/sdk/assets/{asset_id}': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** Whether a table comes with its columns. */
          include_columns?: boolean
        }
      }
      reply: AssetData
    }
    '/api/v1/sdk/assets/{asset_id}/contract-draft': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** odcs-pure leaves out custom properties of this service. */
          mode?: 'extended' | 'odcs-pure'
        }
      }
      reply: ContractDraftData
    }
    '/api/v1/sdk/assets/{asset_id}/owners': {
      options: { path: { asset_id: string | number } }
      reply: AssetOwnersData
    }
    '/api/v1/sdk/assets/{asset_id}/profile': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** Compares with an earlier profile: its id, or a time, ISO 8601, which means the last profile until then. */
          compare_to?: string
        }
      }
      reply: TableProfileData
    }
    '/api/v1/sdk/assets/{asset_id}/profiles': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: ProfileSummaryPage
    }
    '/api/v1/sdk/assets/{asset_id}/usage': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** The number of days until today; defaults to 30. */
          days?: number
          /** The first day, UTC; in place of days. */
          from?: string
          /** The last day, UTC; defaults to today. */
          to?: string
        }
      }
      reply: SourceUsageData
    }
    '/api/v1/sdk/assets/{asset_id}/watch': {
      options: { path: { asset_id: string | number } }
      reply: WatchPolicyData
    }
    '/api/v1/sdk/badges': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** A source or a table, by its id or qualified name. */
          asset_id?: string
          /** Leaves out inactive badges. */
          active_only?: boolean
        }
      }
      reply: BadgeListData
    }
    '/api/v1/sdk/badges/{id}': { options: { path: { id: string | number } }; reply: BadgeData }
    '/api/v1/sdk/badges/{id}/status': { options: { path: { id: string | number } }; reply: BadgeStateData }
    '/api/v1/sdk/briefings/today': { options: object; reply: BriefingData }
    '/api/v1/sdk/chart-links': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** A table, by its id or qualified name. */
          asset_id?: string
          /** The id of a rule, a metric or a referential check, as `GET /api/v1/sdk/checks/{asset_id}` has it. */
          check_id?: string
        }
      }
      reply: ChartLinkListData
    }
    '/api/v1/sdk/check-types': {
      options: {
        query?: {
          /** The id or qualified name of a source or a table. */
          asset_id?: string
        }
      }
      reply: {
        data: {
          items: CheckType[]
        }
      }
    }
    '/api/v1/sdk/checks': {
      options: {
        query?: {
          /** The last results that each check comes with. */
          points?: number
          /** Only checks of this kind: validity, metric or referential. */
          kind?: 'metric' | 'referential' | 'validity'
          /** Only checks of these statuses, separated by commas. */
          status?: ('passing' | 'warning' | 'failing' | 'error' | 'learning' | 'pending')[]
          /** Only those that are switched on, or off. */
          is_active?: boolean
          /** A part of the name, type, column, table or source of the check, in any case. With dots it names a schema and a table, such as `sales.orders`. */
          search?: string
          /** By age, or by status: failing, error, warning, learning, pending, passing. */
          sort?: 'created_at' | 'status'
          /** desc lists the newest, or those that need attention, first. */
          order?: 'asc' | 'desc'
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: ListedCheckItems
    }
    '/api/v1/sdk/checks/{asset_id}': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** The last results that each check comes with. */
          points?: number
          /** Only checks of this kind: validity, metric or referential. */
          kind?: 'metric' | 'referential' | 'validity'
          /** Only checks of these statuses, separated by commas. */
          status?: ('passing' | 'warning' | 'failing' | 'error' | 'learning' | 'pending')[]
          /** Only those that are switched on, or off. */
          is_active?: boolean
          /** A part of the name, type, column, table or source of the check, in any case. With dots it names a schema and a table, such as `sales.orders`. */
          search?: string
          /** By age, or by status: failing, error, warning, learning, pending, passing. */
          sort?: 'created_at' | 'status'
          /** desc lists the newest, or those that need attention, first. */
          order?: 'asc' | 'desc'
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: ListedCheckItems
    }
    '/api/v1/sdk/contracts': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** Only contracts of this source, or that name this table; an id or a qualified name. */
          asset_id?: string
        }
      }
      reply: ContractListData
    }
    '/api/v1/sdk/contracts/{name}': {
      options: { path: { name: string | number } }
      reply: EnforcedContractData
    }
    '/api/v1/sdk/contracts/{name}/history': {
      options: {
        path: { name: string | number }
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: ContractEventListData
    }
    '/api/v1/sdk/coverage/company': { options: object; reply: CompanyCoverageData }
    '/api/v1/sdk/coverage/{asset_id}': {
      options: { path: { asset_id: string | number } }
      reply: AssetCoverageData
    }
    '/api/v1/sdk/coverage/{asset_id}/gaps': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** How many to show at most. */
          limit?: number
        }
      }
      reply: CoverageGapsData
    }
    '/api/v1/sdk/freshness': {
      options: {
        query?: {
          /** The id or the qualified name of a source or a table. */
          asset_id?: string
          /** Comma-separated states: ready, not_ready, unknown, error, fresh, stale, disabled. fresh is ready, stale is not_ready, and disabled is a paused schedule or source. */
          status?: ('ready' | 'not_ready' | 'unknown' | 'error' | 'fresh' | 'stale' | 'disabled')[]
          /** Comma-separated schemas. */
          schema?: string[]
          /** Comma-separated tags of the table, of any of its columns, or of its source. */
          tag?: string[]
          /** Part of the table name, ignoring case; no wildcards. */
          search?: string
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: MonitoredTablePageData
    }
    '/api/v1/sdk/freshness/schedules': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** The id or the qualified name of a source or a table. */
          asset_id?: string
          /** Only those that are switched on, or off. */
          is_active?: boolean
          /** true is the same as is_active=true; false does not filter. */
          active_only?: boolean
        }
      }
      reply: FreshnessSchedulePageData
    }
    '/api/v1/sdk/freshness/summary': {
      options: {
        query?: {
          /** The id or the qualified name of a source or a table. */
          asset_id?: string
        }
      }
      reply: FreshnessSummaryData
    }
    '/api/v1/sdk/freshness/{asset_id}': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** Comma-separated states: ready, not_ready, unknown, error, fresh, stale, disabled. fresh is ready, stale is not_ready, and disabled is a paused schedule or source. */
          status?: ('ready' | 'not_ready' | 'unknown' | 'error' | 'fresh' | 'stale' | 'disabled')[]
          /** Comma-separated schemas. */
          schema?: string[]
          /** Comma-separated tags of the table, of any of its columns, or of its source. */
          tag?: string[]
          /** Part of the table name, ignoring case; no wildcards. */
          search?: string
          /** Adds `update_clock`, the hours of the week in which updates of a table arrived, in this time zone. */
          clock_timezone?: string
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: {
        /** The record of a table; of a source, counts and its tables. */
        data:
          | MonitoredTableDetail
          | {
              qualified_name: string
              /** Whether the status is stale. */
              is_stale: boolean
              /** Time of the newest data; of a source, of the table with the oldest. */
              last_update_time: string | null
              /** Its age at the time of the request. */
              hours_since_update: number | null
              /** The threshold in hours, rounded up; of a source, the largest. Null while unknown. */
              staleness_threshold_hours: number | null
              /** The source. */
              asset_id: string
              /** stale if any table is, fresh if a table is and all could be read, else unknown. */
              status: 'fresh' | 'stale' | 'unknown'
              /** Time of the last check of any table; before the first, when a schedule was last changed. Null if no table matches the filters. */
              checked_at: string | null
              /** The qualified name of the source. */
              asset: string
              /** Counts of all matching tables, regardless of the filter on status. */
              summary: {
                ready: number
                not_ready: number
                unknown: number
                error: number
              }
              tables: MonitoredTable[]
              /** All that match, on this page and others. */
              total: number
              limit: number
              offset: number
              /** Whether there is a page after this one: ask with offset + limit. */
              has_more: boolean
            }
      }
    }
    '/api/v1/sdk/freshness/{asset_id}/history': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** How many days to look back. */
          days_back?: number
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: FreshnessCheckPageData
    }
    '/api/v1/sdk/health/summary': {
      options: {
        query?: {
          /** The reply also counts what happened at this time or after. */
          since?: string
        }
      }
      reply: HealthSummaryData
    }
    '/api/v1/sdk/incidents': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** One or more of open, acknowledged, snoozed, resolved, dismissed, separated by commas. */
          status?: ('open' | 'acknowledged' | 'snoozed' | 'resolved' | 'dismissed')[]
          /** One or more of info, warning, critical, separated by commas. */
          severity?: ('info' | 'warning' | 'critical')[]
          /** The kind of alert that is named as the cause. */
          event_type?: (
            | 'destination_disabled'
            | 'schema_change'
            | 'schema_drift'
            | 'discovery_complete'
            | 'connection_failed'
            | 'validity_failure'
            | 'metric_anomaly'
            | 'referential_failure'
            | 'freshness_violation'
            | 'freshness_stale'
            | 'freshness_alert'
            | 'external_check_failed'
            | 'contract_violation'
          )[]
          /** With an alert about this table, or about this source or one of its tables. */
          asset_id?: string
          /** The incident of this alert. */
          alert_id?: string
          /** Assigned to this user; `none` for those without one. */
          assignee_id?: string
          /** A part of the title, in any case; no wildcards. */
          search?: string
          /** Opened at this time or after. */
          since?: string
          /** Opened before this time. */
          until?: string
        }
      }
      reply: IncidentListData
    }
    '/api/v1/sdk/incidents/summary': {
      options: {
        query?: {
          /** The number of days up to now. */
          days?: number
        }
      }
      reply: IncidentSummaryData
    }
    '/api/v1/sdk/incidents/{id}': { options: { path: { id: string | number } }; reply: IncidentDetailsData }
    '/api/v1/sdk/incidents/{id}/activities': {
      options: {
        path: { id: string | number }
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: {
        data: {
          activities: IncidentActivity[]
          pagination: {
            /** All that match, on this page and others. */
            total: number
            limit: number
            offset: number
            /** Whether there is a page after this one: ask with offset + limit. */
            has_more: boolean
          }
        }
      }
    }
    '/api/v1/sdk/jobs/{job_id}': { options: { path: { job_id: string | number } }; reply: JobData }
    '/api/v1/sdk/lineage': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: LineageNodePageData
    }
    '/api/v1/sdk/lineage/dbt/tests': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** A source or a table, by its id or qualified name. */
          asset_id?: string
          /** Only tests whose last result is this. */
          status?: 'pass' | 'warn' | 'fail' | 'error'
        }
      }
      reply: ExternalCheckPageData
    }
    '/api/v1/sdk/lineage/edges': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: ManualLineageEdgePageData
    }
    '/api/v1/sdk/lineage/namespaces': { options: object; reply: LineageNamespacesData }
    '/api/v1/sdk/lineage/runs': {
      options: {
        query: {
          /** A source or a table, by its id or qualified name. */
          asset_id: string
          /** How far back. */
          days?: number
        }
      }
      reply: LineageRunsData
    }
    '/api/v1/sdk/lineage/{asset_id}': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** Steps away from the table. */
          depth?: number
          /** What the table is made from, what is made from it, or both. */
          direction?: 'both' | 'upstream' | 'downstream'
          /** Whether edges show the columns that are known. */
          columns?: boolean
          /** Whether nodes show the health of tables, and how many neighbours they have. */
          details?: boolean
          /** Also follows foreign keys, which move no data. */
          include?: 'foreign_keys'
        }
      }
      reply: LineageGraphData
    }
    '/api/v1/sdk/metrics/{asset_id}': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** Only metrics of this type. */
          metric_type?:
            | 'distinct_count'
            | 'duplicate_count'
            | 'max_value'
            | 'mean'
            | 'mean_length'
            | 'min_value'
            | 'null_percent'
            | 'percentile'
            | 'row_count'
          /** Only those that are switched on, or off. */
          is_active?: boolean
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: MetricItems
    }
    '/api/v1/sdk/metrics/{asset_id}/summary': {
      options: { path: { asset_id: string | number } }
      reply: MetricSummaryData
    }
    '/api/v1/sdk/metrics/{asset_id}/{metric_id}': {
      options: {
        path: { asset_id: string | number; metric_id: string | number }
        query?: {
          /** Whether it comes with its last snapshots. */
          include_snapshots?: boolean
          /** How many of them. */
          snapshot_limit?: number
        }
      }
      reply: MetricDetailData
    }
    '/api/v1/sdk/metrics/{asset_id}/{metric_id}/snapshots': {
      options: {
        path: { asset_id: string | number; metric_id: string | number }
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: MetricSnapshotItems
    }
    '/api/v1/sdk/monitors/{asset_id}': {
      options: { path: { asset_id: string | number } }
      reply: MonitorsDocumentData
    }
    '/api/v1/sdk/operations': { options: object; reply: OperationsData }
    '/api/v1/sdk/operations/dead-jobs': {
      options: {
        query?: {
          /** The name of a queue, such as `scans.run`. */
          queue?: string
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: DeadJobPage
    }
    '/api/v1/sdk/owners': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** What is set for a table, or for a source, its schemas and its tables. */
          asset_id?: string
          /** What is set for a tag. */
          tag?: string
          /** The id of a user or a team, an address, or the name of a team. */
          owner?: string
          /** A person, dbt, OpenLineage, or the comment of a table. */
          origin?: 'manual' | 'dbt' | 'openlineage' | 'comment'
        }
      }
      reply: OwnershipListData
    }
    '/api/v1/sdk/owners/assets': {
      options: {
        query: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
          /** The id of a user or a team, an address, or the name of a team. */
          owner: string
        }
      }
      reply: OwnedAssetListData
    }
    '/api/v1/sdk/recommendations': {
      options: {
        query: {
          /** The id or name of a source or a table. */
          asset_id: string
          /** One or more of validity, metric, referential, freshness, separated by commas. */
          kind?: ('validity' | 'metric' | 'referential' | 'freshness')[]
          /** One or more of row_count, freshness, NOT_NULL, UNIQUE, ENUM, RANGE, REGEX, DATE_FORMAT, referential, null_percent, distinct_count, mean, separated by commas. */
          type?: (
            | 'row_count'
            | 'freshness'
            | 'NOT_NULL'
            | 'UNIQUE'
            | 'ENUM'
            | 'RANGE'
            | 'REGEX'
            | 'DATE_FORMAT'
            | 'referential'
            | 'null_percent'
            | 'distinct_count'
            | 'mean'
          )[]
          /** From 0 to 1. */
          min_confidence?: number
          /** One or more of offered, applied, dismissed, removed, noisy, separated by commas. */
          status?: ('offered' | 'applied' | 'dismissed' | 'removed' | 'noisy')[]
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: RecommendationListData
    }
    '/api/v1/sdk/recommendations/coverage': {
      options: {
        query: {
          /** The id or name of a source or a table. */
          asset_id: string
          /** How many to show at most. */
          limit?: number
        }
      }
      reply: CoverageRecommendationsData
    }
    '/api/v1/sdk/recommendations/freshness': {
      options: {
        query: {
          /** The id or name of a source or a table. */
          asset_id: string
          /** From 0 to 1. */
          min_confidence?: number
          /** How many to show at most. */
          limit?: number
          /** Also tables that have a schedule. */
          include_monitored?: boolean
        }
      }
      reply: FreshnessRecommendationsData
    }
    '/api/v1/sdk/recommendations/metrics': {
      options: {
        query: {
          /** The id or name of a source or a table. */
          asset_id: string
          /** One table of the source. */
          table_path?: string
          /** From 0 to 1. */
          min_confidence?: number
          /** How many to show at most. */
          limit?: number
        }
      }
      reply: MetricRecommendationsData
    }
    '/api/v1/sdk/recommendations/thresholds': {
      options: {
        query: {
          /** The id or name of a source or a table. */
          asset_id: string
          /** How many days of alerts are looked at. */
          days?: number
          /** How many to show at most. */
          limit?: number
        }
      }
      reply: ThresholdRecommendationsData
    }
    '/api/v1/sdk/referential/{asset_id}': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** Only those that are switched on, or off. */
          is_active?: boolean
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: ReferentialCheckItems
    }
    '/api/v1/sdk/referential/{asset_id}/summary': {
      options: { path: { asset_id: string | number } }
      reply: ReferentialSummaryData
    }
    '/api/v1/sdk/referential/{asset_id}/{check_id}': {
      options: { path: { asset_id: string | number; check_id: string | number } }
      reply: ReferentialCheckData
    }
    '/api/v1/sdk/referential/{asset_id}/{check_id}/results': {
      options: {
        path: { asset_id: string | number; check_id: string | number }
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: ReferentialResultItems
    }
    '/api/v1/sdk/schema/changes': {
      options: {
        query?: {
          /** The id or the qualified name of a source or a table. */
          asset_id?: string
          /** By impact: high, medium, low. */
          severity?: 'critical' | 'warning' | 'info'
          /** Only changes of this impact. */
          impact?: 'high' | 'medium' | 'low'
          /** Only changes of this type. */
          change_type?:
            | 'column_added'
            | 'column_removed'
            | 'column_type_changed'
            | 'column_renamed'
            | 'table_added'
            | 'table_removed'
            | 'constraint_changed'
          /** Only changes that are open. */
          unacknowledged_only?: boolean
          /** How many days to look back. */
          days_back?: number
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: PlacedSchemaChangePageData
    }
    '/api/v1/sdk/schema/changes/{change_id}/impact': {
      options: { path: { change_id: string | number } }
      reply: ChangeImpactData
    }
    '/api/v1/sdk/schema/summary': {
      options: {
        query?: {
          /** The id or the qualified name of a source or a table. */
          asset_id?: string
          /** How many days to look back. */
          days_back?: number
        }
      }
      reply: SchemaChangeSummaryData
    }
    '/api/v1/sdk/schema/{asset_id}': {
      options: { path: { asset_id: string | number } }
      reply: SchemaStatusData
    }
    '/api/v1/sdk/search': {
      options: {
        query: {
          /** A part of a name, in any case; there are no wildcards. */
          q: string
          /** How many of each kind to show at most. */
          limit?: number
        }
      }
      reply: SearchMatchesData
    }
    '/api/v1/sdk/source-types': {
      options: object
      reply: {
        data: {
          items: SourceType[]
        }
      }
    }
    '/api/v1/sdk/tags': {
      options: {
        query?: {
          /** The id or the qualified name of a source or a table. */
          asset_id?: string
          /** Only tags of this category. */
          category?: 'business' | 'technical' | 'governance'
          /** Only tags of this name, all of it. */
          name?: string
          /** Applied by a person, a key or a discovery. */
          origin?: 'manual' | 'automatic'
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: TagListData
    }
    '/api/v1/sdk/teams': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: TeamListData
    }
    '/api/v1/sdk/teams/{id}': { options: { path: { id: string | number } }; reply: TeamData }
    '/api/v1/sdk/usage/tables': {
      options: {
        query?: {
          /** The id or qualified name of a source or a table; defaults to all sources. */
          asset_id?: string
          /** The number of days until today, UTC; defaults to 30. */
          days?: number
          /** What the tables are ordered by, the most first; defaults to seconds. */
          order_by?: 'seconds' | 'statements' | 'rows' | 'bytes'
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: TableCostItems
    }
    '/api/v1/sdk/validity/{asset_id}': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** Only rules of this type. */
          rule_type?: 'CUSTOM_SQL' | 'DATE_FORMAT' | 'ENUM' | 'NOT_NULL' | 'RANGE' | 'REGEX' | 'UNIQUE'
          /** Only those that are switched on, or off. */
          is_active?: boolean
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: ValidityRuleItems
    }
    '/api/v1/sdk/validity/{asset_id}/summary': {
      options: { path: { asset_id: string | number } }
      reply: ValiditySummaryData
    }
    '/api/v1/sdk/validity/{asset_id}/{rule_id}': {
      options: { path: { asset_id: string | number; rule_id: string | number } }
      reply: ValidityRuleDetailData
    }
    '/api/v1/sdk/validity/{asset_id}/{rule_id}/results': {
      options: {
        path: { asset_id: string | number; rule_id: string | number }
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: ValidityResultItems
    }
    '/api/v1/users': {
      options: {
        query?: {
          /** How many to show at most. */
          limit?: number
          /** How many to leave out from the beginning. */
          offset?: number
        }
      }
      reply: UserPage
    }
    '/assets/{file}': { options: { path: { file: string | number } }; reply: string[][] }
    '/badges/contracts/{public_id}.svg': { options: { path: { public_id: string | number } }; reply: string }
    '/badges/{public_id}.svg': { options: { path: { public_id: string | number } }; reply: string }
    '/console/files/{version}/{path}': {
      options: { path: { version: string | number; path: string | number } }
      reply: string
    }
    '/favicon.ico': { options: object; reply: string[][] }
    '/favicon.svg': { options: object; reply: string[][] }
    '/health': { options: object; reply: Health }
    '/openapi.json': { options: object; reply: Record<string, unknown> }
    '/robots.txt': { options: object; reply: string }
  }
  post: {
    '/api/public/beta/signup': { options: { body: BetaSignupRequest }; reply: BetaSignupResponse }
    '/api/public/contracts/validate': {
      options: { body: Record<string, unknown> | string }
      reply: ContractVerdict
    }
    '/api/public/events': { options: { body: TrackEventRequest }; reply: undefined }
    '/api/public/magic-login': { options: { body: MagicLoginRequest }; reply: MagicLoginResponse }
    '/api/public/unsubscribe': {
      options: {
        query: {
          /** The email address */
          email: string
          /** The signature of the link in the mail */
          token: string
          /** What to do; defaults to unsubscribe. */
          action?: 'subscribe' | 'unsubscribe'
        }
      }
      reply: Subscription
    }
    '/api/v1/api-keys': {
      options: { body: CreateApiKeyRequest; idempotencyKey?: string }
      reply: NewApiKeyData
    }
    '/api/v1/auth/change-password': { options: { body: ChangePasswordRequest }; reply: undefined }
    '/api/v1/auth/login': { options: { body: LoginRequest }; reply: LoginResponse }
    '/api/v1/auth/logout': { options: { body?: Empty | null }; reply: undefined }
    '/api/v1/auth/preferences/onboarding/demo-alert': {
      options: { body?: EmptyRequest | null }
      reply: DemoAlertEnvelope
    }
    '/api/v1/auth/preferences/onboarding/demo-asset': {
      options: { body?: EmptyRequest | null }
      reply: DemoAssetEnvelope
    }
    '/api/v1/auth/preferences/onboarding/demo-destination': {
      options: { body?: EmptyRequest | null }
      reply: DemoDestinationEnvelope
    }
    '/api/v1/auth/preferences/onboarding/demo-lineage': {
      options: { body?: EmptyRequest | null }
      reply: DemoLineageEnvelope
    }
    '/api/v1/auth/preferences/onboarding/events': {
      options: { body: TrackOnboardingEventRequest }
      reply: TrackedEventEnvelope
    }
    '/api/v1/auth/preferences/onboarding/reset': {
      options: { body?: ResetOnboardingRequest | null }
      reply: OnboardingProgressEnvelope
    }
    '/api/v1/auth/register': { options: { body: RegisterRequest }; reply: User }
    '/api/v1/auth/remove-password': { options: { body: RemovePasswordRequest }; reply: undefined }
    '/api/v1/auth/tickets': { options: { body: ExchangeTicketRequest }; reply: LoginResponse }
    '/api/v1/contracts/export-jobs': {
      options: { body: CreateContractExportRequest; idempotencyKey?: string }
      reply: SubmittedExportData
    }
    '/api/v1/contracts/validate': {
      options: { body: Record<string, unknown> | string }
      reply: ValidatedContractData
    }
    '/api/v1/contracts/{asset_id}/apply': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** Accepted: checks of clauses that a contract no longer has are always removed. */
          prune?: boolean
          /** Parts to include, default all: of schema, validity, freshness, separated by commas. */
          include?: string
          /** Parts to leave out: of schema, validity, freshness, separated by commas. */
          exclude?: string
        }
        body: Record<string, unknown> | string
      }
      reply: AppliedContractData
    }
    '/api/v1/contracts/{asset_id}/plan': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** odcs-pure leaves out custom properties of this service. */
          mode?: 'extended' | 'odcs-pure'
          /** Parts to include, default all: of schema, validity, freshness, separated by commas. */
          include?: string
          /** Parts to leave out: of schema, validity, freshness, separated by commas. */
          exclude?: string
        }
        body: Record<string, unknown> | string
      }
      reply: PlannedContractData
    }
    '/api/v1/demo/session': { options: { body?: Empty | null }; reply: DemoKeyEnvelope }
    '/api/v1/invitations': {
      options: { body: InviteRequest; idempotencyKey?: string }
      reply: InviteResponse
    }
    '/api/v1/lineage': {
      options: { body: SendLineageEventRequest; idempotencyKey?: string }
      reply: LineageEventOutcomeData
    }
    '/api/v1/lineage/batch': {
      options: {
        body: {
          eventTime: string
          eventType?: 'START' | 'RUNNING' | 'COMPLETE' | 'ABORT' | 'FAIL' | 'OTHER'
          producer?: string
          schemaURL?: string
          /** Present in a RunEvent. */
          run?: {
            runId: string
            facets?: Record<string, unknown>
          }
          /** Present in a RunEvent or JobEvent. */
          job?: {
            namespace: string
            name: string
            facets?: Record<string, unknown>
          }
          /** The first 1000 are stored; the reply counts the others. */
          inputs?:
            | {
                namespace: string
                name: string
                /** Facets such as `columnLineage`, `symlinks` and `ownership`. */
                facets?: Record<string, unknown>
              }[]
            | null
          /** The first 1000 are stored; the reply counts the others. */
          outputs?:
            | {
                namespace: string
                name: string
                /** Facets such as `columnLineage`, `symlinks` and `ownership`. */
                facets?: Record<string, unknown>
              }[]
            | null
          /** A dataset; unknown facets are left aside. */
          dataset?: {
            namespace: string
            name: string
            /** Facets such as `columnLineage`, `symlinks` and `ownership`. */
            facets?: Record<string, unknown>
          }
        }[]
      }
      reply: LineageBatchOutcome
    }
    '/api/v1/oauth/{provider_type}/link': {
      options: { path: { provider_type: string | number }; body?: LinkProviderRequest | null }
      reply: LinkProviderResponse
    }
    '/api/v1/operating-schedules': {
      options: { body: CreateOperatingScheduleRequest; idempotencyKey?: string }
      reply: OperatingSchedule
    }
    '/api/v1/sdk/alerts/deliveries/{id}/redeliver': {
      options: { path: { id: string | number }; body?: EmptyRequest | null; idempotencyKey?: string }
      reply: QueuedDeliveryData
    }
    '/api/v1/sdk/alerts/destinations': {
      options: { body: CreateDestinationRequest; idempotencyKey?: string }
      reply: NewDestinationData
    }
    '/api/v1/sdk/alerts/destinations/bulk': {
      options: { body: CreateDestinationsRequest; idempotencyKey?: string }
      reply: {
        data: {
          destinations: NewDestination[]
        }
      }
    }
    '/api/v1/sdk/alerts/destinations/{id}/rotate-secret': {
      options: { path: { id: string | number }; body?: EmptyRequest | null }
      reply: RotatedSecretData
    }
    '/api/v1/sdk/alerts/destinations/{id}/test': {
      options: { path: { id: string | number }; body?: EmptyRequest | null }
      reply: DestinationTestData
    }
    '/api/v1/sdk/alerts/investigations/explain': {
      options: { body: ExplainRequest }
      reply: EvidenceCapsuleData
    }
    '/api/v1/sdk/alerts/preview': { options: { body: PreviewAlertRuleRequest }; reply: AlertPreviewData }
    '/api/v1/sdk/alerts/rules': {
      options: { body: CreateAlertRuleRequest; idempotencyKey?: string }
      reply: AlertRuleData
    }
    '/api/v1/sdk/alerts/rules/{id}/destinations': {
      options: { path: { id: string | number }; body: AddAlertRuleDestinationsRequest }
      reply: AddedDestinationsData
    }
    '/api/v1/sdk/alerts/{id}/acknowledge': {
      options: { path: { id: string | number }; body?: AcknowledgeAlertRequest | null }
      reply: AlertData
    }
    '/api/v1/sdk/alerts/{id}/dismiss': {
      options: { path: { id: string | number }; body?: EndAlertRequest | null }
      reply: AlertData
    }
    '/api/v1/sdk/alerts/{id}/resolve': {
      options: { path: { id: string | number }; body?: EndAlertRequest | null }
      reply: AlertData
    }
    '/api/v1/sdk/alerts/{id}/snooze': {
      options: { path: { id: string | number }; body: SnoozeAlertRequest }
      reply: AlertData
    }
    '/api/v1/sdk/assets': {
      options: { body: CreateSourceRequest; idempotencyKey?: string }
      reply: SourceData
    }
    '/api/v1/sdk/assets/{asset_id}/check': {
      options: {
        path: { asset_id: string | number }
        body?: CheckAssetRequest | null
        idempotencyKey?: string
      }
      reply: FinishedRunData | StartedCheckData
    }
    '/api/v1/sdk/assets/{asset_id}/contract-test': {
      options: {
        path: { asset_id: string | number }
        query?: {
          /** Whether columns that the contract does not name break it; defaults to allow. A custom property `extraColumns` of the contract, or of one of its tables, goes before it. */
          extra_columns?: 'allow' | 'fail'
        }
        body: Record<string, unknown> | string
        idempotencyKey?: string
      }
      reply: FinishedRunData | StartedContractTestData
    }
    '/api/v1/sdk/assets/{asset_id}/discover': {
      options: { path: { asset_id: string | number }; idempotencyKey?: string }
      reply: FinishedRunData | StartedDiscoveryData
    }
    '/api/v1/sdk/assets/{asset_id}/preview-tables': {
      options: { path: { asset_id: string | number }; body: CreateAssetPreviewTableRequest }
      reply: TablePreviewData
    }
    '/api/v1/sdk/assets/{asset_id}/profile': {
      options: {
        path: { asset_id: string | number }
        body?: CreateProfileRequest | null
        idempotencyKey?: string
      }
      reply: FinishedRunData | StartedProfileData
    }
    '/api/v1/sdk/assets/{asset_id}/test-connection': {
      options: { path: { asset_id: string | number } }
      reply: ConnectionTestData
    }
    '/api/v1/sdk/assets/{asset_id}/watch': {
      options: { path: { asset_id: string | number }; body: CreateWatchRequest; idempotencyKey?: string }
      reply: WatchedTablesData | StartedWatchingData
    }
    '/api/v1/sdk/badges': { options: { body: CreateBadgeRequest; idempotencyKey?: string }; reply: BadgeData }
    '/api/v1/sdk/chart-links': {
      options: { body: CreateChartLinkRequest; idempotencyKey?: string }
      reply: CreatedChartLinkData
    }
    '/api/v1/sdk/coverage/{asset_id}/apply': {
      options: { path: { asset_id: string | number }; body: ApplyCoverageRequest }
      reply: AppliedCoverageData
    }
    '/api/v1/sdk/freshness/dry-run': {
      options: { body: DryRunFreshnessRequest }
      reply: {
        data: {
          table_path: string
          threshold_hours: number
          lookback_days: number
          /** Stored checks that found an age. */
          total_checks: number
          /** Those that found at least the threshold. */
          would_alert_count: number
          /** Alerts: one for each time that the age grew past the threshold. */
          would_open_alerts: number
          alert_rate_percent: number
          /** Null without data. */
          current_age_hours: number | null
          would_alert_now: boolean
          /** The newest 10 of the checks that would alert. */
          sample_alerts: {
            timestamp: string
            hours_since_update: number
          }[]
          recommendation: string
        }
      }
    }
    '/api/v1/sdk/freshness/schedules': {
      options: { body: CreateFreshnessScheduleRequest; idempotencyKey?: string }
      reply: ChangedFreshnessScheduleData
    }
    '/api/v1/sdk/freshness/schedules/bulk': {
      options: { body: CreateFreshnessSchedulesRequest }
      reply: {
        /** Counts of tables that match the patterns; of listed tables, what became of each. */
        data:
          | CreatedFreshnessSchedules
          | {
              /** What became of each listed table, in their order. */
              results: {
                table_path: string
                status: 'created' | 'failed'
                schedule_id: string | null
                /** Why it failed. */
                error: string | null
              }[]
              created: number
              failed: number
              total: number
            }
      }
    }
    '/api/v1/sdk/freshness/{asset_id}/refresh': {
      options: { path: { asset_id: string | number }; idempotencyKey?: string }
      reply: FinishedRunData | StartedRefreshData
    }
    '/api/v1/sdk/incidents/{id}/acknowledge': {
      options: { path: { id: string | number }; body?: AcknowledgeIncidentRequest | null }
      reply: IncidentDetailsData
    }
    '/api/v1/sdk/incidents/{id}/comment': {
      options: { path: { id: string | number }; body: CommentRequest; idempotencyKey?: string }
      reply: IncidentActivityData
    }
    '/api/v1/sdk/incidents/{id}/dismiss': {
      options: { path: { id: string | number }; body?: EndIncidentRequest | null }
      reply: IncidentDetailsData
    }
    '/api/v1/sdk/incidents/{id}/resolve': {
      options: { path: { id: string | number }; body?: EndIncidentRequest | null }
      reply: IncidentDetailsData
    }
    '/api/v1/sdk/incidents/{id}/snooze': {
      options: { path: { id: string | number }; body: SnoozeIncidentRequest }
      reply: IncidentDetailsData
    }
    '/api/v1/sdk/jobs/{job_id}/cancel': { options: { path: { job_id: string | number } }; reply: JobData }
    '/api/v1/sdk/lineage/dbt': { options: { body: ImportDbtProjectRequest }; reply: DbtImportData }
    '/api/v1/sdk/lineage/edges': {
      options: { body: CreateLineageEdgeRequest; idempotencyKey?: string }
      reply: ManualLineageEdgeData
    }
    '/api/v1/sdk/lineage/impact': { options: { body: ImpactRequest }; reply: ImpactData }
    '/api/v1/sdk/lineage/namespaces': {
      options: { body: CreateNamespaceRuleRequest; idempotencyKey?: string }
      reply: CreatedNamespaceRuleData
    }
    '/api/v1/sdk/metrics/dry-run': { options: { body: DryRunMetricRequest }; reply: MetricDryRunData }
    '/api/v1/sdk/metrics/{asset_id}': {
      options: { path: { asset_id: string | number }; body: CreateMetricRequest; idempotencyKey?: string }
      reply: CreatedMetricData
    }
    '/api/v1/sdk/metrics/{asset_id}/bulk': {
      options: { path: { asset_id: string | number }; body: CreateMetricsRequest }
      reply: {
        data: {
          /** In the order of `column_names`. */
          results: {
            column_name: string
            status: 'created' | 'failed'
            /** The new check. */
            id: string | null
            /** Why it failed. */
            error: string | null
          }[]
          created: number
          failed: number
          total: number
        }
      }
    }
    '/api/v1/sdk/metrics/{asset_id}/{metric_id}/capture': {
      options: { path: { asset_id: string | number; metric_id: string | number } }
      reply: MetricCaptureData
    }
    '/api/v1/sdk/monitors/{asset_id}/apply': {
      options: { path: { asset_id: string | number }; body: ApplyMonitorsRequest }
      reply: MonitorsPlanData
    }
    '/api/v1/sdk/monitors/{asset_id}/plan': {
      options: { path: { asset_id: string | number }; body: ApplyMonitorsRequest }
      reply: MonitorsPlanData
    }
    '/api/v1/sdk/operations/dead-jobs/discard': { options: { body: WhichDeadJobs }; reply: DiscardedJobsData }
    '/api/v1/sdk/operations/dead-jobs/redrive': { options: { body: WhichDeadJobs }; reply: RedrivenJobsData }
    '/api/v1/sdk/recommendations/apply': {
      options: { body: ApplyRecommendationsRequest }
      reply: AppliedRecommendationsData
    }
    '/api/v1/sdk/recommendations/dismiss': {
      options: { body: DismissRecommendationsRequest }
      reply: ChangedRecommendationsData
    }
    '/api/v1/sdk/recommendations/restore': {
      options: { body: RestoreRecommendationsRequest }
      reply: ChangedRecommendationsData
    }
    '/api/v1/sdk/recommendations/{id}/past': {
      options: { path: { id: string | number } }
      reply: RecommendationData
    }
    '/api/v1/sdk/referential/dry-run': {
      options: { body: DryRunReferentialCheckRequest }
      reply: ReferentialDryRunData
    }
    '/api/v1/sdk/referential/{asset_id}': {
      options: {
        path: { asset_id: string | number }
        body: CreateReferentialCheckRequest
        idempotencyKey?: string
      }
      reply: ReferentialCheckData
    }
    '/api/v1/sdk/referential/{asset_id}/{check_id}/execute': {
      options: { path: { asset_id: string | number; check_id: string | number }; body?: EmptyRequest | null }
      reply: ReferentialExecutionData
    }
    '/api/v1/sdk/schema/changes/{change_id}/acknowledge': {
      options: { path: { change_id: string | number }; body?: EmptyRequest | null }
      reply: PlacedSchemaChangeData
    }
    '/api/v1/sdk/schema/dry-run': { options: { body: DryRunDiscoveryRequest }; reply: SchemaDryRunData }
    '/api/v1/sdk/schema/{asset_id}/acknowledge': {
      options: { path: { asset_id: string | number }; body?: AcknowledgeSchemaChangesRequest | null }
      reply: AcknowledgedChangesData
    }
    '/api/v1/sdk/schema/{asset_id}/baseline': {
      options: {
        path: { asset_id: string | number }
        body?: CreateSchemaBaselineRequest | null
        idempotencyKey?: string
      }
      reply: BaselineData
    }
    '/api/v1/sdk/schema/{asset_id}/monitoring': {
      options: { path: { asset_id: string | number }; body?: StartSchemaMonitoringRequest | null }
      reply: SchemaMonitoringData
    }
    '/api/v1/sdk/tags': { options: { body: CreateTagRequest; idempotencyKey?: string }; reply: TagData }
    '/api/v1/sdk/tags/apply': { options: { body: ApplyTagsRequest }; reply: AppliedTagsData }
    '/api/v1/sdk/tags/bulk-apply': { options: { body: BulkApplyTagRequest }; reply: AppliedTagsData }
    '/api/v1/sdk/teams': { options: { body: CreateTeamRequest; idempotencyKey?: string }; reply: TeamData }
    '/api/v1/sdk/validity/dry-run': { options: { body: DryRunRuleRequest }; reply: ValidityDryRunData }
    '/api/v1/sdk/validity/{asset_id}': {
      options: { path: { asset_id: string | number }; body: CreateRuleRequest; idempotencyKey?: string }
      reply: CreatedValidityRuleData
    }
    '/api/v1/sdk/validity/{asset_id}/bulk': {
      options: { path: { asset_id: string | number }; body: CreateRulesRequest }
      reply: {
        data: {
          /** In the order of `column_names`. */
          results: {
            column_name: string
            status: 'created' | 'failed'
            /** The new check. */
            id: string | null
            /** Why it failed. */
            error: string | null
          }[]
          created: number
          failed: number
          total: number
        }
      }
    }
    '/api/v1/sdk/validity/{asset_id}/{rule_id}/check': {
      options: {
        path: { asset_id: string | number; rule_id: string | number }
        body?: CheckRuleRequest | null
      }
      reply: ValidityCheckData
    }
    '/console/session': { options: { body: ConsoleSignInRequest }; reply: ConsoleSession }
    '/console/tickets': { options: { body: ConsoleTicketRequest }; reply: ConsoleTicketHolder }
  }
  put: {
    '/api/v1/auth/tokens/current': { options: { body: RefreshTokenRequest }; reply: RefreshTokenResponse }
    '/api/v1/sdk/alerts/destinations/{id}': {
      options: { path: { id: string | number }; body: UpdateDestinationRequest }
      reply: DestinationData
    }
    '/api/v1/sdk/alerts/rules/{id}': {
      options: { path: { id: string | number }; body: UpdateAlertRuleRequest }
      reply: AlertRuleData
    }
    '/api/v1/sdk/badges/{id}': {
      options: { path: { id: string | number }; body: UpdateBadgeRequest }
      reply: BadgeData
    }
    '/api/v1/sdk/contracts/{name}': {
      options: {
        path: { name: string | number }
        query?: {
          /** The source that it is enforced on, by id or name; required for a new contract. */
          source?: string
          /** Whether columns that the contract does not name break it; defaults to allow. A custom property `extraColumns` of the contract, or of one of its tables, goes before it. */
          extra_columns?: 'allow' | 'fail'
        }
        body:
          | {
              /** The YAML, or the contract as an object. */
              contract: string | Record<string, unknown>
              /** The source that it is enforced on, by id or name; required for a new contract. */
              source?: string
              /** Whether columns that the contract does not name break it; defaults to allow. A custom property `extraColumns` of the contract, or of one of its tables, goes before it. */
              extra_columns?: 'allow' | 'fail'
            }
          | string
      }
      reply: EnforcedContractData
    }
    '/api/v1/sdk/owners': { options: { body: SetOwnersRequest }; reply: SetOwnersData }
    '/console/session': { options: object; reply: ConsoleSession | undefined }
  }
  patch: {
    '/api/v1/auth/me': { options: { body: UpdateProfileRequest }; reply: User }
    '/api/v1/auth/preferences': { options: { body: UserPreferencesUpdate }; reply: UserPreferencesEnvelope }
    '/api/v1/auth/preferences/onboarding': {
      options: { body: UpdateChapterRequest }
      reply: OnboardingProgressEnvelope
    }
    '/api/v1/auth/preferences/onboarding/step': {
      options: { body: UpdateStepRequest }
      reply: OnboardingProgressEnvelope
    }
    '/api/v1/operating-schedules/{schedule_id}': {
      options: { path: { schedule_id: string | number }; body: UpdateOperatingScheduleRequest }
      reply: OperatingSchedule
    }
    '/api/v1/sdk/alerts/destinations/{id}': {
      options: { path: { id: string | number }; body: UpdateDestinationRequest }
      reply: DestinationData
    }
    '/api/v1/sdk/alerts/rules/{id}': {
      options: { path: { id: string | number }; body: UpdateAlertRuleRequest }
      reply: AlertRuleData
    }
    '/api/v1/sdk/assets/{asset_id}': {
      options: { path: { asset_id: string | number }; body: UpdateAssetRequest }
      reply: AssetData
    }
    '/api/v1/sdk/freshness/schedules/{id}': {
      options: { path: { id: string | number }; body: UpdateFreshnessScheduleRequest }
      reply: ChangedFreshnessScheduleData
    }
    '/api/v1/sdk/incidents/{id}': {
      options: { path: { id: string | number }; body: UpdateIncidentRequest }
      reply: IncidentDetailsData
    }
    '/api/v1/sdk/metrics/{asset_id}/{metric_id}': {
      options: { path: { asset_id: string | number; metric_id: string | number }; body: UpdateMetricRequest }
      reply: MetricData
    }
    '/api/v1/sdk/referential/{asset_id}/{check_id}': {
      options: {
        path: { asset_id: string | number; check_id: string | number }
        body: UpdateReferentialCheckRequest
      }
      reply: ReferentialCheckData
    }
    '/api/v1/sdk/teams/{id}': {
      options: { path: { id: string | number }; body: UpdateTeamRequest }
      reply: TeamData
    }
    '/api/v1/sdk/validity/{asset_id}/{rule_id}': {
      options: { path: { asset_id: string | number; rule_id: string | number }; body: UpdateRuleRequest }
      reply: ValidityRuleDetailData
    }
    '/api/v1/users/{user_id}': {
      options: { path: { user_id: string | number }; body: UpdateUserRequest }
      reply: User
    }
  }
  delete: {
    '/api/v1/api-keys/{key_id}': { options: { path: { key_id: string | number } }; reply: ApiKeyData }
    '/api/v1/auth/preferences': { options: { body?: EmptyRequest | null }; reply: UserPreferencesEnvelope }
    '/api/v1/auth/preferences/onboarding/demo-alert': {
      options: { body?: EmptyRequest | null }
      reply: {
        success: boolean
        /** A sentence for people; mostly empty when it went well. */
        message: string
        /** A code; empty when it went well. */
        error: string
        meta: Record<string, unknown>
        data: {
          deleted: number
        }
      }
    }
    '/api/v1/invitations/{invitation_id}': {
      options: { path: { invitation_id: string | number } }
      reply: undefined
    }
    '/api/v1/oauth/{provider_type}/link': {
      options: { path: { provider_type: string | number } }
      reply: undefined
    }
    '/api/v1/operating-schedules/{schedule_id}': {
      options: { path: { schedule_id: string | number } }
      reply: RemovalData
    }
    '/api/v1/sdk/alerts/destinations/{id}': {
      options: { path: { id: string | number } }
      reply: DestinationRemovalData
    }
    '/api/v1/sdk/alerts/rules/{id}': { options: { path: { id: string | number } }; reply: RemovalData }
    '/api/v1/sdk/alerts/rules/{id}/destinations/{destination_id}': {
      options: { path: { id: string | number; destination_id: string | number } }
      reply: RemovalData
    }
    '/api/v1/sdk/assets/{asset_id}': { options: { path: { asset_id: string | number } }; reply: RemovalData }
    '/api/v1/sdk/assets/{asset_id}/watch': {
      options: { path: { asset_id: string | number } }
      reply: RemovalData
    }
    '/api/v1/sdk/badges/{id}': { options: { path: { id: string | number } }; reply: RemovalData }
    '/api/v1/sdk/chart-links/{id}': { options: { path: { id: string | number } }; reply: RemovalData }
    '/api/v1/sdk/contracts/{name}': { options: { path: { name: string | number } }; reply: RemovalData }
    '/api/v1/sdk/freshness/schedules/{id}': {
      options: { path: { id: string | number } }
      reply: CheckRemovalData
    }
    '/api/v1/sdk/lineage/edges/{upstream_id}/{downstream_id}': {
      options: { path: { upstream_id: string | number; downstream_id: string | number } }
      reply: RemovalData
    }
    '/api/v1/sdk/lineage/namespaces/{id}': { options: { path: { id: string | number } }; reply: RemovalData }
    '/api/v1/sdk/metrics/{asset_id}/{metric_id}': {
      options: { path: { asset_id: string | number; metric_id: string | number } }
      reply: CheckRemovalData
    }
    '/api/v1/sdk/owners/{id}': { options: { path: { id: string | number } }; reply: RemovalData }
    '/api/v1/sdk/referential/{asset_id}/{check_id}': {
      options: { path: { asset_id: string | number; check_id: string | number } }
      reply: CheckRemovalData
    }
    '/api/v1/sdk/schema/{asset_id}/monitoring': {
      options: { path: { asset_id: string | number } }
      reply: SchemaMonitoringEndData
    }
    '/api/v1/sdk/tags/{id}': { options: { path: { id: string | number } }; reply: RemovalData }
    '/api/v1/sdk/teams/{id}': { options: { path: { id: string | number } }; reply: RemovalData }
    '/api/v1/sdk/validity/{asset_id}/{rule_id}': {
      options: { path: { asset_id: string | number; rule_id: string | number } }
      reply: CheckRemovalData
    }
    '/api/v1/users/{user_id}': { options: { path: { user_id: string | number } }; reply: undefined }
    '/console/session': { options: object; reply: undefined }
  }
}

/** The POSTs that make nothing twice when they are repeated with the same `Idempotency-Key`; without `/api/v1/`. */
export const IDEMPOTENT_POSTS: readonly string[] =
  'api-keys contracts/export-jobs invitations lineage operating-schedules sdk/alerts/deliveries/{id}/redeliver sdk/alerts/destinations sdk/alerts/destinations/bulk sdk/alerts/rules sdk/assets sdk/assets/{asset_id}/check sdk/assets/{asset_id}/contract-test sdk/assets/{asset_id}/discover sdk/assets/{asset_id}/profile sdk/assets/{asset_id}/watch sdk/badges sdk/chart-links sdk/freshness/schedules sdk/freshness/{asset_id}/refresh sdk/incidents/{id}/comment sdk/lineage/edges sdk/lineage/namespaces sdk/metrics/{asset_id} sdk/referential/{asset_id} sdk/schema/{asset_id}/baseline sdk/tags sdk/teams sdk/validity/{asset_id}'.split(
    ' ',
  )

export interface AcknowledgeAlertRequest {
  /** Shown in the history, and sent with the end of the alert. */
  reason?: string | null
  /** Another name for `reason`. */
  notes?: string | null
}

export interface AcknowledgeIncidentRequest {
  /** Shown in the timeline, and in the history of its alerts. */
  reason?: string | null
  /** Another name for `reason`. */
  notes?: string | null
}

export interface AcknowledgeSchemaChangesRequest {
  /** Those to acknowledge; all that are open unless given. */
  change_ids?: string[]
}

export interface AcknowledgedChanges {
  acknowledged: number
  /** Changes that are still open. */
  remaining: number
}

export interface AcknowledgedChangesData {
  data: AcknowledgedChanges
}

export interface AddAlertRuleDestinationsRequest {
  destination_ids: string[]
}

export interface AddedDestinations {
  rule_id: string
  /** How many were added. */
  linked_count: number
}

export interface AddedDestinationsData {
  data: AddedDestinations
}

export interface Alert {
  id: string
  /** The id of the rule, metric, check or schedule that raised it; null if none did. */
  rule_id: string | null
  /** The rule, metric or schedule that raised it. */
  rule_name: string
  alert_type:
    | 'destination'
    | 'schema'
    | 'discovery'
    | 'connection'
    | 'validity'
    | 'metric'
    | 'referential'
    | 'freshness'
    | 'external_check'
    | 'contract'
  event_type:
    | 'destination_disabled'
    | 'schema_change'
    | 'discovery_complete'
    | 'connection_failed'
    | 'validity_failure'
    | 'metric_anomaly'
    | 'referential_failure'
    | 'freshness_violation'
    | 'external_check_failed'
    | 'contract_violation'
  severity: Severity
  status: 'triggered' | 'acknowledged' | 'snoozed' | 'resolved' | 'dismissed'
  /** One sentence for people. */
  title: string
  /** The same as `title`. */
  message: string
  /** Whether a message about it reached none of its destinations. */
  delivery_failed: boolean
  /** How often it was seen; a repeat opens no second alert. */
  occurrences: number
  asset_id: string
  qualified_name: string
  asset: AlertAsset
  event: AlertEvent
  /** Other data of the feature that raised it. */
  context_data: Record<string, unknown>
  created_at: string
  /** The same as `created_at`. */
  triggered_at: string
  last_seen_at: string
  snoozed_until: string | null
  /** When it was resolved or dismissed. */
  resolved_at: string | null
  /** The newest reason that a person gave. */
  notes: string | null
  /** As stated by who ended the alert. */
  action_category: string | null
  /** As stated by who ended the alert. */
  action_detail: string | null
  /** As stated by who ended the alert. */
  root_cause_category: string | null
  /** As stated by who ended the alert. */
  root_cause_detail: string | null
  /** As stated by who ended the alert. */
  pr_url: string | null
  /** As stated by who ended the alert. */
  job_run_id: string | null
  /** As stated by who ended the alert. */
  external_link: string | null
  links: AlertLinks
}

export interface AlertAction {
  /** The status that it got. */
  action: 'triggered' | 'acknowledged' | 'snoozed' | 'resolved' | 'dismissed'
  timestamp: string
  /** Null if a key or the program did it. */
  user_id: string | null
  /** The reason. */
  notes: string | null
  /** As stated by who ended the alert. */
  action_category: string | null
  /** As stated by who ended the alert. */
  action_detail: string | null
  /** As stated by who ended the alert. */
  root_cause_category: string | null
  /** As stated by who ended the alert. */
  root_cause_detail: string | null
  /** As stated by who ended the alert. */
  pr_url: string | null
  /** As stated by who ended the alert. */
  job_run_id: string | null
  /** As stated by who ended the alert. */
  external_link: string | null
}

export interface AlertAsset {
  id: string
  qualified_name: string
  /** `source`, `table` and the like, or `destination`. */
  asset_type: string
}

export interface AlertCounts {
  opened: number
  resolved: number
  dismissed: number
}

export interface AlertData {
  data: Alert
}

export interface AlertEventType {
  event_type:
    | 'destination_disabled'
    | 'schema_change'
    | 'discovery_complete'
    | 'connection_failed'
    | 'validity_failure'
    | 'metric_anomaly'
    | 'referential_failure'
    | 'freshness_violation'
    | 'external_check_failed'
    | 'contract_violation'
  alert_type: string
  /** What people call it. */
  label: string
}

export interface AlertHistory {
  data: AlertTransition[]
  /** The same transitions as actions. */
  history: AlertAction[]
  pagination: {
    /** All that match, on this page and others. */
    total: number
    limit: number
    offset: number
    /** Whether there is a page after this one: ask with offset + limit. */
    has_more: boolean
  }
}

export interface AlertHistoryData {
  data: AlertHistory
}

export interface AlertImpact {
  alert_id: string
  asset_id: string | null
  /** The column that the alert is about. */
  column: string | null
  level: 'none' | 'low' | 'medium' | 'high' | 'critical'
  sentence: string
  /** The owners of the table itself. */
  asset_owners: {
    type: 'user' | 'team' | 'email' | 'name'
    id: string | null
    name: string
    email: string | null
  }[]
  /** Nearest first. */
  tables: Dependent[]
  /** Dashboards, notebooks, models and applications, nearest first. */
  dashboards: Dependent[]
  owners: HitOwner[]
  /** False where there are more edges than are followed, 2,000. */
  is_complete: boolean
}

export interface AlertImpactData {
  data: AlertImpact
}

export interface AlertLinks {
  /** A page for people; redirects programs to the API. */
  alert_url: string
  /** A page for people; redirects programs to the API. */
  asset_url: string
}

export interface AlertPage {
  data: Alert[]
  pagination: Pagination
}

export interface AlertPageData {
  data: AlertPage
}

export interface AlertPreview {
  since: string
  until: string
  matched: number
  /** Sent at once. */
  told: number
  /** Sent when the cooldown ended: the alert was still open. */
  postponed: number
  /** Over before the cooldown ended: never sent. */
  held_back: number
  /** One per sent alert and active destination. */
  messages: number
  destinations: PreviewedDestination[]
  alerts: PreviewedAlert[]
  pagination: Pagination
  lookback_hours: number
  /** The same as `matched`. */
  alerts_would_match: number
  /** Without zeros. */
  alerts_by_type: {
    destination_disabled?: number
    schema_change?: number
    discovery_complete?: number
    connection_failed?: number
    validity_failure?: number
    metric_anomaly?: number
    referential_failure?: number
    freshness_violation?: number
    external_check_failed?: number
    contract_violation?: number
  }
  /** Without zeros. */
  alerts_by_severity: {
    info?: number
    warning?: number
    critical?: number
  }
  /** Those of `alerts`, in short. */
  sample_alerts: {
    id: string
    message: string
    severity: 'info' | 'warning' | 'critical'
    triggered_at: string
    asset_name: string
  }[]
  /** One sentence for people. */
  recommendation: string
}

export interface AlertPreviewData {
  data: AlertPreview
}

export interface AlertRule {
  id: string
  name: string
  description: string | null
  /** Null for all. */
  event_types:
    | (
        | 'destination_disabled'
        | 'schema_change'
        | 'discovery_complete'
        | 'connection_failed'
        | 'validity_failure'
        | 'metric_anomaly'
        | 'referential_failure'
        | 'freshness_violation'
        | 'external_check_failed'
        | 'contract_violation'
      )[]
    | null
  /** Null for all. */
  severities: ('info' | 'warning' | 'critical')[] | null
  /** Tables, or sources with all their tables; null for all. */
  asset_ids: string[] | null
  tag_filter_mode: 'any' | 'all' | null
  tag_filter_tags: string[] | null
  /** Ids of users and teams, and addresses, of which any owns the asset; null for all. */
  owners: string[] | null
  destination_ids: string[]
  /** Within this time it sends one message per cause; later ones are postponed. */
  cooldown_minutes: number
  is_active: boolean
  /** The same as `is_active`. */
  enabled: boolean
  /** Its event type; `all` or `several` if it has not one. */
  rule_type: string
  /** The least severity that it selects. */
  severity: 'info' | 'warning' | 'critical'
  /** Authors of code are not known here. */
  is_notify_code_authors: false
  code_author_min_confidence: number | null
  created_at: string
  updated_at: string
}

export interface AlertRuleData {
  data: AlertRule
}

export interface AlertRulePage {
  data: AlertRule[]
  pagination: Pagination
  event_types: AlertEventType[]
}

export interface AlertRulePageData {
  data: AlertRulePage
}

export interface AlertSummary {
  total: number
  /** Neither resolved nor dismissed. */
  open: number
  by_status: {
    triggered: number
    acknowledged: number
    snoozed: number
    resolved: number
    dismissed: number
  }
  open_by_severity: SeverityCounts
  delivery_failed: number
  /** The same as `open`. */
  unresolved_alerts: number
  /** Opened within the last 24 hours. */
  recent_alerts: number
  /** Alert rules. */
  total_rules: number
  active_rules: number
}

export interface AlertSummaryData {
  data: AlertSummary
}

export interface AlertTransition {
  /** Null when it was opened. */
  from_status: 'triggered' | 'acknowledged' | 'snoozed' | 'resolved' | 'dismissed' | null
  to_status: 'triggered' | 'acknowledged' | 'snoozed' | 'resolved' | 'dismissed'
  reason: string | null
  /** The end of a snooze. */
  snoozed_until: string | null
  /** `system`, `user:<id>` or `key:<id>`. */
  actor: string
  at: string
  /** As stated by who ended the alert. */
  action_category: string | null
  /** As stated by who ended the alert. */
  action_detail: string | null
  /** As stated by who ended the alert. */
  root_cause_category: string | null
  /** As stated by who ended the alert. */
  root_cause_detail: string | null
  /** As stated by who ended the alert. */
  pr_url: string | null
  /** As stated by who ended the alert. */
  job_run_id: string | null
  /** As stated by who ended the alert. */
  external_link: string | null
}

export interface AlertTrends {
  /** As asked, or the number of days. */
  period: string
  /** One entry per day, for `24h` per hour, with its first moment. */
  trends: {
    timestamp: string
    opened: number
    resolved: number
    dismissed: number
    opened_by_severity: SeverityCounts
  }[]
  since: string
  until: string
  timezone: string
  opened: number
  resolved: number
  dismissed: number
  /** Null if there was none. */
  mean_minutes_to_acknowledge: number | null
  /** Null if there was none. */
  mean_minutes_to_resolve: number | null
  by_severity: {
    info: AlertCounts
    warning: AlertCounts
    critical: AlertCounts
  }
  by_event_type: {
    destination_disabled: AlertCounts
    schema_change: AlertCounts
    connection_failed: AlertCounts
    validity_failure: AlertCounts
    metric_anomaly: AlertCounts
    referential_failure: AlertCounts
    freshness_violation: AlertCounts
    external_check_failed: AlertCounts
    contract_violation: AlertCounts
  }
  by_day: {
    date: string
    opened: number
    resolved: number
    dismissed: number
    opened_by_severity: SeverityCounts
  }[]
  noisiest_assets: {
    id: string
    qualified_name: string
    /** `source`, `table` and the like, or `destination`. */
    asset_type: string
    alerts: number
    occurrences: number
  }[]
  noisiest_rules: {
    rule_name: string
    event_type:
      | 'destination_disabled'
      | 'schema_change'
      | 'discovery_complete'
      | 'connection_failed'
      | 'validity_failure'
      | 'metric_anomaly'
      | 'referential_failure'
      | 'freshness_violation'
      | 'external_check_failed'
      | 'contract_violation'
    alerts: number
    occurrences: number
  }[]
}

export interface AlertTrendsData {
  data: AlertTrends
}

export interface ApiKey {
  id: string
  name: string
  scope: 'read-only' | 'read-write' | 'admin'
  /** The first characters of the key. */
  key_prefix: string
  /** The last characters of the key. */
  key_suffix: string
  display_key: string
  /** Requests per minute, set by the plan. */
  rate_limit_per_min: number
  /** Requests per second, set by the plan. */
  burst_limit: number
  created_at: string
  /** Null for a key that never expires. */
  expires_at: string | null
  last_used_at: string | null
  revoked_at: string | null
  /** Neither revoked nor expired. */
  is_active: boolean
}

export interface ApiKeyData {
  data: ApiKey
}

export interface ApiKeyList {
  keys: ApiKey[]
  pagination: Pagination
}

export interface ApiKeyListData {
  data: ApiKeyList
}

export interface ApiKeyUsage {
  /** Keys that are neither revoked nor expired. */
  current_count: number
  /** Null for no limit. */
  max_keys: number | null
  rate_limit_per_min: number
  burst_limit: number
  can_create: boolean
}

export interface ApiKeyUsageData {
  data: ApiKeyUsage
}

export interface AppliedContract {
  valid: boolean
  errors: ContractError[]
  applied: {
    schema?: ContractChanges
    validity?: ContractChanges
    freshness?: ContractChanges
  }
  /** Parts that were asked for and that contracts do not have here. */
  unsupported_domains: string[]
  /** Whether clauses were removed. */
  pruned: boolean
  /** The name that it is stored by. */
  contract: string | null
}

export interface AppliedContractData {
  data: AppliedContract
}

export interface AppliedCoverage {
  /** Checks that were created, by type. */
  applied: {
    type: 'freshness' | 'metrics' | 'validity' | 'schema_drift'
    check_type: string
    count: number
  }[]
  failed: {
    type: 'freshness' | 'metrics' | 'validity' | 'schema_drift'
    table_path: string | null
    error: string
  }[]
  applied_count: number
  failed_count: number
}

export interface AppliedCoverageData {
  data: AppliedCoverage
}

export interface AppliedRecommendations {
  /** By type of check. */
  created: Record<string, number>
  created_count: number
  /** Those that there were before, by type. */
  existing: Record<string, number>
  /** Dismissed before, or removed by a person. */
  declined: number
  /** Would have alerted in the past. */
  noisy: number
  /** What all of them add together. */
  cost: {
    /** Statements that it adds at the source: 0 where the table is scanned daily anyhow. */
    statements_per_day: number
    /** Rows that are read besides; null where the size is not known. */
    rows_per_day: number | null
    /** Whether it shares its statement with other checks. */
    is_shared: boolean
  }
  dry_run: boolean
}

export interface AppliedRecommendationsData {
  data: AppliedRecommendations
}

export interface AppliedTags {
  /** Tags that are on now, those that were before included. */
  applied: number
  failed: number
  total: number
  /** The first 100. */
  errors: {
    object_path: string
    name: string
    error: string
  }[]
}

export interface AppliedTagsData {
  data: AppliedTags
}

export interface ApplyCoverageRequest {
  /** Kinds of checks to add. */
  types?: ('freshness' | 'metrics' | 'validity' | 'schema_drift')[]
  /** Tables of the asset; defaults to all. */
  table_paths?: string[]
}

export interface ApplyMonitorsRequest {
  /** All monitors files of the source. */
  files: {
    /** Its path, for messages and records. */
    name: string
    /** The text of the file, YAML or JSON of at most 1 MiB; or the document itself. */
    content: string | Record<string, unknown>
  }[]
  /** Removes checks that a file managed and no file has any more. Others are never removed. */
  prune?: boolean
}

export interface ApplyRecommendationsRequest {
  /** Ids of recommendations, of one source or several. */
  ids?: string[]
  /** In place of ids: all that is offered for a source or a table. */
  asset_id?: string
  /** With asset_id. */
  kind?: ('validity' | 'metric' | 'referential' | 'freshness')[]
  /** With asset_id. */
  type?: (
    | 'row_count'
    | 'freshness'
    | 'NOT_NULL'
    | 'UNIQUE'
    | 'ENUM'
    | 'RANGE'
    | 'REGEX'
    | 'DATE_FORMAT'
    | 'referential'
    | 'null_percent'
    | 'distinct_count'
    | 'mean'
  )[]
  /** With asset_id. */
  min_confidence?: number
  /** With ids, at most 20: tries each on the past first, and leaves out those that would have alerted. */
  check_past?: boolean
  /** Creates nothing, and returns what would be created. */
  dry_run?: boolean
}

export interface ApplyTagsRequest {
  asset_id: string
  tag_names: string[]
  object_paths: string[]
  object_type?: 'table' | 'column'
  category?: 'business' | 'technical' | 'governance'
}

export interface AssetCoverage {
  asset_id: string
  /** The weighted mean share of watched tables, in per cent. */
  score: number
  /** From 0, 20, 50 and 80 points. */
  tier: 'none' | 'bronze' | 'silver' | 'gold'
  tier_label: string
  tier_badge: null
  total_tables: number
  /** Tables with an active check of each kind; pct is from 0 to 1. */
  breakdown: Record<
    string,
    {
      count: number
      total: number
      pct: number
    }
  >
  /** Null in the highest tier. */
  next_tier_info: {
    /** From 0, 20, 50 and 80 points. */
    next_tier: 'none' | 'bronze' | 'silver' | 'gold'
    next_tier_label: string
    next_threshold: number
    points_needed: number
    actions: string[]
  } | null
  recommendation: string | null
}

export interface AssetCoverageData {
  data: AssetCoverage
}

export interface AssetData {
  data: Asset
}

export interface AssetOwner {
  type: 'user' | 'team' | 'email' | 'name'
  id: string | null
  name: string
  email: string | null
  /** Who named the owner. */
  origin: 'manual' | 'dbt' | 'openlineage' | 'comment'
  /** What the owner is set for; null for the asset itself. */
  inherited_from: {
    type: 'tag' | 'schema' | 'source'
    name: string
  } | null
}

export interface AssetOwners {
  asset_id: string
  qualified_name: string
  /** Those in force. */
  owners: OwnerInForce[]
  /** All that is set for the asset, its tags, its schema and its source, the most specific first. */
  applicable: ApplicableOwner[]
}

export interface AssetOwnersData {
  data: AssetOwners
}

export interface AssetPage {
  data: Asset[]
  pagination: Pagination
}

export interface AssetPageData {
  data: AssetPage
}

export interface AuditEntry {
  /** Starts at 1 in each company, without gaps. */
  id: number
  at: string
  /** `user:<id>`, `key:<id>`, `system` or `cli`. */
  actor: string
  /** The name or email of the user (for a removed user the last one), or the name of the key. */
  actor_name: string | null
  /** Such as `source.updated`. */
  action: string
  target: {
    type: string
    id: string
  } | null
  /** More details; depends on the action. */
  details: Record<string, unknown>
  request_id: string | null
  /** The client address of the request. */
  address: string | null
  /** Covers this entry and, through the previous hash, all entries before it. */
  hash: string
}

export interface AuditPage {
  data: AuditEntry[]
  pagination: {
    limit: number
    has_more: boolean
    /** The `before` of the next page; null on the last. */
    next_before: number | null
  }
}

export interface AuditVerdict {
  is_whole: boolean
  /** Correct entries before the first wrong one. */
  entries: number
  /** The first entry that is wrong or missing. */
  broken_at: number | null
  problem: string | null
  head_id: number
  /** Stored elsewhere, it later reveals a log that was rewritten as a whole. */
  head_hash: string
}

export interface AuditVerdictData {
  data: AuditVerdict
}

export interface Badge {
  id: string
  /** Part of the URL of the picture: a random UUID. */
  public_id: string
  asset_id: string
  label: string | null
  tag_filters: string[]
  schema_drift_enabled: boolean
  freshness_enabled: boolean
  include_upstream: boolean
  /** Whether it has a picture. */
  is_active: boolean
  /** What the picture shows now. */
  status: 'passing' | 'failing' | 'unknown'
  /** The public URL of the picture. */
  badge_url: string
  /** Markdown that shows the picture. */
  markdown: string
  created_at: string
  updated_at: string
}

export interface BadgeData {
  data: Badge
}

export interface BadgeList {
  badges: Badge[]
  pagination: Pagination
}

export interface BadgeListData {
  data: BadgeList
}

export interface BadgeState {
  badge_id: string
  /** What the picture shows now. */
  status: 'passing' | 'failing' | 'unknown'
  /** The public URL of the picture. */
  badge_url: string
}

export interface BadgeStateData {
  data: BadgeState
}

export interface Baseline {
  /** Null for the first discovery, which is a baseline by itself. */
  id: string | null
  /** The source's, or the table's that was accepted on its own. */
  asset_id: string
  captured_at: string | null
  /** `user:<id>` or `key:<id>`. */
  captured_by: string | null
  description: string | null
  table_count: number | null
  column_count: number | null
}

export interface BaselineData {
  data: Baseline
}

export interface BetaSignupRequest {
  /** The address to contact when there is a place. */
  email: string
  name?: string | null
  company?: string | null
  /** The planned use. */
  use_case?: string | null
}

export interface BetaSignupResponse {
  registered: boolean
  /** The position on the list, from 1. */
  position: number | null
  message: string
}

export interface BetaStatus {
  /** Whether sign-ups are accepted. */
  open: boolean
  /** The maximum number of sign-ups; null for no limit. */
  capacity: number | null
  /** The number of sign-ups. */
  registered: number
  message: string
}

export interface BigqueryConnection {
  /** The id of the project that is read, and billed for it. */
  project_id: string
  /** The key of a service account with BigQuery Job User on the project and BigQuery Data Viewer on what is read: JSON text or an object. */
  credentials_json: string | Record<string, unknown>
  /** Only this dataset is read, for which rights on it are enough; defaults to all datasets. */
  dataset?: string
  /** Only datasets of this location are read, and statements run there; defaults to all locations. */
  location?: string
  /** A statement that would be billed for more bytes fails without a charge; unlimited by default. */
  maximum_bytes_billed?: number
  /** The zone of timestamps that name none; without one, that of the setting TIMEZONE. */
  timezone?: string
}

export interface Briefing {
  title: string
  generated_at: string
  summary: string
  sections: BriefingSection[]
  insights: string[]
}

export interface BriefingData {
  data: Briefing
}

export interface BriefingSection {
  title: string
  items: {
    text: string
    severity?: string
    incident_id?: string
    asset_id?: string | null
    url?: string
  }[]
}

export interface BulkApplyTagRequest {
  tag_name: string
  asset_ids: string[]
  category?: 'business' | 'technical' | 'governance'
}

export interface ChangeCounts {
  added: number
  modified: number
  removed: number
}

export interface ChangeImpact {
  change: string
  table: {
    id: string
    qualified_name: string
  } | null
  schema: string | null
  column: string | null
  new_name: string | null
  old_type: string | null
  new_type: string | null
  level: 'none' | 'low' | 'medium' | 'high' | 'critical'
  sentence: string
  /** Active checks of the table, or of the column. */
  checks: HitCheck[]
  /** Clauses of contracts about it. */
  contracts: HitClause[]
  /** Nearest first. */
  tables: Dependent[]
  /** Dashboards, notebooks, models and applications, nearest first. */
  dashboards: Dependent[]
  owners: HitOwner[]
  /** False where there are more edges than are followed, 2,000. */
  is_complete: boolean
}

export interface ChangeImpactData {
  data: ChangeImpact
}

export interface ChangePasswordRequest {
  old_password: string
  new_password: string
}

export interface ChangedClause {
  key: string
  kind:
    | 'table'
    | 'column'
    | 'type'
    | 'extra_columns'
    | 'required'
    | 'unique'
    | 'primary_key'
    | 'option'
    | 'relationship'
    | 'quality'
    | 'sla'
  title: string
}

export interface ChangedColumn {
  name: string
  data_type: string
  nullable: boolean
  /** The type under a domain. */
  base_type?: string
  /** The default of a column that changed, or the expression of a generated one. */
  default?: string | null
  /** Where they changed, as all that follows. */
  enum_labels?: string[]
  /** The attributes of a composite type, each with its type. */
  attributes?: string[]
  character_set?: string
  collation?: string
  auto_increment?: 'always' | 'by_default'
  on_update?: string
  generated?: 'virtual' | 'stored'
}

export interface ChangedConstraint {
  name: string
  type: 'primary_key' | 'foreign_key' | 'unique'
  columns: string[]
  /** Of a foreign key. */
  references?: {
    table: string
    columns: string[]
  }
  on_delete?: 'restrict' | 'cascade' | 'set_null' | 'set_default'
  on_update?: 'restrict' | 'cascade' | 'set_null' | 'set_default'
  match?: 'full' | 'partial'
  deferrable?: true
  initially_deferred?: true
  nulls_not_distinct?: true
  /** Of each column, how much of it counts; null where all of it does. */
  prefix_lengths?: (number | null)[]
}

export interface ChangedFreshnessScheduleData {
  data: ChangedFreshnessSchedule
}

export interface ChangedPartition {
  partition_of: string
}

export interface ChangedRecommendations {
  changed: number
}

export interface ChangedRecommendationsData {
  data: ChangedRecommendations
}

export interface ChangedTable {
  name: string
  type: string
  columns: number
}

export interface ChartLink {
  id: string
  /** The table. */
  asset_id: string
  check_id: string
  days: number
  created_at: string
  expires_at: string
}

export interface ChartLinkList {
  links: ChartLink[]
  pagination: Pagination
}

export interface ChartLinkListData {
  data: ChartLinkList
}

export interface CheckAssetRequest {
  /** Only this table of the source, `catalog.schema.table`. */
  table_path?: string
}

export interface CheckOutcome {
  /** The qualified name. */
  asset: string
  tables: number
  checks: number
  /** Those that warn are among them. */
  passed: number
  failed: number
  /** Checks that could not run. */
  errors: number
  /** Statements that the source was sent. */
  statements: number
  /** The worst first, at most 1,000. */
  findings: {
    /** The rule, metric or referential check. */
    id: string
    /** What stands before it in paths. */
    feature: 'validity' | 'metrics' | 'referential'
    /** The qualified name of its table. */
    asset: string
    name: string
    status: 'pass' | 'warning' | 'fail' | 'error'
    severity: 'info' | 'warning' | 'critical'
    message: string
  }[]
}

export interface CheckRemoval {
  success: true
  message: string
  /** Present when a monitors file or a contract manages the check. */
  managed_by?: ManagedBy
  /** Present when a monitors file will undo this. */
  warnings?: string[]
}

export interface CheckRemovalData {
  data: CheckRemoval
}

export interface CheckRuleRequest {
  /** Invalid rows that the reply shows. */
  sample_limit?: number
}

export interface CheckType {
  /** `rule_type` of a rule, `metric_type` of a metric. */
  type: string
  family: 'rule' | 'metric'
  description: string
  /** Whether it is made for a column. */
  column: 'required' | 'optional' | 'ignored'
  /** The kinds of column that it takes; null for all. */
  column_kinds: string[] | null
  /** The capabilities that the engine must have. */
  needs: string[]
  /** The columns of the table that it takes; null without `asset_id`, and of a source. */
  columns: string[] | null
  /** It counts NULL in its own way: `treat_null_as_valid` changes nothing. */
  ignores_null_policy: boolean
  /** The JSON Schema of `rule_config` of a rule, of the further fields of a metric. */
  settings: Record<string, unknown>
}

export interface ClauseCounts {
  passing: number
  failing: number
  pending: number
  not_enforced: number
}

export interface Column {
  name: string
  data_type: string
  nullable: boolean
  description: string | null
  tags: string[]
}

export interface ColumnProfile {
  name: string
  type: string
  /** What it can be used for: integer, text, timestamp … */
  kind: string
  /** Values that are not NULL; null where the column could not be measured. */
  count: number | null
  nulls: number | null
  null_percent: number | null
  /** Distinct values that are not NULL. */
  distinct: number | null
  /** False where the engine approximates them, and in a sample. */
  is_distinct_exact: boolean
  /** Of numbers; of dates and timestamps, ISO 8601 to the second. */
  min: null | number | string
  max: null | number | string
  mean: number | null
  /** The standard deviation of a sample. */
  stddev: number | null
  /** Of numbers, interpolated. */
  quantiles: {
    p05: number
    p25: number
    p50: number
    p75: number
    p95: number
  } | null
  /** Characters; null unless text. */
  min_length: number | null
  /** Characters; null unless text. */
  max_length: number | null
  mean_length: number | null
  /** The most frequent values of a column with few; null for others, for personal data, and unless query_access_level is full. */
  top_values:
    | {
        value: number | string | boolean
        count: number
      }[]
    | null
  /** The form that at least half of the values have, and their share. enum: few values that return. */
  pattern: {
    name: 'uuid' | 'email' | 'url' | 'iso_date' | 'iso_timestamp' | 'numeric_text' | 'phone' | 'enum'
    share: number
  } | null
  /** Whether every row has a value of its own, counted exactly. */
  is_key_candidate: boolean
  /** Tagged as personal data: nothing shows its values. */
  is_masked: boolean
}

export interface CommentRequest {
  comment: string
}

export interface CompanyCoverage {
  /** The weighted mean share of watched tables, in per cent. */
  company_score: number
  /** Active sources. */
  asset_count: number
  per_asset: {
    asset_id: string
    asset_name: string
    /** The weighted mean share of watched tables, in per cent. */
    score: number
    /** From 0, 20, 50 and 80 points. */
    tier: 'none' | 'bronze' | 'silver' | 'gold'
    tier_label: string
  }[]
  /** Sources in each tier. */
  tier_distribution: Record<string, number>
  /** The lowest score first. */
  lowest_coverage: {
    asset_id: string
    asset_name: string
    /** The weighted mean share of watched tables, in per cent. */
    score: number
    /** From 0, 20, 50 and 80 points. */
    tier: 'none' | 'bronze' | 'silver' | 'gold'
    tier_label: string
  }[]
}

export interface CompanyCoverageData {
  data: CompanyCoverage
}

export interface ComparedProfile {
  id: string
  /** The table. */
  asset_id: string
  profiled_at: string
  /** All rows of the table. */
  row_count: number
  /** Whether they were counted; otherwise the engine estimates them. */
  is_row_count_exact: boolean
  /** Rows that were read; all numbers are of these. */
  profiled_rows: number
  /** Whether a sample was read, of a table above the row limit. */
  is_sampled: boolean
  /** Statements sent to the source. */
  statements: number
  duration_ms: number
}

export interface ConnectionFailedDetails {
  error_code?: string
  error_message?: string
  /** Tables that could not be read. */
  unread_count?: number
  unread?: {
    table_path?: string
    error_message?: string
  }[]
}

export interface ConnectionFailedEvent {
  type: 'connection_failed'
  change_type: string | null
  details: ConnectionFailedDetails
}

export interface ConnectionStage {
  name: 'reach' | 'tls' | 'sign_in' | 'read_catalog'
  /** After a failed stage the later ones are skipped; tls is skipped when the connection is not encrypted. */
  status: 'passed' | 'failed' | 'skipped'
  /** 0 when skipped. */
  latency_ms: number
  message: string
}

export interface ConnectionTest {
  success: boolean
  /** Of all stages together. */
  latency_ms: number
  /** credentials, network, timeout, tls, permission, missing_object, driver_missing, egress_refused or other. */
  error_code: string | null
  error_message: string | null
  tested_at: string
  /** In their order. */
  stages: ConnectionStage[]
}

export interface ConnectionTestData {
  data: ConnectionTest
}

export interface ConsoleSession {
  /** For `Authorization: Bearer`; a page keeps it in memory only. */
  token: string
  /** Seconds until the token ends. */
  expires_in: number
  /** As GET /api/v1/auth/me returns it; null in the demo. */
  user: Record<string, unknown> | null
  /** As GET /api/v1/auth/preferences returns them; null in the demo. */
  preferences: Record<string, unknown> | null
}

export interface ConsoleSignInRequest {
  /** With `password`. */
  email?: string
  password?: string
  /** The ticket of a sign-in link or of a provider. */
  ticket?: string
  /** Look at the demo without an account. */
  demo?: true
}

export interface ConsoleTicketHolder {
  /** The address of the user whose session the ticket opens. */
  email: string
  /** The name of the company of that user. */
  company: string
}

export interface ConsoleTicketRequest {
  ticket: string
}

export interface Contract {
  name: string
  source_id: string
  source_name: string
  /** Failing if a clause fails; passing if all that are enforced pass. */
  status: 'passing' | 'failing' | 'pending'
  /** Clauses by status. */
  counts: ClauseCounts
  /** The name in the document. */
  title: string | null
  version: string | null
  /** The team of the contract, or its owner. */
  owner: string | null
  api_version: string
  /** The id in the document. */
  document_id: string | null
  extra_columns: 'allow' | 'fail'
  /** The public URL of a picture of the status. */
  badge_url: string
  /** Markdown that shows the picture. */
  markdown: string
  created_at: string
  updated_at: string
  /** When it was last compared with the catalog. */
  judged_at: string
}

export interface ContractChanges {
  added: ChangedClause[]
  modified: ChangedClause[]
  removed: ChangedClause[]
}

export interface ContractClause {
  /** Stays the same while names do. */
  key: string
  kind:
    | 'table'
    | 'column'
    | 'type'
    | 'extra_columns'
    | 'required'
    | 'unique'
    | 'primary_key'
    | 'option'
    | 'relationship'
    | 'quality'
    | 'sla'
  /** A JSON Pointer into the contract. */
  path: string
  /** What is promised. */
  title: string
  severity: 'info' | 'warning' | 'critical'
  status: 'passing' | 'failing' | 'pending' | 'not_enforced'
  /** Why it does not pass; null if it does. */
  reason: string | null
  /** When the status changed last. */
  since: string
  /** As the contract names it. */
  table_name: string | null
  column_name: string | null
  /** The table in the catalog. */
  asset_id: string | null
  /** The kind of the check that tells; null if the catalog does. */
  check_kind: 'validity' | 'freshness' | 'referential' | null
  /** As the endpoints of its kind take it. */
  check_id: string | null
}

export interface ContractDraft {
  /** YAML. */
  contract: string
}

export interface ContractDraftData {
  data: ContractDraft
}

export interface ContractError {
  message: string
  /** Such as `schema[0].name`; empty for the whole contract. */
  yaml_path: string
  /** The rule that is broken. */
  code: string
  line: number | null
  /** Not known: null. */
  column: number | null
}

export interface ContractEvent {
  id: string
  event: 'created' | 'replaced' | 'status'
  /** Of a contract that was created or replaced. */
  version: string | null
  /** Of a changed status. */
  clause_key: string | null
  clause_title: string | null
  from_status: 'passing' | 'failing' | 'pending' | 'not_enforced' | null
  to_status: 'passing' | 'failing' | 'pending' | 'not_enforced' | null
  reason: string | null
  /** `user:<id>`, `key:<id>`, `cli`, or `system` for discoveries and checks. */
  actor: string
  at: string
}

export interface ContractEventList {
  events: ContractEvent[]
  pagination: Pagination
}

export interface ContractEventListData {
  data: ContractEventList
}

export interface ContractExport {
  job_id: string
  status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
  /** In the archive. */
  contracts: number
  error: string | null
  created_at: string
  completed_at: string | null
}

export interface ContractExportData {
  data: ContractExport
}

export interface ContractFinding {
  /** A JSON Pointer to the part of the contract */
  path: string
  /** The line in the text; null for a contract that came as JSON */
  line: number | null
  /** What was expected */
  message: string
  /** The rule: a keyword of JSON Schema, or one of ours for what a schema cannot express */
  keyword: string
}

export interface ContractList {
  contracts: Contract[]
  pagination: Pagination
  /** Contracts by status, on all pages. */
  summary: ContractTotals
}

export interface ContractListData {
  data: ContractList
}

export interface ContractSummary {
  id: string | null
  name: string | null
  version: string | null
  apiVersion: string
}

export interface ContractTestOutcome {
  source: string
  /** `error` if no clause fails, and one could not be judged. */
  status: 'pass' | 'fail' | 'error'
  counts: {
    passing: number
    failing: number
    pending: number
    not_enforced: number
  }
  clauses: {
    key: string
    kind: string
    path: string
    title: string
    severity: string
    reason: string | null
    status: 'passing' | 'failing' | 'pending' | 'not_enforced'
  }[]
}

export interface ContractTotals {
  /** Contracts. */
  passing: number
  /** Contracts. */
  failing: number
  /** Contracts. */
  pending: number
  /** Clauses that fail, of all contracts. */
  failing_clauses: number
}

export interface ContractVerdict {
  success: true
  data: {
    valid: boolean
    /** The apiVersion of the contract */
    api_version: string | null
    /** The first 200 */
    errors: ContractFinding[]
    /** Accepted, but worth a look: unknown fields, dangling references */
    warnings: ContractFinding[]
  }
  message: string
  error: string
  meta: {
    errors_found: number
    warnings_found: number
  }
}

export interface ContractViolationDetails {
  /** The name of the contract. */
  contract?: string
  contract_version?: string | null
  /** Who answers for the contract. */
  owner?: string | null
  /** The clause that does not hold, in words. */
  clause?: string
  clause_key?: string
  clause_kind?:
    | 'table'
    | 'column'
    | 'type'
    | 'extra_columns'
    | 'required'
    | 'unique'
    | 'primary_key'
    | 'option'
    | 'relationship'
    | 'quality'
    | 'sla'
  reason?: string | null
  /** As the contract names it. */
  table_path?: string | null
  column_name?: string | null
  /** The check that found it; null if the catalog shows it. */
  check_id?: string | null
}

export interface ContractViolationEvent {
  type: 'contract_violation'
  change_type: string | null
  details: ContractViolationDetails
}

export interface CoverageGaps {
  recommendations: {
    table_path: string
    importance_score: number
    /** As the engine estimates it. */
    row_count: number | null
    column_count: number
    /** Kinds of checks that the table lacks. */
    suggested_monitoring: string[]
    reasoning: string
  }[]
  total_tables: number
  /** Tables with a check of their own; drift alone does not count. */
  monitored_tables: number
  coverage_percentage: number
}

export interface CoverageGapsData {
  data: CoverageGaps
}

export interface CoverageRecommendations {
  recommendations: {
    table_path: string
    importance_score: number
    /** As the engine estimates it. */
    row_count: number | null
    column_count: number
    /** Kinds of checks that the table lacks. */
    suggested_monitoring: string[]
    reasoning: string
    currently_monitored: {
      freshness: boolean
      metrics: boolean
      validity: boolean
      schema_drift: boolean
    }
  }[]
  asset_id: string
  total_tables: number
  /** Tables with a check of their own; drift alone does not count. */
  monitored_tables: number
  coverage_percentage: number
}

export interface CoverageRecommendationsData {
  data: CoverageRecommendations
}

export interface CreateAlertRuleRequest {
  name: string
  description?: string | null
  event_types?:
    | (
        | 'destination_disabled'
        | 'schema_change'
        | 'schema_drift'
        | 'discovery_complete'
        | 'connection_failed'
        | 'validity_failure'
        | 'metric_anomaly'
        | 'referential_failure'
        | 'freshness_violation'
        | 'freshness_stale'
        | 'freshness_alert'
        | 'external_check_failed'
        | 'contract_violation'
      )[]
    | null
  severities?: ('info' | 'warning' | 'critical')[] | null
  asset_ids?: string[] | null
  tag_filter_mode?: 'any' | 'all' | null
  tag_filter_tags?: string[] | null
  /** Users, teams and addresses, of which any owns the asset: their ids, or the name of a team. */
  owners?: string[] | null
  destination_ids: string[]
  cooldown_minutes?: number
  is_active?: boolean
  /** Another name for `is_active`, which goes first. */
  enabled?: boolean
  /** Only false: authors of code are not known here. Name destinations. */
  is_notify_code_authors?: false
  /** Stored. It has no effect, since authors of code are not notified. */
  code_author_min_confidence?: number | null
  /** Follows from `event_types`, which has to be given too. */
  rule_type?: string
  /** Follows from `severities`, which has to be given too. */
  severity?: 'info' | 'warning' | 'critical'
}

export interface CreateApiKeyRequest {
  name: string
  scope: 'read-only' | 'read-write' | 'admin'
  /** When the key expires; null or absent for never. */
  expires_at?: string | null
}

export interface CreateAssetPreviewTableRequest {
  /** Tables that are read, as globs; all unless given. */
  include_patterns?: string[]
  /** Tables that are not, even if included. */
  exclude_patterns?: string[]
}

export interface CreateBadgeRequest {
  /** A source or a table, by its id or qualified name. */
  asset_id: string
  /** The text on the left of the badge; defaults to `data quality`. */
  label?: string | null
  /** Only tables count that carry one of these tags, on themselves, a column or their source; empty means all. */
  tag_filters?: string[]
  /** Whether an unacknowledged schema change makes the badge fail. */
  schema_drift_enabled?: boolean
  /** Whether a stale table makes the badge fail. */
  freshness_enabled?: boolean
  /** Whether the tables that the table is made from count too, over any number of steps of its lineage; a source holds them already. */
  include_upstream?: boolean
  /** Whether it has a picture. */
  is_active?: boolean
}

export interface CreateChartLinkRequest {
  /** A table, by its id or qualified name. */
  asset_id: string
  /** The id of a rule, a metric or a referential check, as `GET /api/v1/sdk/checks/{asset_id}` has it. */
  check_id: string
  /** How many days the chart goes back. */
  days?: number
  /** After how many days the link shows nothing. */
  expires_in_days?: number
}

export interface CreateContractExportRequest {
  /** All sources, some assets, or the source of a name. */
  scope: 'all' | 'assets' | 'warehouse'
  /** odcs-pure leaves out custom properties of this service. */
  mode?: 'extended' | 'odcs-pure'
  /** Of scope warehouse: the name of a source. */
  scope_name?: string | null
  /** Of scope assets: sources and tables. */
  asset_public_ids?: string[] | null
  /** Parts to include, default all. */
  include?: string[]
  /** Parts to leave out. */
  exclude?: string[]
}

export interface CreateDestinationRequest {
  name: string
  destination_type: 'email' | 'ntfy' | 'pagerduty' | 'slack' | 'teams' | 'webhook'
  /** What `destination_type` asks for. Secrets are returned redacted. */
  config: WebhookConfig | SlackConfig | TeamsConfig | EmailConfig | PagerdutyConfig | NtfyConfig
  /** `alerts`: a message about each alert, the default of webhooks. `incidents`: one about each incident, and another when it gets worse or is over; the default of types for people. */
  messages?: 'alerts' | 'incidents'
  is_active?: boolean
}

export interface CreateDestinationsRequest {
  destinations: {
    name: string
    destination_type: 'email' | 'ntfy' | 'pagerduty' | 'slack' | 'teams' | 'webhook'
    /** What `destination_type` asks for. Secrets are returned redacted. */
    config: WebhookConfig | SlackConfig | TeamsConfig | EmailConfig | PagerdutyConfig | NtfyConfig
    /** `alerts`: a message about each alert, the default of webhooks. `incidents`: one about each incident, and another when it gets worse or is over; the default of types for people. */
    messages?: 'alerts' | 'incidents'
    is_active?: boolean
  }[]
}

export interface CreateFreshnessScheduleRequest {
  asset_id: string
  table_path?: string
  /** Whether the threshold is learned from updates or given. */
  monitoring_mode?: 'auto_learn' | 'explicit'
  /** Maximum age of the newest data, such as 24h. */
  sla_threshold?: string
  /** The same in hours. */
  expected_interval_hours?: number
  /** The column with the time a row was written; detected if omitted. */
  freshness_column?: string | null
  /** A SQL expression over the columns of a row, instead of a column. */
  freshness_expression?: string
  /** Where freshness is read from; implied by freshness_column and freshness_expression. */
  freshness_signal?: 'column' | 'expression' | 'last_modified'
  /** How often the table is checked, such as 1h. */
  check_interval?: string
  is_active?: boolean
}

export interface CreateFreshnessSchedulesRequest {
  /** A source. */
  asset_id: string
  /** Tables by path, each with its own fields, instead of patterns. Fields beside the list apply where a table sets none. */
  schedules?: {
    table_path: string
    /** Whether the threshold is learned from updates or given. */
    monitoring_mode?: 'auto_learn' | 'explicit'
    /** Maximum age of the newest data, such as 24h. */
    sla_threshold?: string
    /** The same in hours. */
    expected_interval_hours?: number
    /** The column with the time a row was written; detected if omitted. */
    freshness_column?: string | null
    /** How often the table is checked, such as 1h. */
    check_interval?: string
    is_active?: boolean
  }[]
  /** Tables to include, default all: table, schema.table or catalog.schema.table, with * for any characters. */
  include_patterns?: string[]
  /** Tables to exclude, even if included: table, schema.table or catalog.schema.table, with * for any characters. */
  exclude_patterns?: string[]
  /** Skips tables without a signal. */
  only_with_signal?: boolean
  /** Creates nothing, and returns what would be created. */
  dry_run?: boolean
  /** Whether the threshold is learned from updates or given. */
  monitoring_mode?: 'auto_learn' | 'explicit'
  /** Maximum age of the newest data, such as 24h. */
  sla_threshold?: string
  /** The same in hours. */
  expected_interval_hours?: number
  /** How often the table is checked, such as 1h. */
  check_interval?: string
  is_active?: boolean
}

export interface CreateLineageEdgeRequest {
  /** The id or qualified name of a table, or of a thing outside the catalog. */
  upstream?: string
  /** A thing outside the catalog, which is created when its namespace and name are new. */
  upstream_external?: {
    kind: 'dataset' | 'dashboard' | 'notebook' | 'ml' | 'analysis' | 'application'
    /** Where it is: `looker`, `s3://bucket`. */
    namespace: string
    name: string
    url?: string
    description?: string
  }
  /** The id or qualified name of a table, or of a thing outside the catalog. */
  downstream?: string
  /** A thing outside the catalog, which is created when its namespace and name are new. */
  downstream_external?: {
    kind: 'dataset' | 'dashboard' | 'notebook' | 'ml' | 'analysis' | 'application'
    /** Where it is: `looker`, `s3://bucket`. */
    namespace: string
    name: string
    url?: string
    description?: string
  }
  /** All columns of the edge; without them, it is known by table only. */
  columns?: {
    upstream_column: string
    /** `*` where the upstream column decides which rows there are. */
    downstream_column: string
    /** indirect: the column filters, joins, groups or sorts, and gives no values. */
    kind?: 'direct' | 'indirect'
  }[]
}

export interface CreateMetricRequest {
  /** row_count, null_percent, distinct_count, duplicate_count, min_value, max_value, mean, percentile, or one of an extension. */
  metric_type:
    | 'distinct_count'
    | 'duplicate_count'
    | 'max_value'
    | 'mean'
    | 'mean_length'
    | 'min_value'
    | 'null_percent'
    | 'percentile'
    | 'row_count'
  /** `catalog.schema.table`. */
  table_path: string
  /** Of all types but row_count. */
  column_name?: string
  /** Measures each group of these columns separately. */
  group_by_columns?: string[]
  capture_interval?: 'hourly' | 'daily' | 'weekly'
  /** The |z_score| beyond which a value is an anomaly. */
  sensitivity?: number
  /** Of percentile: from 0 to 100. */
  percentile_value?: number
  /** Learns this many days of the past at once, computed from the timestamps of the table. */
  backfill_days?: number
}

export interface CreateMetricsRequest {
  /** row_count, null_percent, distinct_count, duplicate_count, min_value, max_value, mean, percentile, or one of an extension. */
  metric_type:
    | 'distinct_count'
    | 'duplicate_count'
    | 'max_value'
    | 'mean'
    | 'mean_length'
    | 'min_value'
    | 'null_percent'
    | 'percentile'
    | 'row_count'
  /** `catalog.schema.table`. */
  table_path: string
  /** Measures each group of these columns separately. */
  group_by_columns?: string[]
  capture_interval?: 'hourly' | 'daily' | 'weekly'
  /** The |z_score| beyond which a value is an anomaly. */
  sensitivity?: number
  /** Of percentile: from 0 to 100. */
  percentile_value?: number
  /** Learns this many days of the past at once, computed from the timestamps of the table. */
  backfill_days?: number
  column_name?: never
  /** The columns; each gets a check of its own. */
  column_names: string[]
}

export interface CreateNamespaceRuleRequest {
  /** A namespace of datasets, in which `*` stands for any text. */
  namespace: string
  /** The source, by id or name. */
  source_id: string
  /** Written in front of the names of datasets: with `shop.public`, `orders` is `shop.public.orders`. */
  name_prefix?: string | null
}

export interface CreateOperatingScheduleRequest {
  name: string
  timezone: string
  rules: {
    /** The days on which it starts, 1 is Monday */
    days: number[]
    start: string
    /** At or before the start, it is on the next day: 22:00 to 06:00 is a night, 08:00 to 08:00 are 24 hours */
    end: string
  }[]
}

export interface CreateProfileRequest {
  /** Only this table of the source, `catalog.schema.table`. */
  table_path?: string
  /** Tables of the source to profile, default all: table, schema.table or catalog.schema.table, with * for any characters. */
  include_patterns?: string[]
  /** Tables to leave out, even if included: table, schema.table or catalog.schema.table, with * for any characters. */
  exclude_patterns?: string[]
}

export interface CreateReferentialCheckRequest {
  child_table_path: string
  child_column_name: string
  parent_table_path: string
  parent_column_name: string
  name?: string
  description?: string | null
  severity?: 'info' | 'warning' | 'critical'
  is_active?: boolean
  capture_interval?: 'hourly' | 'daily' | 'weekly'
  /** Orphans that are allowed; 0 when no limit is given */
  max_orphan_count?: number | null
  /** Percent of the children that are not NULL. */
  max_orphan_percent?: number | null
  /** Children that every parent must have */
  min_child_count?: number | null
  /** Children that a parent may have */
  max_child_count?: number | null
}

export interface CreateRuleRequest {
  /** NOT_NULL, UNIQUE, REGEX, RANGE, ENUM, DATE_FORMAT, CUSTOM_SQL, or one of an extension. */
  rule_type: 'CUSTOM_SQL' | 'DATE_FORMAT' | 'ENUM' | 'NOT_NULL' | 'RANGE' | 'REGEX' | 'UNIQUE'
  /** `catalog.schema.table`. */
  table_path: string
  /** Of all types but CUSTOM_SQL. */
  column_name?: string
  /** What `rule_type` asks for. Integers beyond 2^53 are given as text. */
  rule_config?:
    | NotNullRuleConfig
    | UniqueRuleConfig
    | RegexRuleConfig
    | RangeRuleConfig
    | EnumRuleConfig
    | DateFormatRuleConfig
    | CustomSqlRuleConfig
    | null
  name?: string
  severity?: 'info' | 'warning' | 'critical'
  check_interval?: 'hourly' | 'daily' | 'weekly'
  description?: string | null
  /** Manual mode: the rule fails above this percentage of invalid rows; defaults to 0. */
  alert_threshold_percent?: number
  /** Ignores rows with NULL, except for NOT_NULL. */
  treat_null_as_valid?: boolean
  /** manual: fails above the threshold; auto: fails outside a learned range. */
  detection_mode?: 'manual' | 'auto'
  /** Auto mode: width of the range in standard deviations; 1 alerts most often. */
  sensitivity?: number
  /** Learns active and quiet hours apart: by an operating schedule, or detected. */
  operating_period_mode?: 'off' | 'schedule' | 'auto'
  operating_schedule_id?: string
  /** The title of alerts, in place of the default. */
  error_message?: string | null
  /** Auto mode: learns this many days of the past at once, computed from the timestamps of the table. */
  backfill_days?: number
}

export interface CreateRulesRequest {
  /** NOT_NULL, UNIQUE, REGEX, RANGE, ENUM, DATE_FORMAT, CUSTOM_SQL, or one of an extension. */
  rule_type: 'CUSTOM_SQL' | 'DATE_FORMAT' | 'ENUM' | 'NOT_NULL' | 'RANGE' | 'REGEX' | 'UNIQUE'
  /** `catalog.schema.table`. */
  table_path: string
  /** What `rule_type` asks for. Integers beyond 2^53 are given as text. */
  rule_config?:
    | NotNullRuleConfig
    | UniqueRuleConfig
    | RegexRuleConfig
    | RangeRuleConfig
    | EnumRuleConfig
    | DateFormatRuleConfig
    | CustomSqlRuleConfig
    | null
  severity?: 'info' | 'warning' | 'critical'
  check_interval?: 'hourly' | 'daily' | 'weekly'
  description?: string | null
  /** Manual mode: the rule fails above this percentage of invalid rows; defaults to 0. */
  alert_threshold_percent?: number
  /** Ignores rows with NULL, except for NOT_NULL. */
  treat_null_as_valid?: boolean
  /** manual: fails above the threshold; auto: fails outside a learned range. */
  detection_mode?: 'manual' | 'auto'
  /** Auto mode: width of the range in standard deviations; 1 alerts most often. */
  sensitivity?: number
  /** Learns active and quiet hours apart: by an operating schedule, or detected. */
  operating_period_mode?: 'off' | 'schedule' | 'auto'
  operating_schedule_id?: string
  /** The title of alerts, in place of the default. */
  error_message?: string | null
  /** Auto mode: learns this many days of the past at once, computed from the timestamps of the table. */
  backfill_days?: number
  /** The columns; each gets a check of its own. */
  column_names: string[]
}

export interface CreateSchemaBaselineRequest {
  description?: string | null
}

export interface CreateSourceRequest {
  name: string
  /** Its engine: postgresql, mysql, … */
  source_type: 'bigquery' | 'databricks' | 'mysql' | 'postgresql' | 'redshift' | 'snowflake' | 'sqlite'
  /** What `source_type` asks for. Secrets are never returned. */
  connection_config:
    | PostgresqlConnection
    | RedshiftConnection
    | MysqlConnection
    | SnowflakeConnection
    | BigqueryConnection
    | DatabricksConnection
    | SqliteConnection
  description?: string
  /** How often its catalog is read by itself. */
  discovery_interval?: 'off' | 'hourly' | 'every_4_hours' | 'daily' | 'weekly'
  /** What may be asked of it: its catalog, numbers of its rows, or rows. */
  query_access_level?: 'schema_only' | 'aggregates' | 'full'
  /** Sessions that may be open there at once. */
  max_concurrency?: number
  /** Null means the setting STATEMENT_TIMEOUT. */
  statement_timeout_seconds?: number | null
  /** Tables that are read, as globs; all unless given. */
  include_patterns?: string[]
  /** Tables that are not, even if included. */
  exclude_patterns?: string[]
  /** Whether discoveries tag columns by their names and types. */
  auto_tag_enabled?: boolean
  /** What freshness schedules made from now on have where they name nothing else. */
  freshness_defaults?: {
    monitoring_mode?: 'auto_learn' | 'explicit'
    sla_threshold?: string
    check_interval?: string
    /** Columns with the time a row was written, the most reliable first; case is ignored. */
    freshness_columns?: string[]
  } | null
}

export interface CreateTagRequest {
  asset_id: string
  name: string
  /** A table or column within the asset; the asset itself unless given. */
  object_path?: string
  object_type?: 'table' | 'column'
  category?: 'business' | 'technical' | 'governance'
  description?: string | null
}

export interface CreateTeamRequest {
  name: string
  description?: string | null
  /** Ids of users, and addresses; replaces all members. */
  members?: string[]
}

export interface CreateWatchRequest {
  /** Tables to watch, default all: table, schema.table or catalog.schema.table, with * for any characters. */
  include_patterns?: string[]
  /** Tables to leave out, even if included: table, schema.table or catalog.schema.table, with * for any characters. */
  exclude_patterns?: string[]
  /** A row_count metric for each table. */
  row_count?: boolean
  /** A freshness schedule for each table that shows when it was updated. */
  freshness?: boolean
  /** A NOT_NULL rule for each column of a primary key, and a UNIQUE rule for a primary key of one column. */
  keys?: boolean
  /** In place of the three kinds, and kept for tables that come later. light: row counts, freshness and keys; standard: also recommendations of constraints and profiles from a confidence of 0.8; deep: all that is recommended. */
  level?: 'light' | 'standard' | 'deep'
  /** Creates nothing, and returns what would be created. */
  dry_run?: boolean
}

export interface CreatedChartLinkData {
  data: CreatedChartLink
}

export interface CreatedFreshnessSchedules {
  /** Created schedules; in a dry run, the ones to create. */
  created: number
  /** Tables that already had a schedule. */
  existing: number
  /** Tables without a signal. */
  without_signal: number
  /** Active tables that match the patterns. */
  matched: number
  /** The first 100 tables without a signal, by path. */
  tables_without_signal: string[]
  /** Signals of the created schedules. */
  signals: {
    column: number
    last_modified: number
  }
  /** Statements a day that the created schedules add at the source: the most, for tables that are read together. */
  statements_per_day: number
  dry_run: boolean
}

export interface CreatedMetric {
  /** The `metric_id` of paths. */
  id: string
  internal_id: number
  /** The number of its source. */
  asset_id: number
  /** The id of its source, as paths take it. */
  asset_public_id: string
  /** `catalog.schema.table`. */
  table_path: string
  column_name: string | null
  /** row_count, null_percent, distinct_count, …, or one of an extension. */
  metric_type: string
  /** Of percentile. */
  percentile_value?: number
  group_by_columns: string[]
  capture_interval: 'hourly' | 'daily' | 'weekly'
  /** The |z_score| beyond which a value is an anomaly. */
  sensitivity: number
  is_active: boolean
  /** How it did last; null before its first capture. */
  last_status: 'PASS' | 'WARNING' | 'FAIL' | 'ERROR' | null
  created_at: string
  /** With backfill_days. */
  backfill?: {
    /** Values that were computed of the past. */
    points: number
    /** The column with the time at which rows were added. */
    timestamp_column: string | null
    message: string
  }
}

export interface CreatedMetricData {
  data: CreatedMetric
}

export interface CreatedNamespaceRuleData {
  data: CreatedNamespaceRule
}

export interface CreatedValidityRuleData {
  data: CreatedValidityRule
}

export interface CustomSqlRuleConfig {
  sql_expression: string
  /** What the number of a SELECT that returns a row when it is wrong must be, for messages: `at most 10 %`. */
  expected?: string
  /** The column of that SELECT with the number. It is shown if it counts rows. */
  value_column?: string
  /** The unit of the number: `%`, `rows`. */
  value_unit?: string
}

export interface DatabricksConnection {
  /** The workspace's host name (Server hostname in the warehouse's connection details). */
  host: string
  /** The SQL warehouse's HTTP path: /sql/1.0/warehouses/ and its id. */
  http_path: string
  /** A catalog of Unity Catalog: only it is read. Defaults to all that the token may see. */
  default_catalog?: string
  /** A personal access token, best of a service principal with only SELECT and CAN USE. */
  access_token: string
  /** The zone of timestamps that name none; without one, that of the setting TIMEZONE. */
  timezone?: string
}

export interface DateFormatRuleConfig {
  format: string
}

export interface DbtImport {
  source_id: string
  project: string
  /** Models, seeds, snapshots and sources that are tables of the catalog. */
  tables: number
  /** Those that are not: they are shown as datasets outside the catalog. */
  unmatched_count: number
  /** The first 50 of them. */
  unmatched: string[]
  exposures: number
  edges: number
  /** Pairs of columns that the edges have: from the compiled SQL of PostgreSQL and Redshift, with catalog.json. */
  columns: number
  /** Those of them that earlier imports found: of models that have no compiled SQL in the manifest, or of all without catalog.json. */
  kept_columns: number
  /** Edges that the project reported before and does not any more. */
  removed_edges: number
  tests: number
  /** Results that are newer than those that were known. */
  test_results: number
  /** How many of these fail or warn. */
  failing_tests: number
  /** How many of these could not run. */
  test_errors: number
  model_runs: number
}

export interface DbtImportData {
  data: DbtImport
}

export interface DeadJob {
  id: string
  queue: string
  died_at: string
  attempts: number
  /** Why its last try failed. */
  reason: string | null
  /** The table or source it is about. */
  asset_id: string | null
  asset_type: 'table' | 'source' | null
  /** Null also when it was removed. */
  asset_name: string | null
  /** The ids that the job takes. */
  data: Record<string, unknown>
}

export interface DeadJobPage {
  data: DeadJob[]
  pagination: Pagination
}

export interface DeliveryAttempt {
  n: number
  trigger: 'automatic' | 'manual' | 'test'
  request_id: string | null
  started_at: string
  ended_at: string
  status_code: number | null
  /** `egress_refused`, `dns`, `connect`, `tls`, `timeout`, `protocol`, `status`, `configuration`, `interrupted` (the process that made the attempt was lost), `other`. */
  error_class: string | null
  error_message: string | null
  /** The address that was dialled. */
  address: string | null
  tls_version: string | null
  latency_ms: number
  /** Whether it took longer than the 5 seconds that receivers should take. */
  is_slow: boolean
  /** The beginning of the answer. */
  response_body: string | null
}

export interface DeliveryCounts {
  pending: number
  delivered: number
  failed: number
  stopped: number
}

export interface DeliveryPage {
  data: Delivery[]
  pagination: Pagination
}

export interface DeliveryPageData {
  data: DeliveryPage
}

export interface DemoAlert {
  id: string
  title: string
  severity: string
  /** False if it existed before. */
  is_new: boolean
}

export interface DemoAsset {
  id: string
  /** The same as the id. */
  public_id: string
  name: string
  /** False if it existed before. */
  is_new: boolean
  /** The discovery; null unless the asset is new. */
  job_id: string | null
}

export interface DemoDestination {
  id: string
  name: string
  destination_type: string
  /** False if it existed before. */
  is_new: boolean
}

export interface DemoKey {
  /** Read-only. */
  api_key: string
  expires_at: string
}

export interface DemoLineage {
  /** Tables that had no edge before. */
  nodes_created: number
  edges_created: number
}

export interface Dependent {
  id: string
  name: string
  qualified_name: string
  asset_type: string
  url: string | null
  /** Steps from the changed table. */
  distance: number
  /** `certain` where a column, or the table as a whole, is known to be used; `possible` where columns are not known. */
  certainty: 'certain' | 'possible'
  /** Its columns that are hit; null where they are not known, empty where its rows are. */
  columns: string[] | null
  owners: {
    name: string
    email: string | null
  }[]
  sentence: string
}

export interface Destination {
  id: string
  name: string
  destination_type: string
  /** Whether it gets a message about each alert, or about each incident. */
  messages: 'alerts' | 'incidents'
  is_active: boolean
  /** Whether it has ever accepted a message. */
  is_verified: boolean
  /** Why it was switched off automatically. */
  disabled_reason: string | null
  /** Since when every attempt has failed. */
  failing_since: string | null
  /** As its type defines it, with placeholders instead of secrets. */
  config: Record<string, unknown>
  created_at: string
  updated_at: string
  last_delivery: LastDelivery | null
  /** The number of messages. */
  last_24_hours: DeliveryCounts
}

export interface DestinationData {
  data: Destination
}

export interface DestinationDisabledDetails {
  destination_type?: string
  /** Since when every attempt has failed. */
  failing_since?: string
}

export interface DestinationDisabledEvent {
  type: 'destination_disabled'
  change_type: string | null
  details: DestinationDisabledDetails
}

export interface DestinationList {
  destinations: Destination[]
  pagination: Pagination
}

export interface DestinationListData {
  data: DestinationList
}

export interface DestinationRemoval {
  success: true
  message: string
  /** Alert rules that had no other destination. */
  rules_switched_off: {
    id: string
    name: string
  }[]
}

export interface DestinationRemovalData {
  data: DestinationRemoval
}

export interface DestinationTest {
  /** Whether the receiver accepted the message. */
  success: boolean
  /** The same as `success`. */
  test_sent: boolean
  destination_id: string
  delivery_id: string
  /** One sentence for people. */
  message: string | null
  request_id: string | null
  started_at: string
  ended_at: string
  status_code: number | null
  /** `egress_refused`, `dns`, `connect`, `tls`, `timeout`, `protocol`, `status`, `configuration`, `interrupted` (the process that made the attempt was lost), `other`. */
  error_class: string | null
  error_message: string | null
  /** The address that was dialled. */
  address: string | null
  tls_version: string | null
  latency_ms: number
  /** Whether it took longer than the 5 seconds that receivers should take. */
  is_slow: boolean
  /** The beginning of the answer. */
  response_body: string | null
}

export interface DestinationTestData {
  data: DestinationTest
}

export interface DestinationType {
  destination_type: string
  /** Its name for people. */
  label: string
  /** Why none can be created until the operator has configured something; null if one can. */
  unavailable: string | null
  /** The JSON Schema of its `config`; secrets are `writeOnly`. */
  settings: Record<string, unknown>
}

export interface DiscardedJobs {
  /** How many jobs. */
  discarded: number
}

export interface DiscardedJobsData {
  data: DiscardedJobs
}

export interface DiscoveryCompleteDetails {
  job_id?: string
  table_count?: number
  column_count?: number
  changes_detected?: number
  duration_ms?: number
  /** Tables that could not be read. */
  unread_count?: number
  unread?: {
    table_path?: string
    error_message?: string
  }[]
}

export interface DiscoveryCompleteEvent {
  type: 'discovery_complete'
  change_type: string | null
  details: DiscoveryCompleteDetails
}

export interface DiscoveryOutcome {
  table_count: number
  column_count: number
  changes_detected: number
  /** Tables that are or may be there and could not be read, or not all of their columns and keys; what was known stays. */
  unread_count: number
  /** The first 100 of them. */
  unread: {
    table_path: string
    /** credentials, network, timeout, tls, permission, missing_object, driver_missing, egress_refused or other. */
    error_code: string
    error_message: string
  }[]
  duration_ms: number
}

export interface DismissRecommendationsRequest {
  /** Ids of recommendations, of one source or several. */
  ids: string[]
  /** Why, for those who ask later. */
  reason?: string | null
}

export interface DryRunDiscoveryRequest {
  asset_id: string
  table_path?: string
  /** Days whose recorded changes are counted beside. */
  lookback_days?: number
}

export interface DryRunFreshnessRequest {
  asset_id: string
  /** Needed unless the asset is a table. */
  table_path?: string
  /** The threshold to try, in hours. */
  expected_interval_hours: number
  /** Days of stored checks to judge by the threshold. */
  lookback_days?: number
}

export interface DryRunMetricRequest {
  /** row_count, null_percent, distinct_count, duplicate_count, min_value, max_value, mean, percentile, or one of an extension. */
  metric_type:
    | 'distinct_count'
    | 'duplicate_count'
    | 'max_value'
    | 'mean'
    | 'mean_length'
    | 'min_value'
    | 'null_percent'
    | 'percentile'
    | 'row_count'
  /** `catalog.schema.table`. */
  table_path: string
  /** Of all types but row_count. */
  column_name?: string
  /** Measures each group of these columns separately. */
  group_by_columns?: string[]
  capture_interval?: 'hourly' | 'daily' | 'weekly'
  /** The |z_score| beyond which a value is an anomaly. */
  sensitivity?: number
  /** Of percentile: from 0 to 100. */
  percentile_value?: number
  asset_id: string
  /** Days of the past that are looked at. */
  lookback_days?: number
  backfill_days?: never
}

export interface DryRunReferentialCheckRequest {
  child_table_path: string
  child_column_name: string
  parent_table_path: string
  parent_column_name: string
  name?: string
  description?: string | null
  severity?: 'info' | 'warning' | 'critical'
  is_active?: boolean
  capture_interval?: 'hourly' | 'daily' | 'weekly'
  /** Orphans that are allowed; 0 when no limit is given */
  max_orphan_count?: number | null
  /** Percent of the children that are not NULL. */
  max_orphan_percent?: number | null
  /** Children that every parent must have */
  min_child_count?: number | null
  /** Children that a parent may have */
  max_child_count?: number | null
  asset_id: string
}

export interface DryRunRuleRequest {
  /** NOT_NULL, UNIQUE, REGEX, RANGE, ENUM, DATE_FORMAT, CUSTOM_SQL, or one of an extension. */
  rule_type: 'CUSTOM_SQL' | 'DATE_FORMAT' | 'ENUM' | 'NOT_NULL' | 'RANGE' | 'REGEX' | 'UNIQUE'
  /** `catalog.schema.table`. */
  table_path: string
  /** Of all types but CUSTOM_SQL. */
  column_name?: string
  /** What `rule_type` asks for. Integers beyond 2^53 are given as text. */
  rule_config?:
    | NotNullRuleConfig
    | UniqueRuleConfig
    | RegexRuleConfig
    | RangeRuleConfig
    | EnumRuleConfig
    | DateFormatRuleConfig
    | CustomSqlRuleConfig
    | null
  name?: string
  severity?: 'info' | 'warning' | 'critical'
  check_interval?: 'hourly' | 'daily' | 'weekly'
  description?: string | null
  /** Manual mode: the rule fails above this percentage of invalid rows; defaults to 0. */
  alert_threshold_percent?: number
  /** Ignores rows with NULL, except for NOT_NULL. */
  treat_null_as_valid?: boolean
  /** manual: fails above the threshold; auto: fails outside a learned range. */
  detection_mode?: 'manual' | 'auto'
  /** Auto mode: width of the range in standard deviations; 1 alerts most often. */
  sensitivity?: number
  /** Learns active and quiet hours apart: by an operating schedule, or detected. */
  operating_period_mode?: 'off' | 'schedule' | 'auto'
  operating_schedule_id?: string
  /** The title of alerts, in place of the default. */
  error_message?: string | null
  asset_id: string
  /** Days of the past that are looked at. */
  lookback_days?: number
}

export interface EmailConfig {
  to: string[] | string
  /** Mail about an asset goes to its owners; `to` gets it if there is none with an address. Tests go to `to`. */
  to_owners?: boolean
}

export interface EndAlertRequest {
  /** Shown in the history, and sent with the end of the alert. */
  reason?: string | null
  /** Another name for `reason`. */
  notes?: string | null
  /** What was done: `reran_job`, `code_change`. */
  action_category?: string | null
  action_detail?: string | null
  /** What it came from: `pipeline_failure`, `schema_change`. */
  root_cause_category?: string | null
  root_cause_detail?: string | null
  /** A pull request. */
  pr_url?: string | null
  /** A run of a job. */
  job_run_id?: string | null
  /** A ticket. */
  external_link?: string | null
}

export interface EndIncidentRequest {
  /** Shown in the timeline, and in the history of its alerts. */
  reason?: string | null
  /** Another name for `reason`. */
  notes?: string | null
  /** What was done: `reran_job`, `code_change`. */
  action_category?: string | null
  action_detail?: string | null
  /** What it came from: `pipeline_failure`, `schema_change`. */
  root_cause_category?: string | null
  root_cause_detail?: string | null
  /** A pull request. */
  pr_url?: string | null
  /** A run of a job. */
  job_run_id?: string | null
  /** A ticket. */
  external_link?: string | null
}

export interface EnforcedContractData {
  data: EnforcedContract
}

export interface EnumRuleConfig {
  allowed_values: (string | number | boolean)[]
}

export interface Envelope {
  success: boolean
  /** A sentence for people; mostly empty when it went well. */
  message: string
  /** A code; empty when it went well. */
  error: string
  meta: Record<string, unknown>
}

export interface Evidence {
  /** A kind of alert, `failed_run`, or `downstream`. */
  event_type: string
  confidence: number
  timestamp: string
  /** One sentence. */
  summary: string
  details: Record<string, unknown>
  /** The qualified name. */
  source: string
  source_id: string
}

export interface EvidenceCapsule {
  /** Of `GET /api/v1/sdk/alerts/investigations/{id}`. */
  investigation_id: string
  question: string
  /** One sentence; null if nothing that is known explains it. */
  root_cause_hypothesis: string | null
  confidence: number | null
  suggested_fix: string | null
  /** What may have caused it, the surest first, at most 20. */
  triggers: Evidence[]
  /** What lies downstream, with its alerts, at most 20. */
  consequences: Evidence[]
  /** What is not known. */
  open_questions: string[]
}

export interface EvidenceCapsuleData {
  data: EvidenceCapsule
}

export interface ExchangeTicketRequest {
  ticket: string
}

export interface ExplainRequest {
  /** The id or the qualified name of a table or source. */
  asset_id: string
  /** Repeated in the reply. */
  question?: string | null
  /** What to explain; defaults to all that is known. */
  event_type?: 'anomaly' | 'freshness' | 'schema_change' | 'validity' | null
}

export interface ExternalCheck {
  /** The `rule_id` of its alerts. */
  id: string
  source_id: string
  /** The table; null where the catalog does not have it. */
  asset_id: string | null
  /** The table as dbt names it; null for a test that reads none. */
  table_path: string | null
  column_name: string | null
  project: string
  unique_id: string
  name: string
  /** What it is made from; null for a query of its own. */
  test_type: string | null
  severity: 'error' | 'warn'
  /** `error` means that it could not run; null before the first result. */
  status: 'pass' | 'warn' | 'fail' | 'error' | null
  failures: number | null
  message: string | null
  run_at: string | null
  /** Since when it has this status. */
  since: string | null
}

export interface ExternalCheckFailedDetails {
  tool?: 'dbt'
  project?: string
  /** The name of the test. */
  test?: string
  /** What it is made from: `not_null`. */
  test_type?: string | null
  /** As the tool names it. */
  table_path?: string | null
  column_name?: string | null
  /** `error` means that the test could not run. */
  status?: 'warn' | 'fail' | 'error'
  /** How many rows fail, where the tool counts them. */
  failures?: number | null
  reason?: string | null
  run_at?: string
}

export interface ExternalCheckFailedEvent {
  type: 'external_check_failed'
  change_type: string | null
  details: ExternalCheckFailedDetails
}

export interface ExternalCheckPage {
  data: ExternalCheck[]
  pagination: Pagination
}

export interface ExternalCheckPageData {
  data: ExternalCheckPage
}

export interface FieldChange {
  field: string
  old: unknown
  new: unknown
}

export interface FinishedRun {
  job_id: string
  status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
  /** What the job does, such as `discovery`. */
  workflow_name: string
  asset_id: string
  /** Percent. */
  progress: number
  /** What a completed job found. */
  result: Record<string, unknown> | null
  /** Of a failed job. */
  error: {
    /** Why it failed, for programs. */
    code: string
    message: string
  } | null
  created_at: string
  completed_at: string | null
}

export interface FinishedRunData {
  /** With `Prefer: wait=N`: the job, which ended in time */
  data: FinishedRun
}

export interface Freshness {
  /** The qualified name. */
  asset: string
  status: 'fresh' | 'stale' | 'unknown'
  /** Time of the newest data. */
  last_updated: string | null
  /** Maximum age of the newest data, given or learned, such as 24h; null while unknown. */
  sla_threshold: string | null
  /** Null while unknown. */
  sla_status: 'within_sla' | 'warning' | 'violated' | null
  checked_at: string | null
  timestamp_column: string | null
  /** Age at the time of the check. */
  data_age_minutes: number | null
}

export interface FreshnessCheck {
  checked_at: string
  status: 'fresh' | 'stale' | 'unknown'
  /** Null while unknown. */
  sla_status: 'within_sla' | 'warning' | 'violated' | null
  last_updated: string | null
  /** Age at the time of the check. */
  data_age_minutes: number | null
  /** Whether the data is newer than at the previous check. */
  is_update: boolean
  error_message: string | null
}

export interface FreshnessCheckPage {
  data: FreshnessCheck[]
  pagination: Pagination
  /** When the table operates, for the shading of a chart: by the operating schedule that its active rules name. Null without one, and where they name several. */
  operating_hours: OperatingPeriods | null
}

export interface FreshnessCheckPageData {
  data: FreshnessCheckPage
}

export interface FreshnessDefaults {
  monitoring_mode?: 'auto_learn' | 'explicit'
  sla_threshold?: string
  check_interval?: string
  freshness_columns?: string[]
}

export interface FreshnessEnvelope {
  success: boolean
  /** A sentence for people; mostly empty when it went well. */
  message: string
  /** A code; empty when it went well. */
  error: string
  meta: FreshnessMeta
  data: Freshness
}

export interface FreshnessMeta {
  /** Where the age is read from; null without a signal. */
  signal: 'column' | 'expression' | 'last_modified' | null
  expected_next_update: string | null
  /** Why the last check failed. */
  error_message: string | null
  /** Additional notes. */
  note: string | null
}

export interface FreshnessRecommendations {
  recommendations: {
    table_path: string
    suggested_check_interval: string
    suggested_threshold_hours: number
    detected_frequency: 'hourly' | 'daily' | 'weekly' | 'monthly'
    confidence: number
    reasoning: string
    /** Updates that were seen; of a profile, rows. */
    data_points: number
  }[]
  asset_id: string
  tables_analyzed: number
  tables_with_recommendations: number
}

export interface FreshnessRecommendationsData {
  data: FreshnessRecommendations
}

export interface FreshnessSchedule {
  id: string
  /** The source. */
  asset_id: string
  table_path: string
  /** A duration, such as 1h. */
  check_interval: string
  freshness_column: string | null
  freshness_expression: string | null
  /** Where the age is read from; null without a signal. */
  freshness_signal: 'column' | 'expression' | 'last_modified' | null
  /** The threshold in hours. */
  expected_interval_hours: number | null
  /** Maximum age of the newest data, given or learned, such as 24h; null while unknown. */
  sla_threshold: string | null
  monitoring_mode: 'explicit' | 'auto_learn'
  is_active: boolean
  last_check: string | null
  next_check: string | null
  created_at: string
  updated_at: string
  /** Present when a monitors file or a contract manages the check. */
  managed_by?: ManagedBy
}

export interface FreshnessSchedulePage {
  data: FreshnessSchedule[]
  pagination: Pagination
}

export interface FreshnessSchedulePageData {
  data: FreshnessSchedulePage
}

export interface FreshnessSummary {
  total_tables: number
  fresh: number
  stale: number
  unknown: number
  /** Tables whose last check failed. */
  error: number
  /** Fresh tables older than 80 % of the threshold. */
  warning: number
  violated: number
  /** Tables with a paused schedule or source. */
  paused: number
  last_check_at: string | null
  /** The same as total_tables: the sum of the four counts below. */
  total_assets: number
  fresh_count: number
  stale_count: number
  /** Watched tables without a verdict, failed checks included. */
  unknown_count: number
  /** Paused tables without a valid verdict. */
  disabled_count: number
  /** Per cent of the tables that are fresh, disabled ones aside; 0 if there is none. */
  freshness_rate: number
}

export interface FreshnessSummaryData {
  data: FreshnessSummary
}

export interface FreshnessViolationDetails {
  table_path?: string
  timestamp_column?: string | null
  last_updated?: string | null
  /** Such as 24h. */
  sla_threshold?: string
  data_age_minutes?: number
}

export interface FreshnessViolationEvent {
  type: 'freshness_violation'
  change_type: string | null
  details: FreshnessViolationDetails
}

export interface Health {
  success: boolean
  data: {
    status: 'ok' | 'degraded' | 'draining'
    version: string
    role: 'all' | 'web' | 'worker'
    database: {
      status: 'up' | 'down'
      latency_ms: number | null
      writable: boolean | null
      embedded: boolean
    }
    jobs: {
      status: 'up' | 'late' | 'down'
      lag_seconds: number | null
      late_queues: number | null
      dead: number | null
      workers: 'up' | 'stuck' | 'none'
    }
  }
  message: string
  error: string
  meta: Record<string, unknown>
}

export interface HealthSummary {
  /** The worst severity of what needs attention. */
  overall_status: 'healthy' | 'warning' | 'critical'
  alerts: {
    total_rules: number
    active_rules: number
    /** Opened within the last 24 hours. */
    recent_alerts: number
    /** Triggered, acknowledged or snoozed. */
    unresolved_alerts: number
    open_by_severity: {
      critical: number
      warning: number
      info: number
    }
    /** Triggered or acknowledged. */
    active_alerts: number
    /** Tables with such an alert. */
    affected_tables: number
    /** Destinations that are not switched off. */
    active_destinations: number
  }
  freshness?: {
    total_tables: number
    fresh: number
    stale: number
    unknown: number
    error: number
    warning: number
    violated: number
    paused: number
    last_check_at: string | null
    total_assets: number
    fresh_count: number
    stale_count: number
    unknown_count: number
    disabled_count: number
    freshness_rate: number
  }
  schema_drift: {
    /** Within the last 30 days. */
    total_changes: number
    unacknowledged: number
    /** Open changes of impact high. */
    critical_count: number
    /** Open changes of impact medium. */
    warning_count: number
    /** Open changes of impact low. */
    info_count: number
    last_check: string | null
  }
  checks?: {
    /** Active checks whose last result passed. */
    passing: number
    failing: number
    error: number
  }
  coverage: {
    /** Tables with an active check or freshness schedule; drift alone does not count. */
    watched_tables: number
    /** Tables and views of active sources. */
    total_tables: number
  }
  /** What happened since the `since` of the query; null without one. */
  since: {
    at: string
    alerts_opened: number
    /** Resolved or dismissed. */
    alerts_ended: number
    schema_changes: number
  } | null
  /** At most 50, the critical first: open alerts, stale tables, open changes, failed checks. */
  needs_attention: {
    /** alert, freshness, schema_drift or checks. */
    type: string
    severity: 'critical' | 'warning'
    title: string
    asset_id: string | null
    /** The qualified name. */
    asset_name: string | null
    /** Present for an alert. */
    alert_id?: string
  }[]
  generated_at: string
}

export interface HealthSummaryData {
  data: HealthSummary
}

export interface HitCheck {
  id: string
  kind: 'validity' | 'metric' | 'referential' | 'freshness'
  name: string
  table_path: string
  /** `certain` where a column, or the table as a whole, is known to be used; `possible` where columns are not known. */
  certainty: 'certain' | 'possible'
}

export interface HitClause {
  contract: string
  title: string
}

export interface HitOwner {
  type: 'user' | 'team' | 'email' | 'name'
  id: string | null
  name: string
  email: string | null
  /** How many of these they own. */
  assets: number
}

export interface Impact {
  source: {
    id: string
    name: string
  }
  /** The worst of all changes. */
  level: 'none' | 'low' | 'medium' | 'high' | 'critical'
  changes: ChangeImpact[]
  /** Changes of what is not in the catalog, of which nothing is known. */
  unknown: UnknownChange[]
}

export interface ImpactData {
  data: Impact
}

export interface ImpactRequest {
  /** The source, by its id or name. */
  source: string
  changes: PlannedChange[]
}

export interface ImportDbtProjectRequest {
  /** The source that dbt builds in, by id or name. */
  source: string
  /** The content of `target/manifest.json`, version 4 to 12 or 20 of its schema. */
  manifest: {
    metadata: {
      dbt_schema_version: string
      [field: string]: unknown
    }
    [field: string]: unknown
  }
  /** The content of `target/catalog.json`: how the engine spells names, and the columns of tables. */
  catalog?: Record<string, unknown> | null
  /** The content of `target/run_results.json`: results of tests and models. Those of commands that run nothing, as `args.which` names them, say nothing: compile, parse, generate, list. */
  run_results?: {
    results: unknown[]
    [field: string]: unknown
  } | null
}

export interface InboxAlertList {
  alerts: InboxAlert[]
  pagination: Pagination
}

export interface InboxAlertListData {
  data: InboxAlertList
}

export interface Incident {
  id: string
  status: 'open' | 'acknowledged' | 'snoozed' | 'resolved' | 'dismissed'
  /** The worst of its alerts. */
  severity: Severity
  /** What is named as the cause. */
  event_type:
    | 'destination_disabled'
    | 'schema_change'
    | 'discovery_complete'
    | 'connection_failed'
    | 'validity_failure'
    | 'metric_anomaly'
    | 'referential_failure'
    | 'freshness_violation'
    | 'external_check_failed'
    | 'contract_violation'
    | 'failed_run'
  /** The cause, in one sentence. */
  title: string
  /** What belongs to it, in one sentence. */
  description: string
  root_cause: IncidentCause
  alert_count: number
  /** Alerts that are neither resolved nor dismissed. */
  open_alert_count: number
  /** Tables and sources with an alert. */
  asset_count: number
  /** How often its alerts were seen. */
  trigger_count: number
  assignee: IncidentAssignee | null
  post_mortem: string | null
  /** The incident that has its alerts, as it turned out to be a part of it. */
  merged_into: string | null
  /** When the problem began, where its evidence shows that; null elsewhere. */
  started_at: string | null
  /** When it was opened. */
  first_detected_at: string
  /** The same as `first_detected_at`. */
  created_at: string
  /** When one of its alerts was last seen. */
  last_triggered_at: string
  acknowledged_at: string | null
  snoozed_until: string | null
  /** When it was resolved or dismissed. */
  resolved_at: string | null
  /** From `started_at` until it was opened. */
  minutes_to_detect: number | null
  minutes_to_acknowledge: number | null
  minutes_to_resolve: number | null
  /** The cause, for programs. */
  context_data: Record<string, unknown>
  /** A page for people. */
  url: string
}

export interface IncidentActivity {
  id: string
  activity_type:
    | 'opened'
    | 'alerts_joined'
    | 'cause_changed'
    | 'severity_raised'
    | 'merged'
    | 'acknowledged'
    | 'snoozed'
    | 'reopened'
    | 'resolved'
    | 'dismissed'
    | 'comment'
    | 'assigned'
    | 'post_mortem_changed'
  actor_type: 'system' | 'user' | 'key'
  /** Null for the program. */
  actor_name: string | null
  /** `system`, `user:<id>` or `key:<id>`. */
  actor: string
  /** What belongs to its type: the text of a comment, the alerts that joined. */
  metadata: Record<string, unknown>
  created_at: string
}

export interface IncidentActivityData {
  data: IncidentActivity
}

export interface IncidentAlert {
  id: string
  title: string
  event_type: string
  severity: Severity
  status: string
  asset_id: string
  qualified_name: string
  /** Whether it is named as the cause. */
  is_cause: boolean
  created_at: string
  last_seen_at: string
  resolved_at: string | null
}

export interface IncidentAssignee {
  id: string
  email: string
  full_name: string | null
}

export interface IncidentDetailsData {
  data: IncidentDetails
}

export interface IncidentEvidence {
  /** What it shows. */
  symptom: 'connection' | 'drift' | 'failed_run' | 'stale' | 'volume' | 'quality'
  /** The kind of alert, or `failed_run`. */
  event_type: string
  confidence: number
  at: string
  /** One sentence. */
  summary: string
  asset_id: string
  qualified_name: string
  /** Null of a finding that no alert speaks of. */
  alert_id: string | null
}

export interface IncidentList {
  incidents: Incident[]
  pagination: Pagination
}

export interface IncidentListData {
  data: IncidentList
}

export interface IncidentMinutes {
  median: number | null
  mean: number | null
  count: number
}

export interface IncidentSummary {
  since: string
  until: string
  /** Since then, without those that were merged. */
  opened: number
  ended: number
  /** Open, acknowledged and snoozed now. */
  active: number
  /** Those that are active now, or ended since then. */
  by_status: {
    open: number
    acknowledged: number
    snoozed: number
    resolved: number
    dismissed: number
  }
  /** Those that were opened since then. */
  by_severity: {
    info: number
    warning: number
    critical: number
  }
  /** Those that were opened since then. */
  by_cause: {
    connection: number
    drift: number
    failed_run: number
    stale: number
    volume: number
    quality: number
  }
  /** Alerts in those that were opened since then. */
  alerts: number
  minutes_to_detect: IncidentMinutes
  minutes_to_acknowledge: IncidentMinutes
  minutes_to_resolve: IncidentMinutes
}

export interface IncidentSummaryData {
  data: IncidentSummary
}

export interface Investigation {
  id: string
  /** One sentence; null if nothing that is known explains it. */
  root_cause_hypothesis: string | null
  confidence: number | null
  suggested_fix: string | null
  correlated_events: Evidence[]
  affected_downstream: Evidence[]
}

export interface InvestigationData {
  data: Investigation
}

export interface Invitation {
  id: string
  email: string
  role: 'viewer' | 'member' | 'admin' | 'owner'
  status: 'open' | 'accepted' | 'revoked' | 'expired'
  /** `user:<id>`. */
  invited_by: string
  created_at: string
  expires_at: string
  accepted_at: string | null
  revoked_at: string | null
}

export interface InvitationPage {
  data: Invitation[]
  pagination: Pagination
}

export interface InviteRequest {
  email: string
  role: 'admin' | 'member' | 'viewer'
}

export interface InviteResponse {
  id: string
  email: string
  role: 'viewer' | 'member' | 'admin' | 'owner'
  /** The `invitation_token` to register with; shown once. */
  token: string
  /** A page for the invited person; holds the token. */
  url: string
  expires_at: string
}

export interface Job {
  job_id: string
  status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
  /** What the job does, such as `discovery`. */
  workflow_name: string
  asset_id: string
  /** Percent. */
  progress: number
  /** What a completed job found. */
  result:
    | null
    | DiscoveryOutcome
    | RefreshOutcome
    | CheckOutcome
    | ProfileOutcome
    | WatchOutcome
    | ContractTestOutcome
  /** Of a failed job. */
  error: {
    /** credentials, network, timeout, tls, permission, missing_object, driver_missing, egress_refused or other. */
    code: string
    message: string
  } | null
  created_at: string
  completed_at: string | null
}

export interface JobData {
  data: Job
}

export interface JobQueue {
  queue: string
  /** Jobs that may start now. */
  waiting: number
  /** Jobs that start later, such as further tries. */
  later: number
  running: number
  /** Jobs that failed for good. */
  dead: number
  /** When the job that waits longest could have started. */
  oldest_waiting_at: string | null
  /** Seconds since then. */
  lag_seconds: number
}

export interface LastDelivery {
  id: string
  event_type: 'alert.triggered' | 'alert.resolved' | 'alert.test'
  status: 'pending' | 'delivered' | 'failed' | 'stopped'
  created_at: string
  completed_at: string | null
}

export interface LastScan {
  at: string
  /** Checks that it ran. */
  checks: number
  /** Statements sent to the source, those of settings included. */
  statements: number
  /** Rows received. */
  rows: number
  /** Bytes received; 0 where the engine does not report them. */
  bytes: number
  /** From when each statement was sent until it had ended, added up. */
  duration_ms: number
}

export interface LeftMonitor {
  /** The kind of check. */
  kind: 'validity' | 'metric' | 'referential' | 'freshness'
  /** Its key in the file. */
  key: string
  file: string
  table_path: string
  /** As the endpoints of its kind take it. */
  check_id: string
}

export interface LineageBatchOutcome {
  status: 'success' | 'partial_success'
  summary: {
    received: number
    successful: number
    failed: number
    retriable: number
    non_retriable: number
    /** Datasets and other names that were cut: those after the first 1000 of a list. */
    omitted_datasets: number
    /** Edges that were cut: a run stores 20,000 pairs of an input and an output. */
    omitted_edges: number
  }
  failed_events: {
    index: number
    reason: string
    /** Whether the same event may succeed later. */
    retriable: boolean
  }[]
}

export interface LineageColumns {
  upstream_column: string
  /** `*` where the upstream column decides which rows there are. */
  downstream_column: string
  /** indirect: the column filters, joins, groups or sorts, and gives no values. */
  kind: 'direct' | 'indirect'
}

export interface LineageEdge {
  /** The table that is read. */
  upstream_id: string
  /** The table that is made from it. */
  downstream_id: string
  /** The qualified name of the table that is read. */
  source: string
  /** The qualified name of the table that is made from it. */
  target: string
  /** The strongest of its origins. */
  edge_type: 'view' | 'dbt' | 'openlineage' | 'manual' | 'demo' | 'foreign_key'
  /** Below 1 where names in a definition were guessed. */
  confidence: number
  /** All that report it, the strongest first. */
  origins: LineageOrigin[]
  /** When one of them last reported it, to the hour. */
  last_seen_at: string
  /** Whether no run of a pipeline has reported it for 30 days; it goes after 90. */
  is_stale: boolean
  /** Null where they are not known; there on request. */
  columns?: LineageColumns[] | null
}

export interface LineageEventOutcome {
  /** Datasets of the event that are tables of a source. */
  tables: number
  /** Datasets that no source has. */
  outside: number
  /** Edges that it reports, with what earlier events of its run named. */
  edges: number
  /** Datasets and other names that were cut: those after the first 1000 of a list. */
  omitted_datasets: number
  /** Edges that were cut: a run stores 20,000 pairs of an input and an output. */
  omitted_edges: number
}

export interface LineageEventOutcomeData {
  data: LineageEventOutcome
}

export interface LineageGraph {
  asset_id: string
  /** The table or source that was asked for. */
  root: {
    id: string
    qualified_name: string
    name: string
    /** table, view, …; of the root also source; outside the catalog dataset, dashboard, notebook, ml, analysis, application. */
    asset_type: string
    /** The engine of its source. */
    source_type: string | null
  }
  /** What the table is made from; empty of a source, which knows no direction. */
  upstream: LineageNode[]
  /** What is made from it. */
  downstream: LineageNode[]
  nodes: LineageGraphNode[]
  edges: LineageEdge[]
  /** False where there are more edges than are shown, 2,000. */
  is_complete: boolean
}

export interface LineageGraphData {
  data: LineageGraph
}

export interface LineageNamespaces {
  rules: NamespaceRule[]
  /** Namespaces with datasets that no source has, at most 500. */
  reported: ReportedNamespace[]
}

export interface LineageNamespacesData {
  data: LineageNamespaces
}

export interface LineageNode {
  id: string
  qualified_name: string
  name: string
  /** table, view, …; of the root also source; outside the catalog dataset, dashboard, notebook, ml, analysis, application. */
  asset_type: string
  /** The engine of its source. */
  source_type: string | null
}

export interface LineageNodeHealth {
  quality_status: 'passing' | 'failing' | 'error' | 'none'
  freshness_status: 'fresh' | 'stale' | 'error' | 'unknown'
  schema_change_status: 'none' | 'low' | 'medium' | 'high'
  open_alerts: number
}

export interface LineageNodePage {
  data: LineageNode[]
  pagination: Pagination
}

export interface LineageNodePageData {
  data: LineageNodePage
}

export interface LineageOrigin {
  origin: 'view' | 'dbt' | 'openlineage' | 'manual' | 'demo' | 'foreign_key'
  /** The view, the constraint, the dbt model, the job. */
  detail: string
  confidence: number
  last_seen_at: string
}

export interface LineageRun {
  id: string
  /** The table that it writes. */
  asset_id: string
  job_namespace: string
  job_name: string
  run_id: string
  state: 'running' | 'completed' | 'failed' | 'aborted'
  started_at: string | null
  ended_at: string | null
  /** For when it was scheduled. */
  nominal_start_at: string | null
  error_message: string | null
  last_event_at: string
}

export interface LineageRuns {
  runs: LineageRun[]
}

export interface LineageRunsData {
  data: LineageRuns
}

export interface LinkProviderRequest {
  /** The password of your user; required while it has one. */
  old_password?: string
  /** Where the browser is sent afterwards; an address of the origin of BASE_URL. */
  redirect_uri?: string
}

export interface LinkProviderResponse {
  /** The address at the provider to send the browser to. */
  authorization_url: string
  /** Seconds until the attempt expires. */
  expires_in: number
}

export interface ListedCheck {
  /** validity, metric or referential. */
  kind: string
  /** The id that the endpoints of the kind take. */
  id: string
  /** The table. */
  asset_id: string
  qualified_name: string
  /** `catalog.schema.table`. */
  table_path: string
  /** As alerts call it. */
  name: string
  column_name: string | null
  /** The type of the rule or metric, or referential. */
  type: string
  /** Null of a metric: its severity follows from each value. */
  severity: 'info' | 'warning' | 'critical' | null
  is_active: boolean
  interval: 'hourly' | 'daily' | 'weekly'
  /** How it did last: warning is close to the edge of its range, learning passes since it knows too little to judge, pending has not run. */
  status: 'passing' | 'warning' | 'failing' | 'error' | 'learning' | 'pending'
  last_checked_at: string | null
  /** The alert of it that is open. */
  open_alert_id: string | null
  /** Present when a monitors file or a contract manages the check. */
  managed_by?: ManagedBy
  /** The last results, the oldest first. The value is the percentage of invalid rows, the value of the metric with its expected range, or the number of orphans. Empty for a metric by groups. */
  points: {
    at: string
    /** Null when it could not be measured. */
    value: number | null
    status: 'passing' | 'warning' | 'failing' | 'error' | 'learning' | 'pending'
    low: number | null
    high: number | null
  }[]
}

export interface ListedCheckItems {
  data: {
    items: ListedCheck[]
  }
  pagination: Pagination
}

export interface LoginRequest {
  email: string
  password: string
}

export interface MagicLoginRequest {
  /** The token of the link. */
  token: string
}

export interface MagicLoginResponse {
  /** Can be exchanged once, at POST /api/v1/auth/tickets. */
  ticket: string
  /** Seconds until the ticket expires. */
  expires_in: number
  /** The page to open next; holds the ticket in the query. */
  redirect_url: string
}

export interface ManagedBy {
  /** The file, as it was applied, or `the contract NAME`. */
  file: string
  /** Its key in the file, or the clause of the contract. */
  key: string
}

export interface ManualLineageEdge {
  /** The table that is read. */
  upstream_id: string
  /** The table that is made from it. */
  downstream_id: string
  /** The qualified name of the table that is read. */
  source: string
  /** The qualified name of the table that is made from it. */
  target: string
  /** The strongest of its origins. */
  edge_type: 'view' | 'dbt' | 'openlineage' | 'manual' | 'demo' | 'foreign_key'
  /** Below 1 where names in a definition were guessed. */
  confidence: number
  /** All that report it, the strongest first. */
  origins: LineageOrigin[]
  /** When one of them last reported it, to the hour. */
  last_seen_at: string
  /** Whether no run of a pipeline has reported it for 30 days; it goes after 90. */
  is_stale: boolean
  columns: LineageColumns[] | null
}

export interface ManualLineageEdgeData {
  data: ManualLineageEdge
}

export interface ManualLineageEdgePage {
  data: ManualLineageEdge[]
  pagination: Pagination
}

export interface ManualLineageEdgePageData {
  data: ManualLineageEdgePage
}

export interface Metric {
  /** The `metric_id` of paths. */
  id: string
  internal_id: number
  /** The number of its source. */
  asset_id: number
  /** The id of its source, as paths take it. */
  asset_public_id: string
  /** `catalog.schema.table`. */
  table_path: string
  column_name: string | null
  /** row_count, null_percent, distinct_count, …, or one of an extension. */
  metric_type: string
  /** Of percentile. */
  percentile_value?: number
  group_by_columns: string[]
  capture_interval: 'hourly' | 'daily' | 'weekly'
  /** The |z_score| beyond which a value is an anomaly. */
  sensitivity: number
  is_active: boolean
  /** How it did last; null before its first capture. */
  last_status: 'PASS' | 'WARNING' | 'FAIL' | 'ERROR' | null
  created_at: string
  /** Present when a monitors file or a contract manages the check. */
  managed_by?: ManagedBy
  /** Present when a monitors file will undo this. */
  warnings?: string[]
}

export interface MetricAnomalyDetails {
  metric_id?: string
  metric_type?: string
  table_path?: string
  column_name?: string | null
  value?: number | null
  expected_value?: number | null
  range?: {
    low?: number | null
    high?: number | null
  }
  z_score?: number | null
  explanation?: string
  /** The worst group, of a metric by groups. */
  group_values?: Record<string, unknown>
  anomalous_groups?: number
  history?: {
    captured_at?: string
    value?: number | null
  }[]
}

export interface MetricAnomalyEvent {
  type: 'metric_anomaly'
  change_type: string | null
  details: MetricAnomalyDetails
}

export interface MetricCapture {
  /** One, or one a group. */
  snapshot_count: number
  snapshots: MetricSnapshot[]
}

export interface MetricCaptureData {
  data: MetricCapture
}

export interface MetricData {
  data: Metric
}

export interface MetricDetail {
  /** The `metric_id` of paths. */
  id: string
  internal_id: number
  /** The number of its source. */
  asset_id: number
  /** The id of its source, as paths take it. */
  asset_public_id: string
  /** `catalog.schema.table`. */
  table_path: string
  column_name: string | null
  /** row_count, null_percent, distinct_count, …, or one of an extension. */
  metric_type: string
  /** Of percentile. */
  percentile_value?: number
  group_by_columns: string[]
  capture_interval: 'hourly' | 'daily' | 'weekly'
  /** The |z_score| beyond which a value is an anomaly. */
  sensitivity: number
  is_active: boolean
  /** How it did last; null before its first capture. */
  last_status: 'PASS' | 'WARNING' | 'FAIL' | 'ERROR' | null
  created_at: string
  /** The last ones, newest first; left out with include_snapshots=false. */
  snapshots?: MetricSnapshot[]
  /** Present when a monitors file or a contract manages the check. */
  managed_by?: ManagedBy
}

export interface MetricDetailData {
  data: MetricDetail
}

export interface MetricDryRun {
  /** What the source is sent. */
  sql: {
    text: string
    values: unknown[]
  }[]
  status: 'PASS' | 'FAIL' | 'ERROR'
  /** Null where there is none, such as the mean of no rows. */
  value: number | null
  is_anomaly: boolean
  /** Standard deviations from what was expected; 0 while there is no expectation. */
  z_score: number
  expected_value: number | null
  expected_range_low: number | null
  expected_range_high: number | null
  /** Too little is known yet to alert. */
  learning: boolean
  /** Where it has groups. */
  groups?: {
    /** The values of group_by_columns, by column. */
    group_values: Record<string, unknown>
    /** Null where there is none, such as the mean of no rows. */
    value: number | null
    is_anomaly: boolean
    /** Standard deviations from what was expected; 0 while there is no expectation. */
    z_score: number
    expected_value: number | null
    expected_range_low: number | null
    expected_range_high: number | null
    /** Too little is known yet to alert. */
    learning: boolean
    total_rows: number | null
  }[]
  /** At sensitivities 1 to 4 and the chosen one; empty where nothing is expected. */
  bands: {
    sensitivity: number
    low: number
    high: number
  }[]
  total_rows: number | null
  error_message: string | null
  history: {
    lookback_days: number
    /** Snapshots of such a metric, or the timestamps of the table; null without either. */
    source: 'snapshots' | 'timestamps' | null
    timestamp_column: string | null
    /** Groups that have snapshots. */
    groups?: number
    groups_replayed?: number
    points: number
    anomalies: number
    /** Anomalies in a row are one. */
    alerts: number
    by_sensitivity: {
      sensitivity: number
      anomalies: number
      alerts: number
    }[]
    /** The last 750 points, the oldest first, for a chart; empty for a metric by groups. */
    series: {
      at: string
      value: number | null
      expected_value: number | null
      /** Beyond a sensitivity it is an anomaly. Null where nothing is learned. */
      z_score: number | null
      /** Too little was known to alert. */
      learning: boolean
      /** At sensitivities 1 to 4 and the chosen one; empty where nothing is expected. */
      bands: {
        sensitivity: number
        low: number
        high: number
      }[]
    }[]
    message: string
  }
  /** The metric whose snapshots were replayed; `new` where there is none. */
  metric_id: string
  metric_type: string
  threshold_type: 'z_score'
  /** The sensitivity. */
  threshold_value: number
  lookback_days: number
  /** Equal to history.points. */
  total_snapshots: number
  /** Values beyond the sensitivity, once enough is known; in a row they are one alert. */
  would_alert_count: number
  /** Of total_snapshots. */
  alert_rate_percent: number
  /** Of the values of the past; null without any. */
  avg_value: number | null
  min_value: number | null
  max_value: number | null
  /** The last 10 values that would have alerted, newest first. */
  sample_alerts: {
    captured_at: string
    value: number
    threshold_type: 'z_score'
    threshold_value: number
    would_alert: true
  }[]
  recommendation: string
}

export interface MetricDryRunData {
  data: MetricDryRun
}

export interface MetricItems {
  data: {
    items: Metric[]
  }
  pagination: Pagination
}

export interface MetricRecommendations {
  recommendations: {
    table_path: string
    column_name: string
    suggested_metric_type: string
    suggested_check_type: 'anomaly'
    reasoning: string
    confidence: number
  }[]
  asset_id: string
  columns_analyzed: number
  columns_with_recommendations: number
}

export interface MetricRecommendationsData {
  data: MetricRecommendations
}

export interface MetricSnapshot {
  id: number
  /** The `internal_id` of its metric. */
  metric_definition_id: number
  /** The values of group_by_columns, by column. */
  group_values?: Record<string, unknown>
  /** Null where there is none, such as the mean of no rows. */
  value: number | null
  is_anomaly: boolean
  /** Standard deviations from what was expected; 0 while there is no expectation. */
  z_score: number
  expected_value: number | null
  expected_range_low: number | null
  expected_range_high: number | null
  /** Too little is known yet to alert. */
  learning: boolean
  /** The value and what it was compared with, in a sentence; null without a value. */
  explanation: string | null
  captured_at: string
  status: 'PASS' | 'FAIL' | 'ERROR'
  /** Computed of the past when the metric was made. */
  is_backfilled: boolean
  /** A user dismissed it as expected. */
  is_confirmed: boolean
  /** Why no value could be taken. */
  error_message: string | null
}

export interface MetricSnapshotItems {
  data: {
    items: MetricSnapshot[]
    /** When the table operates, for the shading of a chart: by the operating schedule that its active rules name. Null without one, and where they name several. */
    operating_hours: OperatingPeriods | null
  }
  pagination: Pagination
}

export interface MetricSummary {
  total_metrics: number
  active_metrics: number
  /** Snapshots of them. */
  total_checks: number
  /** Active metrics that passed last. */
  passing: number
  failing: number
  /** Active metrics between 80 % and 100 % of their band. */
  warning: number
  /** Active metrics of which no value could be taken. */
  error: number
  health_percentage: number
}

export interface MetricSummaryData {
  data: MetricSummary
}

export interface MonitorChange {
  /** replace removes the check with its history and creates another, where something else is measured; adopt records the key of an equal check that no file managed. */
  action: 'create' | 'change' | 'replace' | 'adopt' | 'delete'
  /** The kind of check. */
  kind: 'validity' | 'metric' | 'referential' | 'freshness'
  /** Its key in the file. */
  key: string
  table_path: string
  /** As the endpoints of its kind take it. */
  check_id: string | null
  file: string
  /** Of the check in its file; null of a document. */
  line: number | null
  /** What differs; of a new check, what the file gives. */
  fields: FieldChange[]
}

export interface MonitorDrift {
  /** The kind of check. */
  kind: 'validity' | 'metric' | 'referential' | 'freshness'
  /** Its key in the file. */
  key: string
  file: string
  /** As the endpoints of its kind take it. */
  check_id: string
  /** The check was removed by hand. */
  is_removed: boolean
  /** As the file was applied (old), and as they are now (new). */
  fields: FieldChange[]
}

export interface MonitoredTablePage {
  data: MonitoredTable[]
  pagination: Pagination
}

export interface MonitoredTablePageData {
  data: MonitoredTablePage
}

export interface MonitorsDocument {
  version: 1
  source: string
  tables: Record<string, unknown>
}

export interface MonitorsDocumentData {
  /** The checks of the source, by the paths of their tables. */
  data: MonitorsDocument
}

export interface MonitorsPlan {
  asset_id: string
  source: string
  create: number
  change: number
  replace: number
  /** Only with prune. */
  delete: number
  adopt: number
  unchanged: number
  changes: MonitorChange[]
  /** What was changed on the server since the files were applied last. */
  drift: MonitorDrift[]
  /** Managed checks that no file has; prune removes them. */
  left: LeftMonitor[]
}

export interface MonitorsPlanData {
  data: MonitorsPlan
}

export interface MysqlConnection {
  /** Host name or address of the server. */
  host: string
  /** Defaults to 3306. */
  port?: number
  /** Name of the database; others are left out. */
  database: string
  /** An account with only SELECT and SHOW VIEW; `user` is taken as well. */
  username: string
  /** Its password. */
  password?: string
  /** As the command line's --ssl-mode (verify-full is its VERIFY_IDENTITY); defaults to prefer. */
  ssl?: 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'
  /** Certificates of the authority, in PEM form; by default those that Node trusts. */
  ssl_ca?: string
  /** The zone of timestamps that name none; without one, that of the setting TIMEZONE. */
  timezone?: string
}

export interface NamespaceRule {
  id: string
  namespace: string
  source_id: string
  name_prefix: string | null
  created_at: string
}

export interface NewApiKeyData {
  data: NewApiKey
}

export interface NewDestinationData {
  data: NewDestination
}

export interface NtfyConfig {
  /** The server. */
  url?: string
  /** The topic to publish to. */
  topic: string
  /** An access token of a user who may write to the topic. */
  token?: string
}

export interface OnboardingChapter {
  completed: boolean
  completed_at: string | null
  /** The step to continue with. */
  current_step: number
}

export interface OnboardingProgress {
  chapters: {
    connect: OnboardingChapter
    discover: OnboardingChapter
    freshness: OnboardingChapter
    schema: OnboardingChapter
  }
  /** Completed chapters, in percent. */
  overall_percent: number
  /** Whether every chapter is completed. */
  completed: boolean
}

export interface OperatingHours {
  /** The days on which it starts, 1 is Monday. */
  days: number[]
  start: string
  /** At or before the start, it is on the next day. */
  end: string
}

export interface OperatingPeriods {
  /** An IANA time zone, such as Europe/Berlin. */
  timezone: string
  rules: OperatingHours[]
}

export interface OperatingSchedule {
  id: string
  name: string
  /** An IANA time zone, such as Europe/Berlin. */
  timezone: string
  rules: OperatingHours[]
  created_at: string
  updated_at: string
}

export interface OperatingSchedulePage {
  data: OperatingSchedule[]
  pagination: Pagination
}

export interface OperatingScheduleUses {
  uses: {
    /** rules, or a kind that an extension adds. */
    kind: string
    count: number
    /** The first 100 by the names of their tables. */
    items: {
      id: string
      name: string
      asset: string
    }[]
  }[]
}

export interface OperatingScheduleUsesData {
  data: OperatingScheduleUses
}

export interface Operations {
  status: 'ok' | 'degraded' | 'draining'
  /** late: jobs have waited for five minutes, and no worker takes them up. */
  jobs: 'up' | 'late' | 'down'
  /** Those of the process that answers: none when it only serves requests. */
  workers: 'up' | 'stuck' | 'none'
  versions: Versions
  /** Since the process that answers has started. */
  uptime_seconds: number
  /** The job dashboard of the installation, where its operators have published one. */
  dashboard_url: string | null
  /** The company's jobs by queue, in the order of names. */
  queues: JobQueue[]
}

export interface OperationsData {
  data: Operations
}

export interface OwnedAsset {
  id: string
  qualified_name: string
  asset_type: string
  origin: 'manual' | 'dbt' | 'openlineage' | 'comment'
  /** What the owner is set for; null for the asset itself. */
  inherited_from: {
    type: 'tag' | 'schema' | 'source'
    name: string
  } | null
}

export interface OwnedAssetList {
  assets: OwnedAsset[]
  pagination: Pagination
}

export interface OwnedAssetListData {
  data: OwnedAssetList
}

export interface OwnerInForce {
  /** `name` is one that dbt or a comment gives, of which there is no team. */
  type: 'user' | 'team' | 'email' | 'name'
  id: string | null
  name: string
  email: string | null
  origin: 'manual' | 'dbt' | 'openlineage' | 'comment'
  /** What the owner is set for; null for the asset itself. */
  inherited_from: {
    type: 'tag' | 'schema' | 'source'
    name: string
  } | null
}

export interface Ownership {
  id: string
  subject: {
    type: 'source' | 'schema' | 'table' | 'tag'
    /** The table, or the source; null for a tag. */
    asset_id: string | null
    name: string
  }
  owner: {
    /** `name` is one that dbt or a comment gives, of which there is no team. */
    type: 'user' | 'team' | 'email' | 'name'
    id: string | null
    name: string
    email: string | null
  }
  origin: 'manual' | 'dbt' | 'openlineage' | 'comment'
  /** The dbt project, or the source of the comment. */
  reported_by: string | null
  created_at: string
}

export interface OwnershipList {
  ownerships: Ownership[]
  pagination: Pagination
}

export interface OwnershipListData {
  data: OwnershipList
}

export interface PagerdutyConfig {
  /** Another address for EU accounts, or for a service with the same API. */
  url?: string
  routing_key: string
  /** Not stored: events need the routing key only. */
  api_token?: string
}

export interface Pagination {
  /** All that match, on this page and others. */
  total: number
  limit: number
  offset: number
  /** Whether there is a page after this one: ask with offset + limit. */
  has_more: boolean
}

export interface PlacedSchemaChange {
  id: string
  change_type:
    | 'column_added'
    | 'column_removed'
    | 'column_type_changed'
    | 'column_renamed'
    | 'table_added'
    | 'table_removed'
    | 'constraint_changed'
  /** The column, or the table. */
  object_name: string
  object_type: 'table' | 'column'
  /** `catalog.schema.table`. */
  table_path: string
  /** By the change type. Of `table_removed`, low where the table became a partition of a watched one, else high. */
  impact: 'low' | 'medium' | 'high'
  detected_at: string
  /** The job that found it. */
  discovery_id: string
  acknowledged: boolean
  /** What was, in one line: of a column its type, of a renamed one its name; null of an addition. */
  old_value: string | null
  /** What is, in one line; null of a removal, unless the table became a partition. */
  new_value: string | null
  /** What was; null of an addition. */
  old_definition: ChangedValue
  /** What is; null of a removal, unless the table became a partition. */
  new_definition: ChangedValue
  /** The table. */
  asset_id: string
  qualified_name: string
  /** By its impact: high, medium, low. */
  severity: 'critical' | 'warning' | 'info'
  /** Null of a change of the table. */
  column_name: string | null
  acknowledged_at: string | null
  /** `user:<id>` or `key:<id>`; `reverted` when it was taken back, `excluded` when its table left the patterns. */
  acknowledged_by: string | null
}

export interface PlacedSchemaChangeData {
  data: PlacedSchemaChange
}

export interface PlacedSchemaChangePage {
  data: PlacedSchemaChange[]
  pagination: Pagination
}

export interface PlacedSchemaChangePageData {
  data: PlacedSchemaChangePage
}

export interface PlannedChange {
  change:
    | 'drop_table'
    | 'rename_table'
    | 'truncate_table'
    | 'drop_column'
    | 'rename_column'
    | 'retype_column'
    | 'add_not_null'
    | 'drop_not_null'
    | 'drop_schema'
  /** `catalog.schema.table`, or less where that is clear. */
  table?: string
  /** Of `drop_schema`: `catalog.schema`, or `schema`. */
  schema?: string
  column?: string
  /** Of `retype_column`; without it, any type. */
  new_type?: string
  /** What it is called then. */
  new_name?: string
}

export interface PlannedContract {
  valid: boolean
  errors: ContractError[]
  diffs: {
    schema?: ContractChanges
    validity?: ContractChanges
    freshness?: ContractChanges
  }
  summary: {
    schema?: ChangeCounts
    validity?: ChangeCounts
    freshness?: ChangeCounts
  }
}

export interface PlannedContractData {
  data: PlannedContract
}

export interface PostgresqlConnection {
  /** Host name or address of the server. */
  host: string
  /** Defaults to 5432. */
  port?: number
  /** Name of the database. */
  database: string
  /** A role with only SELECT; `user` is taken as well. */
  username: string
  /** Its password. */
  password?: string
  /** As libpq's; defaults to prefer. */
  sslmode?: 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'
  /** Certificates of the authority, in PEM form; by default those that Node trusts. */
  ssl_ca?: string
  /** The zone of timestamps that name none; without one, that of the setting TIMEZONE. */
  timezone?: string
}

export interface PreviewAlertRuleRequest {
  event_types?:
    | (
        | 'destination_disabled'
        | 'schema_change'
        | 'schema_drift'
        | 'discovery_complete'
        | 'connection_failed'
        | 'validity_failure'
        | 'metric_anomaly'
        | 'referential_failure'
        | 'freshness_violation'
        | 'freshness_stale'
        | 'freshness_alert'
        | 'external_check_failed'
        | 'contract_violation'
      )[]
    | null
  severities?: ('info' | 'warning' | 'critical')[] | null
  asset_ids?: string[] | null
  tag_filter_mode?: 'any' | 'all' | null
  tag_filter_tags?: string[] | null
  /** Users, teams and addresses, of which any owns the asset: their ids, or the name of a team. */
  owners?: string[] | null
  destination_ids?: string[]
  cooldown_minutes?: number
  /** A stored rule to start from. */
  rule_id?: string
  /** How far to look back; defaults to 7. */
  days_back?: number
  /** Another name for `days_back`. */
  lookback_days?: number
  /** How many alerts to show. */
  limit?: number
  offset?: number
}

export interface PreviewedDestination {
  id: string
  name: string
  destination_type: string
  is_active: boolean
  /** How many it would have received; 0 for an inactive one. */
  messages: number
}

export interface ProfileChange {
  column: string
  /** As columns name it, such as `distinct` or `quantiles.p50`. */
  field: string
  before: null | number | string | boolean | string[]
  after: null | number | string | boolean | string[]
}

export interface ProfileComparison {
  /** The earlier profile. */
  profile: ComparedProfile
  added_columns: string[]
  removed_columns: string[]
  changes: ProfileChange[]
}

export interface ProfileOutcome {
  /** The qualified name. */
  asset: string
  tables: number
  profiled: number
  /** Tables that could not be profiled. */
  failed: number
  /** Statements that the source was sent. */
  statements: number
  /** Those that failed first, at most 1,000. */
  findings: {
    /** The table. */
    asset_id: string
    /** The qualified name of the table. */
    asset: string
    status: 'profiled' | 'error'
    profile_id: string | null
    row_count: number | null
    message: string
  }[]
}

export interface ProfileSummary {
  id: string
  /** The table. */
  asset_id: string
  profiled_at: string
  /** All rows of the table. */
  row_count: number
  /** Whether they were counted; otherwise the engine estimates them. */
  is_row_count_exact: boolean
  /** Rows that were read; all numbers are of these. */
  profiled_rows: number
  /** Whether a sample was read, of a table above the row limit. */
  is_sampled: boolean
  /** Statements sent to the source. */
  statements: number
  duration_ms: number
}

export interface ProfileSummaryPage {
  data: ProfileSummary[]
  pagination: Pagination
}

export interface ProviderLink {
  /** Null for an issuer that is no longer in the settings. */
  provider: string | null
  linked_at: string
  /** When it was last used to sign in. */
  last_used_at: string | null
}

export interface ProviderLinks {
  has_password: boolean
  links: ProviderLink[]
  /** The configured providers, which can be linked. */
  providers: string[]
}

export interface QueuedDeliveryData {
  data: QueuedDelivery
}

export interface RangeRuleConfig {
  min?: string | number
  max?: string | number
}

export interface Recommendation {
  id: string
  /** The table. */
  asset_id: string
  table_path: string
  kind: 'validity' | 'metric' | 'referential' | 'freshness'
  type:
    | 'row_count'
    | 'freshness'
    | 'NOT_NULL'
    | 'UNIQUE'
    | 'ENUM'
    | 'RANGE'
    | 'REGEX'
    | 'DATE_FORMAT'
    | 'referential'
    | 'null_percent'
    | 'distinct_count'
    | 'mean'
  column_name: string | null
  /** What the check is created with beside its defaults. */
  config: Record<string, unknown>
  /** Of a referential check: the column that holds the values. */
  parent: {
    table_path: string
    column_name: string
  } | null
  confidence: number
  /** One sentence. */
  reason: string
  basis: ('constraints' | 'profiles' | 'names' | 'tags' | 'history' | 'usage')[]
  evidence: Record<string, unknown>
  cost: {
    /** Statements that it adds at the source: 0 where the table is scanned daily anyhow. */
    statements_per_day: number
    /** Rows that are read besides; null where the size is not known. */
    rows_per_day: number | null
    /** Whether it shares its statement with other checks. */
    is_shared: boolean
  }
  /** removed: it was applied, and its check is gone. noisy: it would have alerted in the past. */
  status: 'offered' | 'applied' | 'dismissed' | 'removed' | 'noisy'
  dismiss_reason: string | null
  /** user:<id>, key:<id> or policy. */
  decided_by: string | null
  decided_at: string | null
  /** How it is known that it would not have alerted; null where it is not. */
  quiet_by: 'profile' | 'past' | null
  /** As it was last computed; null until it is asked for. */
  past: RecommendationPast | null
}

export interface RecommendationData {
  data: Recommendation
}

export interface RecommendationList {
  recommendations: Recommendation[]
  /** Tables that they belong to, on all pages. */
  tables: number
  /** Tables of a source whose recommendations are still being counted in the background, after a first discovery for example: until then they are in no total but on their pages. */
  uncounted_tables: number
  /** Recommendations by status, of those that match the other filters. */
  counts: {
    offered: number
    applied: number
    dismissed: number
    removed: number
    noisy: number
  }
  pagination: Pagination
}

export interface RecommendationListData {
  data: RecommendationList
}

export interface RecommendationPast {
  days: number
  /** The table's own timestamps, or results of a check that measures the same; null where it is not known. */
  source: 'timestamps' | 'stored' | null
  timestamp_column: string | null
  /** Checks of that time. */
  points: number | null
  /** Alerts that it would have raised; null where that is not known. */
  alerts: number | null
  /** What was found, or why it is not known. */
  message: string
  /** For a chart, the oldest first; empty in lists. */
  series: {
    at: string
    /** The value; of freshness, hours between two updates. */
    value: number | null
    expected: number | null
    low: number | null
    high: number | null
    is_alert: boolean
  }[]
  /** Of freshness. */
  cadence?: {
    updates: number
    typical_gap_hours: number
    threshold_hours: number
  }
  computed_at: string
}

export interface RedrivenJobs {
  /** How many jobs. */
  redriven: number
}

export interface RedrivenJobsData {
  data: RedrivenJobs
}

export interface RedshiftConnection {
  /** Host name or address of the server. */
  host: string
  /** Defaults to 5439. */
  port?: number
  /** Name of the database. */
  database: string
  /** A role with only SELECT; `user` is taken as well. */
  username: string
  /** Its password. */
  password?: string
  /** As libpq's; defaults to require. */
  sslmode?: 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'
  /** Certificates of the authority, in PEM form; by default those that Node trusts. */
  ssl_ca?: string
  /** The zone of timestamps that name none; without one, that of the setting TIMEZONE. */
  timezone?: string
}

export interface ReferentialCheck {
  id: string
  internal_id: number
  /** The source. */
  asset_id: string
  name: string
  description: string | null
  severity: 'info' | 'warning' | 'critical'
  is_active: boolean
  /** `catalog.schema.table`. */
  child_table_path: string
  child_column_name: string
  parent_table_path: string
  parent_column_name: string
  capture_interval: 'hourly' | 'daily' | 'weekly'
  /** Orphans that are allowed; 0 when no limit is given. */
  max_orphan_count: number | null
  /** Percent of the children that are not NULL. */
  max_orphan_percent: number | null
  /** Children that every parent must have. */
  min_child_count: number | null
  /** Children that a parent may have. */
  max_child_count: number | null
  /** How it did last; null before it ran. */
  latest_status: 'pass' | 'fail' | 'error' | null
  last_check_at: string | null
  /** Equal to last_check_at. */
  last_checked_at: string | null
  created_at: string
  updated_at: string
  /** Present when a monitors file or a contract manages the check. */
  managed_by?: ManagedBy
  /** Present when a monitors file will undo this. */
  warnings?: string[]
}

export interface ReferentialCheckData {
  data: ReferentialCheck
}

export interface ReferentialCheckItems {
  data: {
    items: ReferentialCheck[]
  }
  pagination: Pagination
}

export interface ReferentialDryRun {
  /** What the source is sent. */
  sql: {
    text: string
    values: unknown[]
  }[]
  status: 'pass' | 'fail' | 'error'
  /** 0 when status is error. */
  orphan_count: number
  /** 0 when status is error. */
  orphan_percent: number
  /** 0 when status is error. */
  total_child_rows: number
  /** Null unless min_child_count is set. */
  parents_below_min: number | null
  /** Null unless max_child_count is set. */
  parents_above_max: number | null
  /** Why it could not run. */
  error_message: string | null
}

export interface ReferentialDryRunData {
  data: ReferentialDryRun
}

export interface ReferentialExecution {
  id: number
  /** The `internal_id` of its check. */
  referential_check_id: number
  /** The `id` of its check. */
  check_id: string
  status: 'pass' | 'fail' | 'error'
  /** 0 when status is error. */
  orphan_count: number
  /** 0 when status is error. */
  orphan_percent: number
  /** 0 when status is error. */
  total_child_rows: number
  /** Null unless min_child_count is set. */
  parents_below_min: number | null
  /** Null unless max_child_count is set. */
  parents_above_max: number | null
  query_duration_ms: number
  checked_at: string
  /** Why it could not run. */
  error_message: string | null
  /** Up to 10 orphans; null where it could not run. */
  orphan_sample:
    | {
        /** The primary key, an object when it has several columns; else a number from 1. */
        row_id: unknown
        /** The value that no parent has; null of personal data. */
        value: unknown
        /** Present when the row has a value that is not shown: it is personal data, or could not be read. */
        is_hidden?: true
      }[]
    | null
  /** Present when rows or their values are missing: why. */
  orphan_sample_note?: string
}

export interface ReferentialExecutionData {
  data: ReferentialExecution
}

export interface ReferentialFailureDetails {
  check_id?: string
  child_table_path?: string
  child_column_name?: string
  parent_table_path?: string
  parent_column_name?: string
  orphan_count?: number | null
  orphan_percent?: number | null
  total_child_rows?: number | null
  parents_below_min?: number | null
  parents_above_max?: number | null
  max_orphan_count?: number | null
  max_orphan_percent?: number | null
  min_child_count?: number | null
  max_child_count?: number | null
}

export interface ReferentialFailureEvent {
  type: 'referential_failure'
  change_type: string | null
  details: ReferentialFailureDetails
}

export interface ReferentialResult {
  id: number
  /** The `internal_id` of its check. */
  referential_check_id: number
  /** The `id` of its check. */
  check_id: string
  status: 'pass' | 'fail' | 'error'
  /** 0 when status is error. */
  orphan_count: number
  /** 0 when status is error. */
  orphan_percent: number
  /** 0 when status is error. */
  total_child_rows: number
  /** Null unless min_child_count is set. */
  parents_below_min: number | null
  /** Null unless max_child_count is set. */
  parents_above_max: number | null
  query_duration_ms: number
  checked_at: string
  /** Why it could not run. */
  error_message: string | null
  /** Orphans are not kept. */
  orphan_sample: null
}

export interface ReferentialResultItems {
  data: {
    items: ReferentialResult[]
    /** When the table operates, for the shading of a chart: by the operating schedule that its active rules name. Null without one, and where they name several. */
    operating_hours: OperatingPeriods | null
  }
  pagination: Pagination
}

export interface ReferentialSummary {
  total_checks: number
  active_checks: number
  /** Active checks that passed last. */
  passing_checks: number
  failing_checks: number
  /** Checks that could not run. */
  error: number
  last_check_at: string | null
}

export interface ReferentialSummaryData {
  data: ReferentialSummary
}

export interface RefreshOutcome {
  /** Tables that were read. */
  measured: number
  fresh: number
  stale: number
  unknown: number
  /** Tables that could not be read. */
  failed: number
  /** Statements that the source was sent. */
  statements: number
  /** Those that could not be read. */
  tables: {
    asset: string
    status: 'error'
    error_message: string
  }[]
}

export interface RefreshTokenRequest {
  refresh_token: string
}

export interface RefreshTokenResponse {
  /** Valid for 15 minutes. */
  access_token: string
  /** Can be used once, within 30 days. */
  refresh_token: string
  token_type: 'bearer'
  /** Seconds until the access token expires. */
  expires_in: number
}

export interface RegexRuleConfig {
  pattern: string
}

export interface RegisterRequest {
  email: string
  password: string
  full_name?: string
  company_name?: string
  /** The token of an invitation of this email: joins the company that sent it. */
  invitation_token?: string
}

export interface Removal {
  success: true
  message: string
}

export interface RemovalData {
  data: Removal
}

export interface RemovePasswordRequest {
  old_password: string
}

export interface ReportedNamespace {
  namespace: string
  /** Datasets that no source has. */
  datasets: number
  /** `automatic`: the naming convention of OpenLineage fits a source. */
  mapping: 'rule' | 'automatic' | 'none'
  source_ids: string[]
}

export interface ResetOnboardingRequest {
  /** Defaults to all chapters. */
  chapter?: 'connect' | 'discover' | 'freshness' | 'schema'
}

export interface RestoreRecommendationsRequest {
  /** Ids of recommendations, of one source or several. */
  ids: string[]
}

export interface RotatedSecret {
  id: string
  /** Shown once. Deliveries are signed with it. */
  signing_secret: string
  /** Until when the old secret signs too. */
  previous_valid_until: string
}

export interface RotatedSecretData {
  data: RotatedSecret
}

export interface SchemaChange {
  id: string
  change_type:
    | 'column_added'
    | 'column_removed'
    | 'column_type_changed'
    | 'column_renamed'
    | 'table_added'
    | 'table_removed'
    | 'constraint_changed'
  /** The column, or the table. */
  object_name: string
  object_type: 'table' | 'column'
  /** `catalog.schema.table`. */
  table_path: string
  /** By the change type. Of `table_removed`, low where the table became a partition of a watched one, else high. */
  impact: 'low' | 'medium' | 'high'
  detected_at: string
  /** The job that found it. */
  discovery_id: string
  acknowledged: boolean
  /** What was; null of an addition. */
  old_value: ChangedValue
  /** What is; null of a removal, unless the table became a partition. */
  new_value: ChangedValue
}

export interface SchemaChangeDetails {
  table_path?: string
  /** Of a change of a column. */
  column_name?: string
  column_type?: string
  change_count?: number
  old_value?: Record<string, unknown> | null
  new_value?: Record<string, unknown> | null
  /** The first 50; the other fields are those of the worst. */
  changes?: {
    change_type?: string
    object_name?: string
    object_type?: string
    impact?: 'low' | 'medium' | 'high'
  }[]
}

export interface SchemaChangeEvent {
  type: 'schema_change'
  change_type: string | null
  details: SchemaChangeDetails
}

export interface SchemaChangeSummary {
  /** In the last `days_back` days. */
  total_changes: number
  /** Whenever they were found; so the three below. */
  unacknowledged: number
  critical_count: number
  warning_count: number
  info_count: number
  /** When a catalog was read last. */
  last_check: string | null
}

export interface SchemaChangeSummaryData {
  data: SchemaChangeSummary
}

export interface SchemaDifference {
  /** Null of a table that no discovery has found yet. */
  asset_id: string | null
  change_type:
    | 'column_added'
    | 'column_removed'
    | 'column_type_changed'
    | 'column_renamed'
    | 'table_added'
    | 'table_removed'
    | 'constraint_changed'
  /** The column, or the table. */
  object_name: string
  object_type: 'table' | 'column'
  /** `catalog.schema.table`. */
  table_path: string
  /** By the change type. Of `table_removed`, low where the table became a partition of a watched one, else high. */
  impact: 'low' | 'medium' | 'high'
  /** What was, in one line: of a column its type, of a renamed one its name; null of an addition. */
  old_value: string | null
  /** What is, in one line; null of a removal, unless the table became a partition. */
  new_value: string | null
  /** What was; null of an addition. */
  old_definition: ChangedValue
  /** What is; null of a removal, unless the table became a partition. */
  new_definition: ChangedValue
  /** By its impact: high, medium, low. */
  severity: 'critical' | 'warning' | 'info'
  /** Null of a change of the table. */
  column_name: string | null
}

export interface SchemaDryRun {
  asset_id: string
  qualified_name: string
  /** Null, as all counts, where the catalog could not be read. */
  table_count: number | null
  column_count: number | null
  /** Tables that could not be read. */
  unread_count: number | null
  change_count: number | null
  critical_count: number | null
  warning_count: number | null
  info_count: number | null
  /** Tables that an alert would be raised or counted for. */
  alert_count: number | null
  /** The first 100. */
  changes: PlannedSchemaChange[]
  /** Why the catalog could not be read. */
  error_code: string | null
  error_message: string | null
  /** What was recorded of it in the last days. */
  history: {
    lookback_days: number
    changes: number
    unacknowledged: number
  }
  /** How often the source is discovered. */
  schedule_type: 'off' | 'hourly' | 'every_4_hours' | 'daily' | 'weekly'
  /** Whether there is a state to compare with. */
  baseline_exists: boolean
  /** Tables of that state. */
  tables_in_baseline: number
  /** Equal to table_count; 0 where the catalog could not be read. */
  tables_in_current: number
  changes_detected: boolean
  /** Equal to change_count; 0 where the catalog could not be read. */
  total_changes: number
  /** Changes by change_type. */
  changes_summary: Record<string, number>
  /** The first 10 changes, in short. */
  sample_changes: {
    change_type:
      | 'column_added'
      | 'column_removed'
      | 'column_type_changed'
      | 'column_renamed'
      | 'table_added'
      | 'table_removed'
      | 'constraint_changed'
    table_name: string
    column_name: string | null
    old_value: string | null
    new_value: string | null
    severity: 'critical' | 'warning' | 'info'
  }[]
  /** At the pace of the last lookback_days: discoveries that recorded a change of a table, per table and week, rounded up. */
  estimated_alerts_per_week: number
  recommendation: string
}

export interface SchemaDryRunData {
  data: SchemaDryRun
}

export interface SchemaMonitoring {
  /** The source. */
  asset_id: string
  monitoring_enabled: boolean
  schedule_type: 'hourly' | 'every_4_hours' | 'daily' | 'weekly' | null
  schedule_label: string
  next_check_at: string | null
  last_check_at: string | null
  baseline_id: string | null
  baseline_captured_at: string | null
}

export interface SchemaMonitoringData {
  data: SchemaMonitoring
}

export interface SchemaMonitoringEnd {
  success: true
  message: string
  asset_id: string
  monitoring_enabled: false
}

export interface SchemaMonitoringEndData {
  data: SchemaMonitoringEnd
}

export interface SchemaStatus {
  asset_id: string
  qualified_name: string
  schema_change_status: 'none' | 'low' | 'medium' | 'high'
  total_unacknowledged: number
  /** The last 20, newest first. */
  recent_changes: PlacedSchemaChange[]
  /** Null before the first discovery. */
  baseline: Baseline | null
  monitoring: SchemaMonitoring
  /** Tables that differ from what was accepted. */
  drifted_tables: number
  /** How the first 100 of them differ. */
  drift: SchemaDifference[]
}

export interface SchemaStatusData {
  data: SchemaStatus
}

export interface SearchMatches {
  sources: {
    id: string
    qualified_name: string
    name: string
    asset_type: 'source'
    /** The engine. */
    source_type: string
  }[]
  tables: {
    id: string
    qualified_name: string
    name: string
    asset_type: 'table' | 'view' | 'materialized_view' | 'external_table'
  }[]
  columns: {
    name: string
    data_type: string
    /** The table. */
    asset_id: string
    /** That of the table. */
    qualified_name: string
  }[]
}

export interface SearchMatchesData {
  data: SearchMatches
}

export interface SendLineageEventRequest {
  eventTime: string
  eventType?: 'START' | 'RUNNING' | 'COMPLETE' | 'ABORT' | 'FAIL' | 'OTHER'
  producer?: string
  schemaURL?: string
  /** Present in a RunEvent. */
  run?: {
    runId: string
    facets?: Record<string, unknown>
  }
  /** Present in a RunEvent or JobEvent. */
  job?: {
    namespace: string
    name: string
    facets?: Record<string, unknown>
  }
  /** The first 1000 are stored; the reply counts the others. */
  inputs?:
    | {
        namespace: string
        name: string
        /** Facets such as `columnLineage`, `symlinks` and `ownership`. */
        facets?: Record<string, unknown>
      }[]
    | null
  /** The first 1000 are stored; the reply counts the others. */
  outputs?:
    | {
        namespace: string
        name: string
        /** Facets such as `columnLineage`, `symlinks` and `ownership`. */
        facets?: Record<string, unknown>
      }[]
    | null
  /** A dataset; unknown facets are left aside. */
  dataset?: {
    namespace: string
    name: string
    /** Facets such as `columnLineage`, `symlinks` and `ownership`. */
    facets?: Record<string, unknown>
  }
}

export interface SetOwners {
  ownerships: Ownership[]
}

export interface SetOwnersData {
  data: SetOwners
}

export interface SetOwnersRequest {
  /** A table or a source, by its id or qualified name. */
  asset_id?: string
  /** A schema of the source in `asset_id`: `catalog.schema`, or `schema`. */
  schema?: string
  /** A tag, in place of an asset. */
  tag?: string
  /** Ids of users and teams, addresses, or names of teams. An empty list removes the owners. */
  owners: string[]
}

export interface SeverityCounts {
  info: number
  warning: number
  critical: number
}

export interface SlackConfig {
  /** The address of an incoming webhook of a Slack app. */
  webhook_url: string
}

export interface SnoozeAlertRequest {
  snoozed_until?: string
  duration_minutes?: number
  duration_hours?: number
  /** Shown in the history, and sent with the end of the alert. */
  reason?: string | null
  /** Another name for `reason`. */
  notes?: string | null
}

export interface SnoozeIncidentRequest {
  snoozed_until?: string
  duration_minutes?: number
  duration_hours?: number
  /** Shown in the timeline, and in the history of its alerts. */
  reason?: string | null
  /** Another name for `reason`. */
  notes?: string | null
}

export interface SnowflakeConnection {
  /** Account identifier: organization-account, or the locator with its region and cloud (xy12345.us-east-2.aws). */
  account: string
  /** Warehouse that computes, in the case that SHOW WAREHOUSES prints; an extra-small one will do. */
  warehouse: string
  /** Name of the database, in the case that SHOW DATABASES prints. */
  database: string
  /** Limits discovery to one schema, in the case that SHOW SCHEMAS prints; defaults to all. */
  schema?: string
  /** Role to take, in the case that SHOW ROLES prints; by default that of the user. Give it USAGE on the warehouse, the database and its schemas, and SELECT on the tables, nothing else: Snowflake has no read-only sessions. */
  role?: string
  /** Name of the user, best one of TYPE = SERVICE. */
  username: string
  /** A programmatic access token of the user, which Snowflake takes in place of passwords; the passwords of people are not taken. Its own user and role restriction apply. */
  password?: string
  /** RSA private key in PEM form (PKCS#8) whose public key is the RSA_PUBLIC_KEY of the user; preferred over password. */
  private_key?: string
  /** Passphrase of the private key, when it is encrypted. */
  private_key_passphrase?: string
  /** The zone of timestamps that name none; without one, that of the setting TIMEZONE. */
  timezone?: string
}

export interface Source {
  id: string
  /** The name of the source, quoted where it holds a dot or a quote. */
  qualified_name: string
  name: string
  asset_type: 'source'
  /** Its engine: postgresql, mysql, … */
  source_type: string
  /** Whether it is looked at by itself. */
  is_active: boolean
  created_at: string
  updated_at: string
  /** When it was discovered last. */
  last_refresh_at: string | null
  description: string | null
  connection_status: 'untested' | 'connected' | 'failed'
  connection_message: string
  /** Connections in a row that failed. */
  consecutive_failures: number
  /** When the first of them did. */
  failing_since: string | null
  /** Before this, nothing that is scheduled dials it; null while it is not left alone. */
  retry_at: string | null
  discovery_state: 'never' | 'queued' | 'running' | 'completed' | 'failed'
  discovery_interval: 'off' | 'hourly' | 'every_4_hours' | 'daily' | 'weekly'
  /** On schedule, or again after one that failed. */
  next_discovery_at: string | null
  /** Since the last one that did not fail. */
  failed_discoveries: number
  /** Tables that are read, as globs; all where it is empty. */
  include_patterns: string[]
  /** Tables that are not, even if included. */
  exclude_patterns: string[]
  table_count: number
  column_count: number
  schema_count: number
  catalog_count: number
  /** Tables that the last discovery could not read. */
  unread_count: number
  host: string | null
  port: number | null
  database_name: string | null
  username: string | null
  default_catalog: string | null
  http_path: string | null
  /** Whether sessions are encrypted, as far as is known. */
  ssl_enabled: boolean
  /** What else its connection_config holds, by engine; never a secret. */
  extra_params: Record<string, unknown>
  freshness_status: 'fresh' | 'stale' | 'unknown' | 'not_configured'
  freshness_message: string
  freshness_summary: string
  lineage_status: 'none' | 'ready' | 'error'
  lineage_message: string
  intelligence_status: 'disabled'
  intelligence_message: string
  data_quality_status: 'passing' | 'failing' | 'error' | 'none'
  data_quality_message: string
  /** What may be asked of it: its catalog, numbers of its rows, or rows. */
  query_access_level: 'schema_only' | 'aggregates' | 'full'
  intelligence_mode: 'off'
  effective_access_level: 'schema_only' | 'aggregates' | 'full'
  /** Sessions that may be open there at once. */
  max_concurrency: number
  /** Null means the setting STATEMENT_TIMEOUT. */
  statement_timeout_seconds: number | null
  /** What freshness schedules made later have where they name nothing else. */
  freshness_defaults: FreshnessDefaults | null
  /** What its connector can do. */
  features: Record<string, boolean>
  schema_status: 'unknown' | 'ok' | 'changed' | 'error'
  schema_message: string
  /** The worst of the changes that are open. */
  schema_change_status: 'none' | 'low' | 'medium' | 'high'
  schema_change_message: string
  schema_change_summary: string
  tags: string[]
  tags_status: 'none' | 'ready' | 'error'
  tags_message: string
  tags_counts: {
    /** Tables that carry a tag, or a column of which does. */
    tables: number
    columns: number
    /** What carries each of the 50 commonest tags. */
    by_tag: Record<string, number>
  }
  tags_mode: 'auto' | 'manual'
  /** Whether discoveries tag columns by their names and types. */
  auto_tag_enabled: boolean
  /** Who owns it, by the most specific object that has owners. */
  owners?: AssetOwner[]
}

export interface SourceData {
  data: Source
}

export interface SourceType {
  source_type: string
  /** Its name for people. */
  label: string
  /** What checks and freshness can do there. */
  capabilities: string[]
  /** The JSON Schema of its `connection_config`; secrets are `writeOnly`. */
  settings: Record<string, unknown>
}

export interface SourceUsage {
  asset_id: string
  /** The first day, UTC. */
  from: string
  /** The last day, UTC. */
  to: string
  total: SourceUse
  by_purpose: {
    /** Rules, metrics and referential checks. */
    scan: SourceUse
    freshness: SourceUse
    discovery: SourceUse
    /** Profiles of tables. */
    profile: SourceUse
    /** Connection tests. */
    test: SourceUse
    /** What is tried out before it is stored, the past of a new check included. */
    dry_run: SourceUse
  }
  /** The oldest first, those without use included. */
  days: {
    /** YYYY-MM-DD, UTC. */
    day: string
    /** Sessions opened, or tried to. */
    sessions: number
    /** Statements sent, those of the catalog and of settings included. */
    statements: number
    /** Sessions that could not be opened, and statements that failed. */
    failures: number
    /** Rows received. */
    rows: number
    /** Bytes received; 0 where the engine does not report them. */
    bytes: number
    /** From when each statement was sent until it had ended, added up. */
    seconds: number
  }[]
}

export interface SourceUsageData {
  data: SourceUsage
}

export interface SourceUse {
  /** Sessions opened, or tried to. */
  sessions: number
  /** Statements sent, those of the catalog and of settings included. */
  statements: number
  /** Sessions that could not be opened, and statements that failed. */
  failures: number
  /** Rows received. */
  rows: number
  /** Bytes received; 0 where the engine does not report them. */
  bytes: number
  /** From when each statement was sent until it had ended, added up. */
  seconds: number
}

export interface SqliteConnection {
  /** The database file, in a folder of FILE_SOURCES. */
  path: string
  /** The zone of timestamps that name none; without one, that of the setting TIMEZONE. */
  timezone?: string
}

export interface StartSchemaMonitoringRequest {
  /** How often the catalog is read. */
  schedule_type?: 'hourly' | 'every_4_hours' | 'daily' | 'weekly'
  /** Accepts what is there now, unless it was accepted before. */
  auto_create_baseline?: boolean
}

export interface StartedCheck {
  job_id: string
  status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
  message: string
  /** What is checked: the source, or the table. */
  asset_id: string
}

export interface StartedCheckData {
  data: StartedCheck
}

export interface StartedContractTest {
  job_id: string
  status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
  message: string
  /** The source. */
  asset_id: string
}

export interface StartedContractTestData {
  data: StartedContractTest
}

export interface StartedDiscovery {
  job_id: string
  status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
  message: string
  asset_id: string
  started_at: string
}

export interface StartedDiscoveryData {
  data: StartedDiscovery
}

export interface StartedProfile {
  job_id: string
  status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
  message: string
  /** What is profiled: the source, or the table. */
  asset_id: string
}

export interface StartedProfileData {
  data: StartedProfile
}

export interface StartedRefresh {
  job_id: string
  status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
  message: string
}

export interface StartedRefreshData {
  data: StartedRefresh
}

export interface StartedWatching {
  job_id: string
  status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
  message: string
  asset_id: string
  /** Active tables that match the patterns. */
  matched: number
  level: 'light' | 'standard' | 'deep'
}

export interface StartedWatchingData {
  data: StartedWatching
}

export interface SubmittedExport {
  job_id: string
}

export interface SubmittedExportData {
  data: SubmittedExport
}

export interface Subscription {
  email: string
  subscribed: boolean
}

export interface Table {
  id: string
  /** `<source>.<database>.<schema>.<table>`. */
  qualified_name: string
  asset_type: 'table' | 'view' | 'materialized_view' | 'external_table'
  source: string
  database: string
  schema: string
  name: string
  /** `catalog.schema.table`. */
  table_path: string
  description: string | null
  /** Whether the last discovery found it. */
  is_active: boolean
  /** Why it was not. */
  absence: 'removed' | 'excluded' | null
  /** Why the last discovery could not read it; its columns are those known before. */
  read_error: {
    code: string
    message: string
  } | null
  column_count: number
  /** As the engine estimates, where it does. */
  estimated_rows: number | null
  primary_key: string[]
  freshness: {
    status: 'fresh' | 'stale' | 'unknown'
    last_updated: string | null
    /** A duration, such as 24h. */
    sla_threshold: string | null
    checked_at: string | null
  }
  quality: {
    status: 'passing' | 'failing' | 'error' | 'none'
    /** Active checks that passed last. */
    passing: number
    failing: number
    /** Checks that could not run. */
    error: number
  }
  /** The worst of the changes that are open. */
  schema_change_status: 'none' | 'low' | 'medium' | 'high'
  /** Who owns it, by the most specific object that has owners. */
  owners?: AssetOwner[]
  /** The last scan for checks in the last 90 days, and what it cost the source. Left out of lists. */
  last_scan?: LastScan | null
  /** Left out of lists and with include_columns=false. */
  columns?: Column[]
  tags: string[]
  created_at: string
  updated_at: string
}

export interface TableCost {
  /** The table. */
  asset_id: string
  qualified_name: string
  /** `catalog.schema.table`. */
  table_path: string
  /** Checks of it that are active now: rules, metrics and referential checks. */
  active_checks: number
  scans: number
  /** Statements sent, those of settings included. */
  statements: number
  /** Rows received. */
  rows: number
  /** Bytes received; 0 where the engine does not report them. */
  bytes: number
  /** From when each statement was sent until it had ended, added up. */
  seconds: number
  last_scan_at: string
}

export interface TableCostItems {
  data: {
    items: TableCost[]
  }
  pagination: Pagination
}

export interface TablePreview {
  /** Tables of the database; null when it could not be read. */
  total: number | null
  /** Those that the patterns leave in. */
  matched: number | null
  /** The first 200. */
  schemas: {
    schema: string
    total: number
    matched: number
  }[]
  /** The first 50 that match, as `schema.table`. */
  tables: string[]
  /** credentials, network, timeout, tls, permission, missing_object, driver_missing, egress_refused or other. */
  error_code: string | null
  error_message: string | null
}

export interface TablePreviewData {
  data: TablePreview
}

export interface TableProfileData {
  data: TableProfile
}

export interface Tag {
  id: string
  name: string
  category: 'business' | 'technical' | 'governance'
  description: string | null
  /** Applied by a person, a key or a discovery. */
  origin: 'manual' | 'automatic'
  /** The table that carries it, itself or on a column; else the source. */
  asset_id: string
  source_id: string
  /** The table, or the column; null of a source. */
  object_path: string | null
  object_type: 'source' | 'table' | 'column'
  created_at: string
}

export interface TagData {
  data: Tag
}

export interface TagList {
  tags: Tag[]
  pagination: Pagination
}

export interface TagListData {
  data: TagList
}

export interface Team {
  id: string
  name: string
  description: string | null
  members: TeamMember[]
  created_at: string
  updated_at: string
}

export interface TeamData {
  data: Team
}

export interface TeamList {
  teams: Team[]
  pagination: Pagination
}

export interface TeamListData {
  data: TeamList
}

export interface TeamMember {
  type: 'user' | 'email'
  id: string | null
  name: string
  email: string
}

export interface TeamsConfig {
  /** The address of a workflow that starts when a Teams webhook request is received. */
  webhook_url: string
}

export interface ThresholdRecommendations {
  recommendations: {
    table_path: string
    metric_type: string
    current_threshold: number
    suggested_threshold: number
    direction: 'increase' | 'decrease'
    reasoning: string
    confidence: number
    historical_alerts: number
    projected_reduction: string
  }[]
  asset_id: string
  monitored_items_analyzed: number
  items_with_recommendations: number
}

export interface ThresholdRecommendationsData {
  data: ThresholdRecommendations
}

export interface TrackEventRequest {
  /** The name of the event. */
  event_name: string
  /** A random id that a browser stores; no personal data. */
  anonymous_id: string
  /** More details. */
  properties?: Record<string, unknown>
  /** Defaults to now; at most a day in the future. */
  occurred_at?: string
}

export interface TrackOnboardingEventRequest {
  /** The name of the event. */
  event_name: string
  chapter: 'connect' | 'discover' | 'freshness' | 'schema'
  step?: number
  /** More details: at most 8 KiB. */
  properties?: Record<string, unknown>
}

export interface TrackedEvent {
  /** Whether the user had completed the chapter before. */
  is_replay: boolean
}

export interface UnknownChange {
  /** Its place in the request. */
  index: number
  change: string
  table: string | null
  schema: string | null
  column: string | null
  problem: string
}

export interface UpdateAlertRuleRequest {
  name?: string
  description?: string | null
  event_types?:
    | (
        | 'destination_disabled'
        | 'schema_change'
        | 'schema_drift'
        | 'discovery_complete'
        | 'connection_failed'
        | 'validity_failure'
        | 'metric_anomaly'
        | 'referential_failure'
        | 'freshness_violation'
        | 'freshness_stale'
        | 'freshness_alert'
        | 'external_check_failed'
        | 'contract_violation'
      )[]
    | null
  severities?: ('info' | 'warning' | 'critical')[] | null
  asset_ids?: string[] | null
  tag_filter_mode?: 'any' | 'all' | null
  tag_filter_tags?: string[] | null
  /** Users, teams and addresses, of which any owns the asset: their ids, or the name of a team. */
  owners?: string[] | null
  destination_ids?: string[]
  cooldown_minutes?: number
  is_active?: boolean
  /** Another name for `is_active`, which goes first. */
  enabled?: boolean
  /** Only false: authors of code are not known here. Name destinations. */
  is_notify_code_authors?: false
  /** Stored. It has no effect, since authors of code are not notified. */
  code_author_min_confidence?: number | null
  /** Follows from `event_types`, which has to be given too. */
  rule_type?: string
  /** Follows from `severities`, which has to be given too. */
  severity?: 'info' | 'warning' | 'critical'
}

export interface UpdateAssetRequest {
  name?: string
  description?: string | null
  /** The fields of the engine. Of any engine also timezone. */
  connection_config?: {
    /** The zone of timestamps that name none; without one, that of the setting TIMEZONE. */
    timezone?: string | null
  }
  is_active?: boolean
  discovery_interval?: 'off' | 'hourly' | 'every_4_hours' | 'daily' | 'weekly'
  /** What may be asked of it: its catalog, numbers of its rows, or rows. */
  query_access_level?: 'schema_only' | 'aggregates' | 'full'
  /** Sessions that may be open there at once. */
  max_concurrency?: number
  /** Null means the setting STATEMENT_TIMEOUT. */
  statement_timeout_seconds?: number | null
  /** Tables that are read, as globs; all unless given. */
  include_patterns?: string[]
  /** Tables that are not, even if included. */
  exclude_patterns?: string[]
  /** Whether discoveries tag columns by their names and types. */
  auto_tag_enabled?: boolean
  /** What freshness schedules made from now on have where they name nothing else. */
  freshness_defaults?: {
    monitoring_mode?: 'auto_learn' | 'explicit'
    sla_threshold?: string
    check_interval?: string
    /** Columns with the time a row was written, the most reliable first; case is ignored. */
    freshness_columns?: string[]
  } | null
}

export interface UpdateBadgeRequest {
  /** A source or a table, by its id or qualified name. */
  asset_id?: string
  /** The text on the left of the badge; defaults to `data quality`. */
  label?: string | null
  /** Only tables count that carry one of these tags, on themselves, a column or their source; empty means all. */
  tag_filters?: string[]
  /** Whether an unacknowledged schema change makes the badge fail. */
  schema_drift_enabled?: boolean
  /** Whether a stale table makes the badge fail. */
  freshness_enabled?: boolean
  /** Whether the tables that the table is made from count too, over any number of steps of its lineage; a source holds them already. */
  include_upstream?: boolean
  /** Whether it has a picture. */
  is_active?: boolean
}

export interface UpdateChapterRequest {
  chapter: 'connect' | 'discover' | 'freshness' | 'schema'
  completed: boolean
}

export interface UpdateClock {
  /** The time zone of the hours. */
  timezone: string
  /** The newest updates that were seen, 500 at most: those that schedules learn from. */
  updates: number
  /** The first of them; null without any. */
  from: string | null
  /** The last of them. */
  until: string | null
  /** Updates by weekday, Monday first, and by hour of the day. */
  hours: number[][]
}

export interface UpdateDestinationRequest {
  name?: string
  /** `alerts`: a message about each alert, the default of webhooks. `incidents`: one about each incident, and another when it gets worse or is over; the default of types for people. */
  messages?: 'alerts' | 'incidents'
  is_active?: boolean
  config?: Record<string, unknown>
}

export interface UpdateFreshnessScheduleRequest {
  /** Whether the threshold is learned from updates or given. */
  monitoring_mode?: 'auto_learn' | 'explicit'
  /** Maximum age of the newest data, such as 24h. */
  sla_threshold?: string
  /** The same in hours. */
  expected_interval_hours?: number
  /** The column with the time a row was written; detected if omitted. */
  freshness_column?: string | null
  /** A SQL expression over the columns of a row, instead of a column. */
  freshness_expression?: string
  /** Where freshness is read from; implied by freshness_column and freshness_expression. */
  freshness_signal?: 'column' | 'expression' | 'last_modified'
  /** How often the table is checked, such as 1h. */
  check_interval?: string
  is_active?: boolean
}

export interface UpdateIncidentRequest {
  /** A user of the company; null for none. */
  assignee_id?: string | null
  /** What happened, why, and what follows from it. */
  post_mortem?: string | null
}

export interface UpdateMetricRequest {
  capture_interval?: 'hourly' | 'daily' | 'weekly'
  /** The |z_score| beyond which a value is an anomaly. */
  sensitivity?: number
  is_active?: boolean
}

export interface UpdateOperatingScheduleRequest {
  name?: string
  timezone?: string
  rules?: {
    /** The days on which it starts, 1 is Monday */
    days: number[]
    start: string
    /** At or before the start, it is on the next day: 22:00 to 06:00 is a night, 08:00 to 08:00 are 24 hours */
    end: string
  }[]
}

export interface UpdateProfileRequest {
  full_name?: string | null
  timezone?: string
}

export interface UpdateReferentialCheckRequest {
  name?: string
  description?: string | null
  severity?: 'info' | 'warning' | 'critical'
  is_active?: boolean
  capture_interval?: 'hourly' | 'daily' | 'weekly'
  /** Orphans that are allowed; 0 when no limit is given */
  max_orphan_count?: number | null
  /** Percent of the children that are not NULL. */
  max_orphan_percent?: number | null
  /** Children that every parent must have */
  min_child_count?: number | null
  /** Children that a parent may have */
  max_child_count?: number | null
}

export interface UpdateRuleRequest {
  name?: string
  severity?: 'info' | 'warning' | 'critical'
  is_active?: boolean
  check_interval?: 'hourly' | 'daily' | 'weekly'
  description?: string | null
  /** Manual mode: the rule fails above this percentage of invalid rows; defaults to 0. */
  alert_threshold_percent?: number | null
  /** Ignores rows with NULL, except for NOT_NULL. */
  treat_null_as_valid?: boolean
  /** manual: fails above the threshold; auto: fails outside a learned range. */
  detection_mode?: 'manual' | 'auto'
  /** Auto mode: width of the range in standard deviations; 1 alerts most often. */
  sensitivity?: number
  /** Learns active and quiet hours apart: by an operating schedule, or detected. */
  operating_period_mode?: 'off' | 'schedule' | 'auto'
  operating_schedule_id?: string | null
}

export interface UpdateStepRequest {
  chapter: 'connect' | 'discover' | 'freshness' | 'schema'
  step: number
}

export interface UpdateTeamRequest {
  name?: string
  description?: string | null
  /** Ids of users, and addresses; replaces all members. */
  members?: string[]
}

export interface UpdateUserRequest {
  role?: 'admin' | 'member' | 'viewer'
  is_active?: boolean
}

export interface User {
  id: string
  email: string
  full_name: string | null
  role: 'viewer' | 'member' | 'admin' | 'owner'
  company: {
    id: string
    name: string
    plan: 'free_trial' | 'starter' | 'growth' | 'professional' | 'enterprise'
  }
  /** A disabled user is signed out and cannot sign in. */
  is_active: boolean
  /** An IANA time zone, such as Europe/Berlin. */
  timezone: string
  created_at: string
  last_login_at: string | null
}

export interface UserPage {
  data: User[]
  pagination: Pagination
}

export interface UserPreferences {
  theme: 'system' | 'light' | 'dark'
  /** An IANA time zone; the same as in the profile. */
  timezone: string
  email_notifications: boolean
  digest: 'off' | 'daily' | 'weekly'
  /** A source or a table; null when none was chosen or it was removed. */
  default_asset_id: string | null
  table_page_size: number
  onboarding: OnboardingProgress
  /** Values that clients store for the user. */
  custom: Record<string, unknown>
}

export interface UserPreferencesUpdate {
  theme?: 'system' | 'light' | 'dark'
  /** An IANA time zone; the same as in the profile. */
  timezone?: string
  email_notifications?: boolean
  digest?: 'off' | 'daily' | 'weekly'
  /** The id or qualified name of a source or a table; null for none. */
  default_asset_id?: string | null
  table_page_size?: number
  /** Any values that a client stores for the user: at most 64 keys, 16 KiB. Replaced as a whole. */
  custom?: Record<string, unknown>
}

export interface ValidatedContract {
  valid: boolean
  errors: ContractError[]
  contract_summary: ContractSummary | null
}

export interface ValidatedContractData {
  data: ValidatedContract
}

export interface ValidityCheckData {
  data: ValidityCheck
}

export interface ValidityDryRun {
  /** What the source is sent. */
  sql: {
    text: string
    values: unknown[]
  }[]
  status: 'pass' | 'fail' | 'error'
  /** 0 when status is error. */
  total_rows: number
  /** 0 when status is error. */
  invalid_count: number
  /** 0 when status is error. */
  invalid_percent: number
  /** The percentage that auto mode expected; null of other modes. */
  expected_value: number | null
  expected_range_low: number | null
  expected_range_high: number | null
  /** Auto mode knows too little yet to judge. */
  learning: boolean
  /** At sensitivities 1 to 4 and the chosen one; empty where nothing is expected. */
  bands: {
    sensitivity: number
    low: number
    high: number
  }[]
  error_message: string | null
  /** Present when the rule is measured otherwise than it reads, such as a pattern by another collation. */
  warnings?: string[]
  history: {
    lookback_days: number
    /** Results of such a rule, or the timestamps of the table; null without either. */
    source: 'results' | 'timestamps' | null
    timestamp_column: string | null
    points: number
    failing: number
    /** Failures in a row are one. */
    alerts: number
    /** Of auto mode. */
    by_sensitivity?: {
      sensitivity: number
      failing: number
      alerts: number
    }[]
    /** The last 750 points, the oldest first, for a chart. */
    series: {
      at: string
      value: number | null
      expected_value: number | null
      /** Beyond a sensitivity it is an anomaly. Null where nothing is learned. */
      z_score: number | null
      /** Too little was known to alert. */
      learning: boolean
      /** At sensitivities 1 to 4 and the chosen one; empty where nothing is expected. */
      bands: {
        sensitivity: number
        low: number
        high: number
      }[]
    }[]
    message: string
  }
}

export interface ValidityDryRunData {
  data: ValidityDryRun
}

export interface ValidityFailureDetails {
  rule_id?: string
  rule_type?: string
  table_path?: string
  column_name?: string | null
  invalid_count?: number | null
  invalid_percent?: number | null
  total_rows?: number | null
  /** What a rule found that is about a number: `40 %, expected at most 10 %`. */
  finding?: string
  /** The highest percentage, of a rule in manual mode. */
  threshold?: number
  /** The usual percentage, of a rule in auto mode. */
  band?: {
    expected?: number | null
    low?: number | null
    high?: number | null
  }
  explanation?: string
  history?: {
    checked_at?: string
    value?: number | null
    total_rows?: number | null
  }[]
}

export interface ValidityFailureEvent {
  type: 'validity_failure'
  change_type: string | null
  details: ValidityFailureDetails
}

export interface ValidityResult {
  id: number
  validity_rule_id: number
  status: 'pass' | 'fail' | 'error'
  /** 0 when status is error. */
  total_rows: number
  /** 0 when status is error. */
  invalid_count: number
  /** 0 when status is error. */
  invalid_percent: number
  execution_duration_ms: number
  checked_at: string
  /** The percentage that auto mode expected; null of other modes. */
  expected_value: number | null
  expected_range_low: number | null
  expected_range_high: number | null
  /** Auto mode knows too little yet to judge. */
  learning: boolean
  /** Computed of the past when the rule was made. */
  is_backfilled: boolean
  /** A user dismissed it as expected. */
  is_confirmed: boolean
  /** Whether its operating schedule called the moment active. */
  was_active: boolean | null
  /** Why it could not be checked. */
  error_message: string | null
}

export interface ValidityResultItems {
  data: {
    items: ValidityResult[]
    /** Manual mode: the percentage above which the rule fails. Null in auto mode. */
    threshold: number | null
    /** When the table operates, for the shading of a chart: by the operating schedule that its active rules name. Null without one, and where they name several. */
    operating_hours: OperatingPeriods | null
  }
  pagination: Pagination
}

export interface ValidityRule {
  id: number
  /** The `rule_id` of paths. */
  uuid: string
  /** `catalog.schema.table`. */
  table_path: string
  column_name: string | null
  /** NOT_NULL, UNIQUE, REGEX, RANGE, ENUM, DATE_FORMAT, CUSTOM_SQL or one of an extension. */
  rule_type: string
  name: string
  severity: 'info' | 'warning' | 'critical'
  is_active: boolean
  check_interval: 'hourly' | 'daily' | 'weekly'
  created_at: string
  /** How it did last; null before its first check. */
  latest_status: 'pass' | 'fail' | 'error' | null
}

export interface ValidityRuleDetailData {
  data: ValidityRuleDetail
}

export interface ValidityRuleItems {
  data: {
    items: ValidityRule[]
  }
  pagination: Pagination
}

export interface ValiditySummary {
  total_rules: number
  /** Active rules that passed last. */
  passing: number
  failing: number
  /** Rules that could not be checked. */
  error: number
}

export interface ValiditySummaryData {
  data: ValiditySummary
}

export interface Versions {
  tidemark: string
  node: string
  postgresql: string
}

export interface WatchOutcome {
  /** The source. */
  asset_id: string
  /** Active tables that match the patterns. */
  matched: number
  row_count: {
    created: number
    /** Those that there were before. */
    existing: number
    skipped: Record<string, unknown>[]
  }
  freshness: {
    created: number
    /** Those that there were before. */
    existing: number
    skipped: Record<string, unknown>[]
  }
  not_null: {
    created: number
    /** Those that there were before. */
    existing: number
    skipped: Record<string, unknown>[]
  }
  unique: {
    created: number
    /** Those that there were before. */
    existing: number
    skipped: Record<string, unknown>[]
  }
  /** Further checks that were created, by type. */
  recommended: Record<string, number>
  level: string
  statements_per_day: {
    checks: number
    freshness: number
  }
  dry_run: boolean
}

export interface WatchPolicy {
  asset_id: string
  /** Null without a policy. */
  level: 'light' | 'standard' | 'deep' | null
  include_patterns: string[]
  exclude_patterns: string[]
  /** When it was last applied. */
  applied_at: string | null
  created_at: string | null
  updated_at: string | null
}

export interface WatchPolicyData {
  data: WatchPolicy
}

export interface WatchedKind {
  /** In a dry run, the ones to create. */
  created: number
  /** Those that there were before, active or not. */
  existing: number
  skipped: {
    /** no_primary_key, composite_key (UNIQUE covers one column), no_signal (nothing shows when the table was updated), unsupported (the engine or the type of the column does not allow the check), not_readable (the source has query_access_level schema_only). */
    reason: 'no_primary_key' | 'composite_key' | 'no_signal' | 'unsupported' | 'not_readable'
    /** Tables; of unsupported, columns. */
    count: number
    /** The first 20, by path. */
    tables: string[]
  }[]
}

export interface WatchedTables {
  asset_id: string
  /** Active tables that match the patterns. */
  matched: number
  row_count: WatchedKind
  freshness: WatchedKind
  not_null: WatchedKind
  unique: WatchedKind
  /** With a level: further checks that were created, by type. */
  recommended?: Record<string, number>
  level: 'light' | 'standard' | 'deep' | null
  /** Statements a day that this adds at the source: one daily scan of each table with new checks, and the freshness checks of tables that are read together. Rules that fail send more, to find invalid rows. */
  statements_per_day: {
    checks: number
    freshness: number
  }
  dry_run: boolean
}

export interface WatchedTablesData {
  data: WatchedTables
}

export interface WebhookConfig {
  /** An HTTPS address that takes POST requests. */
  url: string
  auth?: {
    /** `bearer` sends `Authorization: Bearer`, `api_key` sends `X-API-Key`. */
    type: 'none' | 'bearer' | 'api_key'
    value?: string
  }
  /** Headers of your own, sent with each message. */
  headers?: Record<string, string>
}

export interface WhichDeadJobs {
  /** The ids of the jobs. Those that are not there any more are left out of the count. */
  ids?: string[]
  /** The name of a queue, such as `scans.run`. */
  queue?: string
  /** All that failed for good. */
  all?: true
}

export type AlertEvent =
  | DestinationDisabledEvent
  | SchemaChangeEvent
  | DiscoveryCompleteEvent
  | ConnectionFailedEvent
  | ValidityFailureEvent
  | MetricAnomalyEvent
  | ReferentialFailureEvent
  | FreshnessViolationEvent
  | ExternalCheckFailedEvent
  | ContractViolationEvent

export type ApplicableOwner = OwnerInForce & {
  ownership_id: string
  /** False where a more specific object, or a person, says otherwise. */
  is_in_force: boolean
}

export type Asset = Source | Table

export type AssetSchemaChanges = Pagination & {
  /** The qualified name of the source or table. */
  asset: string
  changes: SchemaChange[]
}

export type AssetSchemaChangesEnvelope = Envelope & {
  data: AssetSchemaChanges
}

export type ChangedFreshnessSchedule = FreshnessSchedule & {
  /** Warnings, such as a table without a signal. */
  warnings: string[]
}

export type ChangedValue = null | ChangedColumn | ChangedTable | ChangedConstraint | ChangedPartition

export type CreatedChartLink = ChartLink & {
  /** The link, shown only now: its token is not stored. */
  url: string
}

export type CreatedNamespaceRule = NamespaceRule & {
  /** Datasets outside the catalog that became tables of the source. */
  moved_datasets: number
}

export type CreatedValidityRule = ValidityRule & {
  /** What its type asks for. */
  rule_config:
    | NotNullRuleConfig
    | UniqueRuleConfig
    | RegexRuleConfig
    | RangeRuleConfig
    | EnumRuleConfig
    | DateFormatRuleConfig
    | CustomSqlRuleConfig
    | null
  description: string | null
  /** Manual mode: the rule fails above this percentage of invalid rows; defaults to 0. */
  alert_threshold_percent: number | null
  /** Ignores rows with NULL, except for NOT_NULL. */
  treat_null_as_valid: boolean
  /** manual: fails above the threshold; auto: fails outside a learned range. */
  detection_mode: 'manual' | 'auto'
  /** Auto mode: width of the range in standard deviations; 1 alerts most often. */
  sensitivity: number
  /** Learns active and quiet hours apart: by an operating schedule, or detected. */
  operating_period_mode: 'off' | 'schedule' | 'auto'
  operating_schedule_id: string | null
  error_message: string | null
  /** With backfill_days. */
  backfill?: {
    /** Results that were computed of the past. */
    points: number
    /** The column with the time at which rows were added. */
    timestamp_column: string | null
    message: string
  }
  /** Present when the rule is measured otherwise than it reads, such as a pattern by another collation. */
  warnings?: string[]
}

export type Delivery = QueuedDelivery & {
  destination_name: string
  destination_type: string
}

export type DemoAlertEnvelope = Envelope & {
  data: DemoAlert
}

export type DemoAssetEnvelope = Envelope & {
  data: DemoAsset | null
}

export type DemoDestinationEnvelope = Envelope & {
  data: DemoDestination
}

export type DemoKeyEnvelope = Envelope & {
  data: DemoKey
}

export type DemoLineageEnvelope = Envelope & {
  data: DemoLineage | null
}

export type Empty = Record<string, never>

export type EmptyRequest = Record<string, never>

export type EnforcedContract = Contract & {
  /** The document as it was sent. */
  contract: string
  /** In the order of the contract. */
  clauses: ContractClause[]
  /** Of a PUT: what the standard allows, but is worth a look. */
  warnings?: ContractFinding[]
}

export type InboxAlert = Alert & {
  /** Its status, which is `new` while it is `triggered`. */
  alert_state: 'new' | 'acknowledged' | 'snoozed' | 'resolved' | 'dismissed'
  asset_name: string
  /** The destinations that a message about it is for, separated by commas; null if none. */
  destination_name: string | null
  /** When it was last acknowledged. */
  acknowledged_at: string | null
  dismissed_at: string | null
}

export type IncidentCause = IncidentEvidence & {
  severity: Severity
  /** What speaks for it, the strongest first, at most 10. */
  evidence: IncidentEvidence[]
}

export type IncidentDetails = Incident & {
  /** The first 200, oldest first. */
  alerts: IncidentAlert[]
  /** The newest 200, oldest first. */
  activities: IncidentActivity[]
}

export type LineageGraphNode = LineageNode & {
  /** False of a table that is not there any more. */
  is_active: boolean
  /** Whether it is outside the catalog: a dashboard, a dataset of a pipeline. */
  is_external: boolean
  /** Where it is, if it is outside the catalog. */
  namespace: string | null
  url: string | null
  description: string | null
  owners: {
    name: string | null
    email: string | null
  }[]
  /** Steps against the flow of data; null where it does not lie there. */
  upstream_distance: number | null
  /** Steps along the flow of data; null where it does not lie there. */
  downstream_distance: number | null
  /** Null outside the catalog; there on request. */
  health?: LineageNodeHealth | null
  /** What it is made from, in the graph or not; there on request. */
  upstream_count?: number
  /** What is made from it, in the graph or not. */
  downstream_count?: number
}

export type ListedFreshness = Freshness & {
  /** Whether the table is usable: fresh is ready, stale is not_ready, a failed check is error. */
  readiness: 'ready' | 'not_ready' | 'unknown' | 'error'
}

export type LoginResponse = RefreshTokenResponse & {
  user: User
}

export type MonitoredTable = FreshnessMeta & {
  /** The qualified name. */
  asset: string
  status: 'fresh' | 'stale' | 'unknown'
  /** Time of the newest data. */
  last_updated: string | null
  /** Maximum age of the newest data, given or learned, such as 24h; null while unknown. */
  sla_threshold: string | null
  /** Null while unknown. */
  sla_status: 'within_sla' | 'warning' | 'violated' | null
  /** Time of the last check; before the first, when the schedule was created or last changed. */
  checked_at: string
  timestamp_column: string | null
  /** Age at the time of the check. */
  data_age_minutes: number | null
  qualified_name: string
  /** Whether the status is stale. */
  is_stale: boolean
  /** Time of the newest data; of a source, of the table with the oldest. */
  last_update_time: string | null
  /** Its age at the time of the request. */
  hours_since_update: number | null
  /** The threshold in hours, rounded up; of a source, the largest. Null while unknown. */
  staleness_threshold_hours: number | null
  /** Null before the first check. */
  last_check_at: string | null
  /** Whether the table is usable: fresh is ready, stale is not_ready, a failed check is error. */
  readiness: 'ready' | 'not_ready' | 'unknown' | 'error'
  schedule_id: string
  asset_id: string
  source_id: string
  table_path: string
  monitoring_mode: 'explicit' | 'auto_learn'
  /** Whether its schedule is active. */
  is_active: boolean
}

export type MonitoredTableDetail = MonitoredTable & {
  /** With clock_timezone. */
  update_clock?: UpdateClock
}

export type NewApiKey = ApiKey & {
  /** The key itself; shown once. */
  key: string
}

export type NewDestination = Destination & {
  /** Shown once. Deliveries are signed with it. */
  signing_secret: string
}

export type NotNullRuleConfig = Record<string, never>

export type OnboardingProgressEnvelope = Envelope & {
  data: OnboardingProgress
}

export type PlannedSchemaChange = SchemaDifference & {
  /** Whether it takes an earlier change back. */
  is_reverting: boolean
}

export type PreviewedAlert = Alert & {
  outcome: 'told' | 'postponed' | 'held_back'
}

export type QueuedDelivery = LastDelivery & {
  /** Null for a test. */
  alert_id: string | null
  /** The incident that the message is about, if it is about one. */
  incident_id: string | null
  destination_id: string
  rule_ids: string[]
  trigger: 'automatic' | 'manual' | 'test'
  attempt_count: number
  /** When the next attempt is due; for a postponed message, when the cooldown ends. */
  next_attempt_at: string | null
  stopped_reason: string | null
  attempts: DeliveryAttempt[]
}

export type Severity = 'info' | 'warning' | 'critical'

export type TableProfile = ProfileSummary & {
  columns: ColumnProfile[]
  /** What changed since the profile of compare_to; null without it. */
  comparison: ProfileComparison | null
}

export type TrackedEventEnvelope = Envelope & {
  data: TrackedEvent
}

export type UniqueRuleConfig = Record<string, never>

export type UserPreferencesEnvelope = Envelope & {
  data: UserPreferences
}

export type ValidityCheck = ValidityResult & {
  /** Up to sample_limit rows; none unless query_access_level is full. */
  invalid_samples: {
    samples: {
      /** The primary key, an object when it has several columns; else a number from 1. */
      row_id: unknown
      /** As the engine has it; null of NULL, and of personal data. */
      value: unknown
      /** Present when the row has a value that is not shown: it is personal data, or could not be read. */
      is_hidden?: true
    }[]
    /** Present when rows or their values are missing: why. */
    note?: string
  }
  /** Present when the rule is measured otherwise than it reads, such as a pattern by another collation. */
  warnings?: string[]
}

export type ValidityRuleDetail = ValidityRule & {
  /** What its type asks for. */
  rule_config:
    | NotNullRuleConfig
    | UniqueRuleConfig
    | RegexRuleConfig
    | RangeRuleConfig
    | EnumRuleConfig
    | DateFormatRuleConfig
    | CustomSqlRuleConfig
    | null
  description: string | null
  /** Manual mode: the rule fails above this percentage of invalid rows; defaults to 0. */
  alert_threshold_percent: number | null
  /** Ignores rows with NULL, except for NOT_NULL. */
  treat_null_as_valid: boolean
  /** manual: fails above the threshold; auto: fails outside a learned range. */
  detection_mode: 'manual' | 'auto'
  /** Auto mode: width of the range in standard deviations; 1 alerts most often. */
  sensitivity: number
  /** Learns active and quiet hours apart: by an operating schedule, or detected. */
  operating_period_mode: 'off' | 'schedule' | 'auto'
  operating_schedule_id: string | null
  error_message: string | null
  /** Present when a monitors file or a contract manages the check. */
  managed_by?: ManagedBy
  /** Present when a monitors file will undo this. */
  warnings?: string[]
}
