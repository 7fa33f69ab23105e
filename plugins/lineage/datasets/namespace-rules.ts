import { v7 } from 'uuid'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { apiError, invalidField } from '../../../server/http/errors.ts'
import type { OwnersApi } from '../../owners/api.ts'
import { findRule, fitsSource } from './namespaces.ts'
import { adoptDatasets } from './move-nodes.ts'
import { readNamespaceContext, type NamespaceContext } from './resolve-datasets.ts'

type StoredRule = NamespaceContext['rules'][number]

/** A namespace that pipelines named, and what it stands for. */
interface ReportedNamespace {
  namespace: string
  /** Datasets of it that no source has. */
  datasets: number
  mapping: 'rule' | 'automatic' | 'none'
  sourceIds: string[]
}

const MAX_RULES = 1_000
const MAX_REPORTED = 500

/** The rules of a company, and the namespaces of datasets that no source has. */
export async function listNamespaces(
  trx: Transaction,
): Promise<{ rules: StoredRule[]; reported: ReportedNamespace[] }> {
  const { sources, rules } = await readNamespaceContext(trx)
  const counted = await rows<{ namespace: string; datasets: number; name: string }>(
    trx,
    `select namespace, count(*)::int as datasets, min(name) as name from lineage_nodes
      where company_id = :companyId and kind = 'dataset' group by namespace
      order by namespace limit ${MAX_REPORTED}`,
    { companyId: companyOf(trx) },
  )
  const reported = counted.map(({ namespace, datasets, name }) => {
    const rule = findRule(namespace, rules)
    const fitting = sources.filter(source => fitsSource(namespace, name.split('.'), source))
    const sourceIds = rule ? [rule.sourceId] : fitting.map(({ id }) => id)
    const mapping = rule ? ('rule' as const) : fitting.length > 0 ? ('automatic' as const) : ('none' as const)
    return { namespace, datasets, mapping, sourceIds }
  })
  return { rules, reported }
}

/**
 * Maps a namespace to a source, and turns its datasets that the source has into tables.
 * @throws 409 for a namespace that has a rule
 */
export async function createRule(
  owners: OwnersApi,
  trx: Transaction,
  rule: { namespace: string; sourceId: string; namePrefix: string | null },
): Promise<{ rule: StoredRule; moved: number }> {
  const { rules } = await readNamespaceContext(trx)
  if (rules.some(({ namespace }) => namespace === rule.namespace))
    throw apiError('CONFLICT', 'There is a rule for this namespace already: delete it first', {
      field: 'namespace',
    })
  if (rules.length >= MAX_RULES)
    throw invalidField(
      'namespace',
      `is one rule too many: ${MAX_RULES} are allowed. Use * for several namespaces`,
    )
  const [stored] = await rows<StoredRule>(
    trx,
    `insert into lineage_namespaces (id, company_id, namespace, source_id, name_prefix)
     values (:id, :companyId, :namespace, :sourceId, :namePrefix)
     returning id, namespace, source_id, name_prefix, created_at`,
    { ...rule, id: v7(), companyId: companyOf(trx) },
  )
  if (!stored) throw new Error('The rule was not stored')
  return { rule: stored, moved: await adoptDatasets(owners, trx, rule.sourceId) }
}

/** @throws 404 */
export async function deleteRule(trx: Transaction, id: string): Promise<StoredRule> {
  const [gone] = await rows<StoredRule>(
    trx,
    `delete from lineage_namespaces where company_id = :companyId and id::text = :id
     returning id, namespace, source_id, name_prefix, created_at`,
    { companyId: companyOf(trx), id: id.toLowerCase() },
  )
  if (!gone) throw apiError('NOT_FOUND', 'There is no such rule, or it is not yours')
  return gone
}
