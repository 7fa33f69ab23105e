import { v7, validate as isUuid } from 'uuid'
import { formatName, parseName } from '../../connectors/catalog.ts'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { defineCap, enforceCap } from '../../server/database/company-caps.ts'
import { lockName } from '../../server/database/locks.ts'
import { apiError, invalidField, invalidInput } from '../../server/http/errors.ts'
import { didYouMean, quoteName } from '../../server/http/nearest.ts'
import type { CatalogApi } from '../catalog/api.ts'
import type { OwnerOrigin } from './api.ts'
import { IS_HELD, identityBindings } from './effective-owners.ts'
import { findPeople, identityOf } from './people.ts'
import type { OwnershipQuery, SubjectInput } from './schemas.ts'

const OWNER_CAP = defineCap({
  name: 'ownerships',
  most: 100_000,
  what: 'owners of assets and tags',
  advice: 'name owners of schemas or sources',
  condition: `origin = 'manual'`,
})

/** What is owned, by its columns. */
interface Subject {
  sourceId: string | null
  catalogName: string | null
  schemaName: string | null
  tableId: string | null
  tag: string | null
}

const NOTHING: Subject = { sourceId: null, catalogName: null, schemaName: null, tableId: null, tag: null }

/** Condition in SQL that an ownership `o` is of a subject, by its bindings. */
const IS_OF_SUBJECT = `o.source_id is not distinct from cast(:sourceId as uuid)
  and o.table_id is not distinct from cast(:tableId as uuid) and o.catalog_name is not distinct from :catalogName
  and o.schema_name is not distinct from :schemaName and o.tag is not distinct from :tag`

/**
 * Sets the owners that a person names for a source, a schema, a table or a tag: those named before are replaced.
 * @returns the ids of its ownerships, and whether anything changed
 * @throws 404 `ASSET_NOT_FOUND`, 400 for a schema that the source lacks and for an owner that is not known
 */
export async function setOwners(
  catalog: CatalogApi,
  trx: Transaction,
  { owners, ...input }: SubjectInput & { owners: readonly string[] },
): Promise<{ subject: Subject; isChanged: boolean }> {
  const people = await findPeople(trx, owners, 'owners')
  const subject = await findSubject(catalog, trx, input)
  const companyId = companyOf(trx)
  // Two who set owners of the same thing at once would leave the owners of both.
  await lockName(trx, `owners ${companyId} ${Object.values(subject).join(' ')}`)
  const changed = await rows(
    trx,
    `with given as (
       select * from jsonb_to_recordset(cast(:people as jsonb)) as p (id uuid, "userId" uuid, "teamId" uuid, email text)),
     removed as (
       delete from ownerships o where o.company_id = :companyId and o.origin = 'manual' and ${IS_OF_SUBJECT}
          and not exists (select from given g where o.user_id = g."userId" or o.team_id = g."teamId" or o.email = g.email)
       returning 1),
     added as (
       insert into ownerships (id, company_id, source_id, table_id, catalog_name, schema_name, tag, user_id, team_id,
         email, origin)
       select id, :companyId, cast(:sourceId as uuid), cast(:tableId as uuid), :catalogName, :schemaName, :tag,
              "userId", "teamId", email, 'manual' from given
       on conflict do nothing returning 1)
     select 1 from removed union all select 1 from added`,
    { companyId, ...subject, people: JSON.stringify(people.map(person => ({ id: v7(), ...person }))) },
  )
  await enforceCap(trx, companyId, OWNER_CAP)
  return { subject, isChanged: changed.length > 0 }
}

async function findSubject(catalog: CatalogApi, trx: Transaction, input: SubjectInput): Promise<Subject> {
  if (input.tag !== undefined) return { ...NOTHING, tag: input.tag.normalize('NFC') }
  const { source, table } = await catalog.findAsset(trx, input.asset_id ?? '')
  await catalog.lockSource(trx, source.id)
  if (input.schema === undefined) return { ...NOTHING, sourceId: source.id, tableId: table?.id ?? null }
  if (table) throw invalidField('schema', 'needs the source in asset_id, which is a table')
  return { ...NOTHING, sourceId: source.id, ...(await findSchema(trx, source.id, input.schema)) }
}

/** @throws 400 with the schemas that there are */
async function findSchema(trx: Transaction, sourceId: string, path: string) {
  const [name, catalog] = (parseName(path) ?? []).toReversed()
  const schemas = await rows<{ catalogName: string; schemaName: string }>(
    trx,
    `select distinct catalog_name, schema_name from tables
      where company_id = :companyId and source_id = :sourceId and is_active order by 1, 2`,
    { companyId: companyOf(trx), sourceId },
  )
  const [schema, another] = schemas.filter(
    each => each.schemaName === name && (catalog === undefined || each.catalogName === catalog),
  )
  if (schema && !another) return schema
  const candidates = schemas
    .filter(({ schemaName }) => !another || schemaName === name)
    .slice(0, MAX_CANDIDATES)
    .map(each => formatName([each.catalogName, each.schemaName]))
  const problem = another ? 'names several schemas: write catalog.schema' : 'names no schema of the source'
  const error = `schema ${quoteName(path)} ${problem}${candidates.length > 0 ? didYouMean(candidates) : ''}`
  throw invalidInput([{ field: 'schema', error, ...(candidates.length > 0 && { candidates }) }])
}

const MAX_CANDIDATES = 20

/** An ownership with the names of its parts. */
interface OwnershipRow extends Subject {
  id: string
  qualifiedName: string | null
  sourceName: string | null
  type: string
  ownerId: string | null
  ownerName: string
  ownerEmail: string | null
  origin: OwnerOrigin
  scope: string
  createdAt: Date
}

/** One page of what is set, newest first; of a source also what is set for its schemas and tables. */
export async function listOwnerships(
  catalog: CatalogApi,
  trx: Transaction,
  { asset_id: assetId, tag, owner, origin, limit, offset }: OwnershipQuery,
) {
  const asset = assetId === undefined ? undefined : await catalog.findAsset(trx, assetId)
  const [person] = owner === undefined ? [] : await findPeople(trx, [owner], 'owner')
  const identity = person && (await identityOf(trx, person))
  const conditions = [
    'o.company_id = :companyId',
    ...(asset?.table ? ['o.table_id = :tableId'] : asset ? ['o.source_id = :sourceId'] : []),
    ...(tag === undefined ? [] : ['o.tag = :tag']),
    ...(origin === undefined ? [] : ['o.origin = :origin']),
    ...(identity ? [IS_HELD] : []),
  ].join(' and ')
  const bindings = {
    companyId: companyOf(trx),
    limit,
    offset,
    ...(asset?.table && { tableId: asset.table.id }),
    ...(asset && !asset.table && { sourceId: asset.source.id }),
    ...(tag !== undefined && { tag: tag.normalize('NFC') }),
    ...(origin !== undefined && { origin }),
    ...(identity && identityBindings(identity)),
  }
  const found = await rows<OwnershipRow>(
    trx,
    `${OWNERSHIPS_QUERY} where ${conditions} order by o.created_at desc, o.id desc limit :limit offset :offset`,
    bindings,
  )
  const [counted] = await rows<{ total: number }>(
    trx,
    `select cast(count(*) as int) as total from ownerships o where ${conditions}`,
    bindings,
  )
  return { ownerships: found.map(presentOwnership), total: counted?.total ?? 0 }
}

const OWNERSHIPS_QUERY = `select o.*, tb.qualified_name, s.name as source_name,
    case when t.id is not null then 'team' when u.id is not null then 'user'
         when o.email is not null then 'email' else 'name' end as type,
    coalesce(t.id, u.id) as owner_id, coalesce(t.name, nullif(u.full_name, ''), u.email, o.email, o.name) as owner_name,
    coalesce(u.email, o.email) as owner_email
  from ownerships o
  left join tables tb on tb.company_id = o.company_id and tb.id = o.table_id
  left join sources s on s.company_id = o.company_id and s.id = o.source_id
  left join users u on u.company_id = o.company_id and (u.id = o.user_id or u.email = o.email)
  left join teams t on t.company_id = o.company_id and (t.id = o.team_id or lower(t.name) = lower(o.name))`

/** The ownerships that a person set for a subject. */
export async function readManualOwnerships(trx: Transaction, subject: Subject) {
  const found = await rows<OwnershipRow>(
    trx,
    `${OWNERSHIPS_QUERY} where o.company_id = :companyId and o.origin = 'manual' and ${IS_OF_SUBJECT}
      order by owner_name, o.id`,
    { companyId: companyOf(trx), ...subject },
  )
  return found.map(presentOwnership)
}

function presentOwnership(row: OwnershipRow) {
  const { id, tableId, sourceId, origin, createdAt } = row
  return {
    id,
    subject: { type: subjectType(row), asset_id: tableId ?? sourceId, name: subjectName(row) },
    owner: {
      type: row.type,
      id: row.ownerId,
      name: row.ownerName,
      email: row.type === 'team' ? null : row.ownerEmail,
    },
    origin,
    reported_by: reporterOf(row),
    created_at: createdAt,
  }
}

/** The project of dbt without the source that its reports are kept apart by, or the source of a comment. */
function reporterOf({ origin, scope }: OwnershipRow): string | null {
  if (origin === 'dbt') return scope.slice(scope.indexOf(' ') + 1)
  return origin === 'comment' ? scope : null
}

function subjectType({ tag, tableId, schemaName }: Subject): 'tag' | 'table' | 'schema' | 'source' {
  if (tag !== null) return 'tag'
  if (tableId !== null) return 'table'
  return schemaName === null ? 'source' : 'schema'
}

function subjectName({ tag, qualifiedName, sourceName, catalogName, schemaName }: OwnershipRow): string {
  if (tag !== null) return tag
  return qualifiedName ?? formatName([sourceName, catalogName, schemaName].filter(part => part !== null))
}

/** @returns what was removed. @throws 404 `NOT_FOUND`; 409 `CONFLICT` for one that dbt or a comment would bring back */
export async function removeOwnership(
  trx: Transaction,
  id: string,
): Promise<{ origin: OwnerOrigin } & Subject> {
  const where = { companyId: companyOf(trx), id }
  const [ownership] = isUuid(id)
    ? await rows<{ origin: OwnerOrigin } & Subject>(
        trx,
        'select * from ownerships where company_id = :companyId and id = :id',
        where,
      )
    : []
  if (!ownership) {
    const message = 'There is no such ownership: GET /api/v1/sdk/owners lists them'
    throw apiError('NOT_FOUND', message, { ownership_id: id })
  }
  if (ownership.origin !== 'manual') {
    const origin = ownership.origin === 'dbt' ? 'dbt' : 'The comment of the table'
    const message = `${origin} names this owner, and would do so again: change it there, or set owners of your own, which go before it`
    throw apiError('CONFLICT', message, { ownership_id: id })
  }
  await trx.raw('delete from ownerships where company_id = :companyId and id = :id', where)
  return ownership
}
