import { auditCommand } from '../plugins/auth/commands/audit-command.ts'
import {
  companiesCommand,
  prospectsCommand,
  usersCommand,
} from '../plugins/auth/commands/account-commands.ts'
import { keysCommand } from '../plugins/auth/commands/key-commands.ts'
import { badgeCommand } from '../plugins/badges/badge-command.ts'
import { compareCommand } from '../plugins/comparisons/compare-command.ts'
import { contractsCommand } from '../plugins/contracts/validate-command.ts'
import { freshnessCommand } from '../plugins/freshness/command/freshness-command.ts'
import { lineageCommand } from '../plugins/lineage/dbt/dbt-command.ts'
import { detectCommand } from '../plugins/metrics/detect/detect-command.ts'
import {
  applyCommand,
  exportCommand,
  monitorsCommand,
  planCommand,
} from '../plugins/monitors/command/monitors-commands.ts'
import { importCommand } from '../plugins/monitors/import/import-command.ts'
import { impactCommand } from '../plugins/impact/impact-command.ts'
import { profileCommand } from '../plugins/profiles/profile-command.ts'
import { checkCommand } from '../plugins/checks/check-command.ts'
import type { CommandContribution } from './cli/command.ts'

/**
 * The commands of the features. They stand beside the manifest and are not registered by the features' hapi plugins:
 * the manifest loads every feature and engine, while a command that only sends a request must start in half a second.
 */
export const featureCommands: CommandContribution[] = [
  companiesCommand,
  usersCommand,
  keysCommand,
  prospectsCommand,
  auditCommand,
  badgeCommand,
  checkCommand,
  compareCommand,
  profileCommand,
  impactCommand,
  freshnessCommand,
  contractsCommand,
  detectCommand,
  exportCommand,
  planCommand,
  applyCommand,
  monitorsCommand,
  importCommand,
  lineageCommand,
]
