/** Loaded before a server under test: its clock is wrong by CLOCK_SHIFT_MS. */
const shift = Number(process.env.CLOCK_SHIFT_MS ?? 0)
const { now } = Date
const RealDate = Date
Date.now = () => now() + shift
globalThis.Date = new Proxy(RealDate, {
  construct: (target, input, self) =>
    Reflect.construct(target, input.length === 0 ? [now() + shift] : input, self) as Date,
})
