import { ConnectorError } from './errors.ts'

/** An npm package that a connector needs and that is installed only where the engine is used. */
export interface DriverPackage {
  package: string
  version: string
}

/**
 * Imports a connector's driver at first use.
 * @throws ConnectorError of kind `driver-missing` with the line that installs it
 */
export async function importDriver<Module>(engine: string, driver: DriverPackage): Promise<Module> {
  try {
    return (await import(driver.package)) as Module
  } catch (cause) {
    if ((cause as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    const message = `The driver of ${engine} is not installed: run npm install ${driver.package}@${driver.version}`
    throw new ConnectorError({ kind: 'driver-missing', engine, code: 'ERR_MODULE_NOT_FOUND', message, cause })
  }
}
