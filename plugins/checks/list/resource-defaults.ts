/** What the resource of a kind of check has where it states nothing else. */
import Joi from 'joi'
import { whereAsset } from '../../../server/database/asset-rows.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { exampleRecord, held } from '../../../server/http/envelopes.ts'
import { joinedPageOf, newestFirst, pageQuery, queryBoolean, type Page } from '../../../server/http/page.ts'
import type { Asset } from '../../catalog/api.ts'
import type { CheckResource, PresentedPage } from '../check-resource.ts'
import { queryChecks, type CheckRow } from '../models.ts'
import { checksWithNames, type CheckTotals } from '../store.ts'

const { count, time } = held

type ListQuery = Page & { is_active?: boolean }

/** The query of the list. */
export const listQuery = Joi.object<ListQuery>({ is_active: queryBoolean, ...pageQuery() })

const NEWEST_FIRST = newestFirst('checks.createdAt', 'checks.id')

/** One page of the checks of an asset, newest first, each as `present` shows it, and how many there are. */
export async function listRows<Row extends CheckRow>(
  trx: Transaction,
  { kind: { model }, listFilter, present }: CheckResource<Row>,
  asset: Asset,
  query: ListQuery,
): Promise<PresentedPage> {
  const { is_active: isActive } = query
  const all = whereAsset(queryChecks(model, trx), model, asset).orderBy(NEWEST_FIRST)
  if (isActive !== undefined) void all.where('checks.isActive', isActive)
  if (listFilter) void all.where(listFilter(query))
  const { results, total } = await joinedPageOf(all, query, page =>
    checksWithNames(trx, model, page).orderBy(NEWEST_FIRST),
  )
  const items = []
  for (const row of results) items.push(await present(trx, row, {}))
  return { items, total }
}

/** The number of checks by their last status. @param noun what fields call them: `comparisons` */
export const presentTotals = (
  noun: string,
  { total, active, pass, fail, error, lastCheckedAt }: CheckTotals,
) => ({
  [`total_${noun}`]: total,
  [`active_${noun}`]: active,
  [`passing_${noun}`]: pass,
  [`failing_${noun}`]: fail,
  error,
  last_check_at: lastCheckedAt,
})

/** What `presentTotals` gives, for the reply of the summary. @param label of the schema */
export const totalsReply = (noun: string, label: string) =>
  exampleRecord({
    [`total_${noun}`]: count.example(2),
    [`active_${noun}`]: count.example(2),
    [`passing_${noun}`]: count.description(`Active ${noun} that passed last.`).example(1),
    [`failing_${noun}`]: count.example(1),
    error: count
      .description(`${noun.charAt(0).toUpperCase()}${noun.slice(1)} that could not run.`)
      .example(0),
    last_check_at: time.allow(null).example('2026-03-09T08:15:04.000Z'),
  }).label(label)
