import type { ManagedBy } from 'tidemark/client'
import { useData } from '../lib/data.ts'
import { tuningTexts as texts } from './texts.ts'
import { loadCheck } from './requests.ts'

/** How the API names a contract where it names a file otherwise. */
const CONTRACT = /^the contract (\S+)$/

/**
 * What manages a check, and what becomes of a change by hand.
 * @param props.isRemoval whether the check is about to be deleted
 */
export function ManagedNote({ owner, isRemoval = false }: { owner?: ManagedBy; isRemoval?: boolean }) {
  if (!owner) return null
  const contract = CONTRACT.exec(owner.file)?.[1]
  if (contract === undefined)
    return (
      <p>
        {texts.managedBy(owner.file, owner.key)}{' '}
        {isRemoval
          ? 'The next apply creates it again, unless it is removed from the file.'
          : 'The next apply undoes changes that the file does not have.'}
      </p>
    )
  return (
    <p class="managed">
      {texts.managedByContract}{' '}
      <a href={`/contracts/${encodeURIComponent(contract)}`}>
        <bdi>{contract}</bdi>
      </a>
      .{' '}
      {isRemoval
        ? 'The contract creates it again, unless its clause is removed, too.'
        : 'A change here lasts until the contract is replaced.'}
    </p>
  )
}

/** The same in the question before a check is deleted; lists of checks do not say what manages them. */
export function RemovalNote({ table, id }: { table: string; id: string }) {
  const check = useData(`check ${id}`, signal => loadCheck(table, id, signal))
  return <ManagedNote owner={check.data?.managed_by} isRemoval={true} />
}
