/** The thread in which a large body is read: parsing 50 MB would hold up all other requests. */
import { parentPort } from 'node:worker_threads'
import { readBody, type BodyTask } from './read-body.ts'

parentPort?.once('message', ({ task, bytes }: { task: BodyTask; bytes: Uint8Array }) => {
  void readBody(task, bytes).then(result => parentPort?.postMessage(result))
})
