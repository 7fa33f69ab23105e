import type { CheckType } from '../checks/check.ts'
import { metrics as metricTypes } from '../checks/metrics/index.ts'
import { rules as ruleTypes } from '../checks/rules/index.ts'
import type { Connector } from '../connectors/connector.ts'
import { bigquery } from '../connectors/bigquery/index.ts'
import { databricks } from '../connectors/databricks/index.ts'
import { duckdb } from '../connectors/duckdb/index.ts'
import { mysql } from '../connectors/mysql/index.ts'
import { postgresql } from '../connectors/postgresql/index.ts'
import { redshift } from '../connectors/redshift/index.ts'
import { snowflake } from '../connectors/snowflake/index.ts'
import * as accounts from '../migrations/0001_accounts.ts'
import * as catalogTables from '../migrations/0002_catalog.ts'
import * as alertTables from '../migrations/0003_alerts.ts'
import * as checkTables from '../migrations/0004_checks.ts'
import * as recommendationTables from '../migrations/0005_recommendations.ts'
import * as lineageTables from '../migrations/0006_lineage.ts'
import * as contractTables from '../migrations/0007_contracts.ts'
import * as peopleTables from '../migrations/0008_people.ts'
import * as tableWindows from '../migrations/0009_table_windows.ts'
import * as tableParts from '../migrations/0010_table_parts.ts'
import * as statementBytes from '../migrations/0011_statement_bytes.ts'
import * as incidentMembership from '../migrations/0012_incident_membership.ts'
import * as adoption from '../migrations/0013_adoption.ts'
import * as notificationPolicies from '../migrations/0014_notification_policies.ts'
import * as demoSources from '../migrations/0015_demo_sources.ts'
import * as digestTables from '../migrations/0016_digests.ts'
import * as tableNamePlans from '../migrations/0017_table_name_plans.ts'
import * as passwordResets from '../migrations/0018_password_resets.ts'
import * as incidentNumbers from '../migrations/0019_incident_numbers.ts'
import { alerts } from '../plugins/alerts/index.ts'
import { auth } from '../plugins/auth/index.ts'
import { badges } from '../plugins/badges/index.ts'
import { catalog } from '../plugins/catalog/index.ts'
import { chartLinks } from '../plugins/chart-links/index.ts'
import { comparisons } from '../plugins/comparisons/index.ts'
import { consolePages } from '../plugins/console/index.ts'
import { contracts } from '../plugins/contracts/index.ts'
import { demo } from '../plugins/demo/index.ts'
import { freshness } from '../plugins/freshness/index.ts'
import { health } from '../plugins/health/index.ts'
import { impact } from '../plugins/impact/index.ts'
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
import { checks } from '../plugins/checks/index.ts'
import { validity } from '../plugins/validity/index.ts'
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
    checks,
    validity,
    metrics,
    referential,
    comparisons,
    freshness,
    profiles,
    recommendations,
    monitors,
    lineage,
    health,
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
  connectors: [
    postgresql,
    redshift,
    mysql,
    snowflake,
    bigquery,
    databricks,
    duckdb,
  ] as unknown as Connector[],
  checks: [...ruleTypes, ...metricTypes] as CheckType[],
  /** The plug-in template is our own SQLite engine, loaded as anyone's extension is. */
  extensions: [templateEntry()],
  migrations: [
    migration('0001_accounts', accounts),
    migration('0002_catalog', catalogTables),
    migration('0003_alerts', alertTables),
    migration('0004_checks', checkTables),
    migration('0005_recommendations', recommendationTables),
    migration('0006_lineage', lineageTables),
    migration('0007_contracts', contractTables),
    migration('0008_people', peopleTables),
    migration('0009_table_windows', tableWindows),
    migration('0010_table_parts', tableParts),
    migration('0011_statement_bytes', statementBytes),
    migration('0012_incident_membership', incidentMembership),
    migration('0013_adoption', adoption),
    migration('0014_notification_policies', notificationPolicies),
    migration('0015_demo_sources', demoSources),
    migration('0016_digests', digestTables),
    migration('0017_table_name_plans', tableNamePlans),
    migration('0018_password_resets', passwordResets),
    migration('0019_incident_numbers', incidentNumbers),
  ],
}

function templateEntry(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new URL(`../plugin-template/index.${extension}`, import.meta.url).href
}
