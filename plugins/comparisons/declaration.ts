import { formatName } from '../../connectors/catalog.ts'
import { defaultsOf, withoutDefaults } from '../../server/http/fields.ts'
import { validateBody } from '../../server/http/validate-body.ts'
import type { CheckedTable, CheckFields, CheckResource } from '../checks/api.ts'
import { checksWithNames } from '../checks/kit.ts'
import { assertComparable, findRight, rowOf, usualName } from './create.ts'
import type { ComparisonDeps } from './deps.ts'
import { comparisonFields, presentPair, storedPair, type NewComparison } from './fields.ts'
import { Comparison } from './models.ts'
import { leftPath, presentSettings, rightPath } from './present.ts'
import { declaredComparison } from './schemas.ts'

const FIXED_FIELDS = [
  ...['right_source', 'right_table_path', 'level', 'key_columns', 'columns', 'group_by_columns'],
  ...['filter', 'right_filter', 'time_column', 'window'],
] as const

const DEFAULTS = defaultsOf(comparisonFields)

type Body = Omit<NewComparison, 'table_path'>

/** Comparisons as declarations of many checks list and create them. */
export function comparisonDeclaration({
  catalog,
  db,
}: ComparisonDeps): CheckResource<Comparison>['declaration'] {
  return {
    kind: 'comparison',
    body: declaredComparison,
    fixedFields: () => FIXED_FIELDS,
    engineFields: [],
    async list(trx, source) {
      const comparisons = await checksWithNames(trx, Comparison)
        .where('checks.sourceId', source.id)
        .orderBy('checks.id')
      return comparisons.map(comparison => {
        const right = { id: comparison.otherSourceId!, name: comparison.otherSource! }
        const fields = {
          right_source: right.name,
          right_table_path: rightPath(comparison),
          ...presentSettings(comparison),
        }
        const name = usualName({
          left: { source, table: { id: '', name: comparison.ofTable } },
          right: { source: right, table: { id: '', name: comparison.otherTable! } },
        })
        return {
          id: `c_${comparison.uuid}`,
          tableId: comparison.tableId,
          tablePath: leftPath(comparison),
          isTableActive: comparison.isTableActive,
          owner: comparison.ownerRef,
          fields,
          body: {
            ...withoutDefaults(fields, {
              ...DEFAULTS,
              name,
              ...(right.id === source.id && { right_source: right.name }),
            }),
            ...shortPairs(comparison),
          },
        }
      })
    },
    async read(left, body, asksEngine) {
      const given = validateBody<Body>(declaredComparison, body)
      const right = await db.company(left.source.companyId, trx =>
        findRight(catalog, trx, left.source, given),
      )
      await assertComparable(catalog, { left, right }, given, asksEngine)
      const { catalogName, schemaName, name } = right.table
      return {
        ...DEFAULTS,
        name: usualName({ left, right }),
        ...given,
        right_source: right.source.name,
        right_table_path: formatName([catalogName, schemaName, name]),
        key_columns: given.key_columns.map(pair => presentPair(storedPair(pair))),
        columns: given.columns?.map(pair => presentPair(storedPair(pair))) ?? null,
        group_by_columns: given.group_by_columns.map(pair => presentPair(storedPair(pair))),
      }
    },
    complete,
    async rowsOf(trx, checks) {
      const created = []
      for (const { table: left, fields } of checks) {
        const body = validateBody<Body>(declaredComparison, fields)
        created.push(rowOf({ left, right: await findRight(catalog, trx, left.source, body) }, body))
      }
      return created
    },
  }
}

/** The fields of a new comparison. @param body its fields, good for its tables */
function complete(left: CheckedTable, body: CheckFields, right?: CheckedTable): CheckFields {
  const source = { id: '', name: '' }
  const name = usualName({ left: { source, table: left }, right: { source, table: right ?? left } })
  return { ...DEFAULTS, name, ...body }
}

/** Pairs as people write them: a name alone where both sides have it and it has no rule. */
function shortPairs({ keyColumns, comparedColumns, groupPairs }: Comparison) {
  const short = (pairs: Comparison['keyColumns']) =>
    pairs.map(pair => {
      const { left, right, ...rule } = presentPair(pair) as Exclude<ReturnType<typeof presentPair>, string>
      if (left !== right) return { left, right, ...rule }
      return Object.keys(rule).length === 0 ? left : { left, ...rule }
    })
  return {
    ...(keyColumns.length > 0 && { key_columns: short(keyColumns) }),
    ...(comparedColumns && { columns: short(comparedColumns) }),
    ...(groupPairs.length > 0 && { group_by_columns: short(groupPairs) }),
  }
}
