import Joi from 'joi'
import {
  exampleRecord,
  held,
  inData,
  inNestedPage,
  record,
  removal,
  reply,
} from '../../server/http/envelopes.ts'
import {
  createKeys,
  patchKeys,
  replyKeys,
  type CreateBody,
  type PatchBody,
  type RowOf,
} from '../../server/http/fields.ts'
import { pageQuery, type Page } from '../../server/http/page.ts'
import { OWNER_ORIGINS, type OwnerOrigin } from './api.ts'
import { ownerText, teamFields } from './fields.ts'

const { id, text, time, flag } = held
const ORDERS = '0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d90'
const TEAM = '0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d95'

const origin = Joi.string().valid(...OWNER_ORIGINS)
const assetId = Joi.string().max(1_000)

export type NewTeam = CreateBody<RowOf<typeof teamFields>, typeof teamFields>
export type TeamPatch = PatchBody<RowOf<typeof teamFields>, typeof teamFields>

export const newTeam = Joi.object<NewTeam>(createKeys(teamFields))
  .required()
  .example({ name: 'Data Platform', members: ['jane@example.com'] })
  .label('CreateTeamRequest')
export const teamPatch = Joi.object<TeamPatch>(patchKeys(teamFields))
  .min(1)
  .required()
  .example({ members: ['jane@example.com', 'sam@example.com'] })
  .label('UpdateTeamRequest')
export const teamParams = Joi.object({
  id: Joi.string().max(100).required().description('The id of a team.'),
})
export const teamList = Joi.object<Page>(pageQuery())
export const teamRecord = exampleRecord(replyKeys(teamFields)).label('Team')

/** What is owned, as the API takes it: an asset, a schema of a source, or a tag. */
export interface SubjectInput {
  asset_id?: string
  schema?: string
  tag?: string
}

export const newOwners = Joi.object<SubjectInput & { owners: string[] }>({
  asset_id: assetId.description('A table or a source, by its id or qualified name.'),
  schema: Joi.string()
    .max(500)
    .description('A schema of the source in `asset_id`: `catalog.schema`, or `schema`.'),
  tag: Joi.string().trim().min(1).max(100).description('A tag, in place of an asset.'),
  owners: Joi.array()
    .items(ownerText)
    .max(50)
    .unique()
    .required()
    .description('Ids of users and teams, addresses, or names of teams. An empty list removes the owners.'),
})
  .xor('asset_id', 'tag')
  .without('tag', 'schema')
  .messages({
    'object.missing': 'Give asset_id or tag: what is owned',
    'object.xor': 'Give either asset_id or tag, not both',
  })
  .required()
  .example({ asset_id: 'shop.shop.public.orders', owners: ['Data Platform', 'jane@example.com'] })
  .label('SetOwnersRequest')

export const ownershipParams = Joi.object({
  id: Joi.string().max(100).required().description('The id of an ownership.'),
})

/** Which ownerships are listed. */
export interface OwnershipQuery extends Page {
  asset_id?: string
  tag?: string
  owner?: string
  origin?: OwnerOrigin
}

export const ownershipList = Joi.object<OwnershipQuery>({
  ...pageQuery(),
  asset_id: assetId.description('What is set for a table, or for a source, its schemas and its tables.'),
  tag: Joi.string().max(100).description('What is set for a tag.'),
  owner: ownerText.description('The id of a user or a team, an address, or the name of a team.'),
  origin: origin.description('A person, dbt, OpenLineage, or the comment of a table.'),
})
export const ownedList = Joi.object<Page & { owner: string }>({
  ...pageQuery(),
  owner: ownerText
    .required()
    .description('The id of a user or a team, an address, or the name of a team.')
    .example('Data Platform'),
})
export const assetParams = Joi.object({
  asset_id: assetId.required().description('The id or qualified name of a source or a table.'),
})

const ownerFields = {
  type: Joi.valid('user', 'team', 'email', 'name').description(
    '`name` is one that dbt or a comment gives, of which there is no team.',
  ),
  id: id.allow(null),
  name: text,
  email: Joi.string().allow(null),
}

const inheritedFrom = record({ type: Joi.valid('tag', 'schema', 'source'), name: text })
  .allow(null)
  .description('What the owner is set for; null for the asset itself.')

const DATA_PLATFORM = { type: 'team', id: TEAM, name: 'Data Platform', email: null }

const ownership = exampleRecord({
  id: id.example('0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d97'),
  subject: record({
    type: Joi.valid('source', 'schema', 'table', 'tag'),
    asset_id: id.allow(null).description('The table, or the source; null for a tag.'),
    name: text,
  }).example({ type: 'table', asset_id: ORDERS, name: 'shop.shop.public.orders' }),
  owner: record(ownerFields).example(DATA_PLATFORM),
  origin: origin.example('manual'),
  reported_by: text.allow(null).description('The dbt project, or the source of the comment.').example(null),
  created_at: time.example('2030-01-15T09:30:00.000Z'),
}).label('Ownership')

const owner = record({ ...ownerFields, origin, inherited_from: inheritedFrom }).label('OwnerInForce')

const assetOwners = exampleRecord({
  asset_id: id.example(ORDERS),
  qualified_name: text.example('shop.shop.public.orders'),
  owners: Joi.array()
    .items(owner)
    .description('Those in force.')
    .example([{ ...DATA_PLATFORM, origin: 'manual', inherited_from: null }]),
  applicable: Joi.array()
    .items(
      record({
        ...ownerFields,
        origin,
        inherited_from: inheritedFrom,
        ownership_id: id,
        is_in_force: flag.description('False where a more specific object, or a person, says otherwise.'),
      }).label('ApplicableOwner'),
    )
    .description(
      'All that is set for the asset, its tags, its schema and its source, the most specific first.',
    )
    .example([]),
}).label('AssetOwners')

const ownedAsset = exampleRecord({
  id: id.example(ORDERS),
  qualified_name: text.example('shop.shop.public.orders'),
  asset_type: Joi.string().example('table'),
  origin: origin.example('manual'),
  inherited_from: inheritedFrom.example(null),
}).label('OwnedAsset')

export const replies = {
  ownerships: reply(inNestedPage(ownership, 'ownerships')),
  set: reply(
    inData(
      record({
        ownerships: Joi.array().items(ownership),
      }).label('SetOwners'),
    ),
  ),
  removed: reply(removal('The owner was removed')),
  owned: reply(inNestedPage(ownedAsset, 'assets')),
  assetOwners: reply(inData(assetOwners)),
}
