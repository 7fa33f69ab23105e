import type { Server } from '@hapi/hapi'
import { formatName } from '../../connectors/catalog.ts'
import { defaultsOf, presentFields, withoutDefaults } from '../../server/http/fields.ts'
import { validateBody } from '../../server/http/validate-body.ts'
import type { CheckResource } from '../scans/api.ts'
import { checksWithNames } from './checks.ts'
import { assertComparable, findParent, insertCheck, usualName } from './create.ts'
import { checkFields, type NewCheck } from './fields.ts'
import type { NamedCheck, ReferentialResult } from './models.ts'
import { childPath, parentPath } from './present.ts'
import { declaredCheck } from './schemas.ts'

const FIXED_FIELDS = ['child_column_name', 'parent_table_path', 'parent_column_name'] as const
const COUNTS = ['max_orphan_count', 'min_child_count', 'max_child_count'] as const

const DEFAULTS = defaultsOf(checkFields)

/** Referential checks as declarations of many checks list and create them. */
export function checkDeclaration(
  server: Server,
): CheckResource<NamedCheck, ReferentialResult>['declaration'] {
  return {
    kind: 'referential',
    body: declaredCheck,
    fixedFields: () => FIXED_FIELDS,
    engineFields: [],
    async list(trx, source) {
      const checks = await checksWithNames(trx)
        .where('referentialChecks.sourceId', source.id)
        .select('child.isActive as isTableActive')
        .orderBy('referentialChecks.internalId')
        .castTo<(NamedCheck & { isTableActive: boolean })[]>()
      return checks.map(check => {
        const fields = fieldsOf(check)
        const name = usualName({ name: check.childTable }, { name: check.parentTable }, fields)
        return {
          id: check.id,
          tableId: check.tableId,
          tablePath: childPath(check),
          isTableActive: check.isTableActive,
          fields,
          body: withoutDefaults(fields, { ...DEFAULTS, name }),
        }
      })
    },
    async read({ source, table: child }, body, asksEngine) {
      const check = validateBody<Omit<NewCheck, 'child_table_path'>>(declaredCheck, body)
      const parent = await server.db.company(source.companyId, trx =>
        findParent(server, trx, source, check.parent_table_path),
      )
      await assertComparable(server, { source, child, parent }, check, asksEngine)
      return {
        ...DEFAULTS,
        name: usualName(child, parent, check),
        ...check,
        parent_table_path: formatName([parent.catalogName, parent.schemaName, parent.name]),
      }
    },
    // One by one: they are few, and each has a parent to be found.
    async insert(trx, checks) {
      const stored: NamedCheck[] = []
      for (const { table: context, fields } of checks) {
        const { source, table: child } = context
        const check = fields as unknown as Omit<NewCheck, 'child_table_path'>
        const parent = await findParent(server, trx, source, check.parent_table_path)
        stored.push(await insertCheck(trx, { source, child, parent }, check))
      }
      return stored
    },
  }
}

function fieldsOf(check: NamedCheck) {
  // Numbers of 64 bits come as texts.
  const counts = Object.fromEntries(
    Object.entries(presentFields(checkFields, check)).map(([name, value]) => [
      name,
      value !== null && COUNTS.some(count => count === name) ? Number(value) : value,
    ]),
  )
  return {
    child_column_name: check.childColumnName,
    parent_table_path: parentPath(check),
    parent_column_name: check.parentColumnName,
    ...counts,
  }
}
