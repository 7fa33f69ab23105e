import { useState } from 'preact/hooks'
import { notify } from '../parts/notices.tsx'
import { describeError } from '../parts/states.tsx'
import { texts } from '../texts.ts'

/**
 * What a button does: whether it runs, and a function that runs it. A failure is shown as "Could not ...".
 * @param name what the button is called
 */
export function useAction(name: string, work: () => Promise<void>): [isBusy: boolean, run: () => void] {
  const [isBusy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    try {
      await work()
    } catch (error) {
      notify(`${texts.couldNot(name.toLowerCase())} ${describeError(error)}`, { isError: true })
    }
    setBusy(false)
  }
  return [isBusy, () => void run()]
}
