import type { ComponentChildren } from 'preact'
import { Dialog } from '../parts/dialog.tsx'
import { texts } from '../texts.ts'
import { Fields, Form } from './fields.tsx'
import { useForm } from './form.ts'
import type { FieldSpec, Values } from './schema.ts'

/** A form of a few fields in a dialog, which closes when it was sent. */
export function FormDialog({
  title,
  id,
  specs,
  shown = () => specs,
  record,
  label,
  send,
  close,
  children,
}: {
  title: string
  /** Names the draft, see `useForm`. */
  id: string
  specs: readonly FieldSpec[]
  /** The fields that are asked for by what is written in others; defaults to all. */
  shown?: (values: Values) => readonly FieldSpec[]
  /** As the API returns it, for a form that changes one: only what was changed is sent. */
  record?: object
  /** The name of the button. */
  label?: string
  send: (body: Record<string, unknown>) => Promise<unknown>
  close: () => void
  /** What is to be known before it is sent. */
  children?: ComponentChildren
}) {
  const form = useForm(id, specs, record)
  const leave = () => {
    // A record may be another one when it is changed again.
    if (record) form.reset()
    close()
  }
  const asked = shown(form.values)
  const submit = async () => {
    if (record && !form.isChanged) leave()
    else if (await form.send(asked, send)) close()
  }
  return (
    <Dialog title={title} close={leave}>
      {children && <p>{children}</p>}
      <Form
        form={form}
        submit={submit}
        label={label}
        more={
          <button type="button" onClick={leave}>
            {texts.cancel}
          </button>
        }
      >
        <Fields form={form} of={asked} />
      </Form>
    </Dialog>
  )
}
