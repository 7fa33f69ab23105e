/** What `console.ts` reads of a page in Chromium. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'

/** Runs in the page before its scripts: the browser keeps none of these by itself. */
const OBSERVER = `
  globalThis.bench = { longTasks: [], lcp: 0, firstAt: {} }
  new PerformanceObserver(list => {
    for (const { startTime, duration } of list.getEntries()) bench.longTasks.push([startTime, duration])
  }).observe({ type: 'longtask', buffered: true })
  new PerformanceObserver(list => {
    for (const { startTime } of list.getEntries()) bench.lcp = startTime
  }).observe({ type: 'largest-contentful-paint', buffered: true })
  performance.setResourceTimingBufferSize(5000)
  const look = () => {
    for (const [name, selector] of [['frame', 'nav.screens'], ['headline', '.headline h1'], ['sources', '.page section table tbody tr']])
      if (bench.firstAt[name] === undefined && document.querySelector(selector)) bench.firstAt[name] = performance.now()
  }
  new MutationObserver(look).observe(document, { childList: true, subtree: true })`

/** When a page showed what, in milliseconds since its navigation began. */
export interface FirstScreen {
  frameMs: number
  headlineMs: number
  /** When all parts had their data. */
  completeMs: number
  lcpMs: number
  /** The total of what long tasks took beyond 50 ms each. */
  blockedMs: number
}

/** A request of the API, as the page saw it. */
export interface ApiCall {
  path: string
  ms: number
}

export async function openContext(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  context.setDefaultTimeout(30_000)
  await context.addInitScript(OBSERVER)
  return context
}

/** Waits until the screen has its data, by frames: a timer of the page would be too coarse. */
export async function untilSettled(page: Page): Promise<number> {
  return page.evaluate<number>(
    `new Promise(resolve => {
       const look = () => document.querySelector('nav.screens') && document.querySelector('#main h1') && !document.querySelector('.skeleton')
         ? resolve(performance.now()) : requestAnimationFrame(look)
       look()
     })`,
  )
}

export async function readFirstScreen(page: Page): Promise<FirstScreen> {
  await page.locator('.headline h1').waitFor()
  const completeMs = await untilSettled(page)
  // The last paint is reported some frames later.
  await wait(300)
  const { firstAt, lcp, longTasks } = await page.evaluate<{
    firstAt: { frame: number; headline: number }
    lcp: number
    longTasks: [number, number][]
  }>('bench')
  return {
    ...{ frameMs: firstAt.frame, headlineMs: firstAt.headline, completeMs, lcpMs: lcp },
    blockedMs: longTasks.reduce((total, [, duration]) => total + Math.max(0, duration - 50), 0),
  }
}

/** The requests of the API since the last call. */
export async function takeApiCalls(page: Page): Promise<ApiCall[]> {
  const calls = await page.evaluate<ApiCall[]>(
    `(() => {
       const all = performance.getEntriesByType('resource')
         .map(({ name, requestStart, responseEnd, startTime }) =>
           ({ path: name.slice(location.origin.length), ms: responseEnd - (requestStart || startTime) }))
       performance.clearResourceTimings()
       return all
     })()`,
  )
  return calls.filter(({ path }) => path.startsWith('/api/'))
}

/** Goes to a screen as a link does. @returns milliseconds until it has its data */
export async function openScreen(page: Page, path: string): Promise<number> {
  return page.evaluate<number>(
    `new Promise(resolve => {
       const startedAt = performance.now()
       history.pushState(null, '', ${JSON.stringify(path)})
       dispatchEvent(new PopStateEvent('popstate'))
       const look = () => document.querySelector('#main h1') && !document.querySelector('.skeleton')
         ? resolve(performance.now() - startedAt) : requestAnimationFrame(look)
       requestAnimationFrame(() => requestAnimationFrame(look))
     })`,
  )
}

/** Bytes of scripts and of all files, as sent. */
export async function countBytes(page: Page): Promise<{ scripts: number; all: number; files: number }> {
  return page.evaluate(
    `(() => {
       const entries = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/console/files/'))
       const sum = some => some.reduce((total, { encodedBodySize }) => total + encodedBodySize, 0)
       return { scripts: sum(entries.filter(({ name }) => !name.endsWith('.css'))), all: sum(entries), files: entries.length }
     })()`,
  )
}

/** What a page holds after a collection of garbage. */
export interface PageMemory {
  heapKb: number
  nodes: number
  listeners: number
}

export async function readMemory(session: CDPSession): Promise<PageMemory> {
  // Objects with finalizers are gone after the second one.
  for (let n = 0; n < 3; n++) await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters')
  return { heapKb: usedSize / 1_024, nodes, listeners: jsEventListeners }
}
