import type { CheckType } from '../checks/check.ts'
import { metrics as metricTypes } from '../checks/metrics/index.ts'
import { rules as ruleTypes } from '../checks/rules/index.ts'
import type { Connector } from '../connectors/connector.ts'
import { bigquery } from '../connectors/bigquery/index.ts'
import { databricks } from '../connectors/databricks/index.ts'
import { mysql } from '../connectors/mysql/index.ts'
import { postgresql } from '../connectors/postgresql/index.ts'
import { redshift } from '../connectors/redshift/index.ts'
import { snowflake } from '../connectors/snowflake/index.ts'
import * as accounts from '../migrations/0001_accounts.ts'
import * as catalogTables from '../migrations/0002_catalog.ts'
import * as checkTables from '../migrations/0003_checks.ts'
import * as freshnessTables from '../migrations/0004_freshness.ts'
import * as alertTables from '../migrations/0005_alerts.ts'
import * as referentialTables from '../migrations/0006_referential.ts'
import * as scanTables from '../migrations/0007_scans.ts'
import * as feedbackColumns from '../migrations/0008_feedback.ts'
import * as driftTables from '../migrations/0009_drift.ts'
import * as listIndexes from '../migrations/0010_lists.ts'
import * as freshnessSignals from '../migrations/0011_freshness_signals.ts'
import * as accessTables from '../migrations/0012_access.ts'
import * as deliveryColumns from '../migrations/0013_deliveries.ts'
import * as publicTables from '../migrations/0014_public.ts'
import * as growthTables from '../migrations/0015_growth.ts'
import * as usageTables from '../migrations/0016_usage.ts'
import * as slotTables from '../migrations/0017_slots.ts'
import * as alertLifecycle from '../migrations/0018_alert_lifecycle.ts'
import * as badgeColumns from '../migrations/0019_badges.ts'
import * as identityColumns from '../migrations/0020_identities.ts'
import * as alertNotes from '../migrations/0021_alert_notes.ts'
import * as badgeUpstream from '../migrations/0022_badge_upstream.ts'
import * as checkLeases from '../migrations/0023_check_leases.ts'
import * as frequentReads from '../migrations/0024_frequent_reads.ts'
import * as snapshotBasis from '../migrations/0025_snapshot_basis.ts'
import * as checkLists from '../migrations/0026_check_lists.ts'
import * as scanCosts from '../migrations/0027_scan_costs.ts'
import * as chartLinkTables from '../migrations/0028_chart_links.ts'
import * as profileTables from '../migrations/0029_profiles.ts'
import * as recommendationTables from '../migrations/0030_recommendations.ts'
import * as monitorTables from '../migrations/0031_monitors.ts'
import * as contractTables from '../migrations/0032_contracts.ts'
import * as checkListIndexes from '../migrations/0033_check_list_indexes.ts'
import * as lineageTables from '../migrations/0034_lineage_graph.ts'
import * as lineageRuns from '../migrations/0035_lineage_runs.ts'
import * as ownerTables from '../migrations/0036_owners.ts'
import * as incidentTables from '../migrations/0037_incidents.ts'
import * as recommendationCounts from '../migrations/0038_recommendation_counts.ts'
import * as personalFlow from '../migrations/0040_personal_flow.ts'
import * as lineageEdgesDownstream from '../migrations/0041_lineage_edges_downstream.ts'
import { alerts } from '../plugins/alerts/index.ts'
import { auth } from '../plugins/auth/index.ts'
import { badges } from '../plugins/badges/index.ts'
import { catalog } from '../plugins/catalog/index.ts'
import { chartLinks } from '../plugins/chart-links/index.ts'
import { consolePages } from '../plugins/console/index.ts'
import { contracts } from '../plugins/contracts/index.ts'
import { coverage } from '../plugins/coverage/index.ts'
import { demo } from '../plugins/demo/index.ts'
import { freshness } from '../plugins/freshness/index.ts'
import { health } from '../plugins/health/index.ts'
import { impact } from '../plugins/impact/index.ts'
import { incidents } from '../plugins/incidents/index.ts'
import { lineage } from '../plugins/lineage/index.ts'
import { metrics } from '../plugins/metrics/index.ts'
import { monitors } from '../plugins/monitors/index.ts'
import { operatingSchedules } from '../plugins/operating-schedules/index.ts'
import { operations } from '../plugins/operations/index.ts'
import { owners } from '../plugins/owners/index.ts'
import { preferences } from '../plugins/preferences/index.ts'
import { profiles } from '../plugins/profiles/index.ts'
import { publicPages } from '../plugins/public/index.ts'
import { recommendations } from '../plugins/recommendations/index.ts'
import { referential } from '../plugins/referential/index.ts'
import { scans } from '../plugins/scans/index.ts'
import { validity } from '../plugins/validity/index.ts'
import { watch } from '../plugins/watch/index.ts'
import type { Migration } from './database/database.ts'

const migration = (name: string, steps: Pick<Migration, 'up' | 'down'>): Migration => ({ name, ...steps })

/** Everything the program is made of. Nothing is discovered: what is not listed here does not run. */
export const manifest = {
  plugins: [
    auth,
    alerts,
    catalog,
    owners,
    operatingSchedules,
    scans,
    validity,
    metrics,
    referential,
    freshness,
    profiles,
    recommendations,
    watch,
    monitors,
    lineage,
    incidents,
    health,
    coverage,
    preferences,
    operations,
    demo,
    badges,
    chartLinks,
    contracts,
    impact,
    publicPages,
    consolePages,
  ],
  connectors: [postgresql, redshift, mysql, snowflake, bigquery, databricks] as unknown as Connector[],
  checks: [...ruleTypes, ...metricTypes] as CheckType[],
  /** The plug-in template is our own SQLite engine, loaded as anyone's extension is. */
  extensions: [templateEntry()],
  migrations: [
    migration('0001_accounts', accounts),
    migration('0002_catalog', catalogTables),
    migration('0003_checks', checkTables),
    migration('0004_freshness', freshnessTables),
    migration('0005_alerts', alertTables),
    migration('0006_referential', referentialTables),
    migration('0007_scans', scanTables),
    migration('0008_feedback', feedbackColumns),
    migration('0009_drift', driftTables),
    migration('0010_lists', listIndexes),
    migration('0011_freshness_signals', freshnessSignals),
    migration('0012_access', accessTables),
    migration('0013_deliveries', deliveryColumns),
    migration('0014_public', publicTables),
    migration('0015_growth', growthTables),
    migration('0016_usage', usageTables),
    migration('0017_slots', slotTables),
    migration('0018_alert_lifecycle', alertLifecycle),
    migration('0019_badges', badgeColumns),
    migration('0020_identities', identityColumns),
    migration('0021_alert_notes', alertNotes),
    migration('0022_badge_upstream', badgeUpstream),
    migration('0023_check_leases', checkLeases),
    migration('0024_frequent_reads', frequentReads),
    migration('0025_snapshot_basis', snapshotBasis),
    migration('0026_check_lists', checkLists),
    migration('0027_scan_costs', scanCosts),
    migration('0028_chart_links', chartLinkTables),
    migration('0029_profiles', profileTables),
    migration('0030_recommendations', recommendationTables),
    migration('0031_monitors', monitorTables),
    migration('0032_contracts', contractTables),
    migration('0033_check_list_indexes', checkListIndexes),
    migration('0034_lineage_graph', lineageTables),
    migration('0035_lineage_runs', lineageRuns),
    migration('0036_owners', ownerTables),
    migration('0037_incidents', incidentTables),
    migration('0038_recommendation_counts', recommendationCounts),
    migration('0040_personal_flow', personalFlow),
    migration('0041_lineage_edges_downstream', lineageEdgesDownstream),
  ],
}

function templateEntry(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new URL(`../plugin-template/index.${extension}`, import.meta.url).href
}
