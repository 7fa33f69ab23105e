import { CopyButton } from '../../forms/secret.tsx'

/** A text to copy into a file or a shell, which scrolls in its own box. */
export function CodeBlock({ label, text, copy = 'Copy' }: { label: string; text: string; copy?: string }) {
  return (
    <div class="code-box">
      <pre class="document" tabindex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <p>
        <CopyButton text={text} label={copy} />
      </p>
    </div>
  )
}
