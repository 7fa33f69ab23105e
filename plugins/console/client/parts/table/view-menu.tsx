import { useState } from 'preact/hooks'
import { useAction } from '../../lib/action.ts'
import { useQuery } from '../../lib/router.ts'
import { useSession } from '../frame.tsx'
import { Icon } from '../icons.tsx'
import { listTexts } from './texts.ts'
import { changeViews, readViews, viewAddress, viewsOf, withoutView, withView, type View } from './views.ts'

const MAX_NAME = 60

/** The saved views of a list: to open one, to delete it, and to save what the list shows now. */
export function ViewMenu({ path }: { path: string }) {
  const [query] = useQuery()
  const views = viewsOf(readViews(useSession().preferences?.custom), path)
  const current = viewAddress(path, query)
  const [name, setName] = useState('')
  const [isSaving, save] = useAction(listTexts.saveView, async () => {
    await changeViews(all => withView(all, { name: name.trim(), address: current }))
    setName('')
  })
  return (
    <>
      {views.length === 0 && <p class="quiet">{listTexts.noViews}</p>}
      {views.map(view => (
        <SavedView key={view.name} view={view} isCurrent={view.address === current} />
      ))}
      <form
        onSubmit={(event: Event) => {
          event.preventDefault()
          if (name.trim()) save()
        }}
      >
        <input
          aria-label={listTexts.viewName}
          placeholder={listTexts.viewName}
          maxlength={MAX_NAME}
          value={name}
          onInput={(event: Event) => setName((event.target as HTMLInputElement).value)}
        />
        <button disabled={isSaving || !name.trim()}>{listTexts.saveView}</button>
      </form>
    </>
  )
}

function SavedView({ view, isCurrent }: { view: View; isCurrent: boolean }) {
  const label = listTexts.deleteView(view.name)
  const [isBusy, remove] = useAction(label, () => changeViews(all => withoutView(all, view)))
  return (
    <div class="view">
      <a href={view.address} aria-current={isCurrent || undefined}>
        <bdi>{view.name}</bdi>
      </a>
      <button class="plain small" aria-label={label} title={label} disabled={isBusy} onClick={remove}>
        <Icon name="close" />
      </button>
    </div>
  )
}
