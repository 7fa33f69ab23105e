/** What the machine has: programs, and ports that are free. */
import { accessSync, constants } from 'node:fs'
import net from 'node:net'
import { delimiter, join } from 'node:path'

/** @returns the path of a program, which may lie where only root looks; undefined when it is not installed */
export function findProgram(program: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return [...folders, '/usr/sbin', '/usr/local/sbin', '/usr/libexec']
    .map(folder => join(folder, program))
    .find(path => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

/** A port of the loopback interface that nothing listened on a moment ago. */
export async function freePort(): Promise<number> {
  const server = net.createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as net.AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}
