import { formatName } from '../../connectors/catalog.ts'
import { defaultsOf, presentFields, withoutDefaults } from '../../server/http/fields.ts'
import { validateBody } from '../../server/http/validate-body.ts'
import type { CheckFields, CheckResource, CheckedTable } from '../checks/api.ts'
import { checksWithNames, withWindow } from '../checks/kit.ts'
import { assertComparable, findParent, rowOf, usualName } from './create.ts'
import type { ReferentialDeps } from './deps.ts'
import { checkFields, type NewCheck } from './fields.ts'
import { ReferentialCheck, type NamedCheck } from './models.ts'
import { childPath, parentPath } from './present.ts'
import { declaredCheck } from './schemas.ts'

const FIXED_FIELDS = [
  'child_column_name',
  'parent_table_path',
  'parent_column_name',
  'filter',
  'time_column',
  'window',
] as const

const DEFAULTS = defaultsOf(checkFields)

/** Referential checks as declarations of many checks list and create them. */
export function checkDeclaration({
  catalog,
  db,
}: ReferentialDeps): CheckResource<ReferentialCheck>['declaration'] {
  return {
    kind: 'referential',
    body: declaredCheck,
    fixedFields: () => FIXED_FIELDS,
    engineFields: [],
    async list(trx, source) {
      const checks = await checksWithNames(trx, ReferentialCheck)
        .where('checks.sourceId', source.id)
        .orderBy('checks.id')
      return checks.map(check => {
        const fields = fieldsOf(check)
        const name = usualName({ name: check.ofTable }, { name: check.otherTable! }, fields)
        return {
          id: check.uuid,
          tableId: check.tableId,
          tablePath: childPath(check),
          isTableActive: check.isTableActive,
          owner: check.ownerRef,
          fields,
          body: withoutDefaults(fields, { ...DEFAULTS, name }),
        }
      })
    },
    async read({ source, table: child }, body, asksEngine) {
      const check = validateBody<Omit<NewCheck, 'child_table_path'>>(declaredCheck, body)
      const parent = await db.company(source.companyId, trx =>
        findParent(catalog, trx, source, check.parent_table_path),
      )
      const window = await assertComparable(catalog, { source, child, parent }, check, asksEngine)
      const parent_table_path = formatName([parent.catalogName, parent.schemaName, parent.name])
      return complete(child, withWindow({ ...check, parent_table_path }, window), parent)
    },
    complete,
    async rowsOf(trx, checks) {
      const created = []
      for (const { table: context, fields, otherTable } of checks) {
        const { source, table: child } = context
        const check = fields as unknown as Omit<NewCheck, 'child_table_path'>
        const parent = otherTable ?? (await findParent(catalog, trx, source, check.parent_table_path))
        created.push(rowOf({ source, child, parent }, check))
      }
      return created
    },
  }
}

/** The fields of a new check. @param check its body, good for its tables */
function complete(child: CheckedTable, check: CheckFields, parent?: CheckedTable): CheckFields {
  return { ...DEFAULTS, name: usualName(child, parent!, check as unknown as NewCheck), ...check }
}

function fieldsOf(check: NamedCheck) {
  return {
    child_column_name: check.columnName!,
    parent_table_path: parentPath(check),
    parent_column_name: check.parentColumnName,
    ...presentFields(checkFields, check),
  }
}
