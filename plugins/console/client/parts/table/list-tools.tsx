import { lazy } from '../lazy.tsx'

/** What can be done with a list as a whole: views of it, its columns, a file. */
export const ListTools = lazy(
  async () => (await import('./tool-bar.tsx')).ToolBar,
  () => <div class="list-tools" />,
)
