import { useState } from 'preact/hooks'
import { isMissing } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Loaded } from '../../parts/states.tsx'
import { CodeBlock } from './code-block.tsx'
import { loadCode } from './requests.ts'
import { codeTexts } from './texts.ts'

interface CodeProps {
  source: string
  /** The id of a check, or of a freshness schedule. */
  id: string
}

/** A button that shows a check as a monitors file has it. */
export function AsCode(props: CodeProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button onClick={() => setOpen(true)}>{codeTexts.asCode}</button>{' '}
      {isOpen && (
        <Dialog title={codeTexts.asCode} close={() => setOpen(false)}>
          <Code {...props} />
        </Dialog>
      )}
    </>
  )
}

function Code({ source, id }: CodeProps) {
  const code = useData(`code ${id}`, signal => loadCode(source, id, signal))
  // The document of a contract is the code of its checks.
  if (isMissing(code.error)) return <p>{codeTexts.ofContract}</p>
  return (
    <Loaded of={code} what={codeTexts.asCode.toLowerCase()} rows={5}>
      {(text: string) => (
        <>
          <p>{codeTexts.apply}</p>
          <p>
            <a href="/guide/monitors">{codeTexts.guide}</a>
          </p>
          <CodeBlock label={codeTexts.file} text={text} copy={codeTexts.copy} />
        </>
      )}
    </Loaded>
  )
}
