import htm from 'htm'
import { h, type ComponentChildren, type VNode } from 'preact'

type Html = (parts: TemplateStringsArray, ...values: unknown[]) => VNode

/** Templates of elements: `` html`<p class="x">${text}</p>` ``. Values are text or elements, never markup. */
// Its types are those of a CommonJS module; browsers load the ES module.
export const html: Html = (htm as unknown as { bind(create: typeof h): Html }).bind(h)

export type Children = ComponentChildren
