import { useState } from 'preact/hooks'
import type { Values } from '../../forms/schema.ts'
import { useData } from '../../lib/data.ts'
import { Help } from '../../parts/help.tsx'
import { Loaded } from '../../parts/states.tsx'
import { CodeBlock } from '../code/code-block.tsx'
import { fillInNames, readScript } from './grant-script.ts'
import { sourceTexts } from './texts.ts'

const PAGE = '/api/public/docs/engines.md'

/** What makes a login that may only read, as the documentation has it, for the database and the user of the form. */
export function ReadOnlyUser({ type, values }: { type: string; values: Values }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      class="as-code"
      onToggle={(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}
    >
      <summary>{sourceTexts.readOnlyUser}</summary>
      {isOpen && <Script type={type} values={values} />}
    </details>
  )
}

async function loadScript(type: string, signal: AbortSignal): Promise<{ script: string }> {
  const reply = await fetch(PAGE, { signal })
  if (!reply.ok) throw new Error(sourceTexts.noScript)
  return { script: readScript(await reply.text(), type) }
}

function Script({ type, values }: { type: string; values: Values }) {
  const asked = useData(`read-only user ${type}`, signal => loadScript(type, signal))
  return (
    <Loaded of={asked} what={sourceTexts.readOnlyUser.toLowerCase()} rows={5}>
      {({ script }: { script: string }) => {
        if (script === '') return <p class="quiet">{sourceTexts.noScript}</p>
        const text = fillInNames(script, values)
        return (
          <>
            <p class="quiet">
              {sourceTexts.readOnlyText}
              <Help page="engines" about={sourceTexts.readOnlyUser} />
            </p>
            <CodeBlock label={sourceTexts.readOnlyUser} text={text} />
          </>
        )
      }}
    </Loaded>
  )
}
