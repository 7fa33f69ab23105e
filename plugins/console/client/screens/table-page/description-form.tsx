import { Fields, Form } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import type { FieldSpec } from '../../forms/schema.ts'
import { api } from '../../lib/api.ts'
import { texts } from '../../texts.ts'
import type { TabProps } from '../props.ts'
import { pageTexts } from './texts.ts'

const DESCRIPTION: FieldSpec[] = [
  {
    ...{ name: 'description', label: pageTexts.description, kind: 'long' },
    ...{ hint: 'What the table holds, and who knows it. Alerts show it.', maxLength: 2_000 },
  },
]

/** Writes what a table holds, in place of the description in its header. */
export function DescriptionForm({ table, reload, close }: TabProps & { close: () => void }) {
  const form = useForm(`description ${table.id}`, DESCRIPTION, table)
  const submit = () =>
    form.send(DESCRIPTION, async body => {
      if (Object.keys(body).length > 0)
        await api.patch('/api/v1/sdk/assets/{asset_id}', { path: { asset_id: table.id }, body })
      reload()
      close()
    })
  return (
    <Form
      form={form}
      submit={submit}
      more={
        <button type="button" onClick={close}>
          {texts.cancel}
        </button>
      }
    >
      <Fields form={form} of={DESCRIPTION} />
    </Form>
  )
}
