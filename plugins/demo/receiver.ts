import type { DemoReceiver } from '../alerts/api.ts'

/** A service that messages of demo destinations go to, in this process: no address is dialled. */
export interface SimulatedService {
  receive: DemoReceiver
  /** While it is down, it answers 503. */
  isDown: boolean
}

export function makeSimulatedService(): SimulatedService {
  let count = 0
  const service: SimulatedService = {
    isDown: false,
    receive({ body }) {
      if (service.isDown) return { statusCode: 503, body: 'Down for maintenance. ' }
      count++
      return { statusCode: 200, body: `Message ${count} received, ${Buffer.byteLength(body)} bytes. ` }
    },
  }
  return service
}
