import { useState } from 'preact/hooks'
import type { Invitation, InviteRequest, InviteResponse } from 'tidemark/client'
import { FormDialog } from '../../forms/form-dialog.tsx'
import type { FieldSpec } from '../../forms/schema.ts'
import { SecretDialog } from '../../forms/secret.tsx'
import { api, bodyOf } from '../../lib/api.ts'
import { useData, type Data } from '../../lib/data.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import type { PageOfList } from '../../parts/paging.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { pageSettings } from '../../lib/page-settings.ts'
import { peopleTexts } from './people-texts.ts'
import { texts } from '../../texts.ts'

/** The longest page that the API gives. */
const MAX_INVITATIONS = 100

export interface InvitationPage {
  data: Invitation[]
  pagination: PageOfList
}

/** The newest invitations of the company. */
export const useInvitations = (): Data<InvitationPage> =>
  useData<InvitationPage>('invitations', signal =>
    api.get('/api/v1/invitations', { query: { limit: MAX_INVITATIONS }, signal }),
  )

export const roleField: FieldSpec = {
  ...{ name: 'role', label: 'Role', kind: 'choice', isRequired: true },
  ...{ initial: 'member', choices: Object.entries(peopleTexts.roles) },
}
const inviteFields: FieldSpec[] = [
  { name: 'email', label: 'Email', kind: 'text', isRequired: true, maxLength: 254 },
  roleField,
]

/** Opens the form of an invitation, and shows its link. @param again an invitation that has expired */
export function InviteButton({
  label,
  isPrimary = false,
  again,
  reload,
}: {
  label: string
  isPrimary?: boolean
  again?: Invitation
  reload: () => void
}) {
  const [isOpen, setOpen] = useState(false)
  const [made, setMade] = useState<InviteResponse>()
  const invite = async (body: Record<string, unknown>) => {
    setMade(await api.post('/api/v1/invitations', { body: bodyOf<InviteRequest>(body) }))
  }
  // The row of an invitation may be gone with the new one, and its dialog with it.
  const keep = () => {
    setMade(undefined)
    reload()
  }
  const specs = again
    ? inviteFields.map(spec => ({ ...spec, initial: spec.name === 'email' ? again.email : again.role }))
    : inviteFields
  return (
    <>
      <button class={isPrimary ? 'primary' : 'small'} onClick={() => setOpen(true)}>
        {label}
        {again && <span class="hidden">: {again.email}</span>}
      </button>
      {isOpen && (
        <FormDialog
          title={label}
          id={`invite ${again?.id ?? ''}`}
          specs={specs}
          label={pageSettings.hasMail ? 'Send the invitation' : 'Create the link'}
          send={invite}
          close={() => setOpen(false)}
        >
          {pageSettings.hasMail ? 'They get a mail with a link.' : 'You get a link for them.'} It works for
          this email only, once, within 7 days.
        </FormDialog>
      )}
      {made && (
        <SecretDialog
          title={made.is_mailed ? `${made.email} was invited` : `Send this link to ${made.email}`}
          text={
            made.is_mailed ? peopleTexts.invitationMailed : peopleTexts.invitationNotMailed(made.mail_problem)
          }
          secret={made.url}
          close={keep}
        />
      )}
    </>
  )
}

/** Invitations that can be accepted, and those that have expired without. */
export function Invitations({ of: invitations }: { of: Data<InvitationPage> }) {
  return (
    <Loaded of={invitations} what={peopleTexts.invitations.toLowerCase()} rows={2}>
      {({ data, pagination }: InvitationPage) => {
        const shown = data.filter(({ status }) => status === 'open' || status === 'expired')
        return (
          <>
            <InvitationTable invitations={shown} reload={invitations.reload} />
            {pagination.has_more && <p class="quiet">{peopleTexts.moreInvitations(MAX_INVITATIONS)}</p>}
          </>
        )
      }}
    </Loaded>
  )
}

function InvitationTable({
  invitations,
  reload,
}: {
  invitations: readonly Invitation[]
  reload: () => void
}) {
  const columns: Column<Invitation>[] = [
    { label: texts.email, isName: true, cell: ({ email }) => <bdi>{email}</bdi> },
    { label: texts.role, cell: ({ role }) => role },
    { label: peopleTexts.created, cell: invitation => <Ago at={invitation.created_at} /> },
    {
      label: peopleTexts.expires,
      cell: invitation =>
        invitation.status === 'open' ? (
          <Ago at={invitation.expires_at} />
        ) : (
          <Status status="unknown" word={peopleTexts.hasExpired} />
        ),
    },
    {
      label: peopleTexts.actions,
      isLabelHidden: true,
      cell: invitation =>
        invitation.status === 'open' ? (
          <RevokeButton invitation={invitation} reload={reload} />
        ) : (
          <InviteButton label="Invite again" again={invitation} reload={reload} />
        ),
    },
  ]
  return (
    <DataTable
      className="stacked two-line"
      label={peopleTexts.invitations}
      columns={columns}
      rows={invitations}
      empty={<p class="quiet">No invitation is open.</p>}
    />
  )
}

function RevokeButton({ invitation, reload }: { invitation: Invitation; reload: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const revoke = async () => {
    await api.delete('/api/v1/invitations/{invitation_id}', { path: { invitation_id: invitation.id } })
    reload()
  }
  return (
    <>
      <button class="small" aria-label={peopleTexts.revokeOf(invitation.email)} onClick={() => setOpen(true)}>
        {peopleTexts.revoke}
      </button>
      {isOpen && (
        <ConfirmDialog
          title="Revoke the invitation"
          action={peopleTexts.revoke}
          work={revoke}
          close={() => setOpen(false)}
        >
          <p>{peopleTexts.revokeInvitationText(invitation.email)}</p>
        </ConfirmDialog>
      )}
    </>
  )
}
